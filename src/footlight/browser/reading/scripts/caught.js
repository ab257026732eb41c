// Run a script, and describe an exception that it throws in the page.

/** @type {(run: () => Promise<unknown>) => Promise<{ value: unknown } | { thrown: string }>} */
export async function catchThrown(run) {
  try {
    return { value: await run() };
  } catch (error) {
    try {
      return { thrown: String(error).replace(/^Error: /, "") };
    } catch {
      return { thrown: "the thrown value cannot be described" };
    }
  }
}
