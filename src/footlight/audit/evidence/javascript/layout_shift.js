// Find how far the page has moved since it was opened, without an input of its reader.

import { describeAll, isVisible, own } from "./dom.js";
import { recordedEntries, worstShifts } from "./entries.js";

const moved = worstShifts(await recordedEntries("layout-shift"));

/** @returns {Record<string, any>} */
export function answer() {
  return { metrics: { cls: moved.reduce((total, each) => total + each.value, 0) }, shifted: shifted() };
}

/** @returns {ReturnType<typeof describeAll>} */
function shifted() {
  /** @type {Map<Element, number>} */
  const far = new Map();
  for (const { node, previousRect: from, currentRect: to } of moved.flatMap((each) => each.sources ?? [])) {
    const element = node instanceof Element ? node : own.parentElement(node);
    const distance = Math.round(Math.hypot(to.x - from.x, to.y - from.y));
    if (element && own.isConnected(element) && distance > (far.get(element) ?? 0)) far.set(element, distance);
  }
  const unsized = images().filter(isUnsized);
  const elements = [
    ...unsized.filter((each) => isVisible(each)),
    ...[...far.keys()]
      .filter((each) => !unsized.includes(/** @type {HTMLImageElement} */ (each)))
      .sort((one, other) => (far.get(other) ?? 0) - (far.get(one) ?? 0)),
  ];
  return describeAll(moved.length ? elements : [], (each) =>
    unsized.includes(/** @type {HTMLImageElement} */ (each))
      ? "an image that nothing keeps room for"
      : `moved by ${far.get(each)} px`,
  );
}

/** @returns {HTMLImageElement[]} */
const images = () => /** @type {HTMLImageElement[]} */ ([...own.getElementsByTagName(document, "img")]);

/**
 * Return whether neither attributes nor styles give the image a size.
 *
 * @type {(image: HTMLImageElement) => boolean}
 */
function isUnsized(image) {
  const style = image.computedStyleMap?.(); // Not every browser has it.
  return (
    String(style?.get("height")) === "auto" &&
    String(style?.get("aspect-ratio")) === "auto" &&
    getComputedStyle(image).position === "static"
  );
}
