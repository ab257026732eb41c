"""Replace refs in arguments by logged locators, which also work in other runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from footlight.client.replay.calls import LoggedCall

__all__ = ["refs_in", "with_locators"]

_REF = re.compile(r"\s*(?:\[ref=e[1-9]\d*\]|(?:ref=|@)?e[1-9]\d*)\s*(?:>>.*)?", re.DOTALL)
_SELECTORS = re.compile(r"selector|source|target|ref|element|submit", re.IGNORECASE)
"""Names of parameters that identify an element."""
_BY_SELECTOR = "fields"
"""The parameter with the values of a form by the selectors of their fields."""


def with_locators(call: LoggedCall) -> Mapping[str, Any]:
    """Return the call's arguments with locators in place of refs.

    The log has one locator, an object of locators by ref, or a list with an entry for each step.
    """
    recorded = call.outcome.locator if call.outcome else None
    steps = call.arguments.get("steps")
    if isinstance(recorded, list) and isinstance(steps, list):
        pairs = zip(cast("list[Any]", steps), cast("list[Any]", recorded), strict=False)
        located = [_step(step, locator) for step, locator in pairs]
        return {**call.arguments, "steps": [*located, *cast("list[Any]", steps)[len(located) :]]}
    return _locate_arguments(call.arguments, recorded)


def refs_in(arguments: Mapping[str, Any]) -> list[str]:
    """Return the refs of elements in the arguments. They are not valid in another run."""
    return [each for each in _selectors(arguments) if _REF.fullmatch(each)]


def _step(step: Any, recorded: Any) -> Any:
    if not isinstance(step, Mapping):
        return step
    fields = cast("Mapping[str, Any]", step)
    arguments = fields.get("arguments")
    return (
        {**fields, "arguments": _locate_arguments(cast("Mapping[str, Any]", arguments), recorded)}
        if arguments
        else fields
    )


def _locate_arguments(arguments: Mapping[str, Any], recorded: Any) -> Mapping[str, Any]:
    if isinstance(recorded, str):
        refs = refs_in(arguments)
        known: Mapping[str, Any] = {refs[0]: recorded} if refs else {}
    else:
        known = cast("Mapping[str, Any]", recorded) if isinstance(recorded, Mapping) else {}
    return (
        _replace_selectors(arguments, {each: to for each, to in known.items() if isinstance(to, str)})
        if known
        else arguments
    )


def _selectors(value: Any, key: str = "") -> list[str]:
    """Return the strings of all parameters that identify elements."""
    if isinstance(value, str):
        return [value] if _SELECTORS.search(key) else []
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, Any]", value)
        if key == _BY_SELECTOR:
            return [*entries]
        return [text for inner, each in entries.items() for text in _selectors(each, inner)]
    return (
        [text for each in cast("list[Any]", value) for text in _selectors(each, key)]
        if isinstance(value, list)
        else []
    )


def _replace_selectors(value: Any, known: Mapping[str, str], key: str = "") -> Any:
    if isinstance(value, str):
        return known.get(value, value) if _SELECTORS.search(key) else value
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, Any]", value)
        if key == _BY_SELECTOR:
            return {known.get(inner, inner): each for inner, each in entries.items()}
        return {inner: _replace_selectors(each, known, inner) for inner, each in entries.items()}
    if isinstance(value, list):
        return [_replace_selectors(each, known, key) for each in cast("list[Any]", value)]
    return value
