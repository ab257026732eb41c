// Find shortcuts of single characters: type each character where no field has the focus, first as events of a script,
// then, for those that do something, as keys that the collector presses. Meanwhile nothing leaves the page: requests,
// navigations and dialogs are refused and noted.

import { hasControl } from "./controls.js";
import { documentBody, isVisible, oneLine, own } from "./dom.js";

const PROBE = Symbol.for("footlight.shortcuts");
const MAX_FIELDS = 20;
const MAX_REPORTED = 3;
const MAX_PROBE_MS = 3000;
const MAX_COMPARED = 50_000;
const SAMPLE = "Footlight";
const CHARACTERS = [..."abcdefghijklmnopqrstuvwxyz0123456789/?.,;'[]-=+*#!@&`\\ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
/** Keys that are no characters. What they do as well is done by any key. */
const OTHERS = ["Shift", "F19"];
const TEXT_FIELDS = "input:not([type]), input:is([type=text], [type=search]), textarea";
/** Controls that may turn shortcuts off or change them. */
const SETTINGS =
  "button, a[href], summary, select, [role=button], [role=switch], [role=checkbox], input:is([type=button], [type=submit], [type=checkbox], [type=radio])";
const ABOUT_SHORTCUTS =
  /short-?\s?cut|hot-?\s?key|keyboard|\bkeys?\b|\bctrl\b|tastenk|tastatur|tasten\b|raccourci|clavier|atajo|teclado|scorciatoi|tastiera|sneltoets|toetsenbord|atalho/i;

/** @typedef {{ text: string, values: string, focus: Element | null, refused: string }} PageState */

let refused = "";
/** @type {(() => void)[]} */
const restore = [];

/** @returns {Promise<Record<string, any>>} */
export async function answer() {
  if (hasControl(SETTINGS, ABOUT_SHORTCUTS)) return { keys: [] };
  refuseRequests();
  fillFields();
  blurFocused();
  const tried = await tryCharacters();
  const keys = tried.map(([key]) => key);
  /** @type {any} */ (window)[PROBE] = { begin, effect, end: () => end() };
  if (!keys.length) end();
  return { keys, effects: tried.map(([, effect]) => effect) };
}

/**
 * Return the first characters that do something, if not every key does it, each with what it did at once that a reader
 * would notice.
 *
 * @returns {Promise<[key: string, effect: string][]>}
 */
async function tryCharacters() {
  let isChanged = false;
  let atOnce = "";
  const observer = new MutationObserver(() => {
    isChanged = true;
  });
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  const until = performance.now() + MAX_PROBE_MS;
  /** @type {(key: string) => Promise<boolean>} */
  const doesSomething = async (key) => {
    const focus = own.activeElement(document);
    refused = "";
    isChanged = false;
    type(key);
    isChanged = observer.takeRecords().length > 0;
    atOnce = isChanged ? effect() : "";
    await afterTask();
    const isMoved = own.activeElement(document) !== focus;
    if (isMoved) blurFocused();
    return isChanged || isMoved || refused !== "";
  };
  before = pageState();
  for (const key of OTHERS) if (await doesSomething(key)) return [];
  /** @type {[string, string][]} */
  const found = [];
  for (const key of CHARACTERS) {
    if (found.length === MAX_REPORTED || performance.now() > until) break;
    if (await doesSomething(key)) {
      found.push([key, atOnce]);
      fillFields();
      await afterTask();
      before = pageState();
    }
  }
  observer.disconnect();
  return found;
}

/** @type {() => void} */
const blurFocused = () => /** @type {AnyElement | null} */ (own.activeElement(document))?.blur?.();

/** @type {() => Promise<unknown>} */
const afterTask = () =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve(null);
    };
    port2.postMessage(null);
  });

/**
 * Send the events of a key to the body.
 *
 * @type {(key: string) => void}
 */
function type(key) {
  const target = documentBody() ?? document;
  const isCharacter = key.length === 1;
  const upper = key.toUpperCase();
  const isShifted = isCharacter && /[A-Z?+*!@&#]/.test(key);
  const code = !isCharacter ? key : /[A-Z]/.test(upper) ? `Key${upper}` : /\d/.test(key) ? `Digit${key}` : "";
  const keyCode = isCharacter ? upper.charCodeAt(0) : key === "Shift" ? 16 : 130;
  const shared = { key, code, shiftKey: isShifted, bubbles: true, cancelable: true, composed: true };
  const down = new KeyboardEvent("keydown", { ...shared, keyCode, which: keyCode });
  const character = key.charCodeAt(0);
  const press = new KeyboardEvent("keypress", { ...shared, keyCode: character, charCode: character, which: character });
  if (target.dispatchEvent(down) && isCharacter) target.dispatchEvent(press);
  target.dispatchEvent(new KeyboardEvent("keyup", { ...shared, keyCode, which: keyCode }));
}

/**
 * Fill empty text fields: a shortcut may do something only with what was written.
 *
 * @returns {void}
 */
function fillFields() {
  const fields = [...own.querySelectorAll(document, TEXT_FIELDS)].filter(
    (each) =>
      isVisible(each) && !(/** @type {AnyElement} */ (each).value) && !own.matches(each, ":disabled, :read-only"),
  );
  for (const each of fields.slice(0, MAX_FIELDS)) {
    fill(each, SAMPLE);
    filled.add(each);
  }
}

/** @type {Set<Element>} */
const filled = new Set();

/** @type {(field: Element, value: string) => void} */
function fill(field, value) {
  const type = own.localName(field) === "textarea" ? HTMLTextAreaElement : HTMLInputElement;
  Object.getOwnPropertyDescriptor(type.prototype, "value")?.set?.call(field, value);
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.dispatchEvent(new Event("change", { bubbles: true }));
}

/**
 * Refuse everything that would leave the page or change something elsewhere, and note what was refused.
 *
 * @returns {void}
 */
function refuseRequests() {
  /** @type {(owner: any, name: string, note: string, answer?: () => unknown) => void} */
  const replace = (owner, name, note, answer = () => undefined) => {
    const before = Object.getOwnPropertyDescriptor(owner, name);
    if (before && !before.configurable) return;
    Object.defineProperty(owner, name, {
      configurable: true,
      writable: true,
      value: () => {
        refused = note;
        return answer();
      },
    });
    restore.push(() => (before ? Object.defineProperty(owner, name, before) : delete owner[name]));
  };
  const refusal = () => Promise.reject(new TypeError("Failed to fetch"));
  replace(window, "fetch", "sends a request", refusal);
  replace(XMLHttpRequest.prototype, "send", "sends a request");
  replace(Navigator.prototype, "sendBeacon", "", () => true);
  replace(WebSocket.prototype, "send", "sends a message");
  replace(HTMLFormElement.prototype, "submit", "sends a form");
  replace(window, "open", "opens a window", () => null);
  for (const name of ["Worker", "SharedWorker"]) refuseNew(name, "starts a worker");
  for (const name of ["EventSource", "WebSocket"]) refuseNew(name, "sends a request");
  refuseImages();
  for (const name of ["alert", "confirm", "prompt", "print"]) replace(window, name, "opens a dialog", () => null);
  const controller = new AbortController();
  /** @type {any} */ (window).navigation?.addEventListener(
    "navigate",
    (/** @type {any} */ event) => {
      refused = `leads to ${oneLine(new URL(event.destination.url).pathname)}`;
      if (event.cancelable) event.preventDefault();
    },
    { signal: controller.signal },
  );
  addEventListener(
    "submit",
    (event) => {
      refused = "sends a form";
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    { capture: true, signal: controller.signal },
  );
  restore.push(() => controller.abort());
}

/**
 * Refuse new objects of a class, whose constants and existing objects stay as they are.
 *
 * @type {(name: string, note: string) => void}
 */
function refuseNew(name, note) {
  const before = Object.getOwnPropertyDescriptor(window, name);
  if (!before?.configurable || typeof before.value !== "function") return;
  const construct = () => {
    refused = note;
    throw new DOMException("The request was refused.", "SecurityError");
  };
  Object.defineProperty(window, name, { ...before, value: new Proxy(before.value, { construct }) });
  restore.push(() => Object.defineProperty(window, name, before));
}

/**
 * Refuse the addresses of images. A shortcut that changes a picture of the page is noted; one that only counts is not.
 *
 * @returns {void}
 */
function refuseImages() {
  /** @type {(image: Element, value: string, change: () => void) => void} */
  const refuseAddress = (image, value, change) => {
    if (/^(data|blob):/i.test(value)) change();
    else if (own.isConnected(image)) refused = "changes an image";
  };
  for (const name of ["src", "srcset"]) {
    const before = Object.getOwnPropertyDescriptor(HTMLImageElement.prototype, name);
    if (!before?.configurable) continue;
    Object.defineProperty(HTMLImageElement.prototype, name, {
      ...before,
      set(value) {
        refuseAddress(this, String(value), () => before.set?.call(this, value));
      },
    });
    restore.push(() => Object.defineProperty(HTMLImageElement.prototype, name, before));
  }
  const pagesOwn = Object.getOwnPropertyDescriptor(HTMLImageElement.prototype, "setAttribute");
  const { setAttribute } = HTMLImageElement.prototype;
  HTMLImageElement.prototype.setAttribute = function refuseAttribute(name, value) {
    const change = () => setAttribute.call(this, name, value);
    if (/^src(set)?$/i.test(String(name))) refuseAddress(this, String(value), change);
    else change();
  };
  restore.push(() => {
    delete (/** @type {any} */ (HTMLImageElement.prototype).setAttribute);
    if (pagesOwn) Object.defineProperty(HTMLImageElement.prototype, "setAttribute", pagesOwn);
  });
}

/** @returns {PageState} */
const pageState = () => ({
  text: (documentBody()?.innerText ?? "").slice(0, MAX_COMPARED),
  values: [...own.querySelectorAll(document, "input, textarea, select")]
    .slice(0, 200)
    .map((each) => `${/** @type {AnyElement} */ (each).value}${/** @type {AnyElement} */ (each).checked}`)
    .join("\n"),
  focus: own.activeElement(document),
  refused,
});

/** @type {PageState} */
let before = { text: "", values: "", focus: null, refused: "" };

/**
 * Prepare for the press of a key: the fields are filled, and none has the focus.
 *
 * @returns {null}
 */
function begin() {
  fillFields();
  blurFocused();
  refused = "";
  before = pageState();
  return null;
}

/**
 * Return what the pressed key did that a reader would notice, or nothing.
 *
 * @returns {string}
 */
function effect() {
  const after = pageState();
  if (after.refused) return after.refused;
  if (after.focus !== before.focus) return "moves the focus";
  if (after.text !== before.text) return "changes what the page shows";
  return after.values === before.values ? "" : "changes a field";
}

/** @returns {null} */
function end() {
  for (const each of filled) if (/** @type {AnyElement} */ (each).value === SAMPLE) fill(each, "");
  for (const each of restore.splice(0)) each();
  delete (/** @type {any} */ (window)[PROBE]);
  return null;
}
