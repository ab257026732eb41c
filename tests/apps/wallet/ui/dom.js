// Elements, made by a function.

/** An element. `on…` attributes are listeners, `testid` is short for `data-testid`, what is no text is a property. */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) set(element, name, value);
  element.append(...children.flat().filter((child) => child !== undefined && child !== false));
  return element;
}

function set(element, name, value) {
  if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (name === "testid") element.setAttribute("data-testid", value);
  else if (typeof value === "string") element.setAttribute(name, value);
  else element[name] = value;
}

/** A field under its label. */
export function field(label, input) {
  return h("label", { class: "column" }, label, input);
}

export function button(testid, name, onclick, attributes) {
  return h("button", { type: "button", testid, onclick, ...attributes }, name);
}

/** A form that cannot be sent until `isValid` says so; an error is told as an alert. */
export function form({ submit, isValid, onsubmit, error }, ...children) {
  const send = h("button", { type: "submit", testid: submit.testid, disabled: !isValid() }, submit.name);
  const update = () => (send.disabled = !isValid());
  return h(
    "form",
    {
      oninput: update,
      onsubmit: (event) => {
        event.preventDefault();
        if (isValid()) onsubmit();
      },
    },
    ...children,
    error && h("p", { role: "alert" }, error),
    send,
  );
}

export const short = (address) => `${address.slice(0, 7)}...${address.slice(-5)}`;
