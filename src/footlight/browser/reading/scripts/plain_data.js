// Wraps values of a page that JSON can represent without loss.

const MAX_DEPTH = 20;

/**
 * Return a list with a value that JSON can represent, and null for any other value.
 *
 * @type {(value: unknown) => [unknown] | null}
 */
export function wrapPlainData(value) {
  return isPlainData(value, 0) ? [value] : null;
}

/** @type {(value: unknown, depth: number) => boolean} */
function isPlainData(value, depth) {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== "object" || depth > MAX_DEPTH) return false;
  if (Object.getPrototypeOf(value) !== (Array.isArray(value) ? Array : Object).prototype) return false;
  const names = Object.getOwnPropertyNames(value);
  if (Array.isArray(value) && names.length !== value.length + 1) return false;
  for (let at = 0; at < names.length; at++) {
    const found = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(value, names[at]));
    if (!("value" in found) || (found.enumerable && !isPlainData(found.value, depth + 1))) return false;
  }
  return true;
}
