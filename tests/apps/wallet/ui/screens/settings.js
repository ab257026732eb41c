import { button, field, h } from "../dom.js";
import { go } from "../route.js";
import { ask } from "../worker.js";

const NOTIFICATIONS = { transactions: "Transactions", news: "News" };
const DEFAULTS = { transactions: true, news: false, currency: "usd", theme: "light", testNetworks: false };

export function settings(state) {
  const preferences = { ...DEFAULTS, ...state.preferences };
  return h(
    "main",
    { testid: "settings-page", class: "column" },
    h("div", { class: "row" }, h("h1", {}, "Settings"), button("settings-close", "Close", () => go(""))),
    h("h2", {}, "Connected sites"),
    state.sites.length
      ? removable("connected-site", state.sites, (origin) => ask("disconnect", { origin }))
      : h("p", { role: "status" }, "No site is connected"),
    h("h2", {}, "Contacts"),
    removable("contact", state.contacts, (name) => ask("removeContact", { name })),
    notifications(preferences),
    theme(preferences),
    advanced(preferences),
    h("a", { href: "https://wallet.test/help", target: "_blank", testid: "settings-help" }, "Help"),
  );
}

/** Each has a button of the same name, and only its own row says what it removes. */
function removable(testid, names, remove) {
  const rows = names.map((name) =>
    h("li", { class: "row", testid }, h("span", {}, name), button(`${testid}-remove`, "Remove", () => remove(name))),
  );
  return h("ul", {}, ...rows);
}

function notifications(preferences) {
  const kinds = Object.keys(NOTIFICATIONS);
  const chosen = kinds.filter((kind) => preferences[kind]);
  const all = h("input", {
    type: "checkbox",
    testid: "notifications-all",
    checked: chosen.length === kinds.length,
    indeterminate: chosen.length > 0 && chosen.length < kinds.length,
    onchange: () => ask("prefer", Object.fromEntries(kinds.map((kind) => [kind, all.checked]))),
  });
  const each = kinds.map((kind) => {
    const box = tick(`notifications-${kind}`, preferences[kind], (checked) => ask("prefer", { [kind]: checked }));
    return h("label", {}, box, ` ${NOTIFICATIONS[kind]}`);
  });
  return h(
    "fieldset",
    {},
    h("legend", {}, "Notifications"),
    h("label", {}, all, " All notifications"),
    ...each,
  );
}

function theme(preferences) {
  const choices = ["light", "dark"].map((name) => {
    const radio = tick(`theme-${name}`, preferences.theme === name, () => ask("prefer", { theme: name }), {
      type: "radio",
      name: "theme",
    });
    return h("label", {}, radio, ` ${name[0].toUpperCase()}${name.slice(1)}`);
  });
  return h("fieldset", {}, h("legend", {}, "Theme"), ...choices);
}

function advanced(preferences) {
  const testNetworks = tick(
    "show-test-networks",
    preferences.testNetworks,
    (checked) => ask("prefer", { testNetworks: checked }),
    { role: "switch" },
  );
  const options = ["usd", "eur"].map((code) =>
    h("option", { value: code, selected: preferences.currency === code }, code.toUpperCase()),
  );
  const currency = h(
    "select",
    { testid: "currency", onchange: ({ target }) => ask("prefer", { currency: target.value }) },
    ...options,
  );
  return h(
    "details",
    { testid: "settings-advanced" },
    h("summary", {}, "Advanced"),
    h("label", {}, testNetworks, " Show test networks"),
    field("Currency", currency),
  );
}

function tick(testid, checked, changed, attributes) {
  return h("input", {
    type: "checkbox",
    testid,
    checked,
    onchange: ({ target }) => changed(target.checked),
    ...attributes,
  });
}
