// Reads and compiles the driver's own scripts in less time and memory than Node.js.
//
// Node.js keeps the source of a script with two bytes for each character if a single one of them is not ASCII, and the
// driver's scripts have a few such characters among seven million. They are read as escapes here, which mean the same in
// comments, strings and names.
//
// The compiled functions are kept in a file when a driver ends that has opened a page, with all functions that this
// takes. The cache of Node.js has only those that run while a script is loaded.
"use strict";

const { isAscii } = require("node:buffer");
const fs = require("node:fs");
const Module = require("node:module");
const { dirname, join, parse } = require("node:path");
const vm = require("node:vm");
const { crc32 } = require("node:zlib");

const DRIVER_FOLDER = /[\\/]playwright[\\/]driver[\\/]/;
const MIN_BYTES = 1_048_576;
const PART_BYTES = 4_096;
const BACKSLASH = 92;
const FIRST_NOT_ASCII = 128;
const WRAPPER = Module.wrap("\0")
  .split("\0")
  .map((text) => Buffer.from(text));
const CHECKSUM_BYTES = 4;
const MAX_FILES = 8; // In the folder of compiled scripts. The oldest ones are deleted.

/** The folder of compiled scripts, or "" if none are kept. */
const folder = (!process.env.NODE_DISABLE_COMPILE_CACHE && process.env.FOOTLIGHT_DRIVER_CACHE) || "";

/** @type {Map<string, vm.Script>} the scripts whose functions are to be kept, by the path of the file for them */
const unsaved = new Map();
let hasOpenedPage = false;

/**
 * Return the source of a script as a function of a module, in ASCII if that is possible.
 *
 * @type {(path: string) => string}
 */
function readSource(path) {
  const bytes = fs.readFileSync(path);
  const [head, tail] = WRAPPER;
  const parts = [head];
  for (let at = 0, end = 0; at < bytes.length; at = end) {
    end = Math.min(at + PART_BYTES, bytes.length);
    while (end < bytes.length && (bytes[end] >= FIRST_NOT_ASCII || bytes[end - 1] === BACKSLASH)) end++;
    const part = bytes.subarray(at, end);
    const text = isAscii(part) ? null : part.toString();
    if (text && /\\[^\0-\x7f]/.test(text)) return Module.wrap(bytes.toString()); // An escape would change its meaning.
    parts.push(text === null ? part : Buffer.from(escaped(text)));
  }
  const ascii = Buffer.concat([...parts, tail]);
  const source = ascii.latin1Slice();
  free(bytes);
  free(ascii);
  return source;
}

/**
 * Free the memory of a large buffer now: nothing else would until the driver needs more. Small ones share their memory.
 *
 * @type {(bytes: Buffer) => void}
 */
function free({ buffer }) {
  if (buffer.byteLength >= MIN_BYTES) /** @type {any} */ (buffer).transfer(0);
}

/** @type {(text: string) => string} */
function escaped(text) {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * Return the path of the file with the compiled functions of a script. The file of another version has another path.
 *
 * @type {(path: string) => string}
 */
function compiledPathOf(path) {
  const { mtimeMs, size } = fs.statSync(path);
  const version = crc32([path, size, mtimeMs, process.version, process.arch, ...process.execArgv].join("\n"));
  return join(folder, `${parse(path).name}-${version.toString(16)}`);
}

/** @type {(file: string) => Buffer | undefined} */
function readCompiled(file) {
  try {
    const bytes = fs.readFileSync(file);
    const compiled = bytes.subarray(CHECKSUM_BYTES);
    return bytes.readUInt32LE() === crc32(compiled) ? compiled : undefined;
  } catch {
    return undefined; // It was not written yet, or not completely.
  }
}

/** @type {(module: any, path: string) => void} */
function load(module, path) {
  const file = folder && compiledPathOf(path);
  const cachedData = file ? readCompiled(file) : undefined;
  const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  const script = new vm.Script(readSource(path), { filename: path, cachedData, importModuleDynamically });
  if (file && (!cachedData || script.cachedDataRejected)) unsaved.set(file, script);
  if (cachedData) free(cachedData);
  const { exports } = module;
  script.runInThisContext().call(exports, exports, Module.createRequire(path), module, path, dirname(path));
}

/** @type {() => void} */
function save() {
  for (const [file, script] of unsaved) {
    const compiled = script.createCachedData();
    const bytes = Buffer.alloc(CHECKSUM_BYTES + compiled.length);
    bytes.writeUInt32LE(crc32(compiled));
    compiled.copy(bytes, CHECKSUM_BYTES);
    fs.writeFileSync(`${file}.${process.pid}`, bytes, { mode: 0o600 });
    fs.renameSync(`${file}.${process.pid}`, file);
  }
}

/** @type {() => void} */
function deleteOldFiles() {
  const paths = fs.readdirSync(folder).map((name) => join(folder, name));
  const times = new Map(paths.map((path) => [path, fs.statSync(path).mtimeMs]));
  const newestFirst = paths.sort((one, other) => (times.get(other) ?? 0) - (times.get(one) ?? 0));
  for (const path of newestFirst.slice(MAX_FILES)) fs.rmSync(path, { force: true, recursive: true });
}

if (folder)
  process.once("exit", () => {
    if (!hasOpenedPage || !unsaved.size) return;
    try {
      save();
      deleteOldFiles();
    } catch {
      // No room, or another process has deleted a file: the next driver compiles its scripts itself.
    }
  });

const extensions = /** @type {any} */ (Module)._extensions;
const loadOther = extensions[".js"];
// PLAYWRIGHT_NODEJS_PATH may name a Node.js that lacks these: before 22.
if ("transfer" in ArrayBuffer.prototype && typeof crc32 === "function")
  extensions[".js"] = (/** @type {any} */ module, /** @type {string} */ path) => {
    const isLarge = path.endsWith("Bundle.js") && DRIVER_FOLDER.test(path) && fs.statSync(path).size > MIN_BYTES;
    return (isLarge ? load : loadOther)(module, path);
  };

// By then the scripts have been loaded.
setImmediate(() => (extensions[".js"] = loadOther));

module.exports = { noteOpenedPage: () => (hasOpenedPage = true) };
