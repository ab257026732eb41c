// Finds the table that an element is, contains or is in.

import { describeTag } from "./obstacle.js";
import { containsNode, documentElement, matches, parentOf, queryAll, shadowRoot, tagOf } from "./platform.js";
import { explicitRole } from "./roles.js";
import { selectorOf } from "./selectors.js";

/** @import { Scope } from "./platform.js" */

const ARIA_TABLES = "[role=table],[role=grid],[role=treegrid]";
const TABLES = "table," + ARIA_TABLES;

/**
 * Return whether an element is a table. A table that only lays out the page does not count, unless it is requested
 * directly.
 *
 * @type {(element: AnyElement) => boolean}
 */
export function isTable(element) {
  if (!matches(element, TABLES)) return false;
  const role = tagOf(element) === "table" ? explicitRole(element) : "";
  return role !== "presentation" && role !== "none";
}

/**
 * Return the tables in `scope`, through open shadow roots, without the tables inside other tables.
 *
 * @type {(scope: Scope, found: AnyElement[]) => AnyElement[]}
 */
function outermostTables(scope, found) {
  const all = queryAll(scope, "*");
  /** @type {AnyElement | null} */
  let last = null;
  for (let i = 0; i < all.length && found.length < 50; i++) {
    if (last && containsNode(last, all[i])) continue;
    const shadow = shadowRoot(all[i]);
    if (isTable(all[i])) found[found.length] = last = all[i];
    else if (shadow) outermostTables(shadow, found);
  }
  return found;
}

/** @type {(element: AnyElement) => AnyElement[]} */
function tablesBelow(element) {
  const shadow = shadowRoot(element);
  return outermostTables(element, shadow ? outermostTables(shadow, []) : []);
}

/** @type {(elements: AnyElement[]) => string} */
function toList(elements) {
  let text = "";
  for (let i = 0; i < elements.length && i < 5; i++) text += (i ? ", " : "") + selectorOf(elements[i]);
  return text + (elements.length > 5 ? ", …" : "");
}

/** @type {(element: AnyElement) => { table?: AnyElement, error?: string }} */
export function findTable(element) {
  if (matches(element, TABLES)) return { table: element };
  const below = tablesBelow(element);
  if (below.length === 1) return { table: below[0] };
  if (below.length > 1) {
    return { error: "It holds " + below.length + " tables; name one of them: " + toList(below) };
  }
  for (let at = parentOf(element); at; at = parentOf(at)) if (isTable(at)) return { table: at };
  const root = documentElement(document);
  const all = root ? tablesBelow(root) : [];
  const others = all.length ? "; the page's tables: " + toList(all) : ", and the page has none";
  return { error: "Not a table, nor in or around one: " + describeTag(element) + others };
}
