// Links whose names do not say where they lead, or are the same as those of links that lead elsewhere.

import { isVisible, own } from "./dom.js";
import { addressOf, allLinks, hrefOf, isHere, isWeb, links, mayChange, nameOf, urlOf } from "./link_facts.js";
import { AT_ONCE } from "./link_requests.js";
import { asShown, contentOf, isAlike } from "./link_targets.js";

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

/** How many targets of links of the same name are read. */
const MAX_PAGES_READ = 20;

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
export function vague() {
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
export const sitesOf = (some) => new Set(some.map((each) => (urlOf(each)?.hostname ?? "").replace(/^www\./, "")));

/** @typedef {{ links: AnyElement[], isSure: boolean }} SameName links of one name; `isSure` if they also confuse unread */

/**
 * Return the groups of links of one name within one part of the page. In a list or a paragraph of links without text
 * beside them that distinguishes them, they confuse readers unless their targets are known to be the same; in running
 * text, only if the targets are known to differ.
 *
 * @returns {SameName[]}
 */
export function sameNamesInContext() {
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
export const isNamed = (link) =>
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
export function groupsOf(some, contextOf) {
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
export async function leadingElsewhere(groups) {
  /** @type {AnyElement[]} */
  const found = [];
  /** @type {Map<string, ReturnType<typeof contentOf>>} */
  const asked = new Map();
  /** @type {(url: string) => ReturnType<typeof contentOf>} */
  const askOnce = (url) => {
    const known = asked.get(url) ?? (asked.size < MAX_PAGES_READ ? contentOf(url) : Promise.resolve(null));
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
    if ((isKnown || isSure) && !isSame) for (const each of some) found.push(each);
  }
  return found;
}
