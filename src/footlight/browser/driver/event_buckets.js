// Counts how many events of each page and kind may still be delivered.
"use strict";

const MAX_BUCKETS = 1_000;

/** @typedef {{ burst: number, perSecond: number }} Rate how many events a page may send at once, and then per second */

/** @typedef {{ message: Buffer, cost: number }} Held a message that is held back, and the number of events that it counts as */

/**
 * The events of one page, kind and type that may still be delivered, and those that are held back.
 *
 * @typedef {object} Bucket
 * @property {Rate} rate
 * @property {number} left how many events may still be delivered
 * @property {number} at when `left` was computed
 * @property {Held[]} held
 * @property {number} heldCost
 */

/**
 * Return the entry of a key, and make it the last one of the map. If the key is new and the map is full, drop the least
 * recently used entry.
 *
 * @template Entry
 * @param {Map<string, Entry>} map
 * @param {string} key
 * @param {() => Entry} make
 * @returns {Entry}
 */
function use(map, key, make) {
  const entry = map.get(key) ?? make();
  map.delete(key);
  if (map.size >= MAX_BUCKETS) map.delete(map.keys().next().value ?? "");
  map.set(key, entry);
  return entry;
}

/** @type {(rate: Rate) => Bucket} */
const newBucket = (rate) => ({ rate, left: rate.burst, at: performance.now(), held: [], heldCost: 0 });

/** @type {(bucket: Bucket) => void} */
function refill(bucket) {
  const now = performance.now();
  const { burst, perSecond } = bucket.rate;
  bucket.left = Math.min(burst, bucket.left + ((now - bucket.at) / 1_000) * perSecond);
  bucket.at = now;
}

module.exports = { newBucket, refill, use };
