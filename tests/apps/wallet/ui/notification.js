// The window that asks for consent, for one request after the other.

import { confirmation } from "./screens/confirmation.js";
import { connection } from "./screens/connection.js";
import { unlock } from "./screens/unlock.js";
import { h } from "./dom.js";
import { show } from "./stage.js";
import { ask, listen } from "./worker.js";

const SCREENS = { connect: connection, transaction: confirmation };

let newest = 0;

async function route() {
  const turn = ++newest;
  const state = await ask("state");
  if (turn !== newest) return;
  const waiting = state.approvals.filter(({ inWindow }) => inWindow);
  const [approval] = waiting;
  if (!approval) return show("nothing", () => h("p", { role: "status" }, "Nothing to confirm"));
  if (!state.unlocked) return show("unlock", (memory, redraw) => unlock(state, memory, redraw));
  const others = waiting.length - 1;
  show(`${approval.kind}/${approval.id}`, (memory, redraw) =>
    SCREENS[approval.kind]({ approval, others, state, memory, redraw, done: () => {} }),
  );
}

listen(route);
route();
