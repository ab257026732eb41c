// The page on which a person watches the sessions of a server and takes over.

import { Calls, make } from "./calls.js";
import { Picture } from "./picture.js";
import { RemoteInput } from "./remote_input.js";
import { askReport, askState, isAbort, pause, Refused, readToken, saveToken, send } from "./server.js";

/** @import { Call } from "./calls.js" */

/**
 * A session, as the server reports it.
 *
 * @typedef {object} Session
 * @property {string} id
 * @property {string} name
 * @property {string} state
 * @property {string} page the id of the current page
 * @property {{ id: string, url: string }[]} pages
 * @property {{ type: string, message: string }[]} dialogs
 * @property {string | null} help what the agent asks for
 * @property {boolean} yours
 * @property {string} [worker] the worker of a cluster that has the session
 */

/** @typedef {{ id: string, reason: string }} Ended a session that has ended */

/** @type {Record<string, string>} */
const STATES = {
  idle: "waiting for a call",
  busy: "a call is running",
  person: "a person controls the session",
  help: "the agent asks for a person",
  silent: "its worker does not answer",
};
const ABSENT_MS = 30_000;

/** @type {(id: string) => any} */
const get = (id) => document.getElementById(id);
const calls = new Calls(get("calls"), get("no-calls"));
const picture = new Picture(get("picture"), get("box"), (text) => showText("message", text));
let origin = "";
let revision = 0;
/** @type {Session[]} */
let sessions = [];
/** @type {Ended[]} */
let ended = [];
/** @type {string | null} */
let chosen = null;
/** @type {AbortController | null} */
let polling = null;
let lastHeard = Date.now();

/** @type {(id: string, text: string) => void} */
function showText(id, text) {
  const element = get(id);
  element.hidden = !text;
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Return the beginning of an id, which in a cluster follows the name of a worker.
 *
 * @type {(id: string) => string}
 */
const briefId = (id) => (id.split(".").at(-1) ?? "").slice(0, 8);

/** @returns {Session | undefined} */
const current = () => sessions.find((session) => session.id === chosen);

// ---- state of the server ----

/** @returns {Promise<void>} */
async function poll() {
  polling?.abort();
  const asking = new AbortController();
  polling = asking;
  let wait = false;
  while (polling === asking) {
    try {
      const state = await askState(revision, wait, asking.signal);
      if (Date.now() - lastHeard > ABSENT_MS) showText("message", "This tab was suspended. It is up to date again.");
      lastHeard = Date.now();
      wait = true;
      get("door").hidden = true;
      get("all").hidden = false;
      take(state);
      if (document.hidden) await pause(2000);
    } catch (error) {
      if (isAbort(error)) return;
      if (!(error instanceof Refused)) throw error;
      if (error.status === 401) {
        polling = null;
        askForToken(error.message);
        return;
      }
      showText("status", error.message);
      wait = false;
      await pause(1500);
    }
  }
}

/**
 * @typedef {object} State
 * @property {string} origin the process to which the revision belongs
 * @property {number} revision
 * @property {Session[]} sessions
 * @property {Ended[]} ended
 * @property {Call[]} calls
 */

/** @type {(state: State) => void} */
function take(state) {
  const isRestarted = Boolean(origin) && state.origin !== origin;
  if (isRestarted) calls.clear();
  else calls.add(state.calls);
  origin = state.origin;
  revision = isRestarted ? 0 : state.revision; // All calls of a new process are asked for, in their order.
  sessions = state.sessions;
  ended = state.ended;
  chosen ??= sessions.at(-1)?.id ?? null;
  const count = sessions.length;
  showText("status", `${count} ${count === 1 ? "session" : "sessions"}, connected`);
  showSessions();
  showChosen();
}

/** @type {(why: string) => void} */
function askForToken(why) {
  get("all").hidden = true;
  get("door").hidden = false;
  showText("door-why", why);
  showText("status", "Not connected");
  get("token").focus();
}

// ---- the sessions ----

/** @returns {void} */
function showSessions() {
  const list = get("sessions");
  const focused = document.activeElement?.closest("#sessions button");
  const id = focused instanceof HTMLElement ? focused.dataset.id : null;
  const past = ended.slice(-5).reverse();
  list.replaceChildren(...sessions.map(sessionItem), ...past.map(endedItem));
  get("no-sessions").hidden = sessions.length + past.length > 0;
  if (id) list.querySelector(`button[data-id="${CSS.escape(id)}"]`)?.focus();
}

/** @type {(session: Session) => HTMLElement} */
function sessionItem(session) {
  const page = session.pages.find((each) => each.id === session.page);
  const { state, worker } = session;
  const words = STATES[state] + (worker ? ` (worker ${worker})` : "");
  return item(session.id, session.name || briefId(session.id), page?.url ?? "no page", state, words);
}

/** @type {(each: Ended) => HTMLElement} */
const endedItem = (each) => item(each.id, briefId(each.id), "", "ended", endOf(each));

/** @type {(each: Ended) => string} */
const endOf = (each) => (each.reason === "crashed" ? "its browser crashed" : each.reason);

/** @type {(id: string, name: string, url: string, state: string, words?: string) => HTMLElement} */
function item(id, name, url, state, words = STATES[state]) {
  const button = make(
    "button",
    { type: "button" },
    make("span", {}, name),
    url ? make("span", { classes: "url", title: url }, url) : null,
    make("span", { classes: `state ${state}` }, words),
  );
  button.dataset.id = id;
  button.setAttribute("aria-current", String(id === chosen));
  button.addEventListener("click", () => {
    chosen = id;
    get("page").value = "";
    showSessions();
    showChosen();
  });
  return make("li", {}, button);
}

// ---- the chosen session ----

/** @returns {void} */
function showChosen() {
  const session = current();
  const past = ended.find((each) => each.id === chosen);
  get("view").hidden = !chosen;
  calls.choose(get("only").checked ? chosen : null);
  if (!session) {
    const why = past ? `: ${endOf(past)}. Its calls can still be read and saved.` : ".";
    const over = chosen ? `This session has ended${why}` : "";
    picture.show(null, "");
    showText("message", over);
    showText("name", chosen ? `Session ${briefId(chosen)}` : "");
    showText("turn", "");
    showText("help", "");
    for (const id of ["take", "back", "reload", "typing", "giving", "dialog", "page-choice"]) get(id).hidden = true;
    get("stage").classList.remove("yours");
    get("stage").hidden = true;
    return;
  }
  get("stage").hidden = false;
  showPages(session);
  picture.show(session.id, get("page").value);
  picture.frame(calls.boxOf(session.id));
  showTurn(session);
}

/** @type {(session: Session) => void} */
function showPages(session) {
  const select = get("page");
  const before = select.value;
  const options = session.pages.map((page) =>
    make("option", { value: page.id }, `${page.id} ${page.url}`.slice(0, 80)),
  );
  select.replaceChildren(make("option", { value: "" }, "the current one"), ...options);
  select.value = session.pages.some((page) => page.id === before) ? before : "";
  get("page-choice").hidden = session.pages.length < 2;
}

/** @type {(session: Session) => void} */
function showTurn(session) {
  const { yours, state } = session;
  showText("name", session.name || `Session ${briefId(session.id)}`);
  const words = yours ? "You control the session. Calls of the agent wait." : `The session: ${STATES[state]}.`;
  if (get("turn").textContent !== words) get("turn").textContent = words;
  showText("help", session.help ? `The agent asks for a person: ${session.help}` : "");
  get("take").hidden = yours;
  for (const id of ["back", "reload", "typing", "giving"]) get(id).hidden = !yours;
  const stage = get("stage");
  stage.classList.toggle("yours", yours);
  if (yours) stage.tabIndex = 0;
  else stage.removeAttribute("tabindex");
  const dialog = session.dialogs[0];
  get("dialog").hidden = !dialog;
  if (dialog) showText("dialog-text", `The page shows a dialog (${dialog.type}): ${dialog.message}`);
  for (const button of get("dialog").querySelectorAll("button")) button.hidden = !yours;
}

// ---- taking over ----

/** @type {(path: string, body: object) => Promise<boolean>} */
async function steer(path, body) {
  try {
    await send(path, body);
    showText("message", "");
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    showText("message", error.message);
    return false;
  }
}

let queue = Promise.resolve(true);
/** @type {(step: () => Promise<boolean>) => Promise<boolean>} */
const enqueue = (step) => {
  queue = queue.then(step);
  return queue;
};
/**
 * Send an event to the session that is chosen now. An event after the hand-back is dropped.
 *
 * @type {(event: object) => Promise<boolean>}
 */
const act = (event) => {
  const session = chosen;
  const isYours = () => Boolean(sessions.find((each) => each.id === session)?.yours);
  return enqueue(async () => isYours() && steer("act", { session, events: [event] }));
};
/**
 * Apply the answer of the server at once, so that the next key goes to the page.
 *
 * @type {(yours: boolean, id: string | null) => void}
 */
function setMine(yours, id) {
  const session = sessions.find((each) => each.id === id);
  if (session) Object.assign(session, { yours, state: yours ? "person" : "idle" });
  showChosen();
  poll(); // A pending answer would be outdated.
}

const input = new RemoteInput(get("stage"), {
  isActive: () => Boolean(current()?.yours),
  pointOf: (event) => picture.pointOf(event),
  send: act,
  onEscape: () => get("note").focus(),
});

get("take").addEventListener("click", async () => {
  get("take").disabled = true;
  showText("turn", "Waiting for the running call…");
  const session = chosen;
  const isTaken = await steer("take", { session });
  get("take").disabled = false;
  if (isTaken) {
    setMine(true, session);
    get("stage").focus();
  } else showChosen();
});

get("giving").addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  input.flush();
  const session = chosen;
  const isGiven = await enqueue(async () => {
    const isDone = await steer("give-back", { session, note: get("note").value });
    if (isDone) setMine(false, session);
    return isDone;
  });
  if (isGiven) {
    get("note").value = "";
    get("take").focus();
  }
});

get("typing").addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  const text = get("text").value;
  get("text").value = "";
  if (text) act({ type: "text", text });
});

for (const button of document.querySelectorAll("#typing button[data-key]"))
  button.addEventListener("click", () => act({ type: "key", key: /** @type {HTMLElement} */ (button).dataset.key }));
for (const button of document.querySelectorAll("#dialog button"))
  button.addEventListener("click", () =>
    act({ type: "dialog", accept: /** @type {HTMLElement} */ (button).dataset.accept === "true" }),
  );
for (const id of ["back", "reload"]) get(id).addEventListener("click", () => act({ type: id }));
get("show-text").addEventListener("change", () => {
  get("text").type = get("show-text").checked ? "text" : "password";
});

// ---- reports, traces and other controls ----

get("page").addEventListener("change", showChosen);
get("only").addEventListener("change", showChosen);
get("report").addEventListener("click", async () => {
  if (!chosen) return;
  try {
    const file = await (await askReport(chosen)).blob();
    const link = /** @type {HTMLAnchorElement} */ (
      make("a", { href: URL.createObjectURL(file), download: `session-${briefId(chosen)}.html` })
    );
    link.click();
    URL.revokeObjectURL(link.href);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    showText("message", error.message);
  }
});
get("calls").addEventListener("click", async (/** @type {MouseEvent} */ event) => {
  const button = /** @type {HTMLElement} */ (event.target).closest("button[data-trace]");
  if (!(button instanceof HTMLElement)) return;
  try {
    const { url } = await send("open-trace", { call: button.dataset.trace });
    window.open(url, "_blank", "noopener");
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    showText("message", error.message);
  }
});
get("door").addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  saveToken(get("token").value.trim());
  get("token").value = "";
  revision = 0;
  poll();
});

readToken();
poll();
