// The links of the page: their names, their addresses, and whether it is safe to request them.

import { allElements, isVisible, oneLine, own } from "./dom.js";
import { addressInHandler } from "./link_targets.js";

// Words in the names and addresses of links, in the languages that are supported. In another language a problem may be
// missed, but there is no false alarm.

/** @type {(words: string[], flags: string) => RegExp} */
export const anyOf = (words, flags) => new RegExp(words.join("|"), flags);

/** Requesting these addresses could end a session or change something, if the site changes state on GET. */
// biome-ignore format: a table
const CHANGES = anyOf([
  'log[-_]?(out|off)', 'sign[-_]?(out|off)', 'abmelden', 'ausloggen', 'd[ée]connexion', 'cerrar[-_]?sesion',
  'delete', 'destroy', 'remove', 'discard', 'cancel', 'revoke', 'deactivate', 'disable', 'l[öo]e?schen', 'supprimer', 'eliminar',
  'unsubscribe', 'opt[-_]?out', 'abbestellen', 'add[-_]?to', '(cart|basket|wishlist)/(add|remove|empty)', 'token=',
  '[?&](action|do|cmd|op|delete|remove|add)=', '/(add|buy|vote|like|follow|confirm|approve|toggle|reset|execute|run|trigger)\\b',
], 'i');

export const elements = allElements();
export const links = elements.filter(
  (each) => own.matches(each, ":any-link") && own.checkVisibility(each, { visibilityProperty: true }),
);

/** @type {(element: AnyElement, attribute: string) => string[]} */
export const idsOf = (element, attribute) => (own.getAttribute(element, attribute) ?? "").split(/\s+/).filter(Boolean);

/**
 * Return the name that a screen reader uses, as far as the rules for links need it.
 *
 * @type {(link: AnyElement) => string}
 */
export function nameOf(link) {
  const labels = idsOf(link, "aria-labelledby").map(
    (id) => /** @type {ShadowRoot} */ (link.getRootNode()).querySelector(`#${CSS.escape(id)}`)?.textContent ?? "",
  );
  const inside = [...link.querySelectorAll("img[alt], svg title")]
    .map((each) => /** @type {AnyElement} */ (each).alt ?? own.textContent(each))
    .join(" ");
  return oneLine(
    labels.join(" ").trim() ||
      link.getAttribute("aria-label") ||
      `${link.textContent} ${inside}` ||
      link.getAttribute("title"),
    200,
  );
}

// A page may change or remove its links while some are requested.
/** Elements that are announced as links, and that a script opens. */
const scripted = elements.filter(
  (each) =>
    own.getAttribute(each, "role") === "link" && !links.includes(each) && addressInHandler(each) && isVisible(each),
);

export const allLinks = [...links, ...scripted];

/** @type {Map<AnyElement, string>} */
const hrefs = new Map(
  allLinks.map((link) => [
    link,
    (own.getAttribute(link, "href") ?? own.getAttribute(link, "xlink:href") ?? addressInHandler(link) ?? "").trim(),
  ]),
);

/** @type {(link: AnyElement) => string} */
export const hrefOf = (link) => hrefs.get(link) ?? "";

/** @type {Map<AnyElement, URL | null>} */
export const urls = new Map(allLinks.map((link) => [link, URL.parse(hrefOf(link), own.baseURI(document))]));

/** @type {(link: AnyElement) => URL | null} */
export const urlOf = (link) => urls.get(link) ?? null;

/** @type {(link: AnyElement) => string} */
export const pathOf = (link) => urlOf(link)?.pathname ?? "";

/** @type {(url: URL | Location) => string} */
export const withoutHash = (url) => url.href.split("#", 1)[0];

/** @type {(link: AnyElement) => string} */
export const addressOf = (link) => withoutHash(urlOf(link) ?? location);

/** @type {(url: URL | null) => boolean} */
export const isWeb = (url) => url?.protocol === "http:" || url?.protocol === "https:";

/** @type {(url: URL | null) => boolean} */
export const isHere = (url) => isWeb(url) && url?.origin === location.origin;

/** @type {(link: AnyElement) => boolean} */
export const mayChange = (link) =>
  CHANGES.test(pathOf(link) + (urlOf(link)?.search ?? "")) ||
  CHANGES.test(nameOf(link).replace(/\s+/g, "-")) ||
  ["data-method", "data-confirm", "data-turbo-method", "data-remote", "ping"].some((each) => link.hasAttribute(each));
