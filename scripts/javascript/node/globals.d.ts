// The few members of Node.js that the scripts use. The published types would bring a package of their own.

interface Buffer extends Uint8Array {
  includes(value: number | string): boolean;
  indexOf(value: number | string, from?: number): number;
  latin1Slice(): string;
  lastIndexOf(value: number | string): number;
  subarray(start?: number, end?: number): Buffer;
  toString(encoding?: string, start?: number, end?: number): string;
}

interface Stream {
  on(name: string, listener: (chunk: any) => void): this;
}

interface WritableStream extends Stream {
  readonly writable: boolean;
  write(data: string | Buffer, ...rest: unknown[]): boolean;
}

declare const Buffer: { concat(parts: Buffer[]): Buffer; from(text: string): Buffer };
declare const performance: { now(): number };
declare const process: { env: Record<string, string | undefined> };
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
  const fs: { readFileSync(path: string, options?: unknown): any };
  export = fs;
}

declare module "node:module" {
  export function enableCompileCache(folder: string): void;
}
