// Text fields and the fields of code editors.

/**
 * Return the number of characters of a text field without white space, or null for other elements.
 *
 * @type {(element: AnyElement) => number | null}
 */
export function textLength(element) {
  const types = ["text", "search", "url", "tel", "email", "password", "number", "textarea"];
  if (!element.isContentEditable && !types.includes(element.type ?? "")) return null;
  return bare(textOf(element)).length;
}

/** @type {(element: AnyElement) => string} */
export function textOf(element) {
  return /** @type {string} */ (element.isContentEditable ? element.innerText : element.value);
}

/** @type {(text: string) => string} */
export function bare(text) {
  return text.replace(/\s+/g, "");
}

/** @type {(element: Element) => boolean} */
export const isCodeEditor = (element) =>
  element.closest(".CodeMirror, .cm-editor, .ace_editor, .monaco-editor") !== null;

/**
 * Return whether an element receives text that the page draws elsewhere (EditContext), as in Monaco. It may have no size.
 *
 * @type {(element: AnyElement) => boolean}
 */
export const hasEditContext = (element) => Boolean(element.editContext);

/**
 * Return whether an element is the field of a code editor, which keeps its text elsewhere.
 *
 * @type {(element: Element & { isContentEditable?: boolean }) => boolean}
 */
export function isEditor(element) {
  if (hasEditContext(element)) return true;
  const isText = element instanceof HTMLTextAreaElement;
  if (!(isText || element.isContentEditable) || element.checkVisibility?.() === false) return false;
  if (isCodeEditor(element)) return true;
  if (!isText) return false;
  // A field that is not visible and has the focus on behalf of another element.
  if (element.checkVisibility?.({ opacityProperty: true }) === false) return true;
  /** @type {Element | null} */
  let at = element;
  for (let up = 0; at && up < 3; up++) {
    const isNarrow = at.clientWidth < 4 || at.clientHeight < 4;
    if (isNarrow && (at === element || getComputedStyle(at).overflow !== "visible")) return true;
    at = at.parentElement;
  }
  return false;
}
