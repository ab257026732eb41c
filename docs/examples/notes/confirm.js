const [yes, no] = document.querySelectorAll("button");

yes.addEventListener("click", async () => {
  await chrome.storage.local.clear();
  window.close();
});
no.addEventListener("click", () => window.close());
