// Whether a page has undone its changes to the document, or changed only classes that no style rule uses.

import { getter } from "../../../driver/getter.js";
import { parentNodeOf } from "../../around.js";

export const MAX_MUTATIONS = 200; // Pages that change more are not compared with their previous state.

const MAX_RULES = 20_000;

const attributeValueOf = Element.prototype.getAttribute;
const [nextOf, previousOf] = [getter(Node, "nextSibling"), getter(Node, "previousSibling")];
const dataOf = getter(CharacterData, "data");
const { getRootNode: rootOf, isEqualNode: isEqual } = Node.prototype;

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
      if (value !== now && !isEmpty) return false;
    }
  return true;
}

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
 * Return whether only classes that no style sheet mentions have changed.
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
    if (attributeName !== "class" || !(root instanceof Document || root instanceof ShadowRoot)) return false;
    const names = changed.get(root) || new Set();
    for (const text of [oldValue, attributeValueOf.call(/** @type {Element} */ (target), "class")])
      for (const name of (text || "").split(/\s+/)) if (name) names.add("." + CSS.escape(name));
    changed.set(root, names);
  }
  for (const [root, names] of changed) if (isStyled(root, [...names, "[class"])) return false;
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
    for (let count = 0; rules.length; count++) {
      const rule = /** @type {any} */ (rules.pop());
      if (count > MAX_RULES) return true;
      if (rule.cssRules) rules.push(...rule.cssRules);
      if (rule.styleSheet) rules.push(...rule.styleSheet.cssRules);
      const selector = rule.style?.length && rule.selectorText;
      if (selector && mentions.some((each) => selector.includes(each))) return true;
    }
    return false;
  } catch {
    return true;
  }
}
