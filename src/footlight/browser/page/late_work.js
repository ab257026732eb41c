// Says whether an action has begun something that often shows only after a pause: an upload of a file that the page
// reads first, suggestions that wait until nobody types, a submenu or a tooltip that opens a moment after the mouse has
// come.

const SEARCHES = [
  "input[type=search], [role=searchbox], [role=combobox], [role=search] input, input[list], input[name=q]",
  "[aria-autocomplete=list], [aria-autocomplete=both]",
  ...["placeholder", "aria-label", "id", "name", "class"].flatMap((name) =>
    ["search", "filter", "query"].map((word) => `input[${name}*=${word} i]`),
  ),
].join();
const CLOSED_MENUS = "[aria-haspopup]:not([aria-haspopup=false], [aria-expanded=true])";

const { closest, matches } = Element.prototype;

/** @typedef {"upload" | "suggestions" | "submenu" | "tooltip"} LateWork */

/** @type {LateWork | null} */
let begun = null;
const shown = new MutationObserver(() => forget("tooltip"));

/** @type {(kind: LateWork | null) => void} */
function forget(kind) {
  if (begun === kind) begun = null;
  shown.disconnect();
}

/** @type {(event: Event) => LateWork | null} */
function lateWorkOf(event) {
  const target = event.composedPath()[0];
  if (!(target instanceof Element)) return null;
  switch (event.type) {
    case "drop":
      return /** @type {DragEvent} */ (event).dataTransfer?.types.includes("Files") ? "upload" : null;
    case "mouseover":
      if (closest.call(target, CLOSED_MENUS)) return "submenu";
      if (target instanceof HTMLCanvasElement) return null; // What is drawn on it, no document tells.
      shown.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      return "tooltip";
    case "input":
      if (matches.call(target, SEARCHES)) return "suggestions";
  }
  return target instanceof HTMLInputElement && target.files?.length ? "upload" : null;
}

for (const type of ["change", "drop", "input", "mouseover"])
  addEventListener(type, (event) => (begun = lateWorkOf(event) ?? begun), { capture: true, passive: true });

// A press opens a menu at once, and a wheel only needs the mouse over what it scrolls.
for (const type of ["pointerdown", "wheel"])
  addEventListener(type, () => forget(begun), { capture: true, passive: true });

/**
 * Return what has begun since the last call, or null.
 *
 * @returns {LateWork | null}
 */
export function takeLateWork() {
  const taken = begun;
  forget(taken);
  return taken;
}
