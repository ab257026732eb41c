const findings = [...document.querySelectorAll(".finding")];
const toolbar = document.querySelector(".toolbar");

function choose() {
  const wanted = [...toolbar.querySelectorAll("[data-by]")].map((each) => [each.dataset.by, each.value]);
  const text = document.getElementById("by-text").value.trim().toLowerCase();
  for (const finding of findings)
    finding.hidden =
      wanted.some(([name, value]) => value && `=${finding.dataset[name] ?? ""}` !== value) ||
      !finding.textContent.toLowerCase().includes(text);
  for (const group of document.querySelectorAll("#findings > .group"))
    group.hidden = !group.querySelector(".finding:not([hidden])");
  const left = findings.filter((finding) => !finding.hidden).length;
  document.getElementById("no-finding").hidden = left > 0;
  document.getElementById("shown").value =
    left === findings.length ? `${left} shown` : `${left} of ${findings.length} shown`;
}

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.closest("[hidden]")) {
    for (const each of toolbar.querySelectorAll("select, input")) each.value = "";
    choose();
  }
  for (let each = target.closest("details"); each; each = each.parentElement.closest("details")) each.open = true;
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
