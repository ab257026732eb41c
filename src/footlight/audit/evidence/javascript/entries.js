// What the browser has recorded of the page's performance.

/** @typedef {PerformanceEntry & { value: number, hadRecentInput: boolean, sources?: any[] }} Shift a layout shift */

/** How long to wait for a frame that the browser is about to show, which it shows only in a visible page. */
const RECORDING_MS = 100;

/**
 * Return the entries of a type from before now.
 *
 * @type {(type: string, options?: PerformanceObserverInit & { durationThreshold?: number }) => Promise<any[]>}
 */
export function recordedEntries(type, options = {}) {
  return new Promise((resolve) => {
    /** @type {any[]} */
    const entries = [];
    /** @type {PerformanceObserver} */
    let observer;
    let isFinished = false;
    /** @returns {void} */
    const finish = () => {
      if (isFinished) return;
      isFinished = true;
      entries.push(...(observer?.takeRecords() ?? []));
      observer?.disconnect();
      resolve(entries);
    };
    try {
      observer = new PerformanceObserver((list) => entries.push(...list.getEntries()));
      observer.observe({ ...options, type, buffered: true });
    } catch {
      return resolve([]);
    }
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(finish)));
    setTimeout(finish, RECORDING_MS);
  });
}

/**
 * Return the layout shifts that count: those of the session window with the largest sum, of at most five seconds and with
 * less than one second between them. Shifts after an input of the user do not count.
 *
 * @type {(entries: Shift[]) => Shift[]}
 */
export function worstShifts(entries) {
  const moves = entries.filter((each) => !each.hadRecentInput);
  let first = 0;
  let sum = 0;
  let worst = { first: 0, end: 0, sum: 0 };
  moves.forEach((each, at) => {
    const goesOn =
      at > 0 && each.startTime - moves[at - 1].startTime < 1000 && each.startTime - moves[first].startTime < 5000;
    if (!goesOn) [first, sum] = [at, 0];
    sum += each.value;
    if (sum > worst.sum) worst = { first, end: at + 1, sum };
  });
  return moves.slice(worst.first, worst.end);
}
