// `axe` is from axe.py: axe-core itself, of which the window shows nothing.
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** Rules that axe-core has, and does not run by itself. */
const ALSO = ['target-size', 'label-content-name-mismatch', 'td-has-header'];
/** Rules whose time grows with the square of the page, and the number of elements from which that is too long. */
const SLOW = ['color-contrast', 'link-in-text-block', 'target-size'];
const LARGE = 2000;
/** Rules whose outcome depends on the width. AGAIN: the others were told at another. */
const OF_WIDTH = ['color-contrast', 'target-size'];

/** Undecided wherever a frame is closed, which is told anyway. */
const ABOUT_FRAMES = ['frame-tested', 'bypass'];

const loaded = [axe];
let closed = 0;

/** Loads axe-core into the frames whose documents we may read, so that they answer when they are asked. */
function enterFrames(root) {
  for (const frame of allElements(root).filter(each => each.localName === 'iframe' || each.localName === 'frame')) {
    try {
      const { contentWindow, contentDocument } = frame;
      const own = Object.getOwnPropertyDescriptor(contentWindow, 'axe');
      loaded.push(contentWindow.eval(`(module => { let define; ${axe.source}; return module.exports; })({ exports: {} })`));
      own ? Object.defineProperty(contentWindow, 'axe', own) : delete contentWindow.axe;
      enterFrames(contentDocument);
    } catch { // of another origin, or under a policy that allows no eval
      closed += 1;
    }
  }
}

/** A target is a path into frames; a step of it may be several selectors, each in the shadow root of the one before. */
function elementAt(target) {
  let root = document, element = null;
  const frames = [];
  for (const step of target) {
    if (element)
      frames.push(element);
    root = element ? element.contentDocument : root;
    for (const selector of [step].flat()) {
      element = root?.querySelector(selector);
      root = element?.shadowRoot;
    }
  }
  return { element, frames };
}

function nodeOf({ target, html, any, all, none }) {
  const { element, frames } = elementAt(target);
  const note = [...any, ...all, ...none].map(check => check.message).join('; ');
  if (!element)
    return { selector: target.flat(Infinity).join(' >> '), html: html.slice(0, 300), text: '', note, box: null };
  return frames.reduceRight(insideOf, describe(element, note));
}

/** As the page around the frame has it. */
function insideOf(inner, frame) {
  const around = frame.getBoundingClientRect();
  const box = { ...inner.box, x: inner.box.x + around.x + frame.clientLeft, y: inner.box.y + around.y + frame.clientTop };
  return { ...inner, selector: `${selectorOf(frame)} >> ${inner.selector}`, box };
}

/** Of each look that text has on the page, the first few places: what is slow to measure is measured there. */
function samples(elements) {
  const seen = new Map();
  return elements.filter(element => {
    if (![...element.childNodes].some(each => each.nodeType === Node.TEXT_NODE && each.data.trim()) || element.childElementCount > 20)
      return false;
    const { color, fontSize, fontWeight, backgroundColor } = getComputedStyle(element);
    const look = [color, fontSize, fontWeight, backgroundColor, element.localName, element.className, element.parentElement?.className].join();
    seen.set(look, (seen.get(look) ?? 0) + 1);
    return seen.get(look) <= 3;
  }).slice(0, 300);
}

async function run(context, options) {
  return axe.run(context, { iframes: loaded.length > 1, frameWaitTime: 10_000, resultTypes: ['violations'], ...options });
}

/** In a large page the slow rules look at samples. */
async function runAll() {
  const switched = (ids, enabled) => Object.fromEntries(ids.map(id => [id, { enabled }]));
  const elements = allElements();
  if (elements.length <= LARGE)
    return { sampled: 0, results: [await run(document, { runOnly: TAGS, rules: switched(ALSO, true) })] };
  const sample = samples(elements);
  const results = [await run(document, { runOnly: TAGS, rules: { ...switched(ALSO, true), ...switched(SLOW, false) } })];
  if (sample.length)
    results.push(await run({ include: sample }, { runOnly: { type: 'rule', values: SLOW } }));
  return { sampled: sample.length, results };
}

async function runOfWidth() {
  const elements = allElements(), sample = samples(elements);
  const context = elements.length <= LARGE ? document : { include: sample };
  const results = sample.length ? [await run(context, { runOnly: { type: 'rule', values: OF_WIDTH } })] : [];
  return { sampled: 0, results };
}

try {
  enterFrames(document);
  const { sampled, results } = await (AGAIN ? runOfWidth() : runAll());
  return {
    version: axe.version,
    closed,
    sampled,
    undecided: results.flatMap(each => each.incomplete.map(rule => rule.id)).filter(id => !closed || !ABOUT_FRAMES.includes(id)),
    violations: results.flatMap(each => each.violations).map(({ id, impact, help, description, helpUrl, nodes }) => ({
      id, impact, help, description, helpUrl,
      summary: nodes[0].failureSummary,
      count: nodes.length,
      elements: nodes.slice(0, MOST_ELEMENTS).map(nodeOf),
    })),
  };
} finally {
  // Its listener for messages goes as well.
  for (const each of loaded)
    each.frameMessenger({ open() {}, post() {} });
}
