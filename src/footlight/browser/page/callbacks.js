// Requests frames and timers, and counts the callbacks that the page's own scripts request for a frame, a timer or an
// idle moment. The browser numbers them for the whole document, so a script in an isolated world sees how many it has
// not requested itself, and replaces no function of the page.

export const FRAME_MS = 1000 / 60;

let own = 0;

/** @type {() => void} */
const nothing = () => {};

/** @type {(callback: () => void) => number} */
export function requestFrame(callback) {
  own++;
  return requestAnimationFrame(callback);
}

/** @type {(callback: () => void, ms?: number) => number} */
export function startTimer(callback, ms) {
  own++;
  return setTimeout(callback, ms);
}

/** @type {(callback: () => void) => number} */
function requestIdle(callback) {
  own++;
  return requestIdleCallback(callback);
}

/**
 * Return the number of callbacks that other scripts have requested in this document. Those that they have cancelled
 * count too. Return NaN, which equals no number, in an engine without idle callbacks (WebKit).
 *
 * @returns {number}
 */
export function countCallbacks() {
  if (!("requestIdleCallback" in globalThis)) return Number.NaN;
  const [frame, timer, idle] = [requestFrame(nothing), startTimer(nothing), requestIdle(nothing)];
  cancelAnimationFrame(frame);
  clearTimeout(timer);
  cancelIdleCallback(idle);
  return frame + timer + idle - own;
}

/**
 * Call a function once when the listeners of the page have handled an event of this type that is being dispatched. If they
 * stop it, that is after the next task, and often after the next frame.
 *
 * @type {(type: string, callback: () => void) => void}
 */
export function afterEvent(type, callback) {
  let isCalled = false;
  const end = () => {
    removeEventListener(type, end);
    if (!isCalled) callback();
    isCalled = true;
  };
  addEventListener(type, end, { passive: true }); // The last listener, because it is added only now.
  /** @type {any} */ (globalThis).scheduler.postTask(end, { priority: "user-blocking" });
}

/** @type {(ms: number) => Promise<void>} */
export const sleep = (ms) => new Promise((resolve) => startTimer(() => resolve(), ms));

/**
 * Wait this long, or at most until the next frame has been drawn if that is expected earlier. With `forTimers`, wait also
 * for timers of the page that have expired: a busy browser runs timers without a delay before them.
 *
 * @type {(ms: number, forTimers?: boolean) => Promise<void>}
 */
export function pause(ms, forTimers = false) {
  if (ms > 2 * FRAME_MS + 1) return sleep(ms);
  return new Promise((resolve) => {
    startTimer(() => resolve(), ms);
    requestFrame(() => startTimer(() => resolve(), forTimers ? 1 : 0));
  });
}

/**
 * Wait until no task of the page is waiting, such as a message that a script has sent to itself, at most for one frame.
 * Return whether none is.
 *
 * @returns {Promise<boolean>}
 */
export async function isIdle() {
  return new Promise((resolve) => {
    // Tasks of this priority run when there is no other one.
    /** @type {any} */ (globalThis).scheduler.postTask(() => resolve(true), { priority: "background" });
    startTimer(() => resolve(false), FRAME_MS);
  });
}
