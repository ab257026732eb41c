// Limits how many events about a page's console, WebSockets, requests and clicks on links reach the driver, and the size
// of values that a page returns. Loaded into the driver's process before its own code.
//
// The driver parses all messages of browsers in order, and has no limit for those that wait. A page that writes 20,000
// messages a second to its console would delay the replies to all other pages. It would also delay them in the browser,
// so a page that does not stop, or that adds frames without end, gets less of the processor.
"use strict";

const childProcess = require("node:child_process");
const { noteOpenedPage } = require("./driver_scripts.js");
const { DroppedRequests, PAUSED_METHOD, REQUEST_METHOD, REQUEST_PREFIX } = require("./dropped_requests.js");
const { newBucket, refill, use } = require("./event_buckets.js");
const { Floods } = require("./floods.js");
const { LongTasks, STOPPED } = require("./long_tasks.js");
const { exceptionOf, excessOf, failure, inThousands, isValue, MAX_REPLY_BYTES } = require("./reply_limits.js");
const { Targets } = require("./targets.js");

// The file descriptors by which a browser receives and sends messages. Each message ends with a zero byte.
const TO_BROWSER = 3;
const FROM_BROWSER = 4;
const EVENTS = { burst: 2_500, perSecond: 500 };
const REQUESTS = { burst: 2_000, perSecond: 100 }; // The driver and the server work longer for each.
const BYTES_PER_EVENT = 4_096; // A longer event counts as several.
const BYTES_PER_REQUEST = 32_768; // The same for the events about a request.
const BYTES_PER_NAVIGATION = 8_192; // And for those about a navigation, for which the browser works longer.
const MAX_EVENT_BYTES = EVENTS.burst * BYTES_PER_EVENT; // A longer event is dropped, if the driver can do without it.
const MAX_REQUEST_BYTES = 64 * 1024 * 1024; // The same for an event about a request, which may contain an upload.
const VALUES_PER_EVENT = 25; // An event with more values counts as several: the server keeps each value of a message.
const MAX_EVENT_VALUES = 5_000; // An event with more is dropped.
const VALUE = '{"type":"'; // In a string of a page, the quotation marks have backslashes.
const TOO_LARGE = `Footlight dropped a message of this page to the console or the like, because it has more than \
${inThousands(MAX_EVENT_BYTES)} bytes or ${inThousands(MAX_EVENT_VALUES)} values`;
const MAX_HELD = 200; // The number of messages of a page that the driver keeps.
const RELEASE_MS = 100;
const HEAD_BYTES = 96;
const TAIL_BYTES = 64;
const FIRST_ID = 2_000_000_000; // The ids of our own commands. The driver counts its ids from 1.
const PREFIX = '{"method":"';
const OPENS_PAGE = /"method":"(?:Target\.createTarget|Browser\.newPage|Playwright\.createPage)"/; // Each browser's own.
const LIMITED = new Set([
  "Log.entryAdded",
  "Network.eventSourceMessageReceived",
  "Network.webSocketFrameError",
  "Network.webSocketFrameReceived",
  "Network.webSocketFrameSent",
  "Runtime.bindingCalled",
  "Runtime.consoleAPICalled",
  "Runtime.exceptionThrown",
]);
// The driver must know each frame, where it navigates, and each worker. A page with too many of them is slowed down.
const FRAME_METHODS = new Set(["Page.frameAttached", "Page.frameRequestedNavigation", "Target.targetCreated"]);
const NAVIGATION = /^Page\.(frame|navigated)/; // Events with URLs of a page, which may have 2 MB.
const DROPPED_METHOD = "Footlight.requestsDropped";
const TARGET_METHOD = "Target.attachedToTarget";
const FRAME_COST = 25; // The driver and the browser work longer for a frame than for a message.

/** @typedef {import("./event_buckets.js").Bucket} Bucket */

class EventLimits {
  /** @type {Map<string, Bucket>} */
  #buckets = new Map();
  /** @type {Buffer[]} the parts of the incomplete message */
  #pending = [];
  /** how many more bytes that message may have; below 0 it is too large */
  #room = Infinity;
  #releasing = false;
  #floods;
  #longTasks;
  #requests;
  #targets = new Targets();
  /** @type {Map<string, number>} how many requests of a session were dropped since the last report */
  #missing = new Map();
  #deliver;
  #send;
  #lastId = FIRST_ID;

  /**
   * @param {(part: Buffer) => void} deliver receives parts of the browser's messages
   * @param {(command: object) => void} send sends a command to the browser
   */
  constructor(deliver, send) {
    this.#deliver = deliver;
    this.#send = send;
    this.#floods = new Floods(this.#targets, (command) => this.#command(command), deliver);
    this.#longTasks = new LongTasks(this.#targets, (command) => this.#command(command), deliver);
    this.#requests = new DroppedRequests((params, sessionId) =>
      this.#command({ method: "Fetch.failRequest", params, ...(sessionId && { sessionId }) }),
    );
  }

  /** @type {(command: string | Buffer) => void} */
  noteCommand(command) {
    const head = String(command).slice(0, HEAD_BYTES);
    if (OPENS_PAGE.test(head)) noteOpenedPage();
    this.#floods.noteCommand(head);
  }

  /**
   * Deliver the messages that a chunk completes. Those above the limits are delivered later or dropped.
   *
   * @type {(chunk: Buffer) => void}
   */
  read(chunk) {
    /** @type {(message: Buffer) => boolean} */
    const countRequest = (message) => this.#countRequest(message);
    let start = 0;
    for (let end = chunk.indexOf(0); end !== -1; end = chunk.indexOf(0, start)) {
      this.#pend(chunk.subarray(start, end + 1));
      const parts = this.#pending;
      const method = methodOf(parts[0]);
      const excess = method || this.#room === Infinity ? "" : excessOf(parts, this.#room);
      this.#pending = [];
      if (excess) this.#deliver(failure(parts[0], excess, sessionOf(endOf(parts))));
      else if (this.#room < 0) this.#dropTooLarge(method, parts);
      else if (LIMITED.has(method)) this.#deliverLimited(Buffer.concat(parts));
      else if (FRAME_METHODS.has(method)) this.#deliverFrame(Buffer.concat(parts));
      else if (method === TARGET_METHOD) this.#deliverTarget(Buffer.concat(parts));
      else if (!method) this.#deliverReply(parts);
      else if (!this.#requests.drops(method, parts, countRequest)) {
        if (method.startsWith(REQUEST_PREFIX) || NAVIGATION.test(method)) this.#countBytes(method, parts);
        parts.forEach(this.#deliver);
      }
      start = end + 1;
    }
    if (start < chunk.length) this.#pend(chunk.subarray(start));
  }

  /**
   * Store a part of a message. The first part is always long enough to contain the method of the message.
   *
   * @type {(part: Buffer) => void}
   */
  #pend(part) {
    const first = this.#pending[0];
    if (first && first.length >= HEAD_BYTES) this.#pending.push(part);
    else {
      this.#pending[0] = first ? Buffer.concat([first, part]) : part;
      this.#room = maxBytesOf(this.#pending[0]);
      part = this.#pending[0];
    }
    this.#room -= part.length;
    // For a message that is too large, its beginning and its end are enough.
    if (this.#room < 0 && this.#pending.length > 3) this.#pending.splice(1, this.#pending.length - 3);
  }

  /** @type {(message: Buffer) => void} */
  #deliverLimited(message) {
    const values = message.length > BYTES_PER_EVENT ? countValues(message) : 0;
    if (values > MAX_EVENT_VALUES) return this.#dropTooLarge(methodOf(message), [message]);
    const cost = Math.ceil(Math.max(message.length / BYTES_PER_EVENT, values / VALUES_PER_EVENT));
    const session = sessionOf(message);
    const bucket = this.#bucketOf(message, session);
    refill(bucket);
    const isAbove = bucket.held.length > 0 || bucket.left < 1;
    this.#longTasks.note(session, isAbove);
    if (!isAbove) {
      bucket.left -= cost;
      this.#deliver(message);
      return;
    }
    bucket.held.push({ message, cost });
    bucket.heldCost += cost;
    // The last messages are kept, because they matter most.
    while (bucket.heldCost > MAX_HELD) {
      const dropped = bucket.held.shift();
      if (!dropped) break;
      bucket.heldCost -= dropped.cost;
      this.#noteFlood(session, methodOf(message));
    }
    this.#releaseLater();
  }

  /**
   * Deliver the browser's reply to a command, unless it is one of this script.
   *
   * @type {(parts: Buffer[]) => void}
   */
  #deliverReply(parts) {
    const id = Number(/^\{"id":(\d+)/.exec(parts[0].toString("latin1", 0, HEAD_BYTES))?.[1]);
    if (id > FIRST_ID) return this.#longTasks.noteReply(id);
    const isStopped = this.#longTasks.isAboutStopped(parts);
    if (isStopped) this.#deliver(failure(parts[0], STOPPED, sessionOf(endOf(parts))));
    else parts.forEach(this.#deliver);
  }

  /** @type {(message: Buffer) => void} */
  #deliverTarget(message) {
    this.#targets.note(message, sessionOf(message));
    this.#deliver(message);
  }

  /** @type {(message: Buffer) => void} */
  #deliverFrame(message) {
    const session = sessionOf(message);
    const bucket = this.#bucketOf(message, session);
    refill(bucket);
    const isAbove = bucket.left < FRAME_COST;
    this.#longTasks.note(session, isAbove);
    if (!isAbove) bucket.left -= FRAME_COST;
    else this.#noteFlood(session, methodOf(message));
    this.#deliver(message);
  }

  /**
   * Count a new request of a page, and return whether it is above the limit and therefore dropped.
   *
   * @type {(message: Buffer) => boolean}
   */
  #countRequest(message) {
    const session = sessionOf(message);
    const bucket = this.#requestsOf(session);
    const isAbove = bucket.left < 1;
    this.#longTasks.note(session, isAbove);
    if (!isAbove) bucket.left -= 1;
    else if (session) {
      this.#noteFlood(session, REQUEST_METHOD);
      this.#countMissing(session);
    }
    return isAbove;
  }

  /**
   * Count a long event about a request or a navigation as several requests.
   *
   * @type {(method: string, parts: Buffer[]) => void}
   */
  #countBytes(method, parts) {
    const bytes = parts.reduce((sum, part) => sum + part.length, 0);
    if (bytes < BYTES_PER_REQUEST) return;
    const session = sessionOf(endOf(parts));
    const bucket = this.#requestsOf(session);
    const isNavigation = NAVIGATION.test(method);
    if (isNavigation && bucket.left < 1) this.#noteFlood(session, method);
    bucket.left -= Math.floor(bytes / (isNavigation ? BYTES_PER_NAVIGATION : BYTES_PER_REQUEST));
    bucket.left = Math.max(-REQUESTS.burst, bucket.left); // Requests are soon recorded again.
  }

  /**
   * Note an event above the limits. Of a worker, only the events about scripts can be stopped.
   *
   * @type {(session: string, method: string) => void}
   */
  #noteFlood(session, method) {
    if (!session) return;
    if (this.#targets.isWorker(session) && !method.startsWith("Runtime.")) return;
    this.#floods.note(session, !LIMITED.has(method));
  }

  /**
   * Drop an event of which only the beginning and the end are known, and report that it is missing.
   *
   * @type {(method: string, parts: Buffer[]) => void}
   */
  #dropTooLarge(method, parts) {
    const sessionId = sessionOf(endOf(parts));
    this.#noteFlood(sessionId, method);
    if (LIMITED.has(method)) {
      const params = { timestamp: Date.now(), exceptionDetails: exceptionOf(TOO_LARGE) };
      const event = { method: "Runtime.exceptionThrown", params, ...(sessionId && { sessionId }) };
      this.#deliverLimited(Buffer.from(`${JSON.stringify(event)}\0`));
    } else if (this.#requests.drop(method, parts[0], sessionId) && sessionId) this.#countMissing(sessionId);
  }

  /** @type {(session: string) => Bucket} */
  #requestsOf(session) {
    const bucket = use(this.#buckets, `${REQUEST_METHOD} ${this.#targets.pageOf(session)}`, () => newBucket(REQUESTS));
    refill(bucket);
    return bucket;
  }

  /** @type {(session: string) => void} */
  #countMissing(session) {
    if (!this.#missing.size) setTimeout(() => this.#reportMissing(), RELEASE_MS).unref();
    this.#missing.set(session, (this.#missing.get(session) ?? 0) + 1);
  }

  /**
   * Tell Footlight how many requests were dropped, by an event of its own session of the page.
   *
   * @returns {void}
   */
  #reportMissing() {
    for (const [session, count] of this.#missing)
      for (const sessionId of this.#targets.othersOf(session))
        this.#deliver(Buffer.from(`${JSON.stringify({ method: DROPPED_METHOD, params: { count }, sessionId })}\0`));
    this.#missing.clear();
  }

  /**
   * Return the bucket of a message. Errors are counted apart from other messages, and each page with its workers apart
   * from other pages.
   *
   * @type {(message: Buffer, session: string) => Bucket}
   */
  #bucketOf(message, session) {
    const type = /"type":"(\w+)"/.exec(message.toString("latin1", 0, HEAD_BYTES))?.[1] ?? "";
    const key = `${methodOf(message)} ${type} ${this.#targets.pageOf(session)}`;
    return use(this.#buckets, key, () => newBucket(EVENTS));
  }

  /** @returns {void} */
  #releaseLater() {
    if (this.#releasing) return;
    this.#releasing = true;
    setTimeout(() => this.#release(), RELEASE_MS).unref();
  }

  /** @returns {void} */
  #release() {
    this.#releasing = false;
    for (const bucket of this.#buckets.values()) {
      refill(bucket);
      while (bucket.left >= 1) {
        const next = bucket.held.shift();
        if (!next) break;
        bucket.heldCost -= next.cost;
        bucket.left -= next.cost;
        this.#deliver(next.message);
      }
      if (bucket.held.length) this.#releaseLater();
    }
  }

  /** @type {(command: object) => number} */
  #command(command) {
    this.#lastId += 1;
    this.#send({ id: this.#lastId, ...command });
    return this.#lastId;
  }
}

/**
 * Return the session id at the end of a message, or "".
 *
 * @type {(message: Buffer) => string}
 */
function sessionOf(message) {
  return message.subarray(-TAIL_BYTES).toString("latin1").split('"sessionId":"')[1]?.split('"')[0] ?? "";
}

/**
 * Return how many values a message has, with the objects in previews of objects.
 *
 * @type {(message: Buffer) => number}
 */
function countValues(message) {
  let count = 0;
  for (let at = message.indexOf(VALUE); at !== -1; at = message.indexOf(VALUE, at + VALUE.length)) count += 1;
  return count;
}

/** @type {(parts: Buffer[]) => Buffer} */
const endOf = (parts) => Buffer.concat(parts.slice(-2));

/**
 * Return how many bytes a message with this beginning may have.
 *
 * @type {(head: Buffer) => number}
 */
function maxBytesOf(head) {
  if (isValue(head)) return MAX_REPLY_BYTES;
  const method = methodOf(head);
  if (LIMITED.has(method)) return MAX_EVENT_BYTES;
  return method.startsWith(REQUEST_PREFIX) || method === PAUSED_METHOD ? MAX_REQUEST_BYTES : Infinity;
}

/**
 * Return the method of an event, or "" for a reply.
 *
 * @type {(message: Buffer) => string}
 */
function methodOf(message) {
  const head = message.toString("latin1", 0, HEAD_BYTES);
  return head.startsWith(PREFIX) ? head.slice(PREFIX.length, head.indexOf('"', PREFIX.length)) : "";
}

/** @type {(fromBrowser: Stream, toBrowser: WritableStream) => void} */
function limitEvents(fromBrowser, toBrowser) {
  const { on } = fromBrowser;
  const { write } = toBrowser;
  /** @type {(command: object) => void} */
  const send = (command) => {
    if (toBrowser.writable) write.call(toBrowser, `${JSON.stringify(command)}\0`);
  };
  fromBrowser.on = function (name, listener) {
    if (name !== "data") return on.call(this, name, listener);
    const limits = new EventLimits(listener, send);
    toBrowser.write = function (data, ...rest) {
      limits.noteCommand(data);
      return write.call(this, data, ...rest);
    };
    return on.call(this, name, (/** @type {Buffer} */ chunk) => limits.read(chunk));
  };
}

const { spawn } = childProcess;
childProcess.spawn = function (/** @type {any[]} */ ...parameters) {
  const child = spawn.apply(this, parameters);
  const fromBrowser = child.stdio?.[FROM_BROWSER];
  const toBrowser = child.stdio?.[TO_BROWSER];
  if (fromBrowser && toBrowser && "write" in toBrowser) limitEvents(fromBrowser, toBrowser);
  return child;
};

// The processes that the driver starts must not load this file, and manage their memory themselves.
delete process.env.FOOTLIGHT_DRIVER_CACHE;
delete process.env.MALLOC_ARENA_MAX;
delete process.env.MALLOC_MMAP_THRESHOLD_;
process.env.NODE_OPTIONS = process.env.NODE_OPTIONS_OF_USER ?? "";
if (!process.env.NODE_OPTIONS) delete process.env.NODE_OPTIONS;
delete process.env.NODE_OPTIONS_OF_USER;

module.exports = { EventLimits };
