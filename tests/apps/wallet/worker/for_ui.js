// What the wallet's own pages may ask for. Whatever changes the state is told to all of them.

import { approvals, ask, cancel, confirm, unlocked } from "./approvals.js";
import * as chain from "./chain.js";
import { tellAccounts, tellChain } from "./dapps.js";
import * as keyring from "./keyring.js";
import { connectedSites, disconnect } from "./permissions.js";
import { change, controller, isUnlocked } from "./state.js";
import { announce } from "./uis.js";

const CONTACTS = ["Savings", "Shop"];

const READING = {
  balance: () => chain.balanceOf(keyring.selectedAccount().address),
  phrase: keyring.revealPhrase,
  state: describe,
};

const CHANGING = {
  cancel,
  confirm,
  create: keyring.create,
  disconnect: ({ origin }) => disconnect(origin),
  finishOnboarding: () => change("OnboardingController", { completedOnboarding: true }),
  lock: keyring.lock,
  prefer: (values) => change("PreferencesController", values),
  removeContact: ({ name }) =>
    change("AddressBookController", { contacts: contacts().filter((contact) => contact !== name) }),
  selectAccount: keyring.selectAccount,
  selectNetwork: async (network) => {
    await chain.selectNetwork(network);
    tellChain(chain.selectedNetwork().chainId);
  },
  send: propose,
  shareUsage: ({ participates }) => change("MetaMetricsController", { participateInMetaMetrics: participates }),
  unlock: async (given) => {
    await keyring.unlock(given);
    await unlocked();
  },
};

export async function answerUi(method, params = {}) {
  if (method in READING) return READING[method](params);
  const result = await CHANGING[method](params);
  await tellAccounts();
  announce();
  return result;
}

async function describe() {
  return {
    hasVault: keyring.hasVault(),
    unlocked: await isUnlocked(),
    onboarded: controller("OnboardingController").completedOnboarding === true,
    choseUsage: typeof controller("MetaMetricsController").participateInMetaMetrics === "boolean",
    account: keyring.selectedAccount(),
    accounts: keyring.accounts(),
    network: chain.selectedNetwork(),
    networks: chain.networks(),
    sites: connectedSites(),
    contacts: contacts(),
    tokens: tokens(),
    activity: chain.activity(),
    approvals: approvals(),
    preferences: controller("PreferencesController"),
  };
}

const contacts = () => controller("AddressBookController").contacts ?? CONTACTS;

/** The selected account's tokens on the selected network. */
function tokens() {
  const { allTokens = {} } = controller("TokensController");
  return allTokens[chain.selectedNetwork().chainId]?.[keyring.selectedAccount()?.address.toLowerCase()] ?? [];
}

/** A transaction of the wallet's own, confirmed in home.html. */
function propose({ to, value }) {
  const transaction = { from: keyring.selectedAccount().address, to, value };
  const asked = ask({ kind: "transaction", origin: "Test wallet", transaction }, () => chain.sendTransaction(transaction), {
    inWindow: false,
  });
  asked.catch(() => {}); // The page has the answer already: it gave it.
  return approvals().at(-1).id;
}
