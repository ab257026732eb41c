// Runs a script in an isolated world, for pages that disable scripts in their main world. It is a selector engine of
// Playwright: the body is {script, argument, over} as JSON, and the root is the subject of the script. If the script
// returns an element, the engine finds that element. Otherwise it finds a new element whose attribute `v` has the
// result as JSON.
//
// `gather` stores the root under a key. A later script with `over` receives all roots that were gathered under that
// key.

/** @type {Map<string, Set<Node>>} */
const gathered = new Map();

const documentOf = /** @type {() => Document | null} */ (
  Object.getOwnPropertyDescriptor(Node.prototype, "ownerDocument")?.get
);
const typeOf = /** @type {() => number} */ (Object.getOwnPropertyDescriptor(Node.prototype, "nodeType")?.get);

/** @type {(root: any, value: unknown) => Element} */
function makeCarrier(root, value) {
  const element = Document.prototype.createElement.call(documentOf.call(root) || root, "i");
  element.setAttribute("v", JSON.stringify(value ?? null));
  return element;
}

/** @type {(key: string) => Node[]} */
function takeGathered(key) {
  const roots = [...(gathered.get(key) || [])];
  gathered.delete(key);
  return roots;
}

/** @type {(root: Node, request: { script: string, argument: unknown, over?: string }) => any} */
function run(root, { script, argument, over }) {
  // biome-ignore lint/security/noGlobalEval: running scripts is the purpose of this engine
  const made = globalThis.eval(`(${script}\n)`);
  if (typeof made !== "function") return made;
  if (over) return made(takeGathered(over), argument);
  return typeOf.call(root) === Node.DOCUMENT_NODE ? made(argument) : made(root, argument);
}

/** @type {(root: Node, body: string) => Element[] | Node[]} */
export function queryAll(root, body) {
  const request = JSON.parse(decodeURIComponent(body));
  if (request.gather) {
    const roots = gathered.get(request.gather);
    if (!roots) gathered.set(request.gather, new Set([root]));
    // Playwright sorts several results by members that a page can shadow.
    return roots?.add(root) ? [] : [root];
  }
  const result = run(root, request);
  return [result instanceof Element ? result : makeCarrier(root, result)];
}
