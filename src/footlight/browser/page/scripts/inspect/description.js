// The requests `describe`, `describe_all` and `describe_kept`.

import { asElement } from "./answer.js";
import { nameOf } from "./names.js";
import {
  attr,
  attributesOf,
  boundingRect,
  clientRects,
  isConnected,
  isElement,
  read,
  styleOf,
  tagOf,
} from "./platform.js";
import { roleOf } from "./roles.js";
import { selectorOf } from "./selectors.js";
import { asciiLower, cut, typeOf, visibleText } from "./text.js";
import { disabledReason, isRendered, isVisible } from "./visibility.js";

/**
 * @typedef {object} Description
 * @property {string} tagName
 * @property {string} selector
 * @property {string} text
 * @property {Record<string, string>} attributes
 * @property {{ x: number, y: number, width: number, height: number } | null} boundingBox
 * @property {boolean} visible
 * @property {boolean} enabled
 * @property {string | null} role
 * @property {string} name
 * @property {string | null} [key] the key under which the element is stored
 */

/**
 * The elements that were described, for later requests.
 *
 * @typedef {object} Kept
 * @property {string} name
 * @property {number} count
 * @property {WeakMap<AnyElement, string>} keys
 * @property {Map<string, WeakRef<AnyElement>>} elements
 */

const MAX_ATTRIBUTES = 60;

/** @type {(element: AnyElement, tag: string) => boolean} */
export function isSecret(element, tag) {
  if (tag !== "input") return false;
  if (typeOf(element) === "password") return true;
  const purpose = asciiLower(attr(element, "autocomplete"));
  // Comboboxes have "new-password" to keep the browser from suggesting other values.
  const isList = purpose === "new-password" && asciiLower(attr(element, "role")) === "combobox";
  return !isList && purpose.indexOf("password") >= 0;
}

/** @type {(element: AnyElement, tag: string) => Record<string, string>} */
function attributesFor(element, tag) {
  const all = attributesOf(element);
  const secret = isSecret(element, tag);
  const attributes = Object.create(null);
  for (let i = 0; i < all.length && i < MAX_ATTRIBUTES; i++) {
    const name = read(all[i], "name");
    if (!secret || asciiLower(name) !== "value") attributes[cut(name, 100)] = cut(read(all[i], "value"), 500);
  }
  return attributes;
}

/**
 * Return the position of this frame's corner in the outermost frame that can be accessed.
 *
 * @returns {{ x: number, y: number }}
 */
function frameOffset() {
  const offset = { x: 0, y: 0 };
  for (let frame = frameOf(window); frame; frame = frameOf(frame.window)) {
    const box = boundingRect(frame.element);
    offset.x += box.x + read(frame.element, "clientLeft");
    offset.y += box.y + read(frame.element, "clientTop");
  }
  return offset;
}

/** @type {(inner: Window) => { element: AnyElement, window: Window, document: Document } | null} */
export function frameOf(inner) {
  try {
    const element = inner.frameElement;
    if (!element || !isElement(element)) return null;
    return { element, window: inner.parent, document: inner.parent.document };
  } catch {
    return null; // A frame of another origin.
  }
}

/** @type {(element: AnyElement) => Description["boundingBox"]} */
function boxOf(element) {
  if (!clientRects(element).length) return null;
  const box = boundingRect(element);
  const offset = frameOffset();
  return { x: box.x + offset.x, y: box.y + offset.y, width: box.width, height: box.height };
}

/** @type {(element: AnyElement) => Description} */
export function describe(element) {
  const tag = tagOf(element);
  return {
    tagName: tag,
    selector: selectorOf(element),
    text: isRendered(element) || styleOf(element).display === "contents" ? visibleText(element, 200) : "",
    attributes: attributesFor(element, tag),
    boundingBox: boxOf(element),
    visible: isVisible(element),
    enabled: !disabledReason(element),
    role: roleOf(element),
    name: nameOf(element),
  };
}

/** @type {(elements: any, limit: number, keep: boolean) => Description[]} */
export function describeAll(elements, limit, keep) {
  /** @type {Description[]} */
  const described = [];
  for (let i = 0; i < elements.length && i < limit; i++) {
    const element = asElement(elements[i]);
    described[i] = keep ? describeAndKeep(element) : describe(element);
  }
  return described;
}

const KEPT = Symbol.for("footlight.elements");
const MAX_KEPT = 1000;

/**
 * Return a map of elements by key, least recently used first, that belongs to the document and ends with it. Undefined
 * if the page does not allow to store it.
 *
 * @returns {Kept | undefined}
 */
function keptElements() {
  const there = Object.getOwnPropertyDescriptor(document, KEPT);
  if (there) return there.value;
  const name = ("" + Math.random()).slice(2);
  /** @type {Kept} */
  const table = { name, count: 0, keys: new WeakMap(), elements: new Map() };
  return Reflect.defineProperty(document, KEPT, { value: table }) ? table : undefined;
}

/** @type {(element: AnyElement) => string | null} */
function keep(element) {
  const table = keptElements();
  if (!table) return null;
  const { keys, elements } = table;
  let key = keys.get(element);
  if (!key) keys.set(element, (key = table.name + "-" + ++table.count));
  elements.delete(key);
  elements.set(key, new WeakRef(element));
  if (elements.size > MAX_KEPT) elements.delete(elements.keys().next().value || "");
  return key;
}

/** @type {(element: AnyElement) => Description} */
export function describeAndKeep(element) {
  const described = describe(element);
  try {
    described.key = keep(element);
  } catch {
    described.key = null; // The page has replaced Map or WeakRef.
  }
  return described;
}

/** @type {(key: string) => Description | null} */
export function describeKept(key) {
  const table = keptElements();
  const kept = table?.elements.get(key);
  const element = kept?.deref();
  return element && isConnected(element) ? describe(element) : null;
}
