// Report clicks on links that download a file or open a tab.

/** @type {(event: MouseEvent) => void} */
function reportLink(event) {
  const link = event.composedPath().find((each) => each instanceof Element && each.localName === "a");
  if (!(link instanceof Element && link.hasAttribute("href"))) return;
  if (link.hasAttribute("download")) reportEffect("download");
  else if (event.button === 1 || event.ctrlKey || event.metaKey || event.shiftKey) reportEffect("tab");
}

// The press precedes its click, so the report has arrived when the click is done.
addEventListener("pointerdown", reportLink, true);
addEventListener("click", reportLink, true);
