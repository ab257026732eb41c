// Compare what documents say.

const MAX_WORDS = 3000;
const ENOUGH = 0.5;

/** @type {(text: string) => Set<string>} */
export const wordsOf = (text) =>
  new Set(
    text
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.slice(0, MAX_WORDS),
  );

/**
 * Return whether at least half of the words of the shorter text are in both.
 *
 * @type {(one: Set<string>, other: Set<string>) => boolean}
 */
export function hasMostWordsOf(one, other) {
  const [less, more] = one.size < other.size ? [one, other] : [other, one];
  return [...less].filter((each) => more.has(each)).length >= less.size * ENOUGH;
}
