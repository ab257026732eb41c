// What the tools ask of a page, one round trip each: `(element | elements, request) => answer`, or `(request)` about
// the whole page. `request.what` names the question; inspection.py reads the answers, which are plain values or,
// for tables and on pages that have broken their arrays, JSON text.
//
// It runs in the page's own world and trusts nothing there. Members of the DOM are taken from their prototypes,
// reached from `document`: a form's field named "attributes" shadows `form.attributes`, and `Node` may be a class
// of the page's. No array methods and no iterators, which pages replace. No answer inherits a `toJSON` of the
// page's. All that is returned is bounded.
(first, request) => {
  "use strict";

  // ---- the platform, past whatever shadows it ----

  const apply = Reflect.apply;

  function member(object, name) {
    for (let proto = Object.getPrototypeOf(object); proto; proto = Object.getPrototypeOf(proto)) {
      const found = Object.getOwnPropertyDescriptor(proto, name);
      if (found) return found;
    }
    return undefined;
  }

  // For members of one class only (`href` of a link, `labels` of a field); undefined where there is none.
  function read(object, name) {
    const found = member(object, name);
    return found && found.get ? apply(found.get, object, []) : undefined;
  }

  function getter(object, name) {
    const found = member(object, name);
    return (self) => (found ? apply(found.get, self, []) : undefined);
  }

  function method(object, name) {
    const found = member(object, name);
    return (self, ...args) => (found ? apply(found.value, self, args) : undefined);
  }

  const XHTML = "http://www.w3.org/1999/xhtml";
  const probe = method(document, "createElementNS")(document, XHTML, "a");
  const range = method(document, "createRange")(document);

  const nodeType = getter(probe, "nodeType");
  const nodeValue = getter(probe, "nodeValue");
  const textContent = getter(probe, "textContent");
  const firstChild = getter(probe, "firstChild");
  const nextSibling = getter(probe, "nextSibling");
  const parentNode = getter(probe, "parentNode");
  const isConnected = getter(probe, "isConnected");
  const getRootNode = method(probe, "getRootNode");
  const containsNode = method(probe, "contains");
  const localName = getter(probe, "localName");
  const namespaceURI = getter(probe, "namespaceURI");
  const attributesOf = getter(probe, "attributes");
  const { value: getAttribute } = member(probe, "getAttribute");
  const attribute = (element, name) => apply(getAttribute, element, [name]);
  const hasAttribute = method(probe, "hasAttribute");
  const hasAttributes = method(probe, "hasAttributes");
  const shadowRoot = getter(probe, "shadowRoot");
  const assignedSlot = getter(probe, "assignedSlot");
  const matches = method(probe, "matches");
  const closestOf = method(probe, "closest");
  const boundingRect = method(probe, "getBoundingClientRect");
  const clientRects = method(probe, "getClientRects");
  const scrollIntoView = method(probe, "scrollIntoView");
  const documentElement = getter(document, "documentElement");
  const rangeAround = method(range, "selectNodeContents");
  const rangeRects = method(range, "getClientRects");
  const styleOf = (element) => window.getComputedStyle(element);

  const isElement = (node) => nodeType(node) === 1;
  const tagOf = (element) => asciiLower(localName(element));
  const attr = (element, name) => attribute(element, name) || "";
  const queryAll = (root, css) => {
    const found = member(root, "querySelectorAll");
    return found ? apply(found.value, root, [css]) : [];
  };

  function nextElement(node) {
    let at = node;
    while (at && nodeType(at) !== 1) at = nextSibling(at);
    return at;
  }
  const firstElement = (parent) => nextElement(firstChild(parent));
  const nextElementOf = (element) => nextElement(nextSibling(element));

  // The element above, through the edge of a shadow tree.
  function parentOf(element) {
    const parent = parentNode(element);
    if (!parent) return null;
    if (isElement(parent)) return parent;
    return nodeType(parent) === 11 ? read(parent, "host") || null : null;
  }

  function absolute(url) {
    method(probe, "setAttribute")(probe, "href", url);
    return read(probe, "href");
  }

  // ---- text ----

  const MAX_DEPTH = 500;
  const MAX_NODES = 20000;

  function asciiLower(text) {
    return (text || "").toLowerCase();
  }

  const isSpace = (code) =>
    code === 32 ||
    (code >= 9 && code <= 13) ||
    (code >= 127 &&
      (code === 0xa0 ||
        code === 0x1680 ||
        (code >= 0x2000 && code <= 0x200a) ||
        code === 0x2028 ||
        code === 0x2029 ||
        code === 0x202f ||
        code === 0x205f ||
        code === 0x3000 ||
        code === 0xfeff));

  const newText = (limit) => ({ text: "", gap: false, limit, full: false, nodes: 0 });

  // Adds `piece` to `out` with its white space folded.
  function append(out, piece) {
    const end = piece.length;
    let at = 0;
    while (at < end && !out.full) {
      if (isSpace(piece.charCodeAt(at))) {
        out.gap = true;
        at++;
        continue;
      }
      const start = at;
      const stop = start + out.limit + 1;
      while (at < end && at < stop && !isSpace(piece.charCodeAt(at))) at++;
      if (out.gap && out.text) out.text += " ";
      out.gap = false;
      out.text += piece.slice(start, at);
      out.full = out.text.length > out.limit;
    }
  }

  // `text` in at most `limit` characters; the cut is marked and never parts a surrogate pair.
  function cut(text, limit) {
    if (text.length <= limit) return text;
    let end = limit - 1;
    const last = text.charCodeAt(end - 1);
    if (last >= 0xd800 && last <= 0xdbff) end--;
    return text.slice(0, end) + "…";
  }

  function fold(text, limit) {
    const out = newText(limit);
    append(out, text || "");
    return cut(out.text, limit);
  }

  // What is in these is not drawn, or not as text.
  const NOT_TEXT = {
    __proto__: null, audio: 1, canvas: 1, datalist: 1, iframe: 1, meter: 1, noscript: 1, object: 1, progress: 1,
    script: 1, style: 1, template: 1, textarea: 1, title: 1, video: 1,
  };
  const BUTTON_TYPES = { __proto__: null, button: 1, submit: 1, reset: 1 };
  const typeOf = (input) => asciiLower(read(input, "type") || "text");

  function buttonText(input) {
    const type = typeOf(input);
    if (!BUTTON_TYPES[type]) return "";
    if (hasAttribute(input, "value")) return attr(input, "value");
    return type === "submit" ? "Submit" : type === "reset" ? "Reset" : "";
  }

  function chosenText(select) {
    const chosen = read(select, "selectedOptions") || [];
    let text = "";
    for (let i = 0; i < chosen.length && i < 20; i++) text += " " + (textContent(chosen[i]) || "");
    return text;
  }

  // The nodes drawn inside `element`, in order: its shadow tree, what a slot was given, or its children.
  function eachDrawn(element, tag, visit) {
    const shadow = shadowRoot(element);
    if (!shadow && tag === "slot") {
      const assigned = member(element, "assignedNodes");
      const given = assigned ? apply(assigned.value, element, []) : [];
      for (let i = 0; i < given.length; i++) visit(given[i]);
      if (given.length) return;
    }
    const folded = tag === "details" && !hasAttribute(element, "open");
    for (let node = firstChild(shadow || element); node; node = nextSibling(node)) {
      if (!folded || (isElement(node) && tagOf(node) === "summary")) visit(node);
    }
  }

  // What a reader sees of `element` and below. `options`: `alt` also reads images; `skip` is left out.
  function collect(element, out, options, depth) {
    if (out.full || depth > MAX_DEPTH || ++out.nodes > MAX_NODES || element === options.skip) return;
    const tag = tagOf(element);
    if (NOT_TEXT[tag]) return;
    const style = styleOf(element);
    if (style.display === "none" || style.contentVisibility === "hidden") return;
    const shown = style.visibility === "visible";
    const apart = tag === "br" || (style.display !== "inline" && style.display !== "contents");
    if (apart) out.gap = true;
    if (tag === "input") {
      if (shown) append(out, buttonText(element));
    } else if (tag === "select") {
      if (shown) append(out, chosenText(element));
    } else if (options.alt && tag === "img") {
      if (shown) append(out, " " + (attr(element, "aria-label") || attr(element, "alt")) + " ");
    } else {
      eachDrawn(element, tag, (node) => {
        const type = nodeType(node);
        if (type === 1) collect(node, out, options, depth + 1);
        else if (shown && (type === 3 || type === 4) && ++out.nodes <= MAX_NODES) append(out, nodeValue(node));
      });
    }
    if (apart) out.gap = true;
  }

  function visibleText(element, limit, options) {
    const out = newText(limit);
    collect(element, out, options || {}, 0);
    return cut(out.text, limit);
  }

  // ---- visible, enabled ----

  function hasRects(rects) {
    for (let i = 0; i < rects.length; i++) if (rects[i].width > 0 && rects[i].height > 0) return true;
    return false;
  }

  function contentsVisible(element) {
    for (let node = firstChild(element); node; node = nextSibling(node)) {
      if (isElement(node) && isVisible(node)) return true;
      if (nodeType(node) === 3) {
        rangeAround(range, node);
        if (hasRects(rangeRects(range))) return true;
      }
    }
    return false;
  }

  function isRendered(element) {
    const check = member(element, "checkVisibility");
    return check ? apply(check.value, element, []) : clientRects(element).length > 0;
  }

  function isVisible(element) {
    const style = styleOf(element);
    if (style.display === "contents") return contentsVisible(element);
    if (!isRendered(element) || style.visibility !== "visible") return false;
    const box = boundingRect(element);
    return box.width > 0 && box.height > 0;
  }

  const FIELDS = {
    __proto__: null, button: 1, fieldset: 1, input: 1, optgroup: 1, option: 1, select: 1, textarea: 1,
  };
  const NEVER_DISABLED = {
    __proto__: null, form: 1, generic: 1, heading: 1, img: 1, list: 1, listitem: 1, none: 1, presentation: 1,
  };

  // Why it is disabled, or "".
  function disabledBy(element) {
    if (FIELDS[tagOf(element)] && matches(element, ":disabled")) {
      return hasAttribute(element, "disabled") ? "disabled" : "inside a disabled group";
    }
    const role = roleOf(element);
    if (!role || NEVER_DISABLED[role]) return "";
    for (let at = element; at; at = parentOf(at)) {
      const said = asciiLower(attr(at, "aria-disabled"));
      if (said === "true") return "aria-disabled";
      if (said === "false") return "";
    }
    return "";
  }

  // ---- role and name ----

  const ROLES = {
    __proto__: null,
    article: "article", aside: "complementary", blockquote: "blockquote", button: "button", caption: "caption",
    code: "code", datalist: "listbox", dd: "definition", details: "group", dialog: "dialog", dt: "term",
    fieldset: "group", figure: "figure", form: "form", h1: "heading", h2: "heading", h3: "heading", h4: "heading",
    h5: "heading", h6: "heading", hr: "separator", html: "document", iframe: "iframe", li: "listitem", main: "main",
    math: "math", menu: "list", meter: "meter", nav: "navigation", ol: "list", optgroup: "group", option: "option",
    output: "status", p: "paragraph", progress: "progressbar", search: "search", summary: "button", svg: "img",
    table: "table", tbody: "rowgroup", tfoot: "rowgroup", thead: "rowgroup", textarea: "textbox", tr: "row",
    ul: "list",
  };
  const INPUT_ROLES = {
    __proto__: null,
    button: "button", checkbox: "checkbox", image: "button", number: "spinbutton", radio: "radio", range: "slider",
    reset: "button", search: "searchbox", submit: "button", hidden: null, color: null, date: null, file: null,
    "datetime-local": null, month: null, time: null, week: null, password: null,
  };
  const SECTIONS = "article,aside,main,nav,section";

  function inputRole(input) {
    const type = typeOf(input);
    if (hasAttribute(input, "list") && !(type in INPUT_ROLES && type !== "search")) return "combobox";
    return type in INPUT_ROLES ? INPUT_ROLES[type] : "textbox";
  }

  function cellRole(cell, tag) {
    if (tag === "th") {
      const scope = asciiLower(attr(cell, "scope"));
      if (scope === "row" || scope === "rowgroup") return "rowheader";
      return "columnheader";
    }
    const table = closestOf(cell, "table");
    const role = table ? explicitRole(table) : "";
    return role === "grid" || role === "treegrid" ? "gridcell" : "cell";
  }

  // The first of its roles that is a word.
  function explicitRole(element) {
    const said = fold(attr(element, "role"), 100).toLowerCase();
    const end = said.indexOf(" ");
    return end < 0 ? said : said.slice(0, end);
  }

  function implicitRole(element, tag) {
    switch (tag) {
      case "a":
      case "area":
        return linkAddress(element, tag) === null ? null : "link";
      case "img":
        return attribute(element, "alt") === "" && !hasAttribute(element, "aria-label") ? "presentation" : "img";
      case "input":
        return inputRole(element);
      case "select":
        return hasAttribute(element, "multiple") || Number(attr(element, "size")) > 1 ? "listbox" : "combobox";
      case "td":
      case "th":
        return cellRole(element, tag);
      case "header":
        return closestOf(element, SECTIONS) ? null : "banner";
      case "footer":
        return closestOf(element, SECTIONS) ? null : "contentinfo";
      case "section":
        return hasAttribute(element, "aria-label") || hasAttribute(element, "aria-labelledby") ? "region" : null;
      default:
        return ROLES[tag] || null;
    }
  }

  const roleOf = (element) => explicitRole(element) || implicitRole(element, tagOf(element));

  const NAMED_BY_TEXT = {
    __proto__: null,
    button: 1, cell: 1, checkbox: 1, columnheader: 1, gridcell: 1, heading: 1, link: 1, menuitem: 1,
    menuitemcheckbox: 1, menuitemradio: 1, option: 1, radio: 1, row: 1, rowheader: 1, switch: 1, tab: 1,
    tooltip: 1, treeitem: 1,
  };
  const NAMED_BY_CHILD = {
    __proto__: null, fieldset: "legend", figure: "figcaption", svg: "title", table: "caption",
  };
  const MAX_NAME = 200;

  function textOrContent(element, options) {
    const text = visibleText(element, MAX_NAME, options);
    return text || isRendered(element) ? text : fold(textContent(element), MAX_NAME);
  }

  function labelledBy(element) {
    const ids = fold(attr(element, "aria-labelledby"), 1000);
    const root = getRootNode(element);
    const byId = member(root, "getElementById");
    let name = "";
    for (let at = 0; byId && at < ids.length; ) {
      let end = ids.indexOf(" ", at);
      if (end < 0) end = ids.length;
      const label = apply(byId.value, root, [ids.slice(at, end)]);
      if (label) name += " " + (fold(attr(label, "aria-label"), MAX_NAME) || textOrContent(label, { alt: true }));
      at = end + 1;
    }
    return name;
  }

  function labelText(element) {
    const labels = read(element, "labels");
    let name = "";
    for (let i = 0; labels && i < labels.length && i < 5; i++) {
      name += " " + textOrContent(labels[i], { alt: true, skip: element });
    }
    return name;
  }

  function childText(element, tag) {
    const wanted = NAMED_BY_CHILD[tag];
    if (!wanted) return "";
    for (let child = firstElement(element); child; child = nextElementOf(child)) {
      if (tagOf(child) === wanted) return textContent(child);
    }
    return "";
  }

  function ownText(element, tag) {
    if (tag === "input") return buttonText(element);
    return NAMED_BY_TEXT[roleOf(element)] ? textOrContent(element, { alt: true }) : "";
  }

  function nameOf(element) {
    const tag = tagOf(element);
    const sources = [
      () => labelledBy(element),
      () => attr(element, "aria-label"),
      () => labelText(element),
      () => (tag === "img" || tag === "area" || tag === "input" ? attr(element, "alt") : ""),
      () => childText(element, tag),
      () => ownText(element, tag),
      () => attr(element, "title"),
      () => attr(element, "placeholder"),
    ];
    for (let i = 0; i < sources.length; i++) {
      const name = fold(sources[i](), MAX_NAME);
      if (name) return name;
    }
    return "";
  }

  // ---- selectors ----

  let scopes = null;

  // The document and its open shadow roots, in the order in which Playwright's CSS engine asks them.
  function roots() {
    if (scopes) return scopes;
    scopes = [];
    const add = (root) => {
      scopes[scopes.length] = root;
      const all = queryAll(root, "*");
      for (let i = 0; i < all.length; i++) {
        const shadow = shadowRoot(all[i]);
        if (shadow && scopes.length < 10000) add(shadow);
      }
    };
    add(document);
    return scopes;
  }

  function isOnly(css, element) {
    const all = roots();
    let count = 0;
    for (let i = 0; i < all.length; i++) {
      const found = queryAll(all[i], css);
      if (found.length > 1 || (found.length && (found[0] !== element || ++count > 1))) return false;
    }
    return count === 1;
  }

  // What can stand in a selector: short, printable, without the `>>` that parts frames.
  function isPlain(value) {
    if (!value || value.length > 100 || value.indexOf(">>") >= 0) return false;
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i);
      if (code < 32 || code === 127 || (code >= 0xd800 && code <= 0xdfff)) return false;
    }
    return true;
  }

  function quoted(value) {
    let text = "";
    for (let i = 0; i < value.length; i++) {
      text += value[i] === '"' || value[i] === "\\" ? "\\" + value[i] : value[i];
    }
    return '"' + text + '"';
  }

  const TEST_IDS = ["data-testid", "data-test-id", "data-test", "data-qa", "data-cy"];
  const IDENTIFIER = /^-?[A-Za-z_][\w-]*$/;
  const MADE_UP = /[:«»]|\d{4}|(^|[-_])(?=[a-f]*\d)[0-9a-f]{8,}($|[-_])|^(ember|ext-gen|radix-|headlessui-|mui-|__BVID__|yui_)/i;

  function namedSelector(element, tag) {
    for (let i = 0; i < TEST_IDS.length; i++) {
      const value = attr(element, TEST_IDS[i]);
      const css = isPlain(value) ? "[" + TEST_IDS[i] + "=" + quoted(value) + "]" : "";
      if (css && isOnly(css, element)) return css;
    }
    const id = attr(element, "id");
    if (isPlain(id) && !MADE_UP.test(id)) {
      const css = IDENTIFIER.test(id) ? "#" + id : "[id=" + quoted(id) + "]";
      if (isOnly(css, element)) return css;
    }
    const name = attr(element, "name");
    if (!isPlain(name) || !IDENTIFIER.test(tag)) return "";
    const css = tag + "[name=" + quoted(name) + "]";
    if (isOnly(css, element)) return css;
    const value = attr(element, "value");
    const choice = css + "[value=" + quoted(value) + "]";
    const type = tag === "input" ? typeOf(element) : "";
    return (type === "radio" || type === "checkbox") && isPlain(value) && isOnly(choice, element) ? choice : "";
  }

  const anchors = new Map();

  function anchorOf(element) {
    let anchor = anchors.get(element);
    if (anchor === undefined) {
      anchor = namedSelector(element, localName(element));
      anchors.set(element, anchor);
    }
    return anchor;
  }

  const places = new Map();

  // Its number among its siblings of one type, and among all; both counted once for the whole family.
  function placeOf(element) {
    if (!places.has(element)) {
      const counts = new Map();
      const parent = parentNode(element);
      let child = 0;
      for (let at = parent ? firstElement(parent) : element; at; at = parent ? nextElementOf(at) : null) {
        const type = namespaceURI(at) + " " + localName(at);
        counts.set(type, (counts.get(type) || 0) + 1);
        places.set(at, { type: counts.get(type), child: ++child });
      }
    }
    return places.get(element);
  }

  function stepTo(element) {
    const tag = localName(element);
    if (!IDENTIFIER.test(tag)) return "*:nth-child(" + placeOf(element).child + ")";
    if ((tag === "html" || tag === "body") && isOnly(tag, element)) return tag;
    return tag + ":nth-of-type(" + placeOf(element).type + ")";
  }

  const foundBy = new Map();

  function matchesIn(css) {
    let found = foundBy.get(css);
    if (found) return found;
    found = [];
    const all = roots();
    for (let i = 0; i < all.length; i++) {
      const here = queryAll(all[i], css);
      for (let k = 0; k < here.length; k++) found[found.length] = here[k];
    }
    foundBy.set(css, found);
    return found;
  }

  function inLikePlace(element, other) {
    if (element === other) return true;
    if (localName(element) !== localName(other)) return false;
    return placeOf(element).type === placeOf(other).type;
  }

  // The shortest path of places from an anchor (or from anywhere) that leads to this element only.
  function pathTo(element) {
    let path = stepTo(element);
    let rivals = matchesIn(path); // those the path leads to,
    let above = rivals; // and for each the element where its path begins
    let anchor = "";
    for (let at = element; rivals.length > 1 && !anchor; ) {
      at = parentOf(at);
      if (!at) break;
      anchor = anchorOf(at);
      path = (anchor || stepTo(at)) + " > " + path;
      const left = [];
      const starts = [];
      for (let i = 0; i < rivals.length; i++) {
        const start = parentOf(above[i]);
        if (start === at || (start && !anchor && inLikePlace(start, at))) {
          left[left.length] = rivals[i];
          starts[starts.length] = start;
        }
      }
      rivals = left;
      above = starts;
    }
    // A host's own child and one in its shadow tree, at the same place: only a number tells them apart.
    for (let i = 0; rivals.length > 1 && i < rivals.length; i++) {
      if (rivals[i] === element) return ":nth-match(" + path + ", " + (i + 1) + ")";
    }
    return path;
  }

  function selectorOf(element) {
    return isConnected(element) ? anchorOf(element) || pathTo(element) : localName(element);
  }

  // ---- describe ----

  const MAX_ATTRIBUTES = 60;

  function isSecret(element, tag) {
    if (tag !== "input") return false;
    return typeOf(element) === "password" || asciiLower(attr(element, "autocomplete")).indexOf("password") >= 0;
  }

  function attributesFor(element, tag) {
    const all = attributesOf(element);
    const secret = isSecret(element, tag);
    const attributes = Object.create(null);
    for (let i = 0; i < all.length && i < MAX_ATTRIBUTES; i++) {
      const name = read(all[i], "name");
      if (!secret || asciiLower(name) !== "value") attributes[cut(name, 100)] = cut(read(all[i], "value"), 500);
    }
    return attributes;
  }

  // Where this frame's corner lies in the outermost frame that may be asked.
  function frameOffset() {
    const offset = { x: 0, y: 0 };
    for (let frame = frameOf(window); frame; frame = frameOf(frame.window)) {
      const box = boundingRect(frame.element);
      offset.x += box.x + read(frame.element, "clientLeft");
      offset.y += box.y + read(frame.element, "clientTop");
    }
    return offset;
  }

  function frameOf(inner) {
    try {
      const element = inner.frameElement;
      if (!element || !isElement(element)) return null;
      return { element, window: inner.parent, document: inner.parent.document };
    } catch {
      return null; // another origin's
    }
  }

  function boxOf(element) {
    if (!clientRects(element).length) return null;
    const box = boundingRect(element);
    const offset = frameOffset();
    return { x: box.x + offset.x, y: box.y + offset.y, width: box.width, height: box.height };
  }

  function describe(element) {
    const tag = tagOf(element);
    return {
      tagName: tag,
      selector: selectorOf(element),
      text: isRendered(element) || styleOf(element).display === "contents" ? visibleText(element, 200) : "",
      attributes: attributesFor(element, tag),
      boundingBox: boxOf(element),
      visible: isVisible(element),
      enabled: !disabledBy(element),
      role: roleOf(element),
      name: nameOf(element),
    };
  }

  function describeAll(elements, limit, keep) {
    const described = [];
    for (let i = 0; i < elements.length && i < limit; i++) {
      const element = asElement(elements[i]);
      described[i] = keep ? describeAndKeep(element) : describe(element);
    }
    return described;
  }

  // ---- keep ----

  const KEPT = Symbol.for("footlight.elements");
  const MAX_KEPT = 1000;

  // A table of the document's own, which goes with it: by key, last asked for last. Undefined where the page
  // does not let it be put there.
  function keptElements() {
    const there = Object.getOwnPropertyDescriptor(document, KEPT);
    if (there) return there.value;
    const name = ("" + Math.random()).slice(2);
    const table = { name, count: 0, keys: new WeakMap(), elements: new Map() };
    return Reflect.defineProperty(document, KEPT, { value: table }) ? table : undefined;
  }

  function keep(element) {
    const table = keptElements();
    if (!table) return null;
    const { keys, elements } = table;
    let key = keys.get(element);
    if (!key) keys.set(element, (key = table.name + "-" + ++table.count));
    elements.delete(key);
    elements.set(key, new WeakRef(element));
    if (elements.size > MAX_KEPT) elements.delete(elements.keys().next().value);
    return key;
  }

  function describeAndKeep(element) {
    const described = describe(element);
    try {
      described.key = keep(element);
    } catch {
      described.key = null; // The page has replaced Map or WeakRef.
    }
    return described;
  }

  function describeKept(key) {
    const table = keptElements();
    const kept = table && table.elements.get(key);
    const element = kept && kept.deref();
    return element && isConnected(element) ? describe(element) : null;
  }

  // ---- obstacle ----

  // As a person would point at it: `<div id="overlay" class="modal"> "Accept cookies"`.
  function portrait(element) {
    let tag = "<" + localName(element);
    const shown = ["id", "data-testid", "class"];
    for (let i = 0; i < shown.length; i++) {
      const value = fold(attr(element, shown[i]), 60);
      if (value) tag += " " + shown[i] + '="' + value + '"';
    }
    const text = visibleText(element, 60, { alt: true }) || fold(attr(element, "aria-label"), 60);
    return tag + ">" + (text ? ' "' + text + '"' : "");
  }

  const obstacleOf = (reason, detail, by) => ({ reason, detail, by: by ? selectorOf(by) : null });

  function hiddenObstacle(element) {
    for (let at = element; at; at = parentOf(at)) {
      if (styleOf(at).display === "none") {
        if (at === element) return obstacleOf("hidden", "hidden: display: none", null);
        return obstacleOf("hidden", "hidden by " + portrait(at) + ": display: none", at);
      }
    }
    const style = styleOf(element);
    if (style.visibility !== "visible") return obstacleOf("hidden", "hidden: visibility: " + style.visibility, null);
    if (!isRendered(element)) return obstacleOf("hidden", "hidden: not drawn by the element around it", null);
    const box = boundingRect(element);
    const size = Math.round(box.width) + "×" + Math.round(box.height);
    return obstacleOf("hidden", "hidden: its box is empty (" + size + ")", null);
  }

  // The middle of what can be seen of its first drawn box, or null.
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

  function contentsRects(element) {
    rangeAround(range, element);
    return rangeRects(range);
  }

  function topmostAt(root, point) {
    let hit = null;
    for (let at = root; at; ) {
      const found = apply(member(at, "elementFromPoint").value, at, [point.x, point.y]);
      if (!found || found === hit) break;
      hit = found;
      at = shadowRoot(found);
    }
    return hit;
  }

  // Whether a click that lands on `hit` is one on `element`: itself, what is inside it, or its label.
  function reaches(hit, element) {
    for (let at = hit; at; at = assignedSlot(at) || parentOf(at)) {
      if (at === element) return true;
      if (tagOf(at) === "label" && read(at, "control") === element) return true;
    }
    for (let at = hit; at; at = parentOf(at)) if (at === element) return true;
    return false;
  }

  // What lies over this frame in the frames around it, or null.
  function aboveFrame(point) {
    let at = point;
    for (let frame = frameOf(window); frame; frame = frameOf(frame.window)) {
      const box = boundingRect(frame.element);
      at = {
        x: at.x + box.x + read(frame.element, "clientLeft"),
        y: at.y + box.y + read(frame.element, "clientTop"),
      };
      const hit = topmostAt(frame.document, at);
      if (hit && !reaches(hit, frame.element)) return hit;
    }
    return null;
  }

  function openModal(element) {
    const modals = matchesIn("dialog:modal");
    for (let i = modals.length - 1; i >= 0; i--) if (!reaches(element, modals[i])) return modals[i];
    return null;
  }

  function coverOf(element, target, point) {
    const hit = topmostAt(document, point);
    if (hit && (reaches(hit, element) || reaches(hit, target))) {
      const above = aboveFrame(point);
      return above && { reason: "covered", detail: "its frame is covered by " + portrait(above), by: null };
    }
    const modal = openModal(element);
    if (modal) return obstacleOf("covered", "covered by the open dialog " + portrait(modal), modal);
    const inert = closestOf(element, "[inert]");
    if (inert) return obstacleOf("covered", "made inert by " + portrait(inert), inert);
    if (styleOf(element).pointerEvents === "none") {
      const instead = hit ? "; a click would land on " + portrait(hit) : "";
      return obstacleOf("covered", "it takes no pointer events (pointer-events: none)" + instead, hit);
    }
    if (!hit) return obstacleOf("covered", "nothing takes pointer events at its centre", null);
    return obstacleOf("covered", "covered by " + portrait(hit), hit);
  }

  const POSITIONS = ["", "center", "end", "start"];

  function pointerObstacle(element, target) {
    let answer = null;
    for (let i = 0; i < POSITIONS.length; i++) {
      const block = POSITIONS[i];
      if (block) scrollIntoView(element, { block, inline: block, behavior: "instant" });
      const point = pointIn(element);
      const cover = point && coverOf(element, target, point);
      if (point && !cover) return null;
      if (cover && (!answer || answer.reason !== "covered")) answer = cover;
      if (!cover && !answer) answer = obstacleOf("outside", outsideDetail(element), null);
    }
    return answer;
  }

  function outsideDetail(element) {
    const box = boundingRect(element);
    const at = Math.round(box.x) + ", " + Math.round(box.y);
    const view = window.innerWidth + "×" + window.innerHeight;
    return "outside the " + view + " viewport, at " + at + ", and cannot be scrolled into it";
  }

  function isReadOnly(element) {
    const tag = tagOf(element);
    if (tag === "input" || tag === "textarea") return read(element, "readOnly") === true;
    return asciiLower(attr(element, "aria-readonly")) === "true";
  }

  // A click inside a button or a link is a click on it; an option is chosen through its list.
  function actedOn(element) {
    const tag = tagOf(element);
    const wanted = tag === "option" || tag === "optgroup" ? "select" : "button,a,[role=button],[role=link]";
    return closestOf(element, wanted) || element;
  }

  function obstacle(element, editing) {
    if (!isConnected(element)) return obstacleOf("detached", "no longer in the page", null);
    const target = actedOn(element);
    const seen = tagOf(element) === "option" || tagOf(element) === "optgroup" ? target : element;
    if (!isVisible(seen)) return hiddenObstacle(seen);
    const disabled = disabledBy(element) || disabledBy(target);
    if (disabled) return obstacleOf("disabled", disabled, null);
    if (editing && isReadOnly(element)) return obstacleOf("readonly", "read only", null);
    return pointerObstacle(seen, target);
  }

  // ---- closest ----

  const UNSEEN = { __proto__: null, head: 1, link: 1, meta: 1, script: 1, style: 1, template: 1, title: 1 };
  const INTERACTIVE = {
    __proto__: null,
    a: 1, area: 1, button: 1, details: 0, input: 1, label: 0, option: 0, select: 1, summary: 1, textarea: 1,
  };
  const INTERACTIVE_ROLES = {
    __proto__: null,
    button: 1, checkbox: 1, combobox: 1, link: 1, listbox: 1, menuitem: 1, menuitemcheckbox: 1, menuitemradio: 1,
    option: 1, radio: 1, searchbox: 1, slider: 1, spinbutton: 1, switch: 1, tab: 1, textbox: 1, treeitem: 1,
  };
  const TAG_WORDS = {
    __proto__: null,
    a: "link", button: "button", checkbox: "checkbox", dialog: "dialog", form: "form", h1: "heading", h2: "heading",
    h3: "heading", iframe: "iframe", img: "image", input: "", label: "label", nav: "navigation", option: "option",
    radio: "radio", select: "combobox", table: "table", textarea: "textbox",
  };
  const SAME_WORD = {
    __proto__: null, anchor: "link", btn: "button", img: "image", lnk: "link", passwd: "password", pwd: "password",
  };
  const VAGUE = {
    __proto__: null,
    button: 1, link: 1, input: 1, field: 1, form: 1, image: 1, label: 1, box: 1, container: 1, wrapper: 1, item: 1,
    main: 1, page: 1, heading: 1, textbox: 1, combobox: 1, table: 1, dialog: 1, navigation: 1, primary: 1, the: 1,
    a: 1, of: 1, to: 1, id: 1, el: 1, js: 1,
  };
  const PARTS =
    /"([^"]*)"|'([^']*)'|#((?:[\w-]|[^\0-\x7f])+)|\.((?:[\w-]|[^\0-\x7f])+)|=\s*([^\s\]"')>][^\]"')>]*)|([\w-]+|[^\0-\x7f]+)/g;
  const MIN_SCORE = 0.45;
  const MAX_SEEN = 20000;

  // 1 a small letter or one without a case, 2 a capital, 3 a digit, 0 none of these.
  function kindOf(text, at) {
    const code = text.charCodeAt(at);
    if (code >= 97 && code <= 122) return 1;
    if (code >= 65 && code <= 90) return 2;
    if (code >= 48 && code <= 57) return 3;
    if (code < 128) return 0;
    if (/\p{Lu}/u.test(text[at])) return 2;
    if (/[\p{L}\p{M}]/u.test(text[at])) return 1;
    return /\p{N}/u.test(text[at]) ? 3 : 0;
  }

  // The words of a name, as people read it: `submitOrder-button2` is submit, order, button, 2.
  function words(text, limit) {
    const list = [];
    let start = 0;
    let last = 0;
    for (let i = 0; i <= text.length && list.length < limit; i++) {
      const kind = i < text.length ? kindOf(text, i) : 0;
      const goesOn = kind === last || (kind === 1 && last === 2);
      if (last && !goesOn) {
        const word = text.slice(start, Math.min(i, start + 40)).toLowerCase();
        list[list.length] = SAME_WORD[word] || word;
      }
      if (!goesOn) start = i;
      last = kind;
    }
    return list;
  }

  // The words a selector was meant to find, and whether it spoke of classes.
  function wanted(selector) {
    let said = "";
    let bare = "";
    let hint = "";
    let classes = false;
    PARTS.lastIndex = 0;
    for (let part = PARTS.exec(selector); part; part = PARTS.exec(selector)) {
      classes = classes || part[4] !== undefined;
      const value = part[1] || part[2] || part[3] || part[4] || part[5];
      if (value) said += " " + value;
      if (part[6]) {
        const tag = TAG_WORDS[part[6].toLowerCase()];
        if (tag === undefined) bare += " " + part[6];
        else hint += " " + tag;
      }
    }
    const list = words((said || bare) + hint, 12);
    return { list, joined: join(list), classes, glimpse: glimpse(list), texts: new Map(), words: new Map() };
  }

  // Finds two letters in a row of any telling word: what has none of them is not looked at further.
  function glimpse(list) {
    let pieces = "";
    const add = (piece) => {
      pieces += (pieces ? "|" : "") + piece;
    };
    for (let pass = 0; pass < 2 && !pieces; pass++) {
      for (let i = 0; i < list.length; i++) {
        if (pass === 0 && VAGUE[list[i]]) continue;
        if (list[i].length < 4) add(list[i]);
        else for (let at = 0; at + 1 < list[i].length; at += 2) add(list[i].slice(at, at + 2));
        for (const short in SAME_WORD) if (SAME_WORD[short] === list[i]) add(short);
      }
    }
    return new RegExp(pieces, "i");
  }

  function join(list) {
    let text = "";
    for (let i = 0; i < list.length; i++) text += list[i];
    return text;
  }

  // How alike two words are, 0 to 1: equal, one inside the other, or a few letters off.
  function likeness(a, b) {
    if (a === b) return 1;
    const short = a.length < b.length ? a : b;
    const long = a.length < b.length ? b : a;
    if (short.length >= 3 && long.indexOf(short) === 0) return 0.6 + (0.35 * short.length) / long.length;
    if (short.length >= 4 && long.indexOf(short) > 0) return 0.4 + (0.35 * short.length) / long.length;
    if (short.length < 4 || long.length - short.length > 2) return 0;
    const near = 1 - distance(a, b) / long.length;
    return near >= 0.65 ? near : 0;
  }

  // Letters to insert, drop, change or swap (optimal string alignment).
  function distance(a, b) {
    let before = [];
    let last = [];
    for (let j = 0; j <= b.length; j++) last[j] = j;
    for (let i = 1; i <= a.length; i++) {
      const row = [i];
      for (let j = 1; j <= b.length; j++) {
        const change = last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
        let least = Math.min(change, last[j] + 1, row[j - 1] + 1);
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
          least = Math.min(least, before[j - 2] + 1);
        }
        row[j] = least;
      }
      before = last;
      last = row;
    }
    return last[b.length];
  }

  // Letter pairs in common (Dice), for names that are run together.
  function pairsAlike(a, b) {
    if (a.length < 2 || b.length < 2) return 0;
    const counts = new Map();
    for (let i = 0; i + 1 < a.length; i++) {
      const pair = a.charCodeAt(i) * 65536 + a.charCodeAt(i + 1);
      counts.set(pair, (counts.get(pair) || 0) + 1);
    }
    let common = 0;
    for (let i = 0; i + 1 < b.length; i++) {
      const pair = b.charCodeAt(i) * 65536 + b.charCodeAt(i + 1);
      const left = counts.get(pair) || 0;
      if (left) {
        counts.set(pair, left - 1);
        common++;
      }
    }
    return (2 * common) / (a.length + b.length - 2);
  }

  const wordWeight = (word) => (VAGUE[word] ? 0.2 : 1);

  const NONE = [];

  // How like each word that is wanted `word` is; NONE where it is like none. Remembered: pages repeat themselves.
  function likenesses(query, word) {
    let known = query.words.get(word);
    if (known) return known;
    known = NONE;
    for (let i = 0; i < query.list.length; i++) {
      const like = likeness(query.list[i], word);
      if (like && known === NONE) {
        known = [];
        for (let k = 0; k < i; k++) known[k] = 0;
      }
      if (known !== NONE) known[i] = like;
    }
    query.words.set(word, known);
    return known;
  }

  // How well `text` covers each word that is wanted, and how alike the whole is; null where not at all.
  function coverage(query, text) {
    let known = query.texts.get(text);
    if (known !== undefined) return known;
    known = null;
    const list = words(text, 16);
    for (let k = 0; k < list.length; k++) {
      const likes = likenesses(query, list[k]);
      if (likes === NONE) continue;
      if (!known) known = { best: [], own: join(list) };
      for (let i = 0; i < likes.length; i++) known.best[i] = Math.max(known.best[i] || 0, likes[i]);
    }
    query.texts.set(text, known);
    return known;
  }

  function score(query, texts, role) {
    const best = [];
    let alike = 0;
    for (let t = 0; t < texts.length; t++) {
      if (!texts[t] || !query.glimpse.test(texts[t])) continue;
      const known = coverage(query, texts[t]);
      if (!known) continue;
      for (let i = 0; i < query.list.length; i++) best[i] = Math.max(best[i] || 0, known.best[i]);
      const own = known.own;
      alike = Math.max(alike, pairsAlike(query.joined, own), pairsAlike(query.joined, own + role));
    }
    if (!best.length) return 0;
    let sum = 0;
    let total = 0;
    for (let i = 0; i < query.list.length; i++) {
      const weight = wordWeight(query.list[i]);
      total += weight;
      sum += weight * Math.max(best[i], query.list[i] === role ? 1 : 0);
    }
    return 0.6 * (sum / total) + 0.4 * alike;
  }

  // The text in an element, hidden or not, without asking for styles: a glance for ranking.
  function glance(element) {
    const out = newText(80);
    let node = firstChild(element);
    for (let seen = 0, depth = 0; node && seen < 40 && !out.full; seen++) {
      if (nodeType(node) === 3) append(out, nodeValue(node));
      let next = nodeType(node) === 1 && depth < 6 && !NOT_TEXT[tagOf(node)] ? firstChild(node) : null;
      if (next) {
        depth++;
      } else {
        let at = node;
        next = nextSibling(at);
        while (!next && depth > 0) {
          at = parentNode(at);
          depth--;
          next = nextSibling(at);
        }
      }
      node = next;
    }
    return out.text;
  }

  function isLeaf(element) {
    const child = firstChild(element);
    return child !== null && nodeType(child) === 3 && firstElement(element) === null;
  }

  const NAMING = [
    "id", "data-testid", "data-test-id", "data-test", "name", "aria-label", "placeholder", "alt", "title",
  ];

  function rank(query, element) {
    const tag = tagOf(element);
    if (UNSEEN[tag]) return null;
    const texts = [];
    let explicit = "";
    if (hasAttributes(element)) {
      explicit = attr(element, "role");
      for (let i = 0; i < NAMING.length; i++) texts[i] = attr(element, NAMING[i]);
      if (query.classes) texts[texts.length] = attr(element, "class");
      if (tag === "input") texts[texts.length] = buttonText(element);
      if (tag === "input" || tag === "select" || tag === "textarea") texts[texts.length] = glanceAtLabel(element);
    }
    const tagged = INTERACTIVE[tag];
    const acts = tagged === 1 || INTERACTIVE_ROLES[explicit] === 1;
    const readable = acts || explicit || tagged === 0 || tag === "th" || (tag.length === 2 && tag[0] === "h");
    if (readable || isLeaf(element)) texts[texts.length] = glance(element);
    for (let i = 0; i < texts.length; i++) if (texts[i].length > 80) texts[i] = texts[i].slice(0, 80);
    const role = explicit || (acts && implicitRole(element, tag)) || TAG_WORDS[tag] || "";
    const points = score(query, texts, role);
    return points ? { element, points: points + (acts ? 0.08 : 0), acts } : null;
  }

  function glanceAtLabel(element) {
    const labels = read(element, "labels");
    return labels && labels.length ? glance(labels[0]) : "";
  }

  // The best so far, in order; equals keep the order of the page.
  function place(list, entry, size) {
    if (list.length === size && list[size - 1].points >= entry.points) return;
    let at = list.length < size ? list.length : size - 1;
    for (; at > 0 && list[at - 1].points < entry.points; at--) list[at] = list[at - 1];
    list[at] = entry;
  }

  function ranked(query) {
    const best = [];
    const all = roots();
    let seen = 0;
    for (let r = 0; r < all.length; r++) {
      const elements = queryAll(all[r], "*");
      for (let i = 0; i < elements.length && seen < MAX_SEEN; i++, seen++) {
        const entry = rank(query, elements[i]);
        if (entry && entry.points >= MIN_SCORE) place(best, entry, 60);
      }
    }
    return best;
  }

  // The text of a button is not news beside the button, nor is the form around it.
  function isNews(chosen, entry) {
    for (let i = 0; i < chosen.length; i++) {
      if (reaches(entry.element, chosen[i].element)) return false;
      if (!entry.acts && containsNode(entry.element, chosen[i].element)) return false;
    }
    return true;
  }

  function closest(selector, limit) {
    const query = wanted(selector.slice(0, 1000));
    if (!query.list.length) return [];
    const best = ranked(query);
    const chosen = [];
    for (let i = 0; i < best.length && chosen.length < limit; i++) {
      if (isNews(chosen, best[i]) && isVisible(best[i].element)) chosen[chosen.length] = best[i];
    }
    const lines = [];
    for (let i = 0; i < chosen.length; i++) lines[i] = line(chosen[i].element);
    return lines;
  }

  function line(element) {
    const name = cut(nameOf(element) || visibleText(element, 60), 60);
    const kind = roleOf(element) || tagOf(element);
    return kind + (name ? ' "' + name + '"' : "") + " (" + selectorOf(element) + ")";
  }

  // ---- table ----

  const ARIA_TABLES = "[role=table],[role=grid],[role=treegrid]";
  const TABLES = "table," + ARIA_TABLES;
  const CELL_ROLES = { __proto__: null, cell: 1, gridcell: 1, columnheader: 1, rowheader: 1 };
  const MAX_COLSPAN = 1000;
  const MAX_ROWSPAN = 65534;
  const MAX_SLOTS = 500000;
  const MAX_CELL = 10000;
  const MAX_TABLE_TEXT = 4000000;

  // A table for layout is none, unless it is asked for by itself.
  function isTable(element) {
    if (!matches(element, TABLES)) return false;
    const role = tagOf(element) === "table" ? explicitRole(element) : "";
    return role !== "presentation" && role !== "none";
  }

  // Those in `scope`, through open shadow roots; not the ones inside another.
  function outermostTables(scope, found) {
    const all = queryAll(scope, "*");
    let last = null;
    for (let i = 0; i < all.length && found.length < 50; i++) {
      if (last && containsNode(last, all[i])) continue;
      const shadow = shadowRoot(all[i]);
      if (isTable(all[i])) found[found.length] = last = all[i];
      else if (shadow) outermostTables(shadow, found);
    }
    return found;
  }

  function tablesBelow(element) {
    const shadow = shadowRoot(element);
    return outermostTables(element, shadow ? outermostTables(shadow, []) : []);
  }

  function listed(elements) {
    let text = "";
    for (let i = 0; i < elements.length && i < 5; i++) text += (i ? ", " : "") + selectorOf(elements[i]);
    return text + (elements.length > 5 ? ", …" : "");
  }

  function findTable(element) {
    if (matches(element, TABLES)) return { table: element };
    const below = tablesBelow(element);
    if (below.length === 1) return { table: below[0] };
    if (below.length > 1) {
      return { error: "It holds " + below.length + " tables; name one of them: " + listed(below) };
    }
    for (let at = parentOf(element); at; at = parentOf(at)) if (isTable(at)) return { table: at };
    const all = documentElement(document) ? tablesBelow(documentElement(document)) : [];
    const others = all.length ? "; the page's tables: " + listed(all) : ", and the page has none";
    return { error: "Not a table, nor in or around one: " + portrait(element) + others };
  }

  // HTML's rules for parsing non-negative integers; null where they fail.
  function parseCount(text) {
    const found = /^[\t\n\f\r ]*\+?(\d+)/.exec(text || "");
    return found ? Number(found[1]) : null;
  }

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

  function isOut(element) {
    const style = styleOf(element);
    return style.display === "none" || style.visibility === "collapse";
  }

  function nativeCells(row) {
    const cells = [];
    for (let at = firstElement(row); at; at = nextElementOf(at)) {
      const tag = tagOf(at);
      if ((tag === "td" || tag === "th") && !isOut(at)) cells[cells.length] = spans(at, true);
    }
    return cells;
  }

  // Its rows by section, head first and feet last; rows that are not shown are counted, not read.
  function nativeSections(table, count) {
    const sections = { head: null, bodies: [], feet: [] };
    let loose = null;
    const add = (section, row, out) => {
      if (out || isOut(row)) count.hidden++;
      else section[section.length] = nativeCells(row);
    };
    for (let at = firstElement(table); at; at = nextElementOf(at)) {
      const tag = tagOf(at);
      if (tag === "tr") {
        if (!loose) sections.bodies[sections.bodies.length] = loose = [];
        add(loose, at, false);
      } else if (tag === "thead" || tag === "tbody" || tag === "tfoot") {
        loose = null;
        const section = [];
        const head = tag === "thead" && !sections.head;
        const out = isOut(at);
        for (let row = firstElement(at); row; row = nextElementOf(row)) {
          if (tagOf(row) !== "tr") continue;
          // Small screens hide the head and stack the cells; it still says what they are.
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

  // What plays `role` below `root`, not looking into another table, nor into one that was found.
  function eachWithRole(root, roles, visit, depth) {
    if (depth > MAX_DEPTH) return;
    for (let at = firstElement(root); at; at = nextElementOf(at)) {
      if (roles[explicitRole(at) || implicitRole(at, tagOf(at))]) visit(at);
      else if (!isTable(at)) {
        const shadow = shadowRoot(at);
        if (shadow) eachWithRole(shadow, roles, visit, depth + 1);
        eachWithRole(at, roles, visit, depth + 1);
      }
    }
  }

  function ariaSections(table, count) {
    const body = [];
    const add = (row) => {
      if (isOut(row)) {
        count.hidden++;
        return;
      }
      const cells = [];
      const shadow = shadowRoot(row);
      const take = (cell) => {
        if (!isOut(cell)) cells[cells.length] = spans(cell, false);
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

  // HTML's algorithm for forming a table, for one section: which cell covers each slot.
  function layOut(section, budget) {
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

  // A cell alone in its row may ask for more columns than there are ("colspan=99", all of them): it has no say.
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

  function isHeaderRow(cells, native) {
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i].element;
      const role = explicitRole(cell) || implicitRole(cell, tagOf(cell));
      if (native ? tagOf(cell) !== "th" || role === "rowheader" : role !== "columnheader") return false;
    }
    return cells.length > 0;
  }

  function leadingHeaders(sections, native) {
    const body = sections.bodies[0] || [];
    let count = 0;
    while (count < body.length && isHeaderRow(body[count], native)) count++;
    let rows = 0;
    for (let i = 0; i < sections.bodies.length; i++) rows += sections.bodies[i].length;
    return count > 1 && count === rows ? 1 : count;
  }

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

  // What a cell says: its text; without any, what its fields hold or its pictures are called.
  function cellText(cell, budget) {
    if (cell.text === undefined) {
      const limit = Math.max(1, Math.min(MAX_CELL, budget.text));
      const element = cell.element;
      cell.text = visibleText(element, limit);
      if (!cell.text && !isRendered(element)) cell.text = fold(textContent(element), limit);
      if (!cell.text) cell.text = fold(attr(element, "aria-label") || fieldText(element), limit);
      budget.text -= cell.text.length;
    }
    return cell.text;
  }

  function headerTexts(rows, width, budget) {
    const headers = [];
    for (let x = 0; x < width && rows.length; x++) {
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

  function captionOf(table, native) {
    for (let at = firstElement(table); at; at = nextElementOf(at)) {
      const caption = native ? tagOf(at) === "caption" : roleOf(at) === "caption";
      if (caption) return textOrContent(at, {}) || null;
    }
    return null;
  }

  function tableOf(element, limit) {
    const found = findTable(element);
    if (!found.table) return found;
    const native = tagOf(found.table) === "table";
    const count = { hidden: 0 };
    const budget = { slots: MAX_SLOTS, text: MAX_TABLE_TEXT };
    const sections = native ? nativeSections(found.table, count) : ariaSections(found.table, count);
    const heading = sections.head && sections.head.length ? layOut(sections.head, budget) : [];
    const leading = heading.length ? 0 : leadingHeaders(sections, native);
    const grids = [heading];
    for (let i = 0; i < sections.bodies.length; i++) grids[grids.length] = layOut(sections.bodies[i], budget);
    for (let i = 0; i < sections.feet.length; i++) grids[grids.length] = layOut(sections.feet[i], budget);
    const width = widthOf(grids);
    for (let y = 0; y < leading; y++) heading[y] = grids[1][y];
    const headers = headerTexts(heading, width, budget);
    const rows = [];
    let rowCount = 0;
    for (let g = 1; g < grids.length; g++) {
      for (let y = g === 1 ? leading : 0; y < grids[g].length; y++) {
        const slots = grids[g][y];
        if (!slots.length || rowCount++ >= limit || budget.text <= 0) continue;
        const row = [];
        for (let x = 0; x < width; x++) row[x] = slots[x] ? cellText(slots[x], budget) : "";
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

  // ---- links and metadata ----

  const XLINK = "http://www.w3.org/1999/xlink";
  const MAX_URL = 8000;

  // The address as the author wrote it, or null where this is no link.
  function linkAddress(element, tag) {
    if (hasAttribute(element, "href")) return attribute(element, "href");
    if (tag !== "a" || namespaceURI(element) === XHTML) return null;
    return method(element, "getAttributeNS")(element, XLINK, "href");
  }

  function linkOf(element, tag, address) {
    const href = namespaceURI(element) === XHTML ? read(element, "href") : absolute(address);
    const text = visibleText(element, 500) || (isRendered(element) ? "" : fold(textContent(element), 500));
    const link = { text: text || nameOf(element), href: cut(typeof href === "string" ? href : address, MAX_URL) };
    if (attr(element, "title")) link.title = cut(attr(element, "title"), 500);
    return link;
  }

  function linksOf(root, limit) {
    const links = [];
    const take = (element) => {
      const tag = tagOf(element);
      if (tag === "a" || tag === "area") {
        const address = linkAddress(element, tag);
        if (address !== null) links[links.length] = linkOf(element, tag, address);
      }
      const shadow = shadowRoot(element);
      if (shadow) visit(shadow);
    };
    const visit = (scope) => {
      const all = queryAll(scope, "*");
      for (let i = 0; i < all.length && links.length < limit; i++) take(all[i]);
    };
    if (nodeType(root) === 1) take(root);
    visit(root);
    return links;
  }

  function contentOf(css) {
    const found = queryAll(document, css);
    for (let i = 0; i < found.length; i++) {
      const said = fold(attr(found[i], "content") || attr(found[i], "href"), MAX_URL);
      if (said) return said;
    }
    return null;
  }

  const orNull = (url) => (url === null ? null : cut(absolute(url), MAX_URL));

  function metadata() {
    const root = documentElement(document);
    return {
      title: fold(read(document, "title"), 1000) || null,
      description: contentOf('meta[name="description" i]'),
      keywords: contentOf('meta[name="keywords" i]'),
      ogImage: orNull(contentOf('meta[property="og:image" i],meta[name="og:image" i]')),
      canonicalUrl: orNull(contentOf('link[rel~="canonical" i]')),
      language: (root && fold(attr(root, "lang") || attr(root, "xml:lang"), 100)) || null,
      url: cut(read(document, "URL"), MAX_URL),
    };
  }

  // ---- asked and answered ----

  const stringify = JSON.stringify;

  // JSON without asking anything of the values: no `toJSON`, no inherited keys.
  function encode(value) {
    if (typeof value === "string") return stringify(value);
    if (typeof value === "number") return value - value === 0 ? "" + value : "null";
    if (value === true || value === false) return "" + value;
    if (!value || typeof value !== "object") return "null";
    let text = "";
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) text += (i ? "," : "") + encode(value[i]);
      return "[" + text + "]";
    }
    const keys = Object.keys(value);
    for (let i = 0; i < keys.length; i++) text += (i ? "," : "") + stringify(keys[i]) + ":" + encode(value[keys[i]]);
    return "{" + text + "}";
  }

  // Playwright carries values over with the page's own `push`.
  function arraysWork() {
    const list = [];
    try {
      list.push("a");
    } catch {
      return false;
    }
    return list.length === 1 && list[0] === "a";
  }

  // The element a question is about: itself, the one a text is in, or the document's own.
  function asElement(subject) {
    if (!subject || typeof subject !== "object") return documentElement(document);
    const type = nodeType(subject);
    if (type === 1) return subject;
    return (type === 9 ? documentElement(subject) : parentOf(subject)) || documentElement(document);
  }

  function answer(subject, asked) {
    const limit = (usual) => (typeof asked.limit === "number" && asked.limit >= 0 ? asked.limit : usual);
    switch (asked.what) {
      case "describe":
        return asked.keep === true ? describeAndKeep(asElement(subject)) : describe(asElement(subject));
      case "describe_all":
        return describeAll(subject, limit(100), asked.keep === true);
      case "describe_kept":
        return describeKept("" + asked.key);
      case "obstacle":
        return obstacle(asElement(subject), asked.editing === true);
      case "closest":
        return closest("" + asked.selector, limit(5));
      case "table":
        return encode(tableOf(asElement(subject), limit(10000)));
      case "links":
        return linksOf(subject && nodeType(subject) === 1 ? subject : document, limit(5000));
      case "metadata":
        return metadata();
      default:
        return { error: "Unknown question: " + asked.what };
    }
  }

  // Where the question itself was to explain a failure, no explanation is the answer.
  function failed(asked, error) {
    if (asked && asked.what === "obstacle") return null;
    if (asked && asked.what === "closest") return [];
    return { error: "The page could not be read: " + cut("" + error, 500) };
  }

  // On a page the request is the only argument; on a locator it follows the element.
  const asked = request === undefined ? first : request;
  let reply;
  try {
    reply = answer(request === undefined ? null : first, asked);
  } catch (error) {
    reply = failed(asked, error);
  }
  return typeof reply === "string" || arraysWork() ? reply : encode(reply);
}
