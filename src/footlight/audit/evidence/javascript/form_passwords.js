// Whether a password is kept from others, and can come from a password manager.

import { autocompleteOf, buttonsOf, fellowsOf, fields, formOf, forms, purposeOf, typed } from "./fields.js";
import { isText } from "./form_purposes.js";

/** In plain letters, where no switch beside it could have uncovered it. */
export function openPasswords() {
  const isPassword = (field) =>
    purposeOf(field) === "password" || /^(current|new)-password$/.test(autocompleteOf(field));
  return typed.filter((field) => isText(field) && isPassword(field) && !isSwitched(field));
}

function isSwitched(field) {
  const isSwitch = (each) =>
    each.type === "checkbox" || !each.matches("[type=submit], button:not([type])") || each.hasAttribute("aria-pressed");
  return (
    formOf(field) &&
    [...buttonsOf(formOf(field)), ...fellowsOf(field).filter((each) => each.type === "checkbox")].some(isSwitch)
  );
}

/** Whether pasting is refused: a paste that nobody would miss, of which the field shows nothing. */
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

/** The password would stand in the address, in the history and in logs; or be read on its way. */
export function openlySent() {
  const isLoopback = /^(localhost|127\..*|\[::1\])$/;
  return forms
    .filter(
      (form) => form.localName === "form" && fields.some((each) => each.form === form && each.type === "password"),
    )
    .flatMap((form) => {
      const action = URL.parse(form.getAttribute("action") || location.href, document.baseURI);
      if (form.getAttribute("method")?.toLowerCase() === "get" && form.hasAttribute("action"))
        return [[form, 'method="get": the password becomes part of the address']];
      return action?.protocol === "http:" && !isLoopback.test(action.hostname)
        ? [[form, `sent to ${action.origin} without encryption`]]
        : [];
    });
}
