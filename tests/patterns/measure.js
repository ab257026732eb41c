// Reads patterns and attacks from standard input, and writes what was slow. An attack is a start, a piece and an end.
const vm = require("node:vm");

const LONGEST_TEXT = 20000;
const MAX_MS = 40;
const SPARE_MS = 4;
const TRIES = 4;
// The length of the texts, and how many of the slowest attacks of the round before are made with it.
const ROUNDS = [
  [40, Infinity],
  [250, Infinity],
  [1500, Infinity],
  [6000, 30],
  [LONGEST_TEXT, 4],
];

function textOf([start, piece, end], length) {
  const times = Math.max(0, Math.floor((length - start.length - end.length) / piece.length));
  return start + piece.repeat(times) + end;
}

const context = vm.createContext({});
const script = new vm.Script("pattern.lastIndex = 0; text.search(pattern); text.replace(pattern, '')");

/** Processor time in milliseconds: the shortest of some tries. */
function measure(pattern, text, limit) {
  Object.assign(context, { pattern, text });
  let shortest = Infinity;
  for (let i = 0; i < TRIES; i++) {
    const before = process.cpuUsage();
    try {
      script.runInContext(context, { timeout: Math.max(500, Math.ceil(20 * limit)) });
    } catch (error) {
      if (error.code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      return Infinity;
    }
    const { user, system } = process.cpuUsage(before);
    shortest = Math.min(shortest, (user + system) / 1000);
    if (shortest <= limit || shortest > 10 * limit) break;
  }
  return shortest;
}

function whatIsSlow({ place, body, flags, attacks }) {
  const pattern = new RegExp(body, flags);
  let left = attacks;
  for (const [length, most] of ROUNDS) {
    const limit = SPARE_MS + (MAX_MS * length) / LONGEST_TEXT;
    const times = [];
    for (const attack of left.slice(0, most)) {
      const ms = measure(pattern, textOf(attack, length), limit);
      if (ms > limit)
        return `${place}: /${body}/${flags} takes ${ms} ms for ${length} characters of ${JSON.stringify(attack)}`;
      times.push([ms, attack]);
    }
    left = times.sort((one, other) => other[0] - one[0]).map(([, attack]) => attack);
  }
  return null;
}

const chunks = [];
process.stdin.on("data", (chunk) => chunks.push(chunk));
process.stdin.on("end", () => {
  const work = JSON.parse(Buffer.concat(chunks).toString("utf-8"));
  process.stdout.write(JSON.stringify(work.map(whatIsSlow).filter(Boolean)));
});
