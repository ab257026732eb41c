// Check whether a reader can see where the focus is.

import { above, isVisible, own } from "./dom.js";

/**
 * Return why nobody can see the element, or null if somebody may. What axe-core reports is left out.
 *
 * @type {(element: AnyElement) => string | null}
 */
export function hiddenBy(element) {
  if (
    own.closest(element, "[aria-hidden=true]") ||
    [...own.querySelectorAll(element, "*")].some((each) => isVisible(each) && !isOutside(each) && isLarge(each))
  )
    return null;
  if (!own.checkVisibility(element, { opacityProperty: true, visibilityProperty: true })) return "it is transparent";
  const style = getComputedStyle(element),
    box = own.getBoundingClientRect(element);
  if (!isLarge(element)) return `it is ${Math.round(box.width)} × ${Math.round(box.height)} px large`;
  if (isOutside(element))
    return `it is outside of the page, ${Math.round(box.x + scrollX)} px from the left and ${Math.round(box.y + scrollY)} px from the top`;
  if (
    style.clip.startsWith("rect(0px, 0px, 0px, 0px") ||
    style.clipPath === "inset(50%)" ||
    style.clipPath === "inset(100%)"
  )
    return "it is clipped away";
  return closedAround(element);
}

/** @type {(element: AnyElement) => boolean} */
function isLarge(element) {
  const box = own.getBoundingClientRect(element);
  return box.width > 1 && box.height > 1;
}

/** @type {(element: AnyElement) => boolean} */
function isOutside(element) {
  const box = own.getBoundingClientRect(element);
  return box.right <= 0 || box.left >= innerWidth || box.bottom + scrollY <= 0;
}

/** @type {(element: AnyElement) => string | null} */
function closedAround(element) {
  let each = element;
  for (let up = own.parentElement(each); up; up = own.parentElement(up)) {
    if (["absolute", "fixed"].includes(getComputedStyle(each).position)) return null;
    each = up;
    const width = own.offsetWidth(up) ?? 0;
    const height = own.offsetHeight(up) ?? 0;
    if (
      getComputedStyle(up).overflow !== "visible" &&
      (own.clientHeight(up) <= 1 || own.clientWidth(up) <= 1) &&
      height * width <= height + width
    )
      return "the part that it is in is closed";
  }
  return null;
}

/**
 * Return the element with a fixed position that covers this element completely: a header, a bar, a notice.
 *
 * @type {(element: AnyElement) => AnyElement | null}
 */
export function coverOf(element) {
  const box = own.getBoundingClientRect(element),
    covers = /** @type {Set<AnyElement>} */ (new Set());
  for (const across of [0.1, 0.5, 0.9]) {
    for (const down of [0.1, 0.5, 0.9]) {
      const hit = own.elementFromPoint(document, box.x + box.width * across, box.y + box.height * down);
      const cover = hit && stayingOver(hit, element);
      if (!cover) return null;
      covers.add(cover);
    }
  }
  return [...covers][0];
}

/** @type {(hit: AnyElement, element: AnyElement) => AnyElement | null} */
function stayingOver(hit, element) {
  for (let each = /** @type {AnyElement | null} */ (element); each; each = above(each)) {
    if (each === hit) return null;
  }
  if (
    own.contains(element, hit) ||
    own.contains(own.shadowRoot(element), hit) ||
    [...(element.labels ?? [])].some((label) => label.contains(hit))
  )
    return null;
  for (let each = /** @type {AnyElement | null} */ (hit); each; each = above(each)) {
    if (own.contains(each, element) || own.contains(own.shadowRoot(each), element)) return null;
    if (["fixed", "sticky"].includes(getComputedStyle(each).position)) return each;
  }
  return null;
}
