"""The short form of a tool's input schema, for lists that models read.

Every client pays for the list of tools in tokens, so the short form leaves out what a model does not need for
a valid call: limits and default values, which the server applies itself, and the parameters that come with
the scope of a tool, which the instructions of the server describe once. The server accepts them in every
call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from pydantic.alias_generators import to_camel

if TYPE_CHECKING:
    from footlight.server.tools.declaration import Tool

__all__ = ["compact_input_schema"]

ALWAYS_LISTED = frozenset(("sessionId",))
"""The one shared parameter that is listed, because calls in several sessions depend on it."""

_OMITTED = frozenset(
    (
        *("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern"),
        *("default", "additionalProperties", "patternProperties"),
    )
)


def compact_input_schema(tool: Tool) -> dict[str, Any]:
    """Return the input schema of a tool in the short form. A fixed schema is returned as it is."""
    schema = tool.input_schema
    if tool.schema is not None:
        return schema
    required: list[str] = schema.get("required", [])
    shared = {to_camel(name) for name in tool.shared} - ALWAYS_LISTED - {*required}
    properties = {
        name: _compact(parameter)
        for name, parameter in schema["properties"].items()
        if name not in shared or "description" in parameter
    }
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _compact(schema: Mapping[str, Any]) -> dict[str, Any]:
    if "description" in schema and schema["description"].startswith("{"):
        # The description has the names of the properties.
        return {"type": "object", "description": schema["description"]}
    compacted: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "anyOf" and "description" in schema:
            continue  # The description has the types.
        if key == "properties":
            compacted[key] = {name: _compact(each) for name, each in value.items()}
        elif key not in _OMITTED:
            compacted[key] = _compact(cast("dict[str, Any]", value)) if isinstance(value, dict) else value
    return compacted
