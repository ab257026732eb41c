// The kinds and names of the elements that Tab reaches, as a person would say them.

import { own, textOf } from "./dom.js";

/** @type {(element: AnyElement) => string} */
export function kindOf(element) {
  /** @type {Record<string, string>} */
  const kinds = {
    a: "link",
    area: "link",
    select: "list",
    textarea: "text field",
    summary: "summary",
    iframe: "frame",
  };
  /** @type {Record<string, string>} */
  const inputs = {
    checkbox: "checkbox",
    radio: "radio",
    submit: "button",
    button: "button",
    reset: "button",
    image: "button",
    range: "slider",
    file: "file",
  };
  return (
    own.getAttribute(element, "role") ||
    (own.localName(element) === "input"
      ? (inputs[element.type ?? ""] ?? "text field")
      : (kinds[own.localName(element)] ?? own.localName(element)))
  );
}

/** @type {(element: AnyElement) => string} */
export function nameOf(element) {
  const name =
    own.getAttribute(element, "aria-label") ||
    (element.labels?.[0] && textOf(element.labels[0], 40)) ||
    textOf(element, 40) ||
    element.alt ||
    /** @type {AnyElement | null} */ (own.querySelector(element, "img[alt]"))?.alt ||
    own.getAttribute(element, "title") ||
    element.placeholder;
  return (
    name || (own.matches(element, "input:is([type=submit], [type=button], [type=reset])") ? element.value : "") || ""
  );
}
