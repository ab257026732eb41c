// Code blocks with their language.

import { isHidden, NEVER } from "./left_out.js";
import { attribute, childrenOf, get, isElement, MAX_DEPTH, querySelector, TEXT, tagOf, typeOf } from "./nodes.js";
import { fence } from "./texts.js";

/** @type {(pre: AnyElement) => string} */
export function fenceCode(pre) {
  const text = codeOf(pre).replace(/^\n/, "").trimEnd();
  const ticks = fence(text, 3);
  return `${ticks}${languageOf(pre)}\n${text}\n${ticks}`;
}

/** @type {(element: AnyElement, depth?: number) => string} */
function codeOf(element, depth = 0) {
  let text = "";
  for (const node of childrenOf(element)) {
    if (typeOf(node) === TEXT) text += get.data.call(/** @type {Text} */ (node));
    else if (isElement(node) && depth < MAX_DEPTH) {
      const tag = tagOf(node);
      if (tag === "br") text += "\n";
      else if (tag !== "button" && !NEVER.has(tag) && !isHidden(node)) text += codeOf(node, depth + 1);
    }
  }
  return text;
}

const LANGUAGE = /(?:^|\s)(?:language-|lang-|highlight-source-|highlight-text-|brush:\s*)([\w+#.-]+)/;

/** @type {(pre: AnyElement) => string} */
function languageOf(pre) {
  const inner = querySelector.call(pre, "code");
  for (const element of [inner, pre, get.parentNode.call(pre)]) {
    if (!element || !isElement(element)) continue;
    const declared = attribute(element, "data-lang") || attribute(element, "data-language");
    const language = declared || LANGUAGE.exec(attribute(element, "class") || "")?.[1];
    if (language) return language.toLowerCase().replace(/[^\w+#.-]/g, "");
  }
  return "";
}
