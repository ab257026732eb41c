// The nodes that an event at the mouse passes.

/**
 * Return a node and its ancestors, also out of shadow trees.
 *
 * @type {(node: Node) => Node[]}
 */
export function pathOf(node) {
  const path = [];
  for (let at = /** @type {Node | null} */ (node); at; ) {
    path.push(at);
    at = at.parentNode ?? (at instanceof ShadowRoot ? at.host : null);
  }
  return path;
}
