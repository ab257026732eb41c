// Halves the memory for the source of the driver's own scripts. Node.js keeps the source of a script with two bytes for
// each character if a single one of them is not ASCII, and the driver's scripts have a few such characters among seven
// million. They are read as escapes here, which mean the same in comments, strings and names.
"use strict";

const { isAscii } = require("node:buffer");
const fs = require("node:fs");

const DRIVER_FOLDER = /[\\/]playwright[\\/]driver[\\/]/;
const MIN_BYTES = 1_048_576;
const PART_BYTES = 4_096;
const BACKSLASH = 92;
const FIRST_NOT_ASCII = 128;

const { readFileSync } = fs;

/** @type {(path: string) => string} */
function readAscii(path) {
  /** @type {Buffer} */
  const bytes = readFileSync(path);
  if (bytes.length < MIN_BYTES) return bytes.toString();
  const parts = [];
  for (let at = 0, end = 0; at < bytes.length; at = end) {
    end = Math.min(at + PART_BYTES, bytes.length);
    while (end < bytes.length && (bytes[end] >= FIRST_NOT_ASCII || bytes[end - 1] === BACKSLASH)) end++;
    const part = bytes.subarray(at, end);
    const text = isAscii(part) ? null : part.toString();
    if (text && /\\[^\0-\x7f]/.test(text)) return bytes.toString(); // An escape there would mean something else.
    parts.push(text === null ? part : Buffer.from(escaped(text)));
  }
  const ascii = Buffer.concat(parts);
  const source = ascii.latin1Slice();
  // Free both copies now: nothing else would until the driver needs more memory.
  for (const { buffer } of [bytes, ascii]) /** @type {any} */ (buffer).transfer(0);
  return source;
}

/** @type {(text: string) => string} */
function escaped(text) {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** @type {(path: string) => boolean} */
const isDriverScript = (path) => path.endsWith("Bundle.js") && DRIVER_FOLDER.test(path);

fs.readFileSync = (path, options) =>
  options === "utf8" && isDriverScript(path) ? readAscii(path) : readFileSync(path, options);

// By then the scripts have been read.
setImmediate(() => (fs.readFileSync = readFileSync));
