// What distinguishes a control without a name.

import { childrenOf } from "./flat_tree.js";
import { attr } from "./pass.js";
import { attribute, findAll, get, lower, MAX_HINT, MAX_ICONS, MAX_TEXT, tidy, words } from "./platform.js";
import { roleOf } from "./roles.js";
import { SHOWN, visibilityOf } from "./visibility.js";

/** @import { Facts } from "./pass.js" */

/**
 * Add what distinguishes a control without a name: its tooltip, id, icon, field name or a telling class.
 *
 * @type {(facts: Facts, extra: string[]) => void}
 */
export function addHint(facts, extra) {
  const id = attr(facts, "id");
  const own = shownTooltip(facts) || ligatureOf(facts) || (id && !isMadeId(id, facts) ? "#" + id : "");
  const hint = own || iconOf(facts) || attr(facts, "name") || purposeOf(facts);
  if (hint) extra.push("h", tidy(hint, MAX_HINT));
}

const ICON_FONT = /(?:^|[\s-])(?:material-(?:icons|symbols)|google-material-icons)/;

/**
 * Return the word that an icon font draws as a picture, such as `delete` in Material Icons.
 *
 * @type {(facts: Facts) => string}
 */
function ligatureOf(facts) {
  for (const icon of [...findAll(facts.element, "i, span, mat-icon")].slice(0, MAX_ICONS)) {
    const text = (get.textContent.call(icon) || "").trim();
    const isIcon = get.localName.call(icon) === "mat-icon" || ICON_FONT.test(attribute(icon, "class") || "");
    if (isIcon && /^[a-z0-9_]{2,40}$/.test(text)) return text;
  }
  return "";
}

const TOOLTIPS = [
  ...["data-tooltip", "data-tip", "data-title", "data-original-title", "data-bs-original-title", "data-bs-title"],
  ...["data-tippy-content", "data-tooltip-content", "data-hint", "tooltip", "mattooltip", "ng-reflect-message"],
];

/**
 * Return the tooltip that a library shows while the mouse is over the element.
 *
 * @type {(facts: Facts) => string}
 */
function shownTooltip(facts) {
  for (const name of TOOLTIPS) if (attr(facts, name)?.trim()) return /** @type {string} */ (attr(facts, name));
  return "";
}

/**
 * Return whether a library has probably generated an id: it says only what kind of element this is, and a number,
 * or has letters around digits.
 *
 * @type {(id: string, facts: Facts) => boolean}
 */
function isMadeId(id, facts) {
  if (MADE_ID.test(id)) return true;
  const kinds = [facts.tag, facts.type, roleOf(facts), "field", "control"];
  const parts = lower(id.slice(0, MAX_TEXT)).split(/[-_.]/);
  if (parts.some((part) => part.length > 7 && /[a-z]\d+[a-z]/.test(part))) return true;
  const isNumbered = parts.length > 1 && /\d|-r[a-z]{1,2}$/.test(id);
  return isNumbered && parts.every((part) => part.length < 3 || /\d/.test(part) || kinds.includes(part));
}

// Ids that libraries count up or generate, such as `:r5:`, `mui-12` and `react-select-3-input`.
const MADE_ID =
  /[:«»]|[0-9a-f]{8}|\d{3}|^(?:mui|radix|headlessui|react-select|select2|ember|mat|cdk|ui-id|j_idt?|ext|rc)[-_]?.*\d/i;

const ICON =
  /(?:^|[-_])(?:icons?|fa|fas|far|bi|mdi|glyphicon|ti|ri|octicon|codicon|lucide|tabler)[-_](?!(?:fw|lg|sm|xs|spin|\d+x)$)/i;

/**
 * Return the class or the name of the icon: of the control, or of the first elements inside it.
 *
 * @type {(facts: Facts) => string}
 */
function iconOf(facts) {
  const inside = shownIn(facts);
  const deeper = inside.flatMap(shownIn);
  const icons = [facts, ...inside.slice(0, MAX_ICONS), ...deeper.slice(0, MAX_ICONS)];
  for (const each of icons) {
    const found = words((attr(each, "class") || "").slice(0, MAX_TEXT));
    for (const name of found) if (ICON.test(name)) return "." + name;
  }
  return icons.map(pictureName).find(Boolean) || "";
}

/** @type {(facts: Facts) => Facts[]} */
function shownIn(facts) {
  /** @type {Facts[]} */
  const shown = [];
  for (const child of childrenOf(facts))
    if (typeof child === "object" && visibilityOf(child) === SHOWN) shown.push(child);
  return shown;
}

const PURPOSE =
  /prev|next|arrow|close|remove|delete|clear|edit|toggle|search|zoom|submit|send|play|stop|share|copy|upload|download/i;

/**
 * Return a class that says what the control is for, such as `.calendar-next`.
 *
 * @type {(facts: Facts) => string}
 */
function purposeOf(facts) {
  for (const name of words((attr(facts, "class") || "").slice(0, MAX_TEXT))) if (PURPOSE.test(name)) return "." + name;
  return "";
}

/**
 * Return the name that an icon library gives an element, or the id of the drawing that it uses.
 *
 * @type {(facts: Facts) => string}
 */
function pictureName(facts) {
  const named = attr(facts, "data-icon") || attr(facts, "data-lucide");
  if (named || facts.tag !== "svg") return named || "";
  const [use] = findAll(facts.element, "use");
  const used = use && (attribute(use, "href") || attribute(use, "xlink:href"));
  return attr(facts, "data-testid") || (used ? used.slice(used.indexOf("#")) : "");
}
