"""Validate the arguments of a call, and explain errors in them."""

from __future__ import annotations

import difflib
import itertools
import json
import re
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_camel

from footlight.errors import FootlightError, InvalidParameterError, MissingParameterError
from footlight.safe_text import replace_surrogates
from footlight.server.answers.secrets import Secrets, SecretText
from footlight.server.tools.schema import Function

__all__ = ["ExpectedArguments", "parse_arguments"]

MAX_PROBLEMS = 5
MAX_LISTED_PROBLEMS = 100
"""The maximum number of problems that are described, because each takes up to 20 µs.

More are only counted.
"""
MAX_KEYS = 50_000
"""The maximum number of keys in an object."""
MAX_VALUE_CHARACTERS = 100
MAX_DEPTH = 3
OTHER_NAMES = {
    "code": "script",
    "element": "selector",
    "expression": "script",
    "function": "script",
    "ref": "selector",
    "target": "selector",
    "text": "value",
    "uid": "selector",
    "value": "text",
    "values": "value",
}
"""Names that other browser servers give to a parameter, with the name in this server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedArguments:
    """The arguments that a tool accepts, for validation and for error messages."""

    tool: str
    function: Function
    model: type[BaseModel]
    schema: Mapping[str, Any]
    is_fixed: bool
    """Whether the schema is fixed, and not generated from the function's signature, which may accept more."""

    @property
    def properties(self) -> Mapping[str, Mapping[str, Any]]:
        return self.schema["properties"]


def parse_arguments(
    expected: ExpectedArguments, arguments: Mapping[str, Any], secrets: Secrets | None
) -> BaseModel:
    """Return the validated arguments, with the values of secrets inserted.

    Raises:
        MissingParameterError, InvalidParameterError: The message names the field and the expected value.
    """
    try:
        values = _with_whole_numbers(_with_few_unknown(expected, _without_nulls(expected, arguments)))
        _check_characters(values)
        _check_names(expected, values)
        return expected.model.model_validate(values, context=secrets)
    except ValidationError as error:
        raise _error_from(error, expected) from None


def _without_nulls(expected: ExpectedArguments, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Treat null for an optional parameter as absent, unless the tool has a fixed schema."""
    if expected.is_fixed:
        return dict(arguments)
    optional = expected.properties.keys() - expected.schema.get("required", ())
    return {key: value for key, value in arguments.items() if value is not None or key not in optional}


def _with_few_unknown(expected: ExpectedArguments, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the known arguments, and at most `MAX_PROBLEMS` unknown ones for the error."""
    known = expected.properties
    unknown = itertools.islice((name for name in values if name not in known), MAX_PROBLEMS)
    kept = known.keys() | set(unknown)
    return {name: value for name, value in values.items() if name in kept}


def _check_names(expected: ExpectedArguments, values: Mapping[str, Any]) -> None:
    """Refuse parameters that a fixed schema does not list, even if the function's signature accepts them."""
    known = expected.properties
    unknown = next((name for name in values if name not in known), None)
    if expected.is_fixed and unknown is not None:
        raise InvalidParameterError(
            _describe_unknown(expected, (unknown,)),
            parameter=_shorten(unknown),
            tool=expected.tool,
            expected=_type_names(known),
        )


def _with_whole_numbers(value: Any) -> Any:
    """Convert floats such as 2.0 to integers, because some clients send integers in this form."""
    if isinstance(value, dict):
        if len(cast("dict[str, Any]", value)) > MAX_KEYS:
            raise InvalidParameterError(f"arguments: an object has more than {MAX_KEYS:,} keys")
        return {key: _with_whole_numbers(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return [item if type(item) in _PLAIN else _with_whole_numbers(item) for item in items]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value


def _check_characters(value: Any, path: tuple[str, ...] = ()) -> None:
    """Refuse lone surrogates, which would be silently replaced by another character in a browser or file."""
    if isinstance(value, str):
        if replace_surrogates(value) != value:
            where = ".".join(path)
            raise InvalidParameterError(
                f"{where}: contains half of a surrogate pair (\\ud800 to \\udfff), which is no character",
                parameter=where,
            )
    elif isinstance(value, dict):
        for key, item in cast("dict[str, Any]", value).items():
            _check_characters(key, (*path, _shorten(replace_surrogates(key))))
            _check_characters(item, (*path, _shorten(key)))
    elif isinstance(value, list):
        for index, item in enumerate(cast("list[Any]", value)):
            _check_characters(item, (*path, str(index)))


_PLAIN = (str, int)
_OBJECT_PROBLEMS = ("dict_type", "model_type")


def _error_from(error: ValidationError, expected: ExpectedArguments) -> FootlightError:
    """Return an error about the first problem, with the others in its details."""
    details: dict[str, Any] = {"tool": expected.tool, "expected": _type_names(expected.properties)}
    if error.error_count() > MAX_LISTED_PROBLEMS:
        message = f"arguments: {error.error_count():,} values are not as {expected.tool} expects them"
        return InvalidParameterError(message, **details)
    problems = [_problem(problem, expected) for problem in error.errors(include_url=False)]
    missing = [field for field, kind, _ in problems if kind == "missing"]
    if missing:
        names = ", ".join(missing)
        unknown = [text for _, kind, text in problems[:MAX_PROBLEMS] if kind == "extra"]
        return MissingParameterError(
            "; ".join([f"{expected.tool} needs the parameter{'s' * (len(missing) > 1)} {names}", *unknown]),
            parameter=missing[0],
            missing=missing,
            **details,
        )
    message = "; ".join(text for _, _, text in problems[:MAX_PROBLEMS])
    return InvalidParameterError(message, parameter=problems[0][0], **details)


def _problem(problem: Any, expected: ExpectedArguments) -> tuple[str, str, str]:
    """Return the path of the field, the kind of the problem, and a sentence about it."""
    path = ".".join(_shorten(str(part)) for part in problem["loc"]) or "arguments"
    if problem["type"] == "extra_forbidden":
        return path, "extra", _describe_unknown(expected, problem["loc"])
    text = str(problem["msg"]).removeprefix("Value error, ")
    text = text.replace("Input should be", "must be").replace("String should", "must")
    if problem["type"] in _OBJECT_PROBLEMS:
        text = "must be an object"
    elif problem["type"] in ("too_short", "too_long"):
        bound, limit = next(
            each for each in problem["ctx"].items() if each[0] in ("min_length", "max_length")
        )
        text = (
            f"must have at {'least' if bound == 'min_length' else 'most'} {limit:,} item{'s' * (limit != 1)}"
        )
    elif problem["type"] == "literal_error":
        text = re.sub(r"\b(True|False)\b", lambda found: found[0].lower(), text)
    value = "" if _takes_secret(expected, path) else f", got {_shorten_value(problem['input'])}"
    return path, str(problem["type"]), f"{path}: {text}{value}"


def _takes_secret(expected: ExpectedArguments, path: str) -> bool:
    """Return whether the value of this parameter may be a secret, so that errors must not contain it."""
    hints = typing.get_type_hints(expected.function, include_extras=True)
    return any(to_camel(name) == path and hint == SecretText for name, hint in hints.items())


def _describe_unknown(expected: ExpectedArguments, location: Sequence[str | int]) -> str:
    """Return a message with the names that the tool, or the object with the unknown name, accepts."""
    *around, name = map(_shorten, map(str, location))
    schema: Mapping[str, Any] = expected.schema
    for part in location[:-1]:
        inner: Mapping[str, Any] = schema.get("properties", {})
        schema = schema.get("items", {}) if isinstance(part, int) else inner.get(part, {})
    known = ", ".join(schema.get("properties", ())) or schema.get("description") or "none"
    path = ".".join(around)
    takes = f"{path or expected.tool} takes {known}"
    if meant := _find_meant_name(name, tuple(schema.get("properties", ()))):
        takes = f"it is called {meant} here"
    return f"{path}.{name}: unknown field; {takes}" if path else f"{name}: unknown parameter; {takes}"


def _find_meant_name(name: str, known: Sequence[str]) -> str | None:
    """Return the known name that a wrong name most likely means, or None."""
    if (other := OTHER_NAMES.get(name)) in known:
        return other
    return next(iter(difflib.get_close_matches(to_camel(name), known, n=1, cutoff=0.8)), None)


def _shorten_value(value: object) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return _shorten(repr(_first_items(value)))


def _first_items(value: Any, depth: int = 0) -> Any:
    """Return the beginning of a value, which is sufficient for an error."""
    if isinstance(value, str):
        return value[: MAX_VALUE_CHARACTERS + 1]
    if isinstance(value, (list, dict)) and depth == MAX_DEPTH:
        return ...
    if isinstance(value, list):
        items = itertools.islice(cast("list[Any]", value), MAX_VALUE_CHARACTERS)
        return [_first_items(item, depth + 1) for item in items]
    if isinstance(value, dict):
        pairs = itertools.islice(cast("dict[str, Any]", value).items(), MAX_VALUE_CHARACTERS)
        return {_first_items(key): _first_items(item, depth + 1) for key, item in pairs}
    return value


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_VALUE_CHARACTERS else f"{text[:MAX_VALUE_CHARACTERS]}…"


def _type_names(properties: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    return {name: _type_name(schema) for name, schema in properties.items()}


def _type_name(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    kind = str(schema.get("type", "any"))
    if kind == "array":
        return f"array of {_type_name(schema.get('items', {}))}"
    if fields := schema.get("properties"):
        required = schema.get("required", ())
        return f"{{{', '.join(name if name in required else f'{name}?' for name in fields)}}}"
    return kind
