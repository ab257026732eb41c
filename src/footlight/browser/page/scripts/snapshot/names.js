// Accessible names.

import { byIds, CLOSED, childrenOf, SKIPPED } from "./flat_tree.js";
import { labelName, nativeRule } from "./native_names.js";
import { factsOf, pass, textAttribute } from "./pass.js";
import {
  closest,
  cut,
  fold,
  MAX_DEPTH,
  MAX_EMPTY,
  MAX_NAME,
  MAX_REFERRED,
  MAX_TEXT,
  NOTHING,
  words,
} from "./platform.js";
import { roleOf } from "./roles.js";
import { isSelected, selectedTexts, valueText } from "./states.js";
import { generatedText, isInline, isWithin } from "./styles.js";
import { GRIDS } from "./tables.js";
import { isAriaHidden, isClickable, isFocusable, isLeftOut, SHOWN, skipsContents, visibilityOf } from "./visibility.js";

/** @import { Facts } from "./pass.js" */

// A name and its source: "labelledby", "aria", "native", "content", "title", "placeholder" or "".
export class Name {
  /**
   * @param {string} text
   * @param {string} from
   * @param {AnyElement[]} [sources]
   */
  constructor(text, from, sources = NOTHING) {
    this.text = cut(text, MAX_NAME);
    this.lasting = this.text; // Without the values of fields in it. The element is identified by this name.
    this.from = from;
    this.isCut = text.length > MAX_NAME;
    this.sources = sources; // The elements whose text is only used in this name.
  }
}

export const NO_NAME = new Name("", "");

const BY_CONTENT = words(`
  button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio
  rowheader switch tab term tooltip treeitem doc-backlink doc-biblioref doc-glossref doc-noteref
`);
// These contribute only their own name, value or title to the name around them.
export const OPAQUE = words(`
  alert alertdialog application article audio banner blockquote combobox complementary contentinfo dialog document
  feed figure form grid group iframe img listbox log main marquee math menu menubar meter navigation note
  progressbar radiogroup region scrollbar search searchbox separator slider spinbutton status table tablist tabpanel
  textbox timer toolbar tree treegrid video
`);
// A title is the description of these elements. Their name is the one that the author gave.
const UNTITLED = words(`
  caption code deletion emphasis insertion mark paragraph strong subscript superscript time
`);
const TITLED = words("abbr dl figcaption ruby svg table"); // For any role.
// Separated from the words around them, even when they are in a line with them.
const APART = words(`
  button checkbox iframe listbox menuitem menuitemcheckbox menuitemradio radio scrollbar searchbox slider
  spinbutton switch tab textbox tree
`);

const UNSEEN = 1; // Hidden contents count: the traversal began at a hidden element.
export const REFERENCED = 2; // reached by an id: no further ids are followed
export const LABEL = 4; // the name of a field, without its own value

/** @type {(facts: Facts) => Name} */
export function nameOf(facts) {
  if (facts.name === undefined) {
    const { visited } = pass;
    pass.visited = null;
    facts.name = NO_NAME;
    pass.naming.add(facts.element);
    const before = pass.fieldValues;
    facts.name = findName(facts);
    if (pass.fieldValues > before && !pass.lasting) facts.name.lasting = lastingName(facts);
    pass.naming.delete(facts.element);
    pass.visited = visited;
  }
  return facts.name;
}

/** @type {(facts: Facts) => string} */
function lastingName(facts) {
  pass.lasting = true;
  pass.visited = null;
  const name = findName(facts).text;
  pass.lasting = false;
  return name;
}

/** @type {(facts: Facts) => Name} */
function findName(facts) {
  if (roleOf(facts) === "none") return NO_NAME;
  if (facts.aria) {
    const labels = byIds(facts, "aria-labelledby");
    const referenced = labels.length ? joinTexts(labels, REFERENCED) : "";
    if (referenced) return new Name(referenced, "labelledby");
    const ariaLabel = textAttribute(facts, "aria-label");
    if (ariaLabel) return new Name(ariaLabel, "aria");
  }
  const rule = nativeRule(facts);
  const native = rule ? rule(facts) : NO_NAME;
  if (native.text) return native;
  if (facts.tag !== "svg" && isNamedByContent(facts)) {
    const text = contents(facts).trim();
    if (text) return new Name(text, "content");
  }
  return facts.names.length ? tooltipName(facts) : NO_NAME;
}

/**
 * Return whether the contents of an element can be its name. Only rows that can be selected have a name; otherwise the
 * text of a table would be repeated.
 *
 * @type {(facts: Facts) => boolean}
 */
function isNamedByContent(facts) {
  const role = roleOf(facts);
  return BY_CONTENT.has(role) || (role === "row" && (isFocusable(facts) || GRIDS.has(gridAround(facts))));
}

/** @type {(facts: Facts) => string} */
function gridAround(facts) {
  const table = closest.call(facts.element, "table,[role=table],[role=grid],[role=treegrid]");
  return table ? roleOf(factsOf(table)) : "generic";
}

/** @type {(facts: Facts) => Name} */
function tooltipName(facts) {
  const title = textAttribute(facts, "title");
  if (title && isTitled(facts)) return new Name(title, "title");
  const hint = placeholderOf(facts);
  return hint ? new Name(hint, "placeholder") : NO_NAME;
}

/** @type {(facts: Facts) => boolean} */
function isTitled(facts) {
  if (TITLED.has(facts.tag)) return true;
  const role = roleOf(facts);
  return role === "generic" ? isFocusable(facts) || isClickable(facts) : !UNTITLED.has(role);
}

/** @type {(facts: Facts) => string} */
export function placeholderOf(facts) {
  const isField = facts.tag === "input" || facts.tag === "textarea";
  return (isField && textAttribute(facts, "placeholder")) || textAttribute(facts, "aria-placeholder");
}

/** @type {(elements: AnyElement[], mode: number) => string} */
export function joinTexts(elements, mode) {
  let text = "";
  for (const element of elements) {
    text += reference(element, mode) + " ";
    if (text.length > MAX_TEXT) break;
  }
  return fold(text).trim();
}

/**
 * Return the text that an element contributes to the name of another. A hidden element contributes all its text if an
 * id refers to it; as a label it contributes nothing.
 *
 * @type {(element: AnyElement, mode: number) => string}
 */
export function reference(element, mode) {
  const facts = factsOf(element);
  if (pass.naming.has(element) && mode !== REFERENCED) return "";
  const hidden = visibilityOf(facts) !== SHOWN || SKIPPED.has(facts.tag) ? UNSEEN : 0;
  if (mode === LABEL && (hidden || isAriaHidden(facts))) return "";
  if (mode === REFERENCED && pass.visited) pass.visited.add(element);
  const own = ownAlternative(facts, mode | hidden);
  if (own) return own;
  return contents(facts, mode | hidden).trim() || tooltipOf(facts);
}

/** @type {(facts: Facts) => string} */
const tooltipOf = (facts) => (roleOf(facts) === "none" ? "" : textAttribute(facts, "title"));

/**
 * Return the text of its contents, in the order of the flat tree.
 *
 * @type {(facts: Facts, mode?: number) => string}
 */
export function contents(facts, mode = 0) {
  const isKept = mode === 0 && !pass.visited && !pass.lasting && !pass.typed;
  if (isKept && facts.contents !== undefined) {
    if (facts.hasFieldValue) pass.fieldValues++;
    return facts.contents;
  }
  const before = pass.fieldValues;
  const text = findContents(facts, mode);
  if (isKept && !pass.visited) {
    facts.contents = text;
    facts.hasFieldValue = pass.fieldValues > before;
  }
  return text;
}

/** @type {(facts: Facts, mode: number) => string} */
function findContents(facts, mode) {
  const isSeen = mode & UNSEEN || visibilityOf(facts) === SHOWN;
  const line = new Line();
  if (isSeen) line.add(generatedText(facts, "before"));
  for (const child of childrenOf(facts)) {
    if (typeof child === "object") addContribution(child, mode, line);
    else if (isSeen) line.add(child);
    if (line.text.length > MAX_TEXT) break;
  }
  if (isSeen) line.add(generatedText(facts, "after"));
  return line.text;
}

// Adjacent texts, already folded. Blocks and controls are separated from their neighbours, even empty ones. Whether an
// element is a block depends on its style, which is only read if there is no space anyway.
class Line {
  constructor() {
    this.text = "";
    /** @type {Facts | null} */
    this.before = null; // The element that the text ends with.
    /** @type {Facts[]} */
    this.between = NOTHING; // The empty elements since then.
  }

  /** @type {(text: string, facts?: Facts | null) => void} */
  add(text, facts = null) {
    const isOpen = this.text && !this.text.endsWith(" ");
    if (!text) {
      const isAsked = facts && isOpen && this.between.length < MAX_EMPTY && !ICONS.has(facts.tag);
      if (isAsked) this.between = [...this.between, facts];
      return;
    }
    const isTight = isOpen && !text.startsWith(" ");
    if (isTight && (isApart(this.before) || isApart(facts) || this.between.some(isGap))) this.text += " ";
    this.text += this.text.endsWith(" ") && text.startsWith(" ") ? text.slice(1) : text;
    this.before = facts;
    this.between = NOTHING;
  }
}

/** @type {(facts: Facts | null) => boolean} */
const isApart = (facts) => facts !== null && (APART.has(roleOf(facts)) || !isWithin(facts));
const ICONS = words("i img svg");
/** @type {(facts: Facts) => boolean} */
const isGap = (facts) => APART.has(roleOf(facts)) || !isInline(facts);

let level = 0;

/**
 * Add the text that a child contributes to the name around it.
 *
 * @type {(facts: Facts, mode: number, line: Line) => void}
 */
function addContribution(facts, mode, line) {
  if (facts.tag === "br") return line.add(" ");
  if (level > MAX_DEPTH) return undefined;
  if (pass.naming.has(facts.element)) return line.add("", facts);
  if (mode & UNSEEN ? SKIPPED.has(facts.tag) : isLeftOut(facts)) return undefined;
  if ((mode || pass.visited) && isAlreadyRead(facts, mode)) return undefined;
  level++;
  const isSeen = mode & UNSEEN || visibilityOf(facts) === SHOWN;
  const own = isSeen && facts.tag !== "slot" ? ownAlternative(facts, mode) : "";
  const inner = own || OPAQUE.has(roleOf(facts)) || skipsContents(facts) ? "" : contents(facts, mode);
  level--;
  if (inner.trim()) return line.add(inner, facts);
  const text = own || (isSeen && facts.tag !== "slot" ? tooltipOf(facts) || placeholderOf(facts) : "");
  return line.add(text ? " " + text + " " : inner, isSeen ? facts : null);
}

/**
 * Return whether the text of an element is in the name already. The text of an element that was included by reference
 * is not repeated at its place.
 *
 * @type {(facts: Facts, mode: number) => boolean}
 */
function isAlreadyRead(facts, mode) {
  if (pass.referred++ > MAX_REFERRED) return true;
  if (!pass.visited) return false;
  if (!(mode & REFERENCED)) return pass.visited.has(facts.element);
  pass.visited.add(facts.element);
  return false;
}

/**
 * Return the name by ids, value, label or attributes of HTML: everything except contents and title.
 *
 * @type {(facts: Facts, mode: number) => string}
 */
function ownAlternative(facts, mode) {
  if (facts.aria && !(mode & REFERENCED)) {
    const labels = byIds(facts, "aria-labelledby").filter((label) => !pass.naming.has(label));
    if (labels.length) pass.visited ||= new Set();
    const text = labels.length ? joinTexts(labels, REFERENCED) : "";
    if (text) return text;
  }
  const isOwnName = pass.naming.has(facts.element); // Its `aria-labelledby` has its own id.
  const value = !pass.lasting && !isOwnName && EMBEDDED.has(roleOf(facts)) ? embeddedValue(facts) : "";
  if (value) {
    pass.fieldValues++;
    return value;
  }
  const ariaLabel = facts.aria ? textAttribute(facts, "aria-label") : "";
  if (ariaLabel) return ariaLabel;
  const native = roleOf(facts) === "none" ? undefined : nativeRule(facts);
  const name = native && (isOwnName || native !== labelName) ? native(facts).text : "";
  return name || (isOwnName && CLOSED.has(facts.tag) ? tooltipOf(facts) || placeholderOf(facts) : "");
}

/**
 * Return the text of a control in the name of another element: what is typed or selected in it.
 *
 * @type {(facts: Facts) => string}
 */
function embeddedValue(facts) {
  if (facts.tag === "select") return selectedTexts(facts).join(" ");
  const role = roleOf(facts);
  const value = fold(valueText(facts)) || (role === "combobox" || role === "listbox" ? selectedNames(facts, 0) : "");
  if (value || CLOSED.has(facts.tag)) return value;
  const isWritten = role === "textbox" || role === "searchbox" || (role === "combobox" && isFocusable(facts));
  return isWritten ? contents(facts).trim() : "";
}

/** @type {(facts: Facts, nesting: number) => string} */
function selectedNames(facts, nesting) {
  /** @type {string[]} */
  const chosen = [];
  for (const child of childrenOf(facts)) {
    if (typeof child !== "object" || nesting > MAX_DEPTH || pass.referred++ > MAX_REFERRED || isLeftOut(child))
      continue;
    const text =
      roleOf(child) !== "option" ? selectedNames(child, nesting + 1) : isSelected(child) && nameOf(child).text;
    if (text) chosen.push(text);
  }
  return chosen.join(" ");
}

const EMBEDDED = words("textbox searchbox combobox listbox slider spinbutton scrollbar meter progressbar");
