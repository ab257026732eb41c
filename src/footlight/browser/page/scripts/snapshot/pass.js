// The state of one pass: facts about the page and about each element.

import { enter } from "./flat_tree.js";
import { findRemembered, forgetPending, remember } from "./memory.js";
import { deepFocus, findDeclaredModal, openModal, ownerOfFocus, pathTo } from "./modal.js";
import {
  areEqual,
  attribute,
  documentOf,
  getAttributeNames,
  hasAttributes,
  MAX_TEXT,
  NOTHING,
  tagOf,
  tidy,
} from "./platform.js";
import { lastLook, readLive, recordReads, stopRecording } from "./reads.js";
import { forgetLost, forgetRemoved, recordRefs } from "./refs.js";
import { Styled } from "./styles.js";

/** @import { Name } from "./names.js" */
/** @import { Scope } from "./platform.js" */

const NO_PASS = /** @type {Pass} */ (/** @type {unknown} */ (null));
/** Facts about elements in the current pass. It is set while `within` runs its callback, and is not read otherwise. */
export let pass = NO_PASS;
let passes = 0;

/**
 * A request about a document or an element.
 *
 * @typedef {object} Request
 * @property {"frame" | "testids" | "field" | "identify" | "look" | "ref"} what
 * @property {number} [next] the number of the next ref
 * @property {boolean} [boxes] whether to report the boxes of elements
 * @property {boolean} [testIds] whether elements that have only a test id are reported as well
 * @property {string} [pass] the id of this pass
 * @property {string[]} [lost] the ids of passes whose replies were lost
 * @property {number} [since] the generation that the server has
 * @property {string} [ref]
 * @property {boolean} [path] whether to report the CSS path of the element
 * @property {number} [limit]
 */

class Pass {
  /**
   * @param {Document} document
   * @param {Request} request
   */
  constructor(document, request) {
    this.number = ++passes;
    this.document = document;
    this.origin = location.origin; // Reading it for each link would be a tenth of a pass.
    this.next = request.next || 1;
    this.boxes = request.boxes === true;
    this.testIds = request.testIds === true;
    /** @type {Map<AnyElement, Facts>} */
    this.facts = new Map(); // Facts about elements that are not cached.
    this.styled = new Styled();
    /** @type {Set<Document | ShadowRoot>} */
    this.trees = new Set(); // The document and the shadow trees that were visited.
    /** @type {Map<AnyElement, HTMLLabelElement[]>} */
    this.labels = new Map();
    /** @type {Set<Node>} */
    this.labelled = new Set();
    /** @type {Map<AnyElement, AnyElement>} */
    this.owners = new Map();
    /** @type {Map<AnyElement, AnyElement[]>} */
    this.owned = new Map(); // The elements that each owner owns.
    /** @type {Map<Node, Map<string, AnyElement>>} */
    this.imageMaps = new Map(); // By their names, for each tree.
    /** @type {Set<AnyElement>} */
    this.nameSources = new Set();
    /** @type {Set<Facts>} */
    this.parts = new Set(); // The parts of clickable elements.
    this.controls = 0; // The number of controls in the list, and the last one.
    /** @type {Facts | null} */
    this.control = null;
    /** @type {Set<AnyElement>} */
    this.naming = new Set();
    /** @type {Set<AnyElement> | null} */
    this.visited = null; // The elements that the current name includes by reference; a set once there is one.
    this.referred = 0; // Elements read by reference or for a label, which are not cached.
    this.fieldValues = 0; // How often a name included the value of a field.
    this.lasting = false; // Names are computed without the values of fields.
    this.typed = false; // Contents are read without the text that style sheets add.
    this.focused = ownerOfFocus(deepFocus(document));
    this.focusPath = pathTo(this.focused);
    /** @type {Set<AnyElement>} */
    this.beside = new Set(); // Elements that can be used although a dialog covers the page.
    this.modal = openModal(document) || findDeclaredModal(document, this.focused, this.beside);
    this.around = pathTo(this.modal);
    /** @type {AnyElement[] | null} */
    this.takenAway = null; // The parts that the page keeps from being used, once they are needed.
    /** @type {string[]} */
    this.out = [];
    this.size = 0; // Characters of the records.
    this.run = "";
    this.isRunSpaced = false; // The line breaks and spaces of a text in the run are drawn.
    this.runDepth = 0;
    /** @type {Facts[]} */
    this.crossed = [];
    this.lastText = { index: -1, text: "" };
    this.fieldsets = false; // Some fieldsets are disabled.
    this.items = { size: 0, count: 0 }; // Of the current list: its size by its ARIA attributes, and its items.
    this.cut = false;
  }
}

/** @typedef {Facts | string} Child an element or a folded text */

// One element. Each fact is computed once per pass.
export class Facts {
  /** @param {AnyElement} element */
  constructor(element) {
    this.element = element;
    this.tag = tagOf(element);
    /** @type {CSSStyleDeclaration | undefined} */
    this.style = undefined; // Computed on first use; the object is live.
    /** @type {Child[] | null} */
    this.list = null; // Its direct content, while it is cached.
    this.isRemembered = false;
    /** @type {string[]} */
    this.names = NOTHING; // The names of its attributes.
    this.hasNewNames = true; // The attribute names have to be read.
    this.aria = false;
    this.type = ""; // Of an `input`.
    /** @type {import("./nodes.js").Written | null} */
    this.record = null; // Its last record.
    this.renew();
  }

  /**
   * Drop the facts of the previous pass, except the cached ones.
   *
   * @returns {void}
   */
  renew() {
    this.pass = passes;
    if (this.hasNewNames) {
      this.hasNewNames = false;
      this.names = hasAttributes.call(this.element) ? getAttributeNames.call(this.element) : NOTHING;
      this.aria = this.names.some(isAria); // An ARIA attribute or a role.
      this.type = (this.tag === "input" && this.element.type) || "";
    }
    /** @type {number | undefined} */
    this.visibility = undefined;
    /** @type {Child[] | undefined} */
    this.children = undefined;
    /** @type {string | undefined} */
    this.role = undefined;
    /** @type {string | undefined} */
    this.namedRole = undefined;
    /** @type {Facts | null | undefined} */
    this.context = undefined;
    /** @type {Name | undefined} */
    this.name = undefined;
    /** @type {string | undefined} */
    this.contents = undefined;
    /** @type {string | undefined} */
    this.value = undefined;
    /** @type {string[] | undefined} */
    this.selected = undefined; // The texts of the selected options.
    this.hasFieldValue = false; // Its contents include the value of a field.
    /** @type {AnyElement | null | undefined} */
    this.control = undefined; // The field of a label.
  }
}

/** @type {(name: string) => boolean} */
const isAria = (name) => name.startsWith("aria-") || name === "role";

/** @type {(facts: Facts, name: string) => string} */
export function textAttribute(facts, name) {
  const value = attr(facts, name);
  return value ? tidy(value, MAX_TEXT) : "";
}

/** @type {(element: AnyElement, isInObserved?: boolean) => Facts} */
export function factsOf(element, isInObserved = false) {
  const known = findRemembered(element);
  if (known) return renewFacts(known);
  const facts = pass.facts.get(element) || new Facts(element);
  if (isInObserved) {
    facts.isRemembered = true;
    remember(facts);
  } else pass.facts.set(element, facts);
  return facts;
}

/** @type {(facts: Facts) => Facts} */
export function renewFacts(facts) {
  if (facts.pass !== passes) facts.renew();
  return facts;
}

/**
 * Return the field of a label.
 *
 * @type {(label: Facts) => AnyElement | null}
 */
export function controlOf(label) {
  if (label.control === undefined) label.control = readLive(labelledControl, label.element);
  return label.control;
}

/** @type {(label: AnyElement) => AnyElement | null} */
const labelledControl = (label) => label.control || null;

/**
 * Return whether an element has an attribute. The attribute names are read once, because most attributes that are
 * looked up are absent.
 *
 * @type {(facts: Facts, name: string) => boolean}
 */
export const hasAttr = (facts, name) => facts.names.includes(name);
/** @type {(facts: Facts, name: string) => string | null} */
export const attr = (facts, name) => (facts.names.includes(name) ? attribute(facts.element, name) : null);
/** @type {(facts: Facts, name: string) => boolean} */
export const isSet = (facts, name) => attr(facts, name) === "true";

/** @type {<T>(root: Scope, request: Request, work: () => T) => T} */
export function within(root, request, work) {
  forgetRemoved();
  forgetLost(request);
  forgetPending();
  pass = new Pass(documentOf(root), request);
  const first = pass.next;
  if (request.what === "look") recordReads();
  try {
    enter(pass.document);
    return work();
  } finally {
    recordRefs(request.pass, first, pass.next);
    pass = NO_PASS;
    stopRecording();
  }
}

/**
 * Return whether another walk over the document would return the last list. Whatever it depends on is read again.
 *
 * @returns {boolean}
 */
export function isUnchanged() {
  if (!lastLook) return false;
  const { focusPath, around, beside, trees, styled, reads } = lastLook;
  const isElsewhere = !areEqual(pass.focusPath, focusPath) || !areEqual(pass.around, around);
  if (isElsewhere || pass.focused !== lastLook.focused || pass.modal !== lastLook.modal) return false;
  if (!areEqual(pass.beside, beside)) return false;
  for (const tree of trees) if (tree !== pass.document) pass.styled.read(tree);
  return pass.styled.isLike(styled) && reads.areSame();
}
