// Find text that went on changing by itself while the page was measured.

import { changingText, noteOfChange } from "./changing_text.js";
import { describeAll } from "./dom.js";

/** @returns {Promise<Record<string, any>>} */
export async function answer() {
  return { "changing-text": describeAll(await changingText(), noteOfChange) };
}
