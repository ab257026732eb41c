// Which sessions of a browser belong to the same page.
"use strict";

const WORKER_TYPES = new Set(["worker", "shared_worker", "service_worker"]);

const MAX_TARGETS = 1_000;
const MAX_SESSIONS = 4; // Besides the first one. Footlight opens the second with each page.

class Targets {
  /** @type {Map<string, string[]>} the sessions of each target; the first one is the driver's own */
  #sessions = new Map();
  /** @type {Map<string, string>} the target of each session but the first ones */
  #targets = new Map();
  /** @type {Map<string, string>} the session that the session of each worker came from: of its page, or "" */
  #workers = new Map();

  /**
   * Note the event that a session is attached to a target. `from` is the session that the event came from.
   *
   * @type {(message: Buffer, from: string) => void}
   */
  note(message, from) {
    const text = message.toString("latin1");
    const target = /"targetId":"(\w+)"/.exec(text)?.[1] ?? "";
    const session = /"params":\{"sessionId":"(\w+)"/.exec(text)?.[1] ?? "";
    const sessions = this.#sessions.get(target) ?? [];
    if (sessions.length) remember(this.#targets, session, target);
    remember(this.#sessions, target, [...sessions.slice(0, MAX_SESSIONS), session]);
    const type = /"type":"(\w+)"/.exec(text)?.[1] ?? "";
    if (WORKER_TYPES.has(type)) remember(this.#workers, session, this.pageOf(from));
  }

  /** @type {(session: string) => boolean} */
  isWorker(session) {
    return this.#workers.has(session);
  }

  /**
   * Return the session of the page of a worker's session, and any other session as it is.
   *
   * @type {(session: string) => string}
   */
  pageOf(session) {
    return this.#workers.get(session) ?? session;
  }

  /**
   * Return whether a session gets the same events as an earlier one of the same target.
   *
   * @type {(session: string) => boolean}
   */
  isRepeated(session) {
    return this.#targets.has(session);
  }

  /**
   * Return the other sessions of the target of which this session is the first one.
   *
   * @type {(session: string) => string[]}
   */
  othersOf(session) {
    for (const [first, ...others] of this.#sessions.values()) if (first === session) return others;
    return [];
  }
}

/**
 * Set the entry of a key, and drop the oldest entry if there are too many.
 *
 * @type {<Entry>(map: Map<string, Entry>, key: string, entry: Entry) => void}
 */
function remember(map, key, entry) {
  map.delete(key);
  if (map.size >= MAX_TARGETS) map.delete(map.keys().next().value ?? "");
  map.set(key, entry);
}

module.exports = { remember, Targets };
