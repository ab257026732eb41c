// The walk over the flat tree. It decides which elements become nodes.

import { childrenOf, spacedChildrenOf } from "./flat_tree.js";
import { addText, crossBoundary } from "./lines.js";
import { NO_NAME, nameOf, OPAQUE } from "./names.js";
import { addNode, addOptions, isOverMiddle } from "./nodes.js";
import { attr, controlOf, factsOf, hasAttr, isSet, pass } from "./pass.js";
import {
  attribute,
  closest,
  findAll,
  get,
  MAX_DEPTH,
  MAX_PART_DEPTH,
  MAX_PARTS,
  NOTHING,
  parentOf,
  words,
} from "./platform.js";
import { readLive } from "./reads.js";
import { roleOf } from "./roles.js";
import { generatedText, spaceKept } from "./styles.js";
import {
  HIDDEN,
  isAriaHidden,
  isClickable,
  isEditingHost,
  isFocusable,
  isLeftOut,
  isPressedIcon,
  SHOWN,
  skipsContents,
  visibilityOf,
} from "./visibility.js";

/** @import { Scope } from "./platform.js" */
/** @import { Facts } from "./pass.js" */

const REFERRED = words(`
  alert alertdialog article banner button canvas audio video cell checkbox columnheader combobox complementary
  contentinfo dialog feed form grid gridcell heading iframe img link listbox listitem log main menu menubar menuitem
  menuitemcheckbox menuitemradio meter navigation option progressbar radio radiogroup region row rowheader scrollbar
  search searchbox slider spinbutton status switch tab table tablist tabpanel textbox timer toolbar tooltip tree
  treegrid treeitem
`);
// Containers, which get a ref if they have a name.
const REFERRED_BY_NAME = words(`
  application blockquote document figure generic group list marquee math note sectionfooter sectionheader separator
  doc-abstract doc-toc
`);
// Words in a line, or parts without their own meaning: they are replaced by their contents.
const FOLDED = words(`
  code emphasis generic mark none rowgroup strong subscript superscript time suggestion
`);
const LISTINGS = words("list listitem");
const FOLDED_UNNAMED = words("group sectionfooter sectionheader");
const WORDS = words("abbr ruby"); // In a line with other words, even if they have a title.

export const INTERACTIVE = words(`
  button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio searchbox slider
  spinbutton switch tab textbox treeitem
`);
// Their contents are presentational; only focusable elements inside them are in the tree.
export const WITH_PRESENTATIONAL_CHILDREN = words(`
  button checkbox img menuitemcheckbox menuitemradio meter option progressbar radio scrollbar separator slider
  switch tab
`);

// Data, of which the reader cannot see whether a click does something, even if it can have the focus.
export const IN_TABLES = words("cell columnheader gridcell row rowheader");

export const DISABLED = 1; // By an ancestor with aria-disabled.
export const IN_NAME = 2; // The texts are part of a name already.
export const CONTROL = 4; // Inside an element that can be acted on.
export const PRESENTATIONAL = 8;
export const CLICKABLE = 16; // The node itself can be clicked.
export const ESCAPED = 32; // Inside the modal dialog.
export const SPACED = 64; // White space is drawn.
export const IN_CELL = 256; // As IN_NAME, and the name is that of a cell or row.
export const SEPARABLE = 128; // Inside a control that may contain icons which do something else, such as remove it.

/** @type {(facts: Facts, depth: number, flags: number, nesting: number) => void} */
export function visit(facts, depth, flags, nesting) {
  const { element, tag } = facts;
  if (pass.cut || isInert(facts, flags)) return;
  if (isLeftOut(facts)) {
    const isReached = !(flags & (CONTROL | PRESENTATIONAL)) && (!pass.modal || flags & ESCAPED);
    if ((isReached && isPressedIcon(facts)) || isSeparateIcon(facts, flags))
      addNode(facts, "generic", NO_NAME, depth, (flags | CLICKABLE) & ~IN_NAME, nesting, true, false);
    return;
  }
  if (nesting > MAX_DEPTH) {
    addText("… deeper elements are left out", depth);
    return;
  }
  const inside = element === pass.modal || pass.beside.has(element) ? flags | ESCAPED : flags;
  const isUnreachable = visibilityOf(facts) === HIDDEN || (pass.modal && !(inside & ESCAPED));
  if (isUnreachable) visitChildren(facts, depth, inside, nesting);
  else if (tag === "br") pass.run += flags & SPACED ? "\n" : " ";
  else visitVisible(facts, depth, inside, nesting);
}

/** @type {(facts: Facts, flags: number) => boolean} */
function isInert(facts, flags) {
  if (pass.modal && !(flags & ESCAPED)) return !pass.around.has(facts.element) && !pass.beside.has(facts.element);
  return facts.element !== pass.modal && hasAttr(facts, "inert");
}

/** @type {(facts: Facts, depth: number, flags: number, nesting: number) => void} */
function visitVisible(facts, depth, flags, nesting) {
  const focusable = isFocusable(facts);
  const ownRole = roleOf(facts);
  let role = ownRole === "none" && focusable ? "generic" : ownRole;
  const operable = INTERACTIVE.has(role) || (focusable && !isFocusedByScripts(facts, role));
  const isSeparate = !operable && isSeparateIcon(facts, flags);
  if (flags & PRESENTATIONAL && !operable && !isSeparate) {
    visitFolded(facts, depth, flags, nesting);
    return;
  }
  const clickable = isSeparate || ((!operable || IN_TABLES.has(role)) && !(flags & CONTROL) && isPressed(facts));
  if (clickable && role === "none") role = "generic";
  let name = isFoldable(role) && !facts.names.length && role !== "group" ? NO_NAME : nameOf(facts);
  const isNamed = !!name.text && REFERRED_BY_NAME.has(role) && !WORDS.has(facts.tag);
  if (clickable || (operable && role === "generic")) {
    if (name.from !== "content") noteParts(facts);
    else if (role !== "heading" && noteParts(facts)) name = NO_NAME; // Its parts show the text.
  }
  const refers =
    operable || clickable || isMarked(facts, flags) || isPart(facts, flags) || REFERRED.has(role) || isNamed;
  // A name or a value that has the texts of a list says all of it.
  if (flags & IN_NAME && !operable && !clickable && LISTINGS.has(role)) {
    visitFolded(facts, depth, flags, nesting);
    return;
  }
  if (!refers && (FOLDED.has(role) || (isFoldable(role) && !name.text && facts.tag !== "details"))) {
    visitFolded(facts, depth, flags, nesting);
    return;
  }
  const own = clickable ? flags | CLICKABLE : flags;
  addNode(facts, role, name, depth, isSeparate ? own & ~IN_NAME : own, nesting, refers, operable);
}

/**
 * Return whether an icon inside a control probably does something else than the control: it has a handler or a cursor
 * of its own, and a click on the control does not hit it.
 *
 * @type {(facts: Facts, flags: number) => boolean}
 */
const isSeparateIcon = (facts, flags) =>
  !!(flags & CONTROL) &&
  (!pass.modal || !!(flags & ESCAPED)) &&
  ((!!(flags & SEPARABLE) && isWordless(facts)) || hasAttr(facts, "onclick")) &&
  isPressedIcon(facts) &&
  !readLive(coversControl, facts.element);

/**
 * Return whether an element is no word of the name of its control.
 *
 * @type {(facts: Facts) => boolean}
 */
const isWordless = (facts) =>
  facts.tag === "svg" || isAriaHidden(facts) || (get.textContent.call(facts.element) || "").trim().length <= 1;

/** @type {(icon: AnyElement) => boolean} */
function coversControl(icon) {
  const parent = parentOf(icon);
  const control = parent && closest.call(parent, "[role], [tabindex], button, a");
  return !!control && isOverMiddle([icon, control]);
}

/**
 * Return whether a text is a part of a clickable element, and not of the name of another one.
 *
 * @type {(facts: Facts, flags: number) => boolean}
 */
const isPart = (facts, flags) => pass.parts.has(facts) && !(flags & IN_NAME);

/**
 * Return whether tests probably use the id of the element. Applications give ids to most elements, so those without a
 * text of their own, or whose text is in a name already, are left out unless the ids are requested.
 *
 * @type {(facts: Facts, flags: number) => boolean}
 */
const isMarked = (facts, flags) =>
  !!attr(facts, "data-testid") &&
  (pass.testIds ||
    (!(flags & IN_NAME) && childrenOf(facts).some((child) => typeof child === "string" && /\S/.test(child))));

/**
 * Return whether only scripts move the focus to the element: Tab does not reach it, and it has no role.
 *
 * @type {(facts: Facts, role: string) => boolean}
 */
const isFocusedByScripts = (facts, role) =>
  role === "generic" &&
  facts.element !== pass.focused &&
  /^\s*-\s*\d/.test(attr(facts, "tabindex") || "") &&
  !isEditingHost(facts);

/** @type {(role: string) => boolean} */
const isFoldable = (role) => FOLDED.has(role) || FOLDED_UNNAMED.has(role);

/**
 * Return whether a script probably handles clicks on the element. Listeners of scripts cannot be detected, but elements
 * with these roles usually have one.
 *
 * @type {(facts: Facts) => boolean}
 */
const isHandled = (facts) =>
  attr(facts, "draggable") === "true" ||
  (roleOf(facts) === "columnheader" && /^\s*0/.test(attr(facts, "tabindex") || "")) ||
  (roleOf(facts) === "cell" && hasAttr(facts, "tabindex")) ||
  (facts.tag === "a" && !hasAttr(facts, "href") && /\S/.test(get.textContent.call(facts.element) || ""));

/**
 * Record the parts of a clickable element. Scripts may listen on each part, and a click on the whole element hits the
 * part in its middle. Parts are recognised by their texts; an element around inline words is a single part. Return
 * whether there are some.
 *
 * @type {(facts: Facts) => boolean}
 */
function noteParts(facts) {
  if (facts.tag === "label" || !isClickable(facts)) return false;
  const parts = partsOf(facts, [], 0);
  if (parts.length < 2 || parts.length > MAX_PARTS) return false;
  for (const part of parts) pass.parts.add(part);
  return true;
}

/** @type {(facts: Facts, found: Facts[], nesting: number) => Facts[]} */
function partsOf(facts, found, nesting) {
  if (found.length > MAX_PARTS || nesting > MAX_PART_DEPTH) return found;
  const children = childrenOf(facts);
  if (children.some((child) => typeof child === "string" && child.trim())) {
    if (nesting) found.push(facts);
    return found;
  }
  for (const child of children) {
    if (typeof child === "object" && !isLeftOut(child) && visibilityOf(child) === SHOWN)
      partsOf(child, found, nesting + 1);
  }
  return found;
}

/**
 * Return whether users click the element itself. A label is clicked for its field; if the field is replaced by a drawn
 * one, only the label can be clicked.
 *
 * @type {(facts: Facts) => boolean}
 */
function isPressed(facts) {
  if (facts.tag !== "label") return isClickable(facts) || isHandled(facts);
  const control = controlOf(facts);
  return control !== null && visibilityOf(factsOf(control)) !== SHOWN && control.type !== "hidden";
}

/** @type {(facts: Facts, depth: number, flags: number, nesting: number) => void} */
function visitFolded(facts, depth, flags, nesting) {
  crossBoundary(facts);
  const disabled = facts.aria && isSet(facts, "aria-disabled") ? DISABLED : 0;
  const inherited = OPAQUE.has(roleOf(facts)) ? flags & ~IN_NAME : flags;
  visitChildren(facts, depth, inherited | disabled | namesAnother(facts), nesting);
  crossBoundary(facts);
}

/**
 * Return whether its texts are the name of another element in the tree.
 *
 * @type {(facts: Facts) => number}
 */
function namesAnother(facts) {
  if (facts.tag !== "label") return pass.nameSources.has(facts.element) ? IN_NAME : 0;
  const control = controlOf(facts);
  if (!control) return 0;
  const other = factsOf(control);
  if (isLeftOut(other) || visibilityOf(other) !== SHOWN) return 0;
  const name = nameOf(other);
  return name.from === "native" && !name.isCut ? IN_NAME : 0;
}

/** @type {(facts: Facts, depth: number, flags: number, nesting: number) => void} */
export function visitInside(facts, depth, flags, nesting) {
  if (facts.tag === "select") addOptions(facts, depth, flags);
  else if (facts.tag === "img") visitAreas(facts, depth, flags);
  else visitChildren(facts, depth, flags, nesting);
}

/** @type {(facts: Facts, depth: number, flags: number, nesting: number) => void} */
function visitChildren(facts, depth, flags, nesting) {
  if (skipsContents(facts)) return;
  const isTextVisible = visibilityOf(facts) === SHOWN && !(flags & IN_NAME) && (!pass.modal || flags & ESCAPED);
  if (isTextVisible) addText(generatedText(facts, "before"), depth);
  const kept = spaceKept(facts, (flags & SPACED) > 0);
  const inside = kept ? flags | SPACED : flags & ~SPACED;
  for (const child of kept ? spacedChildrenOf(facts, kept) : childrenOf(facts)) {
    if (typeof child === "object") visit(child, depth, inside, nesting + 1);
    else if (isTextVisible) addText(child, depth, kept !== "");
    if (pass.cut) return;
  }
  if (isTextVisible) addText(generatedText(facts, "after"), depth);
}

/**
 * Add the areas of an image map. They have no boxes and are listed inside the image that uses the map.
 *
 * @type {(facts: Facts, depth: number, flags: number) => void}
 */
function visitAreas(facts, depth, flags) {
  const name = (attr(facts, "usemap") || "").replace(/^#/, "");
  if (!name) return;
  const map = imageMapsIn(/** @type {Scope} */ (Node.prototype.getRootNode.call(facts.element))).get(name);
  for (const area of map ? findAll(map, "area[href]") : NOTHING) {
    const inner = factsOf(area);
    addNode(inner, "link", nameOf(inner), depth, flags & ~PRESENTATIONAL, 0, true, true);
  }
}

/** @type {(root: Scope) => Map<string, AnyElement>} */
function imageMapsIn(root) {
  let maps = pass.imageMaps.get(root);
  if (!maps) {
    // The first map of a name counts, and a later entry replaces an earlier one.
    const all = [...findAll(root, "map")].reverse();
    maps = new Map(all.map((map) => [attribute(map, "name") || "", map]));
    pass.imageMaps.set(root, maps);
  }
  return maps;
}
