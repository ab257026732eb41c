// Read the timings that the browser recorded while the page loaded, when no more requests come or the time is over.

import { describeAll, documentRoot, isVisible, own } from "./dom.js";
import { recordedEntries } from "./entries.js";

const MAX_QUIET_WAIT_MS = 5000;
const QUIET_MS = 500;
/** Long enough for a page on which nothing can ask for more. */
const STILL_MS = 120;
const LARGE_IMAGE = 100_000;
const WASTED = 2.5;
const TEXTS = /^(text\/|application\/(javascript|json|xml|manifest)|image\/svg)/;
const LARGE_TEXT = 50_000;

await quiet();
const [document_] = navigations();
const resources = loadedResources();
const [paints, largest, tasks] = await Promise.all(
  ["paint", "largest-contentful-paint", "longtask"].map((type) => recordedEntries(type)),
);
/** @type {PerformanceResourceTiming[]} */
const all = [document_, ...resources].filter(Boolean);
const first = paints.find((each) => each.name === "first-contentful-paint")?.startTime;
/** @type {<T>(list: T[], of: (each: T) => number) => number} */
const sum = (list, of) => list.reduce((total, each) => total + of(each), 0);
/** @type {(each: PerformanceResourceTiming) => number} */
const sizeOf = (each) => each.transferSize || each.encodedBodySize;

/** @returns {Record<string, any>} */
export function answer() {
  return {
    type: document_?.type,
    metrics: {
      status: document_?.responseStatus || null,
      ttfb_ms: document_?.responseStart || null,
      fcp_ms: first,
      lcp_ms: largest.at(-1)?.startTime,
      blocking_ms: sum(
        tasks.filter((each) => each.startTime + each.duration > (first ?? 0)),
        (each) => Math.max(each.duration - 50, 0),
      ),
      load_ms: document_?.loadEventEnd || null,
      redirects: document_?.redirectCount,
      requests: all.length,
      transferred_bytes: sum(all, sizeOf),
      elements: own.getElementsByTagName(document, "*").length,
    },
    kinds: kindsOf(all),
    largest: all
      .toSorted((one, other) => sizeOf(other) - sizeOf(one))
      .slice(0, 3)
      .map((each) => ({ url: each.name, bytes: sizeOf(each) })),
    unweighed: resources.filter((each) => !each.transferSize && !each.decodedBodySize).length,
    lcp: describeAll(
      [largest.at(-1)?.element].filter((each) => each != null),
      () => `shown ${Math.round(largest.at(-1)?.startTime)} ms after the page was asked for`,
    ),
    "oversized-image": oversized(),
    uncompressed: uncompressed(),
    "late-paint": waitedFor(),
  };
}

/** @returns {PerformanceNavigationTiming[]} */
function navigations() {
  return /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
}

/** @returns {PerformanceResourceTiming[]} */
function loadedResources() {
  return /** @type {PerformanceResourceTiming[]} */ (performance.getEntriesByType("resource"));
}

/**
 * Wait until the page is loaded and requests nothing more. Some pages never stop.
 *
 * @returns {Promise<void>}
 */
async function quiet() {
  const until = performance.now() + MAX_QUIET_WAIT_MS;
  /** @type {(ms: number) => Promise<void>} */
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  /** @returns {boolean} */
  const isLoading = () => own.readyState(document) !== "complete" || !navigations()[0]?.loadEventEnd;
  /** @returns {number} */
  const lastEnd = () => Math.max(0, ...loadedResources().map((each) => each.responseEnd || each.startTime));
  while (
    performance.now() < until &&
    (isLoading() ||
      performance.now() - Math.max(lastEnd(), navigations()[0].loadEventEnd) < (isStill() ? STILL_MS : QUIET_MS))
  )
    await wait(40);
}

/**
 * Return whether the page has nothing that could ask for more: no scripts, no frames, nothing that still loads.
 *
 * @returns {boolean}
 */
function isStill() {
  return (
    !own.querySelector(document, "script, iframe, frame, object, embed, video, audio, [onload], [onerror]") &&
    document.fonts?.status !== "loading" &&
    images().every((each) => each.complete)
  );
}

/** @returns {HTMLImageElement[]} */
function images() {
  return /** @type {HTMLImageElement[]} */ ([...own.getElementsByTagName(document, "img")]);
}

/** @returns {ReturnType<typeof describeAll>} */
function oversized() {
  const bytes = new Map(resources.map((each) => [each.name, each.encodedBodySize]));
  /** @type {(image: HTMLImageElement) => boolean} */
  const isOversized = (image) => {
    const box = own.getBoundingClientRect(image);
    return (
      isVisible(image) &&
      !image.srcset &&
      !own.closest(image, "picture") &&
      (bytes.get(image.currentSrc) ?? 0) > LARGE_IMAGE &&
      image.naturalWidth > box.width * WASTED &&
      image.naturalHeight > box.height * WASTED
    );
  };
  /** @type {(image: HTMLImageElement) => string} */
  const noteOf = (image) => {
    const box = own.getBoundingClientRect(image);
    return `${image.naturalWidth} × ${image.naturalHeight} px and ${kilobytes(bytes.get(image.currentSrc) ?? 0)} for ${Math.round(box.width)} × ${Math.round(box.height)} px on the screen`;
  };
  return describeAll(images().filter(isOversized), noteOf);
}

/** @returns {ReturnType<typeof describeAll>} */
function uncompressed() {
  /** @type {(each: PerformanceResourceTiming) => boolean} */
  const isText = (each) => TEXTS.test(each.contentType ?? "");
  const found = all.filter(
    (each) =>
      isText(each) &&
      each.decodedBodySize > LARGE_TEXT &&
      each.encodedBodySize === each.decodedBodySize &&
      !each.contentEncoding,
  );
  /** @type {Map<AnyElement, PerformanceResourceTiming>} */
  const loaded = new Map();
  for (const each of found) {
    const element = each === document_ ? documentRoot() : loaderOf(each.name);
    if (element && !loaded.has(element)) loaded.set(element, each);
  }
  return describeAll([...loaded.keys()], (element) => {
    const each = loaded.get(element);
    return `${kilobytes(each?.decodedBodySize ?? 0)} as they are: ${each?.name}`;
  });
}

/** @type {(url: string) => AnyElement | undefined} */
function loaderOf(url) {
  return [...own.querySelectorAll(document, "script[src], link[href]")].find((each) => addressOf(each) === url);
}

/** @type {(element: AnyElement) => string | undefined} */
function addressOf(element) {
  return element.src || element.href;
}

/**
 * Return the resources that delayed the first paint.
 *
 * @returns {ReturnType<typeof describeAll>}
 */
function waitedFor() {
  const found = resources.filter(
    (each) => each.renderBlockingStatus === "blocking" && first && each.responseEnd <= first && each.duration > 1000,
  );
  const urls = found.map((each) => each.name);
  const elements = [...own.querySelectorAll(document, "script[src], link[rel~=stylesheet]")].filter((each) =>
    urls.includes(addressOf(each) ?? ""),
  );
  return describeAll(elements, (each) => {
    const duration = found.find((entry) => entry.name === addressOf(each))?.duration ?? 0;
    return `took ${Math.round(duration)} ms; the first paint came at ${Math.round(first)} ms`;
  });
}

/** @type {(entries: PerformanceResourceTiming[]) => Record<string, { count: number, bytes: number }>} */
function kindsOf(entries) {
  /** @type {Record<string, { count: number, bytes: number }>} */
  const kinds = {};
  for (const each of entries) {
    const type = each.contentType ?? "";
    const kind =
      each === document_
        ? "document"
        : each.initiatorType === "script" || /javascript/.test(type)
          ? "script"
          : /^image\//.test(type) || each.initiatorType === "img"
            ? "image"
            : /css/.test(type)
              ? "style"
              : /font/.test(type)
                ? "font"
                : "other";
    kinds[kind] ??= { count: 0, bytes: 0 };
    kinds[kind].count++;
    kinds[kind].bytes += sizeOf(each);
  }
  return kinds;
}

/** @type {(bytes: number) => string} */
function kilobytes(bytes) {
  return `${Math.round(bytes / 1000)} kB`;
}
