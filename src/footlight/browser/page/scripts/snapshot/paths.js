// The CSS path of an element, for selectors of Footlight and of Playwright. Both search open shadow trees too, and the
// parent of the elements at the top of a shadow tree is its host.

import { attribute, documentOf, ELEMENT, findAll, get, isMatch } from "./platform.js";

/** @import { Scope } from "./platform.js" */

const ID = /^[A-Za-z_][\w-]*$/;
const TEST_ID = /^[\w.:/@-]{1,120}$/;

/** @type {(element: AnyElement) => string} */
function cssStepTo(element) {
  const root = /** @type {Scope} */ (Node.prototype.getRootNode.call(element));
  const id = attribute(element, "id");
  if (id && ID.test(id) && findAll(root, "#" + id).length === 1) return "#" + id;
  const testId = attribute(element, "data-testid");
  const marked = `[data-testid="${testId}"]`;
  if (testId && TEST_ID.test(testId) && findAll(root, marked).length === 1) return marked;
  const tag = get.localName.call(element);
  let place = 1;
  for (
    let at = get.previousElementSibling.call(element);
    at !== null;
    at = get.previousElementSibling.call(/** @type {Element} */ (at))
  )
    if (get.localName.call(at) === tag) place++;
  return `${CSS.escape(tag)}:nth-of-type(${place})`;
}

/**
 * Return all matches in a tree, and then in each open shadow tree in it. This is Playwright's order too.
 *
 * @type {(root: Scope, css: string) => AnyElement[]}
 */
function findDeep(root, css) {
  const found = [...findAll(root, css)];
  for (const each of findAll(root, "*")) {
    const shadow = get.shadowRoot.call(each);
    if (shadow) found.push(...findDeep(shadow, css));
  }
  return found;
}

/** @type {(element: AnyElement) => AnyElement | null} */
function parentOrHost(element) {
  const parent = /** @type {any} */ (get.parentNode.call(element));
  return parent && get.nodeType.call(parent) === ELEMENT ? parent : parent?.host || null;
}

/**
 * Return the shortest CSS path that matches this element only: child positions, from an id or a test id if there is
 * one. Where a child of a host has the path of an element in its shadow tree, the path ends with a number.
 *
 * @type {(element: AnyElement) => string}
 */
export function cssPathTo(element) {
  let path = cssStepTo(element);
  /** @type {(AnyElement | null)[][]} */
  let matches = findDeep(documentOf(element), path).map((each) => [each, each]);
  for (let at = parentOrHost(element); at && matches.length > 1; at = parentOrHost(at)) {
    const step = cssStepTo(at);
    path = `${step} > ${path}`;
    matches = matches
      .map(([match, below]) => [match, below && parentOrHost(below)])
      .filter(([, above]) => above && isMatch(above, step));
  }
  const place = matches.findIndex(([match]) => match === element);
  return matches.length > 1 ? `${path} >> nth=${place}` : path;
}
