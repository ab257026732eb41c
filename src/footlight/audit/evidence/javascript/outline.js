// Check the structure of the page as a screen reader announces it, and texts that are not what the author meant.

import { allElements, describeAll, documentRoot, documentTitle, oneLine, runRules, textOf } from "./dom.js";

export const elements = allElements();
const root = documentRoot();
/** @type {(element: AnyElement) => boolean} */
const isRead = (element) =>
  element.checkVisibility({ visibilityProperty: true }) && !element.closest("[aria-hidden=true]");

const SILENT = "script, style, noscript, template, textarea";
const VERBATIM = "code, pre, kbd, samp, tt, var, svg, math, [translate=no], .notranslate";
/** @type {(element: AnyElement) => Text[]} */
const textsIn = (element) =>
  /** @type {Text[]} */ ([...element.childNodes]).filter(
    (each) => each.nodeType === Node.TEXT_NODE && each.data.trim(),
  );

/** Return the texts for readers, each with its element, without code and without typed text. */
const texts = elements
  .filter((each) => !each.matches(SILENT) && !each.closest(VERBATIM) && isRead(each))
  .flatMap((element) => textsIn(element).map((each) => ({ element, text: each.data })));
/** @type {(isWrong: (each: PageText) => boolean) => AnyElement[]} */
const elementsWith = (isWrong) => [...new Set(texts.filter(isWrong).map((each) => each.element))];

/** @returns {string[]} */
function headings() {
  return elements
    .filter((each) => each.matches("h1, h2, h3, h4, h5, h6, [role=heading]") && isRead(each))
    .map((each) => {
      const level = each.getAttribute("aria-level") ?? (/^h(\d)$/.exec(each.localName)?.[1] || "2");
      return `h${level} ${oneLine(each.getAttribute("aria-label") ?? each.textContent) || "(empty)"}`;
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
  const role = element.getAttribute("role");
  if (role) return LANDMARK_ROLES.includes(role) ? role : "";
  if (element.localName === "header" || element.localName === "footer")
    return element.closest("article, aside, main, nav, section")
      ? ""
      : /** @type {Record<string, string>} */ ({ header: "banner", footer: "contentinfo" })[element.localName];
  if (element.localName === "section" || element.localName === "form")
    return nameOf(element)
      ? /** @type {Record<string, string>} */ ({ section: "region", form: "form" })[element.localName]
      : "";
  return LANDMARKS[element.localName] ?? "";
}

/** @type {(element: AnyElement) => string} */
function nameOf(element) {
  const ids = (element.getAttribute("aria-labelledby") ?? "").split(/\s+/).filter(Boolean);
  return (
    ids
      .map((id) => /** @type {ShadowRoot} */ (element.getRootNode()).getElementById?.(id)?.textContent ?? "")
      .join(" ")
      .trim() ||
    element.getAttribute("aria-label") ||
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
  return NO_TITLES.test(documentTitle().trim()) ? [...document.querySelectorAll("title")].slice(0, 1) : [];
}

// Scripts, each with the languages that are written in it. A text in another script shows that `lang` is wrong; between
// languages of one script, frequent words show it.
// biome-ignore format: a table
const SCRIPTS = {
  Cyrillic: 'ab ba be bg ce cv kk ky mk mn ru sr tg tt uk uz', Greek: 'el grc', Hebrew: 'he yi', Arabic: 'ar ckb fa ku ps sd ug ur', Thai: 'th',
  Hangul: 'ko', Han: 'ja yue zh', Hiragana: 'ja', Devanagari: 'hi mr ne sa', Georgian: 'ka', Armenian: 'hy', Bengali: 'as bn', Tamil: 'ta',
};
/** @type {Record<string, string>} */
// biome-ignore format: a table
const WORDS = {
  en: 'the and of to is that for with are this you from have not was', de: 'der die und das ist nicht mit sie ein eine auf für von zu den werden',
  fr: 'le la les des et est une pour dans que vous sur avec pas nous', es: 'el los las del una que para con por está como más su',
  it: 'il di che per una non con sono del della gli più nel', pt: 'os uma para com não que do da em por mais você dos',
  nl: 'het een van en niet met voor zijn dat op te je wordt', sv: 'och att det som en är på för med av inte har',
  pl: 'się nie jest że na do jak dla przez oraz po tym',
};

/**
 * Return the value of an attribute of the root element: `lang` and `dir` are members of an element of HTML only.
 *
 * @type {(name: string) => string}
 */
const attributeOfRoot = (name) => root?.getAttribute(name) ?? "";

/** @returns {[element: Element, note: string][]} */
function wrongLanguage() {
  const declared = attributeOfRoot("lang") || attributeOfRoot("xml:lang");
  const lang = declared.toLowerCase().split("-")[0];
  const text = texts
    .filter(({ element }) => element.closest("[lang]") === root)
    .map((each) => each.text)
    .join(" ")
    .toLowerCase();
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  if (!lang || letters < 200) return [];
  const foreign = Object.entries(SCRIPTS).find(
    ([name, langs]) =>
      !langs.split(" ").includes(lang) &&
      (text.match(new RegExp(`\\p{Script=${name}}`, "gu"))?.length ?? 0) > letters * 0.5,
  );
  const other = foreign ? `${foreign[0]} letters` : wordsOfAnother(lang, text);
  return root && other ? [[root, `lang="${declared}", but the text is in ${other}`]] : [];
}

/**
 * Report another language only if words of the declared one are rare and words of the other are everywhere.
 *
 * @type {(lang: string, text: string) => string}
 */
function wordsOfAnother(lang, text) {
  const words = text.match(/\p{L}+/gu) ?? [];
  /** @type {(key: string) => number} */
  const share = (key) => words.filter((each) => WORDS[key].split(" ").includes(each)).length / words.length;
  if (!WORDS[lang] || words.length < 60 || share(lang) > 0.03) return "";
  return (
    Object.keys(WORDS)
      .filter((key) => share(key) > 0.12)
      .sort((a, b) => share(b) - share(a))
      .map((key) => `words of “${key}”`)[0] ?? ""
  );
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
  const box = getComputedStyle(element).display.startsWith("inline") ? element.parentElement : element;
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
    .filter((each) => each.matches("img[alt], input[type=image][alt]") && isRead(each))
    .filter((each) => {
      const alt = (each.getAttribute("alt") ?? "").trim().toLowerCase();
      return (
        /^\S+\.(jpe?g|png|gif|webp|svg|avif|bmp|tiff?)$/.test(alt) ||
        /^(img|dsc|dscn|dscf|pxl|screenshot)[-_ ]?\d{3}\S*$/.test(alt) ||
        (NO_TEXTS.has(alt) && !(alt === "logo" && each.closest("a")))
      );
    });
}

/**
 * Return the first of three or more consecutive lines that begin with a drawn bullet, without the markup of a list.
 *
 * @returns {AnyElement[]}
 */
function drawnLists() {
  const bullet = /^\s*[•●▪‣◦∙■►➤✓✔]\s*\S/u;
  /** @type {(each: AnyElement | null) => unknown} */
  const isBullet = (each) =>
    each && !each.closest("li, [role=list], [role=listitem]") && bullet.test(each.textContent) && isRead(each);
  /** @type {(each: AnyElement) => unknown} */
  const isFirst = (each) =>
    isBullet(each) && !isBullet(each.firstElementChild) && !isBullet(each.previousElementSibling);
  /** @type {(each: AnyElement) => unknown} */
  const isThree = (each) => {
    const next = each.nextElementSibling;
    return isFirst(each) && isBullet(next) && isBullet(next?.nextElementSibling ?? null);
  };
  return elements.filter((each) => each.matches("p, div") && isThree(each));
}

/** @returns {string} */
function page() {
  const [lang, dir] = [attributeOfRoot("lang") || attributeOfRoot("xml:lang"), attributeOfRoot("dir")];
  const words = texts
    .map((each) => each.text)
    .join(" ")
    .split(/\s+/)
    .filter(Boolean).length;
  const images = elements.filter((each) => each.localName === "img" && isRead(each));
  const withText = images.filter((each) => each.alt?.trim()).length;
  return (
    `Title “${oneLine(documentTitle(), 120)}”; language ${lang || "not said"}${dir ? `, direction ${dir}` : ""}; ${words} words; ` +
    `${images.length} images, ${withText} of them with a text; ${elements.length} elements.`
  );
}

const language = wrongLanguage();
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
    "wrong-language": () =>
      describeAll(
        language.map((each) => each[0]),
        () => language[0][1],
      ),
    "wrong-direction": () => describeAll(wrongDirection(), () => "text from right to left in a box from left to right"),
    "garbled-text": () => describeAll(garbled(), (each) => oneLine(each.textContent)),
    "left-over-text": () => describeAll(leftOver(), (each) => oneLine(each.textContent)),
    "alt-says-nothing": () => describeAll(altSaysNothing(), (each) => `alt="${oneLine(each.alt)}"`),
    "drawn-list": () => describeAll(drawnLists(), (each) => `the first line: ${oneLine(each.textContent)}`),
  });
}
