// Read what links lead to, and compare it. Only pages of this site are read. RENDERS: also load them in hidden frames.

import { documentRoot, own } from "./dom.js";
import { hasMostWordsOf, wordsOf } from "./words.js";

/**
 * What a page says: its title, and the words and the ways to reach somebody in its own part.
 *
 * @typedef {{ url: string, source: string, title: string, words: Set<string>, contacts: Set<string>, isScripted: boolean }} Content
 */

const IMMEDIATE = /^\s*(?:(?:0+(?:\.0*)?|\.0*)\s*)?[;,]\s*(?:url\s*=\s*)?["']?([^"']+)/i;
/** Parts that all pages of a site have. */
export const REPEATED =
  "nav, header, footer, script, style, template, [role=navigation], [role=banner], [role=contentinfo]";
/** The end of addresses that the audit asks for. Servers do not get it, and the page's console leaves it out. */
export const OF_AUDIT = "#footlight-audit";
const MAX_CONTENT = 500_000;
const READ_MS = 5000;
/** How long a page may take to show what its scripts make. */
const RENDER_MS = 3000;
const QUIET_RENDER_MS = 150;
/** How many pages are rendered because their source does not say what they show. */
const MAX_RENDERED = 6;
const MIN_DIGITS = 7;
const CONTACT = /[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}|\+?\(?\d[\d\s()./-]{5,30}\d/g;
const DATE = /\b\d{4}-\d\d?-\d\d?\b|\b\d\d?[./-] ?\d\d?[./-] ?\d{2,4}\b|\b\d{4} ?[-–] ?\d{4}\b/g;
const HANDLER =
  /^\s*(?:return\s+)?(?:(?:window|document|self|top)\.)?(?:location(?:\.href)?\s*=\s*|location\.(?:assign|replace)\(\s*|open\(\s*)(["'`])([^"'`\s]+)\1/;

/**
 * Return the address to which the `onclick` of an element leads, or null.
 *
 * @type {(element: AnyElement) => string | null}
 */
export const addressInHandler = (element) =>
  HANDLER.exec((own.getAttribute(element, "onclick") ?? "").slice(0, 1000))?.[2] ?? null;

/**
 * Return what this site answers at a URL, or null if it cannot be known. An immediate refresh is followed once.
 *
 * @type {(url: string, isFollowed?: boolean) => Promise<Content | null>}
 */
export async function contentOf(url, isFollowed = false) {
  try {
    const response = await fetch(url + OF_AUDIT, {
      signal: AbortSignal.timeout(READ_MS),
      headers: { accept: "text/html" },
    });
    const type = response.headers.get("content-type") ?? "";
    if (!response.ok || !type.includes("html")) return null;
    const source = (await response.text()).slice(0, MAX_CONTENT);
    const page = new DOMParser().parseFromString(source, "text/html");
    const [, next] =
      IMMEDIATE.exec(page.querySelector("meta[http-equiv=refresh i]")?.getAttribute("content") ?? "") ?? [];
    const target = next ? URL.parse(next, url) : null;
    if (target) return isFollowed || target.origin !== location.origin ? null : contentOf(target.href, true);
    const isScripted = page.querySelector("script") !== null;
    for (const each of page.querySelectorAll(REPEATED)) each.remove();
    return describeContent(url, source, page.title, page.body?.textContent ?? "", isScripted);
  } catch {
    return null;
  }
}

/** @type {(url: string, source: string, title: string, text: string, isScripted: boolean) => Content} */
function describeContent(url, source, title, text, isScripted) {
  const contacts = (text.slice(0, MAX_CONTENT).replace(DATE, "").match(CONTACT) ?? [])
    .map((each) => (each.includes("@") ? each.toLowerCase() : each.replace(/\D/g, "")))
    .filter((each) => each.includes("@") || each.length >= MIN_DIGITS);
  return { url, source, title, words: wordsOf(text), contacts: new Set(contacts), isScripted };
}

/**
 * Return the pages as their scripts show them, if their sources are the same and say therefore nothing. Null where that
 * cannot be known.
 *
 * @type {(pages: Content[]) => Promise<(Content | null)[]>}
 */
export async function asShown(pages) {
  const isMadeByScript = pages.some(
    (one) => one.isScripted && pages.some((other) => other !== one && other.source === one.source),
  );
  if (!isMadeByScript) return pages;
  return !RENDERS || pages.length > MAX_RENDERED ? [null] : Promise.all(pages.map(renderedContentOf));
}

/**
 * Load a page of this site in a frame that nobody sees, and return what it shows. The frame cannot navigate this page,
 * and neither submit forms nor open windows.
 *
 * @type {(page: Content) => Promise<Content | null>}
 */
async function renderedContentOf({ url, source }) {
  const frame = /** @type {HTMLIFrameElement} */ (
    own.createElementNS(document, "http://www.w3.org/1999/xhtml", "iframe")
  );
  frame.setAttribute("sandbox", "allow-scripts allow-same-origin");
  frame.setAttribute("aria-hidden", "true");
  frame.tabIndex = -1;
  frame.style.cssText =
    "position: fixed; left: -9999px; top: 0; width: 1280px; height: 800px; opacity: 0; pointer-events: none";
  try {
    await new Promise((resolve, reject) => {
      setTimeout(reject, RENDER_MS);
      frame.onload = resolve;
      frame.src = url;
      documentRoot()?.append(frame);
    });
    await new Promise((resolve) => setTimeout(resolve, QUIET_RENDER_MS));
    const page = frame.contentDocument;
    if (!page?.body) return null;
    for (const each of page.querySelectorAll(REPEATED)) each.remove();
    return describeContent(url, source, page.title, page.body.innerText, false);
  } catch {
    return null;
  } finally {
    frame.remove();
  }
}

/**
 * Return whether two pages serve the same purpose: most words of the shorter one are in both, and they do not name
 * other people to write to or to call. A title that both have distinguishes nothing.
 *
 * @type {(one: Content, other: Content) => boolean}
 */
export function isAlike(one, other) {
  const isShownAlike = one.words.size === other.words.size && one.words.isSubsetOf(other.words);
  if (isShownAlike && one.title === other.title) return true;
  if (one.contacts.size && other.contacts.size && one.contacts.isDisjointFrom(other.contacts)) return false;
  /** @type {(page: Content) => Set<string>} */
  const saidBy = (page) => (one.title === other.title ? page.words : page.words.union(wordsOf(page.title)));
  return hasMostWordsOf(saidBy(one), saidBy(other));
}
