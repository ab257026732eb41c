// Members of the DOM from their prototypes: a field named "parentNode" shadows `form.parentNode`.

/** @type {(type: {prototype: object}, name: string) => (this: any) => any} */
export function accessor(type, name) {
  const get = Object.getOwnPropertyDescriptor(type.prototype, name)?.get;
  return /** @type {(this: any) => any} */ (get);
}
