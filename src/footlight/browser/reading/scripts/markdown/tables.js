// Tables as Markdown.

import { isHidden } from "./left_out.js";
import { attribute, childrenOf, isElement, lower, querySelector, tagOf, words } from "./nodes.js";
import { oneLine } from "./texts.js";

/** @typedef {{ text: string, head: boolean }} Cell */
/** @typedef {Cell[] & { inHead: boolean }} Row */
/** @typedef {(element: AnyElement) => string} LineOf the inline content of an element, on one line */

const MAX_COLUMNS = 1_000;
const LAYOUT = words("presentation none");

/**
 * Return the caption and the table, or null for a table that only arranges other content.
 *
 * @type {(table: AnyElement, lineOf: LineOf) => string[] | null}
 */
export function tableLines(table, lineOf) {
  const { caption, rows, nested } = rowsOf(table, lineOf);
  const columns = rows.reduce((most, row) => Math.max(most, row.length), 0);
  if (nested || columns < 2 || LAYOUT.has(lower(attribute(table, "role")))) return null;
  const isHead = rows[0].every((cell) => cell.head) || rows[0].inHead;
  const texts = rows.map((row) => Array.from({ length: columns }, (_, at) => (row[at] ? row[at].text : "")));
  const [head, body] = isHead ? [texts[0], texts.slice(1)] : [texts[0].map(() => ""), texts];
  const lines = [head, head.map(() => "---"), ...body].map((cells) => `| ${cells.join(" | ")} |`);
  return [...(caption ? [`**${caption}**`] : []), lines.join("\n")];
}

/**
 * Return the rows with a slot for each column and row that a cell spans. The text is in the first slot.
 *
 * @type {(table: AnyElement, lineOf: LineOf) => { caption: string, rows: Row[], nested: boolean }}
 */
function rowsOf(table, lineOf) {
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
        cells.push({ text: at ? "" : cellText(lineOf(cell)), head: tagOf(cell) === "th" });
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
      if (tag === "caption") caption = oneLine(lineOf(node));
      else if (tag === "tr") visitRow(node, inHead);
      else if (/^t(?:head|body|foot)$/.test(tag)) visit(node, tag === "thead");
    }
  };
  visit(table, false);
  if (!rows.length) nested = true;
  return { caption, rows, nested };
}

/** @type {(cell: AnyElement, name: string) => number} */
const spanOf = (cell, name) => Math.min(MAX_COLUMNS, Math.max(1, parseInt(attribute(cell, name) || "", 10) || 1));
/** @type {(text: string) => string} */
const cellText = (text) => oneLine(text).replace(/\|/g, "\\|");
