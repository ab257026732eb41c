// Limits the size of the values that a page returns. A reply that is too large becomes an exception of the script.
"use strict";

const MAX_REPLY_BYTES = 32 * 1024 * 1024; // Reading a larger value would delay the server's other callers.
const MAX_VALUES = 150_000; // The same for a value with more elements and properties.
const [QUOTE, COMMA, BACKSLASH] = Buffer.from('",\\');
const HEAD_BYTES = 96;

/**
 * Return whether a message with this beginning is the reply to a script: a value that a page returns.
 *
 * @type {(head: Buffer) => boolean}
 */
function isValue(head) {
  return /^\{"id":\d+,"result":\{"result":\{/.test(head.toString("latin1", 0, HEAD_BYTES));
}

/**
 * Return the limit that a complete reply exceeds, or "". `room` is how many more bytes the reply could have.
 *
 * @type {(parts: Buffer[], room: number) => string}
 */
function excessOf(parts, room) {
  if (room < 0) return `${MAX_REPLY_BYTES} bytes`;
  if (room > MAX_REPLY_BYTES - MAX_VALUES) return "";
  return hasTooManyValues(parts) ? `${MAX_VALUES} values` : "";
}

/**
 * Return whether there are too many commas outside the strings of a message.
 *
 * @type {(parts: Buffer[]) => boolean}
 */
function hasTooManyValues(parts) {
  let count = 0;
  let isInString = false;
  let isEscaped = false;
  for (const part of parts)
    for (const byte of part) {
      if (isEscaped) isEscaped = false;
      else if (byte === BACKSLASH) isEscaped = true;
      else if (byte === QUOTE) isInString = !isInString;
      else if (byte === COMMA && !isInString) count += 1;
    }
  return count > MAX_VALUES;
}

/**
 * Return the reply that replaces one that is too large: an exception of the script.
 *
 * @type {(parts: Buffer[], excess: string, sessionId: string) => Buffer}
 */
function refusal(parts, excess, sessionId) {
  const id = /^\{"id":(\d+)/.exec(parts[0].toString("latin1", 0, HEAD_BYTES))?.[1];
  const description = `Error: The page returned more than ${excess}`;
  // Playwright passes on an exception of a script, but treats a protocol error as a navigation.
  const exceptionDetails = {
    ...{ exceptionId: 1, text: "Uncaught", lineNumber: 0, columnNumber: 0 },
    exception: { type: "object", subtype: "error", className: "Error", description },
  };
  const result = { result: { type: "undefined" }, exceptionDetails };
  return Buffer.from(`${JSON.stringify({ id: Number(id), result, ...(sessionId && { sessionId }) })}\0`);
}

module.exports = { excessOf, isValue, MAX_REPLY_BYTES, refusal };
