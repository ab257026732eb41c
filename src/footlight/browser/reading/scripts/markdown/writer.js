// Elements as Markdown.

import { fenceCode } from "./code_blocks.js";
import { CONTROLS, isBeside, isHidden, isTextShown, NEVER } from "./left_out.js";
import {
  attribute,
  childrenOf,
  closest,
  ELEMENT,
  get,
  isElement,
  lower,
  MAX_DEPTH,
  TEXT,
  tagOf,
  textOf,
  tidy,
  typeOf,
  words,
} from "./nodes.js";
import { tableLines } from "./tables.js";
import {
  around,
  code,
  escapeStart,
  escapeText,
  indentLines,
  joinBlocks,
  oneLine,
  prefixLines,
  trimLines,
} from "./texts.js";

/** @typedef {{ links?: boolean }} Options whether links keep their URLs */

const HEADING = /^h[1-6]$/;
const BLOCKS = words(`
  address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form
  header hgroup hr html li legend main menu nav ol p pre search section summary table tbody td tfoot th thead tr ul
  h1 h2 h3 h4 h5 h6 iframe`);
const PERMALINK = /^[#¶§🔗]$/u;

// Inline text consists of pieces. A block ends the line of pieces before it.
export class Writer {
  /**
   * @param {Options} options
   * @param {boolean} whole
   */
  constructor(options, whole) {
    this.links = options.links !== false;
    this.whole = whole; // Only hidden content is left out.
    this.depth = 0;
    /** @type {string | null} */
    this.link = null; // The URL of the current card, until its first words become the link.
    this.inHeading = false;
  }

  /**
   * Return the blocks inside an element, each a text without empty lines around it.
   *
   * @type {(element: AnyElement) => string[]}
   */
  blocks(element) {
    /** @type {string[]} */
    const blocks = [];
    let line = "";
    /** @returns {void} */
    const end = () => {
      const text = this.addLink(trimLines(line));
      if (text) blocks.push(escapeStart(text));
      line = "";
    };
    /** @type {(more: string[]) => void} */
    const add = (more) => {
      for (const each of more) blocks.push(each);
    };
    /** @type {(node: Node) => void} */
    const visit = (node) => {
      if (typeOf(node) === TEXT) {
        line += this.text(node);
      } else if (isElement(node) && !this.isLeftOut(node)) {
        if (this.isBlock(node)) {
          end();
          add(this.deeper(node, () => this.block(node)));
        } else if (this.hasBlocks(node)) {
          end();
          add(this.deeper(node, () => this.wrapper(node)));
        } else {
          line += this.deeper(node, () => this.inline(node));
        }
      }
    };
    for (const node of childrenOf(element)) visit(node);
    end();
    return blocks;
  }

  /** @type {<T extends string | string[]>(element: AnyElement, write: () => T) => T} */
  deeper(element, write) {
    if (this.depth >= MAX_DEPTH) {
      const text = tidy(textOf(element));
      return /** @type {any} */ (this.isBlock(element) || this.hasBlocks(element) ? [text] : text);
    }
    this.depth += 1;
    try {
      return write();
    } finally {
      this.depth -= 1;
    }
  }

  /**
   * Write the blocks in an inline element. If it is a link, the first words in it become the link.
   *
   * @type {(element: AnyElement) => string[]}
   */
  wrapper(element) {
    const href = tagOf(element) === "a" && !this.link ? this.address(element) : null;
    if (href) this.link = href;
    const blocks = this.blocks(element);
    if (href) this.link = null;
    return blocks;
  }

  /** @type {(text: string) => string} */
  addLink(text) {
    if (!this.link || !text || text.includes("](")) return text;
    const href = this.link;
    this.link = null;
    return `[${text}](${href})`;
  }

  /** @type {(element: AnyElement) => boolean} */
  isLeftOut(element) {
    const tag = tagOf(element);
    if (NEVER.has(tag) || isHidden(element)) return true;
    if (this.inHeading) return CONTROLS.has(tag);
    if (CONTROLS.has(tag)) return !isTask(element, tag);
    if (this.whole) return false;
    return tag === "button" || lower(attribute(element, "role")) === "button" || isBeside(element, tag);
  }

  /** @type {(element: AnyElement) => boolean} */
  isBlock(element) {
    const tag = tagOf(element);
    if (BLOCKS.has(tag)) return true;
    if (tag === "br" || tag === "img" || tag === "svg" || tag === "a") return false;
    return /^(?:block|flex|grid|flow-root|list-item|table)$/.test(getComputedStyle(element).display);
  }

  /** @type {(element: AnyElement, depth?: number) => boolean} */
  hasBlocks(element, depth = 0) {
    if (depth > 20) return false;
    return childrenOf(element).some(
      (node) => isElement(node) && !this.isLeftOut(node) && (this.isBlock(node) || this.hasBlocks(node, depth + 1)),
    );
  }

  /** @type {(node: Node) => string} */
  text(node) {
    const parent = get.parentNode.call(node);
    if (parent && typeOf(parent) === ELEMENT && !isTextShown(/** @type {AnyElement} */ (/** @type {Node} */ (parent))))
      return "";
    return escapeText(get.data.call(/** @type {Text} */ (node)).replace(/\s+/g, " "));
  }

  /**
   * Return the inline content of an element, on one line.
   *
   * @type {(element: AnyElement) => string}
   */
  line(element) {
    let line = "";
    for (const node of childrenOf(element)) {
      if (typeOf(node) === TEXT) line += this.text(node);
      else if (isElement(node) && !this.isLeftOut(node)) {
        const inner = this.deeper(node, () => (this.isBlock(node) ? ` ${this.line(node)} ` : this.inline(node)));
        line += Array.isArray(inner) ? inner.join(" ") : inner;
      }
    }
    return line;
  }

  /**
   * Return the text of an inline element. An inline box is separated from the words beside it.
   *
   * @type {(element: AnyElement) => string}
   */
  inline(element) {
    const text = this.inLine(element);
    return text.trim() && getComputedStyle(element).display.startsWith("inline-") ? ` ${text} ` : text;
  }

  /** @type {(element: AnyElement) => string} */
  inLine(element) {
    switch (tagOf(element)) {
      case "br":
        return "\n";
      case "img":
        return labelImage(attribute(element, "alt"));
      case "svg":
        return labelImage(attribute(element, "aria-label"));
      case "a":
        return this.anchor(element);
      case "b":
      case "strong":
        return around("**", this.line(element));
      case "i":
      case "em":
        return around("*", this.line(element));
      case "del":
      case "s":
        return around("~~", this.line(element));
      case "code":
      case "kbd":
      case "samp":
      case "tt":
        return code(textOf(element));
      case "q":
        return `“${this.line(element)}”`;
      case "input":
        return element.checked ? "[x] " : "[ ] ";
      case "math":
        return code(attribute(element, "alttext") || textOf(element));
      default:
        return this.line(element);
    }
  }

  /** @type {(element: AnyElement) => string} */
  anchor(element) {
    const text = this.line(element);
    const label = oneLine(text);
    if (this.inHeading && PERMALINK.test(label)) return "";
    const href = this.link ? null : this.address(element);
    if (!href || !label) return text;
    const before = text.slice(0, text.length - text.trimStart().length);
    const after = text.slice(text.trimEnd().length);
    return `${before}[${label}](${href})${after}`;
  }

  /**
   * Return the absolute URL, or none if it leads to the same place or is a script.
   *
   * @type {(element: AnyElement) => string | null}
   */
  address(element) {
    const href = attribute(element, "href");
    if (!this.links || !href || href.trim().startsWith("#")) return null;
    try {
      const url = new URL(href, get.baseURI.call(element));
      if (!/^(?:https?|mailto|tel|ftp|file):$/.test(url.protocol)) return null;
      return url.href.replace(/\(/g, "%28").replace(/\)/g, "%29");
    } catch {
      return null;
    }
  }

  /** @type {(element: AnyElement) => string[]} */
  block(element) {
    const tag = tagOf(element);
    if (HEADING.test(tag) || lower(attribute(element, "role")) === "heading") return this.heading(element, tag);
    switch (tag) {
      case "hr":
        return ["---"];
      case "ul":
      case "ol":
      case "menu":
      case "dir":
        return this.list(element, tag);
      case "dl":
        return this.terms(element);
      case "blockquote":
        return prefixLines("> ", this.blocks(element).join("\n\n"));
      case "pre":
        return [fenceCode(element)];
      case "table":
        return this.table(element);
      case "iframe":
        return this.frame(element);
      case "summary":
      case "legend":
        return this.strong(element);
      case "dt":
        return this.strong(element);
      default:
        return this.blocks(element);
    }
  }

  /** @type {(element: AnyElement, tag: string) => string[]} */
  heading(element, tag) {
    const level = Math.min(6, Math.max(1, Number(attribute(element, "aria-level") || tag[1]) || 2));
    this.inHeading = true;
    const text = this.addLink(oneLine(this.line(element)));
    this.inHeading = false;
    return text ? [`${"#".repeat(level)} ${text}`] : [];
  }

  /** @type {(element: AnyElement) => string[]} */
  strong(element) {
    const inside = this.inHeading;
    this.inHeading = true;
    const text = oneLine(this.line(element)).replace(/^\*\*(.*)\*\*$/, "$1");
    this.inHeading = inside;
    return text ? [`**${text}**`] : [];
  }

  /** @type {(element: AnyElement, tag: string) => string[]} */
  list(element, tag) {
    let number = tag === "ol" ? Number(attribute(element, "start") || 1) || 1 : 0;
    /** @type {string[]} */
    const items = [];
    for (const node of childrenOf(element)) {
      if (!isElement(node) || this.isLeftOut(node)) continue;
      const inner = tagOf(node);
      if (inner === "ul" || inner === "ol") {
        items.push(...prefixLines("  ", this.deeper(node, () => this.list(node, inner)).join("\n")));
        continue;
      }
      if (number && attribute(node, "value")) number = Number(attribute(node, "value")) || number;
      const marker = number ? `${number}. ` : "- ";
      const blocks = this.deeper(node, () => (inner === "li" ? this.blocks(node) : this.wrapInline(node)));
      const blocksInside = Array.isArray(blocks) ? blocks : [blocks];
      if (!blocksInside.length) continue;
      items.push(marker + indentLines(joinBlocks(blocksInside), " ".repeat(marker.length)));
      if (number) number += 1;
    }
    return items.length ? [items.join("\n")] : [];
  }

  /** @type {(element: AnyElement) => string[]} */
  wrapInline(element) {
    if (this.isBlock(element) || this.hasBlocks(element)) return this.blocks(element);
    const text = trimLines(this.inline(element));
    return text ? [text] : [];
  }

  /**
   * Return the lines of the element itself with its content.
   *
   * @type {(element: AnyElement) => string[]}
   */
  all(element) {
    return this.isBlock(element) ? this.block(element) : this.wrapInline(element);
  }

  /** @type {(element: AnyElement) => string[]} */
  terms(element) {
    /** @type {string[]} */
    const lines = [];
    /** @type {(node: Node) => void} */
    const visit = (node) => {
      if (!isElement(node) || this.isLeftOut(node)) return;
      const tag = tagOf(node);
      if (tag === "dt") lines.push(...this.strong(node));
      else if (tag === "dd") lines.push(`: ${indentLines(joinBlocks(this.blocks(node)), "  ")}`);
      else for (const child of childrenOf(node)) visit(child);
    };
    for (const node of childrenOf(element)) visit(node);
    return lines.length ? [lines.join("\n")] : [];
  }

  /** @type {(element: AnyElement) => string[]} */
  frame(element) {
    const title = tidy(attribute(element, "title") || attribute(element, "name") || "");
    const href = attribute(element, "src");
    if (!title || !href || !this.links) return [];
    try {
      return [`[frame: ${title}](${new URL(href, get.baseURI.call(element)).href})`];
    } catch {
      return [];
    }
  }

  /** @type {(element: AnyElement) => string[]} */
  table(element) {
    return tableLines(element, (each) => this.line(each)) ?? this.blocks(element);
  }
}

/** @type {(text: string | null) => string} */
const labelImage = (text) => (text?.trim() ? `![${tidy(text)}]` : "");

/** @type {(element: AnyElement, tag: string) => boolean} */
const isTask = (element, tag) =>
  tag === "input" && lower(attribute(element, "type")) === "checkbox" && closest.call(element, "li") !== null;
