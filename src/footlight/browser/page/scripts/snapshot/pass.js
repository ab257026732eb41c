// What is known of the page and of each element during one pass.

import { enter } from "./flat_tree.js";
import { forgetPending, remember, remembered } from "./memory.js";
import { deepFocus, findDeclaredModal, openModal, pathTo } from "./modal.js";
import { attribute, documentOf, get, getAttributeNames, hasAttributes, MAX_TEXT, NOTHING, tidy } from "./platform.js";
import { forgetLost, forgetRemoved, recordGivenRefs } from "./refs.js";
import { Styled } from "./styles.js";

// What is known of elements in the pass that is being made; null between passes.
export let pass = null;
let passes = 0;

class Pass {
  constructor(document, asked) {
    this.number = ++passes;
    this.document = document;
    this.next = asked.next || 1;
    this.boxes = asked.boxes === true;
    this.facts = new Map(); // of elements that are not remembered
    this.styled = new Styled();
    this.labels = new Map();
    this.labelled = new Set();
    this.owners = new Map();
    this.said = new Set();
    this.parts = new Set(); // of what can be clicked
    this.naming = new Set();
    this.visited = null; // what the name being found has by reference; a set once there is something
    this.referred = 0; // elements read by reference or for a label: no cache knows them
    this.held = 0; // how often a name took what a field holds
    this.lasting = false; // names are asked for without that
    this.typed = false; // contents are asked for without what stylesheets add
    this.focused = deepFocus(document);
    this.beside = new Set(); // what can be used although a dialog is over the page
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

// One element, each answer found once in a pass.
class Facts {
  constructor(element) {
    this.element = element;
    this.tag = get.localName.call(element);
    this.style = undefined; // it is live
    this.list = null; // what is directly inside, while it is remembered
    this.isRemembered = false;
    this.names = null;
    this.aria = false;
    this.renew();
  }

  // Forget what another pass has found, but for what is remembered.
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
    this.holds = false; // what a field in it holds is among the contents
  }
}

const isAria = (name) => name.startsWith("aria-") || name === "role";

export function textAttribute(facts, name) {
  const said = attr(facts, name);
  return said ? tidy(said, MAX_TEXT) : "";
}

export function factsOf(element, isInObserved = false) {
  const known = remembered(element);
  if (known) return renewed(known);
  const facts = pass.facts.get(element) || new Facts(element);
  if (isInObserved) {
    facts.isRemembered = true;
    remember(facts);
  } else pass.facts.set(element, facts);
  return facts;
}

export function renewed(facts) {
  if (facts.pass !== passes) facts.renew();
  return facts;
}

// The names are asked for once: nearly all attributes that are looked for are not there.
export const says = (facts, name) => facts.names.includes(name);
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
