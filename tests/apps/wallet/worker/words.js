// New seed phrases, of a few words only: nobody keeps anything with them.

const WORDS =
  "acid apple arrow autumn badge bamboo basket beach blanket bridge cactus canvas carbon castle cherry circle copper " +
  "cotton desert dragon eagle echo ember fabric falcon ferry forest galaxy garden ginger glass harbor hazel helmet " +
  "island ivory jacket jungle kitchen ladder lemon lunar magnet maple marble meadow mirror needle ocean olive orbit " +
  "paper pepper planet quartz rabbit raven ribbon river saddle silver spice summer";

const LENGTH = 12;

export function newPhrase() {
  const words = WORDS.split(" ");
  const numbers = crypto.getRandomValues(new Uint32Array(LENGTH));
  return Array.from(numbers, (number) => words[number % words.length]).join(" ");
}
