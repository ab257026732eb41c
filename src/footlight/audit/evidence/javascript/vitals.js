// Read the web vitals of the present document from the browser's own observers.

import { describeAll } from "./dom.js";

const WAIT_MS = 50;
const MIN_DURATION_MS = 16;

/** @type {(type: string) => Promise<any[]>} */
const buffered = (type) =>
  new Promise((resolve) => {
    /** @type {any[]} */
    const entries = [];
    try {
      const observer = new PerformanceObserver((list) => entries.push(...list.getEntries()));
      observer.observe(/** @type {any} */ ({ type, buffered: true, durationThreshold: MIN_DURATION_MS }));
      setTimeout(() => {
        entries.push(...observer.takeRecords());
        observer.disconnect();
        resolve(entries);
      }, WAIT_MS);
    } catch {
      resolve([]);
    }
  });

const [paints, largest, shifts, events] = await Promise.all(
  ["paint", "largest-contentful-paint", "layout-shift", "event"].map(buffered),
);
const [load] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));

/** @returns {Record<string, any>} */
export function answer() {
  const latest = largest.at(-1);
  const session = worstSession();
  const slow = slowestInteraction();
  const moved = session.flatMap((each) => each.sources ?? []).map((each) => each.node);
  return {
    lcp: latest?.startTime,
    cls: session.reduce((sum, each) => sum + each.value, 0),
    inp: slow?.duration,
    fcp: paints.find((each) => each.name === "first-contentful-paint")?.startTime,
    ttfb: load?.responseStart || undefined,
    interactions: /** @type {any} */ (performance).interactionCount ?? 0,
    event: slow?.name,
    "lcp-elements": describeAll(elementsOf([latest?.element])),
    "cls-elements": describeAll(elementsOf(moved)),
    "inp-elements": describeAll(elementsOf([slow?.target])),
  };
}

/** @type {(nodes: any[]) => AnyElement[]} */
const elementsOf = (nodes) => [...new Set(nodes.filter((each) => each instanceof Element && each.isConnected))];

/**
 * Return the layout shifts of the session window with the largest sum: of at most 5 s, with gaps below 1 s.
 *
 * @returns {any[]}
 */
function worstSession() {
  const moves = shifts.filter((shift) => !shift.hadRecentInput);
  let first = 0,
    sum = 0,
    worst = { first: 0, end: 0, sum: 0 };
  moves.forEach((each, at) => {
    const goesOn =
      at > 0 && each.startTime - moves[at - 1].startTime < 1000 && each.startTime - moves[first].startTime < 5000;
    if (!goesOn) [first, sum] = [at, 0];
    sum += each.value;
    if (sum > worst.sum) worst = { first, end: at + 1, sum };
  });
  return moves.slice(worst.first, worst.end);
}

/**
 * Return the slowest interaction. One of every 50 is left out, as in Interaction to Next Paint.
 *
 * @returns {any}
 */
function slowestInteraction() {
  const byId = new Map();
  for (const each of events.filter((event) => event.interactionId))
    if (!(byId.get(each.interactionId)?.duration >= each.duration)) byId.set(each.interactionId, each);
  const slowest = [...byId.values()].sort((one, other) => other.duration - one.duration);
  const count = /** @type {any} */ (performance).interactionCount ?? slowest.length;
  return slowest[Math.min(slowest.length - 1, Math.floor(count / 50))];
}
