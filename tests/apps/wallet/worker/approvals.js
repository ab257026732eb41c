// What waits for the user's consent, one after the other, in one window.

import { RpcError, userRejected } from "./errors.js";
import { announce } from "./uis.js";

const WINDOW = { url: "notification.html", type: "popup", width: 380, height: 640 };

const waiting = new Map();
let nextId = 1;
let opening; // The window, or a promise of it.

/** Ask the user; resolves with what `approve` gives, rejects with 4001. Without a window it is asked in home.html. */
export function ask(request, approve, { inWindow = true } = {}) {
  return new Promise((resolve, reject) => {
    const id = String(nextId++);
    waiting.set(id, { request: { ...request, id, inWindow }, approve, resolve, reject });
    if (inWindow) opening ??= chrome.windows.create(WINDOW);
    announce();
  });
}

export const approvals = () => [...waiting.values()].map(({ request }) => request);

export async function confirm({ id }) {
  const { approve, resolve, reject } = take(id);
  try {
    resolve(await approve());
  } catch (error) {
    reject(error); // Whoever asked is told. Who consented has nothing more to do.
  }
  await closeWhenDone();
}

export async function cancel({ id }) {
  take(id).reject(userRejected());
  await closeWhenDone();
}

/** What only waited for the wallet to be unlocked has its answer now. */
export async function unlocked() {
  for (const { id, kind } of approvals()) if (kind === "unlock") await confirm({ id });
}

export function rejectWhenClosed() {
  chrome.windows.onRemoved.addListener(async (windowId) => {
    if (windowId !== (await opening)?.id) return;
    opening = undefined;
    for (const { id, inWindow } of approvals()) if (inWindow) take(id).reject(userRejected());
    announce();
  });
}

function take(id) {
  const approval = waiting.get(id);
  if (!approval) throw new RpcError(-32602, "This was answered already.");
  waiting.delete(id);
  return approval;
}

async function closeWhenDone() {
  announce();
  if (opening === undefined || approvals().some(({ inWindow }) => inWindow)) return;
  const closing = opening;
  opening = undefined; // Before it is closed: a request that comes now gets a window of its own.
  await chrome.windows.remove((await closing).id).catch(() => {});
}
