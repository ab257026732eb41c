// What a pass reads from the page in addition to the tree that the mutation observer watches: styles, the values of
// fields, shadow roots and other properties that change without a mutation. If all of this is the same as in the last
// pass, and nothing has mutated, another pass would return the same list.

/** @import { Styled } from "./styles.js" */

const MAX_READS = 300_000; // A pass that reads more is not compared with the next one.

class Reads {
  /** @type {((subject: any) => unknown)[]} */
  readers = [];
  /** @type {any[]} */
  subjects = [];
  /** @type {unknown[]} */
  results = [];

  /** @type {() => boolean} */
  areSame() {
    const { readers, subjects, results } = this;
    for (let at = 0; at < readers.length; at++) if (readers[at](subjects[at]) !== results[at]) return false;
    return true;
  }
}

/** @type {Reads | null} */
let recorded = null;

/**
 * @typedef {object} Context facts about a pass
 * @property {Set<Document | ShadowRoot>} trees
 * @property {Styled} styled
 * @property {AnyElement | null} focused
 * @property {Set<AnyElement>} focusPath
 * @property {AnyElement | null} modal
 * @property {Set<AnyElement>} around
 * @property {Set<AnyElement>} beside
 */

/**
 * What the last list of the whole document was made of, until the document changes.
 *
 * @type {Context & { reads: Reads } | null}
 */
export let lastLook = null;

/** @type {(pass: Context) => void} */
export function rememberLook({ trees, styled, focused, focusPath, modal, around, beside }) {
  lastLook = recorded && { reads: recorded, trees, styled, focused, focusPath, modal, around, beside };
}

/** @returns {void} */
export function forgetLook() {
  lastLook = null;
}

/** @returns {void} */
export function recordReads() {
  recorded = new Reads();
}

/**
 * Stop recording, at the end of a pass or because its result depends on something that is not read again.
 *
 * @returns {void}
 */
export function stopRecording() {
  recorded = null;
}

/**
 * Return the result of a reader, and record it. Results are compared with `===`.
 *
 * @template S, R
 * @param {(subject: S) => R} reader
 * @param {S} subject
 * @returns {R}
 */
export function readLive(reader, subject) {
  const result = reader(subject);
  if (recorded) {
    recorded.readers.push(reader);
    recorded.subjects.push(subject);
    if (recorded.results.push(result) > MAX_READS) stopRecording();
  }
  return result;
}
