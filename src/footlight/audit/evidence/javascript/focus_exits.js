// The key with which a part of the page is left, where the page names one.

import { documentBody, oneLine, own } from "./dom.js";
import { nameOf } from "./focus_names.js";

const MAX_EXIT_TEXT = 50_000;
const MAX_HELP = 3;
const OPENS_HELP = 'button, [role=button], summary, a[href^="#"]';
const HELP =
  /\b(help|how|instructions?|exit|leave|keyboard|keys|hilfe|verlassen|tasten|aide|quitter|clavier|ayuda|salir|teclado|aiuto|uscire)\b/i;
const KEY_NAME = "(esc|escape|f\\d{1,2}|(?:(?:ctrl|control|alt|shift|cmd)\\s?[+-]\\s?)?[a-z])";
const EXIT = new RegExp(
  `\\b(?:press|use|hit|type)\\s+(?:the\\s+)?["“'‘]?${KEY_NAME}["”'’]?(?:[\\s-]key)?\\b[^.!?\\n]{0,40}\\b(?:exit|leave|escape|get out|close|quit|next)\\b` +
    `|\\b(?:exit|leave|get out|quit)\\b[^.!?\\n]{0,40}\\b(?:press|use|hit|type|with)\\s+(?:the\\s+)?["“'‘]?${KEY_NAME}\\b`,
  "i",
);

/**
 * Return the key that the page names as the way out of a part, and the text that names it.
 *
 * @returns {{ key: string, words: string } | null}
 */
export function documentedExit() {
  const text = (documentBody()?.innerText ?? "").slice(0, MAX_EXIT_TEXT);
  const found = EXIT.exec(text);
  return found ? { key: found[1] ?? found[2], words: oneLine(found[0], 120) } : null;
}

/**
 * Return the way out that the page names after its help was asked for, which is among these elements. `settle` waits
 * until the page is at rest.
 *
 * @type {(elements: AnyElement[], settle: () => Promise<unknown>) => Promise<{ key: string, words: string } | null>}
 */
export async function revealedExit(elements, settle) {
  const help = elements.filter((each) => own.matches(each, OPENS_HELP) && HELP.test(nameOf(each)));
  for (const each of help.slice(0, MAX_HELP)) {
    each.click?.();
    await settle();
    const found = documentedExit();
    if (found) return found;
  }
  return null;
}
