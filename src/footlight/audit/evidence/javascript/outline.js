// Check the structure of the page as a screen reader announces it, and texts that are not what the author meant.

import { allElements, describeAll, documentRoot, documentTitle, oneLine, own, runRules, textOf } from "./dom.js";

export const elements = allElements();
const root = documentRoot();
/** @type {(element: AnyElement) => boolean} */
const isRead = (element) =>
  own.checkVisibility(element, { visibilityProperty: true }) && !own.closest(element, "[aria-hidden=true]");

const SILENT = "script, style, noscript, template, textarea";
const VERBATIM = "code, pre, kbd, samp, tt, var, svg, math, [translate=no], .notranslate";
/** @type {(element: AnyElement) => Text[]} */
const textsIn = (element) =>
  /** @type {Text[]} */ ([...own.childNodes(element)]).filter(
    (each) => own.nodeType(each) === Node.TEXT_NODE && each.data.trim(),
  );

/** Return the texts for readers, each with its element, without code and without typed text. */
const texts = elements
  .filter((each) => !own.matches(each, SILENT) && !own.closest(each, VERBATIM) && isRead(each))
  .flatMap((element) => textsIn(element).map((each) => ({ element, text: each.data })));
/** @type {(isWrong: (each: PageText) => boolean) => AnyElement[]} */
const elementsWith = (isWrong) => [...new Set(texts.filter(isWrong).map((each) => each.element))];

/** @returns {string[]} */
function headings() {
  return elements
    .filter((each) => own.matches(each, "h1, h2, h3, h4, h5, h6, [role=heading]") && isRead(each))
    .map((each) => {
      const level = own.getAttribute(each, "aria-level") ?? (/^h(\d)$/.exec(own.localName(each))?.[1] || "2");
      return `h${level} ${oneLine(own.getAttribute(each, "aria-label") ?? own.textContent(each)) || "(empty)"}`;
    });
}

/** @typedef {{ element: AnyElement, text: string }} PageText a text for readers with its element */

/** @type {Record<string, string>} */
const LANDMARKS = { main: "main", nav: "navigation", aside: "complementary", search: "search" };
const LANDMARK_ROLES = ["banner", "complementary", "contentinfo", "form", "main", "navigation", "region", "search"];

/** @returns {string[]} */
function landmarks() {
  return elements
    .filter(isRead)
    .map((each) => {
      const role = landmarkOf(each),
        name = oneLine(nameOf(each));
      return role && (name ? `${role} “${name}”` : role);
    })
    .filter(Boolean);
}

/** @type {(element: AnyElement) => string} */
function landmarkOf(element) {
  const role = own.getAttribute(element, "role");
  if (role) return LANDMARK_ROLES.includes(role) ? role : "";
  if (own.localName(element) === "header" || own.localName(element) === "footer")
    return own.closest(element, "article, aside, main, nav, section")
      ? ""
      : /** @type {Record<string, string>} */ ({ header: "banner", footer: "contentinfo" })[own.localName(element)];
  if (own.localName(element) === "section" || own.localName(element) === "form")
    return nameOf(element)
      ? /** @type {Record<string, string>} */ ({ section: "region", form: "form" })[own.localName(element)]
      : "";
  return LANDMARKS[own.localName(element)] ?? "";
}

/** @type {(element: AnyElement) => string} */
function nameOf(element) {
  const ids = (own.getAttribute(element, "aria-labelledby") ?? "").split(/\s+/).filter(Boolean);
  return (
    ids
      .map((id) => /** @type {ShadowRoot} */ (own.getRootNode(element)).getElementById?.(id)?.textContent ?? "")
      .join(" ")
      .trim() ||
    own.getAttribute(element, "aria-label") ||
    ""
  );
}

// Default titles of editors, frameworks and servers.
// biome-ignore format: a table
const NO_TITLES = new RegExp(`^(${[
  'untitled( document| page)?', 'unbenannt(es dokument)?', 'sans titre', 'sin título', 'senza titolo', '無題(ドキュメント)?',
  '(new |my )?(document|page|webpage|website)', 'title( here)?', 'home ?page', 'home', 'index', 'startseite', 'accueil', 'inicio',
  '(my |create |react |vite |next\\.?js |nuxt |vue |angular |svelte |webpack |parcel |expo )+(app|project|sandbox)', 'vite \\+ .+',
  'localhost(:\\d+)?', '[\\w-]+\\.(html?|php|aspx?|jsp)', 'https?://\\S+',
].join('|')})$`, 'i');

/** @returns {AnyElement[]} */
function titleSaysNothing() {
  return NO_TITLES.test(documentTitle().trim()) ? [...own.querySelectorAll(document, "title")].slice(0, 1) : [];
}

/**
 * Return the value of an attribute of the root element: `lang` and `dir` are members of an element of HTML only.
 *
 * @type {(name: string) => string}
 */
const attributeOfRoot = (name) => own.getAttribute(root, name) ?? "";

const MAX_PARTS = 40;
const MAX_PART_LENGTH = 3000;

/**
 * Return the texts of each declared language, without those of other languages within: first of the page, with its title
 * and its images, and then of each visible element with an attribute `lang`.
 *
 * @returns {object[]}
 */
function languageParts() {
  /** @type {Map<AnyElement, string[]>} */
  const parts = new Map(root && attributeOfRoot("lang") ? [[root, [documentTitle()]]] : []);
  const images = elements
    .filter((each) => own.matches(each, "img[alt], input[type=image][alt]") && isRead(each))
    .map((element) => ({ element, text: own.getAttribute(element, "alt") ?? "" }));
  for (const { element, text } of [...texts, ...images]) {
    const declaring = own.closest(element, "[lang]");
    if (!declaring || own.namespaceURI(declaring) !== own.namespaceURI(root)) continue;
    if (!parts.has(declaring)) parts.set(declaring, []);
    parts.get(declaring)?.push(text);
  }
  return [...parts].slice(0, MAX_PARTS).map(([element, some]) => {
    const lang = own.getAttribute(element, "lang") ?? "";
    const text = some.join(" ").replace(/\s+/g, " ").slice(0, MAX_PART_LENGTH);
    return { lang, text, isPage: element === root, element: describeAll([element]) };
  });
}

/** @returns {AnyElement[]} */
function wrongDirection() {
  const RTL = /[\p{Script=Arabic}\p{Script=Hebrew}]/gu;
  /** @type {(each: PageText) => boolean} */
  const rightToLeft = (each) => (each.text.match(RTL)?.length ?? 0) > (each.text.match(/\p{L}/gu)?.length ?? 0) * 0.6;
  return elementsWith(
    (each) => each.text.trim().length > 40 && rightToLeft(each) && getComputedStyle(each.element).direction === "ltr",
  );
}

/**
 * Return the elements with UTF-8 that was decoded with another encoding, or with replacement characters.
 *
 * @returns {AnyElement[]}
 */
function garbled() {
  return elementsWith((each) => /Ã[\u0080-\u009F¡-¿Ÿœ„]|â€[\u0080-\u2122]|Â[\u00A0-\u00BF]|\uFFFD/.test(each.text));
}

/**
 * Return the text of the block that contains the word.
 *
 * @type {(element: AnyElement) => string}
 */
function lineOf(element) {
  const box = getComputedStyle(element).display.startsWith("inline") ? own.parentElement(element) : element;
  return box === element || !box ? textOf(element) : lineOf(box);
}

/**
 * Return the elements with placeholders that a program or an author should have replaced: in any text, or as the whole
 * of a value.
 *
 * @returns {AnyElement[]}
 */
function leftOver() {
  const placeholder = /\[object Object\]|\{\{[\w.$|'\s]+\}\}|\$\{[\w.]+\}|\blorem ipsum dolor\b/i;
  const alone = /\b(Invalid Date|NaN)\b/;
  return elementsWith(
    (each) => placeholder.test(each.text) || (alone.test(each.text) && lineOf(each.element).length < 30),
  );
}

// biome-ignore format: a table
const NO_TEXTS = new Set([
  'image', 'img', 'picture', 'photo', 'photograph', 'graphic', 'icon', 'logo', 'banner', 'thumbnail', 'placeholder', 'alt', 'todo',
  'untitled', 'bild', 'foto', 'grafik', 'symbol', 'imagen', 'imagem', 'immagine', 'afbeelding',
]);

/**
 * Return the images with an alternative text that is a file name, or that only says that there is an image.
 *
 * @returns {AnyElement[]}
 */
function altSaysNothing() {
  return elements
    .filter((each) => own.matches(each, "img[alt], input[type=image][alt]") && isRead(each))
    .filter((each) => {
      const alt = (own.getAttribute(each, "alt") ?? "").trim().toLowerCase();
      return (
        /^\S+\.(jpe?g|png|gif|webp|svg|avif|bmp|tiff?)$/.test(alt) ||
        /^(img|dsc|dscn|dscf|pxl|screenshot)[-_ ]?\d{3}\S*$/.test(alt) ||
        (NO_TEXTS.has(alt) && !(alt === "logo" && own.closest(each, "a")))
      );
    });
}

const BULLET = /^\s*[•●▪‣◦∙■►➤✓✔]\s*\S/u;

/**
 * Return the first of three or more consecutive lines that begin with a drawn bullet, without the markup of a list: each
 * an element, or all in one element that breaks them.
 *
 * @returns {AnyElement[]}
 */
function drawnLists() {
  /** @type {(each: AnyElement | null) => unknown} */
  const isBullet = (each) =>
    each &&
    !own.closest(each, "li, [role=list], [role=listitem]") &&
    BULLET.test(own.textContent(each)) &&
    isRead(each);
  /** @type {(each: AnyElement) => unknown} */
  const isFirst = (each) =>
    isBullet(each) && !isBullet(own.firstElementChild(each)) && !isBullet(own.previousElementSibling(each));
  /** @type {(each: AnyElement) => unknown} */
  const isThree = (each) => {
    const next = own.nextElementSibling(each);
    return isFirst(each) && isBullet(next) && isBullet(next && own.nextElementSibling(next));
  };
  /** @type {(each: AnyElement) => unknown} */
  const isBroken = (each) => isBullet(each) && hasBulletLines(each);
  return elements.filter(
    (each) => (own.matches(each, "p, div") && isThree(each)) || (own.matches(each, "p, div, td, dd") && isBroken(each)),
  );
}

/** @type {(element: AnyElement) => string} */
const firstLineOf = (element) => oneLine((own.innerText(element) ?? own.textContent(element)).split("\n", 1)[0]);

/**
 * Return whether three or more consecutive lines in the element begin with a drawn bullet.
 *
 * @type {(element: AnyElement) => boolean}
 */
function hasBulletLines(element) {
  let line = "";
  let bullets = 0;
  for (const node of own.childNodes(element)) {
    if (own.localName(node) !== "br") line += own.textContent(node);
    else {
      bullets = BULLET.test(line) ? bullets + 1 : 0;
      if (bullets === 3) return true;
      line = "";
    }
  }
  return bullets === 2 && BULLET.test(line);
}

const REPEATED_PARTS = "nav, aside, footer, [role=navigation], [role=complementary], [role=contentinfo]";
/** @type {(element: AnyElement) => boolean} */
const isRepeated = (element) => own.closest(element, REPEATED_PARTS) !== null;

/**
 * Return whether people see the element and screen readers announce it.
 *
 * @type {(element: AnyElement) => boolean}
 */
function isShown(element) {
  const box = own.getBoundingClientRect(element);
  return isRead(element) && box.right + scrollX > 0 && box.bottom + scrollY > 0;
}

/**
 * Return the first repeated part of the page if content follows it.
 *
 * @returns {AnyElement | undefined}
 */
function repeatedPartBeforeContent() {
  const links = (/** @type {AnyElement} */ each) =>
    own.matches(each, "nav, aside, [role=navigation], [role=complementary]");
  const part = elements.find((each) => links(each) && isRead(each));
  const content = texts.filter(({ element }) => !isRepeated(element) && !own.closest(element, "a, button, header"));
  if (!part || !content.length) return undefined;
  const isFirst = own.compareDocumentPosition(part, content[0].element) & Node.DOCUMENT_POSITION_FOLLOWING;
  return isFirst && content.reduce((sum, each) => sum + each.text.trim().length, 0) >= MIN_CONTENT ? part : undefined;
}

const MIN_CONTENT = 60;

/** @returns {boolean} */
function hasContentHeading() {
  return elements.some(
    (each) => own.matches(each, "h1, h2, h3, h4, h5, h6, [role=heading]") && isShown(each) && !isRepeated(each),
  );
}

/**
 * Return whether a link leads past the repeated parts, a control may close them, or a landmark has the content.
 *
 * @returns {boolean}
 */
function hasBypass() {
  /** @type {(link: AnyElement) => boolean} */
  const isSkip = (link) => {
    const id = (own.getAttribute(link, "href") ?? "").slice(1);
    const target = id ? own.getElementById(document, decodeId(id)) : null;
    return target !== null && (!isRepeated(target) || !hasTextAfterStart(target));
  };
  return elements.some(
    (each) =>
      (own.matches(each, 'a[href^="#"]') && isSkip(each)) ||
      own.matches(each, "button, summary, [role=button], [aria-expanded], [onclick]") ||
      (own.matches(each, "main, [role=main]") && isRead(each)),
  );
}

/** @type {(target: AnyElement) => boolean} */
const hasTextAfterStart = (target) => Boolean(own.textContent(target).trim());

/** @type {(id: string) => string} */
function decodeId(id) {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

/** @returns {AnyElement[]} */
function withoutHeading() {
  const part = repeatedPartBeforeContent();
  return part && !hasContentHeading() ? [part] : [];
}

/** Attributes that describe a role, so that an element without one must not have them. axe-core checks `aria-label`. */
const OF_ROLES = ["aria-roledescription", "aria-braillelabel", "aria-brailleroledescription"];
const WITHOUT_ROLE = "div, span, p, b, i, u, s, small, em, strong, code, sub, sup";

/** @returns {AnyElement[]} */
function describingNoRole() {
  return elements.filter((each) => {
    const role = (own.getAttribute(each, "role") ?? "").trim().toLowerCase();
    const isGeneric = role ? /^(none|presentation|generic)$/.test(role) : own.matches(each, WITHOUT_ROLE);
    return isGeneric && isRead(each) && OF_ROLES.some((name) => own.getAttribute(each, name)?.trim());
  });
}

/** @returns {AnyElement[]} */
function withoutBypass() {
  return hasBypass() ? [] : withoutHeading();
}

/** @returns {string} */
function page() {
  const [lang, dir] = [attributeOfRoot("lang") || attributeOfRoot("xml:lang"), attributeOfRoot("dir")];
  const words = texts
    .map((each) => each.text)
    .join(" ")
    .split(/\s+/)
    .filter(Boolean).length;
  const images = elements.filter((each) => own.localName(each) === "img" && isRead(each));
  const withText = images.filter((each) => each.alt?.trim()).length;
  return (
    `Title “${oneLine(documentTitle(), 120)}”; language ${lang || "not said"}${dir ? `, direction ${dir}` : ""}; ${words} words; ` +
    `${images.length} images, ${withText} of them with a text; ${elements.length} elements.`
  );
}

const headingTexts = headings();

/** @returns {Record<string, any>} */
export function answer() {
  return runRules({
    facts: () => [
      page(),
      `Headings in order (${headingTexts.length}): ${headingTexts.join(" · ") || "none"}.`,
      `Landmarks in order: ${landmarks().join(" · ") || "none"}.`,
    ],
    "title-says-nothing": () => describeAll(titleSaysNothing(), () => `title “${oneLine(documentTitle())}”`),
    languages: languageParts,
    "wrong-direction": () => describeAll(wrongDirection(), () => "text from right to left in a box from left to right"),
    "garbled-text": () => describeAll(garbled(), (each) => oneLine(own.textContent(each))),
    "left-over-text": () => describeAll(leftOver(), (each) => oneLine(own.textContent(each))),
    "alt-says-nothing": () => describeAll(altSaysNothing(), (each) => `alt="${oneLine(each.alt)}"`),
    "no-bypass": () => describeAll(withoutBypass(), () => "comes before the content on each page"),
    "description-of-no-role": () =>
      describeAll(describingNoRole(), (each) => OF_ROLES.filter((name) => own.hasAttribute(each, name)).join(", ")),
    "no-content-heading": () => describeAll(withoutHeading(), () => "no heading begins the content after it"),
    "drawn-list": () => describeAll(drawnLists(), (each) => `the first line: ${firstLineOf(each)}`),
  });
}
