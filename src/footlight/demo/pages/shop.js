// The dimmer's reading follows its slider.
for (const slider of document.querySelectorAll("input[type=range]")) {
  const reading = document.getElementById(`${slider.id}-reading`);
  const show = () => { reading.value = `${slider.value} %`; };
  slider.addEventListener("input", show);
  show();
}

const reveal = document.getElementById("reveal");
reveal?.addEventListener("click", async () => {
  reveal.disabled = true;
  const answer = await fetch("/vouchers", { method: "POST" });
  document.getElementById("voucher").value = (await answer.json()).code;
});

const accept = document.getElementById("accept-cookies");
accept?.addEventListener("click", () => {
  document.cookie = "notice=read; path=/; samesite=lax";
  document.getElementById("cookie-scrim").remove();
});
accept?.focus();
