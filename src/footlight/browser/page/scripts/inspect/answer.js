// Runs the function for a request and returns its answer.

import { closest, fieldsIn } from "./closest.js";
import { describe, describeAll, describeAndKeep, describeKept } from "./description.js";
import { linksOf, metadata } from "./links.js";
import { obstacle } from "./obstacle.js";
import { documentElement, nodeType, parentOf } from "./platform.js";
import { tableOf } from "./table.js";
import { cut } from "./text.js";

/**
 * @typedef {object} Request
 * @property {string} what the kind of the request
 * @property {number} [limit]
 * @property {boolean} [keep] whether to store the element under a key
 * @property {string} [key]
 * @property {boolean} [editing]
 * @property {string} [selector]
 */

const stringify = JSON.stringify;

/**
 * Write JSON without using members of the values: no `toJSON`, no inherited keys.
 *
 * @type {(value: any) => string}
 */
function encode(value) {
  if (typeof value === "string") return stringify(value);
  if (typeof value === "number") return value - value === 0 ? "" + value : "null";
  if (value === true || value === false) return "" + value;
  if (!value || typeof value !== "object") return "null";
  let text = "";
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) text += (i ? "," : "") + encode(value[i]);
    return "[" + text + "]";
  }
  const keys = Object.keys(value);
  for (let i = 0; i < keys.length; i++) text += (i ? "," : "") + stringify(keys[i]) + ":" + encode(value[keys[i]]);
  return "{" + text + "}";
}

/**
 * Return whether arrays can be extended in this page. Playwright transfers values with the page's own `push`.
 *
 * @returns {boolean}
 */
function arraysWork() {
  const list = [];
  try {
    list.push("a");
  } catch {
    return false;
  }
  return list.length === 1 && list[0] === "a";
}

/**
 * Return the element of a request: the node itself, the element of a text, or the document's root element. A page can
 * remove its root element, and then the request has no answer.
 *
 * @type {(subject: any) => AnyElement}
 */
export function asElement(subject) {
  const type = subject && typeof subject === "object" ? nodeType(subject) : 9;
  if (type === 1) return subject;
  const element = (type === 9 ? documentElement(subject || document) : parentOf(subject)) || documentElement(document);
  if (!element) throw new Error("the document has no elements");
  return element;
}

/** @type {(subject: any, asked: Request) => any} */
export function answer(subject, asked) {
  /** @type {(usual: number) => number} */
  const limit = (usual) => (typeof asked.limit === "number" && asked.limit >= 0 ? asked.limit : usual);
  switch (asked.what) {
    case "describe":
      return asked.keep === true ? describeAndKeep(asElement(subject)) : describe(asElement(subject));
    case "describe_all":
      return describeAll(subject, limit(100), asked.keep === true);
    case "describe_kept":
      return describeKept("" + asked.key);
    case "obstacle":
      return obstacle(asElement(subject), asked.editing === true);
    case "fields":
      return fieldsIn(asElement(subject), limit(5));
    case "closest":
      return closest("" + asked.selector, limit(5));
    case "table":
      return encode(tableOf(asElement(subject), limit(10000)));
    case "links":
      return linksOf(subject && nodeType(subject) === 1 ? subject : document, limit(5000));
    case "metadata":
      return metadata();
    default:
      return { error: "Unknown question: " + asked.what };
  }
}

/**
 * Return the reply to a request that failed. A request that was to explain a failure then has no answer.
 *
 * @type {(asked: Request, error: unknown) => any}
 */
function explainFailure(asked, error) {
  if (asked && asked.what === "obstacle") return null;
  if (asked && (asked.what === "closest" || asked.what === "fields")) return [];
  return { error: "The page could not be read: " + cut("" + error, 500) };
}

/**
 * Answer a request. On a page the request is the only argument; on a locator it follows the element.
 *
 * @type {(first: any, request: Request | undefined) => any}
 */
export function inspect(first, request) {
  const asked = request === undefined ? first : request;
  let reply;
  try {
    reply = answer(request === undefined ? null : first, asked);
  } catch (error) {
    reply = explainFailure(asked, error);
  }
  return typeof reply === "string" || arraysWork() ? reply : encode(reply);
}
