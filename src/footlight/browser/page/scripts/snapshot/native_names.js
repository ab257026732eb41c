// Names that HTML gives: by labels, captions, legends and attributes.

import { childrenOf } from "./flat_tree.js";
import { joinTexts, LABEL, Name, NO_NAME, reference } from "./names.js";
import { isSvg } from "./native_roles.js";
import { hasAttr, pass, textAttribute } from "./pass.js";
import { findAll, get, MAX_TEXT, NOTHING, tidy, words } from "./platform.js";
import { optionText } from "./states.js";

const SHAPES = words("circle ellipse g image line path polygon polyline rect text use");

export function nativeRule(facts) {
  if (SHAPES.has(facts.tag) || (facts.tag === "a" && isSvg(facts))) return svgName;
  const isOwnField = facts.tag.includes("-") && facts.element.constructor.formAssociated;
  return isOwnField ? labelName : NATIVE_NAMES.get(facts.tag);
}

const byAttribute = (facts, name) => new Name(textAttribute(facts, name), "native");
const altName = (facts) => byAttribute(facts, "alt");
const groupName = (facts) => byAttribute(facts, "label");
const optionName = (facts) => new Name(optionText(facts.element), "native");
const mathName = (facts) => byAttribute(facts, "alttext");

export function labelName(facts) {
  const labels = labelsOf(facts.element);
  return labels.length ? new Name(joinTexts(labels, LABEL), "native") : NO_NAME;
}

// The `labels` of each field would search the whole tree, so one search finds the fields of all labels.
function labelsOf(field) {
  const root = Node.prototype.getRootNode.call(field);
  if (!pass.labelled.has(root)) {
    pass.labelled.add(root);
    for (const label of findAll(root, "label")) {
      const { control } = label;
      if (!control) continue;
      const known = pass.labels.get(control);
      if (known) known.push(label);
      else pass.labels.set(control, [label]);
    }
  }
  return pass.labels.get(field) || NOTHING;
}

function inputName(facts) {
  const { element } = facts;
  const { type } = element;
  const label = labelName(facts);
  if (label.text) return label;
  if (type === "image") return imageButtonName(facts);
  if (type === "file" && !hasAttr(facts, "title")) return new Name("Choose File", "native");
  if (type !== "button" && type !== "submit" && type !== "reset") return NO_NAME;
  const value = tidy(element.value, MAX_TEXT);
  if (value || hasAttr(facts, "value")) return new Name(value, "native");
  return new Name({ submit: "Submit", reset: "Reset" }[type] || "", "native");
}

function imageButtonName(facts) {
  for (const name of ["alt", "value", "title"]) {
    const said = byAttribute(facts, name);
    if (said.text) return said;
  }
  return new Name("Submit", "native");
}

const legendName = (facts) => childName(facts, "legend");

function tableName(facts) {
  const caption = childName(facts, "caption");
  return caption.text ? caption : byAttribute(facts, "summary");
}

function childName(facts, tag) {
  const child = childrenOf(facts).find((one) => one.tag === tag);
  return child ? new Name(reference(child.element, LABEL), "native", [child.element]) : NO_NAME;
}

function svgName(facts) {
  const title = childrenOf(facts).find((one) => one.tag === "title");
  if (title) return new Name(tidy(get.textContent.call(title.element), MAX_TEXT), "native");
  return facts.tag === "a" ? byAttribute(facts, "xlink:title") : NO_NAME;
}

// biome-ignore format: a table
const NATIVE_NAMES = new Map(
  Object.entries({
    area: altName, button: labelName, fieldset: legendName, img: altName, input: inputName,
    math: mathName, meter: labelName, optgroup: groupName, option: optionName, output: labelName,
    progress: labelName, select: labelName, svg: svgName, table: tableName, textarea: labelName,
  }),
);
