// Ask the addresses of links of this site for their status.

import { OF_AUDIT } from "./link_targets.js";

export const AT_ONCE = 6;
const EACH_MS = 5000;
const ALL_MS = 15_000;

/**
 * Return the status, or null if it cannot be known: a redirect to another site, a policy, or no answer in time.
 *
 * @type {(url: string, method?: string) => Promise<number | null>}
 */
async function statusOf(url, method = "HEAD") {
  try {
    const response = await fetch(url + OF_AUDIT, {
      method,
      signal: AbortSignal.timeout(EACH_MS),
      headers: { accept: "text/html,*/*;q=0.8" },
    });
    response.body?.cancel();
    return response.status;
  } catch {
    return null;
  }
}

/**
 * Return the status of an address. A server may refuse HEAD, or answer it wrongly: only what GET says as well counts.
 *
 * @type {(url: string) => Promise<number | null>}
 */
async function statusFor(url) {
  const status = await statusOf(url);
  return status !== null && status >= 400 ? statusOf(url, "GET") : status;
}

/** @type {(urls: string[]) => Promise<Map<string, number | null>>} */
export async function askAll(urls) {
  const statuses = /** @type {Map<string, number | null>} */ (new Map()),
    waiting = [...urls],
    until = performance.now() + ALL_MS;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (performance.now() < until) {
        const url = waiting.shift();
        if (url === undefined) break;
        statuses.set(url, await statusFor(url));
      }
    }),
  );
  return statuses;
}
