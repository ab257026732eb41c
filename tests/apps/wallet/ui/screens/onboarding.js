// From nothing to an account.

import { button, field, form, h } from "../dom.js";
import { go } from "../route.js";
import { ask } from "../worker.js";

const LENGTHS = [12, 15, 18, 21, 24];

let phrase; // What was imported or made, from one screen to the next. It is nowhere in the page's address.
let made = false;

export const onboarding = {
  "onboarding/welcome": welcome,
  "onboarding/import-with-recovery-phrase": importPhrase,
  "onboarding/create-password": createPassword,
  "onboarding/review-recovery-phrase": reviewPhrase,
  "onboarding/metametrics": shareUsage,
  "onboarding/completion": complete,
};

function welcome(state, memory, redraw) {
  if (!memory.started) {
    const start = () => {
      memory.started = true;
      redraw();
    };
    return h("main", {}, h("h1", {}, "Welcome to the test wallet"), button("get-started", "Get started", start));
  }
  const create = () => {
    phrase = undefined;
    made = true;
    go("onboarding/create-password");
  };
  return h(
    "main",
    { class: "column" },
    h("h1", {}, "Let's get started"),
    button("onboarding-create-wallet", "Create a new wallet", create),
    button("onboarding-import-wallet", "I have an existing wallet", () =>
      go("onboarding/import-with-recovery-phrase"),
    ),
  );
}

function importPhrase() {
  const note = h("textarea", {
    testid: "srp-input-import__srp-note",
    placeholder: "Add a space between each word",
    autocomplete: "off",
    spellcheck: false,
    rows: 4,
  });
  const words = () => note.value.trim().toLowerCase().split(/\s+/);
  const isValid = () => LENGTHS.includes(words().length) && words().every((word) => /^[a-z]+$/.test(word));
  return h(
    "main",
    {},
    h("h1", {}, "Import a wallet"),
    form(
      {
        submit: { testid: "import-srp-confirm", name: "Continue" },
        isValid,
        onsubmit: () => {
          phrase = words().join(" ");
          made = false;
          go("onboarding/create-password");
        },
      },
      field("Secret Recovery Phrase", note),
    ),
  );
}

function createPassword(state, memory, redraw) {
  if (phrase === undefined && !made) queueMicrotask(() => go("onboarding/welcome")); // The page was loaded anew.
  const fresh = (testid) => h("input", { type: "password", testid, autocomplete: "new-password" });
  const password = fresh("create-password-new-input");
  const again = fresh("create-password-confirm-input");
  const terms = h("input", { type: "checkbox", testid: "create-password-terms" });
  const isValid = () => password.value.length >= 8 && again.value === password.value && terms.checked;
  const create = async () => {
    try {
      phrase = await ask("create", { password: password.value, phrase });
      go(made ? "onboarding/review-recovery-phrase" : "onboarding/metametrics");
    } catch (error) {
      memory.error = error.message;
      redraw();
    }
  };
  return h(
    "main",
    {},
    h("h1", {}, "Create a password"),
    form(
      {
        submit: { testid: "create-password-submit", name: "Create password" },
        isValid,
        onsubmit: create,
        error: memory.error,
      },
      field("New password (at least 8 characters)", password),
      field("Confirm password", again),
      h("label", {}, terms, " I understand that nobody can recover this password for me"),
    ),
  );
}

function reviewPhrase(state, memory, redraw) {
  if (phrase === undefined) queueMicrotask(() => go("onboarding/metametrics"));
  const reveal = () => {
    memory.revealed = true;
    redraw();
  };
  const chips = (phrase ?? "").split(" ").map((word) => h("li", {}, memory.revealed ? word : "•••••"));
  const list = h("ol", { testid: "recovery-phrase-chips", "aria-label": "Secret Recovery Phrase" }, ...chips);
  if (!memory.revealed) list.classList.add("concealed");
  const confirm = () => {
    phrase = undefined;
    go("onboarding/metametrics");
  };
  return h(
    "main",
    { class: "column" },
    h("h1", {}, "Save your Secret Recovery Phrase"),
    list,
    !memory.revealed && button("recovery-phrase-reveal", "Reveal the Secret Recovery Phrase", reveal),
    button("recovery-phrase-confirm", "Continue", confirm, { disabled: !memory.revealed }),
  );
}

function shareUsage() {
  const choose = async (participates) => {
    await ask("shareUsage", { participates });
    go("onboarding/completion");
  };
  return h(
    "main",
    { class: "column" },
    h("h1", {}, "Help improve the test wallet"),
    h("p", {}, "Nothing is sent anywhere, whatever you choose."),
    button("metametrics-i-agree", "I agree", () => choose(true)),
    button("metametrics-no-thanks", "No thanks", () => choose(false)),
  );
}

function complete() {
  phrase = undefined;
  const done = async () => {
    await ask("finishOnboarding");
    go("");
  };
  return h(
    "main",
    {},
    h("h1", {}, "Your wallet is ready"),
    button("onboarding-complete-done", "Done", done),
  );
}
