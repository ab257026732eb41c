// The effect of the page's `:hover` styles at the current place of the mouse.

/** @typedef {"appeared" | "restyled" | "other" | ""} HoverStyles */

const MAX_RULES = 20_000;
const MAX_SELECTOR = 1_000;
const FRAME_MS = 100; // Pages that draw no frames are not waited for.
const HOVERED = ":is(:hover)"; // Without a doctype, the plain pseudo-class matches only links.
const FRAMES = ["iframe", "frame", "object", "embed"];
const PSEUDO_ELEMENT = /::?(?:before|after)\s*$/;
const ZERO = /^0(?:px|%|em|rem)?$/;
const IN_PLACE = /^(?:none|scale[XY]?\(1\)|translate[XY]?\((?:0(?:px|%)?(?:, )?)+\))$/;

/**
 * Return whether styles for `:hover` show content (`appeared`) or change only the look (`restyled`), and the element
 * under the mouse. In a frame of another site it is `other`.
 *
 * @returns {Promise<[HoverStyles, Node]>}
 */
export async function findHoverStyles() {
  await waitForFrames();
  const path = hoveredPath();
  const last = path[path.length - 1];
  /** @type {HoverStyles} */
  let found = last && FRAMES.includes(last.localName) ? "other" : "";
  let left = MAX_RULES;
  const roots = /** @type {Set<Document | ShadowRoot>} */ (
    new Set([document, ...path.map((each) => each.getRootNode())])
  );

  /** @type {(rules: CSSRuleList, root: Document | ShadowRoot) => void} */
  const visit = (rules, root) => {
    for (const rule of rules) {
      if (left-- <= 0 || found === "appeared") return;
      if (rule instanceof CSSMediaRule && !matchMedia(rule.media.mediaText).matches) continue;
      if (rule instanceof CSSStyleRule) found = effectOf(rule, root) || found;
      if ("cssRules" in rule) visit(/** @type {CSSGroupingRule} */ (rule).cssRules, root);
    }
  };

  for (const root of roots)
    for (const sheet of [...root.styleSheets, ...root.adoptedStyleSheets])
      try {
        visit(sheet.cssRules, root);
      } catch {} // It has another origin.
  return [found, last ?? document];
}

/** Wait until the browser has determined the element under the mouse. */
async function waitForFrames() {
  const frames = new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  await Promise.race([frames, new Promise((resolve) => setTimeout(resolve, FRAME_MS))]);
}

/** @returns {Element[]} the innermost element under the mouse in the document, and in each root inside it */
function hoveredPath() {
  /** @type {Element[]} */
  const path = [];
  for (let root = /** @type {Document | ShadowRoot | null} */ (document); root; ) {
    const found = root.querySelectorAll(HOVERED);
    const at = found[found.length - 1];
    if (!at || path.includes(at)) break;
    path.push(at);
    root = at.shadowRoot || (at instanceof HTMLIFrameElement ? at.contentDocument : null);
  }
  return path;
}

/**
 * Split a list of selectors at the commas outside parentheses and brackets.
 *
 * @type {(list: string) => string[]}
 */
function splitSelectors(list) {
  const selectors = [""];
  let depth = 0;
  for (const char of list) {
    if (char === "(" || char === "[") depth++;
    if (char === ")" || char === "]") depth--;
    if (char === "," && depth <= 0) selectors.push("");
    else selectors[selectors.length - 1] += char;
  }
  return selectors;
}

/** @type {(rule: CSSStyleRule, root: Document | ShadowRoot) => HoverStyles} */
function effectOf(rule, root) {
  const selector = rule.selectorText;
  if (selector.length > MAX_SELECTOR || !selector.includes(":hover") || !rule.style.length) return "";
  /** @type {HoverStyles} */
  let effect = "";
  for (const part of splitSelectors(selector)) {
    if (!part.includes(":hover")) continue;
    // The whole page is always hovered.
    const own = part.replaceAll(":hover", ":hover:not(:root, body)").replace(PSEUDO_ELEMENT, "").trim() || "*";
    /** @type {Element[]} */
    let found = [];
    try {
      found = [...root.querySelectorAll(own)];
    } catch {} // It is not a selector for elements.
    if (!found.length) continue;
    const isElsewhere = PSEUDO_ELEMENT.test(part) || found.some((each) => !each.matches(HOVERED));
    if (isElsewhere && shows(rule.style)) return "appeared";
    effect = "restyled";
  }
  return effect;
}

/** @type {(style: CSSStyleDeclaration) => boolean} */
function shows(style) {
  const sides = [style.left, style.right, style.top, style.bottom];
  return (
    Number(style.opacity || 0) >= 0.9 ||
    style.visibility === "visible" ||
    (style.display !== "" && style.display !== "none") ||
    [style.maxHeight, style.height, style.gridTemplateRows].some((size) => size && !ZERO.test(size)) ||
    IN_PLACE.test(style.transform) ||
    style.scale === "1" ||
    ["none", "inset(0px)"].includes(style.clipPath) ||
    style.clip === "auto" ||
    style.overflow === "visible" ||
    sides.some(Boolean)
  );
}
