// The value of an expression or function that a caller waits for.

/** @typedef {() => Promise<[unknown]>} Caller a function that evaluates the expression, which may be a promise */

/** @type {(caller: Caller) => Promise<unknown>} */
async function evaluateCaller(caller) {
  const [value] = await caller();
  return typeof value === "function" ? value() : value;
}

/**
 * Return the value when it is true. Playwright calls a function again until its result is true, and a promise is always
 * true. So this returns the previous value, and starts the next evaluation.
 *
 * @type {(state: {value?: unknown, runs?: boolean}, caller: Caller) => unknown}
 */
export function pollUntilTrue(state, caller) {
  if (!state.value && !state.runs) {
    state.runs = true;
    evaluateCaller(caller)
      .then(
        (value) => {
          state.value = value;
        },
        () => {},
      )
      .finally(() => {
        state.runs = false;
      });
  }
  return state.value;
}

/** @type {(caller: Caller) => Promise<string>} */
export async function describeValue(caller) {
  try {
    const value = await evaluateCaller(caller);
    return `is ${typeof value === "string" ? JSON.stringify(value) : value}`;
  } catch (error) {
    return `throws ${error}`;
  }
}
