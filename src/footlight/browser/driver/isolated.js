// Runs a script in a world of its own, for pages that let none run in theirs. A selector engine of Playwright: the body
// is {script, argument, over} as JSON, the root what the script is about. The reply is an element made for the purpose,
// whose attribute `v` holds what the script says, as JSON; where it says an element, that is found.
//
// `gather` keeps the root for a script that comes `over` all that were gathered under that key.

const gathered = new Map();

function carrier(root, value) {
  const element = (root.ownerDocument || root).createElement("i");
  element.setAttribute("v", JSON.stringify(value ?? null));
  return element;
}

function takeGathered(key) {
  const roots = [...(gathered.get(key) || [])];
  gathered.delete(key);
  return roots;
}

function run(root, { script, argument, over }) {
  // biome-ignore lint/security/noGlobalEval: running scripts is the purpose of this engine
  const made = globalThis.eval(`(${script}\n)`);
  if (typeof made !== "function") return made;
  if (over) return made(takeGathered(over), argument);
  return root.nodeType === Node.DOCUMENT_NODE ? made(argument) : made(root, argument);
}

export function queryAll(root, body) {
  const asked = JSON.parse(decodeURIComponent(body));
  if (asked.gather) {
    gathered.set(asked.gather, (gathered.get(asked.gather) || new Set()).add(root));
    return [root];
  }
  const said = run(root, asked);
  return [said instanceof Element ? said : carrier(root, said)];
}
