// The open pages of the wallet. They are told that something changed, and ask for what they show.

const ports = new Set();

export function addUi(port) {
  ports.add(port);
  port.onDisconnect.addListener(() => ports.delete(port));
}

export function announce() {
  for (const port of ports) port.postMessage("changed");
}
