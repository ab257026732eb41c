// Check sounds and videos: what plays without being asked, and what there is for people who cannot hear or see it.

import { allElements, isVisible, oneLine, textOf } from "./dom.js";

const SOUND_SECONDS = 3;
const MAX_MEDIA = 20;
const MAX_LISTENED = 3;
/** How long to wait for all media of the page together. */
const LOAD_MS = 1500;
const MAX_BYTES = 8_000_000;
const RATE = 8000;
/** Samples up to this, of 1, are silence. */
const QUIET = 0.001;
/** How many words near a sound or video can be its transcript. */
const FEW_WORDS = 25;
const NEAR_PARENTS = 3;
const TRANSCRIPT =
  /transcript|captions|subtitles|text version|lyrics|read (the|this)|transkript|untertitel|textfassung|transcription|sous-titres|transcripción|subtítulos|trascrizione|sottotitoli/i;
/** How a video is labelled that only repeats a text. */
const ALTERNATIVE =
  /\b(same|above|also|again|alternative|instead|auch|gleiche|derselbe|statt|aussi|même|también|mismo|anche|stesso)\b/i;
const CONTROL = /paus|stop|mute|play|volume|sound|anhalt|stumm|silenc|parar|\b(ton|son|arrêter)\b/i;

/** @type {AnyElement[]} */
const media = allElements()
  .filter((each) => each.localName === "audio" || each.localName === "video")
  .slice(0, MAX_MEDIA);

/**
 * Wait until the durations, tracks and silences of all media are known, or the time is over.
 *
 * @returns {Promise<void>}
 */
export async function loadMedia() {
  if (!media.length) return;
  const until = performance.now() + LOAD_MS;
  await Promise.race([
    Promise.all(
      media.map(async (each) => {
        while (isLoading(each) && performance.now() < until) await wait(50);
        if (listened.includes(each)) await listen(each, until - performance.now());
      }),
    ),
    wait(LOAD_MS),
  ]);
}

/** @type {(ms: number) => Promise<unknown>} */
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @type {(element: AnyElement) => boolean} */
const isLoading = (element) => (element.readyState ?? 0) < 1 && element.networkState === 2;

const listened = media.filter((each) => each.localName === "video" && each.currentSrc).slice(0, MAX_LISTENED);

/** @type {Map<AnyElement, boolean>} */
const heard = new Map();

/**
 * Listen to a file of this site for at most `ms` milliseconds: a track can be silent throughout. Nothing is noted where
 * that cannot be known.
 *
 * @type {(element: AnyElement, ms: number) => Promise<void>}
 */
async function listen(element, ms) {
  try {
    const answer = await fetch(element.currentSrc ?? "", { signal: AbortSignal.timeout(Math.max(ms, 0)) });
    if (Number(answer.headers.get("content-length") ?? Infinity) > MAX_BYTES) {
      answer.body?.cancel();
      return;
    }
    const sound = await new OfflineAudioContext(1, 1, RATE).decodeAudioData(await answer.arrayBuffer());
    heard.set(
      element,
      sound.getChannelData(0).some((each) => Math.abs(each) > QUIET),
    );
  } catch {
    // a file of another site, or one without a sound that can be decoded
  }
}

/**
 * Return whether there is a sound, or null if it is not known.
 *
 * @type {(element: AnyElement) => boolean | null}
 */
function hasSound(element) {
  if (heard.has(element)) return heard.get(element) ?? null;
  if (element.localName === "audio") return true;
  try {
    return (element.readyState ?? 0) < 1 ? null : (element.captureStream?.().getAudioTracks().length ?? 0) > 0;
  } catch {
    return null;
  }
}

/**
 * Return how many seconds are played: a fragment of the address can select a part.
 *
 * @type {(element: AnyElement) => number}
 */
function playedSeconds(element) {
  const duration = Number(element.duration);
  const [, start, end] = /^[^#]*#(?:.*&)?t=(?:npt:)?([\d.]*)(?:,([\d.]+))?/.exec(element.currentSrc ?? "") ?? [];
  return Math.min(Number(end ?? Infinity), Number.isNaN(duration) ? 0 : duration) - Number(start || 0);
}

/** @type {(element: AnyElement) => boolean} */
const isOffered = (element) =>
  (element.localName === "video" || element.controls === true) &&
  isVisible(element) &&
  !element.closest("[aria-hidden=true]");

/**
 * Return whether a control near the element can end its sound.
 *
 * @type {(element: AnyElement) => boolean}
 */
function canSilence(element) {
  if (element.controls && isVisible(element)) return true;
  const around = element.parentElement?.parentElement ?? element.parentElement ?? document;
  return [...around.querySelectorAll("button, [role=button], input, [role=switch]")].some(
    (each) =>
      isVisible(each) &&
      !each.closest("[aria-hidden=true]") &&
      CONTROL.test(
        `${textOf(each)} ${each.getAttribute("aria-label") ?? ""} ${/** @type {AnyElement} */ (each).value ?? ""}`,
      ),
  );
}

/** @returns {AnyElement[]} */
export const loudMedia = () =>
  media.filter(
    (each) =>
      (each.autoplay || each.paused === false) &&
      !each.muted &&
      hasSound(each) === true &&
      (each.loop || playedSeconds(each) > SOUND_SECONDS) &&
      !canSilence(each),
  );

/**
 * Return the text that can be read near the element: in the parts of the page around it.
 *
 * @type {(element: AnyElement, forEyes?: boolean) => string}
 */
function textNear(element, forEyes = true) {
  let around = /** @type {Element} */ (element);
  for (let n = 0; n < NEAR_PARENTS && around.parentElement; n++) around = around.parentElement;
  return [
    ...around.querySelectorAll(
      "p, li, dd, td, blockquote, figcaption, a, button, summary, h1, h2, h3, h4, h5, h6, div, span",
    ),
  ]
    .filter((each) => !each.firstElementChild && isReadable(each, forEyes))
    .map((each) => each.textContent)
    .join(" ");
}

/**
 * Return whether screen readers announce the text and, `forEyes`, people see it.
 *
 * @type {(element: Element, forEyes: boolean) => boolean}
 */
function isReadable(element, forEyes) {
  const box = element.getBoundingClientRect();
  const indent = Number.parseFloat(getComputedStyle(element).textIndent);
  const isAnnounced = isVisible(element) && !element.closest("[aria-hidden=true]");
  return isAnnounced && (!forEyes || (indent > -500 && box.right + scrollX > -500));
}

/**
 * Return whether there is a text that may say what the element does: near it, or behind a link or button.
 *
 * @type {(element: AnyElement, forEyes?: boolean) => boolean}
 */
function hasText(element, forEyes = true) {
  const near = textNear(element, forEyes);
  return (near.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) >= FEW_WORDS || TRANSCRIPT.test(near) || describesItself(element);
}

/** @type {(element: AnyElement) => boolean} */
const describesItself = (element) => element.hasAttribute("aria-describedby") || element.hasAttribute("aria-details");

/**
 * Return the videos with sound that have no captions. A video needs none if it only repeats a text that is beside it,
 * and that is said there. Captions that are part of the picture cannot be known.
 *
 * @returns {AnyElement[]}
 */
export const uncaptioned = () =>
  media.filter(
    (each) =>
      each.localName === "video" &&
      isOffered(each) &&
      !each.muted &&
      hasSound(each) === true &&
      !each.querySelector("track[kind=captions i], track[kind=subtitles i], track:not([kind])") &&
      !(hasText(each) && ALTERNATIVE.test(textNear(each))) &&
      !TRANSCRIPT.test(textNear(each)),
  );

/** @returns {AnyElement[]} */
export const unwritten = () =>
  media.filter((each) => each.localName === "audio" && isOffered(each) && !hasText(each) && !isCompanion(each));

/**
 * Return whether a sound belongs to a video beside it, as its description does.
 *
 * @type {(element: AnyElement) => boolean}
 */
const isCompanion = (element) => element.parentElement?.querySelector("video") !== null;

/** @returns {AnyElement[]} */
export const silent = () =>
  media.filter(
    (each) =>
      each.localName === "video" &&
      isOffered(each) &&
      Boolean(each.controls) &&
      hasSound(each) === false &&
      !hasText(each, false) &&
      !each.parentElement?.querySelector("audio"),
  );

/** @type {(element: AnyElement) => string} */
export const sourceNote = (element) => {
  const seconds = Number(element.duration);
  const long = Number.isFinite(seconds) ? `${Math.round(seconds)} s` : "of unknown length";
  return `${long}: ${oneLine((element.currentSrc ?? "").split("/").at(-1))}`;
};
