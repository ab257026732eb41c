// The side panel: what to read next.

import { articles, change, watch } from "./articles.js";

const status = document.querySelector("[role=status]");
const done = document.querySelector("button");
let next;

done.addEventListener("click", () => change(next.id, { read: true }));

watch(async () => {
  next = (await articles()).find(({ read }) => !read);
  status.textContent = next?.title ?? "Nothing to read";
  done.disabled = !next;
});
