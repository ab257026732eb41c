// Determines whether a document has settled. A selector engine of Playwright in an isolated world: the page can neither
// read it nor change its clock and frames. Only named fields still shadow members (`<img name=getAnimations>`).
//
// The body `begin` begins a watch, `go-on` asks again, and `record` asks only for the record of effects.js. The reply
// is a new element. Its attribute `v` has the milliseconds after which to ask again, or 0 when the document has
// settled: two frames were drawn without a change to the document or its open shadow trees, and no animation ends
// within the remaining time.
//
// A settled document is observed until its first change. Until then, an action has had no visible effect, and one frame
// after its events is enough. One frame is also enough after a change if nothing can follow it: see `Watch.mayBeLast`.
// No frame is necessary after a text was inserted if nothing can follow: see `rest.mayEnd`.

import { getter } from "../driver/getter.js";
import { afterEvent, countCallbacks, FRAME_MS, isIdle, pause, requestFrame, sleep, startTimer } from "./callbacks.js";
import { takeDisabled, takeLateWork } from "./late_work.js";
import {
  continueRecord,
  hasChanged,
  hasOnlyTicked,
  hasScrolled,
  isIdleClick,
  reportedRecord,
} from "./scripts/effects/effects.js";

const REST_MS = 500; // How long to wait until the document settles, which some pages never do.
const RESTLESS_MS = 100; // How long to wait for a page that did not settle the last time.
const NO_FRAME_MS = 25; // Pages in the background draw no frames, and pages that are out of view only a few.
const LONG_FRAME_MS = 50; // The maximum that one frame counts: a script that computes for long draws none.
const MIN_WAIT_MS = 3;
const SCROLL_MS = 60; // How long after an action a document may begin to scroll smoothly.
const LOOK_MS = 10; // How often a settled document is checked for its next change.
const FRAMES = 2;
const PROMISE_MS = 8; // How long promises of the browser, such as those of a database, are usually pending.
const INSERTION_MS = 4; // How long they may be pending after an inserted text, which few pages react to with them.
export const EVERYTHING = { subtree: true, childList: true, attributes: true, characterData: true };
const INPUT_EVENTS = [
  ...["pointerdown", "mousedown", "pointerup", "mouseup", "click"],
  ...["keydown", "keyup", "input", "change", "submit", "drop"],
];
const MOVING_EVENTS = ["scroll", "resize", "load", "animationstart", "transitionrun", "toggle"];

export const shadowOf = getter(Element, "shadowRoot");
const stateOf = getter(Document, "readyState");
const hasTransitions = "activeViewTransition" in Document.prototype;
const transitionOf = hasTransitions
  ? getter(/** @type {{ prototype: any }} */ (Document), "activeViewTransition")
  : () => true; // Unknown in older browsers.
const { createElement, createTreeWalker, getAnimations, querySelector } = Document.prototype;

/** @type {Watch | null} */
let watch = null;
let restless = false;

// Scripts also move elements by style rules, and images by their size. Only Chromium reports such shifts.
const shifts = new PerformanceObserver((list) => noteShifts(list.getEntries()));
if (PerformanceObserver.supportedEntryTypes.includes("layout-shift")) shifts.observe({ type: "layout-shift" });

let lastShift = 0;

/** @type {(entries: PerformanceEntryList) => void} */
function noteShifts(entries) {
  for (const each of entries) lastShift = Math.max(lastShift, each.startTime);
}

// The state of the document since it settled.
const rest = {
  /** @type {MutationObserver | null} observes the document while it is settled */
  observer: null,
  /** @type {(Document | ShadowRoot)[]} */
  roots: [],
  touched: 0, // When the last input event was dispatched.
  answered: 0, // When the last wait ended, settled or not.
  drawn: true, // Whether a frame has been drawn since the last input event.
  inserts: false, // Whether the action inserts a text, and nothing but values has changed so far.

  began: 0,
  /** @type {number | null} the number of callbacks (`countCallbacks`) when the action began, if that is known */
  callbacks: null,
  callbacksAtQuiet: 0, // The same number at the first frame without a change.
  callbacksAtPress: 0, // The same number at the last press of the mouse or of a key.
  isLooping: false, // Whether scripts have requested callbacks between that frame and that press.
  hasRequested: false, // Whether scripts have requested one while they handled an event since that press.

  /** @type {(observer: MutationObserver, roots: (Document | ShadowRoot)[]) => void} */
  begin(observer, roots) {
    this.end();
    this.observer = observer;
    this.roots = roots;
    this.began = performance.now();
  },

  /** @returns {void} */
  end() {
    this.observer?.disconnect();
    this.observer = null;
  },

  /**
   * Return whether nothing has changed since the document settled, and no animation is running.
   *
   * @returns {boolean}
   */
  holds() {
    noteShifts(shifts.takeRecords());
    if (this.observer?.takeRecords().length || lastShift > this.began) this.end();
    return this.observer !== null && !animationsIn(this.roots).some((each) => each.playState === "running");
  },

  /**
   * Record an input event, and when the first frame after it is drawn. The page's own callbacks for the next frame run
   * after this one and before the timer.
   *
   * @type {(type?: string) => void}
   */
  touch(type = "") {
    const at = performance.now();
    const count = countCallbacks();
    this.callbacks ??= count;
    if (type === "pointerdown" || type === "keydown") {
      this.callbacksAtPress = count;
      this.isLooping = count !== this.callbacksAtQuiet;
      this.hasRequested = false;
    }
    if (this.isLooping && type) {
      afterEvent(type, () => {
        this.hasRequested ||= countCallbacks() !== count;
      });
    }
    this.inserts &&= type === "input" || type === "change";
    this.touched = at;
    this.drawn = false;
    watch?.restart();
    requestFrame(() =>
      startTimer(() => {
        this.drawn ||= this.touched === at;
      }),
    );
  },

  /**
   * Return whether a script has probably requested a callback because of the last press. A loop of callbacks that ran
   * before it is no reason: then only those count that were requested while the events were handled.
   *
   * @returns {boolean}
   */
  isCallbackExpected() {
    return this.isLooping ? this.hasRequested : this.callbacksAtPress !== countCallbacks();
  },

  /**
   * Return how long to wait for the first frame after an action that has changed nothing so far.
   *
   * @returns {number}
   */
  wait() {
    const passed = performance.now() - this.touched;
    if (!this.drawn && passed <= NO_FRAME_MS) return Math.max(MIN_WAIT_MS, FRAME_MS + 1 - passed);
    this.answer();
    return 0;
  },

  /**
   * Return whether the action has inserted a text, and the page may be unable to change after it: nothing has changed,
   * and its scripts have requested no callback since the action began. Tasks that wait already are not counted.
   *
   * @returns {boolean}
   */
  mayEnd() {
    return this.inserts && this.holds() && this.callbacks === countCallbacks();
  },

  /** @returns {void} */
  answer() {
    this.answered = performance.now();
    this.callbacks = null;
    this.inserts = false;
  },
};

for (const type of INPUT_EVENTS) addEventListener(type, () => rest.touch(type), { capture: true, passive: true });
addEventListener("load", ({ target }) => target === document && watch?.restart(), { capture: true, passive: true });
for (const type of MOVING_EVENTS) addEventListener(type, () => rest.end(), { capture: true, passive: true });

// The press check in the same world uses this. Names of the page cannot shadow a symbol.
/** @type {any} */ (globalThis)[Symbol.for("footlight.isAtRest")] = () => {
  rest.callbacks = countCallbacks();
  return rest.holds();
};

export const isCallbackExpected = () => rest.isCallbackExpected();

// What selects a field for an insertion calls this with true before, and with false if that has scrolled the page.
/** @type {any} */ (globalThis)[Symbol.for("footlight.insertion")] = (/** @type {boolean} */ begins) => {
  rest.callbacks = countCallbacks();
  rest.inserts = begins;
};

// Return the element of a ref, or the first match of a CSS selector outside shadow trees, which Playwright prefers too.
/** @type {any} */ (globalThis)[Symbol.for("footlight.find")] = (/** @type {string} */ selector) => {
  const snapshots = /** @type {any} */ (globalThis)[Symbol.for("footlight.snapshot.engine")];
  return /^e\d+$/.test(selector) ? snapshots?.query(document, selector) : querySelector.call(document, selector);
};

/** @type {(roots: (Document | ShadowRoot)[]) => Animation[]} */
function animationsIn(roots) {
  return roots.flatMap((root) => (root === document ? getAnimations.call(root) : root.getAnimations()));
}

/** @returns {number} the milliseconds that a document has to settle */
function limit() {
  return restless ? RESTLESS_MS : REST_MS;
}

class Watch {
  /**
   * @param {Document} root
   * @param {boolean} isAsked whether the server waits, or will ask later
   * @param {number | null} callbacks the number of callbacks when the action began, if the document was settled then
   */
  constructor(root, isAsked, callbacks = null) {
    this.document = root;
    /** @type {Set<Document | ShadowRoot>} */
    this.roots = new Set();
    this.frame = performance.now();
    this.left = limit();
    this.drawn = false;
    this.changed = false;
    this.isAsked = isAsked;
    this.callbacks = callbacks;
    this.changedAt = this.frame;
    this.isLast = false; // Nothing can follow the last change.
    this.quiet = 0;
    this.quietSince = this.frame;
    this.request = 0; // The request for the next frame.
    this.late = 0; // The timer for a frame that does not arrive.
    this.observer = new MutationObserver((records) => this.note(records));
    this.observe(root);
    this.nextFrame();
  }

  /** @type {(root: Document | ShadowRoot) => void} */
  observe(root) {
    this.roots.add(root);
    this.observer.observe(root, EVERYTHING);
    this.enter(root);
  }

  /**
   * Observe the open shadow trees in a node. An observer of a document receives no changes of its shadow trees.
   *
   * @type {(node: Node) => void}
   */
  enter(node) {
    const walker = createTreeWalker.call(this.document, node, NodeFilter.SHOW_ELEMENT);
    for (let each = /** @type {Node | null} */ (walker.currentNode); each; each = walker.nextNode()) {
      const shadow = each.nodeType === Node.ELEMENT_NODE && shadowOf.call(/** @type {Element} */ (each));
      if (shadow) this.observe(shadow);
    }
  }

  /** @type {(records: MutationRecord[]) => void} */
  note(records) {
    if (rest.observer === this.observer) {
      rest.end();
      // Frames that are drawn before the server asks already count.
      watch ||= new Watch(this.document, false, rest.callbacks);
      return;
    }
    this.changed = true;
    this.changedAt = performance.now();
    for (const record of records)
      for (const node of record.addedNodes) if (node.nodeType === Node.ELEMENT_NODE) this.enter(node);
  }

  /**
   * Count frames from now on, because an effect may have begun.
   *
   * @returns {void}
   */
  restart() {
    this.quiet = 0;
    this.changedAt = performance.now();
  }

  /**
   * Continue for the server, which asks about an action from now on.
   *
   * @returns {void}
   */
  serve() {
    if (!this.isAsked) this.left = limit();
    this.isAsked = true;
  }

  /** @returns {void} */
  nextFrame() {
    this.request = requestFrame(() => this.onFrame());
    this.late = startTimer(() => this.onFrame(), NO_FRAME_MS);
  }

  /** @returns {void} */
  forgetFrame() {
    cancelAnimationFrame(this.request);
    clearTimeout(this.late);
  }

  /** @returns {void} */
  onFrame() {
    this.forgetFrame();
    const now = performance.now();
    this.left -= Math.min(now - this.frame, LONG_FRAME_MS);
    if (this.left < -REST_MS) {
      this.end(); // No request has arrived for a long time.
      return;
    }
    this.frame = now;
    this.drawn = true;
    this.quiet = this.changed || stateOf.call(this.document) === "loading" ? 0 : this.quiet + 1;
    if (this.quiet === 1) {
      this.quietSince = now;
      rest.callbacksAtQuiet = countCallbacks();
    }
    this.changed = false;
    this.nextFrame();
  }

  /**
   * Return how long to wait before the next request; 0 if the wait is over.
   *
   * @returns {number}
   */
  wait() {
    const missing = this.isLast ? 0 : this.drawn ? FRAMES - this.quiet : 1;
    if (missing > 0) {
      const next = this.frame + missing * FRAME_MS + 1 - performance.now();
      return this.left > 0 ? Math.max(MIN_WAIT_MS, next) : this.end(true);
    }
    const animated = this.longestAnimation();
    if (animated > 0) return animated + FRAMES * FRAME_MS;
    this.end();
    noteShifts(shifts.takeRecords());
    if (lastShift > this.quietSince) return 0;
    rest.begin(this.observer, [...this.roots]);
    for (const root of this.roots) this.observer.observe(root, EVERYTHING);
    return 0;
  }

  /**
   * Return whether the page may be unable to change after the change that it has drawn: since the action began its
   * scripts have requested no frame, timer or idle moment. Tasks that wait already are not counted.
   *
   * @returns {boolean}
   */
  mayBeLast() {
    const records = this.observer.takeRecords();
    if (records.length) this.note(records);
    const isDrawn = this.quiet > 0 && !this.changed && stateOf.call(this.document) === "complete";
    return isDrawn && !transitionOf.call(document) && this.callbacks === countCallbacks();
  }

  /**
   * Return the milliseconds until the end of the last animation that ends within the remaining time. Endless
   * animations, and those that follow the scroll position, are not waited for.
   *
   * @returns {number}
   */
  longestAnimation() {
    let longest = 0;
    for (const animation of animationsIn([...this.roots])) {
      const { currentTime, effect, playbackRate, playState, timeline } = animation;
      if (playState !== "running" || !effect || !(timeline instanceof DocumentTimeline)) continue;
      // In the timeline of a document, times are numbers of milliseconds.
      const elapsed = Number(currentTime);
      const remaining = playbackRate > 0 ? Number(effect.getComputedTiming().endTime) - elapsed : elapsed;
      const time = remaining / Math.abs(playbackRate);
      if (time > longest && time <= this.left) longest = time;
    }
    return longest;
  }

  /** @type {(unresting?: boolean) => number} */
  end(unresting = false) {
    restless = unresting;
    rest.answer();
    this.forgetFrame();
    this.observer.disconnect();
    watch = null;
    return 0;
  }
}

/** @type {(body: string) => number} */
function ask(body) {
  if (rest.holds()) {
    if (body === "begin" && rest.touched <= rest.answered) rest.touch(); // The action began without an input event.
    return rest.wait();
  }
  if (body === "begin" && (watch?.isAsked || rest.touched <= rest.answered)) watch?.end(restless);
  watch ||= new Watch(document, true);
  watch.serve();
  return watch.wait();
}

/**
 * Wait until no task of a page is left, if its last change may be final. Return whether it is.
 *
 * @returns {Promise<boolean>}
 */
async function endsEarly() {
  if (rest.observer && rest.mayEnd()) {
    const left = rest.touched + INSERTION_MS - performance.now();
    if (left > 0) await sleep(left);
    const isOver = (await isIdle()) && rest.mayEnd();
    rest.drawn ||= isOver;
    return isOver;
  }
  const watched = watch;
  if (watched) watched.isLast = false;
  if (!watched?.mayBeLast()) return false;
  await sleep(watched.changedAt + PROMISE_MS - performance.now());
  watched.isLast = (await isIdle()) && watch === watched && watched.mayBeLast();
  return watched.isLast;
}

// The server calls this with a CDP message. It waits until the document settles, and returns the record and the kind of
// late work. `isAlone`: only the scripts of this document can change it. `request`: what to ask the snapshot script then.
/** @type {any} */ (globalThis)[Symbol.for("footlight.settle")] = async (
  /** @type {boolean} */ isWatched,
  /** @type {boolean} */ isAlone,
  /** @type {string | null} */ request,
) => {
  let wait = ask(isWatched ? "go-on" : "begin");
  while (wait > 0) {
    if (!(isAlone && (await endsEarly()))) await pause(wait, (watch ?? rest).callbacks !== countCallbacks());
    wait = ask("go-on");
  }
  const record = reportedRecord();
  const isOver = !isIdleClick() && !takeDisabled();
  const late = takeLateWork() ?? (!isOver && rest.isCallbackExpected() ? "timer" : null);
  const look = request && /** @type {any} */ (globalThis)[Symbol.for("footlight.look")]?.(request);
  if (late === "timer" && isIdleClick()) continueRecord();
  return { record, late, look };
};

// Begin to watch a new document as soon as it is parsed: no frame counts before. Its scripts have not run yet.
/** @type {any} */ (globalThis)[Symbol.for("footlight.watchNew")] = () => {
  const callbacks = countCallbacks();
  const begin = () => (watch ||= new Watch(document, false, callbacks));
  addEventListener("DOMContentLoaded", begin, { capture: true, once: true, passive: true });
};

// Begin to watch a new document while it loads.
/** @type {any} */ (globalThis)[Symbol.for("footlight.watch")] = () => ask("begin");

// Wait until a document changes, at most this long. Of one that changes all the time, the effects of the action count.
/** @type {any} */ (globalThis)[Symbol.for("footlight.change")] = async (/** @type {number} */ ms) => {
  const isAtRest = rest.holds();
  const goesOn = () => (isAtRest && rest.holds()) || (isAtRest ? hasOnlyTicked() : !hasChanged());
  for (const end = performance.now() + ms; goesOn() && performance.now() < end; ) await pause(LOOK_MS);
};

// Return whether the document has scrolled after an action that seemed to have no effect.
/** @type {any} */ (globalThis)[Symbol.for("footlight.hasScrolled")] = async () => {
  for (const end = rest.answered + SCROLL_MS; !hasScrolled() && performance.now() < end; ) await pause(LOOK_MS);
  return hasScrolled();
};

/**
 * Answer a request. After another engine's reply, which is an element too, the attribute continues with that reply:
 * `17 {"state": "arrived"}`. If the document has settled, it continues with the record of the last action.
 *
 * @type {(root: Document | Element, body: string) => Element[]}
 */
export function queryAll(root, body) {
  const isAfter = root.nodeType === Node.ELEMENT_NODE;
  const first = isAfter ? " " + /** @type {Element} */ (root).getAttribute("v") : "";
  const wait = body === "record" ? 0 : ask(body);
  const reply = createElement.call(document, "i");
  reply.setAttribute("v", wait + (isAfter || wait ? first : reportedRecord()));
  return [reply];
}
