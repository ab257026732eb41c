/** @type {NodeListOf<HTMLElement>} */
const found = document.querySelectorAll(".step");
const steps = [...found];
/** @type {HTMLElement | null} */
const toolbar = document.querySelector(".toolbar");
const [failed, moved, tool, all, shown] = ["failed", "moved", "tool", "all", "shown"].map(
  (name) => /** @type {HTMLInputElement} */ (document.getElementById(name)),
);

/** @returns {void} */
function choose() {
  for (const step of steps)
    step.hidden =
      (failed.checked && !step.classList.contains("failed")) ||
      (moved.checked && !step.classList.contains("moved")) ||
      (tool.value !== "" && step.dataset.tool !== tool.value);
  for (const visit of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".visit")))
    visit.hidden = !visit.querySelector(".step:not([hidden])");
  const left = steps.filter((step) => !step.hidden).length;
  shown.value = left === steps.length ? `${left} steps` : `${left} of ${steps.length} steps`;
}

/** @type {(step: HTMLElement, open: boolean) => void} */
function openDetails(step, open) {
  const details = step.querySelector("details");
  if (details) details.open = open;
}

/** @type {(open: boolean) => void} */
function openAll(open) {
  for (const step of steps) openDetails(step, open);
  all.textContent = open ? "Close all" : "Open all";
}

/** @returns {void} */
function openTarget() {
  const step = steps.find((each) => `#${each.id}` === location.hash);
  if (!step) return;
  if (step.hidden) {
    failed.checked = moved.checked = false;
    tool.value = "";
    choose();
  }
  openDetails(step, true);
  step.scrollIntoView();
}

if (toolbar) {
  toolbar.hidden = false;
  toolbar.addEventListener("input", choose);
}
all.addEventListener("click", () => openAll(all.textContent === "Open all"));
addEventListener("hashchange", openTarget);
addEventListener("beforeprint", () => openAll(true));
choose();
openTarget();
