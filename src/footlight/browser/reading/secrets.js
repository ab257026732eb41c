// A Playwright selector engine that finds the elements that show one of some texts. It runs in an isolated world.
// `body` is a percent-encoded JSON list of the texts. Case, white space, characters that are not shown and, in
// texts of 8 characters and more, the spaces and dashes that group them are ignored.

/** @type {(root: any, body: string) => Element[]} */
export function queryAll(root, body) {
  /** @type {string[]} */
  const texts = JSON.parse(decodeURIComponent(body)).map(plain);
  const searched = texts.filter((text) => text.trim());
  const grouped = texts.map(ungrouped).filter((text) => text.length >= SHORTEST_GROUPED);
  /** @type {(text: string | null) => boolean} */
  const shows = (text) => {
    const seen = plain(text || "");
    if (searched.some((each) => seen.includes(each))) return true;
    const letters = grouped.length ? ungrouped(seen) : "";
    return grouped.some((each) => letters.includes(each));
  };
  /** @type {Set<Element>} */
  const found = new Set();
  for (const tree of treesIn(root)) {
    const top = tree.documentElement ?? tree;
    for (const part of tree.documentElement ? [top] : (tree.children ?? [])) addShowing(part, shows, found);
    for (const field of tree.querySelectorAll("input, textarea, [placeholder], [alt]")) {
      const texts = [field.value, field.getAttribute("placeholder"), field.getAttribute("alt")];
      if (texts.some((text) => typeof text === "string" && shows(text))) found.add(field);
    }
  }
  return [...found];
}

// Characters that a page does not show: soft hyphens, zero-width spaces and joiners, marks of direction.
// biome-ignore lint/suspicious/noMisleadingCharacterClass: U+034F is meant on its own
const INVISIBLE = /[\u00AD\u034F\u200B-\u200F\u202A-\u202E\u2060-\u2064\uFEFF]+/g;
const SHORTEST_GROUPED = 8; // The groups of a shorter text could be parts of other texts.

/** @type {(text: string) => string} */
function plain(text) {
  return text.replace(INVISIBLE, "").replace(/\s+/g, " ").toLowerCase();
}

/**
 * Return the text without the spaces and dashes that may group its characters, and without marks of Markdown.
 *
 * @type {(text: string) => string}
 */
function ungrouped(text) {
  return text.replace(/[\s*_~`+-]+/g, "");
}

/** @type {(tree: any) => Generator<any>} */
function* treesIn(tree) {
  yield tree;
  for (const element of tree.querySelectorAll("*")) {
    if (element.shadowRoot) yield* treesIn(element.shadowRoot);
  }
}

/**
 * Find the smallest elements: a text may extend over several.
 *
 * @type {(top: any, shows: (text: string | null) => boolean, found: Set<Element>) => void}
 */
function addShowing(top, shows, found) {
  const rest = [top];
  while (rest.length) {
    const element = rest.pop();
    if (!shows(element.textContent)) continue;
    const inside = [...element.children].filter((child) => shows(child.textContent));
    rest.push(...inside);
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && shows(node.data));
    if (own || !inside.length) found.add(element.closest("select") ?? element);
  }
}
