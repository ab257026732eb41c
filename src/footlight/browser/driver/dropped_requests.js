// The requests of a page that sends more of them than the driver can follow. The driver does not get to know them. If
// it decides about the page's requests, for mocks or credentials, they fail: it would be asked, and would never answer.
"use strict";

const REQUEST_METHOD = "Network.requestWillBeSent";
const PAUSED_METHOD = "Fetch.requestPaused";
const MAX_REQUESTS = 20_000; // Later events of older requests are delivered, and the driver ignores them.
const HEAD_BYTES = 96; // As much as the first part of each message has.

class DroppedRequests {
  /** @type {Set<string>} */
  #dropped = new Set();
  /** @type {Set<string>} the requests about which the driver was asked before it was told of them */
  #paused = new Set();
  #fail;

  /** @param {(params: object, sessionId: string) => void} fail lets the browser fail a paused request */
  constructor(fail) {
    this.#fail = fail;
  }

  /**
   * Return whether a new request, or a redirection of one, is dropped. Documents are not, because the driver must know
   * each navigation.
   *
   * @type {(message: Buffer, isAbove: boolean) => boolean}
   */
  dropsNew(message, isAbove) {
    const id = idIn(message);
    if (this.#dropped.has(id)) return true;
    const isAsked = this.#paused.delete(id);
    if (!isAbove || isAsked || isRedirected(message) || isDocument(message)) return false;
    add(this.#dropped, id);
    return true;
  }

  /**
   * Return whether an event belongs to a request that was dropped.
   *
   * @type {(method: string, parts: Buffer[]) => boolean}
   */
  drops(method, parts) {
    if (method === PAUSED_METHOD) return this.#dropsPaused(Buffer.concat(parts));
    return this.#dropped.size > 0 && method.startsWith("Network.") && this.#dropped.has(idIn(parts[0]));
  }

  /** @type {(message: Buffer) => boolean} */
  #dropsPaused(message) {
    const at = message.lastIndexOf('"networkId":"');
    const id = /"networkId":"([^"]+)"/.exec(message.toString("latin1", at, at + HEAD_BYTES))?.[1] ?? "";
    if (at < 0 || !this.#dropped.has(id)) {
      if (at >= 0) add(this.#paused, id);
      return false;
    }
    const { params, sessionId } = JSON.parse(message.toString("utf8", 0, message.length - 1));
    this.#fail({ requestId: params.requestId, errorReason: "Failed" }, sessionId);
    return true;
  }
}

/**
 * Return the id of the request in an event, which is its first parameter.
 *
 * @type {(message: Buffer) => string}
 */
const idIn = (message) => /"params":\{"requestId":"([^"]+)"/.exec(message.toString("latin1", 0, HEAD_BYTES))?.[1] ?? "";

// In a string of a page, the quotation marks have backslashes, and the values of headers are strings.
/** @type {(message: Buffer) => boolean} */
const isRedirected = (message) => message.includes('"redirectResponse":{');
/** @type {(message: Buffer) => boolean} */
const isDocument = (message) => {
  const type = '"type":"Document"';
  return message.lastIndexOf('"type":"') === message.lastIndexOf(type) && message.includes(type);
};

/** @type {(ids: Set<string>, id: string) => void} */
function add(ids, id) {
  ids.add(id);
  if (ids.size > MAX_REQUESTS) ids.delete(ids.values().next().value ?? "");
}

module.exports = { DroppedRequests, REQUEST_METHOD };
