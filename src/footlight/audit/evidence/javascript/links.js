// Check where the links of the page lead, and what they are called. Some links of this site are requested, links of
// other sites never.

import { describeAll, documentTitle, isVisible, oneLine, own, runRules } from "./dom.js";
import { frameNameOf, framesOfOneName } from "./frame_names.js";
import {
  addressOf,
  allLinks,
  anyOf,
  hrefOf,
  idsOf,
  isHere,
  isWeb,
  links,
  mayChange,
  nameOf,
  pathOf,
  urlOf,
  withoutHash,
} from "./link_facts.js";
import { groupsOf, isNamed, leadingElsewhere, sameNamesInContext, sitesOf, vague } from "./link_names.js";
import { askAll } from "./link_requests.js";

const TO_TOP = /\b(top|up|oben|anfang|haut|arriba|inicio|su|topo|boven|góry)\b|[↑⇧▲⌃]|トップ|上/iu;

/** Words that announce that a link opens a window. */
// biome-ignore format: a table
const NEW_WINDOW = anyOf([
  '\\b(new|other|another|separate)\\b.*\\b(window|tab|page)\\b', 'neue[nsm]?\\s.*(fenster|tab)', 'nouve(l|lle|au)\\s.*(fenêtre|onglet)',
  'nueva (ventana|pestaña)', 'nuova (finestra|scheda)', 'nieuw (venster|tabblad)', 'nova (janela|guia|aba)', 'nowy[mn]? (oknie|karcie)',
  'extern(al|e|o)?\\b', 'esterno', '新しい(ウィンドウ|タブ)', '新窗口', '[↗⧉🡕⬀]',
], 'iu');

const MAX_REQUESTED = 50;
const MAX_GROUPS = 10;

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

/** @returns {Promise<Record<string, any>>} */
export async function answer() {
  const asked = links.filter((each) => isHere(urlOf(each)) && addressOf(each) !== withoutHash(location));
  const safe = asked.filter((each) => !mayChange(each));
  const all = [...new Set(safe.map(addressOf))];
  const statuses = await askAll(all.slice(0, MAX_REQUESTED));
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
