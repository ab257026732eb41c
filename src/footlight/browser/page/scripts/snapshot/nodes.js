// The records of nodes.

import { addHint } from "./hints.js";
import { addLeaf, endIfFull, flush, onlyText } from "./lines.js";
import { contents, Name, NO_NAME, nameOf, OPAQUE, placeholderOf } from "./names.js";
import { attr, factsOf, hasAttr, isSet, pass, textAttribute } from "./pass.js";
import {
  closest,
  cut,
  findAll,
  fold,
  get,
  getBoundingClientRect,
  has,
  keepLines,
  MAX_NAME,
  MAX_OPTIONS,
  quote,
  shorten,
  words,
} from "./platform.js";
import { readLive } from "./reads.js";
import { refOf } from "./refs.js";
import { roleOf } from "./roles.js";
import { descriptionOf, isDisabled, isSelected, optionText, statesOf, valueText } from "./states.js";
import { displayOf, spaceKept, styleOf } from "./styles.js";
import { isAriaHidden, isClickable, isDraggable, isEditingHost } from "./visibility.js";
import {
  CLICKABLE,
  CONTROL,
  DISABLED,
  IN_CELL,
  IN_NAME,
  IN_TABLES,
  INTERACTIVE,
  PRESENTATIONAL,
  SEPARABLE,
  SPACED,
  visitInside,
  WITH_PRESENTATIONAL_CHILDREN,
} from "./walk.js";

/** @import { Facts } from "./pass.js" */

const NATIVE = words("a button summary"); // HTML allows no other controls inside them.
const MESSAGES = words("alert log status"); // Pages keep them empty until there is a message.

/**
 * @param {Facts} facts
 * @param {string} role
 * @param {Name} givenName
 * @param {number} depth
 * @param {number} flags
 * @param {number} nesting
 * @param {boolean} refers
 * @param {boolean} operable
 * @returns {void}
 */
export function addNode(facts, role, givenName, depth, flags, nesting, refers, operable) {
  const name = isCode(facts, role, givenName, flags) ? NO_NAME : givenName;
  flush();
  if (endIfFull()) return;
  const at = pass.out.length;
  pass.out.push("");
  const ref = refers && !(facts.tag === "option" && isInDropDown(facts.element)) ? refOf(facts.element) : null;
  const value = role === "generic" ? "" : valueText(facts);
  const extra = extraOf(facts, role, name, value, flags);
  if (!name.isCut) for (const source of name.sources) pass.nameSources.add(source);
  const controls = pass.controls;
  const around = COUNTED_LISTS.has(role) ? beginList(facts) : countItem(facts, role);
  visitInside(facts, depth + 1, flagsInside(facts, role, name, flags, operable), nesting);
  flush();
  if (COUNTED_LISTS.has(role)) endList(around, depth + 1);
  const hasOne = pass.out.length === at + 2 && pass.controls === controls + 1;
  if (hasOne && role === "generic" && flags & CLICKABLE && isPressedInside(facts)) dropClickable(extra);
  if (operable) noteControl(facts);
  const text = onlyText(at);
  if (text && text !== name.text && text !== value) extra.push("x", text);
  const isBare = !name.text && !text && pass.out.length === at + 1;
  if (isBare && (flags & CLICKABLE || (operable && role !== "generic" && role !== "iframe"))) addHint(facts, extra);
  const isEmpty = pass.out.length === at + 1 && !name.text && !extra.length;
  const isNothing = isDecorative(facts, role) || MESSAGES.has(role) || (ref === null && role !== "separator");
  if ((isEmpty && isNothing) || isTrap(facts, at, extra)) {
    pass.out.pop();
    return;
  }
  if (pass.boxes) extra.push("b", boxOf(facts));
  if (pass.boxes && role === "iframe") extra.push("i", innerOffset(facts));
  pass.out[at] = record(facts, depth, role, name.text, ref, extra);
}

const COUNTED_LISTS = words("feed grid listbox table treegrid");
const COUNTED_ITEMS = words("article option row");

/**
 * Begin to count the items of a list, and return the list around it.
 *
 * @type {(facts: Facts) => { size: number, count: number }}
 */
function beginList(facts) {
  const around = pass.items;
  pass.items = { size: (facts.aria && numberIn(facts, "aria-rowcount")) || 0, count: 0 };
  return around;
}

/** @type {(facts: Facts, role: string) => { size: number, count: number }} */
function countItem(facts, role) {
  if (!COUNTED_ITEMS.has(role)) return pass.items;
  pass.items.count++;
  if (facts.aria && role !== "row") pass.items.size = Math.max(pass.items.size, numberIn(facts, "aria-setsize"));
  return pass.items;
}

/**
 * Say how many items the page has not drawn, as long lists do before they are scrolled.
 *
 * @type {(around: { size: number, count: number }, depth: number) => void}
 */
function endList(around, depth) {
  const { size, count } = pass.items;
  pass.items = around;
  if (count && size > count) addLeaf(depth, `… ${size - count} of ${size} are not drawn`);
}

/** @type {(facts: Facts, name: string) => number} */
const numberIn = (facts, name) => parseInt(attr(facts, name) || "", 10) || 0;

/**
 * Leave out the states of an element that is only clickable.
 *
 * @type {(extra: string[]) => void}
 */
function dropClickable(extra) {
  for (let at = 0; at < extra.length; at += 2)
    if (extra[at] === "s" && extra[at + 1] === '["clickable"]') extra.splice(at, 2);
}

/** @type {(facts: Facts) => void} */
function noteControl(facts) {
  pass.controls++;
  pass.control = facts;
}

/**
 * Return whether a click on the element presses the last control, which is inside it: the control covers its middle.
 *
 * @type {(facts: Facts) => boolean}
 */
const isPressedInside = (facts) => readLive(isOverMiddle, [/** @type {Facts} */ (pass.control).element, facts.element]);

/** @type {(elements: [AnyElement, AnyElement]) => boolean} */
export function isOverMiddle([inner, outer]) {
  const around = getBoundingClientRect.call(outer);
  const inside = getBoundingClientRect.call(inner);
  const [x, y] = [around.x + around.width / 2, around.y + around.height / 2];
  return inside.left < x && x < inside.right && inside.top < y && y < inside.bottom;
}

/**
 * Return whether an element without contents is an ornament by its role, such as a line in a menu. Menus let scripts
 * focus it.
 *
 * @type {(facts: Facts, role: string) => boolean}
 */
const isDecorative = (facts, role) =>
  role === "generic" && !isClickable(facts) && /^\s*(?:none|presentation)\s*$/i.test(attr(facts, "role") || "");

/**
 * Return whether an element only keeps the focus in a dialog: it is focusable, but has neither a box nor contents.
 *
 * @type {(facts: Facts, at: number, extra: string[]) => boolean}
 */
function isTrap(facts, at, extra) {
  const isSilent = !extra.length || (extra.length === 2 && extra[0] === "t" && !pass.testIds);
  if (pass.out.length !== at + 1 || !isSilent || facts.tag !== "div" || nameOf(facts).text) return false;
  if (roleOf(facts) !== "generic" || !hasAttr(facts, "tabindex")) return false;
  return readLive(isBoxless, facts.element);
}

/** @type {(element: AnyElement) => boolean} */
function isBoxless(element) {
  const { width, height } = getBoundingClientRect.call(element);
  return width === 0 || height === 0;
}

const BLOCKS = "h1, h2, h3, h4, h5, h6, pre, table";

/**
 * Return whether a cell shows text whose lines and spaces are drawn, which a name does not preserve, or is divided by
 * headings and the like. The text is then its content.
 *
 * @type {(facts: Facts, role: string, name: Name, flags: number) => boolean}
 */
function isCode(facts, role, name, flags) {
  if (name.from !== "content" || (role !== "cell" && role !== "gridcell")) return false;
  if (get.firstElementChild.call(facts.element) && findAll(facts.element, BLOCKS).length) return true;
  if (!spaceKept(facts, (flags & SPACED) > 0)) return false;
  const text = shorten(get.textContent.call(facts.element) || "");
  return keepLines(text) !== fold(text).trim();
}

/** @type {(facts: Facts, role: string, name: Name, flags: number, operable: boolean) => number} */
function flagsInside(facts, role, name, flags, operable) {
  let inside = flags & ~(CLICKABLE | IN_NAME | IN_CELL);
  const isPart = flags & CLICKABLE && flags & IN_CELL; // Maybe not all of the cell can be clicked.
  if (name.from === "content" || facts.tag === "option") inside |= name.isCut ? 0 : IN_NAME;
  else if (flags & IN_NAME && !name.text && !OPAQUE.has(role) && !isPart) inside |= flags & (IN_NAME | IN_CELL);
  if (inside & IN_NAME && IN_TABLES.has(role)) inside |= IN_CELL;
  if (pass.nameSources.has(facts.element) || (role !== "generic" && isEditingHost(facts))) inside |= IN_NAME;
  // In a tree entry without a pointer cursor, maybe only the title can be pressed; in a focusable area, some parts.
  // What is dragged by its free parts, such as a map, is no control.
  const isPressed = isClickable(facts) && !isDraggable(facts);
  if (operable && ((INTERACTIVE.has(role) && role !== "treeitem") || isPressed))
    inside = NATIVE.has(facts.tag) ? (inside | CONTROL) & ~SEPARABLE : inside | CONTROL | SEPARABLE;
  if (WITH_PRESENTATIONAL_CHILDREN.has(role)) inside |= PRESENTATIONAL;
  if (facts.aria && isSet(facts, "aria-disabled")) inside |= DISABLED;
  return inside;
}

/**
 * Return the path of an absolute URL on this origin, and "" for other URLs.
 *
 * @type {(origin: string, url: string) => string}
 */
function pathOn(origin, url) {
  return url.startsWith(origin + "/") ? url.slice(origin.length) : "";
}

/**
 * Return the other parts of a node's record: keys, each followed by its value.
 *
 * @type {(facts: Facts, role: string, name: Name, value: string, flags: number) => string[]}
 */
function extraOf(facts, role, name, value, flags) {
  /** @type {string[]} */
  const extra = [];
  /** @type {(key: string, text: string) => unknown} */
  const add = (key, text) => text && extra.push(key, text);
  add("v", value);
  if (name.lasting !== name.text) extra.push("k", name.lasting);
  const states = statesOf(facts, role, flags);
  if (states.length) extra.push("s", "[" + states.map(quote).join(",") + "]");
  if (facts.names.length) {
    add("d", descriptionOf(facts, name));
    add("t", textAttribute(facts, "data-testid"));
    if (role === "link") {
      const url = textAttribute(facts, "href") || textAttribute(facts, "xlink:href");
      add("u", url);
      add("l", pathOn(pass.origin, url));
    }
    add("p", placeholderHint(facts, name) || (value ? "" : stylesHint(facts)));
  }
  if (facts.tag === "iframe" || facts.tag === "frame") extra.push("o", "1");
  return extra;
}

// The expected format of a field's value, if the field does not show it as text.
// biome-ignore format: a table
const FORMATS = new Map(
  Object.entries({
    color: "#rrggbb", date: "yyyy-mm-dd", "datetime-local": "yyyy-mm-ddThh:mm", month: "yyyy-mm", time: "hh:mm",
    week: "yyyy-Www",
  }),
);

/** @type {(facts: Facts, name: Name) => string} */
function placeholderHint(facts, name) {
  const format = FORMATS.get(facts.type);
  if (format) return format;
  const hint = placeholderOf(facts);
  return hint === name.text ? "" : hint;
}

/** @type {(facts: Facts) => string} */
const stylesHint = (facts) => (isEditingHost(facts) ? cut(contents(facts).trim(), MAX_NAME) : "");

/** @type {(facts: Facts) => string} */
function boxOf(facts) {
  const box = getBoundingClientRect.call(facts.element);
  return JSON.stringify([box.x, box.y, box.width, box.height].map((side) => Math.round(side * 10) / 10));
}

/**
 * Return the position of a frame's viewport relative to the corner of its element.
 *
 * @type {(facts: Facts) => string}
 */
function innerOffset(facts) {
  const { clientLeft, clientTop } = facts.element;
  const { paddingLeft, paddingTop } = styleOf(facts);
  return JSON.stringify([clientLeft + parseFloat(paddingLeft), clientTop + parseFloat(paddingTop)]);
}

const JSON_VALUES = words("b i o s");

/**
 * A record, and the parts that it was written from.
 *
 * @typedef {{ depth: number, role: string, name: string, ref: string | null, extra: string[], text: string }} Written
 */

/**
 * Return the record of a node. If the last record of this element has the same parts, return that, because writing the
 * records and comparing them is a large part of a pass.
 *
 * @type {(facts: Facts | null, depth: number, role: string, name: string, ref: string | null, extra: string[]) => string}
 */
export function record(facts, depth, role, name, ref, extra) {
  const known = facts?.record;
  const isSame = known && known.depth === depth && known.role === role && known.name === name && known.ref === ref;
  const text = isSame && areAlike(known.extra, extra) ? known.text : write(depth, role, name, ref, extra);
  if (facts && !(known && text === known.text)) facts.record = { depth, role, name, ref, extra, text };
  pass.size += text.length;
  return text;
}

/** @type {(one: string[], other: string[]) => boolean} */
function areAlike(one, other) {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}

/** @type {(depth: number, role: string, name: string, ref: string | null, extra: string[]) => string} */
function write(depth, role, name, ref, extra) {
  const rest = [];
  for (let at = 0; at < extra.length; at += 2) {
    const value = extra[at + 1];
    rest.push(`"${extra[at]}":${JSON_VALUES.has(extra[at]) ? value : quote(value)}`);
  }
  const end = rest.length ? `,{${rest.join(",")}}]` : "]";
  return `[${depth},"${role}",${quote(name)},${ref === null ? ref : quote(ref)}${end}`;
}

/** @type {(option: AnyElement) => boolean} */
const isInDropDown = (option) => {
  const select = /** @type {HTMLSelectElement | null} */ (closest.call(option, "select"));
  return select !== null && !select.multiple && !(select.size > 1) && !has(option, "data-testid");
};

/**
 * Add the first options of a drop-down and the selected one; all options of a list.
 *
 * @type {(facts: Facts, depth: number, flags: number) => void}
 */
export function addOptions(facts, depth, flags) {
  const select = facts.element;
  const limit = roleOf(facts) === "listbox" ? Infinity : MAX_OPTIONS;
  let count = 0;
  let left = 0;
  /** @type {(option: AnyElement, at: number) => void} */
  const add = (option, at) => {
    const inner = factsOf(option);
    if (inner.tag !== "option" || displayOf(inner) === "none" || isAriaHidden(inner)) return;
    if (count++ < limit || isSelected(inner)) addOption(inner, at, flags);
    else left++;
  };
  for (const child of findAll(select, ":scope > option, :scope > optgroup, :scope > :not(option, optgroup) option")) {
    if (get.localName.call(child) === "option") add(child, depth);
    else addGroup(child, depth, add);
  }
  if (left) addLeaf(depth, `… ${left} more options`);
}

/** @type {(group: AnyElement, depth: number, add: (option: AnyElement, at: number) => void) => void} */
function addGroup(group, depth, add) {
  const facts = factsOf(group);
  if (endIfFull()) return;
  const states = isDisabled(facts) ? ["s", '["disabled"]'] : [];
  pass.out.push(record(facts, depth, "group", nameOf(facts).text, null, states));
  for (const option of findAll(group, "option")) add(option, depth + 1);
}

/** @type {(facts: Facts, depth: number, flags: number) => void} */
function addOption(facts, depth, flags) {
  const name = new Name(optionText(facts.element), "native");
  addNode(facts, roleOf(facts), name, depth, flags | IN_NAME, 0, true, true);
}
