// The ancestors of the element under the mouse.

/**
 * Return the ancestor this many levels above the found node, also out of shadow trees, or null.
 *
 * @type {(found: [styles: string, node: Node], levels: number) => Node | null}
 */
export function climb([, node], levels) {
  /** @type {Node | null} */
  let at = node;
  for (let step = 0; step < levels && at; step++) at = at.parentNode ?? (at instanceof ShadowRoot ? at.host : null);
  return at;
}
