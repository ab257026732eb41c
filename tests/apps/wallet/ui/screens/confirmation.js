// A transaction is to be sent, by a site or by ourselves.

import { button, h, short } from "../dom.js";
import { format } from "../ether.js";
import { ask } from "../worker.js";

export function confirmation({ approval, others = 0, state, memory, redraw, done }) {
  const { from, to, value = "0x0", data } = approval.transaction;
  const answer = (method) => async () => {
    if (memory.answered) return;
    memory.answered = true;
    redraw();
    await ask(method, { id: approval.id });
    done();
  };
  const facts = {
    "Requested by": approval.origin,
    From: short(from),
    To: to ? short(to) : "New contract",
    Amount: format(value, state.network.currency),
    Network: state.network.name,
    Data: data ?? "None",
  };
  const list = Object.entries(facts).flatMap(([name, fact]) => [h("dt", {}, name), h("dd", {}, fact)]);
  const busy = memory.answered === true;
  return h(
    "main",
    { testid: "confirmation-page", role: "dialog", "aria-label": "Confirm transaction", class: "column" },
    h("h1", {}, "Confirm transaction"),
    h("dl", {}, ...list),
    others > 0 && h("p", { role: "status" }, `1 of ${others + 1} requests`),
    h(
      "div",
      { class: "row" },
      button("confirm-footer-cancel-button", "Cancel", answer("cancel"), { disabled: busy }),
      button("confirm-footer-button", "Confirm", answer("confirm"), { disabled: busy }),
    ),
  );
}
