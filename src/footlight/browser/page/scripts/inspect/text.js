// The visible text, with white space folded.

import { isSecret } from "./description.js";
import {
  apply,
  attr,
  firstChild,
  hasAttribute,
  isElement,
  member,
  nextSibling,
  nodeType,
  nodeValue,
  read,
  shadowRoot,
  styleOf,
  tagOf,
  textContent,
} from "./platform.js";

/**
 * Text that is being collected, with white space folded.
 *
 * @typedef {object} Text
 * @property {string} text
 * @property {boolean} gap whether white space follows
 * @property {number} limit
 * @property {boolean} full
 * @property {number} nodes the number of nodes that were read
 */

/**
 * What visible text includes: the texts of images, the values of fields, and not the element `skip`.
 *
 * @typedef {{ alt?: boolean, fields?: boolean, skip?: AnyElement }} TextOptions
 */

export const MAX_DEPTH = 500;
const MAX_NODES = 20000;

/** @type {(text: string | null | undefined) => string} */
export function asciiLower(text) {
  return (text || "").toLowerCase();
}

/** @type {(code: number) => boolean} */
const isSpace = (code) =>
  code === 32 ||
  (code >= 9 && code <= 13) ||
  (code >= 127 &&
    (code === 0xa0 ||
      code === 0x1680 ||
      (code >= 0x2000 && code <= 0x200a) ||
      code === 0x2028 ||
      code === 0x2029 ||
      code === 0x202f ||
      code === 0x205f ||
      code === 0x3000 ||
      code === 0xfeff));

/** @type {(limit: number) => Text} */
export const newText = (limit) => ({ text: "", gap: false, limit, full: false, nodes: 0 });

/**
 * Add `piece` to `out` with its white space folded.
 *
 * @type {(out: Text, piece: string) => void}
 */
export function append(out, piece) {
  const end = piece.length;
  let at = 0;
  while (at < end && !out.full) {
    if (isSpace(piece.charCodeAt(at))) {
      out.gap = true;
      at++;
      continue;
    }
    const start = at;
    const stop = start + out.limit + 1;
    while (at < end && at < stop && !isSpace(piece.charCodeAt(at))) at++;
    if (out.gap && out.text) out.text += " ";
    out.gap = false;
    out.text += piece.slice(start, at);
    out.full = out.text.length > out.limit;
  }
}

/**
 * Return `text` in at most `limit` characters; a cut is marked and never splits a surrogate pair.
 *
 * @type {(text: string, limit: number) => string}
 */
export function cut(text, limit) {
  if (text.length <= limit) return text;
  let end = limit - 1;
  const last = text.charCodeAt(end - 1);
  if (last >= 0xd800 && last <= 0xdbff) end--;
  return text.slice(0, end) + "…";
}

/** @type {(text: string | null | undefined, limit: number) => string} */
export function fold(text, limit) {
  const out = newText(limit);
  append(out, text || "");
  return cut(out.text, limit);
}

// The content of these elements is not drawn, or not as text.
/** @type {Lookup<1>} */
// biome-ignore format: a table
export const NOT_TEXT = {
  __proto__: null, audio: 1, canvas: 1, datalist: 1, iframe: 1, meter: 1, noscript: 1, object: 1, progress: 1,
  script: 1, style: 1, template: 1, textarea: 1, title: 1, video: 1,
};
/** @type {Lookup<1>} */
const BUTTON_TYPES = { __proto__: null, button: 1, submit: 1, reset: 1 };
/** @type {(input: AnyElement) => string} */
export const typeOf = (input) => asciiLower(read(input, "type") || "text");

/** @type {(input: AnyElement) => string} */
export function buttonText(input) {
  const type = typeOf(input);
  if (!BUTTON_TYPES[type]) return "";
  if (hasAttribute(input, "value")) return attr(input, "value");
  return type === "submit" ? "Submit" : type === "reset" ? "Reset" : "";
}

/**
 * Return the check mark of the element, as in task lists: `[x] Paid`; "" if it cannot be checked.
 *
 * @type {(element: AnyElement, tag: string) => string}
 */
function markOf(element, tag) {
  const native = tag === "input" && /^(checkbox|radio)$/.test(typeOf(element));
  const role = native ? "" : asciiLower(attr(element, "role"));
  if (!native && !/^(checkbox|radio|switch|menuitemcheckbox|menuitemradio)$/.test(role)) return "";
  const state = native ? "" + read(element, "checked") : attr(element, "aria-checked");
  const mixed = native ? read(element, "indeterminate") === true : state === "mixed";
  const name = attr(element, "aria-label");
  return (mixed ? "[-]" : state === "true" ? "[x]" : "[ ]") + (name ? " " + name : "");
}

/** @type {(input: AnyElement) => string} */
function inputText(input) {
  const type = typeOf(input);
  if (type === "hidden" || type === "image" || isSecret(input, "input")) return "";
  return BUTTON_TYPES[type] ? buttonText(input) : " " + read(input, "value") + " ";
}

/** @type {(select: AnyElement) => string} */
function selectedText(select) {
  const chosen = read(select, "selectedOptions") || [];
  let text = "";
  for (let i = 0; i < chosen.length && i < 20; i++) text += " " + (textContent(chosen[i]) || "");
  return text;
}

/**
 * Visit the nodes that are drawn inside `element`, in order: its shadow tree, the nodes of a slot, or its children.
 *
 * @type {(element: AnyElement, tag: string, visit: (node: AnyElement) => void) => void}
 */
function eachRendered(element, tag, visit) {
  const shadow = shadowRoot(element);
  if (!shadow && tag === "slot") {
    const assigned = member(element, "assignedNodes");
    const nodes = assigned ? apply(assigned.value, element, []) : [];
    for (let i = 0; i < nodes.length; i++) visit(nodes[i]);
    if (nodes.length) return;
  }
  const folded = tag === "details" && !hasAttribute(element, "open");
  for (let node = firstChild(shadow || element); node; node = nextSibling(node)) {
    if (!folded || (isElement(node) && tagOf(node) === "summary")) visit(node);
  }
}

/**
 * Collect the visible text of `element` and its descendants. `options`: `alt` includes the texts of images, `fields`
 * the values of fields; `skip` is left out.
 *
 * @type {(element: AnyElement, out: Text, options: TextOptions, depth: number) => void}
 */
function collect(element, out, options, depth) {
  if (out.full || depth > MAX_DEPTH || ++out.nodes > MAX_NODES || element === options.skip) return;
  const tag = tagOf(element);
  if (NOT_TEXT[tag]) return;
  const style = styleOf(element);
  if (style.display === "none" || style.contentVisibility === "hidden") return;
  const isTextVisible = style.visibility === "visible";
  const isSeparate = tag === "br" || (style.display !== "inline" && style.display !== "contents");
  if (isSeparate) out.gap = true;
  const mark = options.fields ? markOf(element, tag) : "";
  if (mark && isTextVisible) append(out, " " + mark + " ");
  if (tag === "input") {
    if (isTextVisible) append(out, options.fields && !mark ? inputText(element) : buttonText(element));
  } else if (options.fields && tag === "textarea") {
    if (isTextVisible) append(out, " " + read(element, "value") + " ");
  } else if (tag === "select") {
    if (isTextVisible) append(out, selectedText(element));
  } else if (options.alt && tag === "img") {
    if (isTextVisible) append(out, " " + (attr(element, "aria-label") || attr(element, "alt")) + " ");
  } else {
    eachRendered(element, tag, (node) => {
      const type = nodeType(node);
      if (type === 1) collect(node, out, options, depth + 1);
      else if (isTextVisible && (type === 3 || type === 4) && ++out.nodes <= MAX_NODES)
        append(out, nodeValue(node) || "");
    });
  }
  if (isSeparate) out.gap = true;
}

/** @type {(element: AnyElement, limit: number, options?: TextOptions) => string} */
export function visibleText(element, limit, options) {
  const out = newText(limit);
  collect(element, out, options || {}, 0);
  return cut(out.text, limit);
}
