// The flat tree: elements as they are drawn, with the contents of shadow roots and slots.

const UNDRAWN = new Set(["SCRIPT", "STYLE", "TEMPLATE"]);

/**
 * Return the elements inside an element that match a selector, in the order of the flat tree.
 *
 * @type {(top: Node, selector: string) => Element[]}
 */
export function findInFlatTree(top, selector) {
  const parts = Array.from(walk(top)).filter((node) => node instanceof Element);
  return parts.filter((part) => part !== top && part.matches(selector));
}

/** @type {(top: Node) => string} */
export function flatText(top) {
  return Array.from(walk(top), (node) => (node instanceof Text ? node.data : " ")).join("");
}

/** @type {(top: Node) => Iterable<Node>} */
function* walk(top) {
  const rest = [top];
  for (let node = rest.pop(); node; node = rest.pop()) {
    yield node;
    const inside = insideOf(node);
    for (let index = inside.length - 1; index >= 0; index--) rest.push(inside[index]);
  }
}

/** @type {(node: Node) => ArrayLike<Node>} */
function insideOf(node) {
  if (node instanceof Element && UNDRAWN.has(node.nodeName)) return [];
  const assigned = node instanceof HTMLSlotElement ? node.assignedNodes() : [];
  return assigned.length ? assigned : ((node instanceof Element && node.shadowRoot) || node).childNodes;
}
