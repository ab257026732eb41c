// The service worker: who may ask it for what.

import { FIXTURE_PORT } from "./config.js";
import { answerUi } from "./worker/for_ui.js";
import { answerDapp } from "./worker/for_dapps.js";
import { addDapp } from "./worker/dapps.js";
import { announce, addUi } from "./worker/uis.js";
import { rejectWhenClosed } from "./worker/approvals.js";
import { load, loaded } from "./worker/state.js";
import { asError } from "./worker/errors.js";

const OWN_PAGES = chrome.runtime.getURL("");

load().then(announce);
rejectWhenClosed();

chrome.runtime.onInstalled.addListener(({ reason }) => {
  if (reason === "install" && !FIXTURE_PORT) chrome.tabs.create({ url: "home.html" });
});

chrome.runtime.onMessage.addListener((message, sender, respond) => {
  if (!sender.url?.startsWith(OWN_PAGES)) return false;
  reply(() => answerUi(message.method, message.params)).then(respond);
  return true;
});

chrome.runtime.onConnect.addListener((port) => {
  if (port.name === "ui" && port.sender.url.startsWith(OWN_PAGES)) addUi(port);
  if (port.name === "dapp") serveDapp(port);
});

function serveDapp(port) {
  const origin = port.sender.origin;
  addDapp(port, origin);
  port.onMessage.addListener(async ({ id, method, params }) => {
    if (id === undefined) return; // It only keeps us awake while it waits for an answer.
    const answer = await reply(() => answerDapp(origin, method, params));
    try {
      port.postMessage({ id, ...answer });
    } catch {
      // The page is gone.
    }
  });
}

async function reply(work) {
  try {
    await loaded;
    return { result: await work() };
  } catch (error) {
    return { error: asError(error) };
  }
}
