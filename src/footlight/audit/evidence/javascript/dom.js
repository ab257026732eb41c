// Functions that every script of the collectors starts with.

/** @typedef {{ x: number, y: number, width: number, height: number }} Box in the coordinates of the page */

/**
 * An element as a finding describes it.
 *
 * @typedef {object} Described
 * @property {string} selector
 * @property {string} html
 * @property {string} text
 * @property {string} note what was measured about it
 * @property {Box | null} box
 * @property {number} [handle] its number among the remembered elements
 */

/** @typedef {{ element: WeakRef<AnyElement>, frames: AnyElement[] }} Remembered */

export const MAX_ELEMENTS = 10;
/**
 * The only element that is of interest, when one finding is checked again, or null.
 *
 * @type {AnyElement | null}
 */
export const onlyElement = typeof ONLY === "undefined" ? null : ONLY;
const MAX_SOURCE = 300;
const MAX_CHILDREN = 50;

// Names of the page shadow members of its forms and of the document: `form.children` may be a field, and `document.title`
// an image of that name.
/** @type {(type: { prototype: object }, name: string) => () => any} */
const getter = (type, name) =>
  /** @type {{ get: () => any }} */ (Object.getOwnPropertyDescriptor(type.prototype, name)).get;
const readChildren = getter(Element, "children");
const readBody = getter(Document, "body");
const readRoot = getter(Document, "documentElement");
const readTitle = getter(Document, "title");

/** @type {(node: ParentNode) => HTMLCollection} */
export const childrenOf = (node) => (node instanceof Element ? readChildren.call(node) : node.children);
/** @type {() => HTMLElement | null} */
export const documentBody = () => readBody.call(document);
/**
 * Return the root element of the document, which a page can remove.
 *
 * @type {() => HTMLElement | null}
 */
export const documentRoot = () => readRoot.call(document);
/** @type {() => string} */
export const documentTitle = () => readTitle.call(document);

/**
 * Return all elements of the document and of its open shadow roots in tree order.
 *
 * @type {(root?: Document | ShadowRoot) => AnyElement[]}
 */
export function allElements(root = document) {
  /** @type {AnyElement[]} */
  const found = [];
  /** @type {(node: ParentNode) => void} */
  const walk = (node) => {
    for (const child of childrenOf(node)) {
      found.push(child);
      if (child.shadowRoot) walk(child.shadowRoot);
      walk(child);
    }
  };
  walk(root);
  return found;
}

/**
 * Return whether the element is visible.
 *
 * @type {(element: AnyElement) => boolean}
 */
export function isVisible(element) {
  const box = element.getBoundingClientRect();
  return (
    box.width > 0 &&
    box.height > 0 &&
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true })
  );
}

/**
 * Return the parent element, or the host of the shadow root.
 *
 * @type {(element: AnyElement) => AnyElement | null}
 */
export function above(element) {
  return element.parentElement ?? /** @type {ShadowRoot} */ (element.getRootNode()).host ?? null;
}

/**
 * Return the visible text of an element on one line.
 *
 * @type {(element: AnyElement, most?: number) => string}
 */
export function textOf(element, most = 80) {
  return oneLine(element.innerText ?? element.textContent, most);
}

/** @type {(text: string | null | undefined, most?: number) => string} */
export function oneLine(text, most = 60) {
  const line = (text ?? "").replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/**
 * Return a CSS selector of this element only, which pierces shadow roots as in Playwright.
 *
 * @type {(element: AnyElement) => string}
 */
export function selectorOf(element) {
  const root = /** @type {Document | ShadowRoot} */ (element.getRootNode());
  /** @type {(selector: string) => boolean} */
  const isAlone = (selector) => {
    try {
      return root.querySelectorAll(selector).length === 1;
    } catch {
      return false;
    }
  };
  /** @type {string[]} */
  const parts = [];
  for (let each = /** @type {AnyElement | null} */ (element); each; each = each.parentElement) {
    parts.unshift(stepOf(each));
    if (isAlone(parts.join(" > "))) break;
  }
  const inside = parts.join(" > ");
  return root instanceof ShadowRoot ? `${selectorOf(root.host)} ${inside}` : inside;
}

/** @type {(element: AnyElement) => string} */
function stepOf(element) {
  const id = element.getAttribute("id");
  if (id && !/\d{3}|[:.]/.test(id)) return `#${CSS.escape(id)}`;
  const testId = element.getAttribute("data-testid");
  if (testId) return `[data-testid="${CSS.escape(testId)}"]`;
  const name = CSS.escape(element.localName);
  const alike = element.parentNode
    ? [...childrenOf(element.parentNode)].filter((each) => each.localName === element.localName)
    : [];
  return alike.length > 1 ? `${name}:nth-of-type(${alike.indexOf(element) + 1})` : name;
}

/**
 * Describe an element for a finding; `note` is what was measured about it.
 *
 * @param {AnyElement} element
 * @param {string} [note]
 * @param {AnyElement[]} [frames] the frames around it, the outermost first
 * @returns {Described}
 */
export function describe(element, note = "", frames = []) {
  return {
    selector: selectorOf(element),
    html: sourceOf(element),
    text: textOf(element),
    note,
    box: boxOf(element, frames),
    handle: remember(element, frames),
  };
}

/**
 * Return the HTML source of an element, with long content shortened.
 *
 * @type {(element: AnyElement) => string}
 */
function sourceOf(element) {
  const empty = /** @type {AnyElement} */ (element.cloneNode(false)).outerHTML;
  const end = empty.lastIndexOf("</");
  const [opening, closing] = end < 0 ? [empty, ""] : [empty.slice(0, end), empty.slice(end)];
  if (opening.length > MAX_SOURCE) return `${opening.slice(0, MAX_SOURCE - 1)}…`;
  const room = MAX_SOURCE - opening.length - closing.length;
  const isShort = element.textContent.length <= room && element.getElementsByTagName("*").length <= MAX_CHILDREN;
  const inside = isShort ? element.innerHTML.replace(/\s+/g, " ") : "";
  return inside.length <= room && isShort ? `${opening}${inside}${closing}` : `${opening}…${closing}`;
}

/**
 * Return the box of an element in the coordinates of the page.
 *
 * @type {(element: AnyElement, frames?: AnyElement[]) => Box}
 */
export function boxOf(element, frames = []) {
  const box = element.getBoundingClientRect();
  let x = box.x + scrollX,
    y = box.y + scrollY;
  for (const frame of frames) {
    const outer = frame.getBoundingClientRect();
    x += outer.x + frame.clientLeft;
    y += outer.y + frame.clientTop;
  }
  return { x, y, width: box.width, height: box.height };
}

const KNOWN = Symbol.for("footlight.elements");

/**
 * Return the elements that were described since the page was opened.
 *
 * @returns {Remembered[]}
 */
export function rememberedElements() {
  return /** @type {any} */ (window)[KNOWN] ?? [];
}

/**
 * Forget the described elements, so that nothing is left on the page.
 *
 * @returns {void}
 */
export function forgetElements() {
  delete (/** @type {any} */ (window)[KNOWN]);
}

/**
 * Remember an element, so that its box can be measured again, and return its number.
 *
 * @type {(element: AnyElement, frames: AnyElement[]) => number}
 */
function remember(element, frames) {
  if (!(/** @type {any} */ (window)[KNOWN])) Object.defineProperty(window, KNOWN, { value: [], configurable: true });
  return /** @type {any} */ (window)[KNOWN].push({ element: new WeakRef(element), frames }) - 1;
}

/**
 * Run each rule. A rule that throws does not affect the others: its name is listed in `failed`.
 *
 * @param {Record<string, () => any>} rules
 * @returns {Record<string, any>}
 */
export function runRules(rules) {
  const results = /** @type {Record<string, any>} */ ({}),
    failed = /** @type {{ rule: string, why: string }[]} */ ([]);
  for (const [name, run] of Object.entries(rules)) {
    try {
      results[name] = run();
    } catch (error) {
      failed.push({ rule: name, why: oneLine(String(error), 200) });
    }
  }
  return { ...results, failed };
}

/**
 * Return the number of elements, and descriptions of the first of them.
 *
 * @template {AnyElement} T
 * @param {T[]} elements
 * @param {(element: T) => string} [note]
 * @returns {{ count: number, elements: Described[] }}
 */
export function describeAll(elements, note = () => "") {
  const found = onlyElement ? elements.filter((each) => each === onlyElement) : elements;
  return {
    count: found.length,
    elements: found.slice(0, MAX_ELEMENTS).map((each) => describe(each, note(each))),
  };
}
