// Find the built-in functions that the page has replaced or removed. Each is compared with that of a new frame, by whose
// functions alone the comparison is made. KNOWN_HERE has the values that the names of built-ins have in scripts.

/** Members that many sites wrap, to see errors, requests or changes. They are fine as long as they work. */
const WRAPPED = [
  "setTimeout",
  "clearTimeout",
  "requestAnimationFrame",
  "fetch",
  "Promise",
  "then",
  "catch",
  "finally",
  "MutationObserver",
  "observe",
  "addEventListener",
  "removeEventListener",
  "dispatchEvent",
  "createElement",
  "appendChild",
  "insertBefore",
  "removeChild",
  "replaceChild",
  "getAttribute",
  "setAttribute",
  "removeAttribute",
];
/** Members that recorders of sessions wrap, and that no script of the audit uses. */
const UNUSED = [
  "insertRule",
  "deleteRule",
  "setProperty",
  "removeProperty",
  "attachShadow",
  "submit",
  "toString",
  "json",
];
const MAX_REPORTED = 5;
const PATIENCE_MS = 500;

/** @returns {Promise<string[]>} */
export async function answer() {
  const root = Object.getOwnPropertyDescriptor(Document.prototype, "documentElement")?.get?.call(document);
  // Chromium ends the process of an error page that gets a frame.
  if (!root || location.protocol === "chrome-error:") return [];
  const frame = Document.prototype.createElementNS.call(document, "http://www.w3.org/1999/xhtml", "iframe");
  // A policy of the page may forbid the attribute `style`, and its browser would report that.
  Element.prototype.setAttribute.call(frame, "hidden", "");
  Node.prototype.appendChild.call(root, frame);
  try {
    const fresh = Object.getOwnPropertyDescriptor(HTMLIFrameElement.prototype, "contentWindow")?.get?.call(frame);
    return await compareWith(fresh);
  } finally {
    Node.prototype.removeChild.call(root, frame);
  }
}

/** @type {(fresh: any) => Promise<string[]>} */
async function compareWith(fresh) {
  const { Function: FreshFunction, Object: FreshObject, Reflect: FreshReflect } = fresh;
  const source = FreshFunction.prototype.toString;
  const tag = FreshObject.prototype.toString;
  const replaced = new fresh.Array();
  const wrapped = new fresh.Array();
  const push = fresh.Array.prototype.push;
  const includes = fresh.Array.prototype.includes;
  const startsWith = fresh.String.prototype.startsWith;

  /** @type {(one: any, other: any) => boolean} */
  const isSame = (one, other) => {
    if (typeof one !== typeof other) return false;
    if (typeof one === "function") return FreshReflect.apply(source, one, []) === FreshReflect.apply(source, other, []);
    return typeof one !== "object" || FreshReflect.apply(tag, one, []) === FreshReflect.apply(tag, other, []);
  };
  /** @type {(name: string, label: string, one: any, other: any) => void} */
  const compare = (name, label, one, other) => {
    if (isSame(one, other)) return;
    const isWrapped =
      typeof other === "function" &&
      (FreshReflect.apply(includes, WRAPPED, [name]) || FreshReflect.apply(startsWith, name, ["on"]));
    FreshReflect.apply(push, isWrapped ? wrapped : replaced, [label]);
  };
  /** @type {(label: string, own: any, fresh: any) => void} */
  const compareMembers = (label, own, fresh) => {
    const keys = FreshReflect.ownKeys(fresh);
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at];
      const known = FreshReflect.getOwnPropertyDescriptor(fresh, key);
      const here = FreshReflect.getOwnPropertyDescriptor(own, key);
      const name = typeof key === "symbol" ? (key.description ?? "") : key;
      if (FreshReflect.apply(includes, UNUSED, [name])) continue;
      if (typeof known.value === "function" || known.get)
        compare(name, `${label}.${name}`, known.value ?? known.get, here?.value ?? here?.get);
    }
  };

  const names = FreshReflect.ownKeys(KNOWN_HERE);
  for (let at = 0; at < names.length; at++) {
    const name = names[at];
    const known = fresh[name];
    const here = KNOWN_HERE[name];
    if (known === undefined) continue;
    compare(name, name, known, here);
    if (!isSame(known, here) || (typeof known !== "function" && typeof known !== "object")) continue;
    compareMembers(name, here, known);
    if (typeof known === "function" && known.prototype)
      compareMembers(`${name}.prototype`, here.prototype, known.prototype);
  }
  // Functions that only this document has hide those of its interfaces. axe-core puts such a one there, which is the
  // browser's own.
  const own = FreshReflect.ownKeys(document);
  for (let at = 0; at < own.length; at++) {
    const here = FreshReflect.getOwnPropertyDescriptor(document, own[at]);
    const isOther = own[at] !== "location" && FreshReflect.has(fresh.document, own[at]);
    if (isOther && (here.get || (typeof here.value === "function" && !isSame(here.value, fresh.document[own[at]]))))
      FreshReflect.apply(push, replaced, [`document.${own[at].description ?? own[at]}`]);
  }
  // What is added to all objects changes loops over them.
  for (const name in Object.prototype) FreshReflect.apply(push, replaced, [`Object.prototype.${name}`]);
  for (const name in Array.prototype) FreshReflect.apply(push, replaced, [`Array.prototype.${name}`]);
  if (wrapped.length && !(await works(fresh))) FreshReflect.apply(push, replaced, wrapped);
  return FreshReflect.apply(fresh.Array.prototype.slice, replaced, [0, MAX_REPORTED]);
}

/**
 * Return whether what sites wrap still works.
 *
 * @type {(fresh: any) => Promise<boolean>}
 */
async function works(fresh) {
  const finished = new fresh.Promise((/** @type {(value: boolean) => void} */ done) => {
    const element = document.createElement("i");
    const seen = { clicks: 0, changes: 0 };
    const observer = new MutationObserver(() => seen.changes++);
    observer.observe(element, { attributes: true });
    const listener = () => seen.clicks++;
    element.addEventListener("click", listener);
    element.dispatchEvent(new Event("click"));
    element.removeEventListener("click", listener);
    element.dispatchEvent(new Event("click"));
    element.setAttribute("title", "x");
    const inner = document.createElement("b");
    const last = document.createElement("b");
    element.appendChild(last);
    element.insertBefore(inner, last);
    element.removeChild(last);
    element.onclick = listener;
    const isSound =
      element.childNodes.length === 1 &&
      element.firstChild === inner &&
      element.getAttribute("title") === "x" &&
      typeof element.onclick === "function";
    const ended = () => done(isSound && seen.clicks === 1 && seen.changes === 1);
    new Promise((resolve) => setTimeout(resolve, 0)).then(ended);
    clearTimeout(setTimeout(() => done(false), 1));
    if (typeof fetch !== "function" || typeof requestAnimationFrame !== "function") done(false);
  });
  const late = new fresh.Promise((/** @type {(value: boolean) => void} */ done) =>
    fresh.setTimeout(() => done(false), PATIENCE_MS),
  );
  try {
    return await fresh.Promise.race([finished, late]);
  } catch {
    return false;
  }
}
