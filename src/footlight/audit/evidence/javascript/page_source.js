// The source of the document, from the browser's cache if it is there.

const FETCH_MS = 3_000;

/** @returns {Promise<string>} */
export async function answer() {
  const response = await fetch(location.href, { cache: "force-cache", signal: AbortSignal.timeout(FETCH_MS) });
  return (await response.text()).slice(0, MAX_SOURCE_LENGTH);
}
