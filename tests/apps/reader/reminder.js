// A window that the extension opens by itself.

import { articles, change } from "./articles.js";

const id = location.hash.slice(1);
const CLOSE_MS = 1500;
const [done, later, soon] = document.querySelectorAll("button");
const article = (await articles()).find((one) => one.id === id);

document.querySelector("p").textContent = article?.title ?? "Nothing to read";
later.addEventListener("click", () => window.close());
soon.addEventListener("click", () => setTimeout(() => window.close(), CLOSE_MS));
done.addEventListener("click", async () => {
  await change(id, { read: true });
  window.close();
});
