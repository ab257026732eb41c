// Sliders that pages draw themselves.

/** @typedef {{ now: number, min: number, max: number, isInside: boolean }} Slider */

/**
 * Return the value and the limits of a slider that is not an `input`, or null for another element. `isInside`: what
 * takes the keys is an element in the slider, as in Quasar.
 *
 * @type {(element: Element) => Slider | null}
 */
export function readSlider(element) {
  /** @type {(name: string, otherwise: number) => number} */
  const read = (name, otherwise) => Number.parseFloat(element.getAttribute(name) ?? String(otherwise));
  const slider = { now: read("aria-valuenow", NaN), min: read("aria-valuemin", 0), max: read("aria-valuemax", 100) };
  const isSlider = element.getAttribute("role") === "slider" && Object.values(slider).every(Number.isFinite);
  if (!isSlider || element.getAttribute("aria-disabled") === "true") return null;
  return { ...slider, isInside: !element.hasAttribute("tabindex") && !!element.querySelector("[tabindex='0']") };
}
