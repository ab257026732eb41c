// Opens the list once it is installed, and a window when it is asked to remind.

const WINDOW = { type: "popup", width: 380, height: 300 };

chrome.runtime.onInstalled.addListener(({ reason }) => {
  if (reason === "install") chrome.tabs.create({ url: "list.html" });
});

chrome.runtime.onMessage.addListener(({ remindOf }) => {
  if (remindOf) chrome.windows.create({ ...WINDOW, url: `reminder.html#${remindOf}` });
});
