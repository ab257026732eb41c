// The texts of a page with the boxes of their lines, and the texts that cannot be read: beyond an edge, or over each
// other.

import { allElements, documentBody, documentRoot, isVisible, own } from "./dom.js";

/** @typedef {{ left: number, right: number, top: number, bottom: number }} Edges */
/** @typedef {{ parent: AnyElement, text: string, boxes: DOMRect[] }} PageText a text with the boxes of its lines */

const MAX_TEXTS = 3000;
const EDGE = 3;
export const elements = allElements().filter(isVisible);
export const texts = textsOf();

/** @returns {PageText[]} */
function textsOf() {
  const until = performance.now() + 1000,
    found = /** @type {PageText[]} */ ([]);
  for (const parent of elements) {
    if (performance.now() > until || found.length > MAX_TEXTS) break;
    if (own.closest(parent, "svg, script, style, noscript, select, iframe")) continue;
    for (const node of own.childNodes(parent)) {
      const text = own.nodeType(node) === Node.TEXT_NODE ? /** @type {Text} */ (node).data.trim() : "";
      if (!text || isUnseen(parent)) continue;
      const range = own.createRange(document);
      range.selectNodeContents(node);
      const boxes = [...range.getClientRects()].filter((box) => box.width > 1 && box.height > 1);
      if (boxes.length) found.push({ parent, text, boxes });
    }
  }
  return found;
}

/**
 * Return whether the text is for screen readers, or in an element that moves.
 *
 * @type {(element: AnyElement) => unknown}
 */
function isUnseen(element) {
  const style = getComputedStyle(element),
    box = own.getBoundingClientRect(element);
  return (
    style.clip.startsWith("rect(") ||
    /inset\((50|100)%/.test(style.clipPath) ||
    box.width <= 1 ||
    box.height <= 1 ||
    own.closest(element, "[aria-hidden=true], marquee") ||
    isMoving(element)
  );
}

/** @type {(element: AnyElement) => boolean} */
function isMoving(element) {
  for (let each = /** @type {AnyElement | null} */ (element); each; each = own.parentElement(each)) {
    if (own.getAnimations(each).some((one) => one.playState === "running")) return true;
  }
  return false;
}

/**
 * Return the block element that contains the lines of the text.
 *
 * @type {(element: AnyElement) => AnyElement}
 */
function blockOf(element) {
  let block = element;
  for (
    let up = own.parentElement(block);
    up && getComputedStyle(block).display === "inline";
    up = own.parentElement(up)
  )
    block = up;
  return block;
}

/**
 * Return the blocks with a text that is partly visible and partly beyond an edge of the block or of the page.
 *
 * @returns {Map<AnyElement, string>}
 */
export function cutOff() {
  /** @type {Map<AnyElement, string>} */
  const found = new Map();
  for (const { parent, boxes } of texts) {
    const block = blockOf(parent);
    if (found.has(block) || own.closest(parent, "[title]")) continue;
    const note = beyondBlock(block, boxes) ?? beyondClip(block, boxes) ?? beyondPage(block, boxes);
    if (note) found.set(block, note);
  }
  return found;
}

/**
 * Return whether a style shows that there is more than what is seen: with an ellipsis or a fading end.
 *
 * @type {(element: AnyElement, style: CSSStyleDeclaration) => boolean}
 */
const endsDeliberately = (element, style) =>
  style.textOverflow !== "clip" ||
  style.webkitLineClamp !== "none" ||
  style.maskImage !== "none" ||
  getComputedStyle(element, "::after").content !== "none";

/** @type {(block: AnyElement, boxes: DOMRect[]) => string | null} */
function beyondBlock(block, boxes) {
  const style = getComputedStyle(block),
    edge = own.getBoundingClientRect(block);
  if (
    endsDeliberately(block, style) ||
    (!["hidden", "clip"].includes(style.overflowX) && !["hidden", "clip"].includes(style.overflowY))
  )
    return null;
  const isShort =
    own.matches(block, "button, a, label, h1, h2, h3, h4, h5, h6, th, td") &&
    style.backgroundImage === "none" &&
    edge.height > 8;
  for (const box of boxes) {
    const right = Math.round(box.right - edge.right),
      beyond = Math.max(box.bottom - edge.bottom, edge.top - box.top);
    if (
      right > EDGE &&
      box.left < edge.right - EDGE &&
      style.direction === "ltr" &&
      box.bottom > edge.top &&
      box.top < edge.bottom
    )
      return `its text is cut off ${right} px before its end`;
    const isBeside = box.left >= edge.right || box.right <= edge.left;
    if (!isBeside && beyond > box.height * 0.35 && (isShort || beyond < box.height * 0.8))
      return `${Math.round(Math.min(beyond, box.height))} px of a line of ${Math.round(box.height)} px are cut off`;
  }
  return null;
}

/**
 * Return what is cut off at the lower edge of a box around the block, through the middle of a line. A box that a control
 * opens further, and one that moves its content, are not looked at.
 *
 * @type {(block: AnyElement, boxes: DOMRect[]) => string | null}
 */
function beyondClip(block, boxes) {
  for (let inner = block, clip = own.parentElement(block); clip; [inner, clip] = [clip, own.parentElement(clip)]) {
    const { position, transform, translate } = getComputedStyle(inner);
    const style = getComputedStyle(clip);
    const isMoved = transform !== "none" || translate !== "none" || !["static", "relative"].includes(position);
    if (isMoved || clip === documentBody() || /auto|scroll/.test(style.overflowY)) return null;
    if (style.overflowY === "visible") continue;
    const around = own.parentElement(clip);
    const isOpened = around && own.querySelector(around, "[aria-expanded], [aria-controls], summary");
    if (isOpened || clip.scrollTop || endsDeliberately(clip, style)) return null;
    const bottom = own.getBoundingClientRect(clip).bottom;
    const line = boxes.find((box) => box.top < bottom - EDGE && box.bottom - bottom > box.height * 0.35);
    return line && line.bottom - bottom < line.height * 0.8
      ? `${Math.round(line.bottom - bottom)} px of a line of ${Math.round(line.height)} px are cut off`
      : null;
  }
  return null;
}

/** @type {(block: AnyElement, boxes: DOMRect[]) => string | null} */
function beyondPage(block, boxes) {
  const width = documentRoot()?.clientWidth ?? innerWidth;
  /** @type {(each: AnyElement | null) => boolean} */
  const hides = (each) => each !== null && ["hidden", "clip"].includes(getComputedStyle(each).overflowX);
  const isHidden = hides(documentRoot()) || hides(documentBody());
  for (
    let each = /** @type {AnyElement | null} */ (block);
    each && each !== documentBody() && each !== documentRoot();
    each = own.parentElement(each)
  ) {
    const style = getComputedStyle(each);
    if (
      style.overflowX !== "visible" ||
      style.transform !== "none" ||
      style.translate !== "none" ||
      style.position === "fixed"
    )
      return null;
  }
  for (const box of boxes) {
    const left = box.left + scrollX,
      right = box.right + scrollX;
    if (left < -EDGE && right > EDGE) return `${Math.round(-left)} px of its text are beyond the left edge of the page`;
    if (isHidden && right > width + EDGE && left < width - EDGE)
      return `${Math.round(right - width)} px of its text are beyond the right edge of the page, which cannot be scrolled`;
  }
  return null;
}

/**
 * Return the texts that are drawn over other texts, without an element between them that covers one of them.
 *
 * @returns {Map<AnyElement, string>}
 */
export function overlaps() {
  const lines = texts
    .flatMap(({ boxes, parent, text }) =>
      boxes.flatMap((whole) => {
        const box = within(core(whole), clipOf(parent));
        return box ? { box, parent, text } : [];
      }),
    )
    .sort((one, other) => one.box.top - other.box.top);
  const found = /** @type {Map<AnyElement, string>} */ (new Map()),
    until = performance.now() + 500;
  for (let n = 0; n < lines.length && performance.now() < until; n++) {
    for (let m = n + 1; m < lines.length && lines[m].box.top < lines[n].box.bottom; m++) {
      const [one, other] = [lines[n], lines[m]],
        shared = within(one.box, other.box);
      if (
        !shared ||
        one.parent === other.parent ||
        one.text === other.text ||
        areaOf(shared) < 0.25 * Math.min(areaOf(one.box), areaOf(other.box))
      )
        continue;
      const [above, below] = [blockOf(one.parent), blockOf(other.parent)];
      if (above !== below && isBare(above, below) && isBare(below, above))
        found.set(below, `over “${one.text.replace(/\s+/g, " ").slice(0, 60)}”`);
    }
  }
  return found;
}

/**
 * Return the box without the space that ascenders and line heights add.
 *
 * @type {(box: DOMRect) => Edges}
 */
function core(box) {
  return {
    left: box.left + 1,
    right: box.right - 1,
    top: box.top + box.height * 0.25,
    bottom: box.bottom - box.height * 0.25,
  };
}

/** @type {(one: Edges, other: Edges) => Edges | null} */
function within(one, other) {
  const box = {
    left: Math.max(one.left, other.left),
    right: Math.min(one.right, other.right),
    top: Math.max(one.top, other.top),
    bottom: Math.min(one.bottom, other.bottom),
  };
  return box.right - box.left > 2 && box.bottom - box.top > 1 ? box : null;
}

/** @type {(box: Edges) => number} */
function areaOf(box) {
  return (box.right - box.left) * (box.bottom - box.top);
}

/**
 * Return the part of a box that is visible through all elements that clip it.
 *
 * @type {(element: AnyElement) => Edges}
 */
function clipOf(element) {
  let box = { left: -1e6, right: 1e6, top: -1e6, bottom: 1e6 };
  for (
    let each = /** @type {AnyElement | null} */ (element);
    each && each !== documentBody();
    each = own.parentElement(each)
  ) {
    if (getComputedStyle(each).overflow !== "visible")
      box = within(box, own.getBoundingClientRect(each)) ?? { left: 0, right: 0, top: 0, bottom: 0 };
  }
  return box;
}

/**
 * Return whether nothing around the text hides what is behind it, and the text scrolls with the page.
 *
 * @type {(element: AnyElement, other: AnyElement) => boolean}
 */
function isBare(element, other) {
  for (
    let each = /** @type {AnyElement | null} */ (element);
    each && !own.contains(each, other);
    each = own.parentElement(each)
  ) {
    const style = getComputedStyle(each);
    const isPainted =
      style.backgroundImage !== "none" || !/rgba\([^()]*, 0(\.[0-4]\d*)?\)|transparent/.test(style.backgroundColor);
    if (
      isPainted ||
      ["fixed", "sticky"].includes(style.position) ||
      parseFloat(style.opacity) < 0.3 ||
      (style.transform !== "none" && style.transform.startsWith("matrix3d"))
    )
      return false;
  }
  return true;
}
