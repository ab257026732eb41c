// The cells of a table by row, and the cell that covers each slot.

import { attribute, firstElement, nextElementOf, shadowRoot, styleOf, tagOf } from "./platform.js";
import { explicitRole, implicitRole } from "./roles.js";
import { isTable } from "./table_search.js";
import { MAX_DEPTH } from "./text.js";

/**
 * A cell, which may cover several slots.
 *
 * @typedef {object} Cell
 * @property {AnyElement} element
 * @property {number} columns
 * @property {number} rows 0 for all rows of the section
 * @property {boolean} alone whether it is alone in its row
 * @property {string} [text] set when it was read
 */

/** @typedef {Cell[][]} Section the cells of some rows, or the cell that covers each slot */
/** @typedef {{ head: Section | null, bodies: Section[], feet: Section[] }} Sections */
/** @typedef {{ hidden: number }} Count the number of hidden rows */

/** @type {Lookup<1>} */
const CELL_ROLES = { __proto__: null, cell: 1, gridcell: 1, columnheader: 1, rowheader: 1 };
const MAX_COLSPAN = 1000;
const MAX_ROWSPAN = 65534;

/**
 * Parse a count by HTML's rules for non-negative integers; null if they fail.
 *
 * @type {(text: string | null) => number | null}
 */
function parseCount(text) {
  const found = /^[\t\n\f\r ]*\+?(\d+)/.exec(text || "");
  return found ? Number(found[1]) : null;
}

/** @type {(cell: AnyElement, native: boolean) => Cell} */
function spans(cell, native) {
  const columns = parseCount(attribute(cell, native ? "colspan" : "aria-colspan"));
  const rows = parseCount(attribute(cell, native ? "rowspan" : "aria-rowspan"));
  return {
    element: cell,
    columns: columns === null || columns < 1 ? 1 : Math.min(columns, MAX_COLSPAN),
    rows: rows === null ? 1 : Math.min(rows, MAX_ROWSPAN),
    alone: false,
  };
}

/** @type {(element: AnyElement) => boolean} */
function isLeftOut(element) {
  const style = styleOf(element);
  return style.display === "none" || style.visibility === "collapse";
}

/** @type {(row: AnyElement) => Cell[]} */
function nativeCells(row) {
  /** @type {Cell[]} */
  const cells = [];
  for (let at = firstElement(row); at; at = nextElementOf(at)) {
    const tag = tagOf(at);
    if ((tag === "td" || tag === "th") && !isLeftOut(at)) cells[cells.length] = spans(at, true);
  }
  return cells;
}

/**
 * Return the rows by section, head first and foot last. Hidden rows are counted, but not read.
 *
 * @type {(table: AnyElement, count: Count) => Sections}
 */
export function nativeSections(table, count) {
  /** @type {Sections} */
  const sections = { head: null, bodies: [], feet: [] };
  /** @type {Section | null} */
  let loose = null;
  /** @type {(section: Section, row: AnyElement, out: boolean) => void} */
  const add = (section, row, out) => {
    if (out || isLeftOut(row)) count.hidden++;
    else section[section.length] = nativeCells(row);
  };
  for (let at = firstElement(table); at; at = nextElementOf(at)) {
    const tag = tagOf(at);
    if (tag === "tr") {
      if (!loose) sections.bodies[sections.bodies.length] = loose = [];
      add(loose, at, false);
    } else if (tag === "thead" || tag === "tbody" || tag === "tfoot") {
      loose = null;
      /** @type {Section} */
      const section = [];
      const head = tag === "thead" && !sections.head;
      const out = isLeftOut(at);
      for (let row = firstElement(at); row; row = nextElementOf(row)) {
        if (tagOf(row) !== "tr") continue;
        // On small screens the head is often hidden and the cells are stacked; the head still names the columns.
        if (head) section[section.length] = nativeCells(row);
        else add(section, row, out);
      }
      if (head) sections.head = section;
      else if (tag === "tfoot") sections.feet[sections.feet.length] = section;
      else sections.bodies[sections.bodies.length] = section;
    }
  }
  return sections;
}

/**
 * Visit the elements with one of the `roles` below `root`, except those in another table or in an element already
 * found.
 *
 * @param {Node} root
 * @param {Lookup<number>} roles
 * @param {(element: AnyElement) => void} visit
 * @param {number} depth
 * @returns {void}
 */
function eachWithRole(root, roles, visit, depth) {
  if (depth > MAX_DEPTH) return;
  for (let at = firstElement(root); at; at = nextElementOf(at)) {
    if (roles[explicitRole(at) || implicitRole(at, tagOf(at)) || ""]) visit(at);
    else if (!isTable(at)) {
      const shadow = shadowRoot(at);
      if (shadow) eachWithRole(shadow, roles, visit, depth + 1);
      eachWithRole(at, roles, visit, depth + 1);
    }
  }
}

/** @type {(table: AnyElement, count: Count) => Sections} */
export function ariaSections(table, count) {
  /** @type {Section} */
  const body = [];
  /** @type {(row: AnyElement) => void} */
  const add = (row) => {
    if (isLeftOut(row)) {
      count.hidden++;
      return;
    }
    /** @type {Cell[]} */
    const cells = [];
    const shadow = shadowRoot(row);
    /** @type {(cell: AnyElement) => void} */
    const take = (cell) => {
      if (!isLeftOut(cell)) cells[cells.length] = spans(cell, false);
    };
    if (shadow) eachWithRole(shadow, CELL_ROLES, take, 0);
    eachWithRole(row, CELL_ROLES, take, 0);
    body[body.length] = cells;
  };
  const shadow = shadowRoot(table);
  if (shadow) eachWithRole(shadow, { row: 1 }, add, 0);
  eachWithRole(table, { row: 1 }, add, 0);
  return { head: null, bodies: [body], feet: [] };
}

/**
 * Return which cell covers each slot of a section, by HTML's algorithm for forming a table.
 *
 * @type {(section: Section, budget: { slots: number }) => Section}
 */
export function layOut(section, budget) {
  /** @type {Section} */
  const grid = [];
  for (let y = 0; y < section.length; y++) grid[y] = [];
  for (let y = 0; y < section.length; y++) {
    let x = 0;
    for (let c = 0; c < section[y].length; c++) {
      const cell = section[y][c];
      while (grid[y][x]) x++;
      cell.alone = section[y].length === 1 && x === 0;
      const rows = Math.min(cell.rows || section.length, section.length - y);
      for (let dy = 0; dy < rows; dy++) {
        for (let dx = 0; dx < cell.columns; dx++) {
          if (--budget.slots < 0) return grid;
          if (!grid[y + dy][x + dx]) grid[y + dy][x + dx] = cell;
        }
      }
      x += cell.columns;
    }
  }
  return grid;
}

/**
 * Return the number of columns. A cell that is alone in its row may span more columns than there are ("colspan=99" for
 * all of them): it does not count.
 *
 * @type {(grids: Section[]) => number}
 */
export function widthOf(grids) {
  let width = 0;
  let widest = 0;
  for (let g = 0; g < grids.length; g++) {
    for (let y = 0; y < grids[g].length; y++) {
      const row = grids[g][y];
      widest = Math.max(widest, row.length);
      for (let x = row.length - 1; x >= width; x--) {
        if (row[x] && !row[x].alone) {
          width = x + 1;
          break;
        }
      }
    }
  }
  return width || widest;
}
