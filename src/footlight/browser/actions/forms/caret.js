// Prepare a field for keys.

import { isCodeEditor, isEditor, textLength } from "./editor.js";
import { fieldOf } from "./field.js";

/**
 * Move the caret to the end of a field. Return the key that does it if a script cannot, or why the element accepts no
 * text, and the length of the current text.
 *
 * @type {(element: HTMLElement) => [reply: string | null, length: number | null]}
 */
export function moveCaretToEnd(element) {
  const editable = element.isContentEditable;
  const isField = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
  if (isField && element.disabled) return ["it is disabled", null];
  if (isField && element.readOnly) return ["it is read-only", null];
  element.focus();
  const root = /** @type {Document | ShadowRoot} */ (element.getRootNode());
  if (!editable && root.activeElement !== element) return ["it does not take the focus", null];
  // Other hidden fields receive the keys of terminals and sheets, for which this key is a command.
  if (isEditor(element)) return [isCodeEditor(element) ? "ControlOrMeta+End" : null, null];
  if (!editable && !isField) return [null, null];
  const length = textLength(element);
  if (!isField || editable) {
    const selection = element.ownerDocument.getSelection();
    selection?.selectAllChildren(element);
    selection?.collapseToEnd();
    return [null, length];
  }
  const end = element.value.length;
  try {
    element.setSelectionRange(end, end);
    return [null, length];
  } catch {
    return ["End", length];
  }
}

/**
 * Return whether a field accepts a text of this length only by single keys.
 *
 * @type {(element: Element, length: number) => boolean}
 */
export function needsKeys(element, length) {
  const field = /** @type {HTMLInputElement} */ (fieldOf(element));
  return (
    (field.maxLength >= 0 && field.maxLength < length) ||
    ["date", "datetime-local", "month", "time", "week"].includes(field.type)
  );
}
