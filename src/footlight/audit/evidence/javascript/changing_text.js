// Watch for text that changes by itself: `watchText` begins, and `changingText` ends and returns what went on changing.

import { hasControl } from "./controls.js";
import { allElements, documentBody, isVisible, oneLine, own, textOf } from "./dom.js";

/**
 * What is known of a text: the texts before and now, and when it first and last changed.
 *
 * @typedef {{ text: string, before: string, first: number, last: number, count: number, isCountdown: boolean }} Change
 */

/** @typedef {{ began: number, changes: Map<Element, Change>, stop: () => void }} Watch */

const WATCH = Symbol.for("footlight.text");
/** A text that changes for longer than this does not only appear step by step. */
const GOES_ON_MS = 4500;
/** How long to wait for a first change where a script has set a timer, and for another one after a first. */
const FIRST_MS = 3000;
const NEXT_MS = 7500;
const MAX_WATCHED = 100;
const MAX_LENGTH = 500;
const MIN_OTHER_TEXT = 20;
const MAX_SCRIPTS = 8;
const MAX_SCRIPT = 300_000;
const SCRIPT_MS = 1000;
const TIMER = /\bsetInterval\s*\(/;
/** Parts whose text has to change: clocks, progress and conversations. */
const MUST_CHANGE =
  "[role=timer], [role=progressbar], [role=log], [aria-busy=true], progress, meter, time, textarea, [contenteditable], [class*=countdown i], [id*=countdown i], [class*=clock i], [id*=clock i]";
const CLOCK = /^\D{0,20}\d{1,2}\s?[:.]\s?\d\d(\s?[:.]\s?\d\d)?(\s?[ap]\.?m\.?)?\D{0,20}$/i;
const CONTROL_OF_CHANGES =
  /paus|stop|freeze|hide|halt|frequen|interval|\b(changes|changing|updates|updating|ticker|rotation|animation)\b|anhalt|ausblend|aktualisier|arrêt|masquer|parar|detener|ocultar|fermare|nascond/i;
const CONTROLS = "button, a[href], [role=button], [role=switch], input, select, summary";

/**
 * Begin to watch, unless the watch has begun already.
 *
 * @returns {Watch}
 */
export function watchText() {
  const known = /** @type {any} */ (window)[WATCH];
  if (known) return known;
  /** @type {Map<Element, Change>} */
  const changes = new Map();
  let isOver = false;
  const observer = new MutationObserver((records) => {
    for (const each of new Set(records.map(elementOf))) if (each && !isOver) noteChange(changes, each);
  });
  const watched = { childList: true, characterData: true, subtree: true };
  observer.observe(document, watched);
  for (const each of allElements())
    if (own.shadowRoot(each)) observer.observe(own.shadowRoot(each) ?? document, watched);
  const watch = {
    began: performance.now(),
    changes,
    stop: () => {
      isOver = true;
      observer.disconnect();
      delete (/** @type {any} */ (window)[WATCH]);
    },
  };
  Object.defineProperty(window, WATCH, { value: watch, configurable: true });
  return watch;
}

/** @type {(record: MutationRecord) => Element | null} */
const elementOf = ({ target }) => (target instanceof Element ? target : own.parentElement(target));

/** @type {(changes: Map<Element, Change>, element: Element) => void} */
function noteChange(changes, element) {
  const text = oneLine(own.textContent(element), MAX_LENGTH);
  const known = changes.get(element);
  if (!known) {
    if (changes.size < MAX_WATCHED)
      changes.set(element, { text, before: text, first: performance.now(), last: 0, count: 0, isCountdown: true });
  } else if (text && known.text && text !== known.text) {
    known.isCountdown &&= isNextOfCountdown(known.text, text);
    Object.assign(known, { before: known.text, text, last: performance.now(), count: known.count + 1 });
  } else if (text) known.text = text;
}

/** @type {(before: string, after: string) => boolean} */
const isNextOfCountdown = (before, after) =>
  /^\d+$/.test(before) && /^\d+$/.test(after) && (Number(before) === Number(after) + 1 || Number(before) === 0);

/**
 * End the watch, and return the visible texts that went on changing for seconds beside other content, if no control
 * seems to stop them. Wait for changes only where some were seen or a script has set a timer.
 *
 * @returns {Promise<AnyElement[]>}
 */
export async function changingText() {
  const { began, changes, stop } = watchText();
  const isLate = () => [...changes.values()].some((each) => each.last - each.first > GOES_ON_MS);
  if (!changes.size && (await hasTimer())) await until(began + FIRST_MS, () => changes.size > 0);
  const first = [...changes.entries()]
    .filter(isSuspect)
    .reduce((least, [, each]) => Math.min(least, each.first), Infinity);
  if (Number.isFinite(first)) await until(first + NEXT_MS, isLate);
  stop();
  const found = [...changes.entries()]
    .filter((each) => isSuspect(each) && each[1].last - each[1].first > GOES_ON_MS && each[1].count > 1)
    .filter(([, { isCountdown }]) => !isCountdown)
    .map(([element]) => element);
  notes.clear();
  for (const each of found) notes.set(each, noteOf(changes.get(each)));
  return found.length && !hasControl(CONTROLS, CONTROL_OF_CHANGES) ? found : [];
}

/** @type {Map<Element, string>} */
const notes = new Map();
/** @type {(element: Element) => string} */
export const noteOfChange = (element) => notes.get(element) ?? "";
/** @type {(change: Change | undefined) => string} */
const noteOf = (change) =>
  change ? `changed by itself, the last time from “${oneLine(change.before)}” to “${oneLine(change.text)}”` : "";

/** @type {(entry: [Element, Change]) => boolean} */
function isSuspect([element, { text }]) {
  const all = textOf(documentBody() ?? element, 10_000).length;
  return (
    own.isConnected(element) &&
    isVisible(element) &&
    text.length < MAX_LENGTH &&
    all - text.length > MIN_OTHER_TEXT &&
    !CLOCK.test(text) &&
    !own.closest(element, MUST_CHANGE)
  );
}

/** @type {(time: number, test: () => boolean) => Promise<void>} */
async function until(time, test) {
  while (performance.now() < time && !test()) await new Promise((resolve) => setTimeout(resolve, 50));
}

/**
 * Return whether a script of the page or of its site sets a timer that repeats.
 *
 * @returns {Promise<boolean>}
 */
async function hasTimer() {
  const scripts = [...own.getElementsByTagName(document, "script")];
  if (scripts.some((each) => TIMER.test((own.textContent(each) ?? "").slice(0, MAX_SCRIPT)))) return true;
  const sources = scripts
    .map((each) => URL.parse(own.getAttribute(each, "src") ?? "", own.baseURI(document)))
    .filter((url) => url !== null && url.origin === location.origin && url.pathname !== location.pathname)
    .slice(0, MAX_SCRIPTS);
  /** @type {(url: URL | null) => Promise<boolean>} */
  const sets = async (url) => {
    const answer = await fetch(url?.href ?? "", { cache: "force-cache", signal: AbortSignal.timeout(SCRIPT_MS) });
    return TIMER.test((await answer.text()).slice(0, MAX_SCRIPT));
  };
  return (await Promise.all(sources.map((each) => sets(each).catch(() => false)))).some(Boolean);
}
