// Takes globals away before anything else runs, as LavaMoat's scuttling does. What the page's own world is asked
// to evaluate fails from here on; worlds apart have globals of their own.

for (const [owner, name] of [
  [globalThis, "eval"],
  [globalThis, "Function"],
  [Document.prototype, "querySelectorAll"],
]) {
  Object.defineProperty(owner, name, {
    configurable: false,
    get() {
      throw new Error(`"${name}" is not accessible under scuttling`);
    },
  });
}
