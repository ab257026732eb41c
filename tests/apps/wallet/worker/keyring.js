// The account of the vault: made, imported, unlocked and locked.

import { change, controller, setUnlocked } from "./state.js";
import { RpcError, invalidParams } from "./errors.js";
import { decrypt, encrypt } from "./vault.js";
import { newPhrase } from "./words.js";

// Nothing is derived here: every seed phrase leads to the account of the test phrase.
const ADDRESS = "0x5CfE73b6021E818B776b421B1c4Db2474086a7e1";
const ID = "d5e45e4a-3b04-4a09-a5e1-39762e5c6be4";
const MIN_PASSWORD_LENGTH = 8;

export const hasVault = () => typeof controller("KeyringController").vault === "string";

/** Make an account of this phrase, or of a new one; the phrase. */
export async function create({ password, phrase = newPhrase() }) {
  if (hasVault()) throw new RpcError(-32603, "There is an account already.");
  if (password.length < MIN_PASSWORD_LENGTH) throw invalidParams("The password is too short.");
  const mnemonic = [...new TextEncoder().encode(phrase)];
  const keyring = { type: "HD Key Tree", data: { mnemonic, numberOfAccounts: 1, hdPath: "m/44'/60'/0'/0" } };
  const address = ADDRESS.toLowerCase();
  await change("KeyringController", { vault: await encrypt(password, [keyring]) });
  await change("AccountsController", {
    internalAccounts: {
      selectedAccount: ID,
      accounts: { [ID]: { id: ID, address, type: "eip155:eoa", metadata: { name: "Account 1" } } },
    },
  });
  await setUnlocked(true);
  return phrase;
}

/** The seed phrase; whoever asks has typed the password. */
export async function revealPhrase({ password }) {
  const [{ data }] = await keyringsOf(password);
  if (typeof data.mnemonic === "string") return data.mnemonic; // As vaults had it once.
  return new TextDecoder().decode(new Uint8Array(data.mnemonic));
}

export async function unlock({ password }) {
  await keyringsOf(password);
  await setUnlocked(true);
}

export const lock = () => setUnlocked(false);

export function accounts() {
  const known = Object.values(controller("AccountsController").internalAccounts?.accounts ?? {});
  return known.map(({ id, address, metadata }) => ({ id, address: shown(address), name: metadata?.name ?? "Account" }));
}

export function selectedAccount() {
  const { selectedAccount } = controller("AccountsController").internalAccounts ?? {};
  return accounts().find(({ id }) => id === selectedAccount) ?? accounts()[0];
}

export async function selectAccount({ id }) {
  const { internalAccounts } = controller("AccountsController");
  if (!internalAccounts?.accounts?.[id]) throw invalidParams("There is no such account.");
  await change("AccountsController", { internalAccounts: { ...internalAccounts, selectedAccount: id } });
}

async function keyringsOf(password) {
  const keyrings = await decrypt(password, controller("KeyringController").vault);
  if (keyrings === undefined) throw new RpcError(-32603, "Incorrect password");
  return keyrings;
}

// A state has addresses in small letters. Of ours we know which letters are capitals, by EIP-55.
const shown = (address) => (address.toLowerCase() === ADDRESS.toLowerCase() ? ADDRESS : address);
