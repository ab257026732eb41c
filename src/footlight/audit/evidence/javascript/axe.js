// Run axe-core, which axe.py provides as `axe`.

import { allElements, describe, MAX_ELEMENTS, onlyElement, own, selectorOf } from "./dom.js";

/** @import { Described } from "./dom.js" */

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** Rules of axe-core that are off by default. */
const ALSO = [
  "target-size",
  "label-content-name-mismatch",
  "td-has-header",
  "css-orientation-lock",
  "color-contrast-enhanced",
  "meta-refresh-no-exceptions",
];
/** Rules whose results axe-core calls incomplete although what they found is certain. */
const CERTAIN = ["aria-prohibited-attr", "th-has-data-cells"];
/** Rules that take quadratic time, and the number of elements from which they run on samples. */
const SLOW = ["color-contrast", "color-contrast-enhanced", "link-in-text-block", "target-size"];
/** Rules that take long on a whole page, and whose result for an element does not depend on those outside of it. */
const ALONE = [...SLOW, "td-has-header", "td-headers-attr", "image-alt", "button-name", "link-name", "label"];
const LARGE = 2000;
/** Rules whose result depends on the width. AGAIN: the other rules already ran at another width. */
const OF_WIDTH = ["color-contrast", "target-size"];

/** Rules that are incomplete on every page whose style sheets axe-core cannot read, without elements to look at. */
const ABOUT_STYLES = "css-orientation-lock";
/** Rules that are always incomplete where a frame cannot be read, which a fact reports. */
const ABOUT_FRAMES = ["frame-tested", "bypass"];

/**
 * @typedef {object} AxeNode
 * @property {AnyElement} [element] in the document or its shadow roots
 * @property {(string | string[])[]} [target] a path into frames, in which a step can pierce shadow roots
 * @property {string} html
 * @property {{ message: string }[]} any
 * @property {{ message: string }[]} all
 * @property {{ message: string }[]} none
 * @property {string} failureSummary
 */

/**
 * @typedef {object} AxeRule
 * @property {string} id
 * @property {string} impact
 * @property {string} help
 * @property {string} description
 * @property {string} helpUrl
 * @property {string[]} tags
 * @property {AxeNode[]} nodes
 */

/** @typedef {{ incomplete: AxeRule[], violations: AxeRule[] }} AxeResults */

const loaded = [axe];
let closed = 0;

/**
 * Load axe-core into the frames whose documents can be read.
 *
 * @type {(root: Document) => void}
 */
function enterFrames(root) {
  for (const frame of allElements(root).filter(
    (each) => own.localName(each) === "iframe" || own.localName(each) === "frame",
  )) {
    try {
      const { contentWindow, contentDocument } = /** @type {any} */ (frame);
      const own = Object.getOwnPropertyDescriptor(contentWindow, "axe");
      loaded.push(
        contentWindow.eval(`(module => { let define; ${axe.source}; return module.exports; })({ exports: {} })`),
      );
      own ? Object.defineProperty(contentWindow, "axe", own) : delete contentWindow.axe;
      enterFrames(contentDocument);
    } catch {
      // a frame of another origin, or with a policy that does not allow eval
      closed += 1;
    }
  }
}

/**
 * Find the element of a node, and the frames around it.
 *
 * @type {(node: AxeNode) => { element: AnyElement | null, frames: AnyElement[] }}
 */
function elementOf({ element: known, target = [] }) {
  if (known) return { element: known, frames: [] };
  let root = /** @type {Document | ShadowRoot | null} */ (document),
    element = /** @type {AnyElement | null} */ (null);
  /** @type {AnyElement[]} */
  const frames = [];
  for (const step of target) {
    if (element) frames.push(element);
    root = element ? (element.contentDocument ?? null) : root;
    for (const selector of [step].flat()) {
      element = own.querySelector(root, selector) ?? null;
      root = own.shadowRoot(element) ?? null;
    }
  }
  return { element, frames };
}

/** @type {(node: AxeNode) => Described} */
function nodeOf(node) {
  const { target = [], html, any, all, none } = node;
  const { element, frames } = elementOf(node);
  const note = [...any.slice(0, MAX_WAYS), ...all, ...none].map((check) => check.message).join("; ");
  if (!element)
    return {
      selector: target.flat(Infinity).join(" >> "),
      html: html.slice(0, 300),
      text: "",
      note,
      box: null,
    };
  const described = describe(element, note, frames);
  const around = frames.map((frame) => `${selectorOf(frame)} >> `);
  return { ...described, selector: `${around.join("")}${described.selector}` };
}

/**
 * Return the first few elements for each style of text on the page, for rules that are slow.
 *
 * @type {(elements: AnyElement[]) => AnyElement[]}
 */
function samples(elements) {
  const seen = new Map();
  return elements
    .filter((element) => {
      if (
        ![...own.childNodes(element)].some(
          (each) => own.nodeType(each) === Node.TEXT_NODE && /** @type {Text} */ (each).data.trim(),
        ) ||
        own.children(element).length > 20
      )
        return false;
      const { color, fontSize, fontWeight, backgroundColor } = getComputedStyle(element);
      const look = [
        color,
        fontSize,
        fontWeight,
        backgroundColor,
        own.localName(element),
        own.className(element),
        own.className(own.parentElement(element)),
      ].join();
      seen.set(look, (seen.get(look) ?? 0) + 1);
      return seen.get(look) <= 3;
    })
    .slice(0, 300);
}

/** @type {(context: Document | { include: AnyElement[] }, options: object) => Promise<AxeResults>} */
async function run(context, options) {
  const hasFrames = loaded.length > 1;
  return axe.run(context, {
    iframes: hasFrames,
    // Selectors take quadratic time where many elements fail, and only elements in frames need them.
    selectors: hasFrames,
    elementRef: !hasFrames,
    frameWaitTime: 10_000,
    resultTypes: ["violations", "incomplete"],
    ...options,
  });
}

/**
 * Run all rules; on a large page the slow rules run on samples.
 *
 * @returns {Promise<{ sampled: number, results: AxeResults[] }>}
 */
async function runAll() {
  /** @type {(ids: string[], enabled: boolean) => Record<string, { enabled: boolean }>} */
  const switchRules = (ids, enabled) => Object.fromEntries(ids.map((id) => [id, { enabled }]));
  const elements = allElements();
  if (elements.length <= LARGE)
    return { sampled: 0, results: [await run(document, { runOnly: TAGS, rules: switchRules(ALSO, true) })] };
  const sample = samples(elements);
  const results = [
    await run(document, { runOnly: TAGS, rules: { ...switchRules(ALSO, true), ...switchRules(SLOW, false) } }),
  ];
  if (sample.length) results.push(await run({ include: sample }, { runOnly: { type: "rule", values: SLOW } }));
  return { sampled: sample.length, results };
}

/**
 * Run one rule, on the one element if its result does not depend on others.
 *
 * @type {(rule: string) => Promise<{ sampled: number, results: AxeResults[] }>}
 */
async function runOne(rule) {
  const context = onlyElement && ALONE.includes(rule) ? { include: [onlyElement] } : document;
  return { sampled: 0, results: [await run(context, { runOnly: { type: "rule", values: [rule] } })] };
}

/** @type {(rule: AxeRule) => AxeRule} */
function keepOnly(rule) {
  if (!onlyElement) return rule;
  return { ...rule, nodes: rule.nodes.filter((node) => elementOf(node).element === onlyElement) };
}

/** @returns {Promise<{ sampled: number, results: AxeResults[] }>} */
async function runOfWidth() {
  const elements = allElements(),
    sample = samples(elements);
  const context = elements.length <= LARGE ? document : { include: sample };
  const results = sample.length ? [await run(context, { runOnly: { type: "rule", values: OF_WIDTH } })] : [];
  return { sampled: 0, results };
}

/** @type {Map<string, string[]>} */
const actRules = new Map(
  axe.getRules().map((/** @type {{ ruleId: string, actIds?: string[] }} */ rule) => [rule.ruleId, rule.actIds ?? []]),
);

/** @type {(rule: AxeRule) => object} */
function describeRule({ id, impact, help, description, helpUrl, tags, nodes }) {
  return {
    id,
    impact,
    help,
    description,
    helpUrl,
    tags,
    act: actRules.get(id) ?? [],
    summary: nodes[0].failureSummary,
    count: nodes.length,
    elements: nodes.slice(0, MAX_ELEMENTS).map(nodeOf),
  };
}

/**
 * Leave out of the stricter rule about contrast the elements that fail the other one already.
 *
 * @type {(rules: AxeRule[]) => AxeRule[]}
 */
function withoutRepeatedContrast(rules) {
  const failing = rules.filter((rule) => rule.id === "color-contrast").flatMap((rule) => rule.nodes);
  // An element that was removed meanwhile is known by its selector.
  const keyOf = (/** @type {AxeNode} */ node) => elementOf(node).element ?? JSON.stringify(node.target);
  const known = new Set(failing.map(keyOf));
  return rules.map((rule) =>
    rule.id === "color-contrast-enhanced"
      ? { ...rule, nodes: rule.nodes.filter((node) => !known.has(keyOf(node))) }
      : rule,
  );
}

/**
 * Refuse documents on which axe-core would go up the tree without end: a field hides where its form is.
 *
 * @returns {void}
 */
function refuseHiddenParents() {
  for (const form of own.getElementsByTagName(document, "form")) {
    for (const name of /** @type {const} */ (["parentNode", "parentElement"]))
      if (form[name] !== own[name](form)) throw new Error(`a field called ${name} hides the tree of the page`);
  }
}

/** @returns {Promise<Record<string, any>>} */
export async function answer() {
  try {
    refuseHiddenParents();
    enterFrames(document);
    const { sampled, results } = await (RULE ? runOne(RULE) : AGAIN ? runOfWidth() : runAll());
    const incomplete = results.flatMap((each) => each.incomplete).filter((rule) => rule.nodes.length);
    const certain = incomplete.filter((rule) => CERTAIN.includes(rule.id));
    return {
      version: axe.version,
      closed,
      sampled,
      incomplete: incomplete
        .filter(
          (rule) => !certain.includes(rule) && rule.id !== ABOUT_STYLES && (!closed || !ABOUT_FRAMES.includes(rule.id)),
        )
        .map(describeRule),
      violations: withoutRepeatedContrast([...results.flatMap((each) => each.violations), ...certain])
        .map(keepOnly)
        .filter((rule) => rule.nodes.length)
        .map(describeRule),
    };
  } finally {
    // This also removes the listener for messages of axe-core.
    for (const each of loaded) each.frameMessenger({ open() {}, post() {} });
  }
}
