// The roles of tables and their parts.

import { attr, factsOf } from "./pass.js";
import { closest, findAll, get, has, lower, words } from "./platform.js";
import { roleOf } from "./roles.js";
import { styleOf } from "./styles.js";

export const GRIDS = words("grid treegrid");
const TABLES = words("table grid treegrid");

function tableAround(facts) {
  const table = closest.call(facts.element, "table");
  return table ? roleOf(factsOf(table)) : "generic";
}

export const tableRole = (facts) => (isDataTable(facts.element) ? "table" : "generic");
export const groupRole = (facts) => (TABLES.has(tableAround(facts)) ? "rowgroup" : "generic");
export const rowRole = (facts) => (TABLES.has(tableAround(facts)) ? "row" : "generic");

export function dataRole(facts) {
  const around = tableAround(facts);
  if (GRIDS.has(around)) return "gridcell";
  return around === "table" ? "cell" : "generic";
}

export function headRole(facts) {
  if (!TABLES.has(tableAround(facts))) return "generic";
  const scope = lower(attr(facts, "scope"));
  if (scope === "row" || scope === "rowgroup") return "rowheader";
  if (scope === "col" || scope === "colgroup") return "columnheader";
  return isBesideData(facts.element) ? "rowheader" : "columnheader";
}

// A heading cell between headings, or alone, is the head of its column; one beside data, or in a row that begins or
// ends with data, is the head of its row.
function isBesideData(cell) {
  const { nextElementSibling: next, previousElementSibling: previous } = cell;
  if (!next && !previous) return false;
  if (isHeading(next) && isHeading(previous)) return false;
  if (isData(next) || isData(previous)) return true;
  const row = get.parentNode.call(cell);
  return isData(row.firstElementChild) || isData(row.lastElementChild);
}

const isHeading = (cell) => cell !== null && get.localName.call(cell) === "th";
const isData = (cell) => cell !== null && get.localName.call(cell) === "td" && get.firstChild.call(cell) !== null;

// Many tables are only used for layout. These are the signs by which Chrome recognises tables with data.
function isDataTable(table) {
  if (has(table, "role") || table.isContentEditable) return true;
  if (table.summary || table.rules || table.tHead || table.tFoot || table.caption) return true;
  if (findAll(table, ":scope > colgroup, :scope > col").length) return true;
  const { rows } = table;
  if (rows.length >= 20) return true;
  if (!rows.length || (rows.length === 1 && rows[0].cells.length === 1)) return false;
  return hasHeadings(rows) || hasBorderedCells(table, rows);
}

function hasHeadings(rows) {
  for (const row of rows) {
    for (const cell of row.cells) {
      if (get.localName.call(cell) === "th" || cell.headers || cell.abbr || cell.axis || has(cell, "scope"))
        return true;
    }
  }
  return false;
}

function hasBorderedCells(table, rows) {
  const count = { cells: 0, bordered: 0, top: 0, bottom: 0, left: 0, right: 0, coloured: 0 };
  const style = styleOf(factsOf(table));
  const isSpaced = !/^0px|\b0px$/.test(style.borderSpacing);
  for (const row of rows) for (const cell of row.cells) countCell(cell, count, style.backgroundColor, isSpaced);
  if (count.cells < 2) return false;
  const { bordered, top, bottom, left, right, coloured } = count;
  return Math.max(bordered, top, bottom, left, right, coloured) >= Math.floor(count.cells / 2);
}

const CLEAR = "rgba(0, 0, 0, 0)";

function countCell(cell, count, background, isSpaced) {
  const style = styleOf(factsOf(cell));
  if (style.display === "none") return;
  const side = (name) => (parseFloat(style["border" + name + "Width"]) > 0 ? 1 : 0);
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
