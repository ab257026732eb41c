// Areas of image maps. An area has no box; a press on the image reaches it.

import {
  closest,
  getAttribute,
  getBoundingClientRect,
  hasBox,
  hitAt,
  placesIn,
  scrollToPoint,
} from "./press_places.js";

/** @typedef {import("./press_places.js").Point} Point */

const MAX_COORDINATES = 10_000; // Characters.

/**
 * Return the image that shows an area, or null.
 *
 * @type {(area: HTMLAreaElement) => HTMLImageElement | null}
 */
export function imageOf(area) {
  const map = closest.call(area, "map");
  const name = map && (getAttribute.call(map, "name") || getAttribute.call(map, "id"));
  const root = /** @type {Document | ShadowRoot} */ (area.getRootNode());
  const images = /** @type {NodeListOf<HTMLImageElement>} */ (root.querySelectorAll("img[usemap]"));
  return (name && [...images].find((each) => each.useMap.endsWith(`#${name}`) && hasBox(each))) || null;
}

/**
 * Return the point of an image where a press reaches the area, relative to the padding box of the image, or null if
 * there is no such point.
 *
 * @type {(area: HTMLAreaElement, image: HTMLImageElement) => Point | null}
 */
export function findAreaPoint(area, image) {
  const style = getComputedStyle(image);
  /** @type {(name: string) => number} */
  const pixels = (name) => Number.parseFloat(style.getPropertyValue(name));
  const border = { x: pixels("border-left-width"), y: pixels("border-top-width") };
  const edge = { x: border.x + pixels("padding-left"), y: border.y + pixels("padding-top") };
  const whole = getBoundingClientRect.call(image);
  const part = boxOf(area, whole.width - 2 * edge.x, whole.height - 2 * edge.y);
  scrollToPoint(
    { x: whole.x + edge.x + part.x + part.width / 2, y: whole.y + edge.y + part.y + part.height / 2 },
    image,
  );
  const now = getBoundingClientRect.call(image);
  const places = placesIn(new DOMRect(now.x + edge.x + part.x, now.y + edge.y + part.y, part.width, part.height));
  const own = places.find((point) => hitAt(point) === area) ?? places[0];
  return own ? { x: own.x - now.x - border.x, y: own.y - now.y - border.y } : null;
}

/**
 * Return the box around the shape of an area, relative to the content of its image.
 *
 * @type {(area: HTMLAreaElement, width: number, height: number) => DOMRect}
 */
function boxOf(area, width, height) {
  const numbers = area.coords
    .slice(0, MAX_COORDINATES)
    .split(/[\s,;]+/)
    .map(Number.parseFloat)
    .filter(Number.isFinite);
  const [x, y, radius] = numbers;
  if (/^circ/i.test(area.shape) && numbers.length > 2)
    return new DOMRect(x - radius, y - radius, 2 * radius, 2 * radius);
  if (/^default$/i.test(area.shape) || numbers.length < 4) return new DOMRect(0, 0, width, height);
  const across = numbers.filter((_, at) => at % 2 === 0);
  const down = numbers.filter((_, at) => at % 2 === 1);
  const [left, top] = [Math.min(...across), Math.min(...down)];
  return new DOMRect(left, top, Math.max(...across) - left, Math.max(...down) - top);
}
