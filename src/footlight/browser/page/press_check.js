// Checks that a press of the mouse reaches the intended element. A selector engine of Playwright in an isolated world:
// the page can neither read nor change it.
//
//   target      the root, or the part of its label to press instead
//   press-8000-2  the same; its next two presses within 8,000 ms are watched, as those of one double click
//   drop-8000   the root; the next drop onto it is watched
//   drag-8000   the root; the next drag of the browser that ends on it is watched
//   outcome     a new element whose attribute `v` has the outcome as JSON: {"state", "by"?}, or null if nothing was
//               watched in this document
//   begun       a new element with whether a press has begun: true or false
//   ready-8000-2  a new element with {"isCertain", "at", "point"}: whether the root is certainly ready to be pressed. If
//               so, its next presses are watched as above. `at` is where to press it relative to its padding box if its
//               middle belongs to another control, `point` otherwise where in the viewport, if that is certain
//
// A press that begins on another element is kept from the page, so it has no effect and can be repeated.

import { getter } from "../driver/getter.js";
import { isIn } from "./around.js";
import { findAreaPoint, imageOf } from "./press_areas.js";
import { contains, FRAMES, findDoubt, pressedBox } from "./press_doubt.js";
import { findControlInside, findOwnPoint } from "./press_inside.js";
import { centerOf, closest, getAttribute, hitAt, matches, middleOf } from "./press_places.js";
import { pressTarget } from "./press_target.js";

const PRESSES = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu"];
const CLICKS = new Set(["click", "auxclick", "contextmenu"]);
const TEXT_FIELD = "textarea, input:not([type=button], [type=checkbox], [type=radio], [type=reset], [type=submit])";
const DROPS = ["drop", "input", "change"];

const connected = getter(Node, "isConnected");
const textOf = getter(Node, "textContent");

/** @typedef {{ state: string, by?: string | null }} Outcome the outcome of a press or a drop */

/** @type {Watch | null} */
let watched = null;

// A watched press or drop. Subclasses handle its events, and report the outcome.
class Watch {
  /**
   * @param {Element} element
   * @param {string[]} events
   * @param {number} ms
   */
  constructor(element, events, ms) {
    this.element = element;
    this.events = events;
    this.until = performance.now() + ms;
    this.state = "waiting";
    /** @type {EventTarget | null} */
    this.by = null;
    /** @type {(event: Event) => unknown} */
    this.listener = (event) => event.isTrusted && this.handle(event);
    // These listeners run before all listeners of the page, except those on the page's window.
    for (const type of events) addEventListener(type, this.listener, { capture: true, passive: false });
  }

  /** @type {(event: Event) => void} */
  handle(_event) {}

  /** @type {(element: Element) => void} */
  watch(element) {
    this.element = element;
  }

  /**
   * Set the state, and the node that received the press instead of the element.
   *
   * @type {(state: string, by: EventTarget | null) => void}
   */
  become(state, by) {
    this.state = state;
    this.by = by;
  }

  /** @returns {Outcome} */
  outcome() {
    return { state: this.state === "waiting" ? "ignored" : this.state };
  }

  /** @returns {void} */
  end() {
    for (const type of this.events) removeEventListener(type, this.listener, { capture: true });
    watched = null;
  }
}

class Press extends Watch {
  /**
   * @param {Element} element
   * @param {number} ms
   * @param {number} count
   */
  constructor(element, ms, count) {
    super(closest.call(element, "button, a, [role=button], [role=link]") || element, PRESSES, ms);
    this.meant = element;
    this.count = count;
    this.presses = 0;
    this.clicks = 0;
    this.isMissed = false;
    this.isHeld = false; // The button is down.
    this.at = { x: 0, y: 0 };
    /** @type {Element | null} */
    this.inside = null;
  }

  /** @type {(event: Event) => void} */
  handle(event) {
    if (performance.now() > this.until) return this.end();
    const target = event.composedPath()[0];
    this.isHeld = event.type.endsWith("down") || (this.isHeld && !event.type.endsWith("up"));
    if (this.state === "waiting" && event.type.endsWith("down")) {
      const isMeant = this.isOn(target) || this.findSuccessor(target);
      this.become(isMeant ? "pressed" : "lost", isMeant ? null : target);
      if (event instanceof MouseEvent) this.at = { x: event.clientX, y: event.clientY };
      if (isMeant && connected.call(this.meant)) this.inside = findControlInside(target, this.meant);
    }
    // A later press of the same action, such as the second one of a double click.
    if (this.clicks && event.type.endsWith("down")) this.isMissed = !this.isOn(target) && !this.findSuccessor(target);
    if (event.type === "mousedown" && !this.isMissed) this.presses += 1;
    if (this.state === "lost" || this.isMissed) {
      event.preventDefault();
      event.stopImmediatePropagation();
    } else if (this.state === "pressed" && CLICKS.has(event.type)) {
      this.clicks += 1;
      // An element that its press removed has received the press.
      const hasArrived = this.isOn(target) || !connected.call(this.element);
      this.become(hasArrived ? "arrived" : "pressed", hasArrived ? this.by : target);
    }
    return undefined;
  }

  /**
   * Return whether a press on this node is one on the element. An area receives the presses on its image.
   *
   * @type {(target: EventTarget | null) => boolean}
   */
  isOn(target) {
    return isIn(target, this.element) || (target instanceof HTMLAreaElement && isIn(imageOf(target), this.element));
  }

  /**
   * Watch the element that has replaced the watched one, if there is one. A page may replace an element because the
   * mouse moved over it. The press then goes to the new element if it is similar to the old one, and otherwise to the
   * element behind it.
   *
   * @type {(target: EventTarget | null) => boolean}
   */
  findSuccessor(target) {
    if (connected.call(this.element) || !(target instanceof Element)) return false;
    const successor = closest.call(target, this.element.localName);
    if (!successor || successor.id !== this.element.id || !hasSameText(successor, this.element)) return false;
    this.watch(successor);
    return true;
  }

  /** @returns {Outcome} */
  outcome() {
    if (this.state === "waiting") return this.outcomeWithoutEvents();
    if (this.state === "pressed" && this.by && connected.call(this.element) && !this.hasOpened() && !this.hasFocused())
      return { state: "strayed", by: describe(this.by) };
    // A press may have had its effect if the element is gone, but not if a similar element has replaced it.
    const isReplaced = this.state === "pressed" && !this.clicks && this.findSuccessor(hitAt(this.at));
    if (isReplaced) return { state: "replaced" };
    if (this.state === "arrived" && this.presses > 0 && this.presses < this.count)
      return { state: "partial", by: `${this.presses} of ${this.count}` };
    if (this.inside && this.state === "arrived") return { state: "inside", by: describe(this.inside) };
    return { state: this.state === "lost" ? "lost" : "arrived", by: this.by && describe(this.by) };
  }

  /**
   * Return whether the press opened something that takes the mouse from the rest of the page, as menus do.
   *
   * @returns {boolean}
   */
  hasOpened() {
    const { pointerEvents } = getComputedStyle(this.element);
    return pointerEvents === "none" && matches.call(this.element, "[aria-expanded=true]");
  }

  /**
   * Return whether the press gave the focus to a text field. Calendars open then, and may cover the field for a moment.
   *
   * @returns {boolean}
   */
  hasFocused() {
    return matches.call(this.element, TEXT_FIELD) && matches.call(this.element, ":focus");
  }

  /**
   * Return the outcome if the document received no event. Only the frame's own document receives a press on a frame.
   *
   * @returns {Outcome}
   */
  outcomeWithoutEvents() {
    const over = connected.call(this.element) ? hitAt(middleOf(this.element)) : null;
    const isOther =
      over && matches.call(over, FRAMES) && !isIn(over, this.element) && !contains.call(over, this.element);
    return isOther ? { state: "lost", by: describe(over) } : { state: "arrived" };
  }
}

// A file input that accepts files itself gets an input event, and no drop event.
class Drop extends Watch {
  /**
   * @param {Element} element
   * @param {number} ms
   */
  constructor(element, ms) {
    super(element, DROPS, ms);
  }

  /** @type {(event: Event) => void} */
  handle(event) {
    const target = event.composedPath()[0];
    if (isIn(target, this.element) || isIn(this.element, target)) this.become("arrived", null);
  }
}

/** @type {(one: Node, other: Node) => boolean} */
function hasSameText(one, other) {
  return textOf.call(one) === textOf.call(other);
}

// A drag of the browser, which a page has to accept. Other drags are only movements of the mouse.
class Drag extends Watch {
  /**
   * @param {Element} element
   * @param {number} ms
   */
  constructor(element, ms) {
    super(element, ["dragover", "drop"], ms);
  }

  /** @type {(event: Event) => void} */
  handle(event) {
    if (event.type === "drop") this.become("arrived", null);
    else if (this.state === "waiting") this.become("ignored", null);
  }

  /** @returns {Outcome} */
  outcome() {
    return { state: this.state === "ignored" ? "ignored" : "arrived" };
  }
}

/**
 * Describe an element by its start tag: `<div id="overlay" class="modal">`.
 *
 * @type {(element: unknown) => string}
 */
function describe(element) {
  if (!(element instanceof Element)) return "the document";
  const attributes = ["id", "class"].map((name) => [name, (getAttribute.call(element, name) || "").slice(0, 60)]);
  return `<${element.localName}${attributes.map(([name, value]) => (value ? ` ${name}="${value}"` : "")).join("")}>`;
}

// ---- ready to be pressed ----

/**
 * Return whether an element is certainly ready, and where to press it. If so, watch its next presses.
 *
 * @type {(element: Element, ms: number, count: number) => { isCertain: boolean, at: object | null, point: object | null }}
 */
function prepare(element, ms, count) {
  if (element instanceof HTMLAreaElement) {
    const image = imageOf(element);
    return { isCertain: false, at: image && findAreaPoint(element, image), point: null };
  }
  const at = findOwnPoint(element);
  const box = findDoubt(element) ? null : pressedBox(element);
  if (!box) return { isCertain: false, at, point: null };
  watched?.end();
  watched = new Press(element, ms, count);
  return { isCertain: true, at, point: at ? null : centerOf(box) };
}

// ---- replies ----

/** @type {(value: unknown) => HTMLElement} */
function reply(value) {
  const element = Document.prototype.createElement.call(document, "i");
  element.setAttribute("v", JSON.stringify(value));
  return element;
}

/** @returns {Outcome | null} */
function finish() {
  const found = watched?.outcome() ?? null;
  watched?.end();
  return found;
}

/** @type {any} */ (globalThis)[Symbol.for("footlight.outcome")] = () => JSON.stringify(finish());

/** @type {any} */ (globalThis)[Symbol.for("footlight.isButtonHeld")] = () =>
  watched instanceof Press && watched.isHeld;

// The record of the effects uses this.
/** @type {any} */ (globalThis)[Symbol.for("footlight.isLaterPress")] = () =>
  watched instanceof Press && watched.clicks > 0;

// The same as `ready`, for a selector of `footlight.find`. Return null if that does not find it.
/** @type {any} */ (globalThis)[Symbol.for("footlight.ready")] = (
  /** @type {string} */ selector,
  /** @type {number} */ ms,
  /** @type {number} */ count,
) => {
  const element = /** @type {any} */ (globalThis)[Symbol.for("footlight.find")]?.(selector);
  return element ? prepare(element, ms, count) : null;
};

/** @type {(root: Element, body: string) => Element[]} */
export function queryAll(root, body) {
  if (body === "outcome") return [reply(finish())];
  if (body === "begun") return [reply(watched !== null && watched.state !== "waiting")];
  const [kind, ms, count] = body.split("-");
  if (kind === "ready") return [reply(prepare(root, Number(ms), Number(count)))];
  if (kind === "drop" || kind === "drag") {
    watched?.end();
    watched = new (kind === "drop" ? Drop : Drag)(root, Number(ms));
    return [root];
  }
  const element = pressTarget(root);
  if (kind === "target") return [element];
  watched?.end();
  watched = new Press(element, Number(ms), Number(count));
  return [(element instanceof HTMLAreaElement && imageOf(element)) || element];
}
