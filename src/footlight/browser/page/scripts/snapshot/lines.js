// Lines of text between nodes.

import { record } from "./nodes.js";
import { pass } from "./pass.js";
import { cut, fold, keepLines, MAX_NODES, MAX_SIZE, MAX_TEXT, NOTHING } from "./platform.js";
import { isInline, isWithin } from "./styles.js";

/** @import { Facts } from "./pass.js" */

/**
 * Record that the walk enters or leaves an element. A line of text continues through inline elements, and ends where a
 * block begins or ends.
 *
 * @type {(facts: Facts) => void}
 */
export function crossBoundary(facts) {
  if (pass.run.trim()) pass.crossed.push(facts);
}

/**
 * Add a text to the current line. With `isSpaced` its line breaks and spaces are kept.
 *
 * @type {(text: string, depth: number, isSpaced?: boolean) => void}
 */
export function addText(text, depth, isSpaced = false) {
  if (!text) return;
  if (pass.crossed.length) {
    const isInLine = pass.crossed.every(isInline);
    // Between blocks, white space is only the indentation of the next line.
    if (text === " " || (isSpaced && isInLine && !text.trim())) {
      pass.run += text;
      return;
    }
    if (!isInLine) flush();
    else if (!pass.crossed.every(isWithin)) pass.run += " ";
    pass.crossed.length = 0;
  }
  pass.runDepth = depth;
  if (isSpaced && !pass.isRunSpaced) {
    if (!pass.run.trim()) pass.run = ""; // The white space around elements before is no indentation of this text.
    pass.isRunSpaced = true;
  }
  if (pass.run.length < MAX_TEXT * 2) pass.run += text;
}

/** @returns {void} */
export function flush() {
  pass.crossed.length = 0;
  if (!pass.run) return;
  const run = pass.run === " " ? "" : pass.isRunSpaced ? keepLines(pass.run) : fold(pass.run).trim();
  pass.run = "";
  pass.isRunSpaced = false;
  const text = cut(run, MAX_TEXT);
  if (text) addLeaf(pass.runDepth, text);
}

/** @type {(depth: number, text: string) => void} */
export function addLeaf(depth, text) {
  if (endIfFull()) return;
  pass.lastText = { index: pass.out.length, text };
  pass.out.push(record(null, depth, "text", text, null, NOTHING));
}

/**
 * Remove the text that is the only content of a node from the list, and return it; "" if there is no such text.
 *
 * @type {(at: number) => string}
 */
export function onlyText(at) {
  if (pass.out.length !== at + 2 || pass.lastText.index !== at + 1) return "";
  pass.size -= /** @type {string} */ (pass.out.pop()).length;
  return pass.lastText.text;
}

/**
 * Return whether the list has no room for another node. The first time, add a line that reports it.
 *
 * @returns {boolean}
 */
export function endIfFull() {
  const nodes = pass.out.length;
  if (pass.cut || (nodes < MAX_NODES && pass.size < MAX_SIZE)) return pass.cut;
  pass.cut = true;
  pass.out.push(record(null, 0, "text", `… the page goes on: these are its first ${nodes} nodes`, null, NOTHING));
  return true;
}
