// What Python puts before the scripts of the audit, and what the type library does not know yet.

declare const AGAIN: boolean;
declare const FORGET: boolean;
declare const NARROW: boolean;
declare const WIDE: boolean;
declare const ADDRESSES: string[];
declare const axe: any;

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
  files: FileList;
  form: HTMLFormElement;
  indeterminate: boolean;
  labels: NodeListOf<HTMLLabelElement>;
  list: HTMLDataListElement;
  multiple: boolean;
  name: string;
  placeholder: string;
  popoverTargetElement: Element;
  position: number;
  readOnly: boolean;
  required: boolean;
  selectionEnd: number;
  selectionStart: number;
  selectedOptions: HTMLCollectionOf<HTMLOptionElement>;
  size: number;
  type: string;
  value: string;
  // Labels, options and slots.
  assignedNodes: HTMLSlotElement["assignedNodes"];
  control: AnyElement;
  label: string;
  selected: boolean;
  text: string;
  // Links, pictures and media.
  alt: string;
  complete: boolean;
  contentDocument: Document;
  contentWindow: Window;
  controls: boolean;
  currentSrc: string;
  data: string;
  duration: number;
  hash: string;
  href: string;
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
