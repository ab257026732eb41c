// The requests `closest` and `fields`: the elements most similar to a selector, and those that can be filled.

import { MAX_SEEN, MIN_SCORE, parseQuery, score } from "./likeness.js";
import { nameOf } from "./names.js";
import { isClickOn } from "./obstacle.js";
import {
  attr,
  containsNode,
  firstChild,
  firstElement,
  hasAttributes,
  matches,
  nextSibling,
  nodeType,
  nodeValue,
  parentNode,
  queryAll,
  read,
  shadowRoot,
  tagOf,
} from "./platform.js";
import { implicitRole, roleOf } from "./roles.js";
import { roots, selectorOf } from "./selectors.js";
import { append, buttonText, cut, NOT_TEXT, newText, visibleText } from "./text.js";
import { isVisible } from "./visibility.js";

/** @import { Query } from "./likeness.js" */

/** @type {Lookup<1>} */
const UNSEEN = { __proto__: null, head: 1, link: 1, meta: 1, script: 1, style: 1, template: 1, title: 1 };
/** @type {Lookup<0 | 1>} */
// biome-ignore format: a table
const INTERACTIVE = {
  __proto__: null,
  a: 1, area: 1, button: 1, details: 0, input: 1, label: 0, option: 0, select: 1, summary: 1, textarea: 1,
};
/** @type {Lookup<1>} */
// biome-ignore format: a table
const INTERACTIVE_ROLES = {
  __proto__: null,
  button: 1, checkbox: 1, combobox: 1, link: 1, listbox: 1, menuitem: 1, menuitemcheckbox: 1, menuitemradio: 1,
  option: 1, radio: 1, searchbox: 1, slider: 1, spinbutton: 1, switch: 1, tab: 1, textbox: 1, treeitem: 1,
};
/** @type {Lookup<string>} */
// biome-ignore format: a table
export const TAG_WORDS = {
  __proto__: null,
  a: "link", button: "button", checkbox: "checkbox", dialog: "dialog", form: "form", h1: "heading", h2: "heading",
  h3: "heading", iframe: "iframe", img: "image", input: "", label: "label", nav: "navigation", option: "option",
  radio: "radio", select: "combobox", table: "table", textarea: "textbox",
};

/** @typedef {{ element: AnyElement, points: number, acts: boolean }} Entry an element that is similar to the selector */

/**
 * Return the text in an element, hidden or not, without reading styles: a fast approximation for ranking.
 *
 * @type {(element: AnyElement) => string}
 */
function glance(element) {
  const out = newText(80);
  let node = firstChild(element);
  for (let seen = 0, depth = 0; node && seen < 40 && !out.full; seen++) {
    if (nodeType(node) === 3) append(out, nodeValue(node) || "");
    let next = nodeType(node) === 1 && depth < 6 && !NOT_TEXT[tagOf(node)] ? firstChild(node) : null;
    if (next) {
      depth++;
    } else {
      let at = /** @type {AnyElement | null} */ (node);
      next = nextSibling(node);
      while (at && !next && depth > 0) {
        at = parentNode(at);
        depth--;
        next = at && nextSibling(at);
      }
    }
    node = next;
  }
  return out.text;
}

/** @type {(element: AnyElement) => boolean} */
function isLeaf(element) {
  const child = firstChild(element);
  return child !== null && nodeType(child) === 3 && firstElement(element) === null;
}

// biome-ignore format: a table
const NAMING = [
  "id", "data-testid", "data-test-id", "data-test", "name", "aria-label", "placeholder", "alt", "title",
];

/** @type {(query: Query, element: AnyElement, labels: Map<AnyElement, AnyElement>) => Entry | null} */
function rank(query, element, labels) {
  const tag = tagOf(element);
  if (UNSEEN[tag]) return null;
  /** @type {string[]} */
  const texts = [];
  let explicit = "";
  if (hasAttributes(element)) {
    explicit = attr(element, "role");
    for (let i = 0; i < NAMING.length; i++) texts[i] = attr(element, NAMING[i]);
    if (query.classes) texts[texts.length] = attr(element, "class");
    if (tag === "input") texts[texts.length] = buttonText(element);
    const label = labels.get(element);
    if (label) texts[texts.length] = glance(label);
  }
  const tagged = INTERACTIVE[tag];
  const acts = tagged === 1 || INTERACTIVE_ROLES[explicit] === 1;
  const readable = acts || explicit || tagged === 0 || tag === "th" || (tag.length === 2 && tag[0] === "h");
  if (readable || isLeaf(element)) texts[texts.length] = glance(element);
  for (let i = 0; i < texts.length; i++) if (texts[i].length > 80) texts[i] = texts[i].slice(0, 80);
  const role = explicit || (acts && implicitRole(element, tag)) || TAG_WORDS[tag] || "";
  const points = score(query, texts, role);
  return points ? { element, points: points + (acts ? 0.08 : 0), acts } : null;
}

/**
 * Return the first label of each field. The property `labels` of each field would search the whole tree.
 *
 * @type {(root: Document | ShadowRoot) => Map<AnyElement, AnyElement>}
 */
function firstLabels(root) {
  /** @type {Map<AnyElement, AnyElement>} */
  const found = new Map();
  const labels = queryAll(root, "label");
  for (let i = 0; i < labels.length && i < MAX_SEEN; i++) {
    const control = read(labels[i], "control");
    if (control && !found.has(control)) found.set(control, labels[i]);
  }
  return found;
}

/**
 * Insert an entry into the best matches so far, best first; equal matches keep the order of the page.
 *
 * @type {(list: Entry[], entry: Entry, size: number) => void}
 */
function place(list, entry, size) {
  if (list.length === size && list[size - 1].points >= entry.points) return;
  let at = list.length < size ? list.length : size - 1;
  for (; at > 0 && list[at - 1].points < entry.points; at--) list[at] = list[at - 1];
  list[at] = entry;
}

/** @type {(query: Query) => Entry[]} */
function rankElements(query) {
  /** @type {Entry[]} */
  const best = [];
  const all = roots();
  let seen = 0;
  for (let r = 0; r < all.length; r++) {
    const elements = queryAll(all[r], "*");
    const labels = firstLabels(all[r]);
    for (let i = 0; i < elements.length && seen < MAX_SEEN; i++, seen++) {
      const entry = rank(query, elements[i], labels);
      if (entry && entry.points >= MIN_SCORE) place(best, entry, 60);
    }
  }
  return best;
}

/**
 * Return whether an entry adds information to the chosen ones. The text of a button adds nothing to the button itself,
 * and neither does the form around it.
 *
 * @type {(chosen: Entry[], entry: Entry) => boolean}
 */
function addsToChosen(chosen, entry) {
  for (let i = 0; i < chosen.length; i++) {
    if (isClickOn(entry.element, chosen[i].element)) return false;
    if (!entry.acts && containsNode(entry.element, chosen[i].element)) return false;
  }
  return true;
}

/** @type {(selector: string, limit: number) => string[]} */
export function closest(selector, limit) {
  const query = parseQuery(selector.slice(0, 1000));
  if (!query.list.length) return [];
  const best = rankElements(query);
  /** @type {Entry[]} */
  const chosen = [];
  for (let i = 0; i < best.length && chosen.length < limit; i++) {
    if (addsToChosen(chosen, best[i]) && isVisible(best[i].element)) chosen[chosen.length] = best[i];
  }
  /** @type {string[]} */
  const lines = [];
  for (let i = 0; i < chosen.length; i++) lines[i] = formatLine(chosen[i].element);
  return lines;
}

const FILLED =
  "input:not([type=hidden]),textarea,select,[contenteditable]:not([contenteditable=false])," +
  "[role=textbox],[role=searchbox],[role=combobox],[role=spinbutton]";

/**
 * Describe the elements that can be filled in `element`, through open shadow roots.
 *
 * @type {(element: AnyElement, limit: number) => string[]}
 */
export function fieldsIn(element, limit) {
  /** @type {string[]} */
  const lines = [];
  /** @type {(AnyElement | ShadowRoot)[]} */
  const roots = [element];
  for (let r = 0; r < roots.length && r < 20; r++) {
    const all = queryAll(roots[r], "*");
    const own = shadowRoot(roots[r]);
    if (own) roots[roots.length] = own;
    for (let i = 0; i < all.length && i < MAX_SEEN && lines.length < limit; i++) {
      const shadow = shadowRoot(all[i]);
      if (shadow) roots[roots.length] = shadow;
      if (matches(all[i], FILLED)) lines[lines.length] = formatLine(all[i]);
    }
  }
  return lines;
}

/** @type {(element: AnyElement) => string} */
export function formatLine(element) {
  const name = cut(nameOf(element) || visibleText(element, 60), 60);
  const kind = roleOf(element) || tagOf(element);
  return kind + (name ? ' "' + name + '"' : "") + " (" + selectorOf(element) + ")";
}
