// Record the focus while Tab is pressed, from the top of the page. The collector calls `look`, `settle`, `resume` and `end`;
// the listener for keydown also calls `look`, so that several presses need no call in between.

import { allElements, describeAll, documentBody, documentRoot, isVisible, own, selectorOf } from "./dom.js";
import { documentedExit, revealedExit } from "./focus_exits.js";
import { around, isTransparent, lookOf } from "./focus_looks.js";
import { kindOf, nameOf } from "./focus_names.js";
import { backwards, firstInMain, stopsBeforeMain, stopsIn } from "./focus_order.js";
import { hasSeveralParts, isTabbable, outcomeInside, tabbable } from "./focus_parts.js";
import { coverOf, hiddenBy } from "./focus_sight.js";

/**
 * An element to which Tab moved the focus.
 *
 * @typedef {object} Stop
 * @property {AnyElement} element
 * @property {number} stays how often Tab did not leave it
 * @property {boolean} isShown
 * @property {string | null} hidden why nobody can see it
 * @property {AnyElement | null} cover
 * @property {import("./focus_order.js").Edges} box
 */

const KEY = Symbol.for("footlight.focus");
const MAX_STOPS = 80;
const MAX_BASES = 150;
const DRAWN_INSIDE = "canvas, area, [aria-activedescendant], input:is([type=range], [type=file], [type=color])";
const MODAL = "dialog:modal, [aria-modal=true], [role=dialog], [role=alertdialog]";
const quiet = new CSSStyleSheet();
quiet.replaceSync("*, ::before, ::after { transition: none !important; scroll-behavior: auto !important; }");
const roots = [
  document,
  ...allElements()
    .map((each) => own.shadowRoot(each))
    .filter((root) => root !== null),
];
for (const root of roots) root.adoptedStyleSheets = [...root.adoptedStyleSheets, quiet];

const QUIET_MS = 120;
const MAX_SETTLE_MS = 1000;
const MODAL_INSIDE = "iframe, object, embed, audio, video, area";
const stops = /** @type {Stop[]} */ ([]),
  lost = /** @type {AnyElement[]} */ ([]),
  listening = new AbortController();
let heard = 0,
  isInKeyTask = false,
  key = /** @type {Event | null} */ (null),
  isMovedByScript = false,
  isRestless = false,
  lastFocus = 0,
  timerDue = 0,
  pending = false,
  done = /** @type {string | null} */ (null),
  focused = /** @type {AnyElement | null} */ (null),
  again = 0,
  blanks = 0;

// A timer that the page sets because of a key may move the focus later.
const pagesTimeout = window.setTimeout;
/** @type {any} */ (window).setTimeout = (/** @type {any} */ handler, delay = 0, /** @type {any[]} */ ...rest) => {
  if (isInKeyTask && delay < MAX_SETTLE_MS) timerDue = Math.max(timerDue, performance.now() + Number(delay));
  return pagesTimeout.call(window, handler, delay, ...rest);
};
const watchingTimeout = window.setTimeout;
// A page may move the focus to where a key has just brought it: no event says so, and another time it moves it elsewhere.
const unwatchFocus = [HTMLElement.prototype, SVGElement.prototype].map(watchFocus);
// A message comes right after the task of the key. A timer could come after one that the page has set earlier.
const afterKeyTask = new MessageChannel();
afterKeyTask.port1.onmessage = endKeyTask;
startAbove();
/** @type {Map<Element, string>} */
const bases = new Map();
for (const each of tabbable.slice(0, MAX_BASES)) {
  for (const near of around(each)) bases.has(near) || bases.set(near, lookOf(near));
}
addEventListener(
  "focus",
  (event) => {
    const target = event.composedPath()[0];
    if (target instanceof Element) {
      // The key moves the focus in the task of its event. A later change is made by the page.
      if (heard && !isInKeyTask) isRestless = true;
      // Chromium says which device moved the focus, and null where a script did.
      isMovedByScript ||= /** @type {any} */ (event).sourceCapabilities === null;
      lastFocus = performance.now();
      focused = target;
      pending = true;
    }
  },
  { capture: true, signal: listening.signal },
);
// The focus moves into a frame: this document does not receive the frame's key events.
addEventListener("blur", (event) => event.target === window && setTimeout(() => pending && active() && look()), {
  signal: listening.signal,
});
addEventListener(
  "keydown",
  (event) => {
    if (event.key !== "Tab") return;
    endKeyTask(); // The message about the last key comes after this one where the page is busy.
    heard++;
    isInKeyTask = true;
    isMovedByScript = false;
    key = event;
    afterKeyTask.port2.postMessage(null);
    if (pending) look();
    pending = true;
  },
  { capture: true, signal: listening.signal },
);
/** @type {any} */ (window)[KEY] = {
  look: (/** @type {boolean} */ force) => {
    if (pending || force) look();
    return { done, heard, isRestless };
  },
  settle,
  exit: async () =>
    documentedExit() ??
    (await revealedExit(
      stops.map((each) => each.element),
      settle,
    )),
  resume: () => {
    const before = stops.length;
    done = null;
    again = 0;
    look();
    done = stops.length > before ? null : (done ?? "trap");
    return { done, heard };
  },
  end,
};

/**
 * Note each call of `focus` by the page, until the function that this returns is called.
 *
 * @type {(prototype: HTMLOrSVGElement) => () => void}
 */
function watchFocus(prototype) {
  const pagesFocus = prototype.focus;
  /** @type {(this: HTMLOrSVGElement, options?: FocusOptions) => void} */
  const watchingFocus = function (options) {
    if (isInKeyTask) isMovedByScript = true;
    else if (heard) isRestless = true;
    pagesFocus.call(this, options);
  };
  prototype.focus = watchingFocus;
  return () => {
    if (prototype.focus === watchingFocus) prototype.focus = pagesFocus;
  };
}

/**
 * Note what came after the task of the last key.
 *
 * @returns {void}
 */
function endKeyTask() {
  // A timer of the page may come between the key and this, and moves the focus by a script. So does a page that
  // handles the key itself, which then prevents what the browser would do.
  if (isInKeyTask && isMovedByScript && !key?.defaultPrevented) isRestless = true;
  isInKeyTask = false;
}

/**
 * Wait until the page has stopped moving the focus, then look.
 *
 * @returns {Promise<{ done: string | null, heard: number, isRestless: boolean }>}
 */
async function settle() {
  const until = performance.now() + MAX_SETTLE_MS;
  /** @type {(ms: number) => Promise<unknown>} */
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  await wait(QUIET_MS);
  /** @returns {boolean} */
  const isAtRest = () => performance.now() - lastFocus >= QUIET_MS && performance.now() > timerDue + QUIET_MS / 4;
  while (performance.now() < until && !isAtRest()) await wait(QUIET_MS / 4);
  look();
  return { done, heard, isRestless };
}

/**
 * Return the elements that Tab should have reached and did not.
 *
 * @returns {AnyElement[]}
 */
function missedElements() {
  return tabbable.filter(
    (each) =>
      own.isConnected(each) &&
      isVisible(each) &&
      isTabbable(each) &&
      each.type !== "radio" &&
      !own.matches(each, MODAL_INSIDE) &&
      !lost.includes(each) &&
      !stops.some((stop) => stop.element === each),
  );
}

/** @returns {Record<string, any>} */
export function answer() {
  return { tabbable: tabbable.length };
}

/**
 * Let Tab start at the top of the page: it continues from the place of a removed element. In a modal dialog it
 * continues from the dialog.
 *
 * @returns {void}
 */
function startAbove() {
  // In a document that is not HTML, `createElement` makes no element of HTML.
  const above = /** @type {HTMLElement} */ (own.createElementNS(document, "http://www.w3.org/1999/xhtml", "div"));
  above.tabIndex = -1;
  documentBody()?.prepend(above);
  above.focus({ preventScroll: true });
  above.remove();
  active()?.blur();
  scrollTo(0, 0);
}

/** @returns {HTMLElement | null} */
function active() {
  let element = own.activeElement(document);
  for (let inner = element; inner; inner = own.shadowRoot(inner)?.activeElement ?? null) element = inner;
  return element === documentBody() || element === documentRoot() ? null : /** @type {HTMLElement} */ (element);
}

/** @returns {void} */
function look() {
  const element = active(),
    reached = focused,
    last = stops.at(-1);
  pending = false;
  focused = null;
  if (done) return;
  // A browser takes the focus from an element that was disabled only when it shows the next frame.
  if (!element || own.matches(element, ":disabled")) return noteNoFocus(element ?? reached, last);
  if (element === last?.element) return noteStay(last);
  const known = stops.findIndex((each) => each.element === element);
  if (known < 0) {
    stops.push(stopOf(element));
    again = 0;
    done = stops.length === MAX_STOPS ? "many" : null;
  } else if (
    (known === 0 && (blanks || !missedElements().length)) ||
    stops.slice(known).every((each) => own.closest(each.element, MODAL))
  ) {
    done = "end";
  } else if (++again > stops.length - known) {
    done = "trap";
  }
}

/** @type {(reached: AnyElement | null, last: Stop | undefined) => void} */
function noteNoFocus(reached, last) {
  if (reached && reached !== last?.element) lost.push(reached);
  else if (++blanks > 1) done = stops.length ? "end" : "none";
}

/** @type {(stop: Stop) => void} */
function noteStay(stop) {
  stop.stays++;
  if (hasSeveralParts(stop.element)) done = outcomeInside(stop.element, stop.stays);
  else if (stop.stays > 2) done = own.closest(stop.element, MODAL) ? "end" : "trap";
}

/** @type {(element: AnyElement) => Stop} */
function stopOf(element) {
  const box = own.getBoundingClientRect(element);
  return {
    element,
    stays: 0,
    isShown:
      !isSure(element) || [...around(element)].some((near) => bases.has(near) && bases.get(near) !== lookOf(near)),
    hidden: own.matches(element, "input, select, textarea, iframe, area") ? null : hiddenBy(element),
    cover: own.localName(element) === "area" ? null : coverOf(element),
    box: { x: box.x + scrollX, y: box.y + scrollY, right: box.right + scrollX, bottom: box.bottom + scrollY },
  };
}

/**
 * Return whether the looks of the element can show that it has the focus. In a text field the caret shows it.
 *
 * @type {(element: AnyElement) => boolean}
 */
function isSure(element) {
  const types = ["checkbox", "radio", "submit", "button", "reset", "image"];
  const isText =
    own.isContentEditable(element) ||
    own.matches(element, "textarea") ||
    (own.matches(element, "input") && !types.includes(element.type ?? ""));
  if (isText && !isTransparent(getComputedStyle(element).caretColor)) return false;
  return bases.has(element) && !hasSeveralParts(element) && !own.matches(element, DRAWN_INSIDE);
}

/** @returns {Record<string, any>} */
function end() {
  listening.abort();
  if (window.setTimeout === watchingTimeout) window.setTimeout = pagesTimeout;
  for (const unwatch of unwatchFocus) unwatch();
  afterKeyTask.port1.close();
  delete (/** @type {any} */ (window)[KEY]);
  for (const root of roots) root.adoptedStyleSheets = root.adoptedStyleSheets.filter((each) => each !== quiet);
  /** @type {(test: (stop: Stop) => unknown) => AnyElement[]} */
  const elements = (test) => stops.filter(test).map((each) => each.element);
  /** @type {(element: AnyElement) => Stop | undefined} */
  const stopAt = (element) => stops.find((each) => each.element === element);
  /** @type {(element: AnyElement) => string} */
  const coverAt = (element) => {
    const cover = stopAt(element)?.cover;
    return cover ? selectorOf(cover) : "another element";
  };
  const missed = missedElements();
  const trap = done === "trap" ? [active() ?? stops.at(-1)?.element].filter((each) => each !== undefined) : [];
  return {
    done,
    stops: stops.map((each) => ({ kind: kindOf(each.element), name: nameOf(each.element) })),
    missed: missed.length,
    exit: trap.length ? documentedExit() : null,
    trap: describeAll(trap, () => `Tab and Escape do not leave it; not reached: ${missed.length}`),
    "not-visible": describeAll(
      elements((each) => !each.isShown && !each.hidden),
      () => "looks the same with the focus as without",
    ),
    "no-tab": describeAll(done === "none" && heard > 1 ? missed : [], () => "did not get the focus"),
    inside: describeAll(
      done === "inside" ? [active() ?? documentBody()].filter((each) => each !== null) : [],
      () => `had the focus for all of the last ${stops.at(-1)?.stays} presses`,
    ),
    hidden: describeAll(
      elements((each) => each.hidden),
      (each) => `has the focus, but ${stopAt(each)?.hidden}`,
    ),
    covered: describeAll(
      elements((each) => !each.hidden && each.cover),
      (each) => `has the focus behind ${coverAt(each)}`,
    ),
    lost: describeAll(
      lost.filter((each) => own.isConnected(each)),
      () => "had the focus when Tab was pressed, and then nothing had it",
    ),
    order: describeAll(
      backwards(stops),
      (each) => `its ${stopsIn(stops, each).length} parts come in the order opposite to that on the screen`,
    ),
    "no-skip-link": describeAll(stopsBeforeMain(stops), () => `${firstInMain(stops)} stops before the main part`),
  };
}
