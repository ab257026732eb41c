// Run a script, and describe its value or the exception that it throws in the page.

/** @typedef {{ value: unknown, lost?: string } | { thrown: string }} Outcome */

/** @type {(run: () => Promise<unknown>) => Promise<Outcome>} */
export async function catchThrown(run) {
  try {
    return toData(await run());
  } catch (error) {
    try {
      return { thrown: describeThrown(error) };
    } catch {
      return { thrown: "the thrown value cannot be described" };
    }
  }
}

/**
 * Return a map or set as a list, and null with a name for a value that JSON cannot represent.
 *
 * @type {(value: unknown) => Outcome}
 */
function toData(value) {
  if (value instanceof Map || value instanceof Set) return { value: [...value] };
  const isDate = value instanceof Date;
  if ((typeof value === "number" || isDate) && !Number.isFinite(Number(value)))
    return { value: null, lost: isDate ? "an invalid date" : String(value) };
  if (typeof value === "function" || typeof value === "symbol") return { value: null, lost: `a ${typeof value}` };
  return { value };
}

/** @type {(error: unknown) => string} */
function describeThrown(error) {
  const text = String(error).replace(/^Error: /, "");
  return text === "[object Object]" ? JSON.stringify(error).slice(0, 1_000) : text;
}
