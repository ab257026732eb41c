/**
 * Return the getter of a member that the DOM declares as an attribute of the interface. A page cannot shadow it, as its
 * names shadow members of its forms and its document.
 *
 * @type {<T, K extends keyof T>(type: { prototype: T }, name: K) => (this: T) => T[K]}
 */
export const getter = (type, name) =>
  /** @type {{ get: () => any }} */ (Object.getOwnPropertyDescriptor(type.prototype, name)).get;
