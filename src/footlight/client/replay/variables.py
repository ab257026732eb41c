"""Replace `${name}` in the strings of arguments by the value of the variable.

Lines of a sequence and redacted lines of a log are templates: each variable must have a value, and `$${` is
an escape for `${`. All other lines of a log have the arguments that were sent: there, `${name}` is a variable
only if it has a value, and literal text otherwise.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from footlight.client.replay.calls import LoggedCall
from footlight.protocol.errors import MCPError

__all__ = ["PLACE", "VariableMask", "fill_calls", "fill_text", "map_strings", "replace_keys", "strings_of"]

logger = logging.getLogger(__name__)

PLACE = re.compile(r"(?P<escape>\$)?\$\{(?P<name>[A-Za-z_][\w.-]*)\}")
MIN_LENGTH = 4
"""The minimum number of characters of a value that is hidden within other text."""


def fill_calls(
    calls: Sequence[LoggedCall], variables: Mapping[str, str], *, name: str
) -> tuple[LoggedCall, ...]:
    """Return the calls with all variables replaced. Errors name the file as `name`.

    Raises:
        MCPError: variables have no value, or a redacted line has no variable in place of the redacted value.
            The message names the variables and the lines.
    """
    for call in calls:
        if call.redacted and not _places(call):
            raise MCPError(
                f"{name}, line {call.line}: {call.name} was redacted when it was logged, so its "
                "arguments are not known; write ${NAME} where the value was, and give it with "
                "--var NAME=VALUE",
                reason="invalid",
            )
    missing = _find_missing(calls, variables)
    if missing:
        names = "; ".join(f"${{{each}}} ({_lines(lines)})" for each, lines in missing.items())
        raise MCPError(f"{name}: no value was given for {names}; give --var NAME=VALUE", reason="invalid")
    return tuple(_fill_call(call, variables, name) for call in calls)


def _find_missing(calls: Sequence[LoggedCall], variables: Mapping[str, str]) -> dict[str, list[int]]:
    missing: dict[str, list[int]] = {}
    for call in calls:
        for each in dict.fromkeys(_places(call)):
            if each not in variables and _is_template(call):
                missing.setdefault(each, []).append(call.line)
    return missing


def _fill_call(call: LoggedCall, variables: Mapping[str, str], name: str) -> LoggedCall:
    if not _is_template(call) and (unknown := [each for each in _places(call) if each not in variables]):
        names = ", ".join(f"${{{each}}}" for each in dict.fromkeys(unknown))
        logger.warning("%s, line %d: %s was given no value, and is sent as it is", name, call.line, names)

    def fill(text: str) -> str:
        return fill_text(text, variables, template=_is_template(call))

    return replace(call, arguments=map_strings(call.arguments, fill))


def fill_text(text: str, variables: Mapping[str, str], *, template: bool = False) -> str:
    """Replace the variables in a text. The escape `$${` is recognised only in a template."""
    return PLACE.sub(lambda found: _value(found, variables, template=template), text)


def _value(found: re.Match[str], variables: Mapping[str, str], *, template: bool) -> str:
    if template and found["escape"]:
        return found[0][1:]
    value = variables.get(found["name"])
    return found[0] if value is None else f"{found['escape'] or ''}{value}"


def _is_template(call: LoggedCall) -> bool:
    return call.redacted or not call.raw


def _places(call: LoggedCall) -> list[str]:
    found = (each for text in strings_of(call.arguments) for each in PLACE.finditer(text))
    return [each["name"] for each in found if not (each["escape"] and _is_template(call))]


def _lines(numbers: Sequence[int]) -> str:
    return f"line{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"


def strings_of(value: Any) -> list[str]:
    """Return all strings in a JSON value, except keys."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        value = list(cast("Mapping[str, Any]", value).values())
    return (
        [text for each in cast("list[Any]", value) for text in strings_of(each)]
        if isinstance(value, list)
        else []
    )


def map_strings(value: Any, change: Callable[[str], str]) -> Any:
    """Return a copy of a JSON value with each string changed, except keys."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {key: map_strings(each, change) for key, each in items}
    if isinstance(value, list):
        return [map_strings(each, change) for each in cast("list[Any]", value)]
    return value


def replace_keys(text: str, changes: Mapping[str, str]) -> str:
    """Replace each key in the text by its value, long keys first. Inserted values are not changed again."""
    found = sorted((each for each in changes if each in text), key=len, reverse=True)
    pattern = "|".join(map(re.escape, found))
    return re.sub(pattern, lambda each: changes[each[0]], text) if found else text


@dataclass(frozen=True, slots=True)
class VariableMask:
    """Replaces the values of variables by their names, in text that is shown or logged."""

    variables: Mapping[str, str] = field(default_factory=dict[str, str])

    def __call__(self, text: str) -> str:
        names = {value: f"${{{name}}}" for name, value in [*self.variables.items()][::-1] if value}
        if text in names:
            return names[text]
        return replace_keys(text, {value: names[value] for value in names if len(value) >= MIN_LENGTH})

    def entry(self, entry: dict[str, Any]) -> dict[str, Any]:
        """Return a line for `create_logger`, so that it can be replayed with the same variables."""
        return {**entry, **{key: map_strings(entry[key], self) for key in _RECORDED_FIELDS if key in entry}}


_RECORDED_FIELDS = ("arguments", "_result", "_error", "_locator")
