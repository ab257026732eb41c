// `window.ethereum` (EIP-1193), and its announcement (EIP-6963).

(() => {
  const TO_WALLET = "test-wallet:to-wallet";
  const TO_PAGE = "test-wallet:to-page";
  const ICON = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'/>";

  const waiting = new Map();
  const listeners = new Map();
  let nextId = 1;

  class ProviderRpcError extends Error {
    constructor({ code, message, data }) {
      super(message);
      this.code = code;
      this.data = data;
    }
  }

  const provider = {
    isMetaMask: true,
    isConnected: () => true,
    request({ method, params }) {
      return new Promise((resolve, reject) => {
        const id = nextId++;
        waiting.set(id, { resolve, reject });
        window.postMessage({ target: TO_WALLET, id, method, params }, window.origin);
      });
    },
    on(event, listener) {
      listeners.set(event, [...(listeners.get(event) ?? []), listener]);
      return provider;
    },
    removeListener(event, listener) {
      listeners.set(event, (listeners.get(event) ?? []).filter((one) => one !== listener));
      return provider;
    },
  };

  window.addEventListener("message", ({ source, data }) => {
    if (source !== window || data?.target !== TO_PAGE) return;
    if (data.event) tell(data.event, data.data);
    else settle(data);
  });

  function tell(event, data) {
    for (const listener of listeners.get(event) ?? []) listener(data);
  }

  function settle({ id, result, error }) {
    const call = waiting.get(id);
    waiting.delete(id);
    if (error) call?.reject(new ProviderRpcError(error));
    else call?.resolve(result);
  }

  const info = Object.freeze({ uuid: crypto.randomUUID(), name: "Test wallet", icon: ICON, rdns: "test.wallet" });
  const detail = Object.freeze({ info, provider });
  const announce = () => window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));

  window.addEventListener("eip6963:requestProvider", announce);
  announce();
  window.ethereum = provider;
  window.dispatchEvent(new Event("ethereum#initialized"));
})();
