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
  if (room < 0) return `The page returned more than ${MAX_REPLY_BYTES} bytes`;
  if (room > MAX_REPLY_BYTES - MAX_VALUES) return "";
  return hasTooManyValues(parts) ? `The page returned more than ${MAX_VALUES} values` : "";
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
 * Return the reply that replaces one that is too large or has no value: an exception of the script.
 *
 * @type {(head: Buffer, reason: string, sessionId: string) => Buffer}
 */
function failure(head, reason, sessionId) {
  const id = /^\{"id":(\d+)/.exec(head.toString("latin1", 0, HEAD_BYTES))?.[1];
  // Playwright passes on an exception of a script, but treats a protocol error as a navigation.
  const result = { result: { type: "undefined" }, exceptionDetails: exceptionOf(reason) };
  return Buffer.from(`${JSON.stringify({ id: Number(id), result, ...(sessionId && { sessionId }) })}\0`);
}

/**
 * Return the description of an uncaught exception, as Chromium gives it.
 *
 * @type {(reason: string) => object}
 */
const exceptionOf = (reason) => ({
  ...{ exceptionId: 1, text: "Uncaught", lineNumber: 0, columnNumber: 0 },
  exception: { type: "object", subtype: "error", className: "Error", description: `Error: ${reason}` },
});

/**
 * Return a number with a comma before each three digits. `toLocaleString` would add 12 ms to the start of the driver.
 *
 * @type {(count: number) => string}
 */
function inThousands(count) {
  if (count < 1_000) return String(count);
  return `${inThousands(Math.floor(count / 1_000))},${String(count % 1_000).padStart(3, "0")}`;
}

module.exports = { exceptionOf, excessOf, failure, inThousands, isValue, MAX_REPLY_BYTES };
