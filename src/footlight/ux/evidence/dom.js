// What every script of the evidence begins with. Plain functions; nothing is left on the page.

const MOST_ELEMENTS = 10;

/** All elements of the document and of its open shadow roots, in the order of the tree. */
function allElements(root = document) {
  const found = [];
  const walk = node => {
    for (const child of node.children) {
      found.push(child);
      if (child.shadowRoot)
        walk(child.shadowRoot);
      walk(child);
    }
  };
  walk(root);
  return found;
}

/** Whether a reader can see it. */
function isVisible(element) {
  const box = element.getBoundingClientRect();
  return box.width > 0 && box.height > 0 && element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true });
}

/** What a reader sees of its text, on one line. */
function textOf(element, most = 80) {
  return oneLine(element.innerText ?? element.textContent, most);
}

function oneLine(text, most = 60) {
  const line = (text ?? '').replace(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** A CSS selector that leads to it alone; through shadow roots as Playwright reads it. */
function selectorOf(element) {
  const root = element.getRootNode();
  const isAlone = selector => {
    try {
      return root.querySelectorAll(selector).length === 1;
    } catch {
      return false;
    }
  };
  const parts = [];
  for (let each = element; each && each.nodeType === Node.ELEMENT_NODE; each = each.parentElement) {
    parts.unshift(stepOf(each));
    if (isAlone(parts.join(' > ')))
      break;
  }
  const inside = parts.join(' > ');
  return root instanceof ShadowRoot ? `${selectorOf(root.host)} ${inside}` : inside;
}

function stepOf(element) {
  if (element.id && !/\d{3}|[:.]/.test(element.id))
    return `#${CSS.escape(element.id)}`;
  const testId = element.getAttribute('data-testid');
  if (testId)
    return `[data-testid="${CSS.escape(testId)}"]`;
  const name = CSS.escape(element.localName);
  const alike = element.parentNode ? [...element.parentNode.children].filter(each => each.localName === element.localName) : [];
  return alike.length > 1 ? `${name}:nth-of-type(${alike.indexOf(element) + 1})` : name;
}

/** The element as a finding has it; `note` is what was measured of it. */
function describe(element, note = '') {
  const box = element.getBoundingClientRect();
  const whole = element.cloneNode(false).outerHTML;
  return {
    selector: selectorOf(element),
    html: whole.length > 300 ? `${whole.slice(0, 299)}…` : whole,
    text: textOf(element),
    note,
    box: { x: box.x + scrollX, y: box.y + scrollY, width: box.width, height: box.height },
  };
}

/** Elements as a finding has them: how many there are, and the first. */
function described(elements, note = () => '') {
  return { count: elements.length, elements: elements.slice(0, MOST_ELEMENTS).map(each => describe(each, note(each))) };
}
