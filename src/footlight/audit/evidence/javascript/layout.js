// Check the layout at this width, and what a reader can recognise. NARROW: as on a phone; WIDE: as on a desktop.

import { above, describeAll, documentBody, documentRoot, own, runRules } from "./dom.js";
import { cutOff, elements, overlaps, texts } from "./layout_text.js";

/** @import { PageText } from "./layout_text.js" */

const MIN_TEXT_PX = 12;
const MIN_FIELD_TEXT_PX = 16;
const MAX_LINE_LENGTH = 100;
const STRETCHED = 1.15;
const STAYING = 0.3;
const root = documentRoot();
const body = documentBody();
export const page = own.scrollingElement(document) ?? root;
export const cut = cutOff(),
  over = overlaps(),
  wide = overflowing();
const stretchedBy = /** @type {Map<Element, number>} */ (new Map()),
  charactersOf = /** @type {Map<Element, number>} */ (new Map());
const staying = NARROW ? stayingBars() : { part: 0, bars: [] };
const meta = /** @type {HTMLMetaElement | null} */ (own.querySelector(document, "meta[name=viewport i]"));
const sizes = texts.filter((each) => each.text.length > 2).map((each) => sizeOf(each.parent));

/** @returns {Record<string, any>} */
export function answer() {
  return runRules({
    overflow: () =>
      describeAll(
        wide,
        (each) =>
          `its right edge is at ${Math.round(own.getBoundingClientRect(each).right + scrollX)} px, the screen's at ${innerWidth} px`,
      ),
    "cut-off": () => describeAll([...cut.keys()], (each) => cut.get(each) ?? ""),
    overlap: () => describeAll([...over.keys()], (each) => over.get(each) ?? ""),
    "tiny-text": () => describeAll(smallerThan(10), (each) => `${sizeOf(each)} px, readable from ${MIN_TEXT_PX} px`),
    "small-text": () =>
      describeAll(
        smallerThan(MIN_TEXT_PX).filter((each) => sizeOf(each) >= 10),
        (each) => `${sizeOf(each)} px, readable from ${MIN_TEXT_PX} px`,
      ),
    "field-zoom": () =>
      describeAll(
        NARROW ? elements.filter(isZoomed) : [],
        (each) => `${sizeOf(each)} px, phones zoom in below ${MIN_FIELD_TEXT_PX} px`,
      ),
    "fixed-bars": () =>
      describeAll(
        staying.bars,
        () =>
          `all that stays in its place covers ${Math.round(staying.part * 100)} % of the screen, at most ${STAYING * 100} % is good`,
      ),
    "no-viewport": () => describeAll(meta || !root || !NARROW ? [] : [root], () => 'no <meta name="viewport">'),
    "fixed-viewport": () =>
      describeAll(NARROW && meta && /width\s*=\s*\d+/.test(meta.content) ? [meta] : [], (each) => each.content),
    "no-zoom": () => describeAll(meta && refusesZoom(meta.content) ? [meta] : [], (each) => each.content),
    "long-lines": () =>
      describeAll(
        WIDE ? elements.filter(isLongLined) : [],
        (each) => `about ${charactersOf.get(each)} characters in a line, readable up to ${MAX_LINE_LENGTH}`,
      ),
    "stretched-image": () =>
      describeAll(
        elements.filter(isStretched),
        (each) => `${Math.round((stretchedBy.get(each) ?? 1) * 100 - 100)} % out of its proportion`,
      ),
    height: () => page?.scrollHeight ?? 0,
    screens: () => Math.round(((page?.scrollHeight ?? 0) / innerHeight) * 10) / 10,
    smallest: () => sizes.reduce((least, each) => Math.min(least ?? each, each), /** @type {number | null} */ (null)),
    staying: () => Math.round(staying.part * 100),
  });
}

/** @type {(element: AnyElement) => number} */
function sizeOf(element) {
  return Math.round(parseFloat(getComputedStyle(element).fontSize) * 10) / 10;
}

/** @type {(size: number) => AnyElement[]} */
function smallerThan(size) {
  /** @type {(each: PageText) => boolean} */
  const isSmall = (each) =>
    /\p{L}{2}/u.test(each.text) && sizeOf(each.parent) < size && !own.closest(each.parent, "sup, sub");
  return [...new Set(texts.filter(isSmall).map((each) => each.parent))];
}

/** @type {(element: AnyElement) => boolean} */
function isZoomed(element) {
  const isTyped = own.matches(
    element,
    "select, textarea, input:not([type=checkbox], [type=radio], [type=range], [type=file], [type=color], [type=submit], [type=button], [type=reset], [type=image])",
  );
  return isTyped && sizeOf(element) < MIN_FIELD_TEXT_PX && !element.disabled && !element.readOnly;
}

/**
 * Return the elements that extend beyond the page, unless an element around them extends too.
 *
 * @returns {AnyElement[]}
 */
function overflowing() {
  if (!page || !root) return [];
  const edge = page.clientWidth + 1,
    hides = (/** @type {Element} */ each) => ["hidden", "clip"].includes(getComputedStyle(each).overflowX);
  if (page.scrollWidth <= edge || hides(root) || (body && hides(body))) return [];
  /** @type {(each: AnyElement) => boolean} */
  const reaches = (each) => own.getBoundingClientRect(each).right + scrollX > edge;
  /** @type {(each: AnyElement) => boolean} */
  const isHeld = (each) => {
    for (let up = own.parentElement(each); up && up !== body && up !== root; up = own.parentElement(up)) {
      if (getComputedStyle(up).overflowX !== "visible" || reaches(up)) return true;
    }
    return getComputedStyle(each).position === "fixed";
  };
  const found = elements.filter((each) => each !== body && each !== root && reaches(each) && !isHeld(each));
  return found.length ? found : [root];
}

/**
 * Return the elements that stay in place while the page scrolls, and their share of the screen.
 *
 * @returns {{ part: number, bars: AnyElement[] }}
 */
function stayingBars() {
  const across = 12,
    down = 24,
    bars = /** @type {Set<AnyElement>} */ (new Set());
  let covered = 0;
  if (!page || page.scrollHeight < innerHeight * 1.2) return { part: 0, bars: [] };
  for (let n = 0; n < across * down; n++) {
    const hit = own.elementFromPoint(
      document,
      (((n % across) + 0.5) * innerWidth) / across,
      ((Math.floor(n / across) + 0.5) * innerHeight) / down,
    );
    const bar = hit && barAround(hit);
    covered += bar ? 1 : 0;
    bar && bars.add(bar);
  }
  const part = covered / (across * down);
  return { part, bars: part > STAYING ? [...bars] : [] };
}

/** @type {(element: AnyElement) => AnyElement | null} */
function barAround(element) {
  for (let each = element; each; each = /** @type {AnyElement} */ (above(each))) {
    const style = getComputedStyle(each),
      box = own.getBoundingClientRect(each);
    const isSticky =
      style.position === "sticky" &&
      ((style.top !== "auto" && box.top <= 1) || (style.bottom !== "auto" && box.bottom >= innerHeight - 1));
    if (style.position === "fixed" || isSticky) return box.height < innerHeight * 0.9 ? each : null;
  }
  return null;
}

/** @type {(element: AnyElement) => boolean} */
function isLongLined(element) {
  const isText =
    own.matches(element, "p, li, dd, blockquote, div, section, article") &&
    ![...own.children(element)].some((each) => getComputedStyle(each).display !== "inline");
  const length = isText ? (own.innerText(element) ?? "").trim().length : 0;
  if (length < 3 * MAX_LINE_LENGTH) return false;
  const lines = countLines(element);
  charactersOf.set(element, Math.ceil(length / lines));
  return lines > 2 && length / lines > MAX_LINE_LENGTH;
}

/**
 * Return the number of lines of text. Those of columns beside each other are several, although at the same height.
 *
 * @type {(element: AnyElement) => number}
 */
function countLines(element) {
  const range = own.createRange(document);
  range.selectNodeContents(element);
  let [lines, top, bottom] = [0, 0, 0];
  for (const box of range.getClientRects()) {
    const middle = (box.top + box.bottom) / 2;
    if (lines && top < middle && middle < bottom) continue;
    [lines, top, bottom] = [lines + 1, box.top, box.bottom];
  }
  return lines;
}

/** @type {(element: AnyElement) => boolean} */
function isStretched(element) {
  const { complete, currentSrc = "", naturalHeight = 0, naturalWidth = 0 } = element;
  if (own.localName(element) !== "img" || !complete || naturalWidth < 8 || /svg/i.test(currentSrc)) return false;
  const style = getComputedStyle(element);
  if (style.objectFit !== "fill") return false;
  const width = own.clientWidth(element) - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  const height = own.clientHeight(element) - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom);
  const ratio = width / height / (naturalWidth / naturalHeight);
  stretchedBy.set(element, Math.max(ratio, 1 / ratio));
  return width > 24 && height > 24 && Math.max(ratio, 1 / ratio) > STRETCHED;
}

/**
 * Return whether the content of a viewport's meta element prevents zooming with a word that browsers read as a number:
 * any word they do not know is 0. axe-core reads numbers and `no`.
 *
 * @type {(content: string) => boolean}
 */
function refusesZoom(content) {
  const settings = content
    .toLowerCase()
    .split(/[,;]/)
    .map((each) => each.split("=", 2).map((part) => part.trim()));
  return settings.some(([name, value = ""]) => {
    const isUnknownWord =
      /^[a-z][\w-]*$/.test(value) && !["yes", "no", "device-width", "device-height"].includes(value);
    return (name === "user-scalable" || name === "maximum-scale") && isUnknownWord;
  });
}
