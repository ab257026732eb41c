// Find the elements that requested the resources that could not be loaded: ADDRESSES.

import { allElements, describe, own } from "./dom.js";

const LOADERS = "script[src], link[href], img, source, video, audio, iframe, embed, object, input[type=image]";
const loaders = allElements().filter((each) => own.matches(each, LOADERS));

/** @returns {Record<string, any>} */
export function answer() {
  return { loaders: ADDRESSES.map(loaderOf) };
}

/** @type {(url: string) => object | null} */
function loaderOf(url) {
  const element = loaders.find((each) => [each.currentSrc, each.src, each.href, each.data].includes(url));
  if (!element) return null;
  const isCode =
    own.localName(element) === "script" ||
    (own.localName(element) === "link" && element.relList?.contains("stylesheet"));
  return {
    kind: isCode ? "code" : ["img", "source", "input"].includes(own.localName(element)) ? "image" : "other",
    ...describe(element),
  };
}
