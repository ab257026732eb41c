// The difference between two lists of records.

/** @typedef {[number, number]} Pair indices of the same record in the list after and in the list before */
/** @typedef {{ a: number, endA: number, b: number, endB: number }} Section parts of the lists: after (a), before (b) */

/**
 * Return the operations that turn one list of records into another: n > 0 keeps n, n < 0 drops -n, a record is new.
 *
 * @type {(before: string[], after: string[]) => (string | number)[]}
 */
export function operations(before, after) {
  /** @type {(number | string)[]} */
  const ops = [];
  if (before === after) return after.length ? [after.length] : ops;
  let [keep, drop] = [0, 0];
  /** @returns {void} */
  const settle = () => {
    if (drop) ops.push(-drop);
    if (keep) ops.push(keep);
    keep = drop = 0;
  };
  let at = 0;
  const pairs = pairAlike(before, after);
  for (let i = 0; i < after.length; i++) {
    const other = pairs[i];
    if (other < 0) {
      settle();
      ops.push(after[i]);
      continue;
    }
    if (other > at) {
      settle();
      drop = other - at;
      settle();
    }
    keep++;
    at = other + 1;
  }
  settle();
  if (at < before.length) ops.push(at - before.length);
  return ops;
}

/**
 * Return for each record of `after` the index of the same record in `before`, or -1; the indices rise.
 *
 * @type {(before: string[], after: string[]) => Int32Array}
 */
function pairAlike(before, after) {
  const pairs = new Int32Array(after.length).fill(-1);
  const middle = pairEnds(before, after, pairs, { a: 0, endA: after.length, b: 0, endB: before.length });
  if (middle.a === middle.endA || middle.b === middle.endB) return pairs;
  const once = onlyPlaces(after, middle.a, middle.endA);
  const places = onlyPlaces(before, middle.b, middle.endB);
  /** @type {Pair[]} */
  const found = [];
  for (const [text, i] of once) {
    const place = places.get(text) ?? -1;
    if (i >= 0 && place >= 0) found.push([i, place]);
  }
  for (const [i, place] of longestRise(found)) pairs[i] = place;
  pairGaps(before, after, pairs, middle);
  return pairs;
}

/**
 * Pair the equal records at the beginning and at the end of both lists. Return the remaining range.
 *
 * @type {(before: string[], after: string[], pairs: Int32Array, section: Section) => Section}
 */
function pairEnds(before, after, pairs, { a, endA, b, endB }) {
  while (a < endA && b < endB && after[a] === before[b]) pairs[a++] = b++;
  while (a < endA && b < endB && after[endA - 1] === before[endB - 1]) pairs[--endA] = --endB;
  return { a, endA, b, endB };
}

/**
 * Pair records that occur more than once if they follow or precede a pair.
 *
 * @type {(before: string[], after: string[], pairs: Int32Array, section: Section) => void}
 */
function pairGaps(before, after, pairs, { a, endA, b, endB }) {
  for (let i = a; i <= endA; i++) {
    const place = i === endA ? endB : pairs[i];
    if (place < 0) continue;
    pairEnds(before, after, pairs, { a, endA: i, b, endB: place });
    a = i + 1;
    b = place + 1;
  }
}

/**
 * Return the index of each record that occurs once, and -1 for the others, in the order of the list.
 *
 * @type {(list: string[], start: number, end: number) => Map<string, number>}
 */
function onlyPlaces(list, start, end) {
  /** @type {Map<string, number>} */
  const places = new Map();
  for (let i = start; i < end; i++) places.set(list[i], places.has(list[i]) ? -1 : i);
  return places;
}

/**
 * Return the longest run of pairs whose second numbers rise (patience sorting).
 *
 * @type {(pairs: Pair[]) => Pair[]}
 */
function longestRise(pairs) {
  /** @type {number[]} */
  const tails = [];
  const previous = new Int32Array(pairs.length);
  for (let i = 0; i < pairs.length; i++) {
    let [low, high] = [0, tails.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[tails[middle]][1] < pairs[i][1]) low = middle + 1;
      else high = middle;
    }
    previous[i] = low ? tails[low - 1] : -1;
    tails[low] = i;
  }
  const rise = [];
  for (let i = tails.length ? tails[tails.length - 1] : -1; i >= 0; i = previous[i]) rise.push(pairs[i]);
  return rise.reverse();
}
