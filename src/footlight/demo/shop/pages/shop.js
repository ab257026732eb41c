/** @type {(id: string) => HTMLInputElement | null} */
const field = (id) => /** @type {HTMLInputElement | null} */ (document.getElementById(id));

/** @type {NodeListOf<HTMLInputElement>} */
const sliders = document.querySelectorAll("input[type=range]");
for (const slider of sliders) {
  /** @returns {void} */
  const show = () => {
    const reading = field(`${slider.id}-reading`);
    if (reading) reading.value = `${slider.value} %`;
  };
  slider.addEventListener("input", show);
  show();
}

const reveal = field("reveal");
reveal?.addEventListener("click", async () => {
  reveal.disabled = true;
  const answer = await fetch("/vouchers", { method: "POST" });
  const voucher = field("voucher");
  if (voucher) voucher.value = (await answer.json()).code;
});

const accept = document.getElementById("accept-cookies");
accept?.addEventListener("click", () => {
  // biome-ignore lint/suspicious/noDocumentCookie: not every browser has the Cookie Store API
  document.cookie = "notice=read; path=/; samesite=lax";
  document.getElementById("cookie-scrim")?.remove();
});
accept?.focus();
