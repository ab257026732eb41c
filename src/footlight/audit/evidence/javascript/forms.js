// Rules of forms that axe-core does not have. `fields` and `forms` are from fields.js, groups of rules from form_….js.

import { describeAll, isVisible, oneLine, own, runRules, textOf } from "./dom.js";
import {
  autocompleteOf,
  buttonsOf,
  elementsByIds,
  fellowsOf,
  fields,
  formOf,
  forms,
  isShown,
  isTyped,
  labelOf,
  labelsOf,
  typed,
} from "./fields.js";
import { isRequired, optionalButRequired, requiredUnmarked, requiredUnsaid } from "./form_marks.js";
import { openlySent, openPasswords, refusesPaste } from "./form_passwords.js";
import {
  autocompleteMissing,
  expectedOf,
  isCounted,
  isSearch,
  wrongAutocomplete,
  wrongKeyboard,
} from "./form_purposes.js";

/** @returns {AnyElement[]} */
function placeholderAsLabel() {
  /** @type {(field: AnyElement) => boolean} */
  const isBare = (field) => Boolean(field.placeholder?.trim()) && !labelsOf(field).some(isShown) && !isSearch(field);
  /** @type {(field: AnyElement) => boolean} */
  const isNameless = (field) =>
    !labelsOf(field).length && !field.getAttribute("aria-label")?.trim() && !field.title?.trim();
  return typed.filter(
    (field) => isBare(field) && (isNameless(field) || fellowsOf(field).filter(isTyped).filter(isBare).length > 1),
  );
}

/**
 * Return the forms without a button to press, where Enter does not send the form either: it only sends one with one
 * field.
 *
 * @returns {AnyElement[]}
 */
function unsendable() {
  return forms
    .filter((form) => own.localName(form) === "form" && !buttonsOf(form).length)
    .filter((form) => {
      const asked = typed.filter((each) => formOf(each) === form && own.localName(each) === "input");
      /** @type {(each: AnyElement) => boolean} */
      const isSent = (each) => ["password", "email"].includes(each.type ?? "") || isRequired(each);
      return asked.length > 1 && asked.some(isSent) && !asked.some(isSearch);
    });
}

const ERROR_CLASS =
  /^((form|field|input)[-_]*)?(error|invalid)([-_]*(message|text|msg|feedback))?$|^(form|field|input)__error$/i;

/** @type {(element: AnyElement) => boolean} */
function isMessage(element) {
  const isNamed = [...own.classList(element)].some((name) => ERROR_CLASS.test(name));
  const isText =
    !own.matches(element, "input, select, textarea, form, fieldset, label") &&
    !own.querySelector(element, "input, select, textarea");
  return isNamed && isText && isShown(element) && textOf(element).length > 4;
}

/** @type {(field: AnyElement) => AnyElement | undefined} */
const messageOf = (field) => (field.parentElement ? [...own.children(field.parentElement)] : []).find(isMessage);

/**
 * Return the error messages beside a field that assistive technology does not announce with the field.
 *
 * @returns {AnyElement[]}
 */
function untiedErrors() {
  /** @type {(field: AnyElement) => boolean} */
  const isTied = (field) =>
    [...elementsByIds(field, "aria-describedby"), ...elementsByIds(field, "aria-errormessage")].some(isShown) ||
    labelsOf(field).some((label) => [...label.querySelectorAll("*")].some(isMessage));
  /** @type {(field: AnyElement) => boolean} */
  const isAlone = (field) => fields.filter((each) => field.parentNode?.contains(each)).length === 1;
  return fields
    .filter((each) => isTyped(each) || own.localName(each) === "select")
    .filter((each) => messageOf(each) && isAlone(each) && !isTied(each));
}

/**
 * Return the first radio button of each group whose question is not given.
 *
 * @returns {AnyElement[]}
 */
function radiosWithoutQuestion() {
  /** @type {Map<string, AnyElement[]>} */
  const groups = new Map();
  for (const radio of fields.filter((each) => each.type === "radio" && each.name)) {
    const key = `${radio.form ? forms.indexOf(radio.form) : -1} ${radio.name}`;
    groups.set(key, [...(groups.get(key) ?? []), radio]);
  }
  return [...groups.values()]
    .filter((radios) => radios.length > 1 && !radios.some(hasQuestion))
    .map((radios) => radios[0]);
}

/** @type {(radio: AnyElement) => unknown} */
function hasQuestion(radio) {
  const group = radio.closest("fieldset, [role=radiogroup], [role=group]");
  const isNamed =
    group && (own.getAttribute(group, "aria-label")?.trim() || elementsByIds(group, "aria-labelledby").length);
  const legend = (group ? [...own.children(group)] : []).find((each) => own.localName(each) === "legend");
  const isReferenced =
    elementsByIds(radio, "aria-labelledby").length > 1 || elementsByIds(radio, "aria-describedby").length;
  return isNamed || own.textContent(legend)?.trim() || isReferenced || radio.closest("table, [role=grid]");
}

/** @type {(form: AnyElement) => string} */
function factOf(form) {
  const title =
    own.getAttribute(form, "aria-label") ||
    own.textContent(elementsByIds(form, "aria-labelledby")[0]) ||
    own.getAttribute(form, "id") ||
    own.getAttribute(form, "name");
  const asked = fields.filter((each) => formOf(each) === form).map(factOfField);
  const pressed = buttonsOf(form)
    .filter(isVisible)
    .map((each) => `“${oneLine(textOf(each) || each.value || own.getAttribute(each, "aria-label"), 30)}”`);
  return `Form${title ? ` “${oneLine(title, 40)}”` : ""}: ${asked.join(" · ")}; buttons: ${pressed.join(", ") || "none"}.`;
}

/** @type {(field: AnyElement) => string} */
function factOfField(field) {
  const kinds = [field.type, isRequired(field) && "required", autocompleteOf(field)].filter(Boolean);
  return `${labelOf(field) || "(no label)"} [${kinds.join(", ")}]`;
}

/** @returns {string[]} */
function facts() {
  const alone = fields.filter((each) => !formOf(each)).map(factOfField);
  return [
    ...forms.slice(0, 6).map(factOf),
    ...(alone.length ? [`Fields in no form: ${alone.join(" · ")}.`] : []),
    ...(forms.length > 6 ? [`And ${forms.length - 6} more forms.`] : []),
  ];
}

export const sent = openlySent();

/** @returns {Record<string, any>} */
export function answer() {
  return runRules({
    facts: () => facts(),
    "placeholder-as-label": () =>
      describeAll(
        placeholderAsLabel(),
        (each) => `placeholder="${oneLine(each.placeholder)}" and no label that is seen`,
      ),
    "autocomplete-missing": () =>
      describeAll(autocompleteMissing(), (each) => `expected autocomplete="${expectedOf(each)}"`),
    "autocomplete-wrong": () =>
      describeAll(
        typed.filter(wrongAutocomplete),
        (each) => `autocomplete="${own.getAttribute(each, "autocomplete")}", expected ${wrongAutocomplete(each)}`,
      ),
    "wrong-keyboard": () =>
      describeAll(typed.filter(wrongKeyboard), (each) => `type="text", expected ${wrongKeyboard(each)}`),
    "digits-as-number": () => describeAll(typed.filter(isCounted), () => 'type="number", which is for amounts'),
    "open-password": () => describeAll(openPasswords(), () => 'type="text"'),
    "required-unsaid": () =>
      describeAll(requiredUnsaid(), (each) => `“${labelOf(each)}”, and neither required nor aria-required`),
    "optional-but-required": () => describeAll(optionalButRequired(), (each) => `“${labelOf(each)}”, and required`),
    "required-unmarked": () =>
      describeAll(requiredUnmarked(), (each) => `“${labelOf(each)}” is required, and looks like those that are not`),
    "no-submit": () => describeAll(unsendable(), () => "no button"),
    "error-not-tied": () => describeAll(untiedErrors(), (each) => `“${oneLine(own.textContent(messageOf(each)))}”`),
    "paste-refused": () =>
      describeAll(
        typed.filter((each) => each.type === "password").filter(refusesPaste),
        () => "the paste was cancelled, and nothing was entered",
      ),
    "radios-without-question": () => describeAll(radiosWithoutQuestion(), (each) => `the group ${each.name}`),
    "password-sent-openly": () =>
      describeAll(
        sent.map((each) => each[0]),
        (form) => sent.find((each) => each[0] === form)?.[1] ?? "",
      ),
  });
}
