// Determines whether an action has begun something that often shows only after a pause: an upload of a file that the
// page reads first, suggestions that wait until the user stops typing, a submenu or a tooltip that opens a moment after
// the mouse has moved over it, or work that a button shows as in progress.

import { getter } from "../driver/getter.js";

const SEARCHES = [
  "input[type=search], [role=searchbox], [role=combobox], [role=search] input, search input, input[list]",
  "[aria-autocomplete=list], [aria-autocomplete=both], input[name=q]",
  ...["placeholder", "aria-label", "id", "name", "class"].flatMap((name) =>
    ["search", "filter", "query"].map((word) => `input[${name}*=${word} i]`),
  ),
].join();
const SEARCH_WORDS = /search|filter|query/i;
const MAX_LABEL = 200;
const CLOSED_MENUS = "[aria-haspopup]:not([aria-haspopup=false], [aria-expanded=true])";

const PRESSED = "button, a, input[type=submit], input[type=button], [role=button], [role=menuitem], [role=tab]";
const BUSY = "[aria-busy=true], progress:not([value]), [role=progressbar]:not([aria-valuenow])";
const SPINNERS = [
  "spinner",
  "loader",
  "loading",
  "skeleton",
  "spinner-border",
  "spinner-grow",
  "ant-spin-spinning",
  "MuiSkeleton-root",
];
const MAX_SPINNERS = 20;
const BUSY_CLASS = /(?:^|[\s_-])(?:loading|busy|pending|submitting)(?:$|[\s_-])/i;
const BUSY_LOOK_MS = 20; // How often a busy page is checked.

const ANIMATION_MS = 1_000; // An animation with more time left is not waited for.

const { getAnimations: documentAnimations } = Document.prototype;
const { checkVisibility, closest, matches } = Element.prototype;
const elementsOfClass = Document.prototype.getElementsByClassName;
const textOfNode = getter(Node, "textContent");

/** @typedef {"upload" | "suggestions" | "submenu" | "tooltip" | "work"} LateWork */

/** @typedef {{ kind: LateWork, path: EventTarget[] }} Begun what may have begun, and what its event has passed */

/** @type {Begun | null} */
let begun = null;
/**
 * What the element that came below the mouse may open. Where the page has moved it there, no `mousemove` follows.
 *
 * @type {Begun | null}
 */
let below = null;
/** @type {EventTarget[]} the path of what was taken last */
let takenPath = [];
const shown = new MutationObserver(() => {
  if (begun?.kind === "tooltip") begun = null;
  if (below?.kind === "tooltip") below = null;
  shown.disconnect();
});

/** @type {() => void} */
function forget() {
  begun = null;
  shown.disconnect();
}

/** @type {(field: Element) => boolean} */
function isLabelledAsSearch(field) {
  if (!(field instanceof HTMLInputElement)) return false;
  const texts = Array.from(field.labels ?? [], (label) => textOfNode.call(label) || "");
  return texts.some((text) => SEARCH_WORDS.test(text.slice(0, MAX_LABEL)));
}

/** @type {(event: Event) => LateWork | null} */
function lateWorkOf(event) {
  const target = event.composedPath()[0];
  if (!(target instanceof Element)) return null;
  switch (event.type) {
    case "drop":
      return /** @type {DragEvent} */ (event).dataTransfer?.types.includes("Files") ? "upload" : null;
    case "input":
      if (matches.call(target, SEARCHES) || isLabelledAsSearch(target)) return "suggestions";
  }
  return target instanceof HTMLInputElement && target.files?.length ? "upload" : null;
}

for (const type of ["change", "drop", "input"])
  addEventListener(
    type,
    (event) => {
      const kind = lateWorkOf(event);
      if (kind) begun = { kind, path: event.composedPath() };
    },
    { capture: true, passive: true },
  );

/** @type {(element: EventTarget) => LateWork | null} */
function hoverWorkOf(element) {
  // The document does not show what is drawn on a canvas.
  if (!(element instanceof Element) || element instanceof HTMLCanvasElement) return null;
  return closest.call(element, CLOSED_MENUS) ? "submenu" : "tooltip";
}

addEventListener(
  "mouseover",
  (event) => {
    const path = event.composedPath();
    const kind = hoverWorkOf(path[0]);
    below = kind && { kind, path };
    if (kind === "tooltip")
      shown.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  },
  { capture: true, passive: true },
);
addEventListener(
  "mousemove",
  ({ clientX, clientY }) => {
    if (clientX || clientY) begun = below ?? begun; // Chromium places the mouse of a new page in the corner.
    below = null;
  },
  { capture: true, passive: true },
);

/** @type {{ button: Element | null, wasBusy: boolean, wasDisabled: boolean } | null} */
let press = null;

/** @type {(button: Element | null) => boolean} */
const isDisabled = (button) => button !== null && matches.call(button, ":disabled, [aria-disabled=true]");

/**
 * Return whether the last press has disabled its own button, as many pages do until the work has ended. Only once.
 *
 * @returns {boolean}
 */
export function takeDisabled() {
  if (!press || press.wasDisabled || !press.button?.isConnected) return false;
  press.wasDisabled = isDisabled(press.button);
  return press.wasDisabled;
}

/**
 * Return whether a spinner is visible. The browser keeps the elements of each class, so that this takes no pass.
 *
 * @returns {boolean}
 */
const isSpinning = () =>
  SPINNERS.flatMap((name) => Array.prototype.slice.call(elementsOfClass.call(document, name), 0, MAX_SPINNERS)).some(
    (each) => checkVisibility.call(each, { visibilityProperty: true }),
  );

/**
 * Return whether the button, or any element of the document, shows work in progress: `Saving…`, `aria-busy`, a spinner.
 *
 * @type {(button: Element | null) => boolean}
 */
function isBusy(button) {
  if (Document.prototype.querySelector.call(document, BUSY) || isSpinning()) return true;
  if (!button?.isConnected) return false;
  const text = button instanceof HTMLInputElement ? button.value : textOfNode.call(button) || "";
  return /(?:…|\.\.\.)$/.test(text.slice(-100).trimEnd()) || BUSY_CLASS.test(button.className);
}

for (const type of ["pointerdown", "keydown"])
  addEventListener(
    type,
    (event) => {
      if (event instanceof KeyboardEvent && event.key !== "Enter" && event.key !== " ") return;
      const target = event.composedPath()[0];
      const button = target instanceof Element ? closest.call(target, PRESSED) : null;
      press = { button, wasBusy: isBusy(button), wasDisabled: isDisabled(button) };
    },
    { capture: true, passive: true },
  );

// Wait until the work that the pressed button shows has ended, at most this long, and only once.
/** @type {any} */ (globalThis)[Symbol.for("footlight.work")] = async (/** @type {number} */ ms) => {
  if (!press) return;
  press.wasBusy = true;
  const end = performance.now() + ms;
  for (const { button } = press; isBusy(button) && performance.now() < end; )
    await new Promise((resolve) => setTimeout(resolve, BUSY_LOOK_MS));
};

// A press opens a menu immediately, and for the wheel the mouse is only moved over the scrolled box.
for (const type of ["pointerdown", "wheel"]) addEventListener(type, forget, { capture: true, passive: true });

/**
 * Return the kind of late work that has begun since the last call, or null.
 *
 * @returns {LateWork | null}
 */
export function takeLateWork() {
  const taken = begun?.kind ?? (press && !press.wasBusy && isBusy(press.button) ? "work" : null);
  takenPath = begun?.path ?? [];
  forget();
  return taken;
}

/**
 * Return whether a style shows or hides something, or moves it, and ends soon. A style for `:hover` needs no listener.
 *
 * @type {(path: EventTarget[]) => boolean}
 */
function isAnimated(path) {
  const trees = path.filter((each) => each instanceof ShadowRoot).map((tree) => tree.getAnimations());
  return [documentAnimations.call(document), ...trees].flat().some(({ currentTime, effect, playState }) => {
    const end = playState === "running" && effect ? Number(effect.getComputedTiming().endTime) : Infinity;
    return end - Number(currentTime) < ANIMATION_MS;
  });
}

// Return the nodes that may listen for the event of the work that was taken last, or none if it needs no listener. Only
// once: they may be removed.
/** @type {any} */ (globalThis)[Symbol.for("footlight.eventPath")] = () => {
  const nodes = takenPath.filter((each) => each instanceof Node);
  takenPath = [];
  return isAnimated(nodes) ? [] : nodes;
};
