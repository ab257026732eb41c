// Where we are: the hash says what is wanted, the state what is possible.

export const go = (hash) => {
  if (location.hash === `#${hash}`) dispatchEvent(new Event("hashchange"));
  else location.hash = hash;
};

const NEEDS_NO_VAULT = ["onboarding/import-with-recovery-phrase", "onboarding/create-password"];
const AFTER_PASSWORD = ["onboarding/review-recovery-phrase", "onboarding/metametrics", "onboarding/completion"];
const HOME = ["settings", "send"];

/** The screen's hash, as it will be, of the one that is asked for. */
export function possible(hash, state) {
  if (!state.hasVault) return NEEDS_NO_VAULT.includes(hash) ? hash : "onboarding/welcome";
  if (!state.unlocked) return "unlock";
  if (!state.onboarded) return AFTER_PASSWORD.includes(hash) ? hash : onwards(state);
  if (HOME.includes(hash)) return hash;
  const [page, id] = hash.split("/");
  const asked = page === "confirm-transaction" && state.approvals.some((approval) => approval.id === id);
  return asked ? hash : "";
}

const onwards = (state) => (state.choseUsage ? "onboarding/completion" : "onboarding/metametrics");
