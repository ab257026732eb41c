// What a site may ask for (EIP-1193).

import { ask } from "./approvals.js";
import { rpc, sendTransaction } from "./chain.js";
import { accountsFor, tellAccounts } from "./dapps.js";
import { RpcError, invalidParams, unauthorized, unsupported } from "./errors.js";
import { hasVault, selectedAccount } from "./keyring.js";
import { connect, disconnect, isConnected } from "./permissions.js";
import { isUnlocked } from "./state.js";

const READING = new Set([
  "eth_blockNumber",
  "eth_call",
  "eth_chainId",
  "eth_estimateGas",
  "eth_feeHistory",
  "eth_gasPrice",
  "eth_getBalance",
  "eth_getBlockByNumber",
  "eth_getCode",
  "eth_getTransactionByHash",
  "eth_getTransactionCount",
  "eth_getTransactionReceipt",
  "net_version",
]);

export function answerDapp(origin, method, params) {
  if (READING.has(method)) return rpc(method, params);
  const answer = ANSWERS[method];
  if (!answer) throw unsupported(method);
  return answer(origin, params ?? []);
}

const ANSWERS = {
  eth_accounts: accountsFor,
  eth_requestAccounts: requestAccounts,
  eth_sendTransaction: requestTransaction,
  wallet_getPermissions: permissionsOf,
  wallet_requestPermissions: async (origin) => {
    await askToConnect(origin);
    return permissionsOf(origin);
  },
  wallet_revokePermissions: async (origin) => {
    if (isConnected(origin)) await disconnect(origin);
    await tellAccounts();
    return null;
  },
};

async function requestAccounts(origin) {
  if (!isConnected(origin)) await askToConnect(origin);
  else if (!(await isUnlocked())) await ask({ kind: "unlock", origin }, () => undefined);
  return accountsFor(origin);
}

async function askToConnect(origin) {
  if (!hasVault()) throw new RpcError(-32002, "The wallet has no account yet.");
  await ask({ kind: "connect", origin }, async () => {
    await connect(origin, selectedAccount().address);
    await tellAccounts();
  });
}

async function requestTransaction(origin, [transaction]) {
  if (!isConnected(origin)) throw unauthorized();
  const from = selectedAccount().address;
  if (transaction?.from?.toLowerCase() !== from.toLowerCase()) throw invalidParams("`from` is not the connected account.");
  const { to, value, data, gas } = transaction;
  const asked = { from, to, value, data, gas };
  return ask({ kind: "transaction", origin, transaction: asked }, () => sendTransaction(asked));
}

async function permissionsOf(origin) {
  const accounts = await accountsFor(origin);
  if (!accounts.length) return [];
  return [
    { invoker: origin, parentCapability: "eth_accounts", caveats: [{ type: "restrictReturnedAccounts", value: accounts }] },
  ];
}
