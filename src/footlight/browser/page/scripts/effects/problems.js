// Why an action had no effect, or what went wrong with it, derived from the record of its input events.

import {
  closestAbove,
  connectedOf,
  describeInvalid,
  fieldsOf,
  focusNow,
  isEditable,
  isLeftOut,
  isMatching,
  isTextField,
  isVisible,
  nameOfField,
  shorten,
  textIn,
} from "./fields.js";
import { areUndone, CONTROLS, isShown } from "./undone.js";

const MAX_NAMED = 3;
const OPENNESS = new Set(["aria-expanded", "open"]);
const DISPLAY = /\b(?:display|visibility)\s*:/;
const OPEN_CLASS =
  /(?:^|[\s_-])(?:open|opened|show|shown|visible|expanded|active|hidden|hide|closed|collapsed)(?:$|\s)/i;
const AT_ONCE_MS = 50;
const BUTTONS = "button, input[type=submit], input[type=image], input[type=button], input[type=reset], a, summary";
const PAGE_SCHEMES = new Set("about blob chrome data file ftp http https javascript view-source".split(" "));
const RESETS = "form :is(button, input)[type=reset]";
const SUBMITS = "button:not([type]), button[type=submit], input[type=submit], input[type=image]";

const { getAttribute: attributeOf } = Element.prototype;

/** @typedef {import("./act_record.js").ActRecord} ActRecord */
/** @typedef {[kind: string, reason: string]} Problem */

/**
 * Return the first problem of an action, or null.
 *
 * @type {(act: ActRecord, changed: boolean) => Problem | null}
 */
export function findProblem(act, changed) {
  return (
    validationProblem(act, changed) ||
    choiceProblem(act) ||
    clickProblem(act) ||
    dragProblem(act) ||
    wheelProblem(act, changed) ||
    textProblem(act, changed) ||
    uploadProblem(act, changed) ||
    undoneProblem(act, changed) ||
    submitProblem(act)
  );
}

/**
 * Return the problem of a form that the browser, or a script that checked it, did not submit because a field is invalid.
 *
 * @type {(act: ActRecord, changed: boolean) => Problem | null}
 */
function validationProblem(act, changed) {
  if (act.submit || !act.invalid.length) return null;
  const isSubmit = act.keys.some((each) => each.key === "Enter") || (act.target && isSubmitButton(act.target));
  const reason = `invalid form: ${act.invalid.join("; ")}`;
  if (isSubmit) return ["blocked", reason];
  // A script has checked the form, for a button rather than for a field that was clicked. The browser shows its message
  // if the focus has moved to an invalid field.
  const { target, toggle } = act;
  if (!act.clicked || !target || toggle || isTextField(target) || target instanceof HTMLSelectElement) return null;
  const focused = focusNow();
  const isShown = focused && focused !== act.focus && isMatching.call(focused, ":invalid");
  return isShown || !changed ? ["refused", reason] : null;
}

/** @type {(target: Element) => boolean} */
function isSubmitButton(target) {
  const button = /** @type {AnyElement | null} */ (closestAbove.call(target, SUBMITS));
  return Boolean(button?.form);
}

/**
 * Return the problem that a file chooser opened, which belongs to the browser and not to the page.
 *
 * @type {(act: ActRecord) => Problem | null}
 */
function choiceProblem(act) {
  if (!act.choice || act.choice.defaultPrevented || act.upload) return null;
  return ["part", "it opens a file chooser; use upload_file to choose the files"];
}

/** @type {(act: ActRecord) => Problem | null} */
function clickProblem(act) {
  if (!act.pressed || !act.target || act.dragged || act.button !== 0) return null;
  if (act.wasDisabled) return ["idle", "it is disabled"];
  const button = closestAbove.call(act.target, BUTTONS) || act.target;
  if (isMatching.call(button, ":disabled") && !act.reached)
    return ["lost", "disabled by its own press, before the click"];
  if (connectedOf.call(act.target) && !act.reached)
    return ["kept", "a listener of the page kept the click from the element"];
  if (act.clicked && !act.click?.defaultPrevented && closestAbove.call(act.target, RESETS))
    return ["taken", "its form has its initial values already"];
  return toggleProblem(act) || linkProblem(act);
}

/** @type {(act: ActRecord) => Problem | null} */
function dragProblem(act) {
  if (act.dropped) return ["idle", "the page took the drop and changed nothing"];
  if (!act.dragged || act.button !== 0) return null;
  if (act.target && !connectedOf.call(act.target))
    return ["idle", "the page replaced the element when it was pressed: no click followed"];
  return ["idle", "nothing took what was dragged"];
}

/** @type {(act: ActRecord, changed: boolean) => Problem | null} */
function wheelProblem(act, changed) {
  const isKept = act.wheel?.defaultPrevented && !changed && !act.moved;
  return isKept ? ["taken", "the page kept the wheel from scrolling"] : null;
}

/** @type {(act: ActRecord) => Problem | null} */
function toggleProblem(act) {
  if (!act.toggle || act.toggle.checked !== act.wasChecked || !act.clicked) return null;
  if (act.toggle.type === "radio" && act.wasChecked) return ["idle", "chosen already"];
  return ["idle", "the page put the box back"];
}

/** @type {(act: ActRecord) => Problem | null} */
function linkProblem(act) {
  const link = act.clicked && act.target && closestAbove.call(act.target, "a[href], area[href]");
  if (!link) return null;
  const href = (link.getAttribute("href") || "").trim();
  const scheme = /^([a-z][\w+.-]*):/i.exec(href)?.[1].toLowerCase();
  if (scheme && !PAGE_SCHEMES.has(scheme)) return ["idle", `link to ${shorten(scheme)}:, which opens no page`];
  if (act.click?.defaultPrevented) return ["taken", "the page kept the link from opening"];
  if (href.startsWith("#")) {
    const id = decode(href.slice(1));
    if (!id || id === "top") return ["nowhere", "its link leads to the top of this page"];
    if (!document.getElementById(id) && !document.getElementsByName(id).length)
      return ["nowhere", `nothing on the page has the id "${shorten(id)}"`];
  }
  const isScript = scheme === "javascript";
  return ["taken", isScript ? "its link runs a script that changes nothing" : "its link opened nothing"];
}

/** @type {(act: ActRecord, changed: boolean) => Problem | null} */
function textProblem(act, changed) {
  const offered = act.offered();
  if (!act.field || !connectedOf.call(act.field)) return null;
  const now = textIn(act.field);
  if (!offered) return act.deleted && now === act.start ? ["idle", "the page put the text back"] : null;
  if (now && now === act.start && act.text === now) return ["idle", "the field had this value already"];
  if (act.replaced === null && act.start) return null;
  const grown = now.length - act.heldBefore + (act.replaced || 0);
  if (grown >= offered) return now === act.start ? ["idle", "the page put the value back"] : null;
  if (now === act.start && !changed) return ["idle", "the field refused the text"];
  const isPartial = grown > 0 && !isEditable(act.field);
  if (isPartial && act.passedOn)
    return ["part", `after ${grown} of ${offered} characters, the page moved the focus to another field`];
  return isPartial ? ["part", `the field took ${grown} of ${offered} characters`] : null;
}

/** @type {(act: ActRecord, changed: boolean) => Problem | null} */
function uploadProblem(act, changed) {
  return act.upload && !act.upload.files?.length && !changed ? ["lost", "the page emptied the field again"] : null;
}

/** @type {(act: ActRecord, changed: boolean) => Problem | null} */
function undoneProblem(act, changed) {
  if (changed || !areUndone(act.mutations)) return null;
  const told = act.mutations.find((each) => OPENNESS.has(each.attributeName || ""));
  const isQuick = act.changedUntil - act.changedAt < AT_ONCE_MS;
  const { target } = told || (isQuick && act.mutations.find(isOpening)) || {};
  if (!(target instanceof Element)) return null;
  const states = [attributeOf.call(target, "aria-expanded") === "true", attributeOf.call(target, "open") !== null];
  const isOpen = told ? states.includes(true) : isShown(target);
  return ["undone", isOpen ? "it closed, and opened again at once" : "it opened, and closed again at once"];
}

/**
 * Return whether a change of an attribute may show or hide its element.
 *
 * @type {(mutation: MutationRecord) => boolean}
 */
function isOpening({ target, attributeName, oldValue }) {
  if (!(target instanceof Element) || isMatching.call(target, CONTROLS)) return false;
  if (attributeName === "hidden") return true;
  const value = `${oldValue || ""} ${attributeOf.call(target, attributeName || "") || ""}`;
  return attributeName === "style" ? DISPLAY.test(value) : attributeName === "class" && OPEN_CLASS.test(value);
}

/**
 * Return the problem of a form that the page did not submit. Invalid fields are the reason if no request was sent.
 *
 * @type {(act: ActRecord) => Problem | null}
 */
function submitProblem(act) {
  if (act.submit?.defaultPrevented) {
    const fields = fieldsOf(act.submit.target);
    const isRefused = (/** @type {any} */ field) =>
      act.unfit.includes(field) || field.validity?.customError || attributeOf.call(field, "aria-invalid") === "true";
    const refused = fields.filter((field) => connectedOf.call(field) && isVisible(field) && isRefused(field));
    if (refused.length)
      return [
        "refused",
        `the page did not send the form: ${refused.slice(0, MAX_NAMED).map(describeInvalid).join("; ")}`,
      ];
    const empty = fields.filter(isLeftOut).slice(0, MAX_NAMED).map(nameOfField);
    const rest = empty.length ? `; empty or unticked: ${empty.join(", ")}` : "";
    return ["taken", `the page took the submit and did nothing${rest}`];
  }
  if (act.keys.some((each) => each.defaultPrevented)) return ["taken", "the page kept the key to itself"];
  const form = act.keys.at(-1)?.key === "Enter" && act.receiver instanceof HTMLInputElement && act.receiver.form;
  const button = form && fieldsOf(form).find((field) => isMatching.call(field, SUBMITS));
  const isDisabled = button && isMatching.call(button, ":disabled");
  return isDisabled ? ["idle", "Enter sends no form whose button is disabled"] : null;
}

/** @type {(text: string) => string} */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
