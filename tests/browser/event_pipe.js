// Reads chunks of what a browser sends, each with the milliseconds before it, and prints what the driver gets
// of them, and what the browser is sent.
'use strict';

const { readFileSync } = require('node:fs');

const { EventLimits } = require(process.argv[2]);

let now = 0;
performance.now = () => now;
const timers = [];
globalThis.setTimeout = (callback, milliseconds) => {
  timers.push({ callback, at: now + milliseconds });
  return { unref() {} };
};

const commands = [];
const parts = [];
const limits = new EventLimits(
  part => parts.push(part),
  command => commands.push([now, command]),
);
for (const { after, chunk, command } of JSON.parse(readFileSync(0, 'utf8'))) {
  now += after;
  for (const timer of timers.splice(0)) {
    if (timer.at <= now) timer.callback();
    else timers.push(timer);
  }
  if (command) limits.noteCommand(command);
  limits.read(Buffer.from(chunk, 'latin1'));
}
console.log(JSON.stringify({ read: Buffer.concat(parts).toString('latin1'), commands }));
