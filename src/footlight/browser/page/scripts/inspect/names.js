// The accessible name of an element.

import { apply, attr, firstElement, getRootNode, member, nextElementOf, read, tagOf, textContent } from "./platform.js";
import { roleOf } from "./roles.js";
import { buttonText, fold, visibleText } from "./text.js";
import { isRendered } from "./visibility.js";

/** @import { TextOptions } from "./text.js" */

/** @type {Lookup<1>} */
// biome-ignore format: a table
const NAMED_BY_TEXT = {
  __proto__: null,
  button: 1, cell: 1, checkbox: 1, columnheader: 1, gridcell: 1, heading: 1, link: 1, menuitem: 1,
  menuitemcheckbox: 1, menuitemradio: 1, option: 1, radio: 1, row: 1, rowheader: 1, switch: 1, tab: 1,
  tooltip: 1, treeitem: 1,
};
/** @type {Lookup<string>} */
const NAMED_BY_CHILD = {
  __proto__: null,
  fieldset: "legend",
  figure: "figcaption",
  svg: "title",
  table: "caption",
};
const MAX_NAME = 200;

/** @type {(element: AnyElement, options: TextOptions) => string} */
export function textOrContent(element, options) {
  const text = visibleText(element, MAX_NAME, options);
  return text || isRendered(element) ? text : fold(textContent(element), MAX_NAME);
}

/** @type {(element: AnyElement) => string} */
function labelledBy(element) {
  const ids = fold(attr(element, "aria-labelledby"), 1000);
  const root = getRootNode(element);
  const byId = member(root, "getElementById");
  let name = "";
  for (let at = 0; byId && at < ids.length; ) {
    let end = ids.indexOf(" ", at);
    if (end < 0) end = ids.length;
    const label = apply(byId.value, root, [ids.slice(at, end)]);
    if (label) name += " " + (fold(attr(label, "aria-label"), MAX_NAME) || textOrContent(label, { alt: true }));
    at = end + 1;
  }
  return name;
}

/** @type {(element: AnyElement) => string} */
function labelText(element) {
  const labels = read(element, "labels");
  let name = "";
  for (let i = 0; labels && i < labels.length && i < 5; i++) {
    name += " " + textOrContent(labels[i], { alt: true, skip: element });
  }
  return name;
}

/** @type {(element: AnyElement, tag: string) => string} */
function childText(element, tag) {
  const naming = NAMED_BY_CHILD[tag];
  if (!naming) return "";
  for (let child = firstElement(element); child; child = nextElementOf(child)) {
    if (tagOf(child) === naming) return textContent(child);
  }
  return "";
}

/** @type {(element: AnyElement, tag: string) => string} */
function ownText(element, tag) {
  if (tag === "input") return buttonText(element);
  return NAMED_BY_TEXT[roleOf(element) || ""] ? textOrContent(element, { alt: true }) : "";
}

/** @type {(element: AnyElement) => string} */
export function nameOf(element) {
  const tag = tagOf(element);
  const sources = [
    () => labelledBy(element),
    () => attr(element, "aria-label"),
    () => labelText(element),
    () => (tag === "img" || tag === "area" || tag === "input" ? attr(element, "alt") : ""),
    () => childText(element, tag),
    () => ownText(element, tag),
    () => attr(element, "title"),
    () => attr(element, "placeholder"),
  ];
  for (let i = 0; i < sources.length; i++) {
    const name = fold(sources[i](), MAX_NAME);
    if (name) return name;
  }
  return "";
}
