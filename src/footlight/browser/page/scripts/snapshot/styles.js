// Computed styles, and the text that stylesheets add.

import { pass } from "./pass.js";
import { attribute, findAll, fold, MAX_SELECTORS } from "./platform.js";

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
/** @type {WeakMap<CSSStyleSheet, Summary & Selectors>} */
const summaries = new WeakMap();

/** @typedef {"pointer" | "before" | "after" | "skipping" | "picture" | "invisible"} Kind */
/** @typedef {CSSRule & Partial<Omit<CSSStyleRule & CSSImportRule, keyof CSSRule>>} AnyRule */
/** @typedef {Record<Kind, string[]>} Selectors the selectors of each kind */
/** @typedef {Record<Kind, Set<Element> | null>} Matches the elements of each kind; null for any element */

/** @type {Kind[]} */
const KINDS = ["pointer", "before", "after", "skipping", "picture", "invisible"];

class Summary {
  /** @param {number} rules */
  constructor(rules) {
    this.rules = rules;
    for (const kind of KINDS) /** @type {this & Selectors} */ (this)[kind] = [];
  }
}

/** @type {(sheet: CSSStyleSheet) => (Summary & Selectors) | null} */
function summaryOf(sheet) {
  let rules;
  try {
    rules = sheet.cssRules;
  } catch {
    return null;
  }
  const known = summaries.get(sheet);
  if (known && known.rules === rules.length) return known;
  const summary = /** @type {Summary & Selectors} */ (new Summary(rules.length));
  if (!readRules(rules, summary)) return null;
  summaries.set(sheet, summary);
  return summary;
}

/** @type {(rules: CSSRuleList, summary: Selectors) => boolean} */
function readRules(rules, summary) {
  for (const rule of /** @type {Iterable<AnyRule>} */ (rules)) {
    if (rule.selectorText !== undefined && rule.style && !readStyle(rule, summary)) return false;
    if (rule.styleSheet && !readImport(rule, summary)) return false;
    if (rule.cssRules?.length && !rule.selectorText && !readRules(rule.cssRules, summary)) return false;
    // Rules nested in a rule refer to `&`, which is known only there.
    if (rule.selectorText && rule.cssRules?.length) return false;
  }
  return true;
}

/** @type {(rule: AnyRule, summary: Selectors) => boolean} */
function readImport(rule, summary) {
  const inner = summaryOf(rule.styleSheet);
  if (!inner) return false;
  for (const kind of KINDS) summary[kind].push(...inner[kind]);
  return true;
}

const OF_OTHER_TREES = /:host|::slotted|::part|&/;

/** @type {(rule: AnyRule, summary: Selectors) => boolean} */
function readStyle(rule, summary) {
  const { style } = rule;
  const { cursor, content, contentVisibility, visibility } = style;
  if (!cursor && !content && !contentVisibility && !visibility) return true;
  const selector = rule.selectorText;
  /** @type {Kind[]} */
  const kinds = [];
  if (/pointer|var\(/.test(cursor)) kinds.push("pointer");
  if (/hidden|var\(/.test(contentVisibility || "")) kinds.push("skipping");
  if (saysSomething(content))
    kinds.push(.../** @type {Kind[]} */ (["before", "after"]).filter((pseudo) => selector.includes(":" + pseudo)));
  if (content.startsWith("url(")) kinds.push("picture");
  if (visibility && visibility !== "visible") kinds.push("invisible");
  if (kinds.length && OF_OTHER_TREES.test(selector)) return false;
  for (const kind of kinds) summary[kind].push(withoutPseudo(selector));
  return true;
}

/** @type {(content: string) => boolean} */
const saysSomething = (content) =>
  !!content && !/^(none|normal|""|''|inherit|initial|unset)$/.test(content) && !!fold(content).replace(/["'\s]/g, "");

/**
 * `a::before, ::after` → `a, *`
 *
 * @type {(selector: string) => string}
 */
const withoutPseudo = (selector) =>
  selector.replace(/(^|[\s,>+~(])::?(?=before|after)/g, "$1*::").replace(/::?(before|after)/g, "");

// For each kind, the elements that may match, in all trees that were entered; null for any element.
export class Styled {
  /** @type {Set<Element> | null} */
  invisible = null;

  constructor() {
    for (const kind of KINDS) /** @type {this & Matches} */ (this)[kind] = new Set();
  }

  /** @type {(root: Document | ShadowRoot) => void} */
  read(root) {
    const sheets = [...(root.styleSheets || []), ...(root.adoptedStyleSheets || [])].map(summaryOf);
    const isWhole = !sheets.includes(null);
    for (const kind of KINDS) {
      const selectors = isWhole ? sheets.flatMap((summary) => summary[kind]) : null;
      /** @type {this & Matches} */ (this)[kind] =
        /** @type {this & Matches} */ (this)[kind] &&
        selectors &&
        addMatches(root, selectors, INLINE[kind], /** @type {this & Matches} */ (this)[kind]);
    }
  }

  /** @type {boolean} */
  get isAllVisible() {
    return this.invisible !== null && this.invisible.size === 0;
  }

  /** @type {(facts: Facts, kind: Kind) => boolean} */
  may(facts, kind) {
    return (
      /** @type {this & Matches} */ (this)[kind] === null ||
      /** @type {this & Matches} */ (this)[kind].has(facts.element)
    );
  }
}

/** @type {Partial<Record<Kind, string>>} */
const INLINE = {
  invisible: '[style*="visibility"],[visibility]',
  pointer: '[style*="cursor"]',
  skipping: '[style*="content-visibility"],[hidden="until-found"]',
};

/** @type {(root: Scope, selectors: string[], inline: string | undefined, set: Set<Element>) => Set<Element> | null} */
function addMatches(root, selectors, inline, set) {
  const all = [...new Set(selectors)];
  if (all.length > MAX_SELECTORS) return null;
  if (inline) all.push(inline);
  if (!all.length) return set;
  try {
    for (const element of findAll(root, all.join(","))) set.add(element);
  } catch {
    return null;
  }
  return set;
}

/**
 * Return whether the text is in a line with the text around it. It is part of the same words unless it is
 * `inline-block` or similar.
 *
 * @type {(facts: Facts) => boolean}
 */
export const isInline = (facts) => /^(inline|contents|ruby)|math/.test(styleOf(facts).display);
/** @type {(facts: Facts) => boolean} */
export const isWithin = (facts) => /^(inline$|contents|ruby)|math/.test(styleOf(facts).display);

/**
 * Return the text that a style sheet adds before or after an element's contents.
 *
 * @type {(facts: Facts, pseudo: "before" | "after") => string}
 */
export function generatedText(facts, pseudo) {
  if (pass.typed || !pass.styled.may(facts, pseudo)) return "";
  const style = getComputedStyle(facts.element, "::" + pseudo);
  const { content } = style;
  if (!content || content === "none" || content === "normal" || content === '""') return "";
  if (style.display === "none" || style.visibility !== "visible") return "";
  const text = fold(contentText(facts.element, content));
  return style.display.startsWith("inline") ? text : " " + text + " ";
}

const CONTENT_PARTS =
  /"((?:[^"\\]|\\[\s\S])*)(?:"|\\?$)|attr\(\s*([\w-]+)[^)]*(?:\)|$)|(\/)|url\("(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|[\w-]+(?:\([^)]*(?:\)|$))?/g;

/**
 * `"a" attr(b) / "alternative"`: the text after the slash is used instead. Counters are not in the document, and the
 * text around them means nothing without them.
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
