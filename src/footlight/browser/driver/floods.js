// Slows down a page that exceeds the limits of events and does not stop.
"use strict";

const FLOOD_MS = 1_000; // A shorter burst does not slow a page down.
const FLOOD_PAUSE_MS = 500; // A flood is over after this time without an event above the limit.
const SLOWDOWN = 20;
const MIN_SLOWDOWN_MS = 4_000;
const MAX_SLOWDOWN_MS = 32_000;
const MAX_FLOODS = 1_000;
const SPEED_METHOD = "Emulation.setCPUThrottlingRate";

/**
 * The events of one page above the limits: those that are dropped, and frames, which are all delivered.
 *
 * @typedef {object} Flood
 * @property {number} began
 * @property {number} last when the last event was above the limit
 * @property {number} slowMs how long the page is slowed down the next time
 * @property {number} until when it stops being slowed down
 */

class Floods {
  /** @type {Map<string, Flood>} by the id of the browser's session */
  #floods = new Map();
  #command;
  #callerSetsSpeed = false;

  /** @param {(command: object) => unknown} command sends a command to the browser */
  constructor(command) {
    this.#command = command;
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
   * to continue as well.
   *
   * @type {(session: string) => void}
   */
  note(session) {
    const now = performance.now();
    const flood = this.#floods.get(session) ?? { began: now, last: now, slowMs: MIN_SLOWDOWN_MS, until: 0 };
    this.#floods.delete(session);
    if (this.#floods.size >= MAX_FLOODS) this.#floods.delete(this.#floods.keys().next().value ?? "");
    this.#floods.set(session, flood);
    if (now < flood.until) return;
    if (now - flood.last > FLOOD_PAUSE_MS) flood.began = now;
    flood.last = now;
    if (now - flood.began < FLOOD_MS || this.#callerSetsSpeed) return;
    this.#setSpeed(session, SLOWDOWN);
    setTimeout(() => this.#setSpeed(session, 1), flood.slowMs).unref();
    flood.until = now + flood.slowMs;
    flood.slowMs = Math.min(flood.slowMs * 2, MAX_SLOWDOWN_MS);
  }

  /** @type {(sessionId: string, rate: number) => void} */
  #setSpeed(sessionId, rate) {
    if (!this.#callerSetsSpeed) this.#command({ method: SPEED_METHOD, params: { rate }, sessionId });
  }
}

module.exports = { Floods };
