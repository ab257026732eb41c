// Descriptions, values and states.

import { contextText, typedText } from "../../../driver/typed_text.js";
import { byIds, isFirstSummary } from "./flat_tree.js";
import { excludesOthers, findTakenAway } from "./modal.js";
import { contents, joinTexts, REFERENCED } from "./names.js";
import { attr, hasAttr, isSet, pass, textAttribute } from "./pass.js";
import {
  attribute,
  cut,
  get,
  has,
  isInside,
  isMatch,
  keepLines,
  lower,
  MAX_NAME,
  MAX_READ,
  MAX_TEXT,
  NOTHING,
  shorten,
  tidy,
  words,
} from "./platform.js";
import { readLive } from "./reads.js";
import { roleOf } from "./roles.js";
import { FIELDS, isDraggable, isEditingHost, isFocusable, letsClicksPass } from "./visibility.js";
import { CLICKABLE, DISABLED, INTERACTIVE } from "./walk.js";

/** @import { Facts } from "./pass.js" */
/** @import { Name } from "./names.js" */

const DIALOGS = words("alertdialog dialog");
const POPUPS = words("listbox menu");

/** @type {(facts: Facts, name: Name) => string} */
export function descriptionOf(facts, name) {
  const named = facts.aria ? byIds(facts, "aria-describedby") : NOTHING;
  // What a dialog contains is in the tree.
  const others = DIALOGS.has(roleOf(facts)) ? named.filter((other) => !isInside(other, facts.element)) : named;
  const referenced = others.length ? joinTexts(others, REFERENCED) : "";
  const title = name.from === "title" ? "" : textAttribute(facts, "title");
  const text = referenced || textAttribute(facts, "aria-description") || title;
  return ` ${name.text} `.includes(` ${text} `) ? "" : cut(text, MAX_NAME);
}

const MASK = "••••••••";
const secrets = new WeakSet();

/**
 * Return whether a field holds a password. A field that was a password field once remains one: pages show a password by
 * turning its field into a text field. Comboboxes have "new-password" to keep the browser from suggesting other values.
 *
 * @type {(input: HTMLInputElement) => boolean}
 */
function isSecret(input) {
  if (input.type === "password") secrets.add(input);
  const purpose = lower(attribute(input, "autocomplete"));
  const isList = purpose === "new-password" && lower(attribute(input, "role")) === "combobox";
  return secrets.has(input) || (!isList && /\bpassword\b|-password/.test(purpose));
}

const RANGES = words("slider spinbutton scrollbar meter progressbar separator");

/** @type {(facts: Facts) => string} */
export function valueText(facts) {
  if (facts.value === undefined) facts.value = findValue(facts);
  return facts.value;
}

/** @type {(element: AnyElement) => string} */
const valueNow = (element) => element.value || "";

/** @type {(facts: Facts) => string} */
function findValue(facts) {
  const { element, tag } = facts;
  if (tag === "input") return inputValue(facts);
  if (tag === "textarea") return cut(keepLines(shorten(readLive(valueNow, element))), MAX_TEXT);
  if (tag === "select") return tidy(selectedTexts(facts).join(", "), MAX_TEXT);
  if (RANGES.has(roleOf(facts))) return rangeValue(facts);
  if (isEditingHost(facts)) return editedText(facts);
  return roleOf(facts) === "textbox" ? cut(keepLines(shorten(readLive(contextText, element))), MAX_TEXT) : "";
}

/**
 * Return the text in an editable element. Text that style sheets add in an editable element is a hint and was not typed
 * by the user.
 *
 * @type {(facts: Facts) => string}
 */
function editedText(facts) {
  const { visited } = pass;
  pass.visited = null; // The value does not depend on the name for which it is read.
  pass.typed = true;
  const text = contents(facts).trim();
  pass.typed = false;
  pass.visited = visited;
  return text && drawnLines(facts.element, text);
}

/**
 * Return the text of an editable element with its lines and indentation, or the text unchanged if the drawn text
 * differs.
 *
 * @type {(element: AnyElement, text: string) => string}
 */
function drawnLines(element, text) {
  if ((get.textContent.call(element) || "").length > MAX_READ) return text;
  const drawn = keepLines(readLive(drawnText, element));
  return withoutSpace(drawn) === withoutSpace(text) ? cut(drawn, MAX_TEXT) : text;
}

/** @type {(element: AnyElement) => string} */
const drawnText = (element) => typedText(element);

/** @type {(text: string) => string} */
const withoutSpace = (text) => text.replace(/\s/g, "");

const UNVALUED = words("button checkbox hidden image radio reset submit");

/** @type {(facts: Facts) => string} */
function inputValue(facts) {
  const input = /** @type {HTMLInputElement} */ (facts.element);
  if (UNVALUED.has(facts.type)) return "";
  if (facts.type === "file") return tidy(readLive(fileNames, input), MAX_TEXT);
  const value = readLive(valueNow, input);
  if (value && isSecret(input)) return MASK;
  return tidy(attr(facts, "aria-valuetext") || value, MAX_TEXT);
}

/** @type {(input: HTMLInputElement) => string} */
const fileNames = (input) => Array.from(input.files || [], (file) => file.name).join(", ");

/**
 * Return the texts of the selected options, as many as can be part of a name or a value.
 *
 * @type {(select: Facts) => string[]}
 */
export function selectedTexts(select) {
  if (!select.selected)
    select.selected = readLive(joinSelected, /** @type {HTMLSelectElement} */ (select.element)).split("\n");
  return select.selected;
}

/** @type {(select: HTMLSelectElement) => string} */
function joinSelected(select) {
  const texts = [];
  let size = 0;
  for (const option of select.selectedOptions) {
    const text = optionText(option);
    texts.push(text);
    size += text.length + 1;
    if (size > MAX_TEXT) break;
  }
  return texts.join("\n");
}

/** @type {(option: AnyElement) => string} */
export const optionText = (option) =>
  tidy(attribute(option, "aria-label") || option.label || option.text || "", MAX_NAME);

/** @type {(facts: Facts) => string} */
function rangeValue(facts) {
  const value = attr(facts, "aria-valuetext") || attr(facts, "aria-valuenow");
  if (value) return tidy(value, MAX_TEXT);
  const { element, tag } = facts;
  const isNative = tag === "meter" || (tag === "progress" && Number(element.position) >= 0);
  return isNative ? "" + element.value : "";
}

const NATIVELY_DISABLED = words("button fieldset input optgroup option select textarea");
const CHECKABLE = words("checkbox menuitemcheckbox menuitemradio option radio switch treeitem");
const TWO_STATES = words("menuitemradio radio switch");

/** @type {(facts: Facts) => boolean} */
export function isDisabled(facts) {
  const { element, tag } = facts;
  if (facts.aria && isSet(facts, "aria-disabled")) return true;
  if (!NATIVELY_DISABLED.has(tag)) return tag.includes("-") && readLive(isDisabledNow, element);
  return element.disabled === true || ((pass.fieldsets || tag === "option") && readLive(isDisabledNow, element));
}

/** @type {(element: AnyElement) => boolean} */
const isDisabledNow = (element) => isMatch(element, ":disabled");

/** @type {(facts: Facts, role: string) => string} */
function checkedState(facts, role) {
  if (!CHECKABLE.has(role)) return "";
  const { element, tag } = facts;
  if (tag === "input") {
    if (element.type === "checkbox" && readLive(isIndeterminate, element)) return "checked=mixed";
    return readLive(isChecked, element) ? "checked" : "";
  }
  const value = attr(facts, "aria-checked");
  if (value === "true") return "checked";
  return value === "mixed" && !TWO_STATES.has(role) ? "checked=mixed" : "";
}

/** @type {(input: AnyElement) => boolean} */
const isIndeterminate = (input) => input.indeterminate === true;
/** @type {(input: AnyElement) => boolean} */
const isChecked = (input) => input.checked === true;

/** @type {(facts: Facts) => string} */
function expandedState(facts) {
  if (facts.tag === "summary" && isFirstSummary(facts.element)) {
    return has(/** @type {AnyElement} */ (get.parentNode.call(facts.element)), "open") ? "expanded" : "collapsed";
  }
  const value = attr(facts, "aria-expanded");
  if (value === "true") return "expanded";
  if (value === "false") return "collapsed";
  return hasAttr(facts, "popovertarget") ? readLive(popoverState, facts.element) : "";
}

/** @type {(button: AnyElement) => string} */
function popoverState(button) {
  const target = button.popoverTargetElement;
  if (!target) return "";
  return isMatch(target, ":popover-open") ? "expanded" : "collapsed";
}

/** @type {(facts: Facts) => boolean} */
export const isSelected = (facts) =>
  facts.tag === "option" ? readLive(isChosen, facts.element) : attr(facts, "aria-selected") === "true";

/** @type {(option: AnyElement) => boolean} */
const isChosen = (option) => option.selected === true;

/** @type {(facts: Facts) => string} */
function pressedState(facts) {
  const value = attr(facts, "aria-pressed");
  if (value === "true") return "pressed";
  return value === "mixed" ? "pressed=mixed" : "";
}

/** @type {(facts: Facts) => string} */
function currentState(facts) {
  const value = lower(attr(facts, "aria-current"));
  if (!value || value === "false") return "";
  return value === "true" ? "current" : "current=" + tidy(value, 20);
}

/** @type {(facts: Facts, role: string) => string} */
function levelState(facts, role) {
  const value = parseInt(attr(facts, "aria-level") || "", 10);
  if (value >= 1) return "level=" + value;
  if (role !== "heading") return "";
  return "level=" + (/^h[1-6]$/.test(facts.tag) ? facts.tag[1] : 2);
}

/** @type {(facts: Facts) => boolean} */
function isInvalid(facts) {
  const value = lower(attr(facts, "aria-invalid"));
  if (value) return value !== "false";
  return FIELDS.has(facts.tag) && readLive(isUserInvalid, facts.element);
}

/** @type {(field: AnyElement) => boolean} */
const isUserInvalid = (field) => isMatch(field, ":user-invalid");

/** @type {(facts: Facts, role: string) => boolean} */
function isModal(facts, role) {
  if (POPUPS.has(role)) return holdsFocus(facts) && readLive(isExclusive, facts.element);
  if (!DIALOGS.has(role)) return false;
  return facts.element === pass.modal || isSet(facts, "aria-modal") || readLive(isModalNow, facts.element);
}

/** @type {(menu: AnyElement) => boolean} */
const isExclusive = (menu) => excludesOthers(menu, (pass.takenAway ||= findTakenAway()));
/** @type {(dialog: AnyElement) => boolean} */
const isModalNow = (dialog) => isMatch(dialog, ":modal");

/** @type {(facts: Facts) => boolean} */
const holdsFocus = ({ element }) => pass.focusPath.has(element);

/** @type {(facts: Facts, role: string) => string} */
function sortState(facts, role) {
  const value = role === "columnheader" || role === "rowheader" ? lower(attr(facts, "aria-sort")) : "";
  return value && value !== "none" ? "sort=" + tidy(value, 20) : "";
}

const STATEFUL = words("button input option select summary textarea");

/** @type {(facts: Facts, role: string, flags: number) => string[]} */
export function statesOf(facts, role, flags) {
  const list = [];
  const isStateful = facts.aria || STATEFUL.has(facts.tag);
  const isControl = INTERACTIVE.has(role) || (role === "generic" && isFocusable(facts));
  const untouchable = (flags & CLICKABLE || isControl) && letsClicksPass(facts);
  if (flags & DISABLED || untouchable || isDisabled(facts)) list.push("disabled");
  if (isStateful) addInputStates(facts, role, list);
  if (facts.element === pass.focused) list.push("focused");
  if (isStateful || role === "heading" || role === "dialog") addPlaceStates(facts, role, list);
  if (flags & CLICKABLE && !untouchable) list.push("clickable");
  if (facts.type === "file") {
    list.push("file");
    if (facts.element.multiple) list.push("multiple");
  }
  if (isDraggable(facts)) list.push("draggable");
  return list;
}

const NEVER_READONLY = words("button checkbox color file image radio range reset submit"); // The attribute has no effect.

/** @type {(facts: Facts, role: string, list: string[]) => void} */
function addInputStates(facts, role, list) {
  const { element } = facts;
  const isField = FIELDS.has(facts.tag);
  /** @type {(state: string | false) => unknown} */
  const add = (state) => state && list.push(state);
  add(checkedState(facts, role));
  add(expandedState(facts));
  add(isSelected(facts) && "selected");
  add(pressedState(facts));
  add(((isField && element.required) || isSet(facts, "aria-required")) && "required");
  add(isInvalid(facts) && "invalid");
  add(
    ((isField && element.readOnly && !NEVER_READONLY.has(facts.type)) || isSet(facts, "aria-readonly")) && "readonly",
  );
}

/** @type {(facts: Facts, role: string, list: string[]) => void} */
function addPlaceStates(facts, role, list) {
  const isMultiple = facts.tag === "select" && facts.element.multiple;
  /** @type {(state: string | false) => unknown} */
  const add = (state) => state && list.push(state);
  add(currentState(facts));
  add(levelState(facts, role));
  add((isMultiple || isSet(facts, "aria-multiselectable")) && "multiselectable");
  add(isModal(facts, role) && "modal");
  add(isSet(facts, "aria-busy") && "busy");
  add(sortState(facts, role));
}
