const form = document.querySelector("form");
const [, clear] = form.querySelectorAll("button");

async function draw() {
  const { notes } = await chrome.storage.local.get({ notes: [] });
  const items = notes.map((note) => Object.assign(document.createElement("li"), { textContent: note }));
  document.querySelector("ul").replaceChildren(...items);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { notes } = await chrome.storage.local.get({ notes: [] });
  await chrome.storage.local.set({ notes: [...notes, form.elements.note.value] });
  form.reset();
});
clear.addEventListener("click", () => chrome.runtime.sendMessage("clear"));
chrome.storage.onChanged.addListener(draw);
draw();
