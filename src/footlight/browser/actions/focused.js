// The element that has the focus.

/**
 * Return the element that has the focus, also in open shadow roots. Null where only the body has it.
 *
 * @type {() => Element | null}
 */
export function findFocused() {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  return focused === document.body ? null : focused;
}
