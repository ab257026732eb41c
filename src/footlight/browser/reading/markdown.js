// The main content of a page as Markdown. A selector engine for Playwright, in a world of its own:
// the body is percent-encoded JSON {"links": boolean}, the root a document, or an element which is then taken whole.
// The reply is the attribute `v`, JSON text, of a new detached element: {"title", "url", "markdown"}.

import { getter } from "../driver/getter.js";

/** @typedef {{ links?: boolean }} Options whether links keep their addresses */
/** @typedef {{ text: string, head: boolean }} Cell */
/** @typedef {Cell[] & { inHead: boolean }} Row */

const MAX_DEPTH = 300; // elements inside each other; deeper content is plain text
const MAX_COLUMNS = 1_000; // of a table
const ENOUGH = 200; // characters that make a `main` the main content
const MOST_OF_IT = 0.8; // of the text, which the narrowest container must hold

// ---- the platform, without named properties ----

const get = {
  baseURI: getter(Node, "baseURI"),
  body: getter(Document, "body"),
  childNodes: getter(Node, "childNodes"),
  data: getter(CharacterData, "data"),
  localName: getter(Element, "localName"),
  nodeType: getter(Node, "nodeType"),
  parentNode: getter(Node, "parentNode"),
  ownerDocument: getter(Node, "ownerDocument"),
  shadowRoot: getter(Element, "shadowRoot"),
  textContent: getter(Node, "textContent"),
  title: getter(Document, "title"),
  url: getter(Document, "URL"),
};
const { checkVisibility, closest, getAttribute, querySelector } = Element.prototype;
const ELEMENT = 1;
const TEXT = 3;
const DOCUMENT = 9;

/** @type {(text: string) => Set<string>} */
const words = (text) => new Set(text.trim().split(/\s+/));
/** @type {(element: AnyElement, name: string) => string | null} */
const attribute = (element, name) => getAttribute.call(element, name);
/** @type {(text: string | null) => string} */
const lower = (text) => (text || "").trim().toLowerCase();
/** @type {(element: AnyElement) => string} */
const tagOf = (element) => get.localName.call(element);
/** @type {(node: Node) => number} */
const typeOf = (node) => get.nodeType.call(node);
/**
 * @param {Node} node
 * @returns {node is AnyElement}
 */
const isElement = (node) => typeOf(node) === ELEMENT;
/** @type {(element: AnyElement) => string} */
const textOf = (element) => get.textContent.call(element) || "";
/**
 * Return the document of a node. Only a document itself has no owner.
 *
 * @type {(root: Node) => Document}
 */
const documentOf = (root) => /** @type {Document} */ (typeOf(root) === DOCUMENT ? root : get.ownerDocument.call(root));
/** @type {(text: string) => string} */
const tidy = (text) => text.replace(/\s+/g, " ").trim();

/**
 * Return the children in the flat tree: what is shown, not the source.
 *
 * @type {(element: AnyElement) => Node[]}
 */
function childrenOf(element) {
  const shadow = get.shadowRoot.call(element);
  if (shadow) return [...get.childNodes.call(shadow)];
  if (element instanceof HTMLSlotElement) {
    const assigned = element.assignedNodes();
    if (assigned.length) return assigned;
  }
  return [...get.childNodes.call(element)];
}

// ---- what is left out ----

const NEVER = words(`
  script style noscript template head meta link title canvas audio video object embed map param source track
  datalist optgroup option progress meter`);
const CONTROLS = words("input select textarea");
const BESIDE = words("nav aside footer");
const BESIDE_ROLES = words("navigation complementary contentinfo banner search menu menubar toolbar");
const SECTIONING = "article, main, section, [role=article], [role=main]";
const CONSENT = /(?:^|[\s_-])(?:cookie|cookies|consent|gdpr|onetrust|cookiebanner|cookieconsent)(?:$|[\s_-])/i;
const FLOATING = words("fixed sticky");
const DIALOGS = words("dialog alertdialog");

/**
 * Return whether an element is left out because nobody sees it. Content with aria-hidden is decoration, or everything
 * behind a dialog.
 *
 * @type {(element: AnyElement) => boolean}
 */
function isHidden(element) {
  if (!checkVisibility.call(element) && getComputedStyle(element).display !== "contents") return true;
  return lower(attribute(element, "aria-hidden")) === "true" && !querySelector.call(element, "h1, h2, main, p");
}

/** @type {(element: AnyElement) => boolean} */
function isTextShown(element) {
  if (tagOf(element) === "details" && attribute(element, "open") === null) return false;
  return getComputedStyle(element).visibility === "visible";
}

/**
 * Return whether it is a header of the page, not that of an article.
 *
 * @type {(element: AnyElement, tag: string) => boolean}
 */
const isPageHeader = (element, tag) => tag === "header" && !closest.call(element, SECTIONING);

/** @type {(element: AnyElement) => boolean} */
function isConsent(element) {
  const names = ["id", "class", "aria-label"].map((name) => attribute(element, name) || "").join(" ");
  if (!CONSENT.test(names.replace(/([a-z])([A-Z])/g, "$1 $2"))) return false;
  return DIALOGS.has(lower(attribute(element, "role"))) || FLOATING.has(getComputedStyle(element).position);
}

/** @type {(element: AnyElement, tag: string) => boolean} */
function isBeside(element, tag) {
  const role = lower(attribute(element, "role"));
  return (role ? BESIDE_ROLES.has(role) : BESIDE.has(tag) || isPageHeader(element, tag)) || isConsent(element);
}

// ---- where the main content is ----

/** @type {(document: Document) => AnyElement | null} */
function mainOf(document) {
  const body = get.body.call(document);
  if (!body) return null;
  for (const css of ["main, [role=main]", "article, [role=article]"]) {
    const found = [...Document.prototype.querySelectorAll.call(document, css)].filter((each) => !isHidden(each));
    if (found.length === 1 && weightOf(found[0]) >= ENOUGH) return found[0];
  }
  return narrowest(body);
}

/**
 * Return the number of characters in each element, without links and without what is left out.
 *
 * @type {(root: AnyElement) => Map<Node, number>}
 */
function weigh(root) {
  /** @type {Map<Node, number>} */
  const weights = new Map();
  /** @type {(element: AnyElement, depth: number) => number} */
  const visit = (element, depth) => {
    let weight = 0;
    for (const node of childrenOf(element)) {
      if (typeOf(node) === TEXT) weight += tidy(get.data.call(/** @type {Text} */ (node))).length;
      else if (isElement(node) && depth < MAX_DEPTH && counts(node)) weight += visit(node, depth + 1);
    }
    weights.set(element, weight);
    return weight;
  };
  visit(root, 0);
  return weights;
}

/** @type {(root: AnyElement) => number} */
const weightOf = (root) => weigh(root).get(root) || 0;

/** @type {(element: AnyElement) => boolean} */
function counts(element) {
  const tag = tagOf(element);
  if (tag === "a" || tag === "button" || NEVER.has(tag) || CONTROLS.has(tag)) return false;
  return !isHidden(element) && !isBeside(element, tag);
}

/** @type {(body: AnyElement) => AnyElement} */
function narrowest(body) {
  const weights = weigh(body);
  const least = (weights.get(body) || 0) * MOST_OF_IT;
  let at = body;
  for (;;) {
    const next = /** @type {AnyElement[]} */ (childrenOf(at)).find(
      (node) => (weights.get(node) || 0) >= least && least > 0,
    );
    if (!next || /^(?:p|pre|ul|ol|dl|table|blockquote|h[1-6])$/.test(tagOf(next))) return at;
    at = next;
  }
}

// ---- Markdown ----

const HEADING = /^h[1-6]$/;
const BLOCKS = words(`
  address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form
  header hgroup hr html li legend main menu nav ol p pre search section summary table tbody td tfoot th thead tr ul
  h1 h2 h3 h4 h5 h6 iframe`);
const LAYOUT = words("presentation none");
const PERMALINK = /^[#¶§🔗]$/u;

// Inline text consists of pieces; a block ends the line of pieces before it.
class Writer {
  /**
   * @param {Options} options
   * @param {boolean} whole
   */
  constructor(options, whole) {
    this.links = options.links !== false;
    this.whole = whole; // Only hidden content is left out.
    this.depth = 0;
    /** @type {string | null} */
    this.link = null; // The address of the card that is being written, until its first words carry it.
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
    /** @type {(node: Node) => void} */
    const visit = (node) => {
      if (typeOf(node) === TEXT) {
        line += this.text(node);
      } else if (isElement(node) && !this.isLeftOut(node)) {
        if (this.isBlock(node)) {
          end();
          blocks.push(...this.deeper(node, () => this.block(node)));
        } else if (this.hasBlocks(node)) {
          end();
          blocks.push(...this.deeper(node, () => this.wrapper(node)));
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
   * Write the blocks in an inline element. An inline element around blocks: if it is a link, the first words in it
   * become the link.
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
   * Return the text of an inline element. A box in a line is separated from the words beside it.
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
   * Return the absolute address; none if it leads to the same place, or is a script.
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
   * Return the element itself with its content.
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
    const { caption, rows, nested } = this.rowsOf(element);
    const columns = rows.reduce((most, row) => Math.max(most, row.length), 0);
    if (nested || columns < 2 || LAYOUT.has(lower(attribute(element, "role")))) return this.blocks(element);
    const isHead = rows[0].every((cell) => cell.head) || rows[0].inHead;
    const texts = rows.map((row) => Array.from({ length: columns }, (_, at) => (row[at] ? row[at].text : "")));
    const [head, body] = isHead ? [texts[0], texts.slice(1)] : [texts[0].map(() => ""), texts];
    const lines = [head, head.map(() => "---"), ...body].map((cells) => `| ${cells.join(" | ")} |`);
    return [...(caption ? [`**${caption}**`] : []), lines.join("\n")];
  }

  /**
   * Return the rows with a place for each column and row that a cell spans; the text is in the first place.
   *
   * @type {(table: AnyElement) => { caption: string, rows: Row[], nested: boolean }}
   */
  rowsOf(table) {
    /** @type {Row[]} */
    const rows = [];
    let caption = "";
    let nested = false;
    /** @type {number[]} */
    const below = []; // How many more rows are occupied in each column.
    /** @type {(row: AnyElement, inHead: boolean) => void} */
    const visitRow = (row, inHead) => {
      const cells = Object.assign(/** @type {Cell[]} */ ([]), { inHead });
      /** @returns {void} */
      const skip = () => {
        while (below[cells.length] > 0 && cells.length < MAX_COLUMNS) {
          below[cells.length] -= 1;
          cells.push({ text: "", head: false });
        }
      };
      for (const cell of childrenOf(row)) {
        if (!isElement(cell) || isHidden(cell) || !/^t[dh]$/.test(tagOf(cell))) continue;
        skip();
        nested = nested || querySelector.call(cell, "table, ul, ol, pre, h1, h2, h3, h4, p + p") !== null;
        const wide = spanOf(cell, "colspan");
        const high = spanOf(cell, "rowspan");
        for (let at = 0; at < wide && cells.length < MAX_COLUMNS; at += 1) {
          below[cells.length] = high - 1;
          cells.push({ text: at ? "" : cellText(this.line(cell)), head: tagOf(cell) === "th" });
        }
      }
      skip();
      if (cells.length) rows.push(cells);
    };
    /** @type {(element: AnyElement, inHead: boolean) => void} */
    const visit = (element, inHead) => {
      for (const node of childrenOf(element)) {
        if (!isElement(node) || isHidden(node)) continue;
        const tag = tagOf(node);
        if (tag === "caption") caption = oneLine(this.line(node));
        else if (tag === "tr") visitRow(node, inHead);
        else if (/^t(?:head|body|foot)$/.test(tag)) visit(node, tag === "thead");
      }
    };
    visit(table, false);
    if (!rows.length) nested = true;
    return { caption, rows, nested };
  }
}

/** @type {(cell: AnyElement, name: string) => number} */
const spanOf = (cell, name) => Math.min(MAX_COLUMNS, Math.max(1, parseInt(attribute(cell, name) || "", 10) || 1));
/** @type {(text: string) => string} */
const cellText = (text) => oneLine(text).replace(/\|/g, "\\|");
/** @type {(text: string | null) => string} */
const labelImage = (text) => (text?.trim() ? `![${tidy(text)}]` : "");

/** @type {(element: AnyElement, tag: string) => boolean} */
const isTask = (element, tag) =>
  tag === "input" && lower(attribute(element, "type")) === "checkbox" && closest.call(element, "li") !== null;

// ---- texts ----

/** @type {(text: string) => string} */
const oneLine = (text) => text.replace(/\s+/g, " ").trim();

/**
 * Keep line breaks and remove the blanks around them.
 *
 * @type {(text: string) => string}
 */
const trimLines = (text) =>
  text
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();

/** @type {(text: string, by: string) => string} */
const indentLines = (text, by) => text.replace(/\n(?!\n|$)/g, `\n${by}`);

/** @type {(prefix: string, text: string) => string[]} */
const prefixLines = (prefix, text) =>
  text
    ? [
        text
          .split("\n")
          .map((line) => `${prefix}${line}`.trimEnd())
          .join("\n"),
      ]
    : [];

/**
 * Join the items of a list in sequence; a nested list follows without an empty line before it.
 *
 * @type {(blocks: string[]) => string}
 */
const joinBlocks = (blocks) =>
  blocks.reduce((text, block) => text + (/^(?:[-*]|\d+\.) /.test(block) ? "\n" : "\n\n") + block);

/** @type {(mark: string, text: string) => string} */
function around(mark, text) {
  const inner = text.trim();
  if (!inner || inner.startsWith(mark)) return text;
  return text.replace(inner, () => `${mark}${inner}${mark}`);
}

/** @type {(text: string) => string} */
function code(text) {
  const inner = oneLine(text);
  if (!inner) return "";
  const ticks = fence(inner, 1);
  const space = /^`|`$/.test(inner) ? " " : "";
  return ticks + space + inner + space + ticks;
}

/**
 * Return a fence that is longer than any fence inside.
 *
 * @type {(text: string, least: number) => string}
 */
const fence = (text, least) =>
  "`".repeat(Math.max(least, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length + 1)));

/** @type {(pre: AnyElement) => string} */
function fenceCode(pre) {
  const text = codeOf(pre).replace(/^\n/, "").trimEnd();
  const ticks = fence(text, 3);
  return `${ticks}${languageOf(pre)}\n${text}\n${ticks}`;
}

/** @type {(element: AnyElement, depth?: number) => string} */
function codeOf(element, depth = 0) {
  let text = "";
  for (const node of childrenOf(element)) {
    if (typeOf(node) === TEXT) text += get.data.call(/** @type {Text} */ (node));
    else if (isElement(node) && depth < MAX_DEPTH) {
      const tag = tagOf(node);
      if (tag === "br") text += "\n";
      else if (tag !== "button" && !NEVER.has(tag) && !isHidden(node)) text += codeOf(node, depth + 1);
    }
  }
  return text;
}

const LANGUAGE = /(?:^|\s)(?:language-|lang-|highlight-source-|highlight-text-|brush:\s*)([\w+#.-]+)/;

/** @type {(pre: AnyElement) => string} */
function languageOf(pre) {
  const inner = querySelector.call(pre, "code");
  for (const element of [inner, pre, get.parentNode.call(pre)]) {
    if (!element || !isElement(element)) continue;
    const declared = attribute(element, "data-lang") || attribute(element, "data-language");
    const language = declared || LANGUAGE.exec(attribute(element, "class") || "")?.[1];
    if (language) return language.toLowerCase().replace(/[^\w+#.-]/g, "");
  }
  return "";
}

/**
 * Escape only characters that would have a meaning in Markdown.
 *
 * @type {(text: string) => string}
 */
const escapeText = (text) =>
  text
    .replace(/[*`]/g, "\\$&")
    .replace(/(^|[^\p{L}\p{N}])_|_(?=$|[^\p{L}\p{N}])/gu, (found) => found.replace("_", "\\_"))
    .replace(/\](?=\()/g, "\\]");

/** @type {(text: string) => string} */
const escapeStart = (text) =>
  text.replace(/^(#{1,6}|[-+>])(?=\s)|^(\d+)(?=[.)]\s)/gm, (found) => (/\d/.test(found) ? `${found}\\` : `\\${found}`));

// ---- the reply ----

/** @type {(root: Node, options: Options) => { title: string, url: string, markdown: string }} */
function read(root, options) {
  const isDocument = typeOf(root) === DOCUMENT;
  const document = documentOf(root);
  const element = isDocument ? mainOf(/** @type {Document} */ (root)) : /** @type {AnyElement} */ (root);
  const writer = new Writer(options, !isDocument);
  const blocks = element ? writer.all(element) : [];
  if (isDocument && element && !blocks.some((block) => /^#{1,2} /.test(block)))
    blocks.unshift(...firstHeading(document));
  return {
    title: tidy(get.title.call(document)),
    url: get.url.call(document),
    markdown: blocks.join("\n\n"),
  };
}

/**
 * Return the first heading of the page. A title may be beside the text that it is the title of.
 *
 * @type {(document: Document) => string[]}
 */
function firstHeading(document) {
  const headings = [...Document.prototype.querySelectorAll.call(document, "h1")];
  const first = headings.find((heading) => !isHidden(heading) && tidy(textOf(heading)));
  return first ? [`# ${tidy(textOf(first))}`] : [];
}

/** @type {(root: Node, body: string) => Element[]} */
export function queryAll(root, body) {
  const element = Document.prototype.createElement.call(documentOf(root), "a");
  element.setAttribute("v", JSON.stringify(read(root, JSON.parse(decodeURIComponent(body)))));
  return [element];
}
