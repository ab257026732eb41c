// Computed styles, and the text that style sheets add.

import { pass } from "./pass.js";
import { areEqual, attribute, findAll, fold, get, isDocument, MAX_SELECTORS, words } from "./platform.js";
import { readLive } from "./reads.js";

/** @import { Facts } from "./pass.js" */
/** @import { Scope } from "./platform.js" */

/** @type {(facts: Facts) => CSSStyleDeclaration} */
export function styleOf(facts) {
  if (!facts.style) facts.style = getComputedStyle(facts.element);
  return facts.style;
}

// Reading styles is the slowest part, so the sheets of each tree are searched for elements that may have a pointer,
// generated content or skipped contents, and only the styles of those are read. If a sheet of another origin cannot be
// read, the styles of all elements are read.
/** @type {WeakMap<CSSStyleSheet, Summary>} */
const summaries = new WeakMap();

/** @typedef {"pointer" | "untouchable" | "before" | "after" | "skipping" | "picture" | "invisible" | "spaced"} Kind */
/** @typedef {CSSRule & Partial<Omit<CSSStyleRule & CSSImportRule, keyof CSSRule>>} AnyRule */
/** @typedef {Record<Kind, string[]>} Selectors the selectors of each kind */
/** @typedef {Record<Kind, Set<Element> | null>} Matches the elements of each kind; null for any element */

/** @type {Kind[]} */
const KINDS = ["pointer", "untouchable", "before", "after", "skipping", "picture", "invisible", "spaced"];

/**
 * @template T
 * @param {() => T} make
 * @returns {Record<Kind, T>}
 */
const forEachKind = (make) => /** @type {Record<Kind, T>} */ (Object.fromEntries(KINDS.map((kind) => [kind, make()])));

/** @typedef {{ rules: number, selectors: Selectors }} Summary the number of rules of a style sheet, and their selectors */

/** @type {(sheet: CSSStyleSheet) => Summary | null} */
function summaryOf(sheet) {
  let rules;
  try {
    rules = sheet.cssRules;
  } catch {
    return null;
  }
  const known = summaries.get(sheet);
  if (known && known.rules === rules.length) return known;
  const summary = { rules: rules.length, selectors: forEachKind(() => /** @type {string[]} */ ([])) };
  if (!readRules(rules, summary.selectors)) return null;
  summaries.set(sheet, summary);
  return summary;
}

/** @type {(rules: CSSRuleList, found: Selectors) => boolean} */
function readRules(rules, found) {
  for (const rule of /** @type {Iterable<AnyRule>} */ (rules)) {
    const { cssRules, selectorText, style, styleSheet } = rule;
    if (selectorText !== undefined && style && !readStyle(selectorText, style, found)) return false;
    if (styleSheet && !readImport(styleSheet, found)) return false;
    if (cssRules?.length && !selectorText && !readRules(cssRules, found)) return false;
    // Rules nested in a rule refer to `&`, which is known only there.
    if (selectorText && cssRules?.length) return false;
  }
  return true;
}

/** @type {(sheet: CSSStyleSheet, found: Selectors) => boolean} */
function readImport(sheet, found) {
  const inner = summaryOf(sheet);
  if (!inner) return false;
  for (const kind of KINDS) found[kind] = found[kind].concat(inner.selectors[kind]);
  return true;
}

const KEPT_SPACE = /pre|break-spaces|var\(/;
const OF_OTHER_TREES = /:host|::slotted|::part|&/;

/** @type {(selector: string, style: CSSStyleDeclaration, found: Selectors) => boolean} */
function readStyle(selector, style, found) {
  const { cursor, content, contentVisibility, pointerEvents, visibility } = style;
  const space = style.whiteSpace || style.getPropertyValue("white-space-collapse");
  if (!cursor && !content && !contentVisibility && !pointerEvents && !visibility && !space) return true;

  /** @type {Kind[]} */
  const kinds = [];
  if (/pointer|grab|move|var\(/.test(cursor)) kinds.push("pointer");
  if (/none|var\(/.test(pointerEvents)) kinds.push("untouchable");
  if (/hidden|var\(/.test(contentVisibility || "")) kinds.push("skipping");
  if (saysSomething(content))
    kinds.push(.../** @type {Kind[]} */ (["before", "after"]).filter((pseudo) => selector.includes(":" + pseudo)));
  if (content.startsWith("url(")) kinds.push("picture");
  if (visibility && visibility !== "visible") kinds.push("invisible");
  if (KEPT_SPACE.test(space)) kinds.push("spaced");
  if (kinds.length && OF_OTHER_TREES.test(selector)) return false;
  for (const kind of kinds) found[kind].push(withoutPseudo(selector));
  return true;
}

/** @type {(content: string) => boolean} */
const saysSomething = (content) =>
  !!content && !/^(none|normal|""|''|inherit|initial|unset)$/.test(content) && !!fold(content).replace(/["'\s]/g, "");

/**
 * Return the selector of the elements that pseudo-elements belong to. `a::before, ::after` → `a, *`
 *
 * @type {(selector: string) => string}
 */
const withoutPseudo = (selector) =>
  selector.replace(/(^|[\s,>+~(])::?(?=before|after)/g, "$1*::").replace(/::?(before|after)/g, "");

export class Styled {
  /** @type {Matches} in all trees that were visited */
  matches = forEachKind(() => new Set());

  /** @type {(root: Document | ShadowRoot) => void} */
  read(root) {
    const summaries = sheetsOf(root).map(summaryOf);
    addInline(root, this.matches);
    for (const kind of KINDS) {
      const set = this.matches[kind];
      const selectors = set && selectorsOf(summaries, kind);
      this.matches[kind] = selectors && addMatches(root, selectors, set);
    }
  }

  /** @type {(other: Styled) => boolean} */
  isLike(other) {
    return KINDS.every((kind) => areEqual(this.matches[kind], other.matches[kind]));
  }

  /** @type {boolean} */
  get isAllVisible() {
    return this.matches.invisible?.size === 0;
  }

  /** @type {(facts: Facts, kind: Kind) => boolean} */
  may(facts, kind) {
    const set = this.matches[kind];
    return set === null || set.has(facts.element);
  }
}

/** @type {(root: Document | ShadowRoot) => CSSStyleSheet[]} */
function sheetsOf(root) {
  if (!isDocument(root)) return [...root.styleSheets, ...root.adoptedStyleSheets];
  const document = /** @type {Document} */ (root);
  return [...get.styleSheets.call(document), ...get.adoptedStyleSheets.call(document)];
}

/**
 * Return the selectors of one kind; null if a sheet could not be read.
 *
 * @type {(summaries: (Summary | null)[], kind: Kind) => string[] | null}
 */
const selectorsOf = (summaries, kind) =>
  summaries.includes(null) ? null : summaries.flatMap((summary) => summary?.selectors[kind] ?? []);

/** @type {[Kind, string][]} */
const INLINE = [
  ["invisible", "visibility"],
  ["pointer", "cursor"],
  ["untouchable", "pointer-events"],
  ["spaced", "white-space"],
  ["skipping", "content-visibility"],
];

/** @type {[Kind, string][]} */
const ATTRIBUTES = [
  ["invisible", "[visibility]"],
  ["skipping", '[hidden="until-found"]'],
];

/**
 * Add the elements that have the properties of a kind in attributes. One search for each attribute is faster than one
 * with a selector for each property.
 *
 * @type {(root: Scope, found: Matches) => void}
 */
function addInline(root, found) {
  for (const element of findAll(root, "[style]")) {
    const style = attribute(element, "style") || "";
    for (const [kind, property] of INLINE) if (style.includes(property)) found[kind]?.add(element);
  }
  for (const [kind, css] of ATTRIBUTES) for (const element of findAll(root, css)) found[kind]?.add(element);
}

/** @type {(root: Scope, selectors: string[], set: Set<Element>) => Set<Element> | null} */
function addMatches(root, selectors, set) {
  const all = [...new Set(selectors)];
  if (all.length > MAX_SELECTORS) return null;
  if (!all.length) return set;
  try {
    for (const element of findAll(root, all.join(","))) set.add(element);
  } catch {
    return null;
  }
  return set;
}

/** @type {(facts: Facts) => string} */
const displayNow = (facts) => styleOf(facts).display;
/** @type {(facts: Facts) => string} */
export const displayOf = (facts) => readLive(displayNow, facts);

/**
 * Return whether the text is in a line with the text around it. It is part of the same words unless it is
 * `inline-block` or similar.
 *
 * @type {(facts: Facts) => boolean}
 */
export const isInline = (facts) => /^(inline|contents|ruby)|math/.test(displayOf(facts));
/** @type {(facts: Facts) => boolean} */
export const isWithin = (facts) => /^(inline$|contents|ruby)|math/.test(displayOf(facts));

const SPACED_TAGS = words("pre listing xmp");

/**
 * Return how white space in the element is drawn: "all" as written, "lines" only its line breaks, "" as one space.
 * `isAround`: whether white space is kept in its parent.
 *
 * @type {(facts: Facts, isAround: boolean) => "" | "lines" | "all"}
 */
export function spaceKept(facts, isAround) {
  if (!isAround && !SPACED_TAGS.has(facts.tag) && !pass.styled.may(facts, "spaced")) return "";
  const collapse = readLive(spaceCollapseNow, facts);
  if (collapse === "preserve-breaks" || collapse === "pre-line") return "lines";
  return KEPT_SPACE.test(collapse) ? "all" : "";
}

/** @type {(facts: Facts) => string} */
function spaceCollapseNow(facts) {
  const style = styleOf(facts);
  return style.getPropertyValue("white-space-collapse") || style.whiteSpace;
}

/**
 * Return the text that a style sheet adds before or after an element's contents.
 *
 * @type {(facts: Facts, pseudo: "before" | "after") => string}
 */
export function generatedText(facts, pseudo) {
  if (pass.typed || !pass.styled.may(facts, pseudo)) return "";
  return readLive(pseudo === "before" ? textBefore : textAfter, facts.element);
}

/** @type {(element: AnyElement) => string} */
const textBefore = (element) => pseudoText(element, "::before");
/** @type {(element: AnyElement) => string} */
const textAfter = (element) => pseudoText(element, "::after");

/** @type {(element: AnyElement, pseudo: string) => string} */
function pseudoText(element, pseudo) {
  const style = getComputedStyle(element, pseudo);
  const { content } = style;
  if (!content || content === "none" || content === "normal" || content === '""') return "";
  if (style.display === "none" || style.visibility !== "visible") return "";
  const text = fold(contentText(element, content));
  return style.display.startsWith("inline") ? text : " " + text + " ";
}

const CONTENT_PARTS =
  /"((?:[^"\\]|\\[\s\S])*)(?:"|\\?$)|attr\(\s*([\w-]+)[^)]*(?:\)|$)|(\/)|url\("(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|[\w-]+(?:\([^)]*(?:\)|$))?/g;

/**
 * Return the text that the property `content` adds. `"a" attr(b) / "alternative"`: the text after the slash is used
 * instead. Counters are not in the document, and the text around them has no meaning without them.
 *
 * @type {(element: AnyElement, content: string) => string}
 */
function contentText(element, content) {
  let text = "";
  let isCounted = false;
  for (const [part, string, name, slash] of content.matchAll(CONTENT_PARTS)) {
    if (part.startsWith("counter")) isCounted = true;
    if (slash) [text, isCounted] = ["", false];
    else if (string !== undefined) text += string.replace(/\\(["\\])/g, "$1");
    else if (name) text += attribute(element, name) || "";
  }
  return isCounted ? "" : text;
}
