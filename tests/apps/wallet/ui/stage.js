// The one screen that is shown. It is drawn anew whenever something changes, and what was typed is kept.

const REMOUNT_MS = 50;

const root = document.getElementById("app-content");
let current;
let pressed = false;
let late = false;

// A click that has begun is let end on the element where it began.
addEventListener("pointerdown", () => (pressed = true), true);
addEventListener("click", () => (pressed = false), true); // It has its target, and may change the screen at once.
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(release), true);

/** Show a screen: `draw(memory, redraw)` makes it. The same one again is only drawn anew. */
export function show(name, draw) {
  if (current?.name === name) current.draw = draw;
  else enter({ name, draw, memory: {} });
  render();
}

/** Forget what the screen remembers, so that it begins anew. */
export const leave = () => (current = undefined);

function enter(screen) {
  current = screen;
  delete root.dataset.mounted;
  // As React does after a navigation: what was just there is replaced by its like.
  setTimeout(() => {
    if (current !== screen) return;
    render();
    root.dataset.mounted = screen.name; // For tests whose machine is slow with this.
  }, REMOUNT_MS);
}

function render() {
  if (pressed) {
    late = true;
    return;
  }
  const before = root.firstElementChild;
  const { name, draw, memory } = current;
  const screen = draw(memory, render);
  screen.classList.add("screen");
  screen.dataset.screen = name;
  const focused = before?.dataset.screen === name ? keep(before, screen) : undefined;
  root.replaceChildren(screen);
  focused?.focus();
}

function release() {
  pressed = false;
  if (late) render();
  late = false;
}

/** Carry over what was typed and ticked in forms, and what was opened; the element that has the focus. */
function keep(before, after) {
  const kept = "form input, form textarea, details";
  const olds = [...before.querySelectorAll(kept)];
  for (const [at, element] of [...after.querySelectorAll(kept)].entries()) {
    const old = olds[at];
    if (old?.dataset.testid !== element.dataset.testid) continue;
    for (const property of ["value", "checked", "open"])
      if (property in element && element[property] !== old[property]) element[property] = old[property];
  }
  for (const form of after.querySelectorAll("form")) form.dispatchEvent(new Event("input"));
  const testid = document.activeElement?.dataset.testid;
  return testid && after.querySelector(`[data-testid="${testid}"]`);
}
