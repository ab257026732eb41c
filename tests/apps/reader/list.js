// The list, in a tab and in the popup.

import { add, articles, change, options, remove, watch } from "./articles.js";

const form = document.querySelector("form");
const list = document.querySelector("ul");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  await add(form.elements.title.value);
  form.reset();
});

watch(async () => {
  const { sort, hideRead } = await options();
  const all = await articles();
  const shown = all.filter(({ read }) => !(read && hideRead));
  if (sort === "newest") shown.reverse();
  list.replaceChildren(...shown.map(row));
  document.querySelector("[role=status]").textContent = `${all.filter(({ read }) => !read).length} to read`;
});

function row({ id, title, read }) {
  const item = document.createElement("li");
  const box = document.createElement("input");
  const label = document.createElement("label");
  box.type = "checkbox";
  box.checked = read;
  box.addEventListener("change", () => change(id, { read: box.checked }));
  label.append(box, ` ${title}`);
  item.dataset.testid = "reader-article";
  item.append(
    label,
    button("Remind me", () => chrome.runtime.sendMessage({ remindOf: id })),
    button("Remove", () => remove(id)),
  );
  return item;
}

function button(name, onclick) {
  const made = document.createElement("button");
  made.textContent = name;
  made.addEventListener("click", onclick);
  return made;
}
