// Asks in a window of its own before all notes go.
chrome.runtime.onMessage.addListener((asked) => {
  if (asked === "clear") chrome.windows.create({ url: "confirm.html", type: "popup", width: 380, height: 260 });
});
