// Scroll an element or the page. Members are taken from their prototypes, because a page can shadow them.

/**
 * Scroll the scrollable box of an element. Without an element, scroll the page, or if that does not scroll, the box in
 * the middle of the viewport. Return the new position; without a distance, only that. `isPending` is 1 until the page
 * has received the event of the last scroll, which comes with a frame.
 *
 * @typedef {[x: number, y: number] | null} Distance
 * @typedef {Record<"x" | "y" | "maxX" | "maxY" | "moved" | "isPending", number>} Position
 * @type {(first: Element | Distance, second?: Distance) => Position}
 */
export function scroll(first, second) {
  const element = second === undefined ? null : /** @type {Element} */ (first);
  const distance = second === undefined ? /** @type {Distance} */ (first) : second;
  const [x, y] = distance ?? [0, 0];
  const before = element && boxOf(element);
  const box = findBox(element, distance !== null && !x && !y);
  // The page has removed the root of its document.
  if (!box) return { x: 0, y: 0, maxX: 0, maxY: 0, moved: 0, isPending: 0 };
  const from = placeOf(box);
  /** @type {any} */ (Element.prototype.scrollBy).call(box, { left: x, top: y, behavior: "instant" });
  const after = element && boxOf(element);
  const to = placeOf(box);
  const hasMoved = before && after && (before.x !== after.x || before.y !== after.y);
  const moved = Number(hasMoved || from[0] !== to[0] || from[1] !== to[1]);
  if (moved && distance) awaitEvent(box);
  return {
    x: Math.round(to[0]),
    y: Math.round(to[1]),
    maxX: Math.max(0, own(box, "scrollWidth") - own(box, "clientWidth")),
    maxY: Math.max(0, own(box, "scrollHeight") - own(box, "clientHeight")),
    moved,
    isPending: /** @type {any} */ (globalThis)[PENDING] || 0,
  };
}

const PENDING = Symbol.for("footlight.isScrollPending");

/** @type {(box: Element) => void} */
function awaitEvent(box) {
  const globals = /** @type {any} */ (globalThis);
  globals[PENDING] = 1;
  const end = () => {
    globals[PENDING] = 0;
  };
  // The root of its tree, because the event of a box in a shadow tree does not leave that tree.
  const root = Node.prototype.getRootNode.call(box);
  EventTarget.prototype.addEventListener.call(root, "scroll", end, { capture: true, once: true, passive: true });
}

/**
 * Return the box to scroll. With `centre`, first scroll the element to the centre of the viewport.
 *
 * @type {(element: Element | null, centre: boolean) => Element | null}
 */
function findBox(element, centre) {
  const root = own(document, "scrollingElement", Document) || own(document, "documentElement", Document);
  if (!element && root && moves(root)) return root;
  let at = element || Document.prototype.elementFromPoint.call(document, innerWidth / 2, innerHeight / 2);
  if (element && centre) Element.prototype.scrollIntoView.call(element, { block: "center", behavior: "instant" });
  while (at && !(moves(at) && (at === root || scrolls(at)))) at = own(at, "parentElement", Node);
  return at || root;
}

/** @type {(node: Node, name: string, type?: { prototype: object }) => any} */
function own(node, name, type = Element) {
  return Object.getOwnPropertyDescriptor(type.prototype, name)?.get?.call(node);
}

/** @type {(element: Element) => boolean} */
function moves(element) {
  return (
    own(element, "scrollWidth") > own(element, "clientWidth") + 1 ||
    own(element, "scrollHeight") > own(element, "clientHeight") + 1
  );
}

/** @type {(element: Element) => boolean} */
function scrolls(element) {
  const style = getComputedStyle(element);
  return /(auto|scroll|overlay)/.test(style.overflowX + style.overflowY);
}

/** @type {(element: Element) => DOMRect} */
function boxOf(element) {
  return Element.prototype.getBoundingClientRect.call(element);
}

/** @type {(box: Element) => [left: number, top: number]} */
function placeOf(box) {
  return [own(box, "scrollLeft"), own(box, "scrollTop")];
}
