// The list of calls. It is built from text nodes, so text from pages and agents is never parsed as HTML.

const MAX_CALLS = 300;
/** @typedef {[left: number, top: number, width: number, height: number]} Box parts of the picture, 0 to 1 */

/**
 * A call of a tool, as the server reports it.
 *
 * @typedef {object} Call
 * @property {number | string} number
 * @property {string} session
 * @property {string} tool
 * @property {string} source
 * @property {string} outcome
 * @property {number | null} duration milliseconds, or null while it runs
 * @property {Record<string, any>} arguments
 * @property {{ code: string, message: string, suggestion?: string, candidates: string[] } | null} error
 * @property {string} target
 * @property {string} page
 * @property {string} url
 * @property {string} at
 * @property {number} tokens
 * @property {object} events
 * @property {string[]} console
 * @property {string[]} files
 * @property {string} [changes]
 * @property {string} [change]
 * @property {Box | null} [box]
 * @property {boolean} [hasTrace]
 */

/** @typedef {HTMLElement | string | null} Part */

/** @type {Record<string, string>} */
const MARKS = { "+": "added", "-": "removed", "~": "changed" };

/** @type {(tag: string, options?: Record<string, any>, ...content: Part[]) => HTMLElement} */
export function make(tag, options = {}, ...content) {
  const { classes, ...properties } = options;
  const element = Object.assign(document.createElement(tag), properties);
  if (classes) element.className = classes;
  element.append(...content.filter((part) => part !== null).filter((part) => part !== ""));
  return element;
}

export class Calls {
  /**
   * @param {HTMLElement} list
   * @param {HTMLElement} empty
   */
  constructor(list, empty) {
    this.list = list;
    this.empty = empty;
    /** @type {Map<number | string, { call: Call, item: HTMLElement }>} */
    this.items = new Map();
    /** @type {string | null} */
    this.session = null;
  }

  /** @type {(calls: Call[]) => void} */
  add(calls) {
    for (const call of calls) {
      const known = this.items.get(call.number);
      const item = render(call, known?.item.querySelector("details")?.open ?? false);
      if (known) known.item.replaceWith(item);
      else this.list.prepend(item);
      this.items.set(call.number, { call, item });
    }
    for (const [oldest, { item }] of this.items) {
      if (this.items.size <= MAX_CALLS) break;
      item.remove();
      this.items.delete(oldest);
    }
    this.choose(this.session);
  }

  /** @returns {void} */
  clear() {
    this.list.replaceChildren();
    this.items.clear();
  }

  /** @type {(session: string | null) => void} */
  choose(session) {
    this.session = session;
    let shown = 0;
    for (const { call, item } of this.items.values()) {
      item.hidden = Boolean(session) && call.session !== session;
      shown += item.hidden ? 0 : 1;
    }
    this.empty.hidden = shown > 0;
  }

  /**
   * Return the position of the target element of the last call of a session.
   *
   * @type {(session: string) => Box | null}
   */
  boxOf(session) {
    const last = [...this.items.values()].map((each) => each.call).findLast((call) => call.session === session);
    return last?.box ?? null;
  }
}

/** @type {(call: Call, open: boolean) => HTMLElement} */
function render(call, open) {
  const failed = call.outcome !== "ok" && call.outcome !== "running";
  const took = call.duration === null ? "running" : `${call.duration} ms`;
  const tag = call.source === "person" ? "by a person" : failed ? call.outcome : call.outcome === "ok" ? "" : "…";
  const summary = make(
    "summary",
    {},
    make("code", { classes: "tool" }, call.tool),
    make("span", { classes: "quiet" }, brief(call)),
    tag ? make("span", { classes: "tag" }, tag) : null,
    make("span", { classes: "time" }, took),
  );
  const facts = make("dl", {}, ...factsOf(call));
  const kind = failed ? "failed" : call.source === "person" ? "person" : "";
  return make("li", { classes: `call ${kind}`.trim() }, make("details", { open }, summary, facts));
}

/** @type {(call: Call) => string} */
function brief(call) {
  const { url, selector, element, key, reason, note } = call.arguments;
  return String(url ?? selector ?? element ?? key ?? reason ?? note ?? "").slice(0, 200);
}

/** @type {(call: Call) => Generator<HTMLElement>} */
function* factsOf(call) {
  const { error } = call;
  const facts = [
    ["Error", error ? [error.code, error.message, error.suggestion].filter(Boolean).join("\n") : ""],
    ["Candidates", error ? error.candidates.join("\n") : ""],
    ["Arguments", Object.keys(call.arguments).length ? JSON.stringify(call.arguments, null, 1) : ""],
    ["Element", call.target],
    ["Page", [call.page, call.url].filter(Boolean).join(" ")],
    ["At", new Date(call.at).toLocaleTimeString()],
    ["Tokens", call.tokens ? `about ${call.tokens}` : ""],
    ["Events", Object.keys(call.events).length ? JSON.stringify(call.events, null, 1) : ""],
    ["Console", call.console.join("\n")],
    ["Files", call.files.join("\n")],
  ];
  for (const [name, fact] of facts) if (fact) yield* [make("dt", {}, name), make("dd", {}, fact)];
  if (call.changes) yield* [make("dt", {}, "Changed"), make("dd", {}, changesOf(call.changes))];
  else if (call.change === "same") yield* [make("dt", {}, "Changed"), make("dd", {}, "nothing")];
  if (call.hasTrace) {
    const button = make("button", { type: "button" }, "Open in the trace viewer");
    button.dataset.trace = String(call.number);
    yield* [make("dt", {}, "Trace"), make("dd", {}, button)];
  }
}

/** @type {(text: string) => HTMLElement} */
function changesOf(text) {
  const lines = text.split("\n");
  return make("pre", { tabIndex: 0 }, ...lines.map((line) => make("span", { classes: kindOf(line) }, `${line}\n`)));
}

/** @type {(line: string) => string} */
const kindOf = (line) => MARKS[line.trimStart()[0]] ?? "";
