// Read and write the sessionStorage of a tab, for the state of a session.

/**
 * Return the origin of the document and its items. They are read by index and method, because an item named `length`
 * would shadow the property of the storage.
 *
 * @returns {[origin: string, items: Record<string, string | null>]}
 */
export function readTabStorage() {
  const keys = Array.from({ length: sessionStorage.length }, (_, index) => sessionStorage.key(index) ?? "");
  return [location.origin, Object.fromEntries(keys.map((key) => [key, sessionStorage.getItem(key)]))];
}

/** @type {(items: [key: string, value: string][]) => void} */
export function replaceTabStorage(items) {
  sessionStorage.clear();
  for (const [key, value] of items) sessionStorage.setItem(key, value);
}

/** @type {(origins: string[]) => string | undefined} */
export function findInvalidUrl(origins) {
  return origins.find((origin) => !URL.canParse(origin));
}
