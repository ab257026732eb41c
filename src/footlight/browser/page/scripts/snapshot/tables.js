// The roles of tables and their parts.

import { attr, factsOf } from "./pass.js";
import { closest, findAll, get, has, lower, parentOf, words } from "./platform.js";
import { readLive } from "./reads.js";
import { roleOf } from "./roles.js";
import { styleOf } from "./styles.js";

/** @import { Facts } from "./pass.js" */

export const GRIDS = words("grid treegrid");
const TABLES = words("table grid treegrid");

/** @type {(facts: Facts) => string} */
function tableAround(facts) {
  const table = closest.call(facts.element, "table");
  return table ? roleOf(factsOf(table)) : "generic";
}

/** @type {(facts: Facts) => string} */
export const tableRole = (facts) =>
  readLive(isDataTable, /** @type {HTMLTableElement} */ (facts.element)) ? "table" : "generic";
/** @type {(facts: Facts) => string} */
export const groupRole = (facts) => (TABLES.has(tableAround(facts)) ? "rowgroup" : "generic");
/** @type {(facts: Facts) => string} */
export const rowRole = (facts) => (TABLES.has(tableAround(facts)) ? "row" : "generic");

/** @type {(facts: Facts) => string} */
export function dataRole(facts) {
  const around = tableAround(facts);
  if (GRIDS.has(around)) return "gridcell";
  return around === "table" ? "cell" : "generic";
}

/** @type {(facts: Facts) => string} */
export function headRole(facts) {
  if (!TABLES.has(tableAround(facts))) return "generic";
  const scope = lower(attr(facts, "scope"));
  if (scope === "row" || scope === "rowgroup") return "rowheader";
  if (scope === "col" || scope === "colgroup") return "columnheader";
  return isBesideData(facts.element) ? "rowheader" : "columnheader";
}

/**
 * Return whether a heading cell is the header of its row. A heading cell between headings, or alone, is the header of
 * its column; one beside data, or in a row that begins or ends with data, is the header of its row.
 *
 * @type {(cell: AnyElement) => boolean}
 */
function isBesideData(cell) {
  const { nextElementSibling: next, previousElementSibling: previous } = cell;
  if (!next && !previous) return false;
  if (isHeading(next) && isHeading(previous)) return false;
  if (isData(next) || isData(previous)) return true;
  const row = parentOf(cell);
  return row !== null && (isData(row.firstElementChild) || isData(row.lastElementChild));
}

/** @type {(cell: AnyElement | null) => boolean} */
const isHeading = (cell) => cell !== null && get.localName.call(cell) === "th";
/** @type {(cell: AnyElement | null) => boolean} */
const isData = (cell) => cell !== null && get.localName.call(cell) === "td" && get.firstChild.call(cell) !== null;

/**
 * Return whether a table has data. Many tables are only used for layout. These are the signs by which Chrome recognises
 * tables with data.
 *
 * @type {(table: HTMLTableElement) => boolean}
 */
function isDataTable(table) {
  if (has(table, "role") || table.isContentEditable) return true;
  if (table.summary || table.rules || table.tHead || table.tFoot || table.caption) return true;
  if (findAll(table, ":scope > colgroup, :scope > col").length) return true;
  const { rows } = table;
  if (rows.length >= 20) return true;
  if (!rows.length || (rows.length === 1 && rows[0].cells.length === 1)) return false;
  return hasHeadings(rows) || hasBorderedCells(table, rows);
}

/** @type {(rows: HTMLCollectionOf<HTMLTableRowElement>) => boolean} */
function hasHeadings(rows) {
  for (const row of rows) {
    for (const cell of row.cells) {
      if (get.localName.call(cell) === "th" || cell.headers || cell.abbr || cell.axis || has(cell, "scope"))
        return true;
    }
  }
  return false;
}

/** @type {(table: HTMLTableElement, rows: HTMLCollectionOf<HTMLTableRowElement>) => boolean} */
function hasBorderedCells(table, rows) {
  const count = { cells: 0, bordered: 0, top: 0, bottom: 0, left: 0, right: 0, coloured: 0 };
  const style = styleOf(factsOf(table));
  const isSpaced = !/^0px|\b0px$/.test(style.borderSpacing);
  for (const row of rows) for (const cell of row.cells) countCell(cell, count, style.backgroundColor, isSpaced);
  if (count.cells < 2) return false;
  const { bordered, top, bottom, left, right, coloured } = count;
  return Math.max(bordered, top, bottom, left, right, coloured) >= Math.floor(count.cells / 2);
}

/** @typedef {{ cells: number, bordered: number, top: number, bottom: number, left: number, right: number, coloured: number }} Counts */

const CLEAR = "rgba(0, 0, 0, 0)";

/** @type {(cell: HTMLTableCellElement, count: Counts, background: string, isSpaced: boolean) => void} */
function countCell(cell, count, background, isSpaced) {
  const style = styleOf(factsOf(cell));
  if (style.display === "none") return;
  /** @type {(name: "Top" | "Bottom" | "Left" | "Right") => number} */
  const side = (name) => (parseFloat(/** @type {any} */ (style)["border" + name + "Width"]) > 0 ? 1 : 0);
  const [top, bottom, left, right] = [side("Top"), side("Bottom"), side("Left"), side("Right")];
  const isColoured = style.backgroundColor !== background && style.backgroundColor !== CLEAR;
  count.cells++;
  count.top += top;
  count.bottom += bottom;
  count.left += left;
  count.right += right;
  count.bordered += (top && bottom) || (left && right) ? 1 : 0;
  count.coloured += isSpaced && isColoured ? 1 : 0;
}
