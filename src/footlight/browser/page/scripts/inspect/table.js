// The question `table`: the cells of a table by row and column.

import { isSecret } from "./description.js";
import { textOrContent } from "./names.js";
import { describeTag } from "./obstacle.js";
import {
  attr,
  attribute,
  containsNode,
  documentElement,
  firstElement,
  matches,
  nextElementOf,
  parentOf,
  queryAll,
  read,
  shadowRoot,
  styleOf,
  tagOf,
  textContent,
} from "./platform.js";
import { explicitRole, implicitRole, roleOf } from "./roles.js";
import { selectorOf } from "./selectors.js";
import { fold, MAX_DEPTH, typeOf, visibleText } from "./text.js";
import { isRendered } from "./visibility.js";

/** @import { Scope } from "./platform.js" */

/**
 * A cell, which may cover several slots.
 *
 * @typedef {object} Cell
 * @property {AnyElement} element
 * @property {number} columns
 * @property {number} rows 0 for all rows of the section
 * @property {boolean} alone whether it is alone in its row
 * @property {string} [text] once it was read
 */

/** @typedef {Cell[][]} Section the cells of some rows, or which cell covers each slot */
/** @typedef {{ head: Section | null, bodies: Section[], feet: Section[] }} Sections */
/** @typedef {{ hidden: number }} Count how many rows are not shown */
/** @typedef {{ slots: number, text: number }} Budget what may still be read */

const ARIA_TABLES = "[role=table],[role=grid],[role=treegrid]";
const TABLES = "table," + ARIA_TABLES;
/** @type {Lookup<1>} */
const CELL_ROLES = { __proto__: null, cell: 1, gridcell: 1, columnheader: 1, rowheader: 1 };
const MAX_COLSPAN = 1000;
const MAX_ROWSPAN = 65534;
const MAX_SLOTS = 200000; // laid out, and in the answer
const MAX_CELL = 10000;
const MAX_TABLE_TEXT = 4000000;

/**
 * Return whether an element is a table. A table that only lays out the page does not count, unless it is requested
 * directly.
 *
 * @type {(element: AnyElement) => boolean}
 */
function isTable(element) {
  if (!matches(element, TABLES)) return false;
  const role = tagOf(element) === "table" ? explicitRole(element) : "";
  return role !== "presentation" && role !== "none";
}

/**
 * Return the tables in `scope`, through open shadow roots, without the tables inside other tables.
 *
 * @type {(scope: Scope, found: AnyElement[]) => AnyElement[]}
 */
function outermostTables(scope, found) {
  const all = queryAll(scope, "*");
  /** @type {AnyElement | null} */
  let last = null;
  for (let i = 0; i < all.length && found.length < 50; i++) {
    if (last && containsNode(last, all[i])) continue;
    const shadow = shadowRoot(all[i]);
    if (isTable(all[i])) found[found.length] = last = all[i];
    else if (shadow) outermostTables(shadow, found);
  }
  return found;
}

/** @type {(element: AnyElement) => AnyElement[]} */
function tablesBelow(element) {
  const shadow = shadowRoot(element);
  return outermostTables(element, shadow ? outermostTables(shadow, []) : []);
}

/** @type {(elements: AnyElement[]) => string} */
function toList(elements) {
  let text = "";
  for (let i = 0; i < elements.length && i < 5; i++) text += (i ? ", " : "") + selectorOf(elements[i]);
  return text + (elements.length > 5 ? ", …" : "");
}

/** @type {(element: AnyElement) => { table?: AnyElement, error?: string }} */
function findTable(element) {
  if (matches(element, TABLES)) return { table: element };
  const below = tablesBelow(element);
  if (below.length === 1) return { table: below[0] };
  if (below.length > 1) {
    return { error: "It holds " + below.length + " tables; name one of them: " + toList(below) };
  }
  for (let at = parentOf(element); at; at = parentOf(at)) if (isTable(at)) return { table: at };
  const root = documentElement(document);
  const all = root ? tablesBelow(root) : [];
  const others = all.length ? "; the page's tables: " + toList(all) : ", and the page has none";
  return { error: "Not a table, nor in or around one: " + describeTag(element) + others };
}

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
 * Return the rows by section, head first and foot last; rows that are not shown are counted, but not read.
 *
 * @type {(table: AnyElement, count: Count) => Sections}
 */
function nativeSections(table, count) {
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
 * Visit the elements with one of the `roles` below `root`, without those in another table or in one that was found.
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
function ariaSections(table, count) {
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
 * @type {(section: Section, budget: Budget) => Section}
 */
function layOut(section, budget) {
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
function widthOf(grids) {
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
  budget.text -= cell.text.length; // each time, because the answer repeats the text of a cell that covers several slots
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
  let headerLength = 0; // each row repeats the headers
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
