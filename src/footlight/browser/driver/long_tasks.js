// Stops a script that sends events without end in one task. The browser works for each of them before it is dropped, so
// its other pages would wait for minutes, and a page cannot be slowed down before its task ends.
"use strict";

const { exceptionOf, inThousands } = require("./reply_limits.js");
const { remember } = require("./targets.js");

/** @typedef {InstanceType<typeof import("./targets.js").Targets>} Targets */

const MAX_EVENTS = 20_000; // An honest script may log some thousands of lines in one task.
const MIN_TASK_MS = 1_000; // A shorter task is not stopped, whatever it sends.
const MIN_PAUSE_MS = 500; // Between a page's answer and the next question.
const ASK_METHOD = "Runtime.getIsolateId"; // Has no effect. A page answers between two tasks.
const STOP_METHOD = "Runtime.terminateExecution"; // One of the few commands that interrupt a script.
const TERMINATED = '"message":"Execution was terminated"'; // The browser's reply about that script.
const STOPPED = `Footlight stopped a script of this page, which sent more than ${inThousands(MAX_EVENTS)} \
messages to the console or the like in one task`;

/**
 * What is known about the script that a page runs now.
 *
 * @typedef {object} Task
 * @property {number} question the id of the command that the page has not answered, or 0
 * @property {number} at when it was sent or answered
 * @property {number} events the events of the page since then
 */

class LongTasks {
  /** @type {Map<string, Task>} by the id of the browser's session */
  #tasks = new Map();
  /** @type {Set<string>} the sessions whose script is being stopped */
  #stopped = new Set();
  #targets;
  #command;
  #deliver;

  /**
   * @param {Targets} targets
   * @param {(command: object) => number} command sends a command to the browser and returns its id
   * @param {(message: Buffer) => void} deliver sends a message to the driver
   */
  constructor(targets, command, deliver) {
    this.#targets = targets;
    this.#command = command;
    this.#deliver = deliver;
  }

  /** @type {(id: number) => void} */
  noteReply(id) {
    for (const [session, task] of this.#tasks)
      if (task.question === id) {
        Object.assign(task, { question: 0, at: performance.now() });
        this.#stopped.delete(session);
      }
  }

  /**
   * Return whether a reply is about a script that was stopped.
   *
   * @type {(parts: Buffer[]) => boolean}
   */
  isAboutStopped(parts) {
    return this.#stopped.size > 0 && Buffer.concat(parts.slice(0, 2)).includes(TERMINATED);
  }

  /**
   * Note an event of a page. Above the limits, ask the page whether its task is over; stop the task if it is not.
   *
   * @type {(session: string, isAbove: boolean) => void}
   */
  note(session, isAbove) {
    const task = this.#tasks.get(session);
    if (task?.question) {
      task.events += 1;
      // Until the page answers, what arrives is what it sent before it was stopped.
      if (task.events <= MAX_EVENTS || this.#stopped.has(session)) return;
      if (performance.now() - task.at > MIN_TASK_MS) this.#stop(session);
    } else if (isAbove && session && !this.#targets.isRepeated(session)) {
      const now = performance.now();
      if (task && now - task.at < MIN_PAUSE_MS) return;
      const question = this.#command({ method: ASK_METHOD, sessionId: session });
      remember(this.#tasks, session, { question, at: now, events: 0 });
    }
  }

  /**
   * Stop the script that a page runs, and report it to the driver as an uncaught error of the page.
   *
   * @type {(sessionId: string) => void}
   */
  #stop(sessionId) {
    this.#stopped.add(sessionId);
    this.#command({ method: STOP_METHOD, sessionId });
    const params = { timestamp: Date.now(), exceptionDetails: exceptionOf(STOPPED) };
    this.#deliver(Buffer.from(`${JSON.stringify({ method: "Runtime.exceptionThrown", params, sessionId })}\0`));
  }
}

module.exports = { LongTasks, STOPPED };
