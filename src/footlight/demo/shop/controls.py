"""Render the fields of the order form, each with its label, hint and error."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from footlight.demo.shop.order_form import OrderField, Section
from footlight.markup import Html, element, join

__all__ = ["section"]


@dataclass(frozen=True)
class _FilledField:
    """A field with the values that were given."""

    field: OrderField
    values: Sequence[str]
    problem: str

    @property
    def value(self) -> str:
        """Return the first value, or an empty text."""
        return next(iter(self.values), "")


def section(part: Section, values: Mapping[str, Sequence[str]], problems: Mapping[str, str]) -> Html:
    """Render a section of the form."""
    filled = (_fill(entry, values, problems) for entry in part.fields)
    lines = (line for entry in filled for line in ("\n", _control(entry)))
    return element("fieldset", element("legend", part.legend), *lines)


def _fill(
    entry: OrderField, values: Mapping[str, Sequence[str]], problems: Mapping[str, str]
) -> _FilledField:
    return _FilledField(entry, values.get(entry.name, ()), problems.get(entry.name, ""))


def _control(filled: _FilledField) -> Html:
    match filled.field.kind:
        case "radio":
            return _radio_group(filled)
        case "checkbox":
            return _checkbox(filled)
        case "textarea":
            # HTML drops one line feed after the start tag.
            return _add_label(filled, element("textarea", "\n", filled.value, **_common(filled)))
        case "select" | "multiselect":
            return _add_label(filled, _select(filled))
        case "datalist":
            return _add_label(filled, _datalist(filled))
        case "range":
            return _add_label(
                filled, join((_input(filled), element("output", id=f"{filled.field.name}-reading")))
            )
        case _:
            return _add_label(filled, _input(filled))


def _add_label(filled: _FilledField, control: Html) -> Html:
    label = element("label", filled.field.label, _star(filled), for_=filled.field.name)
    return element("div", label, control, _remarks(filled), class_="field")


def _input(filled: _FilledField) -> Html:
    value = None if filled.field.kind in {"password", "file"} else filled.value
    return element("input", type=filled.field.kind, value=value, **filled.field.attributes, **_common(filled))


def _checkbox(filled: _FilledField) -> Html:
    box = element("input", type="checkbox", value="yes", checked=bool(filled.values), **_common(filled))
    text = element("span", filled.field.label, _star(filled))
    label = element("label", box, text, for_=filled.field.name)
    return element("div", label, _remarks(filled), class_="field tick")


def _radio_group(filled: _FilledField) -> Html:
    legend = element("legend", filled.field.label, _star(filled))
    choices = (_radio(filled, option) for option in filled.field.options)
    return element("fieldset", legend, *choices, _remarks(filled), class_="choices", id=filled.field.name)


def _radio(filled: _FilledField, option: str) -> Html:
    own = {"id": f"{filled.field.name}-{option.split()[-1].lower()}", "checked": option in filled.values}
    button = element("input", type="radio", value=option, **_common(filled) | own)
    return element("label", button, option, for_=own["id"])


def _select(filled: _FilledField) -> Html:
    several = filled.field.kind == "multiselect"
    options = [
        element("option", text, value=text, selected=text in filled.values) for text in filled.field.options
    ]
    if not several:
        options.insert(0, element("option", "Please choose", value=""))
    return element("select", *options, multiple=several, **_common(filled))


def _datalist(filled: _FilledField) -> Html:
    options = (element("option", value=text) for text in filled.field.options)
    name = f"{filled.field.name}-options"
    box = element("input", type="text", list=name, value=filled.value, **_common(filled))
    return join((box, element("datalist", *options, id=name)))


def _common(filled: _FilledField) -> dict[str, object]:
    name = filled.field.name
    remarks = [f"{name}-hint"] * bool(filled.field.hint) + [f"{name}-problem"] * bool(filled.problem)
    return {
        "id": name,
        "name": name,
        "required": filled.field.required,
        "aria_describedby": " ".join(remarks) or None,
        "aria_invalid": "true" if filled.problem else None,
    }


def _remarks(filled: _FilledField) -> Html:
    hint = element("p", filled.field.hint, class_="hint", id=f"{filled.field.name}-hint")
    problem = element("p", filled.problem, class_="wrong", id=f"{filled.field.name}-problem")
    return join([hint] * bool(filled.field.hint) + [problem] * bool(filled.problem))


def _star(filled: _FilledField) -> Html:
    return element("span", " *", class_="star", aria_hidden="true") if filled.field.required else Html()
