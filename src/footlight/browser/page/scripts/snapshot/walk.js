// The walk over the flat tree: which elements become nodes.

import { childrenOf } from "./flat_tree.js";
import { addText, crossBoundary } from "./lines.js";
import { NO_NAME, nameOf, OPAQUE } from "./names.js";
import { addNode, addOptions } from "./nodes.js";
import { attr, factsOf, hasAttr, isSet, pass } from "./pass.js";
import { attribute, findAll, get, MAX_DEPTH, MAX_PART_DEPTH, MAX_PARTS, NOTHING, words } from "./platform.js";
import { roleOf } from "./roles.js";
import { generatedText } from "./styles.js";
import { HIDDEN, isClickable, isFocusable, isLeftOut, SHOWN, skipsContents, visibilityOf } from "./visibility.js";

/** @import { Scope } from "./platform.js" */
/** @import { Facts } from "./pass.js" */

const REFERRED = words(`
  alert alertdialog article banner button canvas audio video cell checkbox columnheader combobox complementary
  contentinfo dialog feed form grid gridcell heading iframe img link listbox listitem log main menu menubar menuitem
  menuitemcheckbox menuitemradio meter navigation option progressbar radio radiogroup region row rowheader scrollbar
  search searchbox slider spinbutton status switch tab table tablist tabpanel textbox timer toolbar tooltip tree
  treegrid treeitem
`);
// Containers, which get a ref once they have a name.
const REFERRED_BY_NAME = words(`
  application blockquote document figure generic group list marquee math note sectionfooter sectionheader separator
  doc-abstract doc-toc
`);
// Words in a line, or parts without a meaning of their own: they are replaced by their contents.
const FOLDED = words(`
  code emphasis generic mark none rowgroup strong subscript superscript time suggestion
`);
const FOLDED_UNNAMED = words("group sectionfooter sectionheader");
const WORDS = words("abbr ruby"); // in a line with others, even if they have a title

const INTERACTIVE = words(`
  button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio searchbox slider
  spinbutton switch tab textbox treeitem
`);
// Their contents are a picture to the reader; only elements inside that can be focused themselves are in the tree.
export const WITH_PRESENTATIONAL_CHILDREN = words(`
  button checkbox img menuitemcheckbox menuitemradio meter option progressbar radio scrollbar separator slider
  switch tab
`);

export const DISABLED = 1; // by an ancestor with aria-disabled
export const SAID = 2; // these texts are in a name already
export const CONTROL = 4; // inside an element that can be acted on
export const PRESENTATIONAL = 8;
export const CLICKABLE = 16; // the node itself can be clicked
export const ESCAPED = 32; // inside the modal dialog

/** @type {(facts: Facts, depth: number, flags: number, deep: number) => void} */
export function visit(facts, depth, flags, deep) {
  const { element, tag } = facts;
  if (pass.cut || isLeftOut(facts) || isInert(facts, flags)) return;
  if (deep > MAX_DEPTH) {
    addText("… deeper elements are left out", depth);
    return;
  }
  const inside = element === pass.modal || pass.beside.has(element) ? flags | ESCAPED : flags;
  const unmet = visibilityOf(facts) === HIDDEN || (pass.modal && !(inside & ESCAPED));
  if (unmet) visitChildren(facts, depth, inside, deep);
  else if (tag === "br") pass.run += " ";
  else visitVisible(facts, depth, inside, deep);
}

/** @type {(facts: Facts, flags: number) => boolean} */
function isInert(facts, flags) {
  if (pass.modal && !(flags & ESCAPED)) return !pass.around.has(facts.element) && !pass.beside.has(facts.element);
  return facts.element !== pass.modal && hasAttr(facts, "inert");
}

/** @type {(facts: Facts, depth: number, flags: number, deep: number) => void} */
function visitVisible(facts, depth, flags, deep) {
  const met = roleOf(facts);
  const role = met === "none" && isFocusable(facts) ? "generic" : met;
  const focusable = isFocusable(facts);
  const acted = focusable || INTERACTIVE.has(role);
  if (flags & PRESENTATIONAL && !acted) {
    visitFolded(facts, depth, flags, deep);
    return;
  }
  const clickable = !acted && !(flags & CONTROL) && isPressed(facts);
  const name = isFoldable(role) && !facts.names.length && role !== "group" ? NO_NAME : nameOf(facts);
  const testid = attr(facts, "data-testid");
  const isNamed = !!name.text && REFERRED_BY_NAME.has(role) && !WORDS.has(facts.tag);
  if (clickable || (acted && role === "generic")) noteParts(facts);
  const refers = acted || clickable || !!testid || pass.parts.has(facts) || REFERRED.has(role) || isNamed;
  if (!refers && (FOLDED.has(role) || (isFoldable(role) && !name.text && facts.tag !== "details"))) {
    visitFolded(facts, depth, flags, deep);
  } else addNode(facts, role, name, depth, clickable ? flags | CLICKABLE : flags, deep, refers, acted);
}

/** @type {(role: string) => boolean} */
const isFoldable = (role) => FOLDED.has(role) || FOLDED_UNNAMED.has(role);

/**
 * Listeners of scripts cannot be detected, but these roles say that they have one.
 *
 * @type {(facts: Facts) => boolean}
 */
const isHandled = (facts) =>
  attr(facts, "draggable") === "true" ||
  (facts.tag === "a" && !hasAttr(facts, "href") && /\S/.test(get.textContent.call(facts.element) || ""));

/**
 * Scripts may listen on each part of something that can be clicked, and a click on the whole hits the part in its
 * middle. Parts are recognised by their texts; an element around words in a line is one whole.
 *
 * @type {(facts: Facts) => void}
 */
function noteParts(facts) {
  if (facts.tag === "label" || !isClickable(facts)) return;
  const parts = partsOf(facts, [], 0);
  if (parts.length > 1 && parts.length <= MAX_PARTS) for (const part of parts) pass.parts.add(part);
}

/** @type {(facts: Facts, found: Facts[], deep: number) => Facts[]} */
function partsOf(facts, found, deep) {
  if (found.length > MAX_PARTS || deep > MAX_PART_DEPTH) return found;
  const children = childrenOf(facts);
  if (children.some((child) => typeof child === "string" && child.trim())) {
    if (deep) found.push(facts);
    return found;
  }
  for (const child of children) {
    if (typeof child === "object" && !isLeftOut(child) && visibilityOf(child) === SHOWN)
      partsOf(child, found, deep + 1);
  }
  return found;
}

/**
 * A label is clicked for its field; if the field is replaced by a drawn one, only the label can be clicked.
 *
 * @type {(facts: Facts) => boolean}
 */
function isPressed(facts) {
  if (facts.tag !== "label") return isClickable(facts) || isHandled(facts);
  const control = controlOf(facts);
  return control !== null && visibilityOf(factsOf(control)) !== SHOWN && control.type !== "hidden";
}

/** @type {(label: Facts) => AnyElement | null} */
const controlOf = (label) => /** @type {HTMLLabelElement} */ (label.element).control;

/** @type {(facts: Facts, depth: number, flags: number, deep: number) => void} */
function visitFolded(facts, depth, flags, deep) {
  crossBoundary(facts);
  const disabled = facts.aria && isSet(facts, "aria-disabled") ? DISABLED : 0;
  const inherited = OPAQUE.has(roleOf(facts)) ? flags & ~SAID : flags;
  visitChildren(facts, depth, inherited | disabled | namesAnother(facts), deep);
  crossBoundary(facts);
}

/**
 * Return whether its texts are the name of another element in the tree.
 *
 * @type {(facts: Facts) => number}
 */
function namesAnother(facts) {
  if (facts.tag !== "label") return pass.said.has(facts.element) ? SAID : 0;
  const control = controlOf(facts);
  if (!control) return 0;
  const other = factsOf(control);
  if (isLeftOut(other) || visibilityOf(other) !== SHOWN) return 0;
  const name = nameOf(other);
  return name.from === "native" && !name.isCut ? SAID : 0;
}

/** @type {(facts: Facts, depth: number, flags: number, deep: number) => void} */
export function visitInside(facts, depth, flags, deep) {
  if (facts.tag === "select") addOptions(facts, depth, flags);
  else if (facts.tag === "img") visitAreas(facts, depth, flags);
  else visitChildren(facts, depth, flags, deep);
}

/** @type {(facts: Facts, depth: number, flags: number, deep: number) => void} */
function visitChildren(facts, depth, flags, deep) {
  if (skipsContents(facts)) return;
  const seen = visibilityOf(facts) === SHOWN && !(flags & SAID) && (!pass.modal || flags & ESCAPED);
  if (seen) addText(generatedText(facts, "before"), depth);
  for (const child of childrenOf(facts)) {
    if (typeof child === "object") visit(child, depth, flags, deep + 1);
    else if (seen) addText(child, depth);
    if (pass.cut) return;
  }
  if (seen) addText(generatedText(facts, "after"), depth);
}

/**
 * The areas of an image map have no boxes; they are listed inside the image that uses the map.
 *
 * @type {(facts: Facts, depth: number, flags: number) => void}
 */
function visitAreas(facts, depth, flags) {
  const name = (attr(facts, "usemap") || "").replace(/^#/, "");
  if (!name) return;
  const maps = [...findAll(/** @type {Scope} */ (Node.prototype.getRootNode.call(facts.element)), "map")];
  const map = maps.find((one) => attribute(one, "name") === name);
  for (const area of map ? findAll(map, "area[href]") : NOTHING) {
    const inner = factsOf(area);
    addNode(inner, "link", nameOf(inner), depth, flags & ~PRESENTATIONAL, 0, true, true);
  }
}
