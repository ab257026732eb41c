// Slows down a page that exceeds the limits of events and does not stop, and silences a worker that does.
"use strict";

const { exceptionOf } = require("./reply_limits.js");
const { remember } = require("./targets.js");

/** @typedef {InstanceType<typeof import("./targets.js").Targets>} Targets */

const FLOOD_MS = 1_000; // A shorter burst does not slow a page down.
const FLOOD_PAUSE_MS = 2_000; // A flood is over after this time without an event above the limit.
const MAX_WORKER_EVENTS = 2_500; // Workers send faster than pages.
const SLOWDOWN = 20;
const MIN_SLOWDOWN_MS = 4_000;
const MAX_SLOWDOWN_MS = 32_000;
const SPEED_METHOD = "Emulation.setCPUThrottlingRate"; // Workers have no such command.
const SILENCE_METHOD = "Runtime.disable"; // Without events, the browser does not work for them either.
const SILENCED = `Footlight no longer reports the messages of a worker of this page to the console, nor its errors, \
because there were too many`;

/**
 * The events of one page, or of its workers, above the limits: those that are dropped, and requests, frames and workers,
 * of which the driver learns.
 *
 * @typedef {object} Flood
 * @property {number} began
 * @property {number} events how many there were
 * @property {number} last when the last event was above the limit
 * @property {number} slowMs how long the page is slowed down the next time
 * @property {number} until when it stops being slowed down
 */

class Floods {
  /** @type {Map<string, Flood>} by the id of the browser's session; one for all workers of a page */
  #floods = new Map();
  /** @type {Map<string, true>} the sessions of workers whose events were stopped */
  #silenced = new Map();
  #targets;
  #command;
  #deliver;
  #callerSetsSpeed = false;

  /**
   * @param {Targets} targets
   * @param {(command: object) => unknown} command sends a command to the browser
   * @param {(message: Buffer) => void} deliver sends a message to the driver
   */
  constructor(targets, command, deliver) {
    this.#targets = targets;
    this.#command = command;
    this.#deliver = deliver;
  }

  /**
   * Process the beginning of a command of the driver. If a caller sets a page's speed itself, no page is slowed down any
   * more, because the caller's rate would be lost.
   *
   * @type {(head: string) => void}
   */
  noteCommand(head) {
    if (head.includes(SPEED_METHOD)) this.#callerSetsSpeed = true;
  }

  /**
   * Note that a page exceeds a limit now. A page whose flood continues is slowed down, and its next flood is expected
   * to continue as well, unless messages that it sent before may still arrive.
   *
   * @type {(session: string, isCurrent: boolean) => void}
   */
  note(session, isCurrent) {
    if (this.#silenced.has(session)) return;
    const now = performance.now();
    const isWorker = this.#targets.isWorker(session);
    const key = isWorker ? `workers of ${this.#targets.pageOf(session)}` : session;
    const flood = this.#floods.get(key) ?? { began: now, last: now, events: 0, slowMs: MIN_SLOWDOWN_MS, until: 0 };
    remember(this.#floods, key, flood);
    if (now < flood.until) return;
    if (now - flood.last > FLOOD_PAUSE_MS) Object.assign(flood, { began: now, events: 0 });
    flood.last = now;
    flood.events += 1;
    const isRenewed = isCurrent && flood.until && now - flood.until < MIN_SLOWDOWN_MS;
    const isLong = now - flood.began >= FLOOD_MS || (isWorker && flood.events > MAX_WORKER_EVENTS);
    if (!isLong && !isRenewed) return;
    if (isWorker) return this.#silence(session);
    if (this.#callerSetsSpeed) return;
    this.#setSpeed(session, SLOWDOWN);
    setTimeout(() => this.#setSpeed(session, 1), flood.slowMs).unref();
    flood.until = now + flood.slowMs;
    flood.slowMs = Math.min(flood.slowMs * 2, MAX_SLOWDOWN_MS);
  }

  /**
   * Stop the events about the console of a worker, and report it to the driver as an uncaught error of the worker.
   *
   * @type {(sessionId: string) => void}
   */
  #silence(sessionId) {
    remember(this.#silenced, sessionId, true);
    this.#command({ method: SILENCE_METHOD, sessionId });
    const params = { timestamp: Date.now(), exceptionDetails: exceptionOf(SILENCED) };
    this.#deliver(Buffer.from(`${JSON.stringify({ method: "Runtime.exceptionThrown", params, sessionId })}\0`));
  }

  /** @type {(sessionId: string, rate: number) => void} */
  #setSpeed(sessionId, rate) {
    if (!this.#callerSetsSpeed) this.#command({ method: SPEED_METHOD, params: { rate }, sessionId });
  }
}

module.exports = { Floods };
