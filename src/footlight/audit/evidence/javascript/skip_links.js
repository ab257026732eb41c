// Find the skip link of the page and focus it. The collector presses Enter and Tab, and asks then where the focus landed.

import { allElements, describeAll, documentBody, documentRoot, oneLine, own, selectorOf, textOf } from "./dom.js";

const SKIP = Symbol.for("footlight.skip");
const FIRST = 3;
const LANDING_MS = 1000;
const QUIET_LANDING_MS = 100;
const NAMES =
  /\b(skip|jump|go|straight)\b.{0,60}\b(to|content|main|nav|menu|past)|\bmain content\b|(spring|zum|zur|direkt).{0,60}(inhalt|navigation)|hauptinhalt|(aller|passer|accéder).{0,60}(contenu|principal)|(ir|saltar|pasar).{0,60}(contenido|principal)|(vai|salta).{0,60}contenuto|(ga|direct|spring).{0,60}inhoud|(ir|pular|saltar).{0,60}conteúdo|till.{0,60}innehåll/i;
const TABBABLE =
  'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]:not([tabindex^="-"])';

/** @returns {Record<string, any>} */
export function answer() {
  const first = allElements().filter(canTakeTab).slice(0, FIRST);
  const link = first.find((each) => own.matches(each, 'a[href*="#"]') && isSkip(each));
  if (!link) return { found: false };
  const address = location.href;
  const target = targetOf(link);
  link.focus?.({ preventScroll: true });
  Object.defineProperty(window, SKIP, {
    value: { land, judge: () => judge(link, target, address) },
    configurable: true,
  });
  return { found: true };
}

/** @type {(element: AnyElement) => boolean} */
const canTakeTab = (element) =>
  own.matches(element, TABBABLE) &&
  !element.disabled &&
  !own.closest(element, "[inert]") &&
  own.checkVisibility(element, { visibilityProperty: true });

/** @type {(link: AnyElement) => boolean} */
const isSkip = (link) =>
  (link.hash ?? "").length > 1 &&
  link.pathname === location.pathname &&
  NAMES.test(oneLine(own.getAttribute(link, "aria-label") || own.textContent(link), 100));

/** @type {(link: AnyElement) => AnyElement | null} */
function targetOf(link) {
  const raw = (link.hash ?? "").slice(1);
  let id = raw;
  try {
    id = decodeURIComponent(raw);
  } catch {
    // An id may have a percent sign.
  }
  return (
    own.getElementById(document, id) ??
    own.getElementById(document, raw) ??
    own.getElementsByName(document, id)[0] ??
    null
  );
}

/**
 * Wait until the page has done what the link makes it do: the focus rests.
 *
 * @returns {Promise<null>}
 */
async function land() {
  const until = performance.now() + LANDING_MS;
  let focus = active(),
    since = performance.now();
  while (performance.now() < until && performance.now() - since < QUIET_LANDING_MS) {
    await new Promise((resolve) => setTimeout(resolve, QUIET_LANDING_MS / 4));
    if (active() !== focus) [focus, since] = [active(), performance.now()];
  }
  return null;
}

/** @returns {AnyElement | null} */
function active() {
  let element = own.activeElement(document);
  for (let inner = element; inner; inner = own.shadowRoot(inner)?.activeElement ?? null) element = inner;
  return element === documentBody() || element === documentRoot() ? null : element;
}

/**
 * Say where Tab landed, if that is not in the target of the link or after it.
 *
 * @type {(link: AnyElement, target: AnyElement | null, address: string) => Record<string, any>}
 */
function judge(link, target, address) {
  delete (/** @type {any} */ (window)[SKIP]);
  if (location.href !== address) history.replaceState(history.state, "", address);
  const landed = active();
  landed?.blur?.();
  scrollTo(0, 0);
  // axe-core reports a target that is not on the page.
  const where = target && own.isConnected(target) ? failure(link, target, landed) : "";
  return { "skip-link": describeAll(where ? [link] : [], () => where) };
}

/** @type {(link: AnyElement, target: AnyElement, landed: AnyElement | null) => string} */
function failure(link, target, landed) {
  if (!landed) return "";
  const isReached =
    own.contains(target, landed) ||
    Boolean(own.compareDocumentPosition(target, landed) & Node.DOCUMENT_POSITION_FOLLOWING) ||
    own.closest(landed, "dialog, [role=dialog], [aria-modal=true]") !== null;
  if (isReached) return "";
  // Where nothing after the target takes the focus, Tab begins again at the top.
  const isAnyBehind = allElements().some(
    (each) => canTakeTab(each) && Boolean(own.compareDocumentPosition(target, each) & Node.DOCUMENT_POSITION_FOLLOWING),
  );
  const name = textOf(landed, 40) || selectorOf(landed);
  return isAnyBehind
    ? `after Enter on it, Tab leads to “${landed === link ? "itself" : name}”, before ${selectorOf(target)}`
    : "";
}
