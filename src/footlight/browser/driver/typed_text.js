// The text of an editable element.

import { getter } from "./getter.js";

const MAX_LINES = 5_000;
const MAX_NESTING = 5;
const nodesIn = getter(Node, "childNodes");
const typeOf = getter(Node, "nodeType");
const tagIn = getter(Element, "localName");
const drawnIn = getter(HTMLElement, "innerText");

/**
 * Return the text of an editable element as it was typed. In most editors each line is a block of its own, and an empty
 * one contains a line break, so that it has a height. `innerText` counts such a line twice.
 *
 * @type {(element: AnyElement, nesting?: number) => string}
 */
export function typedText(element, nesting = 0) {
  const lines = nesting < MAX_NESTING ? linesOf(element) : null;
  if (!lines) return element instanceof HTMLElement ? drawnIn.call(element).replace(/\n$/, "") : "";
  const shown = lines.filter((line) => line instanceof Text || line.checkVisibility());
  const texts = shown.map((line) => (line instanceof Text ? line.data : typedText(line, nesting + 1)));
  return texts.join(tagIn.call(/** @type {Element} */ (lines.at(-1))) === "p" ? "\n\n" : "\n");
}

/**
 * Return the lines of an element that consists of blocks of one kind, or null. The browsers' own editing leaves the
 * first line as text.
 *
 * @type {(element: AnyElement) => (AnyElement | Text)[] | null}
 */
function linesOf(element) {
  const nodes = nodesIn.call(element);
  if (nodes.length > MAX_LINES) return null;
  const lines = /** @type {(AnyElement | Text)[]} */ ([...nodes]);
  const last = lines.at(-1);
  if (!(last instanceof HTMLDivElement || last instanceof HTMLParagraphElement)) return null;
  if (getComputedStyle(last).display !== "block") return null;
  const tag = tagIn.call(last);
  /** @type {(node: AnyElement | Text, at: number) => boolean} */
  const isLine = (node, at) =>
    node instanceof Text
      ? at === 0 && !/^\s|\s$|\s\s|[\n\t]/.test(node.data)
      : typeOf.call(node) === Node.ELEMENT_NODE && tagIn.call(node) === tag;
  return lines.every(isLine) ? lines : null;
}

/**
 * Return the text of an editor that draws it apart from the element that receives it. Monaco gives that only the text
 * around the caret, so its drawn lines are read, which are those in view.
 *
 * @type {(element: AnyElement) => string}
 */
export function contextText(element) {
  if (!element.editContext) return "";
  const editor = element.closest(".monaco-editor");
  const lines = /** @type {HTMLElement[]} */ ([...(editor?.querySelectorAll(".view-line") ?? [])]);
  if (!lines.length) return element.editContext.text;
  lines.sort((one, other) => Number.parseFloat(one.style.top) - Number.parseFloat(other.style.top));
  return lines.map((line) => (line.textContent || "").replaceAll("\u00a0", " ")).join("\n");
}
