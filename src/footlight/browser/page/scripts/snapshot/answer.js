// Answers a request about a document or an element.

import { operations } from "./changes.js";
import { flush } from "./lines.js";
import { nameOf } from "./names.js";
import { factsOf, isUnchanged, pass, textAttribute, within } from "./pass.js";
import { cssPathTo } from "./paths.js";
import { attribute, cut, documentOf, get, isDocument, isMatch, MAX_NAME, NOTHING, quote, tidy } from "./platform.js";
import { rememberLook } from "./reads.js";
import { elementOf, refOf } from "./refs.js";
import { roleOf } from "./roles.js";
import { testIds } from "./test_ids.js";
import { ESCAPED, visit } from "./walk.js";

/** @import { Request } from "./pass.js" */
/** @import { Scope } from "./platform.js" */

let generation = Math.floor(Math.random() * 2 ** 40); // The engine of another document starts at another number.
/** @type {string[]} */
export let last = NOTHING;

/** @type {(root: Scope) => string[]} */
function listNodes(root) {
  const element = isDocument(root) ? get.documentElement.call(/** @type {Document} */ (root)) : root;
  if (element) visit(factsOf(/** @type {AnyElement} */ (element)), 0, isDocument(root) ? 0 : ESCAPED, 0);
  flush();
  return pass.out;
}

/** @type {(root: Scope, request: Request) => string} */
function look(root, request) {
  const isWhole = !pass.boxes && !pass.testIds && isDocument(root);
  const isSame = isWhole && isUnchanged();
  const nodes = isSame ? last : listNodes(root);
  const url = quote(get.url.call(pass.document));
  const title = quote(tidy(get.title.call(pass.document), MAX_NAME));
  const about = `"next":${pass.next},"url":${url},"title":${title}`;
  if (!isWhole) return `{${about},"nodes":[${nodes.join(",")}]}`;
  if (!isSame) rememberLook(pass);
  const [kind, list] = request.since === generation ? ["ops", operations(last, nodes)] : ["nodes", nodes];
  last = nodes;
  return `{"gen":${++generation},${about},"${kind}":[${list.join(",")}]}`;
}

/** @type {(element: AnyElement) => string} */
function describe(element) {
  const facts = factsOf(element);
  const testid = textAttribute(facts, "data-testid");
  const ref = refOf(element);
  const role = roleOf(facts); // Before the name, because the name of a group in an SVG depends on it.
  const { text, lasting } = nameOf(facts);
  return JSON.stringify({ ref, role, name: text, lasting, testid, next: pass.next });
}

/**
 * Return the current meaning of a ref; null if its element is no longer in the document.
 *
 * @type {(root: Scope, request: Request) => string}
 */
function identify(root, request) {
  const element = elementOf(request.ref || "", root);
  if (!element) return "null";
  const facts = describe(element);
  return request.path ? facts.slice(0, -1) + `,"path":${JSON.stringify(cssPathTo(element))}}` : facts;
}

/**
 * Return the kind of a field, to decide whether the text typed into it is a secret.
 *
 * @type {(element: AnyElement) => string}
 */
export function field(element) {
  const facts = factsOf(element);
  /** @type {(name: string) => string} */
  const read = (name) => cut(attribute(element, name) || "", MAX_NAME);
  return JSON.stringify({
    tag: facts.tag,
    type: facts.tag === "input" ? element.type : "",
    autocomplete: read("autocomplete"),
    testId: read("data-testid"),
    name: nameOf(facts).text,
    role: roleOf(facts),
    hint: (read("id") + " " + read("name")).trim(),
  });
}

let newest = 0; // The number of the newest pass that was requested.

/** @type {(root: Scope, request: Request) => string} */
function reply(root, request) {
  newest = Math.max(newest, Number(request.pass ?? 0));
  if (request.what === "frame")
    return String(!isDocument(root) && isMatch(/** @type {AnyElement} */ (root), "iframe, frame"));
  if (request.what === "testids") return testIds(root, request);
  if (request.what === "field" && !isDocument(root))
    return within(root, request, () => field(/** @type {AnyElement} */ (root)));
  if (request.what === "identify") return within(root, request, () => identify(root, request));
  if (request.what === "look") return within(root, request, () => look(root, request));
  if (request.what === "ref" && !isDocument(root))
    return within(root, request, () => describe(/** @type {AnyElement} */ (root)));
  throw new Error("Unknown question: " + request.what);
}

/** @type {(root: Scope, text: string) => HTMLElement} */
function makeReply(root, text) {
  const element = Document.prototype.createElement.call(documentOf(root), "a");
  element.setAttribute("v", text);
  return element;
}

// The server calls this for the main document with a CDP message, so the reply needs no element.
/** @type {any} */ (globalThis)[Symbol.for("footlight.snapshot")] = (/** @type {string} */ request) =>
  reply(document, JSON.parse(request));

const MAX_EARLY = 20_000;

// The settling script calls this as soon as the document is settled. A large document is left to a request of its own,
// which has more time. After a newer request, the server no longer waits, and the refs have other numbers.
/** @type {any} */ (globalThis)[Symbol.for("footlight.look")] = (/** @type {string} */ text) => {
  const request = JSON.parse(text);
  if (Number(request.pass) <= newest) return null;
  if (Document.prototype.getElementsByTagName.call(document, "*").length > MAX_EARLY) return null;
  try {
    return reply(document, request);
  } catch {
    return null;
  }
};

const REFS = /^e\d+(,e\d+)*$/;

/** @type {(root: Scope, body: string) => AnyElement[]} */
export function queryAll(root, body) {
  if (!REFS.test(body)) return [makeReply(root, reply(root, JSON.parse(decodeURIComponent(body))))];
  return body.split(",").flatMap((ref) => elementOf(ref, root) || /** @type {AnyElement[]} */ ([]));
}
