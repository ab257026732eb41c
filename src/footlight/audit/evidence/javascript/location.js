// Where the browser is, and what the document says of itself.

/** @type {<T>(look: () => T) => T | null} */
const tryTo = (look) => {
  try {
    return look();
  } catch {
    return null;
  }
};

/** @returns {Record<string, unknown>} */
export function answer() {
  const navigation = () => /** @type {PerformanceNavigationTiming} */ (performance.getEntriesByType("navigation")[0]);
  return {
    url: location.href,
    title: document.title,
    type: document.contentType,
    referrer: document.referrer,
    document: tryTo(() => performance.timeOrigin),
    loaded: tryTo(() => navigation().name),
    status: tryTo(() => navigation().responseStatus),
    login: tryTo(() => [...document.querySelectorAll("[type=password]")].some((each) => each.checkVisibility())),
    scripts: tryTo(() => !matchMedia("(scripting: none)").matches),
    broken: tryTo(() => document.contentType !== "text/html" && document.querySelector("parsererror") !== null),
  };
}
