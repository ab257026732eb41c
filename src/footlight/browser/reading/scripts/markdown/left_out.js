// Elements that are not part of the content: hidden elements, controls, and elements beside the content.

import { attribute, checkVisibility, closest, lower, querySelector, tagOf, words } from "./nodes.js";

export const NEVER = words(`
  script style noscript template head meta link title canvas audio video object embed map param source track
  datalist optgroup option progress meter`);
export const CONTROLS = words("input select textarea");
const BESIDE = words("nav aside footer");
const BESIDE_ROLES = words("navigation complementary contentinfo banner search menu menubar toolbar");
const SECTIONING = "article, main, section, [role=article], [role=main]";
const CONSENT = /(?:^|[\s_-])(?:cookie|cookies|consent|gdpr|onetrust|cookiebanner|cookieconsent)(?:$|[\s_-])/i;
const FLOATING = words("fixed sticky");
const DIALOGS = words("dialog alertdialog");

/**
 * Return whether an element is left out because it is not visible. Content with aria-hidden is decoration, or all
 * content behind a dialog.
 *
 * @type {(element: AnyElement) => boolean}
 */
export function isHidden(element) {
  if (!checkVisibility.call(element) && getComputedStyle(element).display !== "contents") return true;
  return lower(attribute(element, "aria-hidden")) === "true" && !querySelector.call(element, "h1, h2, main, p");
}

/** @type {(element: AnyElement) => boolean} */
export function isTextShown(element) {
  if (tagOf(element) === "details" && attribute(element, "open") === null) return false;
  return getComputedStyle(element).visibility === "visible";
}

/**
 * Return whether an element is a header of the page, not of an article.
 *
 * @type {(element: AnyElement, tag: string) => boolean}
 */
const isPageHeader = (element, tag) => tag === "header" && !closest.call(element, SECTIONING);

/** @type {(element: AnyElement) => boolean} */
function isConsent(element) {
  const names = ["id", "class", "aria-label"].map((name) => attribute(element, name) || "").join(" ");
  if (!CONSENT.test(names.replace(/([a-z])([A-Z])/g, "$1 $2"))) return false;
  return DIALOGS.has(lower(attribute(element, "role"))) || FLOATING.has(getComputedStyle(element).position);
}

/** @type {(element: AnyElement, tag: string) => boolean} */
export function isBeside(element, tag) {
  const role = lower(attribute(element, "role"));
  return (role ? BESIDE_ROLES.has(role) : BESIDE.has(tag) || isPageHeader(element, tag)) || isConsent(element);
}
