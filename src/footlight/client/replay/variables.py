"""`${name}` in the strings of arguments becomes the value that was given for it. Text stays text.

In a sequence, and in a line of a log that was redacted, each must have a value; `$${` stands for `${`. Every
other line of a log is what was sent: there `${name}` is a variable only where it was given a value, and text
otherwise.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from footlight.client.errors import MCPError
from footlight.client.replay.calls import LoggedCall

__all__ = ["PLACE", "Hidden", "filled", "filled_text", "mapped_strings", "replaced", "strings_of"]

logger = logging.getLogger(__name__)

PLACE = re.compile(r"(?P<escape>\$)?\$\{(?P<name>[A-Za-z_][\w.-]*)\}")
SHORTEST = 4
"""Characters of a value that is looked for within other text, to be hidden there."""


def filled(calls: Sequence[LoggedCall], variables: Mapping[str, str], *, name: str) -> tuple[LoggedCall, ...]:
    """The calls with their arguments as they are sent. `name` is what errors call the file.

    Raises:
        MCPError: names all variables that have no value, and the lines that need them; or a line was redacted
        when
            it was logged, and nothing was put in place of what was taken out.
    """
    for call in calls:
        if call.redacted and not _places(call):
            raise MCPError(
                f"{name}, line {call.line}: {call.name} was redacted when it was logged, so what it "
                "was called with is not known; write ${NAME} where the value was, and give it with "
                "--var NAME=VALUE",
                reason="invalid",
            )
    missing = _missing(calls, variables)
    if missing:
        told = "; ".join(f"${{{each}}} ({_lines(lines)})" for each, lines in missing.items())
        raise MCPError(f"{name}: no value was given for {told}; give --var NAME=VALUE", reason="invalid")
    return tuple(_filled(call, variables, name) for call in calls)


def _missing(calls: Sequence[LoggedCall], variables: Mapping[str, str]) -> dict[str, list[int]]:
    missing: dict[str, list[int]] = {}
    for call in calls:
        for each in dict.fromkeys(_places(call)):
            if each not in variables and _is_template(call):
                missing.setdefault(each, []).append(call.line)
    return missing


def _filled(call: LoggedCall, variables: Mapping[str, str], name: str) -> LoggedCall:
    if not _is_template(call) and (unknown := [each for each in _places(call) if each not in variables]):
        told = ", ".join(f"${{{each}}}" for each in dict.fromkeys(unknown))
        logger.warning("%s, line %d: %s was given no value, and is sent as it is", name, call.line, told)

    def fill(text: str) -> str:
        return filled_text(text, variables, template=_is_template(call))

    return replace(call, arguments=mapped_strings(call.arguments, fill))


def filled_text(text: str, variables: Mapping[str, str], *, template: bool = False) -> str:
    """The text with the values that are known. Only a template has escapes."""
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
    """All strings in a value of JSON, keys aside."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        value = list(cast("Mapping[str, Any]", value).values())
    return (
        [text for each in cast("list[Any]", value) for text in strings_of(each)]
        if isinstance(value, list)
        else []
    )


def mapped_strings(value: Any, change: Callable[[str], str]) -> Any:
    """A copy with each string changed, keys aside."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {key: mapped_strings(each, change) for key, each in items}
    if isinstance(value, list):
        return [mapped_strings(each, change) for each in cast("list[Any]", value)]
    return value


def replaced(text: str, changes: Mapping[str, str]) -> str:
    """The text with values for keys, long ones first. What was put in is not changed again."""
    found = sorted((each for each in changes if each in text), key=len, reverse=True)
    pattern = "|".join(map(re.escape, found))
    return re.sub(pattern, lambda each: changes[each[0]], text) if found else text


@dataclass(frozen=True, slots=True)
class Hidden:
    """Takes the values of variables out of what is shown or logged, and puts their names there again."""

    variables: Mapping[str, str] = field(default_factory=dict[str, str])

    def __call__(self, text: str) -> str:
        names = {value: f"${{{name}}}" for name, value in [*self.variables.items()][::-1] if value}
        if text in names:
            return names[text]
        return replaced(text, {value: names[value] for value in names if len(value) >= SHORTEST})

    def entry(self, entry: dict[str, Any]) -> dict[str, Any]:
        """A line of the log, for `create_logger`: it can be replayed with the same variables."""
        return {**entry, **{key: mapped_strings(entry[key], self) for key in _SAID if key in entry}}


_SAID = ("arguments", "_result", "_error", "_locator")
