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

/**
 * @typedef {"activeElement" | "children" | "childNodes" | "className" | "classList" | "clientHeight" | "clientLeft" | "clientTop" | "clientWidth" | "firstElementChild"
 *   | "innerHTML" | "innerText" | "isConnected" | "isContentEditable" | "onclick" | "localName" | "namespaceURI" | "nextElementSibling" | "nodeType" | "offsetHeight"
 *   | "offsetWidth" | "outerHTML" | "parentElement" | "parentNode" | "previousElementSibling" | "shadowRoot" | "tabIndex"
 *   | "textContent"} Attribute
 * @typedef {"checkVisibility" | "cloneNode" | "closest" | "compareDocumentPosition" | "contains" | "getAttribute"
 *   | "getBoundingClientRect" | "getElementsByTagName" | "getRootNode" | "hasAttribute" | "matches" | "querySelector"
 *   | "querySelectorAll"} Method
 * @typedef {"baseURI" | "contentType" | "readyState" | "referrer" | "scrollingElement" | "styleSheets" | "adoptedStyleSheets"
 *   | "timeline"} DocumentAttribute
 * @typedef {"createElementNS" | "createRange" | "elementFromPoint" | "getAnimations" | "getElementById"
 *   | "getElementsByName"} DocumentMethod
 * @typedef {{ [K in DocumentAttribute]: (node: Document) => Document[K] }} DocumentAttributes
 * @typedef {{ [K in DocumentMethod]: (node: any, ...rest: any[]) => ReturnType<Document[K]> }} DocumentMethods
 * @typedef {{ [K in Attribute]: (node: any) => (AnyElement & { activeElement: AnyElement | null })[K] }} Attributes
 * @typedef {{ [K in Method]: (node: any, ...rest: any[]) => ReturnType<AnyElement[K]> }} Methods
 */

const INTERFACES = [Node, Element, Document, DocumentFragment, ShadowRoot, HTMLElement, SVGElement];

/**
 * Return a function that reads or calls a member as the interfaces of the DOM declare it.
 *
 * @type {(name: string) => (node: any, ...rest: any[]) => any}
 */
function memberOf(name) {
  const declared = INTERFACES.map((type) => Object.getOwnPropertyDescriptor(type.prototype, name));
  const functions = declared.map((each) => each?.get ?? each?.value).filter(Boolean);
  return (node, ...rest) => {
    for (const each of node ? functions : []) {
      try {
        return each.apply(node, rest);
      } catch (error) {
        if (!(error instanceof TypeError)) throw error; // The node is of another interface.
      }
    }
    return undefined;
  };
}

/**
 * The members of nodes. Names of the page shadow them: `form.children` may be a field, and `document.title` an image of
 * that name.
 *
 * @type {Attributes & Methods & DocumentAttributes & DocumentMethods}
 */
export const own = /** @type {any} */ (
  Object.fromEntries(
    [
      ...[
        "activeElement",
        "children",
        "childNodes",
        "className",
        "classList",
        "clientHeight",
        "clientLeft",
        "clientTop",
        "clientWidth",
        "firstElementChild",
      ],
      ...[
        "innerHTML",
        "innerText",
        "isConnected",
        "isContentEditable",
        "onclick",
        "namespaceURI",
        "localName",
        "nextElementSibling",
        "nodeType",
        "offsetHeight",
      ],
      ...[
        "offsetWidth",
        "outerHTML",
        "parentElement",
        "parentNode",
        "previousElementSibling",
        "shadowRoot",
        "tabIndex",
      ],
      ...[
        "textContent",
        "checkVisibility",
        "cloneNode",
        "closest",
        "compareDocumentPosition",
        "contains",
        "getAttribute",
      ],
      ...["getBoundingClientRect", "getElementsByTagName", "getRootNode", "hasAttribute", "matches", "querySelector"],
      ...[
        "querySelectorAll",
        "baseURI",
        "contentType",
        "readyState",
        "referrer",
        "scrollingElement",
        "timeline",
        "styleSheets",
        "adoptedStyleSheets",
      ],
      ...["createElementNS", "createRange", "elementFromPoint", "getAnimations", "getElementById", "getElementsByName"],
    ].map((name) => [name, memberOf(name)]),
  )
);
const [readBody, readRoot, readTitle] = ["body", "documentElement", "title"].map(memberOf);

/** @type {() => HTMLElement | null} */
export const documentBody = () => readBody(document);
/**
 * Return the root element of the document, which a page can remove.
 *
 * @type {() => HTMLElement | null}
 */
export const documentRoot = () => readRoot(document);
/** @type {() => string} */
export const documentTitle = () => readTitle(document);

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
    for (const child of own.children(node)) {
      found.push(child);
      const shadow = own.shadowRoot(child);
      if (shadow) walk(shadow);
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
  const box = own.getBoundingClientRect(element);
  return (
    box.width > 0 &&
    box.height > 0 &&
    own.checkVisibility(element, { opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true })
  );
}

/**
 * Return the parent element, or the host of the shadow root.
 *
 * @type {(element: AnyElement) => AnyElement | null}
 */
export function above(element) {
  const root = own.getRootNode(element);
  return own.parentElement(element) ?? (root instanceof ShadowRoot ? root.host : null);
}

/**
 * Return the code that an element runs at an event, as far as its attribute or the property of a handler has it. In an
 * isolated world, properties are null.
 *
 * @type {(owner: any, name: "click" | "contextmenu") => string | null}
 */
export function handlerOf(owner, name) {
  const handler = name === "click" ? own.onclick(owner) : owner[`on${name}`];
  if (typeof handler === "function") return String(handler);
  return owner instanceof Element ? own.getAttribute(owner, `on${name}`) : null;
}

/**
 * Return the visible text of an element on one line.
 *
 * @type {(element: AnyElement, most?: number) => string}
 */
export function textOf(element, most = 80) {
  return oneLine(own.innerText(element) ?? own.textContent(element), most);
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
  const root = /** @type {Document | ShadowRoot} */ (own.getRootNode(element));
  /** @type {(selector: string) => boolean} */
  const isAlone = (selector) => {
    try {
      return own.querySelectorAll(root, selector).length === 1;
    } catch {
      return false;
    }
  };
  /** @type {string[]} */
  const parts = [];
  for (let each = /** @type {AnyElement | null} */ (element); each; each = own.parentElement(each)) {
    parts.unshift(stepOf(each));
    if (isAlone(parts.join(" > "))) break;
  }
  const inside = parts.join(" > ");
  return root instanceof ShadowRoot ? `${selectorOf(root.host)} ${inside}` : inside;
}

/** @type {(element: AnyElement) => string} */
function stepOf(element) {
  const id = own.getAttribute(element, "id");
  if (id && !/\d{3}|[:.]/.test(id)) return `#${CSS.escape(id)}`;
  const testId = own.getAttribute(element, "data-testid");
  if (testId) return `[data-testid="${CSS.escape(testId)}"]`;
  const name = CSS.escape(own.localName(element));
  const parent = own.parentNode(element);
  const alike = parent
    ? [...own.children(parent)].filter((each) => own.localName(each) === own.localName(element))
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
 * Return the HTML without the namespace that browsers add to each element of an XHTML document.
 *
 * @type {(html: string) => string}
 */
const withoutNamespace = (html) =>
  own.contentType(document) === "text/html" ? html : html.replaceAll(' xmlns="http://www.w3.org/1999/xhtml"', "");

/**
 * Return the HTML source of an element, with long content shortened.
 *
 * @type {(element: AnyElement) => string}
 */
function sourceOf(element) {
  const empty = withoutNamespace(own.outerHTML(own.cloneNode(element, false)));
  const end = empty.lastIndexOf("</");
  const [opening, closing] = end < 0 ? [empty, ""] : [empty.slice(0, end), empty.slice(end)];
  if (opening.length > MAX_SOURCE) return `${opening.slice(0, MAX_SOURCE - 1)}…`;
  const room = MAX_SOURCE - opening.length - closing.length;
  const isShort =
    own.textContent(element).length <= room && own.getElementsByTagName(element, "*").length <= MAX_CHILDREN;
  const inside = isShort ? withoutNamespace(own.innerHTML(element)).replace(/\s+/g, " ") : "";
  return inside.length <= room && isShort ? `${opening}${inside}${closing}` : `${opening}…${closing}`;
}

/**
 * Return the box of an element in the coordinates of the page.
 *
 * @type {(element: AnyElement, frames?: AnyElement[]) => Box}
 */
export function boxOf(element, frames = []) {
  const box = own.getBoundingClientRect(element);
  let x = box.x + scrollX,
    y = box.y + scrollY;
  for (const frame of frames) {
    const outer = own.getBoundingClientRect(frame);
    x += outer.x + own.clientLeft(frame);
    y += outer.y + own.clientTop(frame);
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
