// The order in which Tab visits the parts of a page.

import { own } from "./dom.js";
import { nameOf } from "./focus_names.js";

/** @typedef {{ x: number, y: number, right: number, bottom: number }} Edges */
/** @typedef {{ element: AnyElement, box: Edges }} Place */

/**
 * Return the rows and columns of at least three whose parts the focus visits from the last to the first.
 *
 * @type {(stops: Place[]) => AnyElement[]}
 */
export function backwards(stops) {
  const parents = new Set(
    stops
      .map((each) => own.parentElement(each.element))
      .flatMap((each) => [each, own.parentElement(each)])
      .filter((each) => each != null),
  );
  return [...parents].filter((parent) => {
    if (!/flex|grid/.test(getComputedStyle(parent).display) || getComputedStyle(parent).direction !== "ltr")
      return false;
    const boxes = stopsIn(stops, parent).map((each) => each.box);
    /** @type {(test: (one: Edges, before: Edges) => boolean) => boolean} */
    const all = (test) => boxes.length > 2 && boxes.slice(1).every((box, n) => test(box, boxes[n]));
    const inRow = (/** @type {Edges} */ one, /** @type {Edges} */ other) =>
        one.y < other.bottom && other.y < one.bottom,
      inColumn = (/** @type {Edges} */ one, /** @type {Edges} */ other) => one.x < other.right && other.x < one.right;
    return (
      all((one, before) => inRow(one, before) && one.right <= before.x + 1) ||
      all((one, before) => inColumn(one, before) && one.bottom <= before.y + 1)
    );
  });
}

/**
 * Return the stops in a row or column, or none if there are others deeper in it.
 *
 * @type {(stops: Place[], parent: AnyElement) => Place[]}
 */
export function stopsIn(stops, parent) {
  const inside = stops.filter(
    (each) =>
      own.tabIndex(each.element) === 0 &&
      (own.parentElement(each.element) === parent || own.parentElement(own.parentElement(each.element)) === parent),
  );
  return inside.length === stops.filter((each) => own.contains(parent, each.element)).length ? inside : [];
}

/** @type {(stops: Place[]) => number} */
export function firstInMain(stops) {
  return stops.findIndex((each) => own.closest(each.element, "main, [role=main]"));
}

/**
 * Return the first element, if there are many before the main part and none of the first leads there.
 *
 * @type {(stops: Place[]) => AnyElement[]}
 */
export function stopsBeforeMain(stops) {
  /** @type {(element: AnyElement) => boolean} */
  const isSkip = (element) =>
    (own.matches(element, 'a[href*="#"]') &&
      (element.hash ?? "").length > 1 &&
      element.pathname === location.pathname) ||
    /skip|jump/i.test(nameOf(element));
  return firstInMain(stops) >= 15 && !stops.slice(0, 3).some((each) => isSkip(each.element)) ? [stops[0].element] : [];
}
