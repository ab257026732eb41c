// The request `table`: the cells of a table by row and column.

import { isSecret } from "./description.js";
import { textOrContent } from "./names.js";
import { attr, firstElement, nextElementOf, queryAll, read, tagOf, textContent } from "./platform.js";
import { explicitRole, implicitRole, roleOf } from "./roles.js";
import { ariaSections, layOut, nativeSections, widthOf } from "./table_layout.js";
import { findTable } from "./table_search.js";
import { fold, typeOf, visibleText } from "./text.js";
import { isRendered } from "./visibility.js";

/** @import { Cell, Section, Sections } from "./table_layout.js" */

/** @typedef {{ slots: number, text: number }} Budget how much may still be read */

const MAX_SLOTS = 200000; // Laid out, and in the answer.
const MAX_CELL = 10000;
const MAX_TABLE_TEXT = 4000000;

/** @type {(cells: Cell[], native: boolean) => boolean} */
function isHeaderRow(cells, native) {
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i].element;
    const role = explicitRole(cell) || implicitRole(cell, tagOf(cell));
    if (native ? tagOf(cell) !== "th" || role === "rowheader" : role !== "columnheader") return false;
  }
  return cells.length > 0;
}

/** @type {(sections: Sections, native: boolean) => number} */
function leadingHeaders(sections, native) {
  const body = sections.bodies[0] || [];
  let count = 0;
  while (count < body.length && isHeaderRow(body[count], native)) count++;
  let rows = 0;
  for (let i = 0; i < sections.bodies.length; i++) rows += sections.bodies[i].length;
  return count > 1 && count === rows ? 1 : count;
}

/** @type {(cell: AnyElement) => string} */
function fieldText(cell) {
  const fields = queryAll(cell, "input,textarea,img,[aria-label]");
  let text = "";
  for (let i = 0; i < fields.length && i < 5; i++) {
    const tag = tagOf(fields[i]);
    const secret = tag === "input" && (isSecret(fields[i], tag) || typeOf(fields[i]) === "hidden");
    const value = tag === "input" || tag === "textarea" ? read(fields[i], "value") : "";
    const checks = tag === "input" && (typeOf(fields[i]) === "checkbox" || typeOf(fields[i]) === "radio");
    if (!secret) text += " " + ((checks ? "" : value) || attr(fields[i], "aria-label") || attr(fields[i], "alt"));
  }
  return text;
}

/**
 * Return the text of a cell; without text, the values of its fields or the names of its images.
 *
 * @type {(cell: Cell, budget: Budget) => string}
 */
function cellText(cell, budget) {
  if (cell.text === undefined) {
    const limit = Math.max(1, Math.min(MAX_CELL, budget.text));
    const element = cell.element;
    cell.text = visibleText(element, limit, { fields: true });
    if (!cell.text && !isRendered(element)) cell.text = fold(textContent(element), limit);
    if (!cell.text) cell.text = fold(attr(element, "aria-label") || fieldText(element), limit);
  }
  budget.text -= cell.text.length; // Each time, because the answer repeats the text of a cell that covers several slots
  return cell.text;
}

/** @type {(rows: Section, width: number, budget: Budget) => string[]} */
function headerTexts(rows, width, budget) {
  /** @type {string[]} */
  const headers = [];
  for (let x = 0; x < width && rows.length; x++) {
    /** @type {Cell | null} */
    let last = null;
    let text = "";
    for (let y = 0; y < rows.length; y++) {
      const cell = rows[y][x];
      if (cell && cell !== last) text += " " + cellText(cell, budget);
      last = cell || last;
    }
    headers[x] = fold(text, MAX_CELL);
  }
  return headers;
}

/** @type {(table: AnyElement, native: boolean) => string | null} */
function captionOf(table, native) {
  for (let at = firstElement(table); at; at = nextElementOf(at)) {
    const caption = native ? tagOf(at) === "caption" : roleOf(at) === "caption";
    if (caption) return textOrContent(at, {}) || null;
  }
  return null;
}

/** @type {(element: AnyElement, limit: number) => object} */
export function tableOf(element, limit) {
  const found = findTable(element);
  if (!found.table) return found;
  const native = tagOf(found.table) === "table";
  const count = { hidden: 0 };
  const budget = { slots: MAX_SLOTS, text: MAX_TABLE_TEXT };
  const sections = native ? nativeSections(found.table, count) : ariaSections(found.table, count);
  const heading = sections.head?.length ? layOut(sections.head, budget) : [];
  const leading = heading.length ? 0 : leadingHeaders(sections, native);
  const grids = [heading];
  for (let i = 0; i < sections.bodies.length; i++) grids[grids.length] = layOut(sections.bodies[i], budget);
  for (let i = 0; i < sections.feet.length; i++) grids[grids.length] = layOut(sections.feet[i], budget);
  const width = widthOf(grids);
  for (let y = 0; y < leading; y++) heading[y] = grids[1][y];
  const headers = headerTexts(heading, width, budget);
  let headerLength = 0; // Each row repeats the headers.
  for (let x = 0; x < headers.length; x++) headerLength += headers[x].length;
  const maxRows = Math.min(limit, Math.floor(MAX_SLOTS / Math.max(width, 1)));
  /** @type {string[][]} */
  const rows = [];
  let rowCount = 0;
  for (let g = 1; g < grids.length; g++) {
    for (let y = g === 1 ? leading : 0; y < grids[g].length; y++) {
      const slots = grids[g][y];
      if (!slots.length || rowCount++ >= maxRows || budget.text <= 0) continue;
      /** @type {string[]} */
      const row = [];
      for (let x = 0; x < width; x++) row[x] = slots[x] && budget.text > 0 ? cellText(slots[x], budget) : "";
      budget.text -= headerLength;
      rows[rows.length] = row;
    }
  }
  return {
    headers,
    rows,
    rowCount,
    columnCount: width,
    caption: captionOf(found.table, native),
    hiddenRows: count.hidden,
    truncated: rows.length < rowCount || budget.slots < 0 || budget.text <= 0,
  };
}
