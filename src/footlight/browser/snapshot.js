// What a reader of the page's accessibility tree would find, in one pass over the flat tree, and the elements that
// its refs stand for. A selector engine for Playwright: `query(root, body)`.
//
//   e12        the live element of that ref; `e12,e15` for several
//   any other  percent-encoded JSON {"what": "look" | "ref" | "identify", …}; the reply is the attribute `v` of a new
//              detached element, as JSON
//
// Roles are those of HTML-AAM and ARIA, names and descriptions those of accname 1.2, states those of ARIA; where the
// documents leave a choice, Chrome's is taken (docs/agreement.md). It runs in a world of its own, which pages cannot
// touch: the DOM's methods are what they should be. Only a form's and a document's named properties shadow members
// there too, so members are taken from their prototypes.
(() => {
  "use strict";

  // ---- limits ----

  const MAX_NODES = 50_000;
  const MAX_DEPTH = 400; // of elements inside each other; the stack holds some thousand calls
  const MAX_NAME = 400;
  const MAX_SAID = 100; // of an element with a test id
  const MAX_TEXT = 2_000;
  const MAX_OPTIONS = 50; // of a drop-down, in the tree
  const MAX_SELECTORS = 40; // more are slower to match than styles are to ask for

  // ---- the platform, past named properties ----

  const getter = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
  const get = {
    activeElement: getter(Document, "activeElement"),
    data: getter(CharacterData, "data"),
    documentElement: getter(Document, "documentElement"),
    firstChild: getter(Node, "firstChild"),
    isConnected: getter(Node, "isConnected"),
    localName: getter(Element, "localName"),
    nextSibling: getter(Node, "nextSibling"),
    nodeType: getter(Node, "nodeType"),
    ownerDocument: getter(Node, "ownerDocument"),
    parentNode: getter(Node, "parentNode"),
    previousElementSibling: getter(Element, "previousElementSibling"),
    shadowRoot: getter(Element, "shadowRoot"),
    textContent: getter(Node, "textContent"),
    title: getter(Document, "title"),
    url: getter(Document, "URL"),
  };
  const { checkVisibility, closest, getAttribute, getAttributeNames, getBoundingClientRect } =
    Element.prototype;
  const { hasAttribute, hasAttributes, matches } = Element.prototype;
  const { assignedSlot } = Object.getOwnPropertyDescriptors(Element.prototype);
  const ELEMENT = 1;
  const TEXT = 3;
  const CDATA = 4;
  const DOCUMENT = 9;

  const attribute = (element, name) => getAttribute.call(element, name);
  const has = (element, name) => hasAttribute.call(element, name);
  const lower = (text) => (text ? text.trim().toLowerCase() : "");

  function isMatch(element, css) {
    try {
      return matches.call(element, css);
    } catch {
      return false; // a selector this engine does not know
    }
  }

  function findAll(root, css) {
    const find =
      get.nodeType.call(root) === DOCUMENT ? Document.prototype.querySelectorAll : root.querySelectorAll;
    return find.call(root, css);
  }

  // The element above in the flat tree, or null.
  function parentOf(element) {
    const slot = assignedSlot.get.call(element);
    if (slot) return slot;
    const parent = get.parentNode.call(element);
    if (!parent) return null;
    const type = get.nodeType.call(parent);
    return type === ELEMENT ? parent : (type === 11 && parent.host) || null;
  }

  function isInside(element, outer) {
    for (let at = element; at; at = parentOf(at)) if (at === outer) return true;
    return false;
  }

  // ---- text ----

  const UNSEEN_CHARACTERS = /[\u00ad\u200b\u2060\ufeff\ue000-\uf8ff]|\udb80[\udc00-\udfff]/g;
  const UNEVEN = /[^\S ]|  /;
  const BEYOND_ASCII = /[^\0-\x7f]/;
  const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

  // White space in a row becomes one space. Glyphs of icon fonts, soft hyphens and the like say nothing.
  function fold(text) {
    let folded = text;
    if (BEYOND_ASCII.test(folded))
      folded = folded.replace(UNSEEN_CHARACTERS, "").replace(LONE_SURROGATE, "\ufffd");
    return UNEVEN.test(folded) ? folded.replace(/\s+/g, " ") : folded;
  }

  // Within `limit` characters; a cut is marked and parts no surrogate pair.
  function cut(text, limit) {
    if (text.length <= limit) return text;
    const last = text.charCodeAt(limit - 2);
    return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 2 : limit - 1) + "…";
  }

  // Long texts are shortened before they are looked at in whole.
  const tidy = (text, limit) => cut(fold(text.length > 20_000 ? text.slice(0, 20_000) : text).trim(), limit);

  const TO_ESCAPE = /["\\\u0000-\u001f\u2028\u2029\ud800-\udfff]/;
  const quote = (text) => (TO_ESCAPE.test(text) ? JSON.stringify(text) : '"' + text + '"');

  const NOTHING = [];

  // ---- a pass and its facts ----

  // What is known of elements in the pass that is being made; null between passes.
  let pass = null;

  class Pass {
    constructor(document, asked) {
      this.document = document;
      this.next = asked.next || 1;
      this.boxes = asked.boxes === true;
      this.facts = new Map();
      this.styled = new Styled();
      this.labels = new Map();
      this.labelled = new Set();
      this.owners = new Map();
      this.said = new Set();
      this.naming = new Set();
      this.focused = deepFocus(document);
      this.modal = openModal(document);
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

  // One element, each answer found once.
  class Facts {
    constructor(element) {
      this.element = element;
      this.tag = get.localName.call(element);
      this.names = hasAttributes.call(element) ? getAttributeNames.call(element) : NOTHING;
      this.aria = this.names.some(isAria); // or a role
      this.shown = undefined;
      this.style = undefined;
      this.children = undefined;
      this.role = undefined;
      this.name = undefined;
      this.contents = undefined;
    }
  }

  const isAria = (name) => name.startsWith("aria-") || name === "role";

  function textAttribute(facts, name) {
    const said = attr(facts, name);
    return said ? tidy(said, MAX_TEXT) : "";
  }

  function factsOf(element) {
    let facts = pass.facts.get(element);
    if (!facts) pass.facts.set(element, (facts = new Facts(element)));
    return facts;
  }

  // The names are asked for once: nearly all attributes that are looked for are not there.
  const says = (facts, name) => facts.names.includes(name);
  const attr = (facts, name) => (facts.names.includes(name) ? attribute(facts.element, name) : null);
  const isSet = (facts, name) => attr(facts, name) === "true";

  function deepFocus(document) {
    let element = get.activeElement.call(document);
    while (element) {
      const shadow = get.shadowRoot.call(element);
      if (!shadow || !shadow.activeElement) break;
      element = shadow.activeElement;
    }
    return element && !["body", "html", "iframe", "frame"].includes(get.localName.call(element))
      ? element
      : null;
  }

  // The modal dialog on top, which makes all else inert. Its backdrop lies over everything, so a hit finds it.
  function openModal(document) {
    let modals = [];
    try {
      modals = [...findAll(document, "dialog:modal")];
    } catch {
      return null;
    }
    if (modals.length < 2) return modals[0] || null;
    const hit = Document.prototype.elementFromPoint.call(document, 1, 1);
    return (hit && closest.call(hit, "dialog:modal")) || modals[modals.length - 1];
  }

  function pathTo(element) {
    const path = new Set();
    for (let at = element; at; at = parentOf(at)) path.add(at);
    return path;
  }

  // ---- the flat tree ----

  const words = (text) => new Set(/\s/.test(text) ? text.split(/\s+/).filter(Boolean) : [text]);

  // Not drawn, or nothing that a reader meets.
  const SKIPPED = words(`
    base basefont col colgroup datalist defs desc head link meta metadata noembed noframes noscript param rp script
    source style template title track clipPath filter linearGradient marker mask pattern radialGradient symbol area
  `);
  // What is inside is drawn by the element itself, or only where it fails.
  const CLOSED = words(
    "audio canvas embed frame iframe img input object progress meter select textarea video",
  );

  // What is inside, in the order of the flat tree: facts of elements, and texts, folded.
  function childrenOf(facts) {
    if (facts.children === undefined) {
      facts.children = CLOSED.has(facts.tag) ? NOTHING : owned(facts, flatChildren(facts));
    }
    return facts.children;
  }

  function flatChildren(facts) {
    const { element, tag } = facts;
    const shadow = get.shadowRoot.call(element);
    if (shadow) {
      enter(shadow);
      return listOf(shadow);
    }
    if (tag === "slot" && element.assignedNodes) {
      const assigned = element.assignedNodes();
      if (assigned.length) return assigned.map(childOf).filter(Boolean);
    }
    const list = listOf(element);
    // Not left to styles: a text directly inside has none of its own.
    const isClosed = tag === "details" && !says(facts, "open");
    return isClosed ? list.filter((child) => child.tag === "summary" && isFirstSummary(child.element)) : list;
  }

  function listOf(parent) {
    const first = get.firstChild.call(parent);
    if (!first) return NOTHING;
    const list = [];
    for (let node = first; node; node = get.nextSibling.call(node)) {
      const child = childOf(node);
      if (child) list.push(child);
    }
    return list;
  }

  function childOf(node) {
    const type = get.nodeType.call(node);
    if (type === ELEMENT) return factsOf(node);
    return type === TEXT || type === CDATA ? fold(get.data.call(node)) : "";
  }

  function isFirstSummary(node) {
    if (get.nodeType.call(node) !== ELEMENT || get.localName.call(node) !== "summary") return false;
    for (let at = node.previousElementSibling; at; at = at.previousElementSibling) {
      if (get.localName.call(at) === "summary") return false;
    }
    const parent = get.parentNode.call(node);
    return parent && get.localName.call(parent) === "details";
  }

  // What is asked of a document or shadow tree as a whole.
  function enter(root) {
    pass.styled.read(root);
    noteOwners(root);
    if (findAll(root, "fieldset:disabled").length) pass.fieldsets = true;
  }

  // `aria-owns`: the first owner that names an element has it, unless it is inside that element.
  function noteOwners(root) {
    for (const owner of findAll(root, "[aria-owns]")) {
      for (const id of words(attribute(owner, "aria-owns"))) {
        const element = byId(root, id);
        if (element && !pass.owners.has(element) && !isInside(owner, element))
          pass.owners.set(element, owner);
      }
    }
  }

  function owned(facts, children) {
    if (!pass.owners.size) return children;
    const isTaken = ({ element }) => element && pass.owners.has(element);
    const list = children.filter((child) => !isTaken(child));
    if (!says(facts, "aria-owns")) return list;
    for (const [element, owner] of pass.owners) if (owner === facts.element) list.push(factsOf(element));
    return list;
  }

  function byId(root, id) {
    const find =
      get.nodeType.call(root) === DOCUMENT ? Document.prototype.getElementById : root.getElementById;
    return find ? find.call(root, id) : null;
  }

  function byIds(facts, name) {
    const said = attr(facts, name);
    if (!said) return NOTHING;
    const root = Node.prototype.getRootNode.call(facts.element);
    const found = [];
    for (const id of words(said)) {
      const other = byId(root, id);
      if (other) found.push(other);
    }
    return found;
  }

  // ---- styles ----

  function styleOf(facts) {
    if (!facts.style) facts.style = getComputedStyle(facts.element);
    return facts.style;
  }

  // Styles cost more than all else, so each tree's sheets are read for who may have a pointer, generated content or
  // skipped contents, and only those are asked. A sheet of another origin cannot be read: then all are.
  const summaries = new WeakMap();

  const KINDS = ["pointer", "before", "after", "skipping", "picture", "invisible"];

  class Summary {
    constructor(rules) {
      this.rules = rules;
      for (const kind of KINDS) this[kind] = [];
    }
  }

  function summaryOf(sheet) {
    let rules;
    try {
      rules = sheet.cssRules;
    } catch {
      return null;
    }
    const known = summaries.get(sheet);
    if (known && known.rules === rules.length) return known;
    const summary = new Summary(rules.length);
    if (!readRules(rules, summary)) return null;
    summaries.set(sheet, summary);
    return summary;
  }

  function readRules(rules, summary) {
    for (const rule of rules) {
      if (rule.selectorText !== undefined && rule.style && !readStyle(rule, summary)) return false;
      if (rule.styleSheet && !readImport(rule, summary)) return false;
      if (rule.cssRules && rule.cssRules.length && !rule.selectorText && !readRules(rule.cssRules, summary))
        return false;
      // Rules nested in a rule speak of `&`, which is only known there.
      if (rule.selectorText !== undefined && rule.cssRules && rule.cssRules.length) return false;
    }
    return true;
  }

  function readImport(rule, summary) {
    const inner = summaryOf(rule.styleSheet);
    if (!inner) return false;
    for (const kind of KINDS) summary[kind].push(...inner[kind]);
    return true;
  }

  const OF_OTHER_TREES = /:host|::slotted|::part|&/;

  function readStyle(rule, summary) {
    const { style } = rule;
    const { cursor, content, contentVisibility, visibility } = style;
    if (!cursor && !content && !contentVisibility && !visibility) return true;
    const selector = rule.selectorText;
    const kinds = [];
    if (/pointer|var\(/.test(cursor)) kinds.push("pointer");
    if (/hidden|var\(/.test(contentVisibility || "")) kinds.push("skipping");
    if (saysSomething(content))
      kinds.push(...["before", "after"].filter((pseudo) => selector.includes(":" + pseudo)));
    if (content.startsWith("url(")) kinds.push("picture");
    if (visibility && visibility !== "visible") kinds.push("invisible");
    if (kinds.length && OF_OTHER_TREES.test(selector)) return false;
    for (const kind of kinds) summary[kind].push(withoutPseudo(selector));
    return true;
  }

  const saysSomething = (content) =>
    !!content &&
    !/^(none|normal|""|''|inherit|initial|unset)$/.test(content) &&
    !!fold(content).replace(/["'\s]/g, "");

  // `a::before, ::after` → `a, *`
  const withoutPseudo = (selector) =>
    selector.replace(/(^|[\s,>+~(])::?(?=before|after)/g, "$1*::").replace(/::?(before|after)/g, "");

  // Of each kind the elements that may be meant, in all trees that were entered; null for any.
  class Styled {
    constructor() {
      for (const kind of KINDS) this[kind] = new Set();
    }

    read(root) {
      const sheets = [...(root.styleSheets || []), ...(root.adoptedStyleSheets || [])].map(summaryOf);
      const isWhole = !sheets.includes(null);
      for (const kind of KINDS) {
        const selectors = isWhole ? sheets.flatMap((summary) => summary[kind]) : null;
        this[kind] = this[kind] && selectors && addMatches(root, selectors, INLINE[kind], this[kind]);
      }
    }

    get isAllVisible() {
      return this.invisible !== null && this.invisible.size === 0;
    }

    may(facts, kind) {
      return this[kind] === null || this[kind].has(facts.element);
    }
  }

  const INLINE = {
    invisible: '[style*="visibility"],[visibility]',
    pointer: '[style*="cursor"]',
    skipping: '[style*="content-visibility"],[hidden="until-found"]',
  };

  function addMatches(root, selectors, inline, set) {
    const all = [...new Set(selectors)];
    if (all.length > MAX_SELECTORS) return null;
    if (inline) all.push(inline);
    if (!all.length) return set;
    try {
      for (const element of findAll(root, all.join(","))) set.add(element);
    } catch {
      return null;
    }
    return set;
  }

  // In a line with the text around it, and part of the same words unless it is `inline-block` or the like.
  const isInline = (facts) => /^(inline|contents|ruby)|math/.test(styleOf(facts).display);
  const isWithin = (facts) => /^(inline$|contents|ruby)|math/.test(styleOf(facts).display);

  // What a stylesheet adds before or after an element's contents.
  function generated(facts, pseudo) {
    if (!pass.styled.may(facts, pseudo)) return "";
    const style = getComputedStyle(facts.element, "::" + pseudo);
    const { content } = style;
    if (!content || content === "none" || content === "normal" || content === '""') return "";
    if (style.display === "none" || style.visibility !== "visible") return "";
    const text = fold(contentText(facts.element, content));
    return style.display.startsWith("inline") ? text : " " + text + " ";
  }

  const CONTENT_PARTS =
    /"((?:[^"\\]|\\.)*)"|attr\(\s*([\w-]+)[^)]*\)|(\/)|url\("(?:[^"\\]|\\.)*"\)|[\w-]+(?:\([^)]*\))?/g;

  // `"a" attr(b) / "alternative"`: what follows the slash is said instead.
  function contentText(element, content) {
    let text = "";
    for (const [, string, name, slash] of content.matchAll(CONTENT_PARTS)) {
      if (slash) text = "";
      else if (string !== undefined) text += string.replace(/\\(["\\])/g, "$1");
      else if (name) text += attribute(element, name) || "";
    }
    return text;
  }

  // ---- what is in the tree ----

  const GONE = 0; // with all inside it
  const HIDDEN = 1; // itself; what is inside may be shown
  const SHOWN = 2;
  const VISIBLE = { visibilityProperty: true, checkVisibilityCSS: true };

  function shownOf(facts) {
    if (facts.shown === undefined) facts.shown = findShown(facts);
    return facts.shown;
  }

  function findShown(facts) {
    // With options it takes half as long again.
    const options = pass.styled.isAllVisible ? undefined : VISIBLE;
    if (checkVisibility && checkVisibility.call(facts.element, options)) return SHOWN;
    const { display, visibility } = styleOf(facts);
    if (display === "none" || !display) return GONE;
    if (visibility !== "visible") return HIDDEN;
    if (display === "contents" || !checkVisibility) return SHOWN;
    return GONE; // in the skipped contents of another
  }

  function skipsContents(facts) {
    return pass.styled.may(facts, "skipping") && styleOf(facts).contentVisibility === "hidden";
  }

  // Hiding what has the focus would leave a keyboard user nowhere, so browsers do not.
  function isAriaHidden(facts) {
    if (!facts.aria || !isSet(facts, "aria-hidden")) return false;
    if (facts.tag === "body" || facts.tag === "html") return false;
    return !(pass.focused && isInside(pass.focused, facts.element));
  }

  function isOut(facts) {
    return SKIPPED.has(facts.tag) || shownOf(facts) === GONE || isAriaHidden(facts);
  }

  // ---- roles ----

  const ROLES = words(`
    alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox
    comment complementary contentinfo definition deletion dialog document emphasis feed figure form generic grid
    gridcell group heading img insertion link list listbox listitem log main mark marquee math menu menubar menuitem
    menuitemcheckbox menuitemradio meter navigation none note option paragraph progressbar radio radiogroup region row
    rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong subscript suggestion
    superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem
    doc-abstract doc-acknowledgments doc-afterword doc-appendix doc-backlink doc-bibliography doc-biblioref doc-chapter
    doc-colophon doc-conclusion doc-cover doc-credit doc-credits doc-dedication doc-endnotes doc-epigraph doc-epilogue
    doc-errata doc-example doc-footnote doc-foreword doc-glossary doc-glossref doc-index doc-introduction doc-noteref
    doc-notice doc-pagebreak doc-pagefooter doc-pageheader doc-pagelist doc-part doc-preface doc-prologue doc-pullquote
    doc-qna doc-subtitle doc-tip doc-toc graphics-document graphics-object graphics-symbol
  `);
  const SYNONYMS = new Map([
    ["image", "img"],
    ["presentation", "none"],
    ["directory", "list"],
  ]);

  // Attributes every role has; one of them on an element with role "none" shows that it is meant to be met.
  const GLOBAL = [
    ..."atomic busy controls current describedby description details dropeffect flowto grabbed hidden".split(
      " ",
    ),
    ..."keyshortcuts label labelledby live owns relevant roledescription".split(" "),
  ].map((name) => "aria-" + name);

  // prettier-ignore
  const INPUT_ROLES = new Map(
    Object.entries({
      button: "button", checkbox: "checkbox", file: "button", hidden: "none", image: "button", number: "spinbutton",
      radio: "radio", range: "slider", reset: "button", search: "searchbox", submit: "button",
    }),
  );

  function roleOf(facts) {
    if (facts.role === undefined) {
      facts.role = "generic"; // for whoever asks in a circle
      facts.role = findRole(facts);
    }
    return facts.role;
  }

  function findRole(facts) {
    const said = explicitRole(facts);
    if (said && said !== "none") return said === "region" || said === "form" ? namedOr(facts, said) : said;
    if (said === "none" && !isMeantToBeMet(facts)) return "none";
    return nativeRole(facts);
  }

  function explicitRole(facts) {
    const said = attr(facts, "role");
    if (!said) return "";
    for (const word of words(said.toLowerCase())) {
      const role = SYNONYMS.get(word) || word;
      if (ROLES.has(role)) return role;
    }
    return "";
  }

  const isMeantToBeMet = (facts) => isFocusable(facts) || GLOBAL.some((name) => says(facts, name));

  function nativeRole(facts) {
    const native = TAG_ROLES.get(facts.tag);
    const role = typeof native === "function" ? native(facts) : native || "generic";
    if (role !== "generic") return role;
    if (isEditingHost(facts)) return "textbox";
    return isPicture(facts) ? "img" : "generic";
  }

  // `content: url(…)` puts a picture in an element's place.
  const isPicture = (facts) =>
    !!pass.styled.picture &&
    pass.styled.picture.has(facts.element) &&
    styleOf(facts).content.startsWith("url(");

  const namedOr = (facts, role) => (isNamedByAuthor(facts) ? role : "generic");

  const isNamedByAuthor = (facts) =>
    !!textAttribute(facts, "aria-label") ||
    byIds(facts, "aria-labelledby").length > 0 ||
    !!textAttribute(facts, "title");

  function linkRole(facts) {
    if (attr(facts, "href") !== null) return "link";
    if (says(facts, "xlink:href") && facts.element.namespaceURI.endsWith("svg")) return "link";
    return isClickable(facts) ? "link" : "generic"; // a script follows it
  }

  const SECTIONS =
    "article,aside,main,nav,section,[role=article],[role=complementary],[role=main],[role=navigation],[role=region]";
  const isInSection = (facts) => closest.call(facts.element, SECTIONS) !== null;
  const headerRole = (facts) => (isInSection(facts) ? "generic" : "banner");
  const footerRole = (facts) => (isInSection(facts) ? "generic" : "contentinfo");
  const sectionRole = (facts) => namedOr(facts, "region");
  const SECTIONING =
    "article,aside,nav,section,[role=article],[role=complementary],[role=navigation],[role=region]";

  function asideRole(facts) {
    const parent = get.parentNode.call(facts.element);
    const within = parent && get.nodeType.call(parent) === ELEMENT && closest.call(parent, SECTIONING);
    return within ? namedOr(facts, "complementary") : "complementary";
  }

  function imageRole(facts) {
    const isEmpty = attr(facts, "alt") === "" && !attr(facts, "title");
    return isEmpty && !isMeantToBeMet(facts) ? "none" : "img";
  }

  const svgRole = (facts) => (nameOf(facts).text ? "img" : "generic");

  function inputRole(facts) {
    const { element } = facts;
    const role = INPUT_ROLES.get(element.type) || "textbox";
    if (role === "checkbox" && says(facts, "switch")) return "switch";
    if (role === "checkbox" && says(facts, "aria-pressed")) return "button";
    return says(facts, "list") && LISTED.has(element.type) && element.list ? "combobox" : role;
  }

  const LISTED = words("text search tel url email");

  const selectRole = ({ element }) => (element.multiple || element.size > 1 ? "listbox" : "combobox");

  const summaryRole = ({ element }) => (isFirstSummary(element) ? "button" : "generic");

  function itemRole(facts) {
    const parent = parentOf(facts.element);
    if (!parent || !LISTS.has(get.localName.call(parent))) return "listitem";
    return roleOf(factsOf(parent)) === "list" ? "listitem" : "none";
  }

  const LISTS = words("menu ol ul");

  const GRIDS = words("grid treegrid");
  const TABLES = words("table grid treegrid");

  function tableAround(facts) {
    const table = closest.call(facts.element, "table");
    return table ? roleOf(factsOf(table)) : "generic";
  }

  const tableRole = (facts) => (isDataTable(facts.element) ? "table" : "generic");
  const groupRole = (facts) => (TABLES.has(tableAround(facts)) ? "rowgroup" : "generic");
  const rowRole = (facts) => (TABLES.has(tableAround(facts)) ? "row" : "generic");

  function dataRole(facts) {
    const around = tableAround(facts);
    if (GRIDS.has(around)) return "gridcell";
    return around === "table" ? "cell" : "generic";
  }

  function headRole(facts) {
    if (!TABLES.has(tableAround(facts))) return "generic";
    const scope = lower(attr(facts, "scope"));
    if (scope === "row" || scope === "rowgroup") return "rowheader";
    if (scope === "col" || scope === "colgroup") return "columnheader";
    return isBesideData(facts.element) ? "rowheader" : "columnheader";
  }

  // A heading cell between headings, or alone, heads its column; one beside data, or in a row that begins or ends
  // with data, heads its row.
  function isBesideData(cell) {
    const { nextElementSibling: next, previousElementSibling: previous } = cell;
    if (!next && !previous) return false;
    if (isHeading(next) && isHeading(previous)) return false;
    if (isData(next) || isData(previous)) return true;
    const row = get.parentNode.call(cell);
    return isData(row.firstElementChild) || isData(row.lastElementChild);
  }

  const isHeading = (cell) => cell !== null && get.localName.call(cell) === "th";
  const isData = (cell) =>
    cell !== null && get.localName.call(cell) === "td" && get.firstChild.call(cell) !== null;

  // Many a table only lays a page out. These are the signs by which Chrome knows those that hold data.
  function isDataTable(table) {
    if (has(table, "role") || table.isContentEditable) return true;
    if (table.summary || table.rules || table.tHead || table.tFoot || table.caption) return true;
    if (findAll(table, ":scope > colgroup, :scope > col").length) return true;
    const { rows } = table;
    if (rows.length >= 20) return true;
    if (!rows.length || (rows.length === 1 && rows[0].cells.length === 1)) return false;
    return hasHeadings(rows) || hasDrawnCells(table, rows);
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

  function hasDrawnCells(table, rows) {
    const count = { cells: 0, bordered: 0, top: 0, bottom: 0, left: 0, right: 0, coloured: 0 };
    const style = styleOf(factsOf(table));
    const isSpaced = !/^0px|\b0px$/.test(style.borderSpacing);
    for (const row of rows)
      for (const cell of row.cells) countCell(cell, count, style.backgroundColor, isSpaced);
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

  // prettier-ignore
  const TAG_ROLES = new Map(
    Object.entries({
      address: "group", article: "article", audio: "audio", blockquote: "blockquote", button: "button",
      canvas: "canvas", caption: "caption", code: "code", dd: "definition", del: "deletion", details: "group",
      dfn: "term", dialog: "dialog", dt: "term", em: "emphasis", embed: "generic", fieldset: "group",
      figcaption: "caption", figure: "figure", form: "form", frame: "iframe", h1: "heading", h2: "heading",
      h3: "heading", h4: "heading", h5: "heading", h6: "heading", hgroup: "group", hr: "separator",
      iframe: "iframe", ins: "insertion", main: "main", mark: "mark", math: "math", menu: "list", meter: "meter",
      nav: "navigation", ol: "list", optgroup: "group", option: "option", output: "status", p: "paragraph",
      progress: "progressbar", s: "deletion", search: "search", strong: "strong", sub: "subscript",
      sup: "superscript", textarea: "textbox", time: "time", ul: "list", video: "video",
      a: linkRole, area: linkRole, aside: asideRole, footer: footerRole, header: headerRole, img: imageRole,
      input: inputRole, li: itemRole, section: sectionRole, select: selectRole, summary: summaryRole,
      svg: svgRole, table: tableRole, tbody: groupRole, td: dataRole, tfoot: groupRole, th: headRole,
      thead: groupRole, tr: rowRole,
    }),
  );

  // ---- who can be acted on ----

  const CONTROLS = words("button input select textarea");

  function isFocusable(facts) {
    const { element, tag } = facts;
    if (CONTROLS.has(tag)) return element.type !== "hidden" && !element.disabled;
    if (tag === "summary") return isFirstSummary(element);
    if (tag === "iframe" || tag === "frame") return true;
    if (!facts.names.length) return false;
    if ((tag === "a" || tag === "area") && linkRole(facts) === "link") return true;
    if ((tag === "audio" || tag === "video") && says(facts, "controls")) return true;
    return hasTabIndex(facts) || isEditingHost(facts);
  }

  function hasTabIndex(facts) {
    const said = attr(facts, "tabindex");
    return said !== null && /^\s*[-+]?\d/.test(said);
  }

  const EDITABLE = words("true plaintext-only");

  function isEditingHost(facts) {
    const said = attr(facts, "contenteditable");
    if (said === null || !(said === "" || EDITABLE.has(lower(said)))) return false;
    const parent = parentOf(facts.element);
    return !(parent && parent.isContentEditable);
  }

  // A hand shows over it that was not there over its parent, or it has a handler of its own.
  function isClickable(facts) {
    if (facts.tag === "html" || facts.tag === "body") return false;
    if (says(facts, "onclick")) return true;
    if (!pass.styled.may(facts, "pointer") || styleOf(facts).cursor !== "pointer") return false;
    const parent = parentOf(facts.element);
    return !parent || styleOf(factsOf(parent)).cursor !== "pointer";
  }

  // ---- names ----

  // A name and where it is from: "labelledby", "aria", "native", "content", "title", "placeholder" or "".
  class Name {
    constructor(text, from, sources = NOTHING) {
      this.text = cut(text, MAX_NAME);
      this.from = from;
      this.isCut = text.length > MAX_NAME;
      this.sources = sources; // the elements whose words it has, where it is their only use
    }
  }

  const NO_NAME = new Name("", "");

  const BY_CONTENT = words(`
    button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio
    rowheader switch tab term tooltip treeitem doc-backlink doc-biblioref doc-glossref doc-noteref
  `);
  // Part of the name around them: by their own name, value or title only.
  const OPAQUE = words(`
    alert alertdialog application article audio banner blockquote combobox complementary contentinfo dialog document
    feed figure form grid group iframe img listbox log main marquee math menu menubar meter navigation note
    progressbar radiogroup region scrollbar search searchbox separator slider spinbutton status table tablist tabpanel
    textbox timer toolbar tree treegrid video
  `);
  const UNNAMED = words(`
    caption code deletion emphasis insertion mark none paragraph strong subscript superscript time
  `);

  const UNSEEN = 1; // hidden contents count: the traversal began at something hidden
  const REFERENCED = 2; // by an id: no further ids are followed
  const LABEL = 4; // of a field, which is not part of its own name

  function nameOf(facts) {
    if (facts.name === undefined) {
      facts.name = NO_NAME;
      pass.naming.add(facts.element);
      facts.name = findName(facts);
      pass.naming.delete(facts.element);
    }
    return facts.name;
  }

  function findName(facts) {
    if (facts.aria && !UNNAMED.has(roleOf(facts))) {
      const labels = byIds(facts, "aria-labelledby");
      const referenced = labels.length ? joined(labels, REFERENCED) : "";
      if (referenced) return new Name(referenced, "labelledby");
      const said = textAttribute(facts, "aria-label");
      if (said) return new Name(said, "aria");
    }
    const native = nativeName(facts);
    if (native && native.text) return native;
    if (facts.tag !== "svg" && isNamedByContent(facts)) {
      const text = contents(facts).trim();
      if (text) return new Name(text, "content");
    }
    return facts.names.length ? tooltipName(facts) : NO_NAME;
  }

  // Of rows only those that can be selected have a name, or that of a table would be said twice.
  function isNamedByContent(facts) {
    const role = roleOf(facts);
    return BY_CONTENT.has(role) || (role === "row" && (isFocusable(facts) || GRIDS.has(gridAround(facts))));
  }

  function gridAround(facts) {
    const table = closest.call(facts.element, "table,[role=table],[role=grid],[role=treegrid]");
    return table ? roleOf(factsOf(table)) : "generic";
  }

  function tooltipName(facts) {
    const title = textAttribute(facts, "title");
    const isNamed = title && (roleOf(facts) !== "generic" || isFocusable(facts) || isClickable(facts));
    if (isNamed) return new Name(title, "title");
    const hint = placeholderOf(facts);
    return hint ? new Name(hint, "placeholder") : NO_NAME;
  }

  function placeholderOf(facts) {
    const isField = facts.tag === "input" || facts.tag === "textarea";
    return (isField && textAttribute(facts, "placeholder")) || textAttribute(facts, "aria-placeholder");
  }

  const joined = (elements, mode) =>
    fold(elements.map((element) => reference(element, mode)).join(" ")).trim();

  // What an element says that another is named by. One that is hidden says all it has.
  function reference(element, mode) {
    const facts = factsOf(element);
    if (pass.naming.has(element) && mode !== REFERENCED) return "";
    const hidden = shownOf(facts) !== SHOWN || SKIPPED.has(facts.tag) ? UNSEEN : 0;
    const own = ownAlternative(facts, mode | hidden);
    if (own) return own;
    return contents(facts, mode | hidden).trim() || textAttribute(facts, "title");
  }

  // What its contents say, in the order of the flat tree.
  function contents(facts, mode = 0) {
    if (mode === 0 && facts.contents !== undefined) return facts.contents;
    const text = findContents(facts, mode);
    if (mode === 0) facts.contents = text;
    return text;
  }

  function findContents(facts, mode) {
    const isSeen = mode & UNSEEN || shownOf(facts) === SHOWN;
    const line = new Line();
    if (isSeen) line.add(generated(facts, "before"));
    for (const child of childrenOf(facts)) {
      if (typeof child === "object") addContribution(child, mode, line);
      else if (isSeen) line.add(child);
      if (line.text.length > MAX_TEXT) break;
    }
    if (isSeen) line.add(generated(facts, "after"));
    return line.text;
  }

  // Texts in a row, folded already. Blocks are kept apart from their neighbours; who is one is a question of style,
  // and only asked where no space is there anyway.
  class Line {
    constructor() {
      this.text = "";
      this.before = null; // the element that the text ends with
    }

    add(text, facts = null) {
      if (!text) return;
      const isTight = this.text && !this.text.endsWith(" ") && !text.startsWith(" ");
      const isParted = isTight && ((this.before && !isWithin(this.before)) || (facts && !isWithin(facts)));
      if (isParted) this.text += " ";
      this.text += this.text.endsWith(" ") && text.startsWith(" ") ? text.slice(1) : text;
      this.before = facts;
    }
  }

  let level = 0;

  // What a child adds to the name around it.
  function addContribution(facts, mode, line) {
    if (facts.tag === "br") return line.add(" ");
    if (level > MAX_DEPTH || pass.naming.has(facts.element)) return undefined;
    if (mode & UNSEEN ? SKIPPED.has(facts.tag) : isOut(facts)) return undefined;
    level++;
    const isSeen = mode & UNSEEN || shownOf(facts) === SHOWN;
    const own = isSeen ? ownAlternative(facts, mode) : "";
    const inner = own || OPAQUE.has(roleOf(facts)) || skipsContents(facts) ? "" : contents(facts, mode);
    level--;
    if (inner.trim()) return line.add(inner, facts);
    const text = own || (isSeen ? textAttribute(facts, "title") : "");
    return line.add(text ? " " + text + " " : inner, facts);
  }

  // By ids, value, label or the words of HTML: all but contents and title.
  function ownAlternative(facts, mode) {
    if (facts.aria && !(mode & REFERENCED)) {
      const labels = byIds(facts, "aria-labelledby").filter((label) => !pass.naming.has(label));
      const text = labels.length ? joined(labels, REFERENCED) : "";
      if (text) return text;
    }
    const value = EMBEDDED.has(roleOf(facts)) ? valueOf(facts) : "";
    if (value) return value;
    const said = facts.aria ? textAttribute(facts, "aria-label") : "";
    if (said) return said;
    const native = NATIVE_NAMES.get(facts.tag);
    return native && native !== labelName ? (native(facts) || NO_NAME).text : "";
  }

  const EMBEDDED = words("textbox searchbox combobox listbox slider spinbutton scrollbar meter progressbar");

  const SHAPES = words("circle ellipse g image line path polygon polyline rect text use");

  function nativeName(facts) {
    if (SHAPES.has(facts.tag)) return svgName(facts);
    const find = NATIVE_NAMES.get(facts.tag);
    if (find) return find(facts);
    return facts.tag.includes("-") && facts.element.constructor.formAssociated ? labelName(facts) : null;
  }

  const byAttribute = (facts, name) => new Name(textAttribute(facts, name), "native");
  const altName = (facts) => byAttribute(facts, "alt");
  const optionName = (facts) => byAttribute(facts, "label");
  const mathName = (facts) => byAttribute(facts, "alttext");

  function labelName(facts) {
    const labels = labelsOf(facts.element);
    return labels.length ? new Name(joined(labels, LABEL), "native") : NO_NAME;
  }

  // Each field's own list would look through the whole tree, so one look finds the fields of all labels.
  function labelsOf(field) {
    const root = Node.prototype.getRootNode.call(field);
    if (!pass.labelled.has(root)) {
      pass.labelled.add(root);
      for (const label of findAll(root, "label")) {
        const { control } = label;
        if (!control) continue;
        const known = pass.labels.get(control);
        if (known) known.push(label);
        else pass.labels.set(control, [label]);
      }
    }
    return pass.labels.get(field) || NOTHING;
  }

  function inputName(facts) {
    const { element } = facts;
    const { type } = element;
    const label = labelName(facts);
    if (label.text) return label;
    if (type === "image") return imageButtonName(facts);
    if (type === "file" && !says(facts, "title")) return new Name("Choose File", "native");
    if (type !== "button" && type !== "submit" && type !== "reset") return NO_NAME;
    const value = tidy(element.value, MAX_TEXT);
    if (value || says(facts, "value")) return new Name(value, "native");
    return new Name({ submit: "Submit", reset: "Reset" }[type] || "", "native");
  }

  function imageButtonName(facts) {
    for (const name of ["alt", "value", "title"]) {
      const said = byAttribute(facts, name);
      if (said.text) return said;
    }
    return new Name("Submit", "native");
  }

  const legendName = (facts) => childName(facts, "legend");

  function tableName(facts) {
    const caption = childName(facts, "caption");
    return caption.text ? caption : byAttribute(facts, "summary");
  }

  function childName(facts, tag) {
    const child = childrenOf(facts).find((one) => one.tag === tag);
    return child ? new Name(reference(child.element, LABEL), "native", [child.element]) : NO_NAME;
  }

  function svgName(facts) {
    const title = childrenOf(facts).find((one) => one.tag === "title");
    return title ? new Name(tidy(get.textContent.call(title.element), MAX_TEXT), "native") : NO_NAME;
  }

  // prettier-ignore
  const NATIVE_NAMES = new Map(
    Object.entries({
      area: altName, button: labelName, fieldset: legendName, img: altName, input: inputName,
      math: mathName, meter: labelName, optgroup: optionName, option: optionName, output: labelName,
      progress: labelName, select: labelName, svg: svgName, table: tableName, textarea: labelName,
    }),
  );

  // ---- descriptions, values, states ----

  function descriptionOf(facts, name) {
    const others = facts.aria ? byIds(facts, "aria-describedby") : NOTHING;
    const said = others.length ? joined(others, REFERENCED) : "";
    const title = name.from === "title" ? "" : textAttribute(facts, "title");
    const text = said || textAttribute(facts, "aria-description") || title;
    return text === name.text ? "" : cut(text, MAX_NAME);
  }

  const MASK = "••••••••";
  const secrets = new WeakSet();

  // Once a password, always one: pages show it by making a text field of it.
  function isSecret(input) {
    if (input.type === "password") secrets.add(input);
    return secrets.has(input) || /\bpassword\b|-password/.test(lower(attribute(input, "autocomplete")));
  }

  const RANGES = words("slider spinbutton scrollbar meter progressbar separator");

  function valueOf(facts) {
    const { element, tag } = facts;
    if (tag === "input") return inputValue(facts);
    if (tag === "textarea") return tidy(element.value, MAX_TEXT);
    if (tag === "select") return selectedText(element);
    if (RANGES.has(roleOf(facts))) return rangeValue(facts);
    return isEditingHost(facts) ? contents(facts).trim() : "";
  }

  const UNVALUED = words("button checkbox hidden image radio reset submit");

  function inputValue(facts) {
    const { element } = facts;
    const { type } = element;
    if (UNVALUED.has(type)) return "";
    if (type === "file") return tidy([...element.files].map((file) => file.name).join(", "), MAX_TEXT);
    if (element.value && isSecret(element)) return MASK;
    return tidy(attr(facts, "aria-valuetext") || element.value, MAX_TEXT);
  }

  const selectedText = (select) => tidy([...select.selectedOptions].map(optionText).join(", "), MAX_TEXT);
  const optionText = (option) =>
    tidy(attribute(option, "aria-label") || option.label || option.text, MAX_NAME);

  function rangeValue(facts) {
    const said = attr(facts, "aria-valuetext") || attr(facts, "aria-valuenow");
    if (said) return tidy(said, MAX_TEXT);
    const isNative = facts.tag === "meter" || (facts.tag === "progress" && facts.element.position >= 0);
    return isNative ? "" + facts.element.value : "";
  }

  const NATIVELY_DISABLED = words("button fieldset input optgroup option select textarea");
  const CHECKABLE = words("checkbox menuitemcheckbox menuitemradio option radio switch treeitem");
  const TWO_STATES = words("menuitemradio radio switch");

  function isDisabled(facts) {
    const { element, tag } = facts;
    if (facts.aria && isSet(facts, "aria-disabled")) return true;
    if (!NATIVELY_DISABLED.has(tag)) return tag.includes("-") && isMatch(element, ":disabled");
    return element.disabled || ((pass.fieldsets || tag === "option") && isMatch(element, ":disabled"));
  }

  function checkedState(facts, role) {
    if (!CHECKABLE.has(role)) return "";
    const { element, tag } = facts;
    if (tag === "input") {
      if (element.indeterminate && element.type === "checkbox") return "checked=mixed";
      return element.checked ? "checked" : "";
    }
    const said = attr(facts, "aria-checked");
    if (said === "true") return "checked";
    return said === "mixed" && !TWO_STATES.has(role) ? "checked=mixed" : "";
  }

  function expandedState(facts) {
    if (facts.tag === "summary" && isFirstSummary(facts.element)) {
      return has(get.parentNode.call(facts.element), "open") ? "expanded" : "collapsed";
    }
    const said = attr(facts, "aria-expanded");
    if (said === "true") return "expanded";
    if (said === "false") return "collapsed";
    const target = says(facts, "popovertarget") ? facts.element.popoverTargetElement : null;
    if (!target) return "";
    return isMatch(target, ":popover-open") ? "expanded" : "collapsed";
  }

  const isSelected = (facts) =>
    facts.tag === "option" ? facts.element.selected : attr(facts, "aria-selected") === "true";

  function pressedState(facts) {
    const said = attr(facts, "aria-pressed");
    if (said === "true") return "pressed";
    return said === "mixed" ? "pressed=mixed" : "";
  }

  const FIELDS = words("input select textarea");

  function currentState(facts) {
    const said = lower(attr(facts, "aria-current"));
    if (!said || said === "false") return "";
    return said === "true" ? "current" : "current=" + tidy(said, 20);
  }

  function levelState(facts, role) {
    const said = parseInt(attr(facts, "aria-level"), 10);
    if (said >= 1) return "level=" + said;
    if (role !== "heading") return "";
    return "level=" + (/^h[1-6]$/.test(facts.tag) ? facts.tag[1] : 2);
  }

  function isInvalid(facts) {
    const said = lower(attr(facts, "aria-invalid"));
    if (said) return said !== "false";
    return FIELDS.has(facts.tag) && isMatch(facts.element, ":user-invalid");
  }

  function isModal(facts, role) {
    if (role !== "dialog" && role !== "alertdialog") return false;
    return facts.element === pass.modal || isSet(facts, "aria-modal") || isMatch(facts.element, ":modal");
  }

  function sortState(facts, role) {
    const said = role === "columnheader" || role === "rowheader" ? lower(attr(facts, "aria-sort")) : "";
    return said && said !== "none" ? "sort=" + tidy(said, 20) : "";
  }

  const STATEFUL = words("button input option select summary textarea");

  function statesOf(facts, role, flags) {
    const list = [];
    const isStateful = facts.aria || STATEFUL.has(facts.tag);
    if (flags & DISABLED || isDisabled(facts)) list.push("disabled");
    if (isStateful) addInputStates(facts, role, list);
    if (facts.element === pass.focused) list.push("focused");
    if (isStateful || role === "heading" || role === "dialog") addPlaceStates(facts, role, list);
    if (flags & CLICKABLE) list.push("clickable");
    if (facts.tag === "input" && facts.element.type === "file") list.push("file");
    if (attr(facts, "draggable") === "true") list.push("draggable");
    return list;
  }

  function addInputStates(facts, role, list) {
    const { element } = facts;
    const isField = FIELDS.has(facts.tag);
    const add = (state) => state && list.push(state);
    add(checkedState(facts, role));
    add(expandedState(facts));
    add(isSelected(facts) && "selected");
    add(pressedState(facts));
    add(((isField && element.required) || isSet(facts, "aria-required")) && "required");
    add(isInvalid(facts) && "invalid");
    add(((isField && element.readOnly) || isSet(facts, "aria-readonly")) && "readonly");
  }

  function addPlaceStates(facts, role, list) {
    const isMultiple = facts.tag === "select" && facts.element.multiple;
    const add = (state) => state && list.push(state);
    add(currentState(facts));
    add(levelState(facts, role));
    add((isMultiple || isSet(facts, "aria-multiselectable")) && "multiselectable");
    add(isModal(facts, role) && "modal");
    add(isSet(facts, "aria-busy") && "busy");
    add(sortState(facts, role));
  }

  // ---- refs ----

  const numbers = new WeakMap();
  const elements = new Map();
  let kept = 1_000;

  function refOf(element) {
    let number = numbers.get(element);
    if (number === undefined) {
      number = pass.next++;
      numbers.set(element, number);
      elements.set(number, new WeakRef(element));
    }
    return "e" + number;
  }

  // The live element of a ref that is in this document.
  function elementOf(ref, root) {
    const found = elements.get(Number(ref.slice(1)));
    const element = found && found.deref();
    if (!element || !get.isConnected.call(element)) return undefined;
    const isDocument = get.nodeType.call(root) === DOCUMENT;
    const inside = isDocument ? get.ownerDocument.call(element) === root : isUnder(element, root);
    return inside ? element : undefined;
  }

  function isUnder(element, root) {
    for (let at = element; at; at = get.parentNode.call(at) || at.host) if (at === root) return true;
    return false;
  }

  function forgetTheDead() {
    if (elements.size < kept) return;
    for (const [number, element] of elements) if (!element.deref()) elements.delete(number);
    kept = elements.size * 2 + 1_000;
  }

  const REFERRED = words(`
    alert alertdialog article banner button canvas audio video cell checkbox columnheader combobox complementary
    contentinfo dialog feed form grid gridcell heading iframe img link listbox listitem log main menu menubar menuitem
    menuitemcheckbox menuitemradio meter navigation option progressbar radio radiogroup region row rowheader scrollbar
    search searchbox slider spinbutton status switch tab table tablist tabpanel textbox timer toolbar tooltip tree
    treegrid treeitem
  `);
  // Around others, and worth a ref once they have a name.
  const REFERRED_BY_NAME = words(`
    application blockquote document figure generic group list marquee math note separator doc-abstract doc-toc
  `);
  // Words in a line, or parts without a meaning of their own: their contents take their place.
  const FOLDED = words(`
    code emphasis generic mark none rowgroup strong subscript superscript time suggestion
  `);
  const FOLDED_UNNAMED = words("group");

  const INTERACTIVE = words(`
    button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio searchbox slider
    spinbutton switch tab textbox treeitem
  `);
  // Their contents are a picture to the reader; only what can be reached by itself is met there.
  const WITH_PRESENTATIONAL_CHILDREN = words(`
    button checkbox img menuitemcheckbox menuitemradio meter option progressbar radio scrollbar separator slider
    switch tab
  `);

  // ---- the walk ----

  const DISABLED = 1; // by an aria-disabled above
  const SAID = 2; // texts here are in a name already
  const CONTROL = 4; // inside something that can be acted on
  const PRESENTATIONAL = 8;
  const CLICKABLE = 16; // of the node itself
  const ESCAPED = 32; // inside the modal dialog

  function visit(facts, depth, flags, deep) {
    const { element, tag } = facts;
    if (pass.cut || isOut(facts) || isInert(facts, flags)) return;
    if (deep > MAX_DEPTH) {
      addText("… deeper elements are left out", depth);
      return;
    }
    const inside = element === pass.modal ? flags | ESCAPED : flags;
    const unmet = shownOf(facts) === HIDDEN || (pass.modal && !(inside & ESCAPED));
    if (unmet) visitChildren(facts, depth, inside, deep);
    else if (tag === "br") pass.run += " ";
    else visitShown(facts, depth, inside, deep);
  }

  function isInert(facts, flags) {
    if (pass.modal && !(flags & ESCAPED)) return !pass.around.has(facts.element);
    return facts.element !== pass.modal && says(facts, "inert");
  }

  function visitShown(facts, depth, flags, deep) {
    const met = roleOf(facts);
    const role = met === "none" && isFocusable(facts) ? "generic" : met;
    const focusable = isFocusable(facts);
    const acted = focusable || INTERACTIVE.has(role);
    if (flags & PRESENTATIONAL && !acted) {
      visitFolded(facts, depth, flags, deep);
      return;
    }
    const clickable = !acted && !(flags & CONTROL) && isPressed(facts);
    const name = isFoldable(role) && !facts.names.length && role !== "group" ? NO_NAME : nameOf(facts);
    const testid = attr(facts, "data-testid");
    const refers =
      acted || clickable || !!testid || REFERRED.has(role) || (REFERRED_BY_NAME.has(role) && !!name.text);
    if (!refers && (FOLDED.has(role) || (isFoldable(role) && !name.text && facts.tag !== "details"))) {
      visitFolded(facts, depth, flags, deep);
    } else addNode(facts, role, name, depth, clickable ? flags | CLICKABLE : flags, deep, refers, acted);
  }

  const isFoldable = (role) => FOLDED.has(role) || FOLDED_UNNAMED.has(role);

  // Scripts listen where nothing shows it, but these say that they do.
  const isHandled = (facts) =>
    attr(facts, "draggable") === "true" ||
    (facts.tag === "a" && !says(facts, "href") && /\S/.test(get.textContent.call(facts.element)));

  // A label is pressed for its field; where that is drawn otherwise, only the label is there to press.
  function isPressed(facts) {
    if (facts.tag !== "label") return isClickable(facts) || isHandled(facts);
    const { control } = facts.element;
    return control !== null && shownOf(factsOf(control)) !== SHOWN && control.type !== "hidden";
  }

  function visitFolded(facts, depth, flags, deep) {
    cross(facts);
    const disabled = facts.aria && isSet(facts, "aria-disabled") ? DISABLED : 0;
    const inherited = OPAQUE.has(roleOf(facts)) ? flags & ~SAID : flags;
    visitChildren(facts, depth, inherited | disabled | saidOf(facts), deep);
    cross(facts);
  }

  // Whether its texts are the name of something else that is met.
  function saidOf(facts) {
    if (facts.tag !== "label") return pass.said.has(facts.element) ? SAID : 0;
    const { control } = facts.element;
    if (!control) return 0;
    const other = factsOf(control);
    if (isOut(other) || shownOf(other) !== SHOWN) return 0;
    const name = nameOf(other);
    return name.from === "native" && !name.isCut ? SAID : 0;
  }

  function addNode(facts, role, name, depth, flags, deep, refers, acted) {
    flush();
    const at = pass.out.length;
    if (at >= MAX_NODES) {
      cutOff();
      return;
    }
    pass.out.push("");
    const ref =
      refers && !(facts.tag === "option" && isInDropDown(facts.element)) ? refOf(facts.element) : null;
    const value = role === "generic" ? "" : valueOf(facts);
    const extra = extraOf(facts, role, name, value, flags);
    if (!name.isCut) for (const source of name.sources) pass.said.add(source);
    visitInside(facts, role, depth + 1, flagsInside(facts, role, name, value, flags, acted), deep);
    flush();
    const text = onlyText(at);
    if (text && text !== name.text && text !== value) extra.push('"x":' + quote(text));
    const isEmpty = pass.out.length === at + 1 && ref === null && !name.text && !extra.length;
    if (isEmpty && role !== "separator") {
      pass.out.pop();
      return;
    }
    if (pass.boxes) extra.push('"b":' + boxOf(facts));
    if (pass.boxes && role === "iframe") extra.push('"i":' + insideOf(facts));
    pass.out[at] = record(depth, role, name.text, ref, extra);
  }

  function flagsInside(facts, role, name, value, flags, acted) {
    let inside = flags & ~(CLICKABLE | SAID);
    if (name.from === "content") inside |= name.isCut ? 0 : SAID;
    else if (flags & SAID && !name.text && !OPAQUE.has(role)) inside |= SAID;
    if (pass.said.has(facts.element) || (value && isEditingHost(facts))) inside |= SAID;
    if (acted) inside |= CONTROL;
    if (WITH_PRESENTATIONAL_CHILDREN.has(role)) inside |= PRESENTATIONAL;
    if (facts.aria && isSet(facts, "aria-disabled")) inside |= DISABLED;
    return inside;
  }

  function extraOf(facts, role, name, value, flags) {
    const extra = [];
    const add = (key, text) => text && extra.push('"' + key + '":' + quote(text));
    add("d", descriptionOf(facts, name));
    add("v", value);
    const states = statesOf(facts, role, flags);
    if (states.length) extra.push('"s":[' + states.map(quote).join(",") + "]");
    if (facts.names.length) {
      add("t", textAttribute(facts, "data-testid"));
      if (role === "link") add("u", textAttribute(facts, "href") || textAttribute(facts, "xlink:href"));
      add("p", hintOf(facts, name));
    }
    if (facts.tag === "iframe" || facts.tag === "frame") extra.push('"o":1');
    return extra;
  }

  // How a field wants its value, where its look does not say it in words.
  // prettier-ignore
  const FORMATS = new Map(
    Object.entries({
      color: "#rrggbb", date: "yyyy-mm-dd", "datetime-local": "yyyy-mm-ddThh:mm", month: "yyyy-mm", time: "hh:mm",
      week: "yyyy-Www",
    }),
  );

  function hintOf(facts, name) {
    if (facts.tag === "input" && FORMATS.has(facts.element.type)) return FORMATS.get(facts.element.type);
    const hint = placeholderOf(facts);
    return hint === name.text ? "" : hint;
  }

  function boxOf(facts) {
    const box = getBoundingClientRect.call(facts.element);
    return JSON.stringify([box.x, box.y, box.width, box.height].map((side) => Math.round(side * 10) / 10));
  }

  // Where the viewport of a frame begins, from the corner of its element.
  function insideOf(facts) {
    const { clientLeft, clientTop } = facts.element;
    const { paddingLeft, paddingTop } = styleOf(facts);
    return JSON.stringify([clientLeft + parseFloat(paddingLeft), clientTop + parseFloat(paddingTop)]);
  }

  const record = (depth, role, name, ref, extra) =>
    `[${depth},"${role}",${quote(name)},${ref === null ? "null" : '"' + ref + '"'}` +
    (extra.length ? ",{" + extra.join(",") + "}]" : "]");

  function visitInside(facts, role, depth, flags, deep) {
    if (facts.tag === "select") addOptions(facts, depth, flags);
    else if (facts.tag === "img") visitAreas(facts, depth, flags);
    else visitChildren(facts, depth, flags, deep);
  }

  function visitChildren(facts, depth, flags, deep) {
    if (skipsContents(facts)) return;
    const seen = shownOf(facts) === SHOWN && !(flags & SAID) && (!pass.modal || flags & ESCAPED);
    if (seen) addText(generated(facts, "before"), depth);
    for (const child of childrenOf(facts)) {
      if (typeof child === "object") visit(child, depth, flags, deep + 1);
      else if (seen) addText(child, depth);
      if (pass.cut) return;
    }
    if (seen) addText(generated(facts, "after"), depth);
  }

  // The areas of an image map have no boxes; they are met inside the image that uses it.
  function visitAreas(facts, depth, flags) {
    const name = (attr(facts, "usemap") || "").replace(/^#/, "");
    if (!name) return;
    const maps = [...findAll(Node.prototype.getRootNode.call(facts.element), "map")];
    const map = maps.find((one) => attribute(one, "name") === name);
    for (const area of map ? findAll(map, "area[href]") : NOTHING) {
      const inner = factsOf(area);
      addNode(inner, "link", nameOf(inner), depth, flags & ~PRESENTATIONAL, 0, true, true);
    }
  }

  const isInDropDown = (option) => {
    const select = closest.call(option, "select");
    return select !== null && !select.multiple && !(select.size > 1) && !has(option, "data-testid");
  };

  // Of a drop-down the first options, and the selected one; of a list all.
  function addOptions(facts, depth, flags) {
    const select = facts.element;
    const limit = roleOf(facts) === "listbox" ? Infinity : MAX_OPTIONS;
    let count = 0;
    let left = 0;
    const add = (option, at) => {
      const inner = factsOf(option);
      if (styleOf(inner).display === "none" || isAriaHidden(inner)) return;
      if (count++ < limit || option.selected) addOption(inner, at, flags);
      else left++;
    };
    for (const child of findAll(
      select,
      ":scope > option, :scope > optgroup, :scope > :not(option, optgroup) option",
    )) {
      if (get.localName.call(child) === "option") add(child, depth);
      else addGroup(child, depth, flags, add);
    }
    if (left) addLeaf(depth, `… ${left} more options`);
  }

  function addGroup(group, depth, flags, add) {
    const facts = factsOf(group);
    if (pass.out.length >= MAX_NODES) {
      cutOff();
      return;
    }
    const states = isDisabled(facts) ? ['"s":["disabled"]'] : [];
    pass.out.push(record(depth, "group", nameOf(facts).text, null, states));
    for (const option of findAll(group, "option")) add(option, depth + 1);
  }

  function addOption(facts, depth, flags) {
    const name = new Name(optionText(facts.element), "native");
    addNode(facts, roleOf(facts), name, depth, flags | SAID, 0, true, true);
  }

  // ---- texts ----

  // A line of text runs on through inline elements, and ends where a block begins or ends.
  function cross(facts) {
    if (pass.run.trim()) pass.crossed.push(facts);
  }

  function addText(text, depth) {
    if (!text) return;
    if (pass.crossed.length) {
      if (text === " ") {
        pass.run += text;
        return;
      }
      if (!pass.crossed.every(isInline)) flush();
      else if (!pass.crossed.every(isWithin)) pass.run += " ";
      pass.crossed.length = 0;
    }
    pass.runDepth = depth;
    if (pass.run.length < MAX_TEXT * 2) pass.run += text;
  }

  function flush() {
    pass.crossed.length = 0;
    if (!pass.run) return;
    const run = pass.run === " " ? "" : fold(pass.run).trim();
    pass.run = "";
    const text = cut(run, MAX_TEXT);
    if (text) addLeaf(pass.runDepth, text);
  }

  function addLeaf(depth, text) {
    if (pass.out.length >= MAX_NODES) {
      cutOff();
      return;
    }
    pass.lastText = { index: pass.out.length, text };
    pass.out.push(record(depth, "text", text, null, NOTHING));
  }

  // The text that is all a node has inside, taken out of the list.
  function onlyText(at) {
    if (pass.out.length !== at + 2 || pass.lastText.index !== at + 1) return "";
    pass.out.pop();
    return pass.lastText.text;
  }

  function cutOff() {
    if (pass.cut) return;
    pass.cut = true;
    pass.out.push(
      record(0, "text", `… the page goes on: these are its first ${MAX_NODES} nodes`, null, NOTHING),
    );
  }

  // ---- what changed ----

  let generation = Math.floor(Math.random() * 2 ** 40); // another document's engine starts elsewhere
  let last = NOTHING;

  // From one list of records to another: n > 0 keeps n, n < 0 drops -n, a record is new.
  function operations(before, after) {
    const ops = [];
    let [keep, drop] = [0, 0];
    const settle = () => {
      if (drop) ops.push(-drop);
      if (keep) ops.push(keep);
      keep = drop = 0;
    };
    let at = 0;
    const pairs = alike(before, after);
    for (let i = 0; i < after.length; i++) {
      const other = pairs[i];
      if (other < 0) {
        settle();
        ops.push(after[i]);
        continue;
      }
      if (other > at) {
        settle();
        drop = other - at;
        settle();
      }
      keep++;
      at = other + 1;
    }
    settle();
    if (at < before.length) ops.push(at - before.length);
    return ops;
  }

  // For each record of `after` the place of the same one in `before`, or -1; the places rise.
  function alike(before, after) {
    const pairs = new Int32Array(after.length).fill(-1);
    const middle = pairEnds(before, after, pairs, { a: 0, endA: after.length, b: 0, endB: before.length });
    if (middle.a === middle.endA || middle.b === middle.endB) return pairs;
    const once = onlyPlaces(after, middle.a, middle.endA);
    const places = onlyPlaces(before, middle.b, middle.endB);
    const found = [];
    for (const [text, i] of once) if (i >= 0 && places.get(text) >= 0) found.push([i, places.get(text)]);
    for (const [i, place] of longestRise(found)) pairs[i] = place;
    pairGaps(before, after, pairs, middle);
    return pairs;
  }

  // Pairs what begins and what ends alike; the rest between is the answer.
  function pairEnds(before, after, pairs, { a, endA, b, endB }) {
    while (a < endA && b < endB && after[a] === before[b]) pairs[a++] = b++;
    while (a < endA && b < endB && after[endA - 1] === before[endB - 1]) pairs[--endA] = --endB;
    return { a, endA, b, endB };
  }

  // Records that occur more than once are paired where they follow or precede a pair.
  function pairGaps(before, after, pairs, { a, endA, b, endB }) {
    for (let i = a; i <= endA; i++) {
      const place = i === endA ? endB : pairs[i];
      if (place < 0) continue;
      pairEnds(before, after, pairs, { a, endA: i, b, endB: place });
      a = i + 1;
      b = place + 1;
    }
  }

  // Where each record is that occurs once; -1 for the others. In the order of the list.
  function onlyPlaces(list, start, end) {
    const places = new Map();
    for (let i = start; i < end; i++) places.set(list[i], places.has(list[i]) ? -1 : i);
    return places;
  }

  // The longest run of pairs whose second numbers rise (patience sorting).
  function longestRise(pairs) {
    const tails = [];
    const previous = new Int32Array(pairs.length);
    for (let i = 0; i < pairs.length; i++) {
      let [low, high] = [0, tails.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (pairs[tails[middle]][1] < pairs[i][1]) low = middle + 1;
        else high = middle;
      }
      previous[i] = low ? tails[low - 1] : -1;
      tails[low] = i;
    }
    const rise = [];
    for (let i = tails.length ? tails[tails.length - 1] : -1; i >= 0; i = previous[i]) rise.push(pairs[i]);
    return rise.reverse();
  }

  // ---- asked and answered ----

  const isDocument = (root) => get.nodeType.call(root) === DOCUMENT;
  const documentOf = (root) => (isDocument(root) ? root : get.ownerDocument.call(root));

  function within(root, asked, work) {
    forgetTheDead();
    pass = new Pass(documentOf(root), asked);
    try {
      enter(pass.document);
      return work();
    } finally {
      pass = null;
    }
  }

  function listNodes(root) {
    const element = isDocument(root) ? get.documentElement.call(root) : root;
    if (element) visit(factsOf(element), 0, isDocument(root) ? 0 : ESCAPED, 0);
    flush();
    return pass.out;
  }

  function look(root, asked) {
    const nodes = listNodes(root);
    const url = quote(get.url.call(pass.document));
    const title = quote(tidy(get.title.call(pass.document), MAX_NAME));
    const about = `"next":${pass.next},"url":${url},"title":${title}`;
    const whole = `"nodes":[${nodes.join(",")}]`;
    if (pass.boxes || !isDocument(root)) return `{${about},${whole}}`;
    const known = asked.since === generation;
    const answer = known ? `"ops":[${operations(last, nodes).join(",")}]` : whole;
    last = nodes;
    return `{"gen":${++generation},${about},${answer}}`;
  }

  function describe(element) {
    const facts = factsOf(element);
    const testid = textAttribute(facts, "data-testid");
    const ref = refOf(element);
    return JSON.stringify({ ref, role: roleOf(facts), name: nameOf(facts).text, testid, next: pass.next });
  }

  const ID = /^[A-Za-z_][\w-]*$/;

  function cssStepTo(element, root) {
    const id = attribute(element, "id");
    if (id && ID.test(id) && findAll(root, "#" + id).length === 1) return "#" + id;
    const tag = get.localName.call(element);
    let place = 1;
    for (let at = element; (at = get.previousElementSibling.call(at)); ) place += get.localName.call(at) === tag;
    return `${CSS.escape(tag)}:nth-of-type(${place})`;
  }

  // The shortest path of CSS that leads to this element only: of places, from an id where there is one.
  function cssPathTo(element) {
    const root = Node.prototype.getRootNode.call(element);
    let path = "";
    for (let at = element; at && get.nodeType.call(at) === ELEMENT; at = get.parentNode.call(at)) {
      path = cssStepTo(at, root) + (path && " > " + path);
      if (findAll(root, path).length === 1) break;
    }
    return !isDocument(root) && root.host ? cssPathTo(root.host) + " " + path : path;
  }

  // What a ref means now; null where its element is gone.
  function identify(root, asked) {
    const element = elementOf(asked.ref, root);
    if (!element) return "null";
    const facts = describe(element);
    return asked.path ? facts.slice(0, -1) + `,"path":${JSON.stringify(cssPathTo(element))}}` : facts;
  }

  // ---- test ids ----

  // What holds what somebody has typed, or words that nobody sees.
  const WORDLESS = words("input textarea select script style template");

  const TYPED_INTO = [...WORDLESS, "[contenteditable]:not([contenteditable=false])"].join();

  function wordsIn(element) {
    if (isMatch(element, TYPED_INTO)) return "";
    if (!findAll(element, TYPED_INTO).length) return get.textContent.call(element);
    let words = "";
    for (let at = get.firstChild.call(element); at; at = get.nextSibling.call(at)) {
      const type = get.nodeType.call(at);
      if (type === TEXT) words += get.data.call(at);
      if (type === ELEMENT) words += wordsIn(at);
    }
    return words;
  }

  const isSeen = (element) => {
    if (checkVisibility && !checkVisibility.call(element, VISIBLE)) return false;
    const box = getBoundingClientRect.call(element);
    return box.width > 0 && box.height > 0;
  };

  // In document order, in open shadow roots too, `limit` at the most; `more` where there are others.
  function testIds(root, asked) {
    const items = [];
    let more = false;
    function collect(from) {
      for (const element of findAll(from, "*")) {
        const id = attribute(element, "data-testid");
        if (id && isSeen(element)) {
          if (items.length === asked.limit) return void (more = true);
          const tag = get.localName.call(element);
          items.push([cut(fold(id), MAX_NAME), tag, tidy(wordsIn(element), MAX_SAID)]);
        }
        const shadow = get.shadowRoot.call(element);
        if (shadow) collect(shadow);
      }
    }
    collect(root);
    return JSON.stringify({ items, more });
  }

  // What a field is, for those who must know whether what is typed there is a secret.
  function field(element) {
    const facts = factsOf(element);
    const said = (name) => cut(attribute(element, name) || "", MAX_NAME);
    return JSON.stringify({
      tag: facts.tag,
      type: facts.tag === "input" ? element.type : "",
      autocomplete: said("autocomplete"),
      testId: said("data-testid"),
      name: nameOf(facts).text,
      role: roleOf(facts),
      hint: (said("id") + " " + said("name")).trim(),
    });
  }

  function reply(root, asked) {
    if (asked.what === "frame") return String(!isDocument(root) && isMatch(root, "iframe, frame"));
    if (asked.what === "testids") return testIds(root, asked);
    if (asked.what === "field" && !isDocument(root)) return within(root, asked, () => field(root));
    if (asked.what === "identify") return within(root, asked, () => identify(root, asked));
    if (asked.what === "look") return within(root, asked, () => look(root, asked));
    if (asked.what === "ref" && !isDocument(root)) return within(root, asked, () => describe(root));
    throw new Error("Unknown question: " + asked.what);
  }

  function carrier(root, text) {
    const element = Document.prototype.createElement.call(documentOf(root), "a");
    element.setAttribute("v", text);
    return element;
  }

  const REFS = /^e\d+(,e\d+)*$/;

  function queryAll(root, body) {
    if (!REFS.test(body)) return [carrier(root, reply(root, JSON.parse(decodeURIComponent(body))))];
    return body.split(",").flatMap((ref) => elementOf(ref, root) || []);
  }

  return { query: (root, body) => queryAll(root, body)[0], queryAll };
})()
