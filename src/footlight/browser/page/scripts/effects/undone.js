// Whether a page has undone its changes to the document, changed only what no style rule uses, or what nobody
// sees: the content of hidden elements, scripts that it loads, and the ripple of a pressed button.

import { getter } from "../../../driver/getter.js";
import { outside, parentNodeOf } from "../../around.js";
import { closestAbove, connectedOf, isMatching } from "./fields.js";

export const MAX_MUTATIONS = 200; // Pages that change more are not compared with their previous state.

const MAX_RULES = 20_000;
const MAX_COMPARED = 20_000_000; // Characters of selectors, once for each name that is searched in them.
const MAX_STYLE = 5_000; // A longer value of `style` is compared as a whole.
const MAX_RIPPLE = 20; // What has more elements inside is no ripple.

const attributeValueOf = Element.prototype.getAttribute;
const [nextOf, previousOf] = [getter(Node, "nextSibling"), getter(Node, "previousSibling")];
const dataOf = getter(CharacterData, "data");
const contentOf = getter(Node, "textContent");
const firstChildOf = getter(Element, "firstElementChild");
const { getRootNode: rootOf, isEqualNode: isEqual } = Node.prototype;
const { checkVisibility: visibilityOf, getElementsByTagName: inside, querySelector: findInside } = Element.prototype;
const makeElement = Document.prototype.createElement;

/**
 * Return whether the page has undone each of these changes.
 *
 * @param {MutationRecord[]} mutations in chronological order
 * @returns {boolean}
 */
export function areUndone(mutations) {
  if (!mutations.length || mutations.length > MAX_MUTATIONS) return false;
  /** @type {Map<Node, Map<string, string | null>>} */
  const before = new Map();
  /** @type {Map<Node, number>} */
  const moves = new Map();
  /** @type {Map<Node, MutationRecord>} */
  const removals = new Map();
  for (const each of mutations) {
    if (isReplacedByEqual(each)) continue;
    const { target, attributeName, attributeNamespace, oldValue, addedNodes, removedNodes } = each;
    for (const node of addedNodes) moves.set(node, (moves.get(node) || 0) + 1);
    for (const node of removedNodes) {
      if (!moves.has(node)) removals.set(node, each);
      moves.set(node, (moves.get(node) || 0) - 1);
    }
    if (attributeNamespace) return false;
    const values = before.get(target) || new Map();
    const name = attributeName || "";
    if (!values.has(name) && (attributeName || target instanceof CharacterData)) values.set(name, oldValue);
    before.set(target, values);
  }
  /** @type {(count: number) => Node[]} */
  const movedBy = (count) => [...moves.keys()].filter((node) => moves.get(node) === count);
  const [added, removed] = [movedBy(1), movedBy(-1)];
  if (added.length !== removed.length) return false;
  for (const [i, node] of removed.entries()) {
    const record = /** @type {MutationRecord} */ (removals.get(node));
    const isNextTo = i > 0 && removals.get(removed[i - 1]) === record && previousOf.call(added[i]) === added[i - 1];
    if (!isEqual.call(node, added[i]) || !(isNextTo || isAtPlace(added[i], record))) return false;
    removals.delete(node);
  }
  for (const [node, record] of removals) if (!isAtPlace(node, record)) return false;
  for (const [node, values] of before)
    for (const [name, value] of values) {
      const now = name
        ? attributeValueOf.call(/** @type {Element} */ (node), name)
        : dataOf.call(/** @type {CharacterData} */ (node));
      const isEmpty = !value && !now && (name === "class" || name === "style");
      if (value !== now && !isEmpty && !(name === "style" && isSameStyle(value, now))) return false;
    }
  return true;
}

/**
 * Return whether two values of `style` are the same. A script that sets a property has the whole value written anew.
 *
 * @type {(value: string | null, now: string | null) => boolean}
 */
function isSameStyle(value, now) {
  if ((value || "").length > MAX_STYLE || (now || "").length > MAX_STYLE) return false;
  const [{ style: before }, { style: after }] = [makeElement.call(document, "i"), makeElement.call(document, "i")];
  [before.cssText, after.cssText] = [value || "", now || ""];
  return before.length === after.length && Array.from(before).every((name) => hasSame(before, after, name));
}

/** @type {(before: CSSStyleDeclaration, after: CSSStyleDeclaration, name: string) => boolean} */
const hasSame = (before, after, name) =>
  before.getPropertyValue(name) === after.getPropertyValue(name) &&
  before.getPropertyPriority(name) === after.getPropertyPriority(name);

/**
 * Return whether a node is where another one, or itself, was removed.
 *
 * @type {(node: Node, removal: MutationRecord) => boolean}
 */
function isAtPlace(node, { target, nextSibling, previousSibling }) {
  return (
    parentNodeOf.call(node) === target &&
    (nextOf.call(node) === nextSibling || previousOf.call(node) === previousSibling)
  );
}

/**
 * Return whether equal nodes have taken the place of those that were removed.
 *
 * @type {(record: MutationRecord) => boolean}
 */
function isReplacedByEqual({ addedNodes, removedNodes }) {
  if (!removedNodes.length || addedNodes.length !== removedNodes.length) return false;
  return Array.from(removedNodes).every((node, i) => isEqual.call(node, addedNodes[i]));
}

/**
 * Return whether only classes and `data-` attributes that no style sheet mentions have changed.
 *
 * @param {MutationRecord[]} mutations
 * @returns {boolean}
 */
export function areUnstyled(mutations) {
  if (!mutations.length || mutations.length > MAX_MUTATIONS) return false;
  /** @type {Map<Document | ShadowRoot, Set<string>>} */
  const changed = new Map();
  for (const { target, attributeName, oldValue } of mutations) {
    const root = rootOf.call(target);
    if (!(root instanceof Document || root instanceof ShadowRoot)) return false;
    const names = changed.get(root) || new Set();
    changed.set(root, names);
    if (attributeName?.startsWith("data-")) {
      names.add(`[${attributeName}`).add(`attr(${attributeName}`);
      continue;
    }
    if (attributeName !== "class") return false;
    names.add("[class");
    for (const text of [oldValue, attributeValueOf.call(/** @type {Element} */ (target), "class")])
      for (const name of (text || "").split(/\s+/)) if (name) names.add("." + CSS.escape(name));
  }
  for (const [root, names] of changed) if (isStyled(root, [...names])) return false;
  return true;
}

/**
 * Return whether a style rule mentions one of these. Style sheets of other origins cannot be read, so they may.
 *
 * @type {(root: Document | ShadowRoot, mentions: string[]) => boolean}
 */
function isStyled(root, mentions) {
  try {
    const rules = [...root.styleSheets, ...root.adoptedStyleSheets].flatMap((sheet) => [...sheet.cssRules]);
    for (let count = 0, compared = 0; rules.length; count++) {
      const rule = /** @type {any} */ (rules.pop());
      if (count > MAX_RULES || compared > MAX_COMPARED) return true;
      if (rule.cssRules) rules.push(...rule.cssRules);
      if (rule.styleSheet) rules.push(...rule.styleSheet.cssRules);
      const selector = rule.style?.length && `${rule.selectorText} ${rule.style.content}`;
      if (!selector) continue;
      compared += selector.length * mentions.length;
      if (compared <= MAX_COMPARED && mentions.some((each) => selector.includes(each))) return true;
    }
    return false;
  } catch {
    return true;
  }
}

export const CONTROLS = "button, a, summary, label, [role], [tabindex]";
const RIPPLE = /ripple|(?:^|[\s_-])(?:waves?|ink)(?:$|[\s_-])/i; // In the class names of many libraries.
const CONTENT = "img, svg, i, canvas, video, input";
const RESTYLING = "style, link";
const SHOWN_ELSEWHERE = "select, datalist, svg, head, audio, video, picture, map, object, canvas"; // Not drawn, but seen in other ways.

/**
 * Return whether nobody sees a change, because it is a script, or in an element that is not drawn.
 *
 * @param {MutationRecord} mutation
 * @returns {boolean}
 */
export function isOutOfSight({ type, target, addedNodes, removedNodes }) {
  const element = target instanceof Element ? target : parentNodeOf.call(target);
  if (type === "attributes" || !(element instanceof Element) || !connectedOf.call(element)) return false;
  const nodes = [...addedNodes, ...removedNodes];
  if (nodes.length && nodes.every((node) => node instanceof HTMLScriptElement)) return true;
  if ([element, ...nodes].some((node) => node instanceof Element && isMatching.call(node, RESTYLING))) return false;
  if (closestAbove.call(element, SHOWN_ELSEWHERE)) return false;
  return !isShown(element) || (removedNodes.length === 0 && nodes.length > 0 && nodes.every(isHidden));
}

/**
 * Return whether a node is an element that is not drawn, such as an image that only counts clicks.
 *
 * @type {(node: Node) => boolean}
 */
const isHidden = (node) =>
  node instanceof Element && connectedOf.call(node) && !isMatching.call(node, SHOWN_ELSEWHERE) && !isShown(node);

/**
 * Return whether a change is the ripple of a press: an element without content in a control, or a class of the control.
 *
 * @param {MutationRecord} mutation
 * @returns {boolean}
 */
export function isInRipple({ type, target, attributeName, oldValue, addedNodes, removedNodes }) {
  if (!(target instanceof Element) || !closestAbove.call(target, CONTROLS)) return false;
  if (!isMatching.call(target, CONTROLS) && isRipple(target)) return true;
  if (type === "attributes") return attributeName === "class" && isRippleClass(target, oldValue);
  const nodes = [...addedNodes, ...removedNodes];
  return nodes.length > 0 && nodes.every(isRipple);
}

/**
 * Return whether a node is the ripple that a library draws where a control is pressed, or a box around one.
 *
 * @type {(node: Node) => boolean}
 */
function isRipple(node) {
  if (!(node instanceof HTMLElement)) return false;
  const classes = [node, firstChildOf.call(node)].map((each) => each && attributeValueOf.call(each, "class"));
  if (!classes.some((each) => RIPPLE.test(each || "")) || inside.call(node, "*").length > MAX_RIPPLE) return false;
  return !(contentOf.call(node) || "").trim() && !findInside.call(node, CONTENT);
}

/** @type {(element: Element, before: string | null) => boolean} */
function isRippleClass(element, before) {
  const texts = [before, attributeValueOf.call(element, "class")];
  const [old, now] = texts.map((text) => new Set((text || "").split(/\s+/)));
  const changed = [...old, ...now].filter((name) => !(old.has(name) && now.has(name)));
  return changed.length > 0 && changed.every((name) => RIPPLE.test(name));
}

/**
 * Return whether an element is drawn. One without a box of its own is, if the element around it is.
 *
 * @type {(element: Element) => boolean}
 */
export function isShown(element) {
  /** @type {Node | null} */
  let around = element;
  while (around instanceof Element && getComputedStyle(around).display === "contents") around = outside(around);
  return !(around instanceof Element) || visibilityOf.call(around, { visibilityProperty: true });
}
