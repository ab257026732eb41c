"""Parse the tools that a server lists, and check their names and schemas."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from footlight.protocol.errors import MCPError
from footlight.protocol.untrusted_json import an_object, object_or_none, text

__all__ = ["InvalidToolError", "Tool", "find_name_problem", "find_schema_problem", "read_tool"]

_NAME = re.compile(r"[A-Za-z0-9._/-]{1,128}")
_TYPES = frozenset(("string", "integer", "number", "boolean", "object", "array", "null"))
_SCHEMA_KEYWORDS = (
    "items",
    "additionalProperties",
    "additionalItems",
    "not",
    "contains",
    "propertyNames",
    "if",
    "then",
    "else",
)
_LIST_KEYWORDS = ("anyOf", "oneOf", "allOf", "prefixItems")
_MAPPING_KEYWORDS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
MAX_SCHEMAS = 10_000
"""The maximum number of schemas within a tool's schema. Checking a thousand takes a few milliseconds."""
MAX_QUOTED = 80
MAX_PLACE = 200


def find_name_problem(name: str) -> str | None:
    """Return the reason why a tool cannot have this name, or None."""
    if _NAME.fullmatch(name):
        return None
    return "a tool's name has 1 to 128 letters, digits, dots, hyphens, slashes and underscores"


def find_schema_problem(schema: Mapping[str, Any], *, of_parameters: bool) -> str | None:
    """Return the reason why this is not a JSON Schema, with the path of the fault, or None.

    Only the types of keywords that are the same in all drafts are checked. Unknown keywords are allowed.
    Validating the metaschema would take milliseconds for each tool.
    """
    if of_parameters and schema.get("type", "object") != "object":
        return f"$.type is {_quote(schema['type'])}, and the parameters of a tool are an object"
    waiting: list[tuple[_Place, object]] = [(None, schema)]
    checked = 0
    while waiting:
        place, each = waiting.pop()
        checked += 1
        if checked + len(waiting) > MAX_SCHEMAS:
            return f"$ has more than {MAX_SCHEMAS:,} schemas inside"
        if isinstance(each, bool):
            continue
        if not isinstance(each, Mapping):
            return f"{_format_place(place)} is {_quote(each)}, and a schema is an object or a boolean"
        inside = cast("Mapping[str, Any]", each)
        problem = _find_problem_here(inside)
        if problem is not None:
            return f"{_format_place(place)}.{problem}"
        waiting += (((place, step), part) for step, part in _subschemas(inside))
    return None


_Place = tuple["_Place", str] | None
"""The enclosing place and the step from it. It is formatted only for errors, because it may be deep."""


def _format_place(place: _Place) -> str:
    steps: list[str] = []
    while place is not None:
        place, step = place
        steps.append(step)
    path = ".".join(["$", *steps[::-1]])
    return path if len(path) <= MAX_PLACE else f"{path[:MAX_PLACE]}…"


def _find_problem_here(schema: Mapping[str, Any]) -> str | None:
    types = schema.get("type", [])
    for each in cast("list[object]", types) if isinstance(types, list) else [types]:
        if not isinstance(each, str) or each not in _TYPES:
            return f"type is {_quote(each)}, and a type is one of {', '.join(sorted(_TYPES))}"
    for name in _MAPPING_KEYWORDS:
        if not isinstance(schema.get(name, {}), Mapping):
            return f"{name} is {_quote(schema[name])}, and it is an object of schemas"
    for name in (*_LIST_KEYWORDS, "enum"):
        if not isinstance(schema.get(name, []), list):
            return f"{name} is {_quote(schema[name])}, and it is an array"
    if not isinstance(schema.get("$ref", ""), str):
        return f"$ref is {_quote(schema['$ref'])}, and it is a text"
    required: object = schema.get("required", [])
    if isinstance(required, bool):
        return None  # In the draft of 2010, parameters have this keyword, and some servers still use it.
    if not isinstance(required, list) or not all(
        isinstance(name, str) for name in cast("list[object]", required)
    ):
        return f"required is {_quote(cast('object', required))}, and it is an array of names"
    return None


def _subschemas(schema: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for name in _MAPPING_KEYWORDS:
        for key, each in cast("Mapping[str, Any]", schema.get(name, {})).items():
            yield f"{name}.{_quote_key(key)}", each
    for name in _LIST_KEYWORDS:
        for number, each in enumerate(cast("list[Any]", schema.get(name, []))):
            yield f"{name}[{number}]", each
    for name in _SCHEMA_KEYWORDS:
        if name not in schema:
            continue
        if name == "items" and isinstance(schema[name], list):
            for number, each in enumerate(cast("list[Any]", schema[name])):
                yield f"items[{number}]", each
        else:
            yield name, schema[name]


def _quote(value: object) -> str:
    quoted = (
        repr(value) if isinstance(value, (str, int, float, type(None))) else f"of type {type(value).__name__}"
    )
    return quoted if len(quoted) <= MAX_QUOTED else f"{quoted[:MAX_QUOTED]}…"


def _quote_key(key: str) -> str:
    return repr(key[:MAX_QUOTED])[1:-1]


class InvalidToolError(MCPError):
    """The name or a schema of a tool is not valid. The server's other tools can be used."""


MAX_NAME_SHOWN = 128

"""The maximum number of characters of a tool's name in an error."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool from the server's list. `raw` is the unchanged entry."""

    name: str
    description: str | None = None
    title: str | None = None
    input_schema: Mapping[str, Any] = field(default_factory=dict[str, Any])
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict[str, Any])
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    raw: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)


def read_tool(entry: object) -> Tool:
    """Parse an entry of `tools/list`.

    Raises:
        MCPError: the entry has no name or no schema.
        InvalidToolError: the name or a schema is not valid. The message has the reason.
    """
    raw = object_or_none(entry)
    name = text(raw.get("name")) if raw is not None else None
    if raw is None or not name:
        raise MCPError("The server lists a tool without a name", reason="protocol")
    schema = object_or_none(raw.get("inputSchema"))
    if schema is None:
        raise MCPError(f"The tool {name[:MAX_NAME_SHOWN]!r} has no inputSchema", reason="protocol")
    output = object_or_none(raw.get("outputSchema"))
    problem = (
        find_name_problem(name)
        or _add_prefix("inputSchema", find_schema_problem(schema, of_parameters=True))
        or (
            _add_prefix("outputSchema", find_schema_problem(output, of_parameters=False))
            if output is not None
            else None
        )
    )
    if problem is not None:
        raise InvalidToolError(
            f"The tool {name[:MAX_NAME_SHOWN]!r} cannot be used: {problem}", reason="protocol"
        )
    return Tool(
        name=name,
        description=text(raw.get("description")),
        title=text(raw.get("title")),
        input_schema=schema,
        output_schema=output,
        annotations=an_object(raw.get("annotations")),
        meta=an_object(raw.get("_meta")),
        raw=raw,
    )


def _add_prefix(schema: str, problem: str | None) -> str | None:
    return None if problem is None else f"{schema}: {problem}"
