// Which sites may see the account.

import { RpcError } from "./errors.js";
import { change, controller } from "./state.js";

const PERMISSIONS = ["endowment:caip25", "eth_accounts"]; // Of states of today, and of yesterday.

export function connectedSites() {
  const subjects = Object.values(controller("PermissionController").subjects ?? {});
  return subjects.filter(({ permissions }) => PERMISSIONS.some((name) => name in permissions)).map(({ origin }) => origin);
}

export const isConnected = (origin) => connectedSites().includes(origin);

export async function connect(origin, address) {
  const accounts = { accounts: [`eip155:1337:${address.toLowerCase()}`] };
  const value = { requiredScopes: {}, optionalScopes: { "eip155:1337": accounts }, isMultichainOrigin: false };
  const caveats = [{ type: "authorizedScopes", value }];
  const permission = { parentCapability: PERMISSIONS[0], invoker: origin, date: Date.now(), caveats };
  const { subjects = {} } = controller("PermissionController");
  await change("PermissionController", {
    subjects: { ...subjects, [origin]: { origin, permissions: { [PERMISSIONS[0]]: permission } } },
  });
}

export async function disconnect(origin) {
  const { subjects = {} } = controller("PermissionController");
  if (!isConnected(origin)) throw new RpcError(-32602, `${origin} is not connected.`);
  await change("PermissionController", {
    subjects: Object.fromEntries(Object.entries(subjects).filter(([, subject]) => subject.origin !== origin)),
  });
}
