// Home: the account, its network, its balance, what it did.

import { button, h, short } from "../dom.js";
import { format } from "../ether.js";
import { go } from "../route.js";
import { ask } from "../worker.js";

export function overview(state, memory, redraw) {
  refreshBalance(state, memory, redraw);
  return h(
    "div",
    {},
    header(state, memory, redraw),
    memory.picking === "account" && accountPicker(state, memory, redraw),
    memory.picking === "network" && networkPicker(state, memory, redraw),
    h(
      "main",
      { class: "column" },
      h("h1", {}, "Home"),
      balance(state, memory),
      button("eth-overview-send", "Send", () => go("send")),
      state.tokens.length > 0 && tokens(state),
      activity(state),
    ),
  );
}

function header(state, memory, redraw) {
  const { account, network } = state;
  const pick = (what) => () => {
    memory.picking = what;
    redraw();
  };
  return h(
    "header",
    {},
    button("network-display", network.name, pick("network"), { "aria-haspopup": "dialog" }),
    button("account-menu-icon", account.name, pick("account"), { "aria-haspopup": "dialog" }),
    button("app-header-copy-button", short(account.address), () => navigator.clipboard.writeText(account.address), {
      "data-address": account.address,
      title: "Copy address",
    }),
    menu(memory, redraw),
  );
}

function menu(memory, redraw) {
  const toggle = () => {
    memory.menu = !memory.menu;
    redraw();
  };
  const item = (testid, name, onclick) => button(testid, name, onclick, { role: "menuitem" });
  return [
    button("account-options-menu-button", "⋮", toggle, {
      "aria-label": "Account options",
      "aria-haspopup": "menu",
      "aria-expanded": String(memory.menu === true),
    }),
    memory.menu &&
      h(
        "div",
        { role: "menu", "aria-label": "Account options" },
        item("global-menu-settings", "Settings", () => go("settings")),
        item("global-menu-lock", "Lock wallet", () => ask("lock")),
      ),
  ];
}

function accountPicker(state, memory, redraw) {
  const choices = state.accounts.map(({ id, name, address }) =>
    choice(`account-choice`, `${name} ${short(address)}`, id === state.account.id, () => ask("selectAccount", { id })),
  );
  return picker("Select an account", choices, memory, redraw);
}

function networkPicker(state, memory, redraw) {
  const choices = state.networks.map(({ id, name }) =>
    choice(`network-choice`, name, id === state.network.id, () => ask("selectNetwork", { id })),
  );
  return picker("Select a network", choices, memory, redraw);
}

function choice(testid, name, chosen, onclick) {
  return button(testid, name, onclick, { "aria-pressed": String(chosen) });
}

function picker(name, choices, memory, redraw) {
  const close = () => {
    memory.picking = undefined;
    redraw();
  };
  const list = h("div", { class: "column", onclick: close }, ...choices);
  return h(
    "div",
    { role: "dialog", "aria-label": name },
    h("h2", {}, name),
    list,
    button("picker-close", "Close", close),
  );
}

function balance(state, memory) {
  if (memory.balance !== undefined)
    return h("p", { testid: "eth-overview__primary-currency" }, format(memory.balance, state.network.currency));
  return h("p", { role: "status" }, memory.failed ? "Balance not available" : "Loading the balance");
}

/** Asked for whenever the state is new; what was known is shown meanwhile. */
async function refreshBalance(state, memory, redraw) {
  if (memory.askedFor === state) return;
  const of = `${state.account.id} ${state.network.id}`;
  if (memory.of !== of) memory.balance = undefined;
  memory.askedFor = state;
  memory.of = of;
  const known = await ask("balance").catch(() => undefined);
  if (memory.askedFor !== state) return;
  memory.balance = known;
  memory.failed = known === undefined;
  redraw();
}

function tokens({ tokens }) {
  const items = tokens.map(({ symbol, name }) => h("li", { testid: "token-list-item" }, name ?? symbol));
  return h("section", {}, h("h2", {}, "Tokens"), h("ul", {}, ...items));
}

function activity({ activity, network }) {
  const items = activity.toReversed().map(({ to, value, status }) =>
    h("li", { testid: "activity-list-item" }, `Sent ${format(value, network.currency)} to ${short(to)}: ${status}`),
  );
  return h(
    "section",
    {},
    h("h2", {}, "Activity"),
    items.length ? h("ul", {}, ...items) : h("p", { role: "status" }, "You have no transactions"),
  );
}
