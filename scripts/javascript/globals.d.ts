// What Python puts before the scripts of the audit, and what the type library does not know yet.

declare const AGAIN: boolean;
declare const MAX_WAYS: number;
declare const BEGINS: boolean;
declare const RENDERS: boolean;
declare const RULE: string | null;
declare const ONLY: AnyElement | null | undefined;
declare const FORGET: boolean;
declare const STABLE: boolean;
declare const NARROW: boolean;
declare const WIDE: boolean;
declare const MAX_SOURCE_LENGTH: number;
declare const ADDRESSES: string[];
declare const KNOWN_HERE: Record<string, any>;
declare const axe: any;

// A binding of Chromium's, which `browser/sessions/page_watch.py` adds.
declare function reportEffect(effect: "download" | "tab"): void;

// A function of Chromium's console.
declare function getEventListeners(
  target: EventTarget,
): Record<string, { listener: EventListenerOrEventListenerObject; passive: boolean; useCapture: boolean }[]>;

interface PerformanceResourceTiming {
  readonly contentEncoding?: string;
  readonly contentType?: string;
  readonly renderBlockingStatus?: string;
}

// An element whose tag is checked at run time, with the members that only some elements have.
type AnyElement = Element & Partial<Omit<HTMLElement, keyof Element> & SpecialMembers>;

interface SpecialMembers {
  // Fields.
  checked: boolean;
  disabled: boolean;
  editContext: { text: string } | null;
  files: FileList | null;
  form: HTMLFormElement | null;
  indeterminate: boolean;
  labels: NodeListOf<HTMLLabelElement> | null;
  list: HTMLDataListElement | null;
  multiple: boolean;
  name: string;
  placeholder: string;
  popoverTargetElement: Element | null;
  position: number;
  readOnly: boolean;
  required: boolean;
  selectionEnd: number | null;
  selectionStart: number | null;
  selectedOptions: HTMLCollectionOf<HTMLOptionElement>;
  size: number;
  type: string;
  value: string;
  // Labels, options and slots.
  assignedNodes: HTMLSlotElement["assignedNodes"];
  control: HTMLElement | null;
  label: string;
  selected: boolean;
  text: string;
  // Links, pictures and media.
  alt: string;
  autoplay: boolean;
  captureStream: () => MediaStream;
  complete: boolean;
  contentDocument: Document | null;
  contentWindow: Window | null;
  controls: boolean;
  currentSrc: string;
  data: string;
  duration: number;
  hash: string;
  href: string;
  networkState: number;
  readyState: number;
  loop: boolean;
  muted: boolean;
  naturalHeight: number;
  naturalWidth: number;
  pathname: string;
  paused: boolean;
  relList: DOMTokenList;
  src: string;
  srcset: string;
  // Tables.
  rows: HTMLCollectionOf<HTMLTableRowElement>;
}

// A table that inherits nothing, `{ __proto__: null, … }`: a key that it does not list is undefined in any page.
type Lookup<T> = Record<string, T | null | undefined>;
