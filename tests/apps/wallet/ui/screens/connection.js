// A site asks to see the account.

import { button, h, short } from "../dom.js";
import { ask } from "../worker.js";

export function connection({ approval, others, state }) {
  const answer = (method) => () => ask(method, { id: approval.id });
  return h(
    "main",
    { testid: "connect-page", role: "dialog", "aria-label": "Connect", class: "column" },
    h("h1", {}, "Connect this website"),
    h("p", {}, approval.origin),
    h("p", {}, `It will see ${state.account.name} (${short(state.account.address)}) on ${state.network.name}.`),
    others > 0 && h("p", { role: "status" }, `1 of ${others + 1} requests`),
    h(
      "div",
      { class: "row" },
      button("cancel-btn", "Cancel", answer("cancel")),
      button("confirm-btn", "Connect", answer("confirm")),
    ),
  );
}
