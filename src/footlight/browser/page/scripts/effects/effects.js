// Records how the document handled the input events of the last action, for the effect in its result. It runs in the
// isolated world of settling.js and the snapshot script, which the page can neither read nor change.
//
// A record begins with a press of the mouse, or with the first key or input event after the previous record was
// reported.

import { ActRecord, changes, KEY_EVENTS, noteDrift } from "./act_record.js";

const RECORDED =
  "pointerdown pointerup pointercancel dragstart click keydown beforeinput input change invalid submit toggle scroll wheel " +
  "play pause copy cut drop selectionchange fullscreenchange";

const APPROACH_MS = 1_000; // A press that comes later than this after a movement of the mouse is another action.

/** @type {ActRecord | null} */
let record = null;
/** @type {{ at: number, count: number } | null} when the mouse moved to another element, and the changes until then */
let approached = null;

/** @type {(event: Event) => void} */
function begin(event) {
  record?.end();
  const target = event.composedPath()[0];
  const isPress = event.type === "pointerdown";
  const isHovered = isPress && isApproaching() && changes()?.others().count !== approached?.count;
  approached = null;
  record = new ActRecord(event.type, target);
  if (isPress) record.press(/** @type {PointerEvent} */ (event));
  record.hovered = isHovered;
}

/**
 * Count the changes from here on that the page makes because the mouse approaches the element that will be pressed.
 *
 * @type {(event: Event) => void}
 */
function approach(event) {
  if (!event.isTrusted || (record && !record.isReported) || isApproaching()) return;
  const { count, stale } = changes()?.others() ?? { count: 0, stale: true };
  approached = stale ? null : { at: performance.now(), count };
}

/** @returns {boolean} */
const isApproaching = () => approached !== null && performance.now() - approached.at < APPROACH_MS;

const SCROLLS = new Set(["scroll", "wheel"]);
const SET_EVENTS = new Set(["input", "change", "drop", "scroll", "wheel"]);

/** @type {(event: Event) => boolean} */
function begins(event) {
  const current = record?.isReported ? null : record;
  if (event.type === "pointerdown") return event.isTrusted && !current?.isSecondPress(event);
  if (KEY_EVENTS.has(event.type)) return event.isTrusted && (!current || SCROLLS.has(current.type));
  return !current && SET_EVENTS.has(event.type);
}

const INSIDE = ["invalid", "submit", "change", "toggle"];
/** @type {WeakSet<ShadowRoot>} */
const heardRoots = new WeakSet();

/**
 * Add listeners in the shadow trees around a target, because these events do not leave them.
 *
 * @type {(event: Event) => void}
 */
function hearInside(event) {
  for (const root of event.composedPath())
    if (root instanceof ShadowRoot && !heardRoots.has(root)) {
      heardRoots.add(root);
      for (const type of INSIDE) root.addEventListener(type, onEvent, { capture: true, passive: true });
    }
}

/**
 * Return whether an event belongs to a later press of the last action, such as the second one of a double click. The
 * press check keeps it from the page if it does not reach the element.
 *
 * @type {(event: Event) => boolean}
 */
function isOfLaterPress({ type }) {
  const isLater = /** @type {any} */ (globalThis)[Symbol.for("footlight.isLaterPress")];
  return (type === "pointerdown" || type === "pointerup") && record !== null && !record.isReported && isLater?.();
}

/** @type {(event: Event) => void} */
function onEvent(event) {
  if (isOfLaterPress(event)) return;
  if (event.type === "pointerdown" || KEY_EVENTS.has(event.type)) hearInside(event);
  const isOutside = !record || record.isReported || record.type === "scroll";
  if (event.type === "scroll" && isOutside && event.target && noteDrift(event.target)) return;
  if (begins(event)) begin(event);
  if (record && !record.isReported) record.note(event);
}

addEventListener("pointerover", approach, { capture: true, passive: true });
for (const type of RECORDED.split(" ")) addEventListener(type, onEvent, { capture: true, passive: true });

/**
 * Return the record of the last action as JSON, or "" if there is none.
 *
 * @returns {string}
 */
export function reportedRecord() {
  if (!record) return "";
  try {
    return " " + JSON.stringify(record.report());
  } catch {
    return "";
  }
}

/**
 * Return whether the last action was a click that, according to its report, had no effect, and why is unknown.
 *
 * @returns {boolean}
 */
export const isIdleClick = () => Boolean(record?.clicked && record.isIdle);

/**
 * Return whether the last action has changed the document so far.
 *
 * @returns {boolean}
 */
export const hasChanged = () => Boolean(record?.hasChanged());

/**
 * Return whether, since the last action, only elements have changed that change all the time.
 *
 * @returns {boolean}
 */
export const hasOnlyTicked = () => !hasChanged() && Boolean(changes()?.read()?.ticked);

/**
 * Return whether the document has scrolled since the last action was reported.
 *
 * @returns {boolean}
 */
export const hasScrolled = () => record?.type === "scroll";

/**
 * Judge only what changes from now on: nothing so far was an effect of the action.
 *
 * @returns {void}
 */
export function continueRecord() {
  if (!record) return;
  record.changed = false;
  record.mutations = [];
  changes()?.begin();
}
