// Find text that went on changing by itself while the page was measured. BEGINS: only begin to watch.

import { changingText, noteOfChange, watchText } from "./changing_text.js";
import { describeAll } from "./dom.js";

/** @returns {Promise<Record<string, any>>} */
export async function answer() {
  if (BEGINS) {
    watchText();
    return {};
  }
  return { "changing-text": describeAll(await changingText(), noteOfChange) };
}
