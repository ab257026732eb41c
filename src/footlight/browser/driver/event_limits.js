// Limits how many events about a page's console, WebSockets and requests reach the driver, and the size of values that a
// page returns. Loaded into the driver's process before its own code.
//
// The driver parses all messages of browsers in order, and has no limit for those that wait. A page that writes 20,000
// messages a second to its console would delay the replies to all other pages. It would also delay them in the browser,
// so a page that does not stop, or that adds frames without end, gets less of the processor.
"use strict";

const childProcess = require("node:child_process");
const { DroppedRequests, REQUEST_METHOD } = require("./dropped_requests.js");
const { excessOf, isValue, MAX_REPLY_BYTES, refusal } = require("./reply_limits.js");

// The file descriptors by which a browser receives and sends messages. Each message ends with a zero byte.
const TO_BROWSER = 3;
const FROM_BROWSER = 4;
/** @typedef {{ burst: number, perSecond: number }} Rate how many events a page may send at once, and then per second */
const EVENTS = { burst: 2_500, perSecond: 500 };
const REQUESTS = { burst: 2_000, perSecond: 100 }; // The driver and the server work longer for each.
const BYTES_PER_EVENT = 4_096; // A longer event counts as several.
const MAX_HELD = 200; // The number of messages of a page that the driver keeps.
const RELEASE_MS = 100;
const MAX_BUCKETS = 1_000;
const HEAD_BYTES = 96;
const TAIL_BYTES = 64;
const FLOOD_MS = 1_000; // A shorter burst does not slow a page down.
const FLOOD_PAUSE_MS = 500; // A flood is over after this time without an event above the limit.
const SLOWDOWN = 20;
const MIN_SLOWDOWN_MS = 4_000;
const MAX_SLOWDOWN_MS = 32_000;
const FIRST_ID = 2_000_000_000; // The ids of our own commands. The driver counts its ids from 1.
const SPEED_METHOD = "Emulation.setCPUThrottlingRate";
const PREFIX = '{"method":"';
const LIMITED = new Set([
  "Log.entryAdded",
  "Network.eventSourceMessageReceived",
  "Network.webSocketFrameError",
  "Network.webSocketFrameReceived",
  "Network.webSocketFrameSent",
  "Runtime.consoleAPICalled",
  "Runtime.exceptionThrown",
]);
const FRAME_METHOD = "Page.frameAttached"; // The driver must know each frame. A page with too many is slowed down.
const FRAME_COST = 25; // The driver and the browser work longer for a frame than for a message.

/** @typedef {{ message: Buffer, cost: number }} Held a message that is held back, and the number of events that it counts as */

/**
 * The events of one page, kind and type that may still be delivered, and those that are held back.
 *
 * @typedef {object} Bucket
 * @property {Rate} rate
 * @property {number} left how many events may still be delivered
 * @property {number} at when `left` was computed
 * @property {Held[]} held
 * @property {number} heldCost
 */

/**
 * The events of one page above the limits: those that are dropped, and frames, which are all delivered.
 *
 * @typedef {object} Flood
 * @property {number} began
 * @property {number} last when the last event was dropped
 * @property {number} slowMs how long the page is slowed down the next time
 * @property {number} until when it stops being slowed down
 */

class EventLimits {
  /** @type {Map<string, Bucket>} */
  #buckets = new Map();
  /** @type {Map<string, Flood>} by the id of the browser's session */
  #floods = new Map();
  /** @type {Buffer[]} the parts of the incomplete message */
  #pending = [];
  /** how many more bytes that message may have; below 0 it is too large */
  #room = Infinity;
  #releasing = false;
  #requests;
  #deliver;
  #send;
  #lastId = FIRST_ID;
  #callerSetsSpeed = false;

  /**
   * @param {(part: Buffer) => void} deliver receives parts of the browser's messages
   * @param {(command: object) => void} send sends a command to the browser
   */
  constructor(deliver, send) {
    this.#deliver = deliver;
    this.#send = send;
    this.#requests = new DroppedRequests((params, sessionId) =>
      this.#command({ method: "Fetch.failRequest", params, ...(sessionId && { sessionId }) }),
    );
  }

  /**
   * Process a command of the driver. If a caller sets a page's speed itself, no page is slowed down any more, because
   * the caller's rate would be lost.
   *
   * @type {(command: string | Buffer) => void}
   */
  noteCommand(command) {
    if (String(command).slice(0, HEAD_BYTES).includes(SPEED_METHOD)) this.#callerSetsSpeed = true;
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
      const excess = this.#room === Infinity ? "" : excessOf(parts, this.#room);
      this.#pending = [];
      const method = methodOf(parts[0]);
      if (excess) this.#deliver(refusal(parts, excess, sessionOf(Buffer.concat(parts.slice(-2)))));
      else if (LIMITED.has(method)) this.#deliverLimited(Buffer.concat(parts));
      else if (method === FRAME_METHOD) this.#deliverFrame(Buffer.concat(parts));
      else if (method ? !this.#requests.drops(method, parts, countRequest) : !isOwnReply(parts[0]))
        parts.forEach(this.#deliver);
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
      this.#room = isValue(this.#pending[0]) ? MAX_REPLY_BYTES : Infinity;
      part = this.#pending[0];
    }
    this.#room -= part.length;
    // For a message that is too large, its beginning and its end are enough.
    if (this.#room < 0 && this.#pending.length > 3) this.#pending.splice(1, this.#pending.length - 3);
  }

  /** @type {(message: Buffer) => void} */
  #deliverLimited(message) {
    const cost = Math.ceil(message.length / BYTES_PER_EVENT);
    const session = sessionOf(message);
    const bucket = this.#bucketOf(message, session);
    refill(bucket);
    if (!bucket.held.length && bucket.left >= 1) {
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
      if (session) this.#slowDown(this.#noteFlood(session), session);
    }
    this.#releaseLater();
  }

  /** @type {(message: Buffer) => void} */
  #deliverFrame(message) {
    const session = sessionOf(message);
    const bucket = this.#bucketOf(message, session);
    refill(bucket);
    if (bucket.left >= FRAME_COST) bucket.left -= FRAME_COST;
    else if (session) this.#slowDown(this.#noteFlood(session), session);
    this.#deliver(message);
  }

  /**
   * Count a new request of a page, and return whether it is above the limit.
   *
   * @type {(message: Buffer) => boolean}
   */
  #countRequest(message) {
    const session = sessionOf(message);
    const bucket = use(this.#buckets, `${REQUEST_METHOD} ${session}`, () => newBucket(REQUESTS));
    refill(bucket);
    const isAbove = bucket.left < 1;
    if (!isAbove) bucket.left -= 1;
    else if (session) this.#slowDown(this.#noteFlood(session), session);
    return isAbove;
  }

  /**
   * Return the bucket of a message. Errors are counted apart from other messages, and each page apart from other pages.
   *
   * @type {(message: Buffer, session: string) => Bucket}
   */
  #bucketOf(message, session) {
    const type = /"type":"(\w+)"/.exec(message.toString("latin1", 0, HEAD_BYTES))?.[1] ?? "";
    const key = `${methodOf(message)} ${type} ${session}`;
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

  /**
   * Return the flood of a page that exceeds a limit now.
   *
   * @type {(session: string) => Flood}
   */
  #noteFlood(session) {
    const now = performance.now();
    const flood = use(this.#floods, session, () => ({
      began: now,
      last: now,
      slowMs: MIN_SLOWDOWN_MS,
      until: 0,
    }));
    if (now < flood.until) return flood;
    if (now - flood.last > FLOOD_PAUSE_MS) flood.began = now;
    flood.last = now;
    return flood;
  }

  /**
   * Slow down a page whose flood continues. Its next flood is expected to continue as well.
   *
   * @type {(flood: Flood, session: string) => void}
   */
  #slowDown(flood, session) {
    const now = performance.now();
    if (now < flood.until || this.#callerSetsSpeed) return;
    if (now - flood.began < FLOOD_MS) return;
    this.#setSpeed(session, SLOWDOWN);
    setTimeout(() => this.#setSpeed(session, 1), flood.slowMs).unref();
    flood.until = now + flood.slowMs;
    flood.slowMs = Math.min(flood.slowMs * 2, MAX_SLOWDOWN_MS);
  }

  /** @type {(sessionId: string, rate: number) => void} */
  #setSpeed(sessionId, rate) {
    if (!this.#callerSetsSpeed) this.#command({ method: SPEED_METHOD, params: { rate }, sessionId });
  }

  /** @type {(command: object) => void} */
  #command(command) {
    this.#lastId += 1;
    this.#send({ id: this.#lastId, ...command });
  }
}

/**
 * Return the entry of a key, and make it the last one of the map. If the key is new and the map is full, drop the least
 * recently used entry.
 *
 * @template Entry
 * @param {Map<string, Entry>} map
 * @param {string} key
 * @param {() => Entry} make
 * @returns {Entry}
 */
function use(map, key, make) {
  const entry = map.get(key) ?? make();
  map.delete(key);
  if (map.size >= MAX_BUCKETS) map.delete(map.keys().next().value ?? "");
  map.set(key, entry);
  return entry;
}

/**
 * Return the session id at the end of a message, or "".
 *
 * @type {(message: Buffer) => string}
 */
function sessionOf(message) {
  return message.subarray(-TAIL_BYTES).toString("latin1").split('"sessionId":"')[1]?.split('"')[0] ?? "";
}

/** @type {(rate: Rate) => Bucket} */
const newBucket = (rate) => ({ rate, left: rate.burst, at: performance.now(), held: [], heldCost: 0 });

/** @type {(bucket: Bucket) => void} */
function refill(bucket) {
  const now = performance.now();
  const { burst, perSecond } = bucket.rate;
  bucket.left = Math.min(burst, bucket.left + ((now - bucket.at) / 1_000) * perSecond);
  bucket.at = now;
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

/**
 * Return whether a message is the browser's reply to a command of this script.
 *
 * @type {(message: Buffer) => boolean}
 */
function isOwnReply(message) {
  const id = /^\{"id":(\d+)/.exec(message.toString("latin1", 0, HEAD_BYTES))?.[1];
  return Number(id) > FIRST_ID;
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

// The driver's scripts are compiled once and cached, which saves a fifth of its start time.
const compileCache = process.env.FOOTLIGHT_DRIVER_CACHE;
if (compileCache) require("node:module").enableCompileCache(compileCache);
delete process.env.FOOTLIGHT_DRIVER_CACHE;

// The processes that the driver starts must not load this file, and manage their memory themselves.
delete process.env.MALLOC_MMAP_THRESHOLD_;
process.env.NODE_OPTIONS = process.env.NODE_OPTIONS_OF_USER ?? "";
if (!process.env.NODE_OPTIONS) delete process.env.NODE_OPTIONS;
delete process.env.NODE_OPTIONS_OF_USER;

module.exports = { EventLimits };
