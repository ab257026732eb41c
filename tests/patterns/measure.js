// Reads patterns and attacks from standard input, and writes what was slow. An attack is a start, a piece and an end.
const vm = require("node:vm");

const MAX_TEXT_LENGTH = 20000;
const MAX_MS = 40;
const SPARE_MS = 4;
const TRIES = 4;
// The length of the texts, and how many of the slowest attacks of the round before are made with it.
const ROUNDS = [
  [40, Infinity],
  [250, Infinity],
  [1500, Infinity],
  [6000, 30],
  [MAX_TEXT_LENGTH, 4],
];

function textOf([start, piece, end], length) {
  const times = Math.max(0, Math.floor((length - start.length - end.length) / piece.length));
  return start + piece.repeat(times) + end;
}

const context = vm.createContext({ processorTime: () => process.cpuUsage() });
// All attacks of a round are made in one run, because each run with a time limit starts a thread.
const script = new vm.Script(`
  for (; index < texts.length; index++) {
    let shortest = Infinity;
    for (let i = 0; i < tries; i++) {
      const before = processorTime();
      pattern.lastIndex = 0;
      texts[index].search(pattern);
      texts[index].replace(pattern, "");
      const after = processorTime();
      shortest = Math.min(shortest, (after.user - before.user + after.system - before.system) / 1000);
      if (shortest <= limit || shortest > 10 * limit) break;
    }
    times.push(shortest);
    if (shortest > limit) break;
  }`);

/** Processor time of each text in milliseconds, the shortest of some tries, up to the first one that is slow. */
function measure(pattern, texts, limit) {
  Object.assign(context, { pattern, texts, limit, tries: TRIES, index: 0, times: [] });
  try {
    script.runInContext(context, { timeout: Math.ceil(3000 + 2 * limit * texts.length) });
  } catch (error) {
    if (error.code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    context.times.push(Infinity);
  }
  return context.times;
}

function whatIsSlow({ place, body, flags, attacks }) {
  const pattern = new RegExp(body, flags);
  let left = attacks;
  for (const [length, most] of ROUNDS) {
    const limit = SPARE_MS + (MAX_MS * length) / MAX_TEXT_LENGTH;
    const tried = left.slice(0, most);
    const times = measure(
      pattern,
      tried.map((attack) => textOf(attack, length)),
      limit,
    );
    const last = times.length - 1;
    if (times[last] > limit)
      return `${place}: /${body}/${flags} takes ${times[last]} ms for ${length} characters of ${JSON.stringify(tried[last])}`;
    left = tried
      .map((attack, i) => ({ attack, ms: times[i] }))
      .sort((one, other) => other.ms - one.ms)
      .map(({ attack }) => attack);
  }
  return null;
}

const chunks = [];
process.stdin.on("data", (chunk) => chunks.push(chunk));
process.stdin.on("end", () => {
  const work = JSON.parse(Buffer.concat(chunks).toString("utf-8"));
  process.stdout.write(JSON.stringify(work.map(whatIsSlow).filter(Boolean)));
});
