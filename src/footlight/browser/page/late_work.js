// Says whether an action has begun something that often shows only after a pause: an upload of a file that the page
// reads first, suggestions that wait until nobody types, a submenu that opens a moment after the mouse has come.

const SEARCHES = `input[type=search], [role=searchbox], [role=combobox], [aria-autocomplete=list],
  [aria-autocomplete=both]`;
const CLOSED_MENUS = "[aria-haspopup]:not([aria-haspopup=false], [aria-expanded=true])";

const { closest, matches } = Element.prototype;

/** @typedef {"upload" | "suggestions" | "submenu"} LateWork */

/** @type {LateWork | null} */
let begun = null;

/** @type {(event: Event) => LateWork | null} */
function lateWorkOf(event) {
  const target = event.composedPath()[0];
  if (!(target instanceof Element)) return null;
  switch (event.type) {
    case "drop":
      return /** @type {DragEvent} */ (event).dataTransfer?.types.includes("Files") ? "upload" : null;
    case "mouseover":
      return closest.call(target, CLOSED_MENUS) ? "submenu" : null;
    case "input":
      if (matches.call(target, SEARCHES)) return "suggestions";
  }
  return target instanceof HTMLInputElement && target.files?.length ? "upload" : null;
}

for (const type of ["change", "drop", "input", "mouseover"])
  addEventListener(type, (event) => (begun = lateWorkOf(event) ?? begun), { capture: true, passive: true });

// A press opens a menu at once.
addEventListener("pointerdown", () => (begun = null), { capture: true, passive: true });

/**
 * Return what has begun since the last call, or null.
 *
 * @returns {LateWork | null}
 */
export function takeLateWork() {
  const taken = begun;
  begun = null;
  return taken;
}
