// The flat tree: the children of an element through shadow roots, slots and `aria-owns`.

import { isObserved, observe } from "./memory.js";
import { attr, factsOf, hasAttr, pass, renewFacts } from "./pass.js";
import {
  CDATA,
  closest,
  DOCUMENT,
  ELEMENT,
  findAll,
  fold,
  get,
  isInside,
  MAX_REFERRED,
  matches,
  NOTHING,
  shorten,
  TEXT,
  tagOf,
  words,
} from "./platform.js";
import { readLive, stopRecording } from "./reads.js";
import { SHOWN, visibilityOf } from "./visibility.js";

/** @import { Child, Facts } from "./pass.js" */

// Elements that are not drawn, or that a screen reader does not read.
export const SKIPPED = words(`
  base basefont col colgroup datalist defs desc head link meta metadata noembed noframes noscript param rp script
  source style template title track clipPath filter linearGradient marker mask pattern radialGradient symbol area
`);
// The element draws its content itself, or shows it only as a fallback.
export const CLOSED = words("audio canvas embed frame iframe img input object progress meter select textarea video");

/**
 * Return the content of an element in the order of the flat tree: facts of elements, and folded texts.
 *
 * @type {(facts: Facts) => Child[]}
 */
export function childrenOf(facts) {
  if (facts.children === undefined) {
    facts.children = CLOSED.has(facts.tag) ? NOTHING : addOwned(facts, flatChildren(facts));
  }
  return facts.children;
}

/** @type {(facts: Facts) => Child[]} */
function flatChildren(facts) {
  const { element, tag } = facts;
  const shadow = readLive(shadowOf, element);
  if (shadow) {
    if (shadow.slotAssignment === "manual") stopRecording();
    enter(shadow);
    return listOf(shadow, true);
  }
  if (tag === "slot" && element.assignedNodes) {
    const assigned = element.assignedNodes();
    if (assigned.length) return assigned.map((node) => childOf(node, false)).filter(Boolean);
  }
  const list = listOfElement(facts);
  // Styles do not decide this: a text that is a direct child has no style of its own.
  const isClosed = tag === "details" && !hasAttr(facts, "open");
  return isClosed
    ? list.filter(
        (child) =>
          /** @type {Facts} */ (child).tag === "summary" && isFirstSummary(/** @type {Facts} */ (child).element),
      )
    : list;
}

/** @type {(element: AnyElement) => ShadowRoot | null} */
const shadowOf = (element) => get.shadowRoot.call(element);

/** @type {(facts: Facts) => Child[]} */
function listOfElement(facts) {
  const { element } = facts;
  if (facts.list === null) {
    const isRemembered = facts.isRemembered || isObserved(Node.prototype.getRootNode.call(element));
    const list = listOf(element, isRemembered);
    if (facts.isRemembered) facts.list = list;
    return list;
  }
  for (const child of facts.list) if (typeof child === "object") renewFacts(child);
  return facts.list;
}

/** @type {(parent: Node, isInObserved: boolean) => Child[]} */
function listOf(parent, isInObserved) {
  const first = get.firstChild.call(parent);
  if (!first) return NOTHING;
  const list = [];
  for (let node = /** @type {ChildNode | null} */ (first); node; node = get.nextSibling.call(node)) {
    const child = childOf(node, isInObserved);
    if (child) list.push(child);
  }
  return list;
}

/**
 * Return the content of an element in which white space is drawn, with its texts as they are written.
 *
 * @type {(facts: Facts, kept: "lines" | "all") => Child[]}
 */
export function spacedChildrenOf(facts, kept) {
  const children = childrenOf(facts);
  const isPlain = children === facts.list && children.some((child) => typeof child === "string");
  if (!isPlain) return children;
  const list = [];
  for (let node = get.firstChild.call(facts.element); node; node = get.nextSibling.call(node)) {
    const child = childOf(node, facts.isRemembered);
    if (typeof child === "string" && child) {
      const text = shorten(get.data.call(/** @type {CharacterData} */ (/** @type {unknown} */ (node))));
      list.push(kept === "all" ? text : text.split("\n").map(foldLine).join("\n"));
    } else if (child) list.push(child);
  }
  return list;
}

/** @type {(line: string) => string} */
const foldLine = (line) => fold(line).trim();

/** @type {(node: Node, isInObserved: boolean) => Child} */
function childOf(node, isInObserved) {
  const type = get.nodeType.call(node);
  if (type === ELEMENT) return factsOf(/** @type {AnyElement} */ (node), isInObserved);
  return type === TEXT || type === CDATA ? fold(shorten(get.data.call(/** @type {CharacterData} */ (node)))) : "";
}

/** @type {(node: AnyElement) => boolean} */
export function isFirstSummary(node) {
  if (tagOf(node) !== "summary") return false;
  for (let at = node.previousElementSibling; at; at = at.previousElementSibling) {
    if (tagOf(at) === "summary") return false;
  }
  const parent = get.parentNode.call(node);
  // The parent may be a shadow root, which has no name.
  return (
    parent !== null && get.nodeType.call(parent) === ELEMENT && tagOf(/** @type {Element} */ (parent)) === "details"
  );
}

/**
 * Read the data of a document or a shadow tree as a whole.
 *
 * @type {(root: Document | ShadowRoot) => void}
 */
export function enter(root) {
  observe(root);
  pass.trees.add(root);
  pass.styled.read(root);
  noteOwners(root);
  if (findAll(root, "fieldset:disabled").length) pass.fieldsets = true;
}

const PLAIN_OWNERS = "button:not([role]), [role=button], [role=switch], [role=tab]";

/**
 * Store which elements are owned by others. `aria-owns`: the first owner that names an element owns it, unless the
 * owner is inside that element. An owner that is not in the accessibility tree, or that cannot have content, would only
 * hide the element. A button or tab would make the contents of its menu or panel a part of its own name.
 *
 * @type {(root: Document | ShadowRoot) => void}
 */
function noteOwners(root) {
  for (const owner of findAll(root, "[aria-owns]")) {
    const facts = factsOf(owner);
    if (CLOSED.has(facts.tag) || matches.call(owner, PLAIN_OWNERS)) continue;
    if (visibilityOf(facts) !== SHOWN || closest.call(owner, '[aria-hidden="true"]')) continue;
    const owned = byIds(facts, "aria-owns").filter((each) => !pass.owners.has(each) && !isInside(owner, each));
    for (const each of owned) pass.owners.set(each, owner);
    pass.owned.set(owner, owned);
  }
}

/** @type {(facts: Facts, children: Child[]) => Child[]} */
function addOwned(facts, children) {
  if (!pass.owners.size) return children;
  /** @type {(facts: Facts) => boolean} */
  const isTaken = ({ element }) => element && pass.owners.has(element);
  const list = children.filter((child) => !isTaken(/** @type {Facts} */ (child)));
  for (const element of pass.owned.get(facts.element) || NOTHING) list.push(" ", factsOf(element));
  return list;
}

/** @type {(root: Document | ShadowRoot, id: string) => AnyElement | null} */
function byId(root, id) {
  const find = get.nodeType.call(root) === DOCUMENT ? Document.prototype.getElementById : root.getElementById;
  return find ? find.call(root, id) : null;
}

/**
 * Return the elements that an attribute names by their ids.
 *
 * @type {(facts: Facts, name: string) => AnyElement[]}
 */
export function byIds(facts, name) {
  const ids = attr(facts, name);
  if (!ids) return NOTHING;
  const root = /** @type {Document | ShadowRoot} */ (Node.prototype.getRootNode.call(facts.element));
  const found = [];
  for (const id of words(shorten(ids))) {
    if (pass.referred++ > MAX_REFERRED) break;
    const other = byId(root, id);
    if (other) found.push(other);
  }
  return found;
}
