// The ARIA role of an element.

import { linkAddress } from "./links.js";
import { attr, attribute, closestOf, hasAttribute, tagOf } from "./platform.js";
import { asciiLower, fold, typeOf } from "./text.js";

/** @type {Lookup<string>} */
// biome-ignore format: a table
const ROLES = {
  __proto__: null,
  article: "article", aside: "complementary", blockquote: "blockquote", button: "button", caption: "caption",
  code: "code", datalist: "listbox", dd: "definition", details: "group", dialog: "dialog", dt: "term",
  fieldset: "group", figure: "figure", form: "form", h1: "heading", h2: "heading", h3: "heading", h4: "heading",
  h5: "heading", h6: "heading", hr: "separator", html: "document", iframe: "iframe", li: "listitem", main: "main",
  math: "math", menu: "list", meter: "meter", nav: "navigation", ol: "list", optgroup: "group", option: "option",
  output: "status", p: "paragraph", progress: "progressbar", search: "search", summary: "button", svg: "img",
  table: "table", tbody: "rowgroup", tfoot: "rowgroup", thead: "rowgroup", textarea: "textbox", tr: "row",
  ul: "list",
};
/** @type {Record<string, string | null>} */
// biome-ignore format: a table
const INPUT_ROLES = {
  __proto__: null,
  button: "button", checkbox: "checkbox", image: "button", number: "spinbutton", radio: "radio", range: "slider",
  reset: "button", search: "searchbox", submit: "button", hidden: null, color: null, date: null, file: null,
  "datetime-local": null, month: null, time: null, week: null, password: null,
};
const SECTIONS = "article,aside,main,nav,section";

/** @type {(input: AnyElement) => string | null} */
function inputRole(input) {
  const type = typeOf(input);
  if (hasAttribute(input, "list") && !(type in INPUT_ROLES && type !== "search")) return "combobox";
  return type in INPUT_ROLES ? INPUT_ROLES[type] : "textbox";
}

/** @type {(cell: AnyElement, tag: string) => string} */
function cellRole(cell, tag) {
  if (tag === "th") {
    const scope = asciiLower(attr(cell, "scope"));
    if (scope === "row" || scope === "rowgroup") return "rowheader";
    return "columnheader";
  }
  const table = closestOf(cell, "table");
  const role = table ? explicitRole(table) : "";
  return role === "grid" || role === "treegrid" ? "gridcell" : "cell";
}

/**
 * Return the first of its roles that exists in ARIA.
 *
 * @type {(element: AnyElement) => string}
 */
export function explicitRole(element) {
  const roles = fold(attr(element, "role"), 100).toLowerCase();
  const end = roles.indexOf(" ");
  return end < 0 ? roles : roles.slice(0, end);
}

/** @type {(element: AnyElement, tag: string) => string | null} */
export function implicitRole(element, tag) {
  switch (tag) {
    case "a":
    case "area":
      return linkAddress(element, tag) === null ? null : "link";
    case "img":
      return attribute(element, "alt") === "" && !hasAttribute(element, "aria-label") ? "presentation" : "img";
    case "input":
      return inputRole(element);
    case "select":
      return hasAttribute(element, "multiple") || Number(attr(element, "size")) > 1 ? "listbox" : "combobox";
    case "td":
    case "th":
      return cellRole(element, tag);
    case "header":
      return closestOf(element, SECTIONS) ? null : "banner";
    case "footer":
      return closestOf(element, SECTIONS) ? null : "contentinfo";
    case "section":
      return hasAttribute(element, "aria-label") || hasAttribute(element, "aria-labelledby") ? "region" : null;
    default:
      return ROLES[tag] || null;
  }
}

/** @type {(element: AnyElement) => string | null} */
export const roleOf = (element) => explicitRole(element) || implicitRole(element, tagOf(element));
