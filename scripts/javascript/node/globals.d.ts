// The few members of Node.js that the scripts use. The published types would bring a package of their own.

interface Buffer extends Uint8Array {
  copy(target: Buffer, targetStart?: number): number;
  includes(value: number | string): boolean;
  indexOf(value: number | string, from?: number): number;
  latin1Slice(): string;
  lastIndexOf(value: number | string): number;
  readUInt32LE(offset?: number): number;
  subarray(start?: number, end?: number): Buffer;
  toString(encoding?: string, start?: number, end?: number): string;
  writeUInt32LE(value: number, offset?: number): number;
}

interface Stream {
  on(name: string, listener: (chunk: any) => void): this;
}

interface WritableStream extends Stream {
  readonly writable: boolean;
  write(data: string | Buffer, ...rest: unknown[]): boolean;
}

declare const Buffer: { alloc(size: number): Buffer; concat(parts: Buffer[]): Buffer; from(text: string): Buffer };
declare const performance: { now(): number };
declare const process: {
  arch: string;
  env: Record<string, string | undefined>;
  execArgv: string[];
  pid: number;
  version: string;
  once(event: "exit", listener: () => void): void;
};
declare const module: { exports: unknown };

declare function setImmediate(callback: () => void): unknown;
declare function setTimeout(callback: () => void, ms: number): { unref(): void };
declare module "node:buffer" {
  export function isAscii(bytes: Buffer): boolean;
}

declare module "node:child_process" {
  const childProcess: {
    spawn(...parameters: any[]): { stdio?: (Stream | WritableStream | null)[] };
  };
  export = childProcess;
}

declare module "node:fs" {
  const fs: {
    readFileSync(path: string): Buffer;
    readdirSync(path: string): string[];
    renameSync(path: string, to: string): void;
    rmSync(path: string, options: { force: boolean; recursive: boolean }): void;
    statSync(path: string): { mtimeMs: number; size: number };
    writeFileSync(path: string, data: Buffer, options: { mode: number }): void;
  };
  export = fs;
}

declare module "node:module" {
  export function createRequire(path: string): unknown;
  export function wrap(source: string): string;
}

declare module "node:path" {
  export function dirname(path: string): string;
  export function join(...parts: string[]): string;
  export function parse(path: string): { name: string };
}

declare module "node:vm" {
  interface ScriptOptions {
    filename: string;
    cachedData?: Buffer | undefined;
    importModuleDynamically: number;
  }
  export class Script {
    constructor(source: string, options: ScriptOptions);
    readonly cachedDataRejected?: boolean;
    createCachedData(): Buffer;
    runInThisContext(): (...parameters: any[]) => unknown;
  }
  export const constants: { readonly USE_MAIN_CONTEXT_DEFAULT_LOADER: number };
}

declare module "node:zlib" {
  export function crc32(data: Buffer | string): number;
}
