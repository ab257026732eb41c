/**
 * Return the getter of an attribute of a DOM interface. A page cannot shadow it, but its names shadow members of its
 * forms and its document.
 *
 * @type {<T, K extends keyof T>(type: { prototype: T }, name: K) => (this: T) => T[K]}
 */
export const getter = (type, name) =>
  /** @type {{ get: () => any }} */ (Object.getOwnPropertyDescriptor(type.prototype, name)).get;
