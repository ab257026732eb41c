// Read the web vitals of the present document from the browser's own observers.

import { describeAll } from "./dom.js";
import { recordedEntries, worstShifts } from "./entries.js";

const MIN_DURATION_MS = 16;

// Of the interactions that took less than 104 ms, browsers keep only the first for observers that are created later.
const [paints, largest, shifts, events, firsts] = await Promise.all(
  ["paint", "largest-contentful-paint", "layout-shift", "event", "first-input"].map((type) =>
    recordedEntries(type, { durationThreshold: MIN_DURATION_MS }),
  ),
);
const [load] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));

/** @returns {Record<string, any>} */
export function answer() {
  const latest = largest.at(-1);
  const session = worstShifts(shifts);
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
 * Return the slowest interaction. One of every 50 is left out, as in Interaction to Next Paint.
 *
 * @returns {any}
 */
function slowestInteraction() {
  const byId = new Map();
  for (const each of [...events, ...firsts].filter((event) => event.interactionId))
    if (!(byId.get(each.interactionId)?.duration >= each.duration)) byId.set(each.interactionId, each);
  const slowest = [...byId.values()].sort((one, other) => other.duration - one.duration);
  const count = /** @type {any} */ (performance).interactionCount ?? slowest.length;
  return slowest[Math.min(slowest.length - 1, Math.floor(count / 50))];
}
