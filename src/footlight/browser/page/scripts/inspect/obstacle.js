// The request `obstacle`: why an element cannot be acted on.

import { formatLine } from "./closest.js";
import { frameOf } from "./description.js";
import { nameOf } from "./names.js";
import {
  assignedSlot,
  attr,
  boundingRect,
  clientRects,
  closestOf,
  documentElement,
  isConnected,
  localName,
  matches,
  method,
  parentOf,
  queryAll,
  range,
  rangeAround,
  rangeRects,
  read,
  scrollIntoView,
  shadowRoot,
  styleOf,
  tagOf,
} from "./platform.js";
import { matchesIn, selectorOf } from "./selectors.js";
import { asciiLower, cut, fold, typeOf, visibleText } from "./text.js";
import { disabledReason, isRendered, isVisible } from "./visibility.js";

/** @import { Scope } from "./platform.js" */

/**
 * Why an element cannot be acted on.
 *
 * @typedef {object} Obstacle
 * @property {string} reason
 * @property {string} detail
 * @property {string | null} by the selector of the element in the way
 * @property {boolean} [waits] whether it stays until it is closed
 */

/** @typedef {{ x: number, y: number }} Point */

/**
 * Describe an element in a readable form: `<div id="overlay" class="modal"> "Accept cookies"`.
 *
 * @type {(element: AnyElement) => string}
 */
export function describeTag(element) {
  let tag = "<" + localName(element);
  const names = ["id", "data-testid", "class"];
  for (let i = 0; i < names.length; i++) {
    const value = fold(attr(element, names[i]), 60);
    if (value) tag += " " + names[i] + '="' + value + '"';
  }
  const text = visibleText(element, 60, { alt: true }) || fold(attr(element, "aria-label"), 60);
  return tag + ">" + (text ? ' "' + text + '"' : "");
}

/** @type {(reason: string, detail: string, by: AnyElement | null) => Obstacle} */
const obstacleOf = (reason, detail, by) => ({ reason, detail, by: by ? selectorOf(by) : null });

/** @type {(element: AnyElement) => Obstacle} */
function hiddenObstacle(element) {
  for (let at = /** @type {AnyElement | null} */ (element); at; at = parentOf(at)) {
    if (styleOf(at).display === "none") {
      if (at === element) return obstacleOf("hidden", "hidden: display: none", null);
      return obstacleOf("hidden", "hidden by " + describeTag(at) + ": display: none", at);
    }
  }
  const style = styleOf(element);
  if (style.visibility !== "visible") return obstacleOf("hidden", "hidden: visibility: " + style.visibility, null);
  if (!isRendered(element)) return obstacleOf("hidden", "hidden: not drawn by the element around it", null);
  const box = boundingRect(element);
  const size = Math.round(box.width) + "×" + Math.round(box.height);
  return obstacleOf("hidden", "hidden: its box is empty (" + size + ")", null);
}

/**
 * Return the middle of the visible part of its first box, or null.
 *
 * @type {(element: AnyElement) => Point | null}
 */
function pointIn(element) {
  const root = documentElement(document);
  const width = window.innerWidth || (root && read(root, "clientWidth"));
  const height = window.innerHeight || (root && read(root, "clientHeight"));
  const rects = styleOf(element).display === "contents" ? contentsRects(element) : clientRects(element);
  for (let i = 0; i < rects.length; i++) {
    const left = Math.max(rects[i].left, 0);
    const top = Math.max(rects[i].top, 0);
    const right = Math.min(rects[i].right, width);
    const bottom = Math.min(rects[i].bottom, height);
    if (right > left && bottom > top) return { x: (left + right) / 2, y: (top + bottom) / 2 };
  }
  return null;
}

/** @type {(element: AnyElement) => DOMRectList} */
function contentsRects(element) {
  rangeAround(range, element);
  return rangeRects(range);
}

/** @type {(root: Document, point: Point) => AnyElement | null} */
function topmostAt(root, point) {
  /** @type {AnyElement | null} */
  let hit = null;
  for (let at = /** @type {Document | ShadowRoot | null | undefined} */ (root); at; ) {
    const found = method(at, "elementFromPoint")(at, point.x, point.y);
    if (!found || found === hit) break;
    hit = found;
    at = shadowRoot(found);
  }
  return hit;
}

/**
 * Return whether a click that hits `hit` is a click on `element`: on itself, on its content, or on its label.
 *
 * @type {(hit: AnyElement, element: AnyElement) => boolean}
 */
export function isClickOn(hit, element) {
  for (let at = /** @type {AnyElement | null} */ (hit); at; at = assignedSlot(at) || parentOf(at)) {
    if (at === element) return true;
    if (tagOf(at) === "label" && read(at, "control") === element) return true;
  }
  for (let at = /** @type {AnyElement | null} */ (hit); at; at = parentOf(at)) if (at === element) return true;
  return false;
}

/**
 * Return the element that covers this frame in the frames around it, or null.
 *
 * @type {(point: Point) => AnyElement | null}
 */
function aboveFrame(point) {
  let at = point;
  for (let frame = frameOf(window); frame; frame = frameOf(frame.window)) {
    const box = boundingRect(frame.element);
    at = {
      x: at.x + box.x + read(frame.element, "clientLeft"),
      y: at.y + box.y + read(frame.element, "clientTop"),
    };
    const hit = topmostAt(frame.document, at);
    if (hit && !isClickOn(hit, frame.element)) return hit;
  }
  return null;
}

/** @type {(element: AnyElement) => AnyElement | null} */
function openModal(element) {
  const modals = matchesIn("dialog:modal");
  for (let i = modals.length - 1; i >= 0; i--) if (!isClickOn(element, modals[i])) return modals[i];
  return null;
}

const BUTTONS = "button,[role=button],input[type=button],input[type=submit],summary";
const CONTROLS = BUTTONS + ",a[href]";
const DIALOGS = "dialog,[role=dialog],[role=alertdialog],[aria-modal=true]";
const MENUS = "[role=menu],[role=listbox]";
const CLOSING = [
  /^(close|dismiss|cancel|×|✕|✖|x|hide|skip|not now|no|later|maybe later|got it|ok|okay|done|back)\b|^[×✕✖]$/i,
  /close|dismiss|reject|decline/i,
  /accept|agree|allow|continue|understand|confirm/i,
];

/**
 * Return the element and all its ancestors, including shadow hosts and slots.
 *
 * @type {(element: AnyElement) => Set<AnyElement>}
 */
function withAncestors(element) {
  /** @type {Set<AnyElement>} */
  const found = new Set();
  for (const step of [assignedSlot, () => null])
    for (let at = /** @type {AnyElement | null} */ (element); at; at = step(at) || parentOf(at)) found.add(at);
  return found;
}

/**
 * Return the whole cover of an element: a backdrop is beside its dialog, or around it.
 *
 * @type {(hit: AnyElement, around: Set<AnyElement>) => AnyElement}
 */
function coverAround(hit, around) {
  let cover = hit;
  for (let at = /** @type {AnyElement | null} */ (hit); at && !around.has(at); at = assignedSlot(at) || parentOf(at))
    cover = at;
  return cover;
}

/** @type {(root: Scope, name: RegExp | undefined) => AnyElement | null} */
function firstControl(root, name) {
  const found = queryAll(root, name ? CONTROLS : BUTTONS); // A link without such a name leads elsewhere.
  for (let i = 0; i < found.length && i < 200; i++) {
    const label = nameOf(found[i]) || visibleText(found[i], 60) || attr(found[i], "class");
    if (isVisible(found[i]) && !disabledReason(found[i]) && (!name || name.exec(cut(label, 100)))) return found[i];
  }
  return null;
}

/**
 * Return the control that a user would press to close a cover, or null. `waits`: whether the cover stays until it is
 * closed.
 *
 * @type {(hit: AnyElement, element: AnyElement) => { control: string, waits: boolean } | null}
 */
function closerOf(hit, element) {
  const around = withAncestors(element);
  // The ancestors of the element have no control that uncovers it. The control could even be the element itself.
  const cover = around.has(hit) ? null : coverAround(hit, around);
  const roots = cover ? [cover] : [];
  const dialogs = queryAll(document, DIALOGS);
  for (let i = dialogs.length - 1; i >= 0; i--) {
    if (!around.has(dialogs[i]) && isVisible(dialogs[i])) roots[roots.length] = dialogs[i];
  }
  for (let r = 0; r < roots.length && r < 5; r++) {
    for (let c = 0; c <= CLOSING.length; c++) {
      const control = firstControl(roots[r], CLOSING[c]);
      const waits = !cover || r > 0 || isOverlay(hit, cover) || matches(cover, DIALOGS);
      if (control) return { control: formatLine(control), waits };
    }
  }
  const hasMenu = cover !== null && (matches(cover, MENUS) || queryAll(cover, MENUS).length > 0);
  return hasMenu ? { control: "the key Escape", waits: false } : null;
}

/**
 * Return whether the hit is large, or in a large part of its cover that does not scroll away.
 *
 * @type {(hit: AnyElement, cover: AnyElement) => boolean}
 */
function isOverlay(hit, cover) {
  if (isLarge(hit)) return true;
  for (let at = /** @type {AnyElement | null} */ (hit); at; at = assignedSlot(at) || parentOf(at)) {
    if (styleOf(at).position === "fixed" && isLarge(at)) return true;
    if (at === cover) break;
  }
  return false;
}

/** @type {(element: AnyElement) => boolean} */
function isLarge(element) {
  const box = boundingRect(element);
  return box.width * box.height > (window.innerWidth * window.innerHeight) / 2;
}

/** @type {(words: string, hit: AnyElement, element: AnyElement) => Obstacle} */
function describeCover(words, hit, element) {
  const closer = closerOf(hit, element);
  const found = obstacleOf(
    "covered",
    words + describeTag(hit) + (closer ? "; " + closer.control + " may close it" : ""),
    hit,
  );
  if (closer?.waits) found.waits = true;
  return found;
}

/**
 * Describe the inert element around another one. Pages make their parts inert while a dialog or a menu is open.
 *
 * @type {(inert: AnyElement, element: AnyElement) => Obstacle}
 */
function describeInert(inert, element) {
  const found = describeCover("made inert by ", inert, element);
  const menus = found.waits ? [] : queryAll(document, MENUS);
  for (let i = menus.length - 1; i >= 0 && !found.waits; i--) {
    found.waits = isVisible(menus[i]) && !closestOf(menus[i], "[inert]");
    if (found.waits) found.detail += "; the key Escape may close " + formatLine(menus[i]);
  }
  return found;
}

/** @type {(element: AnyElement, target: AnyElement, point: Point) => Obstacle | null} */
function coverOf(element, target, point) {
  const hit = topmostAt(document, point);
  if (hit && (isClickOn(hit, element) || isClickOn(hit, target))) {
    const above = aboveFrame(point);
    return above && { reason: "covered", detail: "its frame is covered by " + describeTag(above), by: null };
  }
  const modal = openModal(element);
  if (modal) return describeCover("covered by the open dialog ", modal, element);
  const inert = closestOf(element, "[inert]");
  if (inert) return describeInert(inert, element);
  if (styleOf(element).pointerEvents === "none") {
    const instead = hit ? "; a click would land on " + describeTag(hit) : "";
    return obstacleOf("covered", "it takes no pointer events (pointer-events: none)" + instead, hit);
  }
  if (!hit) return obstacleOf("covered", "nothing takes pointer events at its centre", null);
  return describeCover("covered by ", hit, element);
}

/**
 * Return, for a toggle that is drawn by another element, the element that users press instead.
 *
 * @type {(found: Obstacle, element: AnyElement) => Obstacle}
 */
function withVisiblePart(found, element) {
  if (tagOf(element) !== "input" || !/^(checkbox|radio)$/.test(typeOf(element))) return found;
  const labels = read(element, "labels") || [];
  /** @type {AnyElement | null} */
  let drawn = null;
  for (let i = 0; i < labels.length && !drawn; i++) if (isVisible(labels[i])) drawn = labels[i];
  for (let at = parentOf(element), up = 0; at && up < 3 && !drawn; at = parentOf(at), up++)
    if (isVisible(at)) drawn = at;
  if (drawn) found.detail += "; click what is drawn in its place: " + formatLine(drawn);
  return found;
}

/** @type {(ScrollLogicalPosition | "")[]} */
const POSITIONS = ["", "center", "end", "start"];

/** @type {(element: AnyElement, target: AnyElement) => Obstacle | null} */
function pointerObstacle(element, target) {
  /** @type {Obstacle | null} */
  let answer = null;
  for (let i = 0; i < POSITIONS.length; i++) {
    const block = POSITIONS[i];
    if (block) scrollIntoView(element, { block, inline: block, behavior: "instant" });
    const point = pointIn(element);
    const cover = point && coverOf(element, target, point);
    if (point && !cover) return null;
    if (cover && answer?.reason !== "covered") answer = cover;
    if (!cover && !answer) answer = obstacleOf("outside", outsideDetail(element), null);
  }
  return answer;
}

/** @type {(element: AnyElement) => string} */
function outsideDetail(element) {
  const box = boundingRect(element);
  const at = Math.round(box.x) + ", " + Math.round(box.y);
  const view = window.innerWidth + "×" + window.innerHeight;
  return "outside the " + view + " viewport, at " + at + ", and cannot be scrolled into it";
}

/** @type {(element: AnyElement) => boolean} */
function isReadOnly(element) {
  const tag = tagOf(element);
  if (tag === "input" || tag === "textarea") return read(element, "readOnly") === true;
  return asciiLower(attr(element, "aria-readonly")) === "true";
}

/**
 * Return the element that an action on this element affects. A click inside a button or a link is a click on it; an
 * option is selected through its list.
 *
 * @type {(element: AnyElement) => AnyElement}
 */
function findActionTarget(element) {
  const tag = tagOf(element);
  const css = tag === "option" || tag === "optgroup" ? "select" : "button,a,[role=button],[role=link]";
  return closestOf(element, css) || element;
}

/**
 * Return why the control of the label around an element is disabled, or "".
 *
 * @type {(element: AnyElement) => string}
 */
function disabledLabelReason(element) {
  const label = closestOf(element, "label");
  const control = label && /** @type {AnyElement | null | undefined} */ (read(label, "control"));
  const reason = control ? disabledReason(control) : "";
  return reason && "a label of a control that is " + reason;
}

/**
 * Return the image that shows an area of an image map, or null.
 *
 * @type {(area: AnyElement) => AnyElement | null}
 */
function imageOf(area) {
  const map = closestOf(area, "map");
  const name = map && (attr(map, "name") || attr(map, "id"));
  const images = queryAll(document, "img[usemap]");
  for (let i = 0; name && i < images.length; i++)
    if (attr(images[i], "usemap") === "#" + name && isVisible(images[i])) return images[i];
  return null;
}

/** @type {(element: AnyElement, editing: boolean) => Obstacle | null} */
export function obstacle(element, editing) {
  if (!isConnected(element)) return obstacleOf("detached", "no longer in the page", null);
  if (tagOf(element) === "area") {
    const image = imageOf(element);
    return image ? obstacle(image, false) : obstacleOf("hidden", "hidden: no visible image has its map", null);
  }
  const target = findActionTarget(element);
  const seen = tagOf(element) === "option" || tagOf(element) === "optgroup" ? target : element;
  if (!isVisible(seen)) return withVisiblePart(hiddenObstacle(seen), seen);
  const disabled = disabledReason(element) || disabledReason(target) || disabledLabelReason(element);
  if (disabled) return obstacleOf("disabled", disabled, null);
  if (editing && isReadOnly(element)) return obstacleOf("readonly", "read only", null);
  return pointerObstacle(seen, target);
}
