// The record of how the document handled the input events of one action. Its report is a JSON object:
//
//   id      a number, different for each record
//   by      the type of its first event
//   acted   whether the action certainly had an effect: on a value, a scroll position, the focus, the document …
//   stale   whether the document changed before the record, or changes all the time, so that a difference between two
//           snapshots may have another cause
//   hovered whether the document changed when the mouse moved to the pressed element
//   reason  why the action had no effect, or what went wrong
//   kind    the kind of the reason; `blocked` means that the page has only shown an error
//   drawn   whether a canvas was clicked; the document does not show what is drawn on it
//   later   whether the only effect are changes after the click, for which no script has requested a callback meanwhile:
//           if nothing listens there, they have another cause
//   path    the path to the element that was clicked or received a key, if no effect is certain
//   types   the types of the events that the mouse or a key has caused there, for a click
//   x, y    where the mouse was pressed, or what a key has clicked, in the document
//   key     the last key
//
// `kept`, `idle`, `taken` and `undone` are reasons why the action had no effect, `nowhere` why a link led nowhere;
// `lost` and `part` also apply if the action had an effect, and `refused` if no request was sent. `taken`: the page
// prevented the default action of the browser.

import { isIn } from "../../around.js";
import { afterEvent } from "../../callbacks.js";
import { pathTo } from "../../element_path.js";
import { hasRoom, scrollsAbove, scrollsBy } from "../../scrolling.js";
import { EVERYTHING, isCallbackExpected } from "../../settling.js";
import {
  closestAbove,
  connectedOf,
  describeInvalid,
  fieldsOf,
  focusNow,
  isEditable,
  isFileField,
  isMatching,
  isTextField,
  selectedLength,
  textIn,
  toggleAt,
} from "./fields.js";
import { findProblem } from "./problems.js";
import { areUndone, areUnstyled, isInRipple, isOutOfSight, MAX_MUTATIONS } from "./undone.js";

const AGAIN_MS = 1_000; // The second press of a double click belongs to the record of the first.
const MAX_INVALID = 3;
const MAX_KEYS = 200;
export const KEY_EVENTS = new Set(["keydown", "beforeinput"]);

/** @type {("key" | "code" | "keyCode" | "which" | "ctrlKey" | "shiftKey" | "altKey" | "metaKey")[]} */
const KEY_FIELDS = ["key", "code", "keyCode", "which", "ctrlKey", "shiftKey", "altKey", "metaKey"];

/** What may change when it is clicked without a listener. */
const ACTIVE = "a[href], area, label, summary, input, select, textarea, form button, [popovertarget], [commandfor]";
/** The types of other events that a click on an element causes. */
const MOVES = [
  "focus",
  "focusin",
  "mouseenter",
  "mouseover",
  "mousemove",
  "pointerenter",
  "pointerover",
  "pointermove",
];

const boxOf = Element.prototype.getBoundingClientRect;

/** @typedef {import("../../scrolling.js").Scroll} Scroll */
/** @typedef {{ changed: boolean, ticked: boolean, stale: boolean }} Changes changes that the snapshot script has detected */
/** @typedef {{ count: number, stale: boolean }} OtherChanges */

const DRIFTS = 3;
const DRIFT_MS = 150;
/** @type {WeakMap<EventTarget, [count: number, last: number]>} */
const drifts = new WeakMap(); // The scrolls in quick succession outside of actions, by what scrolled.

/** @type {(box: EventTarget) => EventTarget} */
const scrollerOf = (box) => (box === document && document.scrollingElement) || box;

/**
 * Note a scroll outside of an action. Return whether the page scrolls this box all the time.
 *
 * @type {(box: EventTarget) => boolean}
 */
export function noteDrift(box) {
  const [scroller, now] = [scrollerOf(box), performance.now()];
  const [count, last] = drifts.get(scroller) || [0, -Infinity];
  drifts.set(scroller, [now - last < DRIFT_MS ? count + 1 : 1, now]);
  return count > DRIFTS;
}

/** @type {(scroller: EventTarget, now: number) => boolean} */
function isDrifting(scroller, now) {
  const [count, last] = drifts.get(scroller) || [0, -Infinity];
  return count >= DRIFTS && now - last < DRIFT_MS;
}

let records = Math.floor(Math.random() * 2 ** 40);

/**
 * Return the interface of the snapshot script for changes. Names of the page cannot shadow a symbol.
 *
 * @returns {{ begin: () => void, read: () => Changes | null, others: () => OtherChanges } | undefined}
 */
export const changes = () => /** @type {any} */ (globalThis)[Symbol.for("footlight.changes")];

export class ActRecord {
  /**
   * @param {string} type
   * @param {EventTarget} target
   */
  constructor(type, target) {
    this.id = ++records;
    this.isReported = this.isIdle = false;
    this.type = type;
    this.target = target instanceof Element ? target : null;
    this.focus = focusNow();
    /** @type {[number, number] | null} */
    this.place = null;
    this.began = performance.now();
    this.pressed = this.clicked = this.reached = this.dragged = this.dropped = false;
    this.valued = this.moved = this.selected = this.stale = this.changed = false;
    this.isHandled = false; // The listeners of the page have handled the click.
    this.hasReacted = false; // Until then, the document has changed or a script has requested a callback.
    this.deleted = false; // A part of the text of the field was deleted.
    this.changedAt = this.changedUntil = 0; // When the document first and last changed.
    this.rippled = false; // A press has drawn a ripple.
    this.clicks = 0;
    this.isTouched = false;
    this.hovered = false; // The page changed when the mouse moved to the element.
    this.passedOn = false; // A text field has received keys after another one.
    /** @type {Event | null} */
    this.click = null;
    /** @type {Event | null} */
    this.format = null;
    /** @type {Event | null} */
    this.scrollKey = null; // The browser scrolls only after the event, and maybe after the report.
    /** @type {Event | null} */
    this.wheel = null; // One that scrolls unless the page prevents it.
    /** @type {Element | null} */
    this.receiver = null; // The element that was clicked, or received the last key.
    /** @type {HTMLInputElement | null} */
    this.upload = null; // A file input whose files were chosen.
    /** @type {Event | null} */
    this.choice = null; // A click on a file input, also by a script.
    /** @type {Event | null} */
    this.submit = null;
    /** @type {any[]} */
    this.unfit = []; // The invalid fields of a form that the browser does not validate.
    /** @type {HTMLInputElement | null} */
    this.toggle = null;
    /** @type {Scroll[]} */
    this.scrolls = [];
    /** @type {KeyboardEvent[]} */
    this.keys = [];
    this.text = ""; // The text that was inserted into the field at once.
    /** @type {number | null} */
    this.replaced = 0; // The number of characters that were selected then; null if unknown.
    /** @type {string[]} */
    this.invalid = [];
    /** @type {MutationRecord[]} */
    this.mutations = [];
    /** @type {Map<EventTarget, [before: string, now: string]>} */
    this.toggled = new Map(); // The states of elements that open and close.
    this.field = KEY_EVENTS.has(type) && this.target && isTextField(this.target) ? this.target : null;
    this.start = this.field ? textIn(this.field) : "";
    this.heldBefore = this.start.length; // Code editors put their selection into the field before the text arrives.
    this.observer = new MutationObserver((records) => this.noteChanges(records));
    this.observer.observe(document, { ...EVERYTHING, attributeOldValue: true, characterDataOldValue: true });
    changes()?.begin();
  }

  /** @type {(records: MutationRecord[]) => void} */
  noteChanges(records) {
    if (!records.length) return;
    this.changedUntil = performance.now();
    if (!this.changed) this.changedAt = this.changedUntil;
    this.changed = true;
    for (const each of records) if (this.mutations.length <= MAX_MUTATIONS) this.mutations.push(each);
    if (this.mutations.length > MAX_MUTATIONS) this.observer.disconnect();
  }

  /** @type {(event: PointerEvent) => void} */
  press(event) {
    this.pressed = true;
    this.button = event.button;
    this.isTouched = event.pointerType === "touch";
    this.place = [event.clientX, event.clientY];
    this.scrolls = this.target ? scrollsAbove(this.target) : [];
    this.toggle = toggleAt(this.target);
    this.wasChecked = this.toggle?.checked;
    this.wasDisabled = this.target !== null && isMatching.call(this.target, ":disabled, :disabled *");
    // The listener is on the element itself, because a listener above it may stop the click.
    this.target?.addEventListener("click", () => this.noteReached(), { capture: true, once: true });
  }

  /** @type {(event: Event) => boolean} */
  isSecondPress(event) {
    return this.pressed && event.composedPath()[0] === this.target && performance.now() - this.began < AGAIN_MS;
  }

  /** @returns {void} */
  noteReached() {
    this.reached = true;
  }

  /** @returns {void} */
  noteHandled() {
    this.noteChanges(this.observer.takeRecords());
    this.isHandled = true;
    this.hasReacted = this.changed || isCallbackExpected();
  }

  /**
   * Return whether nothing but the time suggests that the action has changed the document.
   *
   * @returns {boolean}
   */
  hasChangedLater() {
    if (!this.isHandled || this.hasReacted || !this.receiver) return false;
    const wasEditing = this.focus !== null && isTextField(this.focus);
    return !wasEditing && !closestAbove.call(this.receiver, ACTIVE);
  }

  /** @returns {void} */
  end() {
    this.observer.disconnect();
  }

  /** @returns {boolean} */
  hasScrolled() {
    /** @type {(scroll: Scroll) => boolean} */
    const isMoved = ([box, x, y]) => box.scrollLeft !== x || box.scrollTop !== y;
    return this.moved || this.scrolls.some((each) => isMoved(each) && !isDrifting(each[0], this.began));
  }

  /**
   * Return whether the action has moved the focus. A pressed button, link or box has the focus without any other
   * effect. A key that leads out of the document leaves none focused.
   *
   * @returns {boolean}
   */
  hasMovedFocus() {
    const now = focusNow();
    if (now === this.focus) return false;
    if (!now) return this.keys.length > 0 && this.focus !== null && connectedOf.call(this.focus);
    if (this.keys.length || isTextField(now) || now instanceof HTMLSelectElement) return true;
    return !this.target || !(now === this.target || isIn(this.target, now));
  }

  /** @returns {boolean} */
  hasOtherText() {
    return this.field !== null && textIn(this.field) !== this.start;
  }

  /** @returns {boolean} */
  hasChanged() {
    this.noteChanges(this.observer.takeRecords());
    const seen = changes()?.read();
    if (!seen) return this.changed;
    this.stale = seen.stale || seen.ticked;
    return (seen.changed || (this.changed && !seen.ticked)) && !(this.changed && this.isVain()) && !this.isTextUndone();
  }

  /**
   * Return whether the changes of the document show nothing. Of too many, that is unknown.
   *
   * @returns {boolean}
   */
  isVain() {
    if (this.mutations.length > MAX_MUTATIONS) return false;
    this.rippled ||= this.mutations.some(isInRipple);
    this.mutations = this.mutations.filter((each) => !isInRipple(each) && !isOutOfSight(each));
    return !this.mutations.length || areUndone(this.mutations) || areUnstyled(this.mutations);
  }

  /**
   * Return whether the page has restored the text of an editor, and changed nothing else.
   *
   * @returns {boolean}
   */
  isTextUndone() {
    const { field, mutations } = this;
    if (!field || !isEditable(field) || !this.text || this.hasOtherText() || this.text === this.start) return false;
    // A removed node was in the field; a removal from elsewhere is another mutation record.
    const isInside = (/** @type {Node} */ node) => isIn(node, field) || !connectedOf.call(node);
    return mutations.length <= MAX_MUTATIONS && mutations.every(({ target }) => isInside(target));
  }

  /** @returns {Record<string, unknown>} */
  report() {
    this.isReported = true;
    const changed = this.hasChanged();
    const isToggled = this.toggle && this.toggle.checked !== this.wasChecked;
    const isDrawn = this.clicked && this.target?.localName === "canvas";
    const isOpened = [...this.toggled.values()].some(([before, now]) => before !== now);
    const isOther = this.valued || this.upload || isOpened || isToggled || this.hasOtherText() || this.hasScrolled();
    const problem = findProblem(this, changed);
    const isEmpty = this.field !== null && !this.start && !textIn(this.field);
    const isCaretMoved = this.selected && this.keys.length > 0 && !this.offered() && !isEmpty;
    const isDone = [this.format, this.scrollKey, this.wheel].some((event) => event && !event.defaultPrevented);
    const hasActed = Boolean(isOther || isDone || (!problem && (isCaretMoved || this.hasMovedFocus())));
    const acted = changed || hasActed;
    const later = changed && !hasActed && !problem && this.hasChangedLater();
    this.isIdle = !acted && !problem && !isDrawn;
    return {
      id: this.id,
      by: this.type,
      acted,
      stale: this.stale,
      hovered: this.hovered,
      ...(problem ? { kind: problem[0], reason: problem[1] } : {}),
      ...(later ? { later, ...this.whereabouts(MOVES) } : {}),
      ...(acted ? {} : { drawn: isDrawn, ...this.whereabouts() }),
    };
  }

  /**
   * Return where the mouse was pressed or what a key clicked, and the key. The server finds listeners with them, for these
   * other types of events too.
   *
   * @param {string[]} others
   * @returns {Record<string, unknown>}
   */
  whereabouts(others = []) {
    const key = this.keys.at(-1);
    const receiver = this.receiver ?? this.target;
    const path = receiver && (this.place || this.clicked || key) && pathTo(receiver);
    if (!path) return {};
    /** @type {Record<string, unknown>} */
    const found = { path: path.steps };
    if (path.above !== null) found.above = path.above;
    if (this.place) [found.x, found.y] = this.place;
    else if (this.clicked) {
      const { left, top, width, height } = boxOf.call(receiver);
      [found.x, found.y] = [left + width / 2, top + height / 2];
    }
    if (found.x !== undefined) found.types = [...this.types(), ...others];
    if (key) found.key = Object.fromEntries(KEY_FIELDS.map((name) => [name, key[name]]));
    return found;
  }

  /**
   * Return the types of the events that may have reached a listener. The press is left out if its ripple has shown it.
   *
   * @returns {string[]}
   */
  types() {
    const presses = ["mousedown", "mouseup", "pointerdown", "pointerup"];
    return [
      ...(this.button ? ["auxclick", "contextmenu"] : ["click", "submit"]),
      ...(this.clicks > 1 ? ["dblclick"] : []),
      ...(this.rippled ? [] : presses),
      ...(this.isTouched ? ["touchstart", "touchend"] : []),
    ];
  }

  /** @returns {number} */
  offered() {
    /** @type {(event: KeyboardEvent) => boolean} */
    const isText = ({ key, ctrlKey, metaKey, altKey }) => key?.length === 1 && !ctrlKey && !metaKey && !altKey;
    return Math.max(this.text.length, this.keys.filter(isText).length);
  }

  /** @type {(event: any) => void} */
  note(event) {
    const target = event.composedPath()[0];
    switch (event.type) {
      case "click":
        if (isFileField(target)) this.choice = event;
        this.clicks = Math.max(this.clicks, event.detail);
        if (!event.isTrusted || this.clicked) return;
        this.clicked = true;
        this.click = event;
        if (target instanceof Element) this.receiver = target;
        afterEvent("click", () => this.noteHandled());
        break;
      case "pointerdown":
        break;
      case "pointerup":
        this.dragged ||= target !== this.target;
        break;
      case "pointercancel":
      case "dragstart":
        this.dragged = true;
        break;
      case "keydown":
        if (this.keys.length < MAX_KEYS) this.keys.push(event);
        if (!(target instanceof Element)) break;
        if (!this.clicked) this.receiver = target;
        this.passedOn ||= this.field !== null && target !== this.field && isTextField(target);
        if (scrollsBy(event, target)) this.scrollKey = event;
        break;
      case "beforeinput":
        if (target !== this.field) break; // The next field of a form that is filled in one call.
        if (event.inputType?.startsWith("format")) this.format = event;
        if (!this.text && this.field) {
          this.replaced = selectedLength(this.field);
          this.heldBefore = textIn(this.field).length;
        }
        this.text += (event.data || "").replace(/\r\n?/g, "\n"); // As the field holds it.
        break;
      case "input":
      case "change":
        this.deleted ||= target === this.field && event.inputType?.startsWith("delete");
        if (isFileField(target) && target.files?.length) this.upload = target;
        // A field that was filled earlier fires this only when it loses the focus to the pressed element.
        else if (
          event.type === "change" &&
          this.pressed &&
          target !== this.target &&
          target instanceof Element &&
          isTextField(target)
        )
          break;
        // Whether a drop-down list has another value is read from the snapshot: the page may have reset it.
        else if (!(target instanceof HTMLSelectElement) && target !== this.toggle && target !== this.field)
          this.valued = true;
        break;
      case "invalid":
        if (this.invalid.length < MAX_INVALID) this.invalid.push(describeInvalid(target));
        break;
      case "submit":
        this.submit = event;
        this.unfit = fieldsOf(target).filter((field) => field.willValidate && !field.validity.valid);
        break;
      case "wheel":
        if (target instanceof Element && scrollsAbove(target).some(([box]) => hasRoom(box, event))) this.wheel = event;
        break;
      case "scroll":
        this.noteScroll(event.target);
        break;
      case "selectionchange":
        this.selected = true;
        break;
      case "drop":
        this.dropped = true;
        break;
      case "toggle":
        this.toggled.set(target, [this.toggled.get(target)?.[0] ?? event.oldState, event.newState]);
        break;
      default:
        this.valued = true;
    }
  }

  /** @type {(box: EventTarget) => void} */
  noteScroll(box) {
    const scroller = scrollerOf(box);
    if (!isDrifting(scroller, this.began) && !this.scrolls.some(([above]) => above === scroller)) this.moved = true;
  }
}
