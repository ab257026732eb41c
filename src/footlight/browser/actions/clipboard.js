// Check the permission for the clipboard, read it and write it in the way a page does.

/** @type {(name: PermissionName) => Promise<{ secure: boolean, origin: string, permission: string | false }>} */
export async function describeClipboard(name) {
  const secure = isSecureContext && "clipboard" in navigator;
  const permission = secure && (await navigator.permissions.query({ name })).state;
  return { secure, origin, permission };
}

/** @type {() => Promise<{ types: string[], text: string, html: string | null }>} */
export async function readClipboard() {
  const items = await navigator.clipboard.read();
  const types = items.flatMap((item) => item.types);
  /** @type {(type: string) => Promise<string | null>} */
  const read = async (type) => {
    const item = items.find((each) => each.types.includes(type));
    return item ? (await item.getType(type)).text() : null;
  };
  return { types, text: (await read("text/plain")) ?? "", html: await read("text/html") };
}

/** @type {(content: { text: string, html: string | null }) => Promise<void>} */
export async function writeClipboard({ text, html }) {
  if (html === null) return navigator.clipboard.writeText(text);
  const blobs = {
    "text/plain": new Blob([text], { type: "text/plain" }),
    "text/html": new Blob([html], { type: "text/html" }),
  };
  return navigator.clipboard.write([new ClipboardItem(blobs)]);
}
