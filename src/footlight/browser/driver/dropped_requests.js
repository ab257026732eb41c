// The requests and WebSockets of a page that opens more of them than the driver can follow. The driver does not learn of
// them. If it decides about requests, for mocks or credentials, they fail: it would be asked, and would never answer.
"use strict";

const REQUEST_METHOD = "Network.requestWillBeSent";
const PAUSED_METHOD = "Fetch.requestPaused";
const REQUEST_PREFIX = "Network.";
const FIRST_METHODS = new Set([REQUEST_METHOD, PAUSED_METHOD, "Network.webSocketCreated"]);
const MAX_REQUESTS = 10_000; // Later events of older requests are delivered, and the driver ignores them.
const HEAD_BYTES = 96; // As much as the first part of each message has.

class DroppedRequests {
  /** @type {Set<string>} */
  #dropped = new Set();
  /** @type {Set<string>} the requests of which one event was delivered: that it is sent, or that it is paused */
  #kept = new Set();
  #fail;

  /** @param {(params: object, sessionId: string) => void} fail lets the browser fail a paused request */
  constructor(fail) {
    this.#fail = fail;
  }

  /**
   * Return whether to drop an event. The first event of a request decides about the others: that it is sent, that it is
   * paused, or that a WebSocket is created. `isAbove` counts a new request, and returns whether it is above the limit.
   *
   * @type {(method: string, parts: Buffer[], isAbove: (message: Buffer) => boolean) => boolean}
   */
  drops(method, parts, isAbove) {
    if (!FIRST_METHODS.has(method))
      return this.#dropped.size > 0 && method.startsWith(REQUEST_PREFIX) && this.#dropped.has(idIn(parts[0]));
    const message = Buffer.concat(parts);
    const id = method === PAUSED_METHOD ? networkIdIn(message) : idIn(message);
    if (!this.#dropped.has(id)) {
      if (!id || this.#kept.delete(id) || isNeeded(message) || !isAbove(message)) {
        add(this.#kept, id);
        return false;
      }
      add(this.#dropped, id);
    }
    if (method === PAUSED_METHOD) {
      const { params, sessionId } = JSON.parse(message.toString("utf8", 0, message.length - 1));
      this.#fail({ requestId: params.requestId, errorReason: "Failed" }, sessionId);
    }
    return true;
  }

  /**
   * Drop an event of which only the beginning is known. Return whether it is the first one of a request.
   *
   * @type {(method: string, head: Buffer, sessionId: string) => boolean}
   */
  drop(method, head, sessionId) {
    const id = idIn(head);
    if (method === PAUSED_METHOD) this.#fail({ requestId: id, errorReason: "Failed" }, sessionId);
    else if (FIRST_METHODS.has(method)) add(this.#dropped, id);
    return FIRST_METHODS.has(method);
  }
}

/**
 * Return the id of the request in an event, which is its first parameter.
 *
 * @type {(message: Buffer) => string}
 */
const idIn = (message) => /"params":\{"requestId":"([^"]+)"/.exec(message.toString("latin1", 0, HEAD_BYTES))?.[1] ?? "";

/** @type {(message: Buffer) => string} */
function networkIdIn(message) {
  const at = message.lastIndexOf('"networkId":"');
  return at < 0 ? "" : (/"networkId":"([^"]+)"/.exec(message.toString("latin1", at, at + HEAD_BYTES))?.[1] ?? "");
}

/**
 * Return whether the driver must know a request: one for a document, or one that continues another. In a string of a
 * page, the quotation marks have backslashes, and the values of headers are strings.
 *
 * @type {(message: Buffer) => boolean}
 */
function isNeeded(message) {
  if (message.includes('"redirectResponse":{') || message.includes('"redirectedRequestId":"')) return true;
  return ['"type":"', '"resourceType":"'].some((key) => {
    const at = message.lastIndexOf(key);
    return at >= 0 && message.indexOf('Document"', at) === at + key.length;
  });
}

/** @type {(ids: Set<string>, id: string) => void} */
function add(ids, id) {
  ids.add(id);
  if (ids.size > MAX_REQUESTS) ids.delete(ids.values().next().value ?? "");
}

module.exports = { DroppedRequests, PAUSED_METHOD, REQUEST_METHOD, REQUEST_PREFIX };
