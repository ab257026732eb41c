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

/**
 * Return the value beside this one, and the key that leads from there to it; null if the mouse reaches the `input`, so
 * that the browser draws it, or if it is no slider.
 *
 * @type {(element: Element, wanted: string) => { value: string, key: string } | null}
 */
export function findBeside(element, wanted) {
  if (!(element instanceof HTMLInputElement) || element.type !== "range" || element.step === "any") return null;
  const box = element.getBoundingClientRect();
  const root = /** @type {Document | ShadowRoot} */ (element.getRootNode());
  if (root.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2) === element) return null;
  const beside = /** @type {HTMLInputElement} */ (element.cloneNode());
  for (const [move, key] of /** @type {const} */ ([
    ["stepDown", "ArrowUp"],
    ["stepUp", "ArrowDown"],
  ])) {
    beside.value = wanted;
    beside[move]();
    if (beside.value !== wanted) return { value: beside.value, key };
  }
  return null;
}
