import { options, watch } from "./articles.js";

const sort = document.querySelector("select");
const hideRead = document.querySelector("input");

sort.addEventListener("change", () => chrome.storage.local.set({ sort: sort.value }));
hideRead.addEventListener("change", () => chrome.storage.local.set({ hideRead: hideRead.checked }));

watch(async () => {
  const chosen = await options();
  sort.value = chosen.sort;
  hideRead.checked = chosen.hideRead;
});
