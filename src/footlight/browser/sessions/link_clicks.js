// Report clicks on links that download a file or open a tab.

const MAX_REPORTS = 50; // In each period. A script of the page can click much faster, and nobody needs all reports.
const PERIOD_MS = 500;

let began = 0;
let reports = 0;

/** @type {(effect: "download" | "tab") => void} */
function report(effect) {
  reports += 1;
  reportEffect(effect);
}

/** @type {(event: MouseEvent) => void} */
function reportLink(event) {
  const now = performance.now();
  if (now - began > PERIOD_MS) [began, reports] = [now, 0];
  if (reports >= MAX_REPORTS) return;
  const link = event.composedPath().find((each) => each instanceof Element && each.localName === "a");
  if (!(link instanceof Element && link.hasAttribute("href"))) return;
  if (link.hasAttribute("download")) report("download");
  else if (event.button === 1 || event.ctrlKey || event.metaKey || event.shiftKey) report("tab");
}

// The press precedes its click, so the report has arrived when the click is done.
addEventListener("pointerdown", reportLink, true);
addEventListener("click", reportLink, true);
