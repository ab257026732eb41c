// Check whether passwords are hidden, and whether a password manager can fill them in.

import { own } from "./dom.js";

import { autocompleteOf, buttonsOf, fellowsOf, fields, formOf, forms, purposeOf, typed } from "./fields.js";
import { isText } from "./form_purposes.js";

/**
 * Return the password fields that show their text, unless a switch beside the field can have uncovered it.
 *
 * @returns {AnyElement[]}
 */
export function openPasswords() {
  /** @type {(field: AnyElement) => boolean} */
  const isPassword = (field) =>
    purposeOf(field) === "password" || /^(current|new)-password$/.test(autocompleteOf(field));
  return typed.filter((field) => isText(field) && isPassword(field) && !isSwitched(field));
}

/** @type {(field: AnyElement) => boolean} */
function isSwitched(field) {
  /** @type {(each: AnyElement) => boolean} */
  const isSwitch = (each) =>
    each.type === "checkbox" ||
    !own.matches(each, "[type=submit], button:not([type])") ||
    own.hasAttribute(each, "aria-pressed");
  const form = formOf(field);
  const fellows = fellowsOf(field).filter((each) => each.type === "checkbox");
  return form !== null && [...buttonsOf(form), ...fellows].some(isSwitch);
}

/**
 * Return whether the field refuses pasting. The test pastes a text with no effect on the field.
 *
 * @type {(field: AnyElement) => boolean}
 */
export function refusesPaste(field) {
  const before = field.value,
    clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", "Zq7-zq7");
  const isTaken = field.dispatchEvent(
    new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true, composed: true }),
  );
  const isUnchanged = field.value === before;
  if (!isUnchanged) field.value = before;
  return !isTaken && isUnchanged;
}

/**
 * Return the forms that send the password in the URL, so that it gets into the history and into logs, or without
 * encryption.
 *
 * @returns {[form: AnyElement, note: string][]}
 */
export function openlySent() {
  const isLoopback = /^(localhost|127\..*|\[::1\])$/;
  return forms
    .filter(
      (form) => own.localName(form) === "form" && fields.some((each) => each.form === form && each.type === "password"),
    )
    .flatMap((form) => {
      const action = URL.parse(own.getAttribute(form, "action") || location.href, own.baseURI(document));
      if (own.getAttribute(form, "method")?.toLowerCase() === "get" && own.hasAttribute(form, "action"))
        return [[form, 'method="get": the password becomes part of the address']];
      return action?.protocol === "http:" && !isLoopback.test(action.hostname)
        ? [[form, `sent to ${action.origin} without encryption`]]
        : [];
    });
}
