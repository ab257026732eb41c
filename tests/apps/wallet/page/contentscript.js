// Carries messages between a page's provider and the service worker.

const TO_WALLET = "test-wallet:to-wallet";
const TO_PAGE = "test-wallet:to-page";
const AWAKE_MS = 15_000;

const waiting = new Set();
let port;

window.addEventListener("message", ({ source, data }) => {
  if (source !== window || data?.target !== TO_WALLET) return;
  const { id, method, params } = data;
  waiting.add(id);
  connected().postMessage({ id, method, params });
});

// The worker may be stopped while the user thinks, and everything that waits there would be gone.
setInterval(() => waiting.size && connected().postMessage({}), AWAKE_MS);

connected();

function connected() {
  if (port) return port;
  port = chrome.runtime.connect({ name: "dapp" });
  port.onMessage.addListener((message) => {
    waiting.delete(message.id);
    tellPage(message);
  });
  port.onDisconnect.addListener(() => {
    port = undefined;
    for (const id of waiting) tellPage({ id, error: { code: -32603, message: "The wallet was restarted." } });
    waiting.clear();
  });
  return port;
}

function tellPage(message) {
  window.postMessage({ target: TO_PAGE, ...message }, window.origin);
}
