// Records how the document handled the input events of the last action, for the effect in its result. It runs in the
// isolated world of settling.js and the snapshot script, which the page can neither read nor change.
//
// A record begins with a press of the mouse, or with the first key or input event after the previous record was
// reported.

import { ActRecord, KEY_EVENTS } from "./act_record.js";

const RECORDED =
  "pointerdown pointerup pointercancel dragstart click keydown beforeinput input change invalid submit toggle scroll wheel " +
  "play pause copy cut drop selectionchange fullscreenchange";

/** @type {ActRecord | null} */
let record = null;

/** @type {(event: Event) => void} */
function begin(event) {
  record?.end();
  const target = event.composedPath()[0];
  record = new ActRecord(event.type, target);
  if (event.type === "pointerdown") record.press(/** @type {PointerEvent} */ (event));
}

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

/** @type {(event: Event) => void} */
function onEvent(event) {
  if (event.type === "pointerdown" || KEY_EVENTS.has(event.type)) hearInside(event);
  if (begins(event)) begin(event);
  if (record && !record.isReported) record.note(event);
}

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
