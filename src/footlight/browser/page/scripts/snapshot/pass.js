// What is known about the page and each element during one pass.

import { enter } from "./flat_tree.js";
import { findRemembered, forgetPending, remember } from "./memory.js";
import { deepFocus, findDeclaredModal, openModal, pathTo } from "./modal.js";
import { attribute, documentOf, get, getAttributeNames, hasAttributes, MAX_TEXT, NOTHING, tidy } from "./platform.js";
import { forgetLost, forgetRemoved, recordGivenRefs } from "./refs.js";
import { Styled } from "./styles.js";

// Facts about elements in the current pass; null between passes.
export let pass = null;
let passes = 0;

class Pass {
  constructor(document, asked) {
    this.number = ++passes;
    this.document = document;
    this.next = asked.next || 1;
    this.boxes = asked.boxes === true;
    this.facts = new Map(); // facts about elements that are not cached
    this.styled = new Styled();
    this.labels = new Map();
    this.labelled = new Set();
    this.owners = new Map();
    this.said = new Set();
    this.parts = new Set(); // the parts of what can be clicked
    this.naming = new Set();
    this.visited = null; // the elements that the name being computed includes by reference; a set once there is one
    this.referred = 0; // elements read by reference or for a label, which are not cached
    this.held = 0; // how often a name included the value of a field
    this.lasting = false; // names are computed without the values of fields
    this.typed = false; // contents are read without the text that style sheets add
    this.focused = deepFocus(document);
    this.beside = new Set(); // elements that can be used although a dialog covers the page
    this.modal = openModal(document) || findDeclaredModal(document, this.focused, this.beside);
    this.around = pathTo(this.modal);
    this.out = [];
    this.run = "";
    this.runDepth = 0;
    this.crossed = [];
    this.lastText = { index: -1, text: "" };
    this.fieldsets = false; // some are disabled
    this.cut = false;
  }
}

// One element. Each fact is computed once per pass.
class Facts {
  constructor(element) {
    this.element = element;
    this.tag = get.localName.call(element);
    this.style = undefined; // computed on first use; the object is live
    this.list = null; // its direct content, while it is cached
    this.isRemembered = false;
    this.names = null;
    this.aria = false;
    this.renew();
  }

  // Forget the facts of the previous pass, except those in the cache.
  renew() {
    this.pass = passes;
    if (this.names === null) {
      this.names = hasAttributes.call(this.element) ? getAttributeNames.call(this.element) : NOTHING;
      this.aria = this.names.some(isAria); // or a role
    }
    this.shown = undefined;
    this.children = undefined;
    this.role = undefined;
    this.said = undefined;
    this.context = undefined;
    this.name = undefined;
    this.contents = undefined;
    this.holds = false; // its contents include the value of a field
  }
}

const isAria = (name) => name.startsWith("aria-") || name === "role";

export function textAttribute(facts, name) {
  const said = attr(facts, name);
  return said ? tidy(said, MAX_TEXT) : "";
}

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

export function renewFacts(facts) {
  if (facts.pass !== passes) facts.renew();
  return facts;
}

// The attribute names are read once, because most attributes that are looked up are absent.
export const hasAttr = (facts, name) => facts.names.includes(name);
export const attr = (facts, name) => (facts.names.includes(name) ? attribute(facts.element, name) : null);
export const isSet = (facts, name) => attr(facts, name) === "true";

export function within(root, asked, work) {
  forgetRemoved();
  forgetLost(asked);
  forgetPending();
  pass = new Pass(documentOf(root), asked);
  const first = pass.next;
  try {
    enter(pass.document);
    return work();
  } finally {
    recordGivenRefs(asked.pass, first, pass.next);
    pass = null;
  }
}
