// The focused element.

/**
 * Return the focused element, also in open shadow roots, or null if only the body has the focus.
 *
 * @type {() => Element | null}
 */
export function findFocused() {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  return focused === document.body ? null : focused;
}
