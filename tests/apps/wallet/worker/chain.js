// The chain, over JSON-RPC: its networks, the balance, and transactions until they are mined.

import { RPC_PORT } from "../config.js";
import { RpcError, invalidParams } from "./errors.js";
import { change, controller } from "./state.js";
import { announce } from "./uis.js";

const RECEIPT_PAUSE_MS = 200;
const RECEIPT_TRIES = 300;

const DEFAULT_NETWORK = {
  chainId: "0x539",
  name: "Localhost 8545",
  nativeCurrency: "ETH",
  defaultRpcEndpointIndex: 0,
  rpcEndpoints: [{ networkClientId: "localhost", url: `http://localhost:${RPC_PORT}` }],
};

export function networks() {
  const configured = Object.values(controller("NetworkController").networkConfigurationsByChainId ?? {});
  return (configured.length ? configured : [DEFAULT_NETWORK]).map((network) => {
    const { networkClientId, url } = network.rpcEndpoints[network.defaultRpcEndpointIndex ?? 0];
    return { id: networkClientId, url, name: network.name, chainId: network.chainId, currency: network.nativeCurrency };
  });
}

export function selectedNetwork() {
  const { selectedNetworkClientId } = controller("NetworkController");
  return networks().find(({ id }) => id === selectedNetworkClientId) ?? networks()[0];
}

export async function selectNetwork({ id }) {
  if (!networks().some((network) => network.id === id)) throw invalidParams("There is no such network.");
  await change("NetworkController", { selectedNetworkClientId: id });
}

export async function rpc(method, params = []) {
  const { url } = selectedNetwork();
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body }).catch(() => {
    throw new RpcError(-32603, `The network at ${url} does not answer.`);
  });
  const { result, error } = await response.json();
  if (error) throw new RpcError(error.code, error.message, error.data);
  return result;
}

/** In wei, as a hexadecimal text. */
export const balanceOf = (address) => rpc("eth_getBalance", [address, "latest"]);

/** Hand a transaction to the chain, which signs it; its hash. Goes on to watch it. */
export async function sendTransaction({ from, to, value, data, gas }) {
  await rpc("anvil_impersonateAccount", [from]);
  const hash = await rpc("eth_sendTransaction", [defined({ from, to, value, data, gas })]);
  await note(hash, { hash, from, to, value: value ?? "0x0", status: "pending" });
  watch(hash);
  return hash;
}

export const activity = () => Object.values(controller("TransactionController").transactions ?? {});

async function watch(hash) {
  for (let tries = 0; tries < RECEIPT_TRIES; tries++) {
    const receipt = await rpc("eth_getTransactionReceipt", [hash]).catch(() => null);
    if (receipt) return note(hash, { status: receipt.status === "0x1" ? "confirmed" : "failed" });
    await new Promise((resolve) => setTimeout(resolve, RECEIPT_PAUSE_MS));
  }
  return note(hash, { status: "dropped" });
}

async function note(hash, values) {
  const { transactions = {} } = controller("TransactionController");
  await change("TransactionController", {
    transactions: { ...transactions, [hash]: { ...transactions[hash], ...values } },
  });
  announce();
}

const defined = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
