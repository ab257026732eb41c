// Roles set by the attribute `role`.

import { isNamedByAuthor, nativeRole } from "./native_roles.js";
import { attr, factsOf, hasAttr, pass } from "./pass.js";
import { MAX_DEPTH, parentOf, words } from "./platform.js";
import { isFocusable } from "./visibility.js";

/** @import { Facts } from "./pass.js" */

const ROLES = words(`
  alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox
  comment complementary contentinfo definition deletion dialog document emphasis feed figure form generic grid
  gridcell group heading img insertion link list listbox listitem log main mark marquee math menu menubar menuitem
  menuitemcheckbox menuitemradio meter navigation none note option paragraph progressbar radio radiogroup region row
  rowgroup rowheader scrollbar search searchbox sectionfooter sectionheader separator slider spinbutton status
  strong subscript suggestion superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip
  tree treegrid treeitem
  doc-abstract doc-acknowledgments doc-afterword doc-appendix doc-backlink doc-bibliography doc-biblioref doc-chapter
  doc-colophon doc-conclusion doc-cover doc-credit doc-credits doc-dedication doc-endnotes doc-epigraph doc-epilogue
  doc-errata doc-example doc-footnote doc-foreword doc-glossary doc-glossref doc-index doc-introduction doc-noteref
  doc-notice doc-pagebreak doc-pagefooter doc-pageheader doc-pagelist doc-part doc-preface doc-prologue doc-pullquote
  doc-qna doc-subtitle doc-tip doc-toc graphics-document graphics-object graphics-symbol
`);
const SYNONYMS = new Map([
  ["image", "img"],
  ["presentation", "none"],
  ["directory", "list"],
]);

// Global attributes; one of them on an element with role "none" shows that the element should be in the tree.
const GLOBAL = [
  ..."atomic busy controls current describedby description details dropeffect flowto grabbed hidden".split(" "),
  ..."keyshortcuts label labelledby live owns relevant roledescription".split(" "),
].map((name) => "aria-" + name);

// biome-ignore format: a table
export const INPUT_ROLES = new Map(
  Object.entries({
    button: "button", checkbox: "checkbox", file: "button", hidden: "none", image: "button", number: "spinbutton",
    radio: "radio", range: "slider", reset: "button", search: "searchbox", submit: "button",
  }),
);

/** @type {(facts: Facts) => string} */
export function roleOf(facts) {
  if (facts.role === undefined) {
    facts.role = "generic"; // The result while the role is being computed, in case of a cycle.
    facts.role = findRole(facts);
  }
  return facts.role;
}

/** @type {(facts: Facts) => string} */
function findRole(facts) {
  const role = hasAttr(facts, "role") ? explicitRole(facts) : "";
  if (role && role !== "none") return role;
  if (role === "none" && !ignoresRoleNone(facts)) return "none";
  return nativeRole(facts);
}

/**
 * Return the words of `role`; a no-break space does not separate words.
 *
 * @type {(facts: Facts) => string[]}
 */
const roleWords = (facts) => (attr(facts, "role") || "").toLowerCase().split(/[ \t\n\f\r]+/);

/** @type {(facts: Facts) => string} */
function explicitRole(facts) {
  const only = attr(facts, "role") || "";
  if (ROLES.has(only)) return isAllowed(facts, only) ? only : "";
  for (const word of roleWords(facts)) {
    const role = SYNONYMS.get(word) || word;
    if (ROLES.has(role) && isAllowed(facts, role)) return role;
  }
  return "";
}

/**
 * Return the first word that is a role, whether the role is allowed or not.
 *
 * @type {(facts: Facts) => string}
 */
function firstNamedRole(facts) {
  if (facts.namedRole === undefined) {
    /** @type {(word: string) => boolean} */
    const isRole = (word) => ROLES.has(SYNONYMS.get(word) || word);
    const word = hasAttr(facts, "role") ? roleWords(facts).find(isRole) || "" : "";
    facts.namedRole = SYNONYMS.get(word) || word;
  }
  return facts.namedRole;
}

/**
 * Return whether an element can have the role that its author set. A landmark without a name and an item without its
 * list cannot have their role: the next word of the attribute applies, or the role of the tag.
 *
 * @type {(facts: Facts, role: string) => boolean}
 */
function isAllowed(facts, role) {
  if (role === "region" || role === "form") return isNamedByAuthor(facts);
  const context = CONTEXTS.get(role);
  return !context || isIn(context, facts);
}

const CONTEXTS = new Map(
  Object.entries({
    listitem: { roles: words("group list"), tags: words("menu ol ul") },
    option: { roles: words("group listbox"), tags: words("select") },
    treeitem: { roles: words("group tree"), tags: new Set() },
  }),
);
const SEEN_THROUGH = words("div slot span");

/**
 * Return whether an element is in a context that its role requires. A branch of a tree may be in another branch.
 *
 * @type {(context: { roles: Set<string>, tags: Set<string> }, facts: Facts) => boolean}
 */
function isIn({ roles, tags }, facts) {
  const above = ownerOf(facts.element);
  const around = above && contextOf(factsOf(above));
  if (!around) return false;
  const role = firstNamedRole(around);
  if (role === "treeitem" && roles.has("tree")) return roleOf(around) === role;
  return roles.has(role) || tags.has(around.tag);
}

/**
 * Return the element itself, or the nearest ancestor with a meaning, or null. All elements on the path share the
 * result.
 *
 * @type {(facts: Facts) => Facts | null}
 */
function contextOf(facts) {
  if (facts.context !== undefined) return facts.context;
  const way = [];
  let at = /** @type {Facts | null} */ (facts);
  while (at && at.context === undefined && way.length < MAX_DEPTH && isTransparent(at)) {
    way.push(at);
    const above = ownerOf(at.element);
    at = above && factsOf(above);
  }
  const found = at && at.context !== undefined ? at.context : at;
  for (const passed of way) passed.context = found;
  facts.context = found;
  return found;
}

/** @type {(facts: Facts) => boolean} */
function isTransparent(facts) {
  const role = firstNamedRole(facts);
  if (role) return role === "none";
  return !hasAttr(facts, "role") && (SEEN_THROUGH.has(facts.tag) || facts.tag.includes("-"));
}

/** @type {(element: AnyElement) => AnyElement | null} */
const ownerOf = (element) => (pass.owners.size && pass.owners.get(element)) || parentOf(element);

/** @type {(facts: Facts) => boolean} */
export const ignoresRoleNone = (facts) => isFocusable(facts) || GLOBAL.some((name) => hasAttr(facts, name));
