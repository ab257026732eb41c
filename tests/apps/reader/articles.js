// The articles, in the extension's storage.

/** `{id, title, read}` each, oldest first. */
export async function articles() {
  return (await chrome.storage.local.get({ articles: [] })).articles;
}

export async function add(title) {
  const article = { id: crypto.randomUUID(), title, read: false };
  await chrome.storage.local.set({ articles: [...(await articles()), article] });
}

export async function change(id, values) {
  const changed = (await articles()).map((article) => (article.id === id ? { ...article, ...values } : article));
  await chrome.storage.local.set({ articles: changed });
}

export async function remove(id) {
  await chrome.storage.local.set({ articles: (await articles()).filter((article) => article.id !== id) });
}

/** `{sort: "oldest" | "newest", hideRead: boolean}` */
export const options = () => chrome.storage.local.get({ sort: "oldest", hideRead: false });

/** Call now, and whenever anything changes. */
export function watch(draw) {
  chrome.storage.onChanged.addListener(draw);
  draw();
}
