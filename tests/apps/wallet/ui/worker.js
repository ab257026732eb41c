// The service worker, asked by message.

/** Its answer. Throws an Error with the message of what went wrong. */
export async function ask(method, params) {
  const { result, error } = await chrome.runtime.sendMessage({ method, params });
  if (error) throw new Error(error.message);
  return result;
}

/** Call when something changed, and while this page waits keep the worker awake. */
export function listen(changed) {
  const port = chrome.runtime.connect({ name: "ui" });
  port.onMessage.addListener(changed);
  port.onDisconnect.addListener(() => {
    listen(changed);
    changed();
  });
}
