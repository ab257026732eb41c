/** @type {NodeListOf<HTMLElement>} */
const found = document.querySelectorAll(".finding");
const findings = [...found];
/** @type {HTMLElement | null} */
const toolbar = document.querySelector(".toolbar");
/** @type {NodeListOf<HTMLElement>} */
const places = document.querySelectorAll(".place");
/** @type {NodeListOf<HTMLElement>} */
const groups = document.querySelectorAll("#findings > .group");
/** @type {NodeListOf<HTMLSelectElement>} */
const selects = document.querySelectorAll(".toolbar [data-by]");
const choices = [...selects];
const [text, shown, empty] = ["by-text", "shown", "no-finding"].map(
  (id) => /** @type {HTMLInputElement} */ (document.getElementById(id)),
);

/**
 * Return whether the choice leaves out the finding. A finding may be on several pages.
 *
 * @type {(choice: HTMLSelectElement, finding: HTMLElement) => boolean}
 */
function leavesOut({ dataset, value }, finding) {
  const own = finding.dataset[dataset.by ?? ""] ?? "";
  return value !== "" && !(dataset.by === "page" ? own.split(" ") : [own]).includes(value.slice(1));
}

/** @returns {void} */
function choose() {
  const words = text.value.trim().toLowerCase();
  const byPage = choices.filter((choice) => choice.dataset.by === "page");
  for (const place of places) place.hidden = byPage.some((choice) => leavesOut(choice, place));
  for (const finding of findings)
    finding.hidden =
      choices.some((choice) => leavesOut(choice, finding)) || !finding.textContent.toLowerCase().includes(words);
  for (const group of groups) group.hidden = !group.querySelector(".finding:not([hidden])");
  const left = findings.filter((finding) => !finding.hidden).length;
  empty.hidden = left > 0;
  shown.value = left === findings.length ? `${left} shown` : `${left} of ${findings.length} shown`;
}

/** @returns {void} */
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.closest("[hidden]")) {
    for (const each of [...choices, text]) each.value = "";
    choose();
  }
  for (let each = target.closest("details"); each; each = each.parentElement?.closest("details") ?? null)
    each.open = true;
  target.scrollIntoView();
}

if (toolbar) {
  toolbar.hidden = false;
  toolbar.addEventListener("input", choose);
  choose();
}
addEventListener("hashchange", openTarget);
addEventListener("beforeprint", () => {
  for (const each of document.querySelectorAll("details")) each.open = true;
});
openTarget();
