// Check where the links of the page lead, and what they are called. Some links of this site are requested, links of
// other sites never.

import { allElements, describeAll, documentTitle, isVisible, oneLine, own, runRules } from "./dom.js";
import { addressInHandler, asShown, contentOf, isAlike, REPEATED } from "./link_targets.js";
import { hasMostWordsOf, wordsOf } from "./words.js";

// Words in the names and addresses of links, in the languages that are supported. In another language a problem may be
// missed, but there is no false alarm.

/** @type {(words: string[], flags: string) => RegExp} */
const anyOf = (words, flags) => new RegExp(words.join("|"), flags);

/** Requesting these addresses could end a session or change something, if the site changes state on GET. */
// biome-ignore format: a table
const CHANGES = anyOf([
  'log[-_]?(out|off)', 'sign[-_]?(out|off)', 'abmelden', 'ausloggen', 'd[ée]connexion', 'cerrar[-_]?sesion',
  'delete', 'destroy', 'remove', 'discard', 'cancel', 'revoke', 'deactivate', 'disable', 'l[öo]e?schen', 'supprimer', 'eliminar',
  'unsubscribe', 'opt[-_]?out', 'abbestellen', 'add[-_]?to', '(cart|basket|wishlist)/(add|remove|empty)', 'token=',
  '[?&](action|do|cmd|op|delete|remove|add)=', '/(add|buy|vote|like|follow|confirm|approve|toggle|reset|execute|run|trigger)\\b',
], 'i');

const TO_TOP = /\b(top|up|oben|anfang|haut|arriba|inicio|su|topo|boven|góry)\b|[↑⇧▲⌃]|トップ|上/iu;

/** Names that do not say where the link leads. */
// biome-ignore format: a table
const VAGUE = new RegExp(`^(${[
  'click( here)?', 'here', '(read|learn|see|find out|show|view) more', 'more( info(rmation)?)?', 'details?',
  'view', 'link', 'this( page| link)?', 'continue( reading)?', 'go',
  'hier( klicken)?', 'klicken sie hier', 'mehr( erfahren| lesen| infos?)?', 'weiter(lesen)?', 'zum artikel',
  '(cliquez )?ici', 'en savoir plus', 'lire (la suite|plus)', 'voir plus', 'plus',
  '(haz |haga )?clic aquí', 'aquí', '(leer|ver|saber) más', 'más( información)?',
  '(clicca )?qui', '(leggi|scopri) (di più|tutto)', 'altro', '(klik )?hier', 'lees (meer|verder)', 'meer( info)?',
  '(clique )?aqui', '(leia|saiba|ver) mais', 'läs mer', 'tutaj', 'więcej', 'czytaj (więcej|dalej)',
  'подробнее', 'читать далее', '詳細', '詳しく(はこちら)?', 'こちら', '続きを読む', '更多', '查看详情',
].join('|')})$`, 'iu');

/** Words that announce that a link opens a window. */
// biome-ignore format: a table
const NEW_WINDOW = anyOf([
  '\\b(new|other|another|separate)\\b.*\\b(window|tab|page)\\b', 'neue[nsm]?\\s.*(fenster|tab)', 'nouve(l|lle|au)\\s.*(fenêtre|onglet)',
  'nueva (ventana|pestaña)', 'nuova (finestra|scheda)', 'nieuw (venster|tabblad)', 'nova (janela|guia|aba)', 'nowy[mn]? (oknie|karcie)',
  'extern(al|e|o)?\\b', 'esterno', '新しい(ウィンドウ|タブ)', '新窗口', '[↗⧉🡕⬀]',
], 'iu');

const MOST_ASKED = 50;
const AT_ONCE = 6;
const MAX_GROUPS = 10;
/** How many targets of links of the same name are read. */
const MOST_READ = 20;
const EACH_MS = 5000;
const ALL_MS = 15_000;

export const elements = allElements();
const links = elements.filter(
  (each) => own.matches(each, ":any-link") && own.checkVisibility(each, { visibilityProperty: true }),
);

/** @type {(element: AnyElement, attribute: string) => string[]} */
const idsOf = (element, attribute) => (own.getAttribute(element, attribute) ?? "").split(/\s+/).filter(Boolean);

/**
 * Return the name that a screen reader uses, as far as the rules for links need it.
 *
 * @type {(link: AnyElement) => string}
 */
function nameOf(link) {
  const labels = idsOf(link, "aria-labelledby").map(
    (id) => /** @type {ShadowRoot} */ (link.getRootNode()).querySelector(`#${CSS.escape(id)}`)?.textContent ?? "",
  );
  const inside = [...link.querySelectorAll("img[alt], svg title")]
    .map((each) => /** @type {AnyElement} */ (each).alt ?? own.textContent(each))
    .join(" ");
  return oneLine(
    labels.join(" ").trim() ||
      link.getAttribute("aria-label") ||
      `${link.textContent} ${inside}` ||
      link.getAttribute("title"),
    200,
  );
}

// A page may change or remove its links while some are requested.
/** Elements that are announced as links, and that a script opens. */
const scripted = elements.filter(
  (each) =>
    own.getAttribute(each, "role") === "link" && !links.includes(each) && addressInHandler(each) && isVisible(each),
);
const allLinks = [...links, ...scripted];
/** @type {Map<AnyElement, string>} */
const hrefs = new Map(
  allLinks.map((link) => [
    link,
    (own.getAttribute(link, "href") ?? own.getAttribute(link, "xlink:href") ?? addressInHandler(link) ?? "").trim(),
  ]),
);
/** @type {(link: AnyElement) => string} */
const hrefOf = (link) => hrefs.get(link) ?? "";
/** @type {Map<AnyElement, URL | null>} */
const urls = new Map(allLinks.map((link) => [link, URL.parse(hrefOf(link), own.baseURI(document))]));
/** @type {(link: AnyElement) => URL | null} */
const urlOf = (link) => urls.get(link) ?? null;
/** @type {(link: AnyElement) => string} */
const pathOf = (link) => urlOf(link)?.pathname ?? "";
/** @type {(url: URL | Location) => string} */
const withoutHash = (url) => url.href.split("#", 1)[0];
/** @type {(link: AnyElement) => string} */
const addressOf = (link) => withoutHash(urlOf(link) ?? location);
/** @type {(url: URL | null) => boolean} */
const isWeb = (url) => url?.protocol === "http:" || url?.protocol === "https:";
/** @type {(url: URL | null) => boolean} */
const isHere = (url) => isWeb(url) && url?.origin === location.origin;

/** @type {(link: AnyElement) => boolean} */
const mayChange = (link) =>
  CHANGES.test(pathOf(link) + (urlOf(link)?.search ?? "")) ||
  CHANGES.test(nameOf(link).replace(/\s+/g, "-")) ||
  ["data-method", "data-confirm", "data-turbo-method", "data-remote", "ping"].some((each) => link.hasAttribute(each));

/**
 * Return the status, or null if it cannot be known: a redirect to another site, a policy, or no answer in time.
 *
 * @type {(url: string, method?: string) => Promise<number | null>}
 */
async function statusOf(url, method = "HEAD") {
  try {
    const response = await fetch(url, {
      method,
      signal: AbortSignal.timeout(EACH_MS),
      headers: { accept: "text/html,*/*;q=0.8" },
    });
    response.body?.cancel();
    return response.status;
  } catch {
    return null;
  }
}

/**
 * Return the status of an address. A server may refuse HEAD, or answer it wrongly: only what GET says as well counts.
 *
 * @type {(url: string) => Promise<number | null>}
 */
async function statusFor(url) {
  const status = await statusOf(url);
  return status !== null && status >= 400 ? statusOf(url, "GET") : status;
}

/** @type {(urls: string[]) => Promise<Map<string, number | null>>} */
async function askAll(urls) {
  const statuses = /** @type {Map<string, number | null>} */ (new Map()),
    waiting = [...urls],
    until = performance.now() + ALL_MS;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (performance.now() < until) {
        const url = waiting.shift();
        if (url === undefined) break;
        statuses.set(url, await statusFor(url));
      }
    }),
  );
  return statuses;
}

/** @type {(link: AnyElement) => boolean} */
const isControl = (link) =>
  /^(button|tab|menuitem|menuitemcheckbox|option|switch|checkbox)$/.test(link.getAttribute("role") ?? "");
const HANDLED =
  /^(onclick$|aria-(controls|haspopup|expanded)$|data-(bs-)?(toggle|target|action|modal|dialog|controller|slide|tab|scroll)|@click|x-on:|v-on:|ng-click|jsaction)/;
/** @type {(link: AnyElement) => boolean} */
const isScripted = (link) =>
  isControl(link) ||
  [...link.attributes].some((each) => HANDLED.test(each.name)) ||
  /(^|\s)js-/.test(link.getAttribute("class") ?? "");

/**
 * Return the links to places of this page that it does not have. `#top` and an empty fragment lead to the top; `#/` and
 * `#!` are routes of a script; axe-core checks skip links.
 *
 * @returns {AnyElement[]}
 */
function missingFragments() {
  const first = links.find((each) => !hrefOf(each).startsWith("#"));
  /** @type {(each: AnyElement) => boolean} */
  const isSkip = (each) =>
    !first ||
    (Boolean(own.compareDocumentPosition(each, first) & Node.DOCUMENT_POSITION_FOLLOWING) && !isVisible(each));
  return links.filter((link) => {
    const url = urlOf(link);
    if (!url?.hash || withoutHash(url) !== location.href.split("#", 1)[0] || isScripted(link) || isSkip(link))
      return false;
    const raw = url.hash.slice(1),
      id = decodeText(raw);
    return (
      !/^(top)?$|^[/!?]|^:~:|=/i.test(id) &&
      !own.getElementById(document, id) &&
      !own.getElementById(document, raw) &&
      !own.getElementsByName(document, id).length
    );
  });
}

/** @type {(text: string) => string} */
function decodeText(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** In a table of contents, `#` means the top too, and a `#` with the name of this page means this page. */
const CONTENTS = "nav, aside, ul, ol, [role=navigation], [id*=sidebar], [class*=sidebar], [id*=toc], [class*=toc]";
/** @type {(link: AnyElement) => unknown} */
const isHereItself = (link) =>
  link.hasAttribute("aria-current") ||
  link.closest("h1, h2, h3, h4, h5, h6") ||
  documentTitle().includes(nameOf(link) || "\0");
/** @type {(link: AnyElement) => boolean} */
const isAmongPlaces = (link) =>
  (link.closest(CONTENTS)?.querySelectorAll('a[href^="#"]:not([href="#"])').length ?? 0) > 1;

/**
 * Return the links that are buttons. Links with `#` and `javascript:` do nothing without a script and cannot be opened
 * in a tab, but are announced as links.
 *
 * @returns {AnyElement[]}
 */
function linksAsButtons() {
  return links.filter((link) => {
    const href = hrefOf(link);
    const isTop =
      TO_TOP.test(`${nameOf(link)} ${link.getAttribute("title") ?? ""}`) || isHereItself(link) || isAmongPlaces(link);
    return !isControl(link) && (/^javascript:/i.test(href) || (href === "#" && !isTop));
  });
}

/**
 * Return the name of a link in lower case, without dots and arrows at its end.
 *
 * @type {(link: AnyElement) => string}
 */
function plainName(link) {
  const name = nameOf(link);
  let end = name.length;
  while (end && /[\s.…:!›»→>]/.test(name[end - 1])) end--;
  return name.slice(0, end).toLowerCase();
}

/**
 * Return the links with the same uninformative name, which no sentence continues, that lead to different pages.
 *
 * @returns {AnyElement[]}
 */
function vague() {
  /** @type {(link: AnyElement) => boolean} */
  const goesOn = (link) => /^\s*[\p{L}\p{N}(]/u.test(own.textContent(link.nextSibling) ?? "");
  const some = links.filter(
    (each) =>
      VAGUE.test(plainName(each)) && !own.hasAttribute(each, "aria-describedby") && isWeb(urlOf(each)) && !goesOn(each),
  );
  const targets = new Map(some.map((each) => [plainName(each), new Set()]));
  for (const each of some) targets.get(plainName(each))?.add(urlOf(each)?.href);
  return some.filter((each) => (targets.get(plainName(each))?.size ?? 0) > 1);
}

/** @type {(some: AnyElement[]) => Set<string>} */
const sitesOf = (some) => new Set(some.map((each) => (urlOf(each)?.hostname ?? "").replace(/^www\./, "")));

/** @typedef {{ links: AnyElement[], isSure: boolean }} SameName links of one name; `isSure` if they also confuse unread */

/**
 * Return the groups of links of one name within one part of the page. In a list or a paragraph of links without text
 * beside them that distinguishes them, they confuse readers unless their targets are known to be the same; in running
 * text, only if the targets are known to differ.
 *
 * @returns {SameName[]}
 */
function sameNamesInContext() {
  /** @type {(link: AnyElement) => AnyElement | null} */
  const contextOf = (link) => (link.closest("tr") ? null : link.closest("p, ul, ol, menu, nav"));
  /** @type {(link: AnyElement) => boolean} */
  const isBare = (link) => {
    const paragraph = link.closest("p");
    return paragraph
      ? isParagraphOfLinks(paragraph)
      : plainName(/** @type {Element | null} */ (link.closest("li")) ?? link) === plainName(link);
  };
  const named = allLinks.filter(isNamed);
  /** @type {(link: AnyElement) => AnyElement | null} */
  const listOf = (link) => (isBare(link) ? contextOf(link) : null);
  const bare = groupsOf(named, listOf);
  const inText = groupsOf(named, (each) => (listOf(each) ? null : blockOf(each)));
  return [
    ...bare.map((some) => ({ links: some, isSure: true })),
    ...inText.map((some) => ({ links: some, isSure: false })),
  ];
}

/** Parts of which a sentence or a heading may distinguish the links. */
const BLOCKS = "p, li, td, dd, div, section, article, main, body";

/**
 * Return the part of the page whose text says what a link is about: a block, or what follows the last heading in it.
 *
 * @type {(link: AnyElement) => AnyElement | null}
 */
function blockOf(link) {
  const block = own.closest(link, BLOCKS);
  for (let each = /** @type {AnyElement | null} */ (link); each && each !== block; each = own.parentElement(each)) {
    for (let before = own.previousElementSibling(each); before; before = own.previousElementSibling(before))
      if (/^h[1-6]$/.test(own.localName(before))) return before;
  }
  return block;
}

/** @type {(link: AnyElement) => boolean} */
const isNamed = (link) =>
  /\p{L}{3}/u.test(plainName(link)) &&
  !VAGUE.test(plainName(link)) &&
  !link.hasAttribute("hreflang") &&
  !link.closest("[aria-hidden=true]") &&
  isWeb(urlOf(link)) &&
  isVisible(link);

/**
 * Return the links of one name in one context that have different addresses.
 *
 * @type {(some: AnyElement[], contextOf: (link: AnyElement) => object | null) => AnyElement[][]}
 */
function groupsOf(some, contextOf) {
  /** @type {Map<object, Map<string, AnyElement[]>>} */
  const groups = new Map();
  for (const link of some) {
    const context = contextOf(link);
    if (!context) continue;
    const group = groups.get(context) ?? new Map();
    groups.set(context, group);
    group.set(plainName(link), [...(group.get(plainName(link)) ?? []), link]);
  }
  return [...groups.values()]
    .flatMap((group) => [...group.values()])
    .filter((each) => new Set(each.map(targetOf)).size > 1);
}

/**
 * Return whether all words of a paragraph are in its links: other words of a sentence say where its links lead.
 *
 * @type {(paragraph: AnyElement) => boolean}
 */
function isParagraphOfLinks(paragraph) {
  const all = own.textContent(paragraph).match(/\p{L}/gu)?.length ?? 0;
  const linked = [...own.querySelectorAll(paragraph, "a[href]")].map(
    (each) => own.textContent(each).match(/\p{L}/gu)?.length ?? 0,
  );
  return linked.reduce((sum, each) => sum + each, 0) === all;
}

/**
 * Return what a URL leads to: the same for spellings that servers treat alike.
 *
 * @type {(link: AnyElement) => string}
 */
function targetOf(link) {
  const url = urlOf(link);
  if (!url) return hrefOf(link);
  const path = url.pathname.replace(/\/index\.\w{1,5}$/, "/").replace(/\/$/, "");
  const kept = [...url.searchParams].filter(([name]) => !/^(utm_|ref$|source$|fbclid$|gclid$)/.test(name));
  return `${url.host.replace(/^www\./, "")}${path}?${kept
    .map((pair) => pair.join("="))
    .sort()
    .join("&")}`;
}

/**
 * Return the links whose targets differ. Targets of this site that can be read are compared.
 *
 * @type {(groups: SameName[]) => Promise<AnyElement[]>}
 */
async function leadingElsewhere(groups) {
  /** @type {AnyElement[]} */
  const found = [];
  /** @type {Map<string, ReturnType<typeof contentOf>>} */
  const asked = new Map();
  /** @type {(url: string) => ReturnType<typeof contentOf>} */
  const askOnce = (url) => {
    const known = asked.get(url) ?? (asked.size < MOST_READ ? contentOf(url) : Promise.resolve(null));
    asked.set(url, known);
    return known;
  };
  for (const { links: some, isSure } of groups) {
    const isReadable = some.every((each) => isHere(urlOf(each)) && !mayChange(each));
    const addresses = [...new Set(some.map(addressOf))];
    const contents = isReadable && addresses.length <= AT_ONCE ? await Promise.all(addresses.map(askOnce)) : [null];
    const read = contents.filter((each) => each !== null);
    const known = read.length === contents.length ? await asShown(read) : [null];
    const isKnown = known.every((each) => each !== null);
    const isSame = isKnown && known.every((each) => each && known[0] && isAlike(each, known[0]));
    if ((isKnown || isSure) && !isSame) found.push(...some);
  }
  return found;
}

/**
 * Return whether the link has an icon, which may say that it opens a window.
 *
 * @returns {AnyElement[]}
 */
function unannounced() {
  /** @type {(each: AnyElement) => boolean} */
  const isDrawn = (each) =>
    ["::before", "::after"].some((part) => !["none", "normal", '""'].includes(getComputedStyle(each, part).content));
  /** @type {(link: AnyElement) => string} */
  const describedBy = (link) =>
    idsOf(link, "aria-describedby")
      .map((id) => own.getElementById(document, id)?.textContent ?? "")
      .join(" ");
  /** @type {(link: AnyElement) => boolean} */
  const isAnnouncedBeside = (link) => {
    const around = link.closest("li, p, td");
    return (
      around !== null &&
      own.querySelectorAll(around, "a[target]").length === 1 &&
      NEW_WINDOW.test(own.textContent(around) ?? "")
    );
  };
  /** @type {(link: AnyElement) => boolean} */
  const isAnnounced = (link) =>
    NEW_WINDOW.test(`${link.textContent} ${nameOf(link)} ${link.getAttribute("title") ?? ""} ${describedBy(link)}`) ||
    isAnnouncedBeside(link);
  /** @type {(link: AnyElement) => unknown} */
  const hasIcon = (link) =>
    link.querySelector("img, svg, i, [class*=icon]") || [link, ...link.querySelectorAll("*")].some(isDrawn);
  return links.filter(
    (each) =>
      opensWindow(own.getAttribute(each, "target") ?? "") &&
      isVisible(each) &&
      isWeb(urlOf(each)) &&
      !isAnnounced(each) &&
      !hasIcon(each),
  );
}

/**
 * Return whether links with this target open a window: one without a name, or of a name that no frame has.
 *
 * @type {(target: string) => boolean}
 */
function opensWindow(target) {
  const name = target.toLowerCase();
  if (name.startsWith("_")) return name === "_blank";
  return (
    name !== "" &&
    window.name !== target &&
    ![...own.querySelectorAll(document, "iframe, frame, object")].some(
      (each) => own.getAttribute(each, "name") === target,
    )
  );
}

/** @returns {AnyElement[]} */
function unusable() {
  return links.filter((link) => {
    const [, scheme, rest] = /^(mailto|tel|sms):([^?]*)/i.exec(hrefOf(link)) ?? [];
    const address = decodeText(rest ?? "").trim();
    if (!scheme) return false;
    if (scheme.toLowerCase() !== "mailto") return !/\d{3}|\d[\s()-]?\d/.test(address);
    return address ? !/^[^\s@,]+@[^\s@]+$|,|;/.test(address) : !/[?&](subject|body|to)=/i.test(hrefOf(link));
  });
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\]|0\.0\.0\.0)$/;
/** @returns {AnyElement[]} */
const onlyHere = () =>
  links.filter((each) => {
    const url = urlOf(each);
    return url?.protocol === "file:"
      ? location.protocol !== "file:"
      : isWeb(url) && LOOPBACK.test(url?.hostname ?? "") && !LOOPBACK.test(location.hostname);
  });

/** @returns {string} */
function tally() {
  /** @type {(link: AnyElement) => string} */
  const placeOf = (link) => {
    const url = urlOf(link);
    if (isHere(url)) return addressOf(link) === withoutHash(location) ? "same page" : "this site";
    return isWeb(url) ? "other sites" : (url?.protocol ?? "not an address");
  };
  const places = Object.groupBy(links, placeOf);
  return Object.entries(places)
    .map(([place, some]) => `${some?.length} to ${place}`)
    .join(", ");
}

/**
 * Return the frames of one name whose documents serve different purposes.
 *
 * @returns {AnyElement[]}
 */
function framesOfOneName() {
  const frames = elements.filter(
    (each) => each.localName === "iframe" && isVisible(each) && !each.closest("[aria-hidden=true]"),
  );
  const groups = Object.groupBy(frames, (each) => frameNameOf(each).toLowerCase());
  return Object.entries(groups).flatMap(([name, some = []]) => {
    const words = some.map(wordsOfFrame).filter((each) => each?.size);
    const isSame = words.every((each) => each && words[0] && hasMostWordsOf(each, words[0]));
    return !name || words.length < some.length || isSame ? [] : some;
  });
}

/** @type {(frame: AnyElement) => string} */
const frameNameOf = (frame) =>
  oneLine(
    idsOf(frame, "aria-labelledby")
      .map((id) => document.getElementById(id)?.textContent ?? "")
      .join(" ")
      .trim() ||
      frame.getAttribute("aria-label") ||
      frame.getAttribute("title"),
    200,
  );

/** @type {(frame: AnyElement) => Set<string> | null} */
function wordsOfFrame(frame) {
  try {
    const page = frame.contentDocument;
    if (!page?.body) return null;
    const body = /** @type {HTMLElement} */ (page.body.cloneNode(true));
    for (const each of body.querySelectorAll(REPEATED)) each.remove();
    return wordsOf(`${page.title} ${body.textContent}`);
  } catch {
    return null;
  }
}

/** @returns {Promise<Record<string, any>>} */
export async function answer() {
  const asked = links.filter((each) => isHere(urlOf(each)) && addressOf(each) !== withoutHash(location));
  const safe = asked.filter((each) => !mayChange(each));
  const all = [...new Set(safe.map(addressOf))];
  const statuses = await askAll(all.slice(0, MOST_ASKED));
  /** @type {(link: AnyElement) => number} 0 where the status is not known */
  const statusAt = (link) => statuses.get(addressOf(link)) ?? 0;
  const broken = safe.filter((each) => statusAt(each) === 404 || statusAt(each) === 410 || statusAt(each) >= 500);
  const ambiguous = await leadingElsewhere(sameNamesInContext().slice(0, MAX_GROUPS));
  const everywhere = groupsOf(allLinks.filter(isNamed), () => document).filter(
    (some) => !some.some((each) => ambiguous.includes(each)),
  );
  // A page of another site is another page; those of this site are compared.
  const apart = await leadingElsewhere(
    everywhere.slice(0, MAX_GROUPS).map((some) => ({ links: some, isSure: sitesOf(some).size > 1 })),
  );
  const known = [...statuses.values()].filter((each) => each !== null).length;
  const elsewhere = links.map(urlOf).filter((each) => isWeb(each) && !isHere(each));
  const others = [...new Set(elsewhere.map((each) => each?.hostname))];
  const more = others.length > 10 ? `, and ${others.length - 10} more` : "";
  const left = [
    [all.length - statuses.size, "were too many"],
    [statuses.size - known, "gave no answer that counts"],
    [asked.length - safe.length, "links were left alone, for to follow them may change something"],
  ]
    .filter(([count]) => count)
    .map(([count, why]) => `; ${count} ${why}`)
    .join("");
  return runRules({
    facts: () => [
      `Links (${links.length}): ${tally() || "none"}.${others.length ? ` Other sites, not asked: ${others.slice(0, 10).join(", ")}${more}.` : ""}`,
      `Of ${all.length} addresses of this site ${known} answered${left}.`,
      ...(links.length
        ? [`Link texts: ${[...new Set(links.map((each) => oneLine(nameOf(each), 40)).filter(Boolean))].join(" · ")}`]
        : []),
    ],
    broken: () => describeAll(broken, (each) => `status ${statusAt(each)}: ${pathOf(each)}`),
    "missing-fragment": () =>
      describeAll(missingFragments(), (each) => {
        const hash = urlOf(each)?.hash ?? "";
        return `nothing has the id ${oneLine(decodeText(hash.slice(1)))}`;
      }),
    "link-as-button": () => describeAll(linksAsButtons(), (each) => `href="${oneLine(hrefOf(each))}"`),
    "vague-text": () => describeAll(vague(), (each) => `“${nameOf(each)}” leads to ${pathOf(each)}`),
    "same-text": () => describeAll(ambiguous, (each) => `“${nameOf(each)}” leads to ${pathOf(each)}`),
    "same-frame-name": () => describeAll(framesOfOneName(), (each) => `“${frameNameOf(each)}” shows another document`),
    "same-name": () => describeAll(apart, (each) => `“${nameOf(each)}” leads to ${pathOf(each)}`),
    "new-window": () => describeAll(unannounced(), (each) => `target="${oneLine(own.getAttribute(each, "target"))}"`),
    "unusable-address": () => describeAll(unusable(), (each) => oneLine(hrefOf(each))),
    "local-address": () => describeAll(onlyHere(), (each) => oneLine(hrefOf(each))),
  });
}
