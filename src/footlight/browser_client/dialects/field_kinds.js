// What `browser_fill_form` calls the kinds of fields, and the values that it expects for them.

/**
 * Return the server's name for the kind of a field, and the value: for an option its label.
 *
 * @type {(field: AnyElement, value: string) => [kind: string, value: string]}
 */
export function describeField(field, value) {
  const kind = kindOf(field);
  if (kind !== "combobox") return [kind, value];
  const options = [.../** @type {HTMLSelectElement} */ (field).options];
  const option = options.find((each) => each.label === value) ?? options.find((each) => each.value === value);
  return [kind, option ? option.label : value];
}

/** @type {(field: AnyElement) => string} */
function kindOf(field) {
  if (field.localName === "select") return "combobox";
  if (field.localName === "input") {
    if (field.type === "checkbox" || field.type === "radio") return field.type;
    if (field.type === "range") return "slider";
  }
  const role = field.getAttribute("role");
  if (role === "checkbox" || role === "radio") return role;
  return role === "switch" ? "checkbox" : "textbox";
}

/**
 * Return the same for the first match of each selector. What is not found counts as a text field.
 *
 * @type {(values: [selector: string, value: string][]) => [kind: string, value: string][]}
 */
export function describeFields(values) {
  return values.map(([selector, value]) => {
    const field = document.querySelector(selector);
    return field ? describeField(field, value) : ["textbox", value];
  });
}
