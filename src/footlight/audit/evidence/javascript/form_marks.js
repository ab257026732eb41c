// Find fields that must be filled, and check whether that is both visible and announced.

import { own } from "./dom.js";

import { fellowsOf, fields, formOf, forms, isShown, isTyped, labelOf, labelsOf } from "./fields.js";

const OPTIONAL =
  /\b(optional|optionnel|facultatif|freiwillig|opcional|facoltativo|optioneel|opcjonalnie|valfritt)\b|任意|可选/iu;
const REQUIRED = new RegExp(
  [
    "[*✱＊]|必須|必填|\\b(required|mandatory|erforderlich|pflichtfeld|obligatoire|requis|obligatori[oa]|requerido",
    "obbligatorio|verplicht|wymagane|obligatoriskt)\\b",
  ].join("|"),
  "iu",
);
/** @type {(field: AnyElement) => boolean} */
export const isRequired = (field) => field.required || field.getAttribute("aria-required") === "true";

/**
 * Return the text that styles add before and after an element.
 *
 * @type {(element: AnyElement) => string}
 */
function generatedText(element) {
  const contents = ["::before", "::after"].map((part) => getComputedStyle(element, part).content);
  return contents.filter((each) => !["none", "normal", '""'].includes(each)).join("");
}

/** @returns {AnyElement[]} */
export function requiredUnsaid() {
  /** @type {(label: AnyElement, field: AnyElement) => boolean} */
  const isStarred = (label, field) =>
    /^\s*[*✱＊]|[*✱＊]\s*:?\s*$/.test(label.contains(field) ? labelOf(field) : label.textContent);
  /** @type {(field: AnyElement) => boolean} */
  const isSeen = (field) => labelsOf(field).some((each) => isShown(each) && isStarred(each, field));
  return fields.filter(
    (field) => !isRequired(field) && field.type !== "radio" && isSeen(field) && fellowsOf(field).length > 1,
  );
}

/** @returns {AnyElement[]} */
export function optionalButRequired() {
  /** @type {(label: AnyElement) => boolean} */
  const isOptional = (label) => isShown(label) && OPTIONAL.test(label.textContent) && !REQUIRED.test(label.textContent);
  return fields.filter((field) => isRequired(field) && labelsOf(field).some(isOptional));
}

/**
 * Return the fields that must be filled, in a form with optional fields too, without a visible mark.
 *
 * @returns {AnyElement[]}
 */
export function requiredUnmarked() {
  return forms.flatMap((form) => {
    const asked = fields.filter((each) => formOf(each) === form && (isTyped(each) || own.localName(each) === "select"));
    const must = asked.filter(isRequired);
    const text = own.innerText(form) ?? own.textContent(form) ?? "";
    const isAnnounced = asked.some(isMarked) || REQUIRED.test(text) || OPTIONAL.test(text);
    return must.length && must.length < asked.length && !isAnnounced ? must : [];
  });
}

/**
 * Return whether the field is marked: in words, in brackets, by a style, or by anything else inside of the label.
 *
 * @type {(field: AnyElement) => boolean}
 */
function isMarked(field) {
  const labels = labelsOf(field);
  const text = labels
    .map(
      (each) => `${own.textContent(each)} ${[each, ...own.querySelectorAll(each, "*")].map(generatedText).join(" ")}`,
    )
    .join(" ");
  /** @type {(label: AnyElement) => boolean} */
  const hasMore = (label) =>
    label.childElementCount > Number(label.contains(field)) || getComputedStyle(label).backgroundImage !== "none";
  return (
    OPTIONAL.test(text) ||
    REQUIRED.test(text) ||
    text.lastIndexOf(")") > text.indexOf("(") + 1 ||
    labels.some(hasMore) ||
    Boolean(field.parentElement && generatedText(field.parentElement))
  );
}
