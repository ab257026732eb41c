// The whole wallet, in a tab or in the popup.

import { go, possible } from "./route.js";
import { confirmation } from "./screens/confirmation.js";
import { onboarding } from "./screens/onboarding.js";
import { overview } from "./screens/overview.js";
import { send } from "./screens/send.js";
import { settings } from "./screens/settings.js";
import { unlock } from "./screens/unlock.js";
import { show } from "./stage.js";
import { ask, listen } from "./worker.js";

const SCREENS = { "": overview, ...onboarding, send, settings, unlock, "confirm-transaction": confirmInHome };

let newest = 0;

async function route() {
  const turn = ++newest;
  const state = await ask("state");
  if (turn !== newest) return; // A later one is on its way, and knows more.
  const wanted = location.hash.slice(1);
  const hash = possible(wanted, state);
  if (hash !== wanted) history.replaceState(null, "", `#${hash}`);
  const screen = SCREENS[hash] ?? SCREENS[hash.split("/")[0]];
  show(hash, (memory, redraw) => screen(state, memory, redraw));
}

function confirmInHome(state, memory, redraw) {
  const id = location.hash.split("/")[1];
  const approval = state.approvals.find((one) => one.id === id);
  return confirmation({ approval, state, memory, redraw, done: () => go("") });
}

addEventListener("hashchange", route);
listen(route);
route();
