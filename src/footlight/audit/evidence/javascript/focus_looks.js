// Detect how an element shows that it has the focus: compare its looks before and after.

import { above, documentBody, own } from "./dom.js";
import { tabbable } from "./focus_parts.js";

// biome-ignore format: a table
const STYLES = [
  'backgroundColor', 'backgroundImage', 'backgroundPosition', 'backgroundSize', 'color', 'content', 'display', 'opacity', 'visibility',
  'transform', 'scale', 'translate', 'filter', 'clipPath', 'fill', 'stroke', 'strokeWidth', 'fontWeight', 'fontSize', 'fontStyle',
  'letterSpacing', 'textShadow', 'textDecorationLine', 'textDecorationColor', 'textDecorationStyle', 'textDecorationThickness',
  'width', 'height', 'left', 'top', 'position',
];

/**
 * Return the elements that may show the focus: the element, its content and labels, its neighbours, and a container
 * that holds only it.
 *
 * @type {(element: AnyElement) => Set<AnyElement>}
 */
export function around(element) {
  /** @type {Set<AnyElement>} */
  const near = new Set();
  /** @type {(each: AnyElement, most: number) => void} */
  const add = (each, most) => {
    for (const one of [each, ...[...own.querySelectorAll(each, "*")].slice(0, most)]) near.add(one);
  };
  add(element, 20);
  for (const label of element.labels ?? []) add(label, 8);
  for (const side of /** @type {const} */ (["previousElementSibling", "nextElementSibling"])) {
    for (let each = own[side](element), n = 0; each && n < 4; each = own[side](each), n++) add(each, 4);
  }
  for (let up = above(element), n = 0; up && up !== documentBody() && n < 3; up = above(up), n++) {
    if (tabbable.filter((each) => own.contains(up, each) || own.contains(own.shadowRoot(up), each)).length > 1) break;
    near.add(up);
  }
  return near;
}

/** @type {(element: AnyElement) => string} */
export function lookOf(element) {
  return [null, "::before", "::after"]
    .map((pseudo) => {
      const style = getComputedStyle(element, pseudo);
      if (pseudo && ["none", "normal"].includes(style.content)) return "";
      const borders = ["Top", "Right", "Bottom", "Left"].map((side) => lineOf(style, `border${side}`));
      return [
        lineOf(style, "outline", style.outlineOffset),
        ...borders,
        shadowOf(style),
        ...STYLES.map((each) => /** @type {any} */ (style)[each]),
      ].join("|");
    })
    .join("||");
}

/**
 * Return the line, or an empty text if it is not drawn.
 *
 * @type {(style: any, name: string, more?: string) => string}
 */
function lineOf(style, name, more = "") {
  const [kind, width, color] = [style[`${name}Style`], style[`${name}Width`], style[`${name}Color`]];
  return kind === "none" || parseFloat(width) === 0 || isTransparent(color) ? "" : `${kind} ${width} ${color} ${more}`;
}

/** @type {(style: CSSStyleDeclaration) => string} */
function shadowOf(style) {
  const shadows = style.boxShadow.match(/(?:[^,()]|\([^()]*\))+/g) ?? [];
  const drawn = shadows.filter((each) => !isTransparent(each) && !/ 0px 0px 0px 0px/.test(each));
  return drawn.filter((each) => each !== "none").join();
}

/** @type {(color: string) => boolean} */
export function isTransparent(color) {
  return /rgba\([^()]*, 0\)|\/ 0\)|transparent/.test(color);
}
