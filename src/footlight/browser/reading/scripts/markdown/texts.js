// Markdown as text: lines, marks around text, fences and escapes.

/** @type {(text: string) => string} */
export const oneLine = (text) => text.replace(/\s+/g, " ").trim();

/**
 * Keep line breaks and remove the blanks around them.
 *
 * @type {(text: string) => string}
 */
export const trimLines = (text) =>
  text
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();

/** @type {(text: string, by: string) => string} */
export const indentLines = (text, by) => text.replace(/\n(?!\n|$)/g, `\n${by}`);

/** @type {(prefix: string, text: string) => string[]} */
export const prefixLines = (prefix, text) =>
  text
    ? [
        text
          .split("\n")
          .map((line) => `${prefix}${line}`.trimEnd())
          .join("\n"),
      ]
    : [];

/**
 * Join the items of a list in sequence; a nested list follows without an empty line before it.
 *
 * @type {(blocks: string[]) => string}
 */
export const joinBlocks = (blocks) =>
  blocks.reduce((text, block) => text + (/^(?:[-*]|\d+\.) /.test(block) ? "\n" : "\n\n") + block);

/** @type {(mark: string, text: string) => string} */
export function around(mark, text) {
  const inner = text.trim();
  if (!inner || inner.startsWith(mark)) return text;
  return text.replace(inner, () => `${mark}${inner}${mark}`);
}

/** @type {(text: string) => string} */
export function code(text) {
  const inner = oneLine(text);
  if (!inner) return "";
  const ticks = fence(inner, 1);
  const space = /^`|`$/.test(inner) ? " " : "";
  return ticks + space + inner + space + ticks;
}

/**
 * Return a fence that is longer than any fence inside.
 *
 * @type {(text: string, least: number) => string}
 */
export const fence = (text, least) => {
  let length = least;
  for (const [ticks] of text.matchAll(/`+/g)) length = Math.max(length, ticks.length + 1);
  return "`".repeat(length);
};

/**
 * Escape only characters that would have a meaning in Markdown.
 *
 * @type {(text: string) => string}
 */
export const escapeText = (text) =>
  text
    .replace(/[*`]/g, "\\$&")
    .replace(/(^|[^\p{L}\p{N}])_|_(?=$|[^\p{L}\p{N}])/gu, (found) => found.replace("_", "\\_"))
    .replace(/\](?=\()/g, "\\]");

/** @type {(text: string) => string} */
export const escapeStart = (text) =>
  text.replace(/^(#{1,6}|[-+>])(?=\s)|^(\d+)(?=[.)]\s)/gm, (found) => (/\d/.test(found) ? `${found}\\` : `\\${found}`));
