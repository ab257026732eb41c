// What Python puts before the scripts of the audit, and what the type library does not know yet.

declare const AGAIN: boolean;
declare const FORGET: boolean;
declare const NARROW: boolean;
declare const WIDE: boolean;
declare const ADDRESSES: string[];
declare const axe: any;

interface PerformanceResourceTiming {
  readonly contentEncoding?: string;
  readonly renderBlockingStatus?: string;
}
