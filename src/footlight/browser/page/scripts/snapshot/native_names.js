// Names from HTML: labels, captions, legends and attributes.

import { childrenOf } from "./flat_tree.js";
import { joinTexts, LABEL, Name, NO_NAME, reference } from "./names.js";

import { controlOf, factsOf, hasAttr, pass, textAttribute } from "./pass.js";
import { findAll, get, isSvg, MAX_TEXT, NOTHING, tidy, words } from "./platform.js";
import { readLive } from "./reads.js";
import { optionText } from "./states.js";

/** @import { Scope } from "./platform.js" */
/** @import { Facts } from "./pass.js" */

const SHAPES = words("circle ellipse g image line path polygon polyline rect text use");

/** @type {(facts: Facts) => ((facts: Facts) => Name) | undefined} */
export function nativeRule(facts) {
  if (SHAPES.has(facts.tag) || (facts.tag === "a" && isSvg(facts.element))) return svgName;
  const isOwnField = facts.tag.includes("-") && readLive(isFormAssociated, facts.element);
  return isOwnField ? labelName : NATIVE_NAMES.get(facts.tag);
}

/** @type {(element: AnyElement) => boolean} */
const isFormAssociated = (element) => !!(/** @type {any} */ (element.constructor).formAssociated);

/** @type {(facts: Facts, name: string) => Name} */
const byAttribute = (facts, name) => new Name(textAttribute(facts, name), "native");
/** @type {(facts: Facts) => Name} */
const altName = (facts) => byAttribute(facts, "alt");
/** @type {(facts: Facts) => Name} */
const groupName = (facts) => byAttribute(facts, "label");
/** @type {(facts: Facts) => Name} */
const optionName = (facts) => new Name(optionText(facts.element), "native");
/** @type {(facts: Facts) => Name} */
const mathName = (facts) => byAttribute(facts, "alttext");

/** @type {(facts: Facts) => Name} */
export function labelName(facts) {
  const labels = labelsOf(facts.element);
  return labels.length ? new Name(joinTexts(labels, LABEL), "native") : NO_NAME;
}

/**
 * Return the labels of a field. The property `labels` of each field would search the whole tree, so one search finds
 * the fields of all labels.
 *
 * @type {(field: AnyElement) => HTMLLabelElement[]}
 */
function labelsOf(field) {
  const root = /** @type {Scope} */ (Node.prototype.getRootNode.call(field));
  if (!pass.labelled.has(root)) {
    pass.labelled.add(root);
    for (const label of /** @type {NodeListOf<HTMLLabelElement>} */ (findAll(root, "label"))) {
      const control = controlOf(factsOf(label));
      if (!control) continue;
      const known = pass.labels.get(control);
      if (known) known.push(label);
      else pass.labels.set(control, [label]);
    }
  }
  return pass.labels.get(field) || NOTHING;
}

/** @type {(facts: Facts) => Name} */
function inputName(facts) {
  const { type } = facts;
  const label = labelName(facts);
  if (label.text) return label;
  if (type === "image") return imageButtonName(facts);
  if (type === "file" && !hasAttr(facts, "title")) return new Name("Choose File", "native");
  if (type !== "button" && type !== "submit" && type !== "reset") return NO_NAME;
  const value = tidy(/** @type {HTMLInputElement} */ (facts.element).value, MAX_TEXT);
  if (value || hasAttr(facts, "value")) return new Name(value, "native");
  return new Name(/** @type {Record<string, string>} */ ({ submit: "Submit", reset: "Reset" })[type] || "", "native");
}

/** @type {(facts: Facts) => Name} */
function imageButtonName(facts) {
  for (const name of ["alt", "value", "title"]) {
    const found = byAttribute(facts, name);
    if (found.text) return found;
  }
  return new Name("Submit", "native");
}

/** @type {(facts: Facts) => Name} */
const legendName = (facts) => childName(facts, "legend");

/** @type {(facts: Facts) => Name} */
function tableName(facts) {
  const caption = childName(facts, "caption");
  return caption.text ? caption : byAttribute(facts, "summary");
}

/** @type {(facts: Facts, tag: string) => Name} */
function childName(facts, tag) {
  const child = /** @type {Facts[]} */ (childrenOf(facts)).find((one) => one.tag === tag);
  return child ? new Name(reference(child.element, LABEL), "native", [child.element]) : NO_NAME;
}

/** @type {(facts: Facts) => Name} */
function svgName(facts) {
  const title = /** @type {Facts[]} */ (childrenOf(facts)).find((one) => one.tag === "title");
  if (title) return new Name(tidy(get.textContent.call(title.element) || "", MAX_TEXT), "native");
  return facts.tag === "a" ? byAttribute(facts, "xlink:title") : NO_NAME;
}

/** @type {Map<string, (facts: Facts) => Name>} */
// biome-ignore format: a table
const NATIVE_NAMES = new Map(
  Object.entries({
    area: altName, button: labelName, fieldset: legendName, img: altName, input: inputName,
    math: mathName, meter: labelName, optgroup: groupName, option: optionName, output: labelName,
    progress: labelName, select: labelName, svg: svgName, table: tableName, textarea: labelName,
  }),
);
