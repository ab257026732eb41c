// A Playwright selector engine that finds the elements that show one of some texts. It runs in an isolated world.
// `body` is a percent-encoded JSON list of the texts; case and the kind of white space are ignored.

export function queryAll(root, body) {
  const wanted = JSON.parse(decodeURIComponent(body)).map(plain);
  const shows = (text) => {
    const seen = plain(text || "");
    return wanted.some((each) => seen.includes(each));
  };
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

function plain(text) {
  return text.replace(/\s+/g, " ").toLowerCase();
}

function* treesIn(tree) {
  yield tree;
  for (const element of tree.querySelectorAll("*")) {
    if (element.shadowRoot) yield* treesIn(element.shadowRoot);
  }
}

// Find the smallest elements: a text may extend over several.
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
