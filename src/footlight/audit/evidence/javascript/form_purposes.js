// Check whether browsers, password managers and the keyboards of phones can know the purpose of a field.

import { own } from "./dom.js";

import { autocompleteOf, fellowsOf, formOf, purposeOf, typed } from "./fields.js";

/** @type {(field: AnyElement) => boolean} */
export const isSearch = (field) =>
  field.type === "search" ||
  field.getAttribute("role") === "searchbox" ||
  Boolean(field.closest("search, [role=search]"));

/**
 * Return the value of `autocomplete` that a field about its reader should have, or '' if that is not certain.
 *
 * @type {(field: AnyElement) => string}
 */
export function expectedOf(field) {
  const purpose = purposeOf(field),
    fellows = fellowsOf(field),
    purposes = fellows.map(purposeOf);
  /** @type {(...some: string[]) => number} */
  const has = (...some) => some.filter((each) => purposes.includes(each)).length;
  if (purpose === "password")
    return field.type === "password" && formOf(field) ? "current-password or new-password" : "";
  if (!formOf(field) || isSearch(field) || purposes.filter((each) => each === purpose).length > 1) return "";
  const isContact =
    has("password", "name", "family-name", "street-address", "one-time-code") ||
    fellows.some((each) => own.localName(each) === "textarea");
  const isNewsletter = fellows.every((each) => each === field || each.type === "checkbox");
  const isAddress = has("street-address", "postal-code", "address-level2") > 1;
  /** @type {Record<string, boolean | number>} */
  const isCertain = {
    "one-time-code": true,
    "cc-number": true,
    email: isContact || isNewsletter,
    tel: isContact,
    name: has("email"),
    "given-name": has("family-name"),
    "family-name": has("given-name"),
    "street-address": isAddress,
    "postal-code": isAddress,
    "address-level2": isAddress,
  };
  return isCertain[purpose] ? purpose : "";
}

/** @returns {AnyElement[]} */
export function autocompleteMissing() {
  /** @type {(field: AnyElement) => boolean} */
  const isRefused = (field) => own.getAttribute(field.form, "autocomplete") === "off";
  return typed.filter((field) => !autocompleteOf(field) && !isRefused(field) && expectedOf(field));
}

// Values of `autocomplete` that contradict the purpose of a field. Other values may be intended.
/** @type {Record<string, string>} */
const CONTRARY = {
  email: "name given-name family-name tel street-address postal-code current-password new-password",
  tel: "name given-name family-name email street-address",
  password: "name given-name family-name username email tel",
  "given-name": "family-name email tel",
  "family-name": "given-name email tel",
  "postal-code": "address-level2 street-address tel",
  "address-level2": "postal-code street-address email tel",
};

/**
 * Return the value that it should have, or '' if it may be right.
 *
 * @type {(field: AnyElement) => string}
 */
export function wrongAutocomplete(field) {
  const value = autocompleteOf(field),
    passwords = fellowsOf(field).filter((each) => each.type === "password");
  if (
    field.type === "password" &&
    passwords.length > 1 &&
    passwords.every((each) => autocompleteOf(each) === "current-password")
  )
    return "new-password for all but the one that is used now";
  const purpose = [purposeOf(field), field.type ?? ""].find((each) => CONTRARY[each]?.split(" ").includes(value)) ?? "";
  return purpose === "password" ? "current-password or new-password" : purpose;
}

/** @type {Record<string, string>} */
// biome-ignore format: a table
const KEYBOARDS = {
  'email': 'type="email"', 'tel': 'type="tel"', 'url': 'type="url"', 'one-time-code': 'inputmode="numeric"', 'cc-number': 'inputmode="numeric"',
};
/** @type {(field: AnyElement) => boolean} */
export const isText = (field) => field.localName === "input" && field.type === "text";

/**
 * Return the attribute that would show the right keyboard, or '' if the field has it.
 *
 * @type {(field: AnyElement) => string}
 */
export function wrongKeyboard(field) {
  const isLetters = isText(field) && !field.hasAttribute("inputmode") && autocompleteOf(field) !== "username";
  return isLetters ? (KEYBOARDS[purposeOf(field)] ?? "") : "";
}

/** @type {(field: AnyElement) => boolean} */
export const isCounted = (field) =>
  field.type === "number" && ["tel", "postal-code", "one-time-code", "cc-number"].includes(purposeOf(field));
