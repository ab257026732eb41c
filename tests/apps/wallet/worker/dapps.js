// The open pages of sites. They are told when the accounts that they may see change.

import { selectedAccount } from "./keyring.js";
import { isConnected } from "./permissions.js";
import { isUnlocked } from "./state.js";

const ports = new Map(); // Port → its origin, and what it was last told.

export function addDapp(port, origin) {
  ports.set(port, { origin, told: undefined });
  port.onDisconnect.addListener(() => ports.delete(port));
}

export async function accountsFor(origin) {
  const account = selectedAccount();
  return account && isConnected(origin) && (await isUnlocked()) ? [account.address.toLowerCase()] : [];
}

export async function tellAccounts() {
  for (const [port, dapp] of ports) {
    const accounts = await accountsFor(dapp.origin);
    const told = JSON.stringify(accounts);
    if (dapp.told !== told) port.postMessage({ event: "accountsChanged", data: accounts });
    dapp.told = told;
  }
}

export function tellChain(chainId) {
  for (const port of ports.keys()) port.postMessage({ event: "chainChanged", data: chainId });
}
