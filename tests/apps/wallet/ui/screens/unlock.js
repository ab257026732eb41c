import { field, form, h } from "../dom.js";
import { ask } from "../worker.js";

export function unlock(state, memory, redraw) {
  const password = h("input", {
    type: "password",
    testid: "unlock-password",
    autocomplete: "current-password",
    placeholder: "Enter your password",
  });
  const tryIt = async () => {
    try {
      await ask("unlock", { password: password.value });
    } catch (error) {
      memory.error = error.message;
      redraw();
    }
  };
  return h(
    "main",
    { testid: "unlock-page" },
    h("h1", {}, "Welcome back"),
    form(
      {
        submit: { testid: "unlock-submit", name: "Unlock" },
        isValid: () => password.value !== "",
        onsubmit: tryIt,
        error: memory.error,
      },
      field("Password", password),
    ),
  );
}
