// Runs a script in an isolated world, for pages that disable scripts in their own world. It is a selector engine of
// Playwright: the body is {argument, over, finds} as JSON, "&" and the script, both encoded. The root is the subject of
// the script. The engine finds a new element whose attribute `v` holds the result as JSON. With `finds`, it finds the
// element that the script returns, if any.
//
// `gather` stores the root under a key. A later script with `over` receives all roots that were gathered under that
// key.

const MAX_VALUES = 150_000; // As in event_limits.js, which does not count what is in a string.
const MAX_GATHERED = 20; // The roots of a call that was cancelled are not taken.

/** @typedef {{ argument?: unknown, over?: string, finds?: boolean, gather?: string }} Request */

/** @type {Map<string, Set<Node>>} */
const gathered = new Map();

const documentOf = /** @type {() => Document | null} */ (
  Object.getOwnPropertyDescriptor(Node.prototype, "ownerDocument")?.get
);
const typeOf = /** @type {() => number} */ (Object.getOwnPropertyDescriptor(Node.prototype, "nodeType")?.get);

/** @type {(root: any, value: unknown) => Element} */
function makeCarrier(root, value) {
  const element = Document.prototype.createElement.call(documentOf.call(root) || root, "i");
  element.setAttribute("v", stringify(value ?? null));
  return element;
}

/** @type {(value: unknown) => string} */
function stringify(value) {
  let left = MAX_VALUES;
  return JSON.stringify(value, (_, each) => {
    if (left-- < 0) throw new Error(`The page returned more than ${MAX_VALUES} values`);
    return each;
  });
}

/** @type {(root: Node, key: string) => Node[]} */
function gather(root, key) {
  const roots = gathered.get(key);
  // Playwright sorts several, by members that a page can shadow.
  if (roots) return roots.add(root) && [];
  gathered.set(key, new Set([root]));
  if (gathered.size > MAX_GATHERED) gathered.delete(gathered.keys().next().value ?? "");
  return [root];
}

/** @type {(key: string) => Node[]} */
function takeGathered(key) {
  const roots = gathered.get(key);
  if (!roots) throw new Error("Execution context was destroyed: nothing is gathered");
  gathered.delete(key);
  return [...roots];
}

/** @type {(root: Node, made: any, request: Request) => any} */
function run(root, made, { argument, over }) {
  if (typeof made !== "function") return made;
  if (over) return made(takeGathered(over), argument);
  return typeOf.call(root) === Node.DOCUMENT_NODE ? made(argument) : made(root, argument);
}

/** @type {(root: Node, body: string) => Element[] | Node[]} */
export function queryAll(root, body) {
  const [encoded, script] = body.split("&").map(decodeURIComponent);
  const request = /** @type {Request} */ (JSON.parse(encoded));
  if (request.gather) return gather(root, request.gather);
  // Where this fails, scripts do not run in this world.
  // biome-ignore lint/security/noGlobalEval: running scripts is the purpose of this engine
  const made = globalThis.eval(`(${script}\n)`);
  try {
    const result = run(root, made, request);
    if (request.finds) return result ? [result] : [];
    return [makeCarrier(root, result)];
  } catch (error) {
    throw new Error(`Our script failed: ${error}`);
  }
}
