// The roles of elements without the attribute `role`.

import { byIds, isFirstSummary } from "./flat_tree.js";
import { nameOf } from "./names.js";
import { attr, factsOf, hasAttr, pass, textAttribute } from "./pass.js";
import { closest, ELEMENT, get, isSvg, parentOf, tagOf, words } from "./platform.js";
import { readLive } from "./reads.js";
import { INPUT_ROLES, ignoresRoleNone, roleOf } from "./roles.js";
import { styleOf } from "./styles.js";
import { dataRole, groupRole, headRole, rowRole, tableRole } from "./tables.js";
import { isClickable, isEditingHost } from "./visibility.js";

/** @import { Facts } from "./pass.js" */

/** @type {(facts: Facts) => string} */
export function nativeRole(facts) {
  const native = TAG_ROLES.get(facts.tag);
  const role = typeof native === "function" ? native(facts) : native || "generic";
  if (role !== "generic") return role;
  if (isEditingHost(facts)) return "textbox";
  return isPicture(facts) ? "img" : "generic";
}

/**
 * Return whether a style sheet replaces the element by a picture with `content: url(…)`.
 *
 * @type {(facts: Facts) => boolean}
 */
const isPicture = (facts) => !!pass.styled.matches.picture?.has(facts.element) && readLive(hasPictureContent, facts);

/** @type {(facts: Facts) => boolean} */
const hasPictureContent = (facts) => styleOf(facts).content.startsWith("url(");

/** @type {(facts: Facts, role: string) => string} */
const namedOr = (facts, role) => (isNamedByAuthor(facts) ? role : "generic");

/** @type {(facts: Facts) => boolean} */
export const isNamedByAuthor = (facts) =>
  !!textAttribute(facts, "aria-label") || byIds(facts, "aria-labelledby").length > 0 || !!textAttribute(facts, "title");

/** @type {(facts: Facts) => string} */
export function linkRole(facts) {
  if (hasAttr(facts, "href")) return "link";
  if (hasAttr(facts, "xlink:href") && isSvg(facts.element)) return "link";
  return isClickable(facts) ? "link" : "generic"; // A script handles it.
}

const SECTIONS =
  "article,aside,main,nav,section,[role=article],[role=complementary],[role=main],[role=navigation],[role=region]";
/** @type {(facts: Facts) => boolean} */
const isInSection = (facts) => closest.call(facts.element, SECTIONS) !== null;
/** @type {(facts: Facts) => string} */
const headerRole = (facts) => (isInSection(facts) ? "sectionheader" : "banner");
/** @type {(facts: Facts) => string} */
const footerRole = (facts) => (isInSection(facts) ? "sectionfooter" : "contentinfo");
/** @type {(facts: Facts) => string} */
const sectionRole = (facts) => namedOr(facts, "region");
const SECTIONING = "article,aside,nav,section,[role=article],[role=complementary],[role=navigation],[role=region]";

/** @type {(facts: Facts) => string} */
function asideRole(facts) {
  const parent = get.parentNode.call(facts.element);
  const within = parent && get.nodeType.call(parent) === ELEMENT && closest.call(parent, SECTIONING);
  return within ? namedOr(facts, "complementary") : "complementary";
}

/** @type {(facts: Facts) => string} */
function imageRole(facts) {
  return attr(facts, "alt") === "" && !ignoresRoleNone(facts) ? "none" : "img";
}

/** @type {(facts: Facts) => string} */
const svgRole = (facts) => (nameOf(facts).text ? "img" : "generic");
/** @type {(facts: Facts) => string} */
const svgGroupRole = (facts) => (nameOf(facts).text ? "group" : "generic");

/** @type {(facts: Facts) => string} */
function inputRole(facts) {
  const role = INPUT_ROLES.get(facts.type) || "textbox";
  if (role === "checkbox" && hasAttr(facts, "switch")) return "switch";
  if (role === "checkbox" && hasAttr(facts, "aria-pressed")) return "button";
  return hasAttr(facts, "list") && LISTED.has(facts.type) && facts.element.list ? "combobox" : role;
}

const LISTED = words("text search tel url email");

/** @type {(facts: Facts) => string} */
const selectRole = ({ element }) => {
  const { multiple, size } = /** @type {HTMLSelectElement} */ (element);
  return multiple || size > 1 ? "listbox" : "combobox";
};

/** @type {(facts: Facts) => string} */
const summaryRole = ({ element }) => (isFirstSummary(element) ? "button" : "generic");

/** @type {(facts: Facts) => string} */
function itemRole(facts) {
  const parent = parentOf(facts.element);
  if (!parent || !LISTS.has(tagOf(parent))) return "listitem";
  return roleOf(factsOf(parent)) === "list" ? "listitem" : "none";
}

const LISTS = words("dir menu ol ul");

// A tag belongs to an element of HTML or SVG, so the element has the members of its class.
/** @type {Map<string, string | ((facts: Facts) => string)>} */
// biome-ignore format: a table
const TAG_ROLES = new Map(
  Object.entries({
    address: "group", article: "article", audio: "audio", blockquote: "blockquote", button: "button",
    canvas: "canvas", caption: "caption", code: "code", dd: "definition", del: "deletion", details: "group",
    dfn: "term", dialog: "dialog", dir: "list", dt: "term", em: "emphasis", embed: "generic", fieldset: "group",
    figcaption: "caption", figure: "figure", form: "form", frame: "iframe", h1: "heading", h2: "heading",
    h3: "heading", h4: "heading", h5: "heading", h6: "heading", hgroup: "group", hr: "separator",
    iframe: "iframe", ins: "insertion", main: "main", mark: "mark", math: "math", menu: "list", meter: "meter",
    nav: "navigation", ol: "list", optgroup: "group", option: "option", output: "status", p: "paragraph",
    progress: "progressbar", s: "deletion", search: "search", strong: "strong", sub: "subscript",
    sup: "superscript", textarea: "textbox", time: "time", ul: "list", video: "video",
    a: linkRole, area: linkRole, aside: asideRole, footer: footerRole, g: svgGroupRole, header: headerRole,
    image: svgRole, img: imageRole, input: inputRole, li: itemRole, section: sectionRole, select: selectRole,
    summary: summaryRole,
    svg: svgRole, table: tableRole, tbody: groupRole, td: dataRole, tfoot: groupRole, th: headRole,
    thead: groupRole, tr: rowRole,
  }),
);
