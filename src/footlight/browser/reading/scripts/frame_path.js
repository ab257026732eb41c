// The path to an element from the top document, through frames and shadow trees.

/** @typedef {[step: "top" | "frame" | "shadow" | "child", index: number]} Step */

const MAX_STEPS = 1000;

/** @type {(element: Element) => Step[]} */
export function findPath(element) {
  /** @type {Step[]} */
  const path = [];
  for (let at = /** @type {Element | null | undefined} */ (element); at && path.length < MAX_STEPS; ) {
    const parent = /** @type {ParentNode | null} */ (at.parentNode);
    if (parent?.nodeType === Node.DOCUMENT_FRAGMENT_NODE) {
      path.unshift(["shadow", [...parent.children].indexOf(at)]);
      at = /** @type {ShadowRoot} */ (parent).host;
    } else if (!parent || parent.nodeType === Node.DOCUMENT_NODE) {
      const frame = at.ownerDocument.defaultView?.frameElement;
      path.unshift([frame ? "frame" : "top", 0]);
      at = frame;
    } else {
      path.unshift(["child", [...parent.children].indexOf(at)]);
      at = /** @type {Element} */ (parent);
    }
  }
  return path;
}

/** @type {(path: Step[]) => Element | null} */
export function walkPath(path) {
  let at = /** @type {Element | null | undefined} */ (null);
  for (const [step, index] of path) {
    if (step === "top") at = document.documentElement;
    else if (step === "frame") at = /** @type {AnyElement | null} */ (at)?.contentDocument?.documentElement;
    else at = (step === "shadow" ? at?.shadowRoot : at)?.children[index];
    if (!at) return null;
  }
  return at ?? null;
}
