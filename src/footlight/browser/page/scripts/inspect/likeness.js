// The similarity between the words of a selector and of an element.

import { TAG_WORDS } from "./closest.js";

/** @type {Lookup<string>} */
const SAME_WORD = {
  __proto__: null,
  anchor: "link",
  btn: "button",
  img: "image",
  lnk: "link",
  passwd: "password",
  pwd: "password",
};
/** @type {Lookup<1>} */
// biome-ignore format: a table
const VAGUE = {
  __proto__: null,
  button: 1, link: 1, input: 1, field: 1, form: 1, image: 1, label: 1, box: 1, container: 1, wrapper: 1, item: 1,
  main: 1, page: 1, heading: 1, textbox: 1, combobox: 1, table: 1, dialog: 1, navigation: 1, primary: 1, the: 1,
  a: 1, of: 1, to: 1, id: 1, el: 1, js: 1,
};
/**
 * The words of a selector.
 *
 * @typedef {object} Query
 * @property {string[]} list
 * @property {string} joined the words without spaces
 * @property {boolean} classes whether the selector mentions classes
 * @property {RegExp} glimpse matches all texts that may be similar
 * @property {Map<string, Coverage | null>} texts the coverage by text, for texts that were compared
 * @property {Map<string, number[]>} words how similar a word is to each word of the selector
 */

/** @typedef {{ best: number[], own: string }} Coverage how well a text covers each word of the selector, and its words */

const PARTS =
  /"([^"]*)"|'([^']*)'|#((?:[\w-]|[^\0-\x7f])+)|\.((?:[\w-]|[^\0-\x7f])+)|=\s*([^\s\]"')>][^\]"')>]*)|([\w-]+|[^\0-\x7f]+)/g;
export const MIN_SCORE = 0.45;
export const MAX_SEEN = 20000;

/**
 * Return 1 for a lower-case letter or one without a case, 2 for a capital, 3 for a digit, 0 for other characters.
 *
 * @type {(text: string, at: number) => number}
 */
function kindOf(text, at) {
  const code = text.charCodeAt(at);
  if (code >= 97 && code <= 122) return 1;
  if (code >= 65 && code <= 90) return 2;
  if (code >= 48 && code <= 57) return 3;
  if (code < 128) return 0;
  if (/\p{Lu}/u.test(text[at])) return 2;
  if (/[\p{L}\p{M}]/u.test(text[at])) return 1;
  return /\p{N}/u.test(text[at]) ? 3 : 0;
}

/**
 * Return the words of a name: `submitOrder-button2` is submit, order, button, 2.
 *
 * @type {(text: string, limit: number) => string[]}
 */
export function words(text, limit) {
  /** @type {string[]} */
  const list = [];
  let start = 0;
  let last = 0;
  for (let i = 0; i <= text.length && list.length < limit; i++) {
    const kind = i < text.length ? kindOf(text, i) : 0;
    const goesOn = kind === last || (kind === 1 && last === 2);
    if (last && !goesOn) {
      const word = text.slice(start, Math.min(i, start + 40)).toLowerCase();
      list[list.length] = SAME_WORD[word] || word;
    }
    if (!goesOn) start = i;
    last = kind;
  }
  return list;
}

/**
 * Return the words of a selector, and whether it mentions classes.
 *
 * @type {(selector: string) => Query}
 */
export function parseQuery(selector) {
  let quoted = "";
  let bare = "";
  let hint = "";
  let classes = false;
  PARTS.lastIndex = 0;
  for (let part = PARTS.exec(selector); part; part = PARTS.exec(selector)) {
    classes = classes || part[4] !== undefined;
    const value = part[1] || part[2] || part[3] || part[4] || part[5];
    if (value) quoted += " " + value;
    if (part[6]) {
      const tag = TAG_WORDS[part[6].toLowerCase()];
      if (tag === undefined) bare += " " + part[6];
      else hint += " " + tag;
    }
  }
  const list = words((quoted || bare) + hint, 12);
  return { list, joined: join(list), classes, glimpse: glimpse(list), texts: new Map(), words: new Map() };
}

/**
 * Find pairs of consecutive letters of the significant words: elements without any of these pairs are skipped.
 *
 * @type {(list: string[]) => RegExp}
 */
function glimpse(list) {
  let pieces = "";
  /** @type {(piece: string) => void} */
  const add = (piece) => {
    pieces += (pieces ? "|" : "") + piece;
  };
  for (let pass = 0; pass < 2 && !pieces; pass++) {
    for (let i = 0; i < list.length; i++) {
      if (pass === 0 && VAGUE[list[i]]) continue;
      if (list[i].length < 4) add(list[i]);
      else for (let at = 0; at + 1 < list[i].length; at += 2) add(list[i].slice(at, at + 2));
      for (const short in SAME_WORD) if (SAME_WORD[short] === list[i]) add(short);
    }
  }
  return new RegExp(pieces, "i");
}

/** @type {(list: string[]) => string} */
function join(list) {
  let text = "";
  for (let i = 0; i < list.length; i++) text += list[i];
  return text;
}

/**
 * Return the similarity of two words, 0 to 1: equal, one inside the other, or a few letters different.
 *
 * @type {(a: string, b: string) => number}
 */
function likeness(a, b) {
  if (a === b) return 1;
  const short = a.length < b.length ? a : b;
  const long = a.length < b.length ? b : a;
  if (short.length >= 3 && long.indexOf(short) === 0) return 0.6 + (0.35 * short.length) / long.length;
  if (short.length >= 4 && long.indexOf(short) > 0) return 0.4 + (0.35 * short.length) / long.length;
  if (short.length < 4 || long.length - short.length > 2) return 0;
  const near = 1 - distance(a, b) / long.length;
  return near >= 0.65 ? near : 0;
}

/**
 * Return the number of letters to insert, drop, change or swap (optimal string alignment).
 *
 * @type {(a: string, b: string) => number}
 */
function distance(a, b) {
  /** @type {number[]} */
  let before = [];
  /** @type {number[]} */
  let last = [];
  for (let j = 0; j <= b.length; j++) last[j] = j;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(change, last[j] + 1, row[j - 1] + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, before[j - 2] + 1);
      }
      row[j] = least;
    }
    before = last;
    last = row;
  }
  return last[b.length];
}

/**
 * Return the share of common letter pairs (Dice), for names without word boundaries.
 *
 * @type {(a: string, b: string) => number}
 */
function pairsAlike(a, b) {
  if (a.length < 2 || b.length < 2) return 0;
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (let i = 0; i + 1 < a.length; i++) {
    const pair = a.charCodeAt(i) * 65536 + a.charCodeAt(i + 1);
    counts.set(pair, (counts.get(pair) || 0) + 1);
  }
  let common = 0;
  for (let i = 0; i + 1 < b.length; i++) {
    const pair = b.charCodeAt(i) * 65536 + b.charCodeAt(i + 1);
    const left = counts.get(pair) || 0;
    if (left) {
      counts.set(pair, left - 1);
      common++;
    }
  }
  return (2 * common) / (a.length + b.length - 2);
}

/** @type {(word: string) => number} */
const wordWeight = (word) => (VAGUE[word] ? 0.2 : 1);

/** @type {number[]} */
const NONE = [];

/**
 * Return how similar `word` is to each word of the query, or NONE. Cached, because pages repeat words.
 *
 * @type {(query: Query, word: string) => number[]}
 */
function likenesses(query, word) {
  let known = query.words.get(word);
  if (known) return known;
  known = NONE;
  for (let i = 0; i < query.list.length; i++) {
    const like = likeness(query.list[i], word);
    if (like && known === NONE) {
      known = [];
      for (let k = 0; k < i; k++) known[k] = 0;
    }
    if (known !== NONE) known[i] = like;
  }
  query.words.set(word, known);
  return known;
}

/**
 * Return how well `text` covers each word of the query, and its total similarity; null if it is not similar.
 *
 * @type {(query: Query, text: string) => Coverage | null}
 */
function coverage(query, text) {
  let known = query.texts.get(text);
  if (known !== undefined) return known;
  known = null;
  const list = words(text, 16);
  for (let k = 0; k < list.length; k++) {
    const likes = likenesses(query, list[k]);
    if (likes === NONE) continue;
    if (!known) known = { best: [], own: join(list) };
    for (let i = 0; i < likes.length; i++) known.best[i] = Math.max(known.best[i] || 0, likes[i]);
  }
  query.texts.set(text, known);
  return known;
}

/** @type {(query: Query, texts: string[], role: string) => number} */
export function score(query, texts, role) {
  /** @type {number[]} */
  const best = [];
  let alike = 0;
  for (let t = 0; t < texts.length; t++) {
    if (!texts[t] || !query.glimpse.test(texts[t])) continue;
    const known = coverage(query, texts[t]);
    if (!known) continue;
    for (let i = 0; i < query.list.length; i++) best[i] = Math.max(best[i] || 0, known.best[i]);
    const own = known.own;
    alike = Math.max(alike, pairsAlike(query.joined, own), pairsAlike(query.joined, own + role));
  }
  if (!best.length) return 0;
  let sum = 0;
  let total = 0;
  for (let i = 0; i < query.list.length; i++) {
    const weight = wordWeight(query.list[i]);
    total += weight;
    sum += weight * Math.max(best[i], query.list[i] === role ? 1 : 0);
  }
  return 0.6 * (sum / total) + 0.4 * alike;
}
