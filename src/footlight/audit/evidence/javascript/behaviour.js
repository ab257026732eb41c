// Find what the page does without being asked, and what it prevents its readers from doing.

import {
  above,
  allElements,
  describeAll,
  documentBody,
  documentRoot,
  handlerOf,
  isVisible,
  own,
  runRules,
  textOf,
} from "./dom.js";
import { loadMedia, loudMedia, silent, sourceNote, uncaptioned, unwritten } from "./media.js";

const LONG_MS = 5000;
const LARGE = 2500;
const COVERED = 0.3;
export const elements = allElements().filter(isVisible);
const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
/** @type {Map<Element, string>} */
const names = new Map();

/** @returns {Promise<Record<string, any>>} */
export async function answer() {
  await loadMedia();
  return runRules({
    "autoplay-sound": () => describeAll(loudMedia(), sourceNote),
    "no-captions": () => describeAll(uncaptioned(), sourceNote),
    "no-transcript": () => describeAll(unwritten(), sourceNote),
    "silent-video": () => describeAll(silent(), sourceNote),
    autoplay: () => describeAll(elements.filter(playsByItself), noteOfMedia),
    "endless-motion": () =>
      describeAll(
        isCalm || !respectsReducedMotion() ? endless() : [],
        (each) => `the animation ${names.get(each)} never ends`,
      ),
    overlay: () =>
      describeAll(
        [overlay()].filter((each) => each !== null),
        (each) => `covers ${Math.round(coveredBy(each) * 100)} % of the screen as soon as the page is there`,
      ),
    "no-selection": () =>
      describeAll(
        selectable() < 0.2 ? [documentBody() ?? elements[0]] : [],
        () => `${Math.round((1 - selectable()) * 100)} % of the text cannot be selected`,
      ),
    "no-context-menu": () =>
      describeAll(
        [documentBody(), documentRoot()]
          .filter((each) => each !== null)
          .filter(refusesMenu)
          .slice(0, 1),
        () => "the menu of the browser does not open",
      ),
  });
}

/**
 * Return whether a video moves for more than five seconds and cannot be stopped. axe-core checks sound.
 *
 * @type {(media: AnyElement) => boolean}
 */
function playsByItself(media) {
  if (own.localName(media) !== "video" || media.paused !== false || media.controls) return false;
  return (media.loop || !(Number(media.duration) * 1000 < LONG_MS)) && isLarge(media) && !canStop(media);
}

/** @type {(media: AnyElement) => string} */
function noteOfMedia(media) {
  const { duration = Infinity } = media;
  const long = Number.isFinite(duration) ? `${Math.round(duration)} s` : "without an end";
  return `plays by itself, ${long}${media.loop ? ", again and again" : ""}, ${media.muted ? "muted" : "with sound"}, and nothing stops it`;
}

/** @type {(element: AnyElement) => boolean} */
function canStop(element) {
  const around = own.parentElement(own.parentElement(element)) ?? own.parentElement(element) ?? document;
  return [...own.querySelectorAll(around, "button, [role=button], input[type=checkbox], [role=switch]")].some((each) =>
    /paus|stop|play|anhalt|motion|animation/i.test(
      `${textOf(each)} ${own.getAttribute(each, "aria-label")} ${own.getAttribute(each, "title") ?? ""}`,
    ),
  );
}

/** @type {(element: AnyElement) => boolean} */
function isLarge(element) {
  const box = own.getBoundingClientRect(element);
  return box.width * box.height >= LARGE;
}

/**
 * Return whether a style sheet has a media query about reduced motion. A sheet that cannot be read counts as one that
 * has.
 *
 * @returns {boolean}
 */
function respectsReducedMotion() {
  /** @type {(list: Iterable<any>) => boolean} */
  const asks = (list) =>
    [...list].some(
      (rule) =>
        rule.media?.mediaText.includes("prefers-reduced-motion") ||
        (rule.styleSheet && asksIn(rule.styleSheet)) ||
        (rule.cssRules && asks(rule.cssRules)),
    );
  /** @type {(sheet: CSSStyleSheet) => boolean} */
  const asksIn = (sheet) => {
    try {
      return sheet.media.mediaText.includes("prefers-reduced-motion") || asks(sheet.cssRules);
    } catch {
      return true;
    }
  };
  const asksInScript = [...own.getElementsByTagName(document, "script")].some((each) =>
    own.textContent(each)?.includes("prefers-reduced-motion"),
  );
  return asksInScript || [...own.styleSheets(document), ...own.adoptedStyleSheets(document)].some(asksIn);
}

/** @returns {Element[]} */
function endless() {
  for (const animation of own.getAnimations(document).filter((each) => each instanceof CSSAnimation)) {
    const effect = /** @type {KeyframeEffect} */ (animation.effect);
    const target = effect?.target,
      timing = effect?.getComputedTiming();
    const isEndless =
      animation.playState === "running" &&
      timing?.iterations === Infinity &&
      Number(timing.duration) > 0 &&
      animation.timeline === own.timeline(document);
    const isBusy = own.closest(target, "[role=progressbar], [role=status], [aria-busy=true], progress");
    if (
      target &&
      isEndless &&
      !effect.pseudoElement &&
      !isBusy &&
      isVisible(target) &&
      isLarge(target) &&
      changes(animation) &&
      !canStop(target)
    )
      names.set(target, animation.animationName);
  }
  return [...names.keys()];
}

/**
 * Return whether an animation changes something: its keyframes differ.
 *
 * @type {(animation: Animation) => boolean}
 */
function changes(animation) {
  const frames = /** @type {KeyframeEffect} */ (animation.effect)
    .getKeyframes()
    .map(({ offset, computedOffset, easing, composite, ...styles }) => JSON.stringify(styles));
  return new Set(frames).size > 1;
}

/**
 * Return the element with a fixed position that covers the page when it opens, if there is a page below it.
 *
 * @returns {AnyElement | null}
 */
function overlay() {
  const hit = own.elementFromPoint(document, innerWidth / 2, innerHeight / 2);
  const body = documentBody();
  for (let each = hit; each && each !== body; each = above(each)) {
    const isOver = own.matches(each, "dialog:modal") || getComputedStyle(each).position === "fixed";
    const isDialog =
      own.matches(each, "dialog, [role=dialog], [role=alertdialog], [aria-modal=true]") ||
      own.querySelector(each, "[role=dialog], [aria-modal=true]");
    if (
      isOver &&
      (isDialog || textOf(each, 1e5).length * 2 < (body ? textOf(body, 1e5).length : 0)) &&
      !own.querySelector(each, "main") &&
      coveredBy(each) > COVERED
    )
      return each;
  }
  return null;
}

/** @type {(element: AnyElement) => number} */
function coveredBy(element) {
  const across = 16,
    down = 16;
  let count = 0;
  for (let n = 0; n < across * down; n++) {
    const hit = own.elementFromPoint(
      document,
      (((n % across) + 0.5) * innerWidth) / across,
      ((Math.floor(n / across) + 0.5) * innerHeight) / down,
    );
    count += hit && own.contains(element, hit) ? 1 : 0;
  }
  return count / (across * down);
}

/** @returns {number} */
function selectable() {
  let all = 0,
    free = 0;
  for (const each of elements) {
    const length = [...own.childNodes(each)].reduce(
      (sum, node) => sum + (own.nodeType(node) === Node.TEXT_NODE ? /** @type {Text} */ (node).data.trim().length : 0),
      0,
    );
    if (!length || own.closest(each, "button, svg, script, style, nav, select")) continue;
    all += length;
    free += getComputedStyle(each).userSelect === "none" ? 0 : length;
  }
  return all < 200 ? 1 : free / all;
}

/** @type {(element: AnyElement) => boolean} */
function refusesMenu(element) {
  return (
    isRefusal(handlerOf(element, "contextmenu")) ||
    (element === documentRoot() && isRefusal(handlerOf(document, "contextmenu"))) ||
    (element === documentBody() && isRefusal(handlerOf(window, "contextmenu")))
  );
}

/**
 * Return whether a handler does nothing but cancel the event.
 *
 * @type {(handler: string | null) => boolean}
 */
function isRefusal(handler) {
  return (
    handler !== null &&
    /^(function[^{]*|[^{]*=>)? ?\{? ?((event|evt|ev|e)\.preventDefault\(\);?)? ?(return false;?|false)? ?\}?$/.test(
      handler.replace(/\s+/g, " "),
    ) &&
    /preventDefault|false/.test(handler)
  );
}
