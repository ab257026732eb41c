// Requests to the server. The token is in the fragment of the URL and is kept in this tab only.

const TOKEN = "footlight-watch-token";

export class Refused extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** @type {(error: unknown) => boolean} */
export const isAbort = (error) => error instanceof DOMException && error.name === "AbortError";

/** @returns {void} */
export function readToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem(TOKEN, given);
    history.replaceState(null, "", location.pathname); // The token must not be in the history of the browser.
  }
}

/** @type {(token: string) => void} */
export function saveToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

export const watcher = crypto.getRandomValues(new Uint32Array(4)).join("-");

/** @type {(path: string, query: Record<string, any>, options?: RequestInit) => Promise<Response>} */
async function ask(path, query, options = {}) {
  const address = `/watch/api/${path}?${new URLSearchParams({ ...query, watcher })}`;
  const token = sessionStorage.getItem(TOKEN);
  const headers = new Headers(token ? { Authorization: `Bearer ${token}` } : undefined);
  /** @type {Response} */
  let response;
  try {
    response = await fetch(address, { ...options, headers, cache: "no-store", credentials: "omit" });
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new Refused(0, "The server cannot be reached. It may have stopped.");
  }
  if (!response.ok) {
    const answer = await response.json().catch(() => ({}));
    throw new Refused(response.status, answer.error || `The server answered ${response.status}.`);
  }
  return response;
}

/** @type {(after: number, wait: boolean, signal: AbortSignal) => Promise<any>} */
export async function askState(after, wait, signal) {
  return (await ask("state", { after, wait: wait ? 1 : 0 }, { signal })).json();
}

/** @type {(session: string, page: string, after: number, signal: AbortSignal) => Promise<Response>} */
export const askPicture = (session, page, after, signal) => ask("picture", { session, page, after }, { signal });
/** @type {(session: string) => Promise<Response>} */
export const askReport = (session) => ask("report", { session });

/** @type {(path: string, body: object) => Promise<any>} */
export async function send(path, body) {
  const options = { method: "POST", body: JSON.stringify({ ...body, watcher }) };
  return (await ask(path, {}, options)).json();
}

/** @type {(ms: number) => Promise<void>} */
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
