"""The JSON Schemas of a tool, made from its function's signature and return type.

`make_input_schema` and `make_output_schema` are what `tools/list` sends. The models come from pydantic; what
its schemas have beyond the types (titles, references, unions with null) is removed.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model
from pydantic.alias_generators import to_camel

__all__ = [
    "ERROR_SCHEMA",
    "EVENTS_SCHEMA",
    "OBSERVATION_SCHEMA",
    "Function",
    "make_arguments_model",
    "make_input_schema",
    "make_output_schema",
    "make_returned_schema",
]

Function = Callable[..., Awaitable[Mapping[str, Any]]]

EVENTS_SCHEMA: dict[str, Any] = {
    "newPages": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"pageId": {"type": "string"}, "url": {"type": "string"}},
            "required": ["pageId", "url"],
        },
    },
    "closedPages": {"type": "array", "items": {"type": "string"}},
    "restored": {"type": "boolean"},
    "dialogs": {"type": "array", "items": {"type": "object"}},
    "downloads": {"type": "array", "items": {"type": "object"}},
}

ERROR_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "details": {"type": "object"},
        "retryable": {"type": "boolean"},
        "suggestion": {"type": "string"},
    },
    "required": ["code", "message", "retryable"],
}

OBSERVATION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": ["same", "diff", "full", "unknown"]},
        "url": {"type": "string"},
        "title": {"type": "string"},
        "console": {"type": "array"},
        "notice": {"type": "string"},
        "text": {"type": "string"},
        "cut": {"type": "boolean"},
        "resource": {"type": "string"},
    },
    "required": ["kind"],
}

_LIST: dict[str, Any] = {"type": "array"}
_TEXT: dict[str, Any] = {"type": "string"}
_LINKED: dict[str, Any] = {
    "resource": {
        "type": "object",
        "properties": {
            "uri": {"type": "string"},
            "mimeType": {"type": "string"},
            "bytes": {"type": "integer"},
        },
    },
    "preview": {"type": "string"},
}
"""Fields that replace `data` that would be too large. The events are next to these fields."""


def make_arguments_model(
    function: Function, shared: Mapping[str, Any], leading: Mapping[str, Any]
) -> type[BaseModel]:
    """Return the model of a tool's arguments: the leading ones, the function's own, then the shared ones."""
    hints = typing.get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = dict(leading)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name != "call":
            default = ... if parameter.default is parameter.empty else parameter.default
            fields[parameter.name] = (hints[parameter.name], default)
    for name, field in shared.items():
        fields.setdefault(name, field)
    model = create_model(
        function.__name__,
        __config__=ConfigDict(
            alias_generator=to_camel, extra="forbid", strict=True, frozen=True, validate_by_name=False
        ),
        **fields,
    )
    schema = _stop_at_first_item(model.__pydantic_core_schema__)
    make_validator: Any = type(model.__pydantic_validator__)
    model.__pydantic_validator__ = make_validator(schema, _use_prebuilt=False)
    return model


def _stop_at_first_item(schema: Any) -> Any:
    """Return a core schema whose lists are refused at their first wrong item: a caller may send millions."""
    if isinstance(schema, list):
        return [_stop_at_first_item(each) for each in cast("list[Any]", schema)]
    if isinstance(schema, tuple):
        return tuple(_stop_at_first_item(each) for each in cast("tuple[Any, ...]", schema))
    if not isinstance(schema, dict):
        return schema
    parts = cast("dict[str, Any]", schema)
    stop = {"fail_fast": True} if parts.get("type") == "list" else {}
    return {key: _stop_at_first_item(part) for key, part in parts.items()} | stop


def make_input_schema(arguments: type[BaseModel]) -> dict[str, Any]:
    schema = _simplify(arguments.model_json_schema(by_alias=True, mode="validation"))
    return {
        "type": "object",
        "properties": schema.get("properties", {}),
        **({"required": schema["required"]} if schema.get("required") else {}),
        "additionalProperties": False,
    }


def make_returned_schema(function: Function) -> dict[str, Any]:
    """Return the schema of what a function returns, without what an envelope adds."""
    returned = typing.get_type_hints(function, include_extras=True)["return"]
    return _simplify(TypeAdapter(returned).json_schema(mode="serialization"), keep_nulls=True)


def make_output_schema(data: dict[str, Any], *, effect: str, scope: str, observed: bool) -> dict[str, Any]:
    """Return the schema of an answer: `{success: true, data}`, or `{success: false, error}`.

    Instead of `data`, an answer may have `resource` and `preview`.
    """
    if effect != "configure":
        data["properties"] = {**data.get("properties", {}), **EVENTS_SCHEMA}
    if effect == "act" and scope != "server":
        data = _allow_dialog_answer(data)
    instead = (
        {}
        if scope == "server"
        else _LINKED
        if effect == "configure"
        else _LINKED | dict.fromkeys(EVENTS_SCHEMA, _LIST)
    )
    return {
        "type": "object",
        "properties": {
            "success": {"type": "boolean"},
            "data": data,
            **({"effect": _TEXT, "reason": _TEXT, "locator": {}} if observed and effect == "act" else {}),
            **({"observation": OBSERVATION_SCHEMA} if observed else {}),
            "error": ERROR_SCHEMA,
            **instead,
        },
        "required": ["success"],
    }


def _allow_dialog_answer(data: dict[str, Any]) -> dict[str, Any]:
    """Allow the answer of an action that a dialog stopped: the page's URL and the dialog."""
    required = data.get("required", [])
    if set(required) <= {"url"}:
        return data
    data = {key: value for key, value in data.items() if key != "required"}
    data["properties"] = {"url": {"type": "string"}, **data["properties"]}
    return {**data, "anyOf": [{"required": required}, {"required": ["url", "dialogs"]}]}


def _simplify(schema: Any, definitions: Mapping[str, Any] | None = None, *, keep_nulls: bool = False) -> Any:
    """Remove titles and resolve references.

    Without `keep_nulls`, an optional parameter has its own type and not a union with null.
    """
    if isinstance(schema, list):
        return [_simplify(item, definitions, keep_nulls=keep_nulls) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    typed = cast("dict[str, Any]", schema)
    definitions = typed.get("$defs", definitions)
    if (reference := typed.get("$ref")) is not None:
        definition = dict((definitions or {})[reference.removeprefix("#/$defs/")])
        definition.pop("description", None)
        typed = {**definition, **{key: value for key, value in typed.items() if key != "$ref"}}
    plain: dict[str, Any] = {
        key: {name: _simplify(item, definitions, keep_nulls=keep_nulls) for name, item in value.items()}
        if key == "properties"
        else _simplify(value, definitions, keep_nulls=keep_nulls)
        for key, value in typed.items()
        if key not in ("title", "$defs")
    }
    return plain if keep_nulls else _without_null(plain)


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    if schema.get("default", ...) is None:
        del schema["default"]
    real = [choice for choice in schema.get("anyOf", ()) if choice != {"type": "null"}]
    if len(real) == 1:
        del schema["anyOf"]
        schema = {**real[0], **schema}
    return schema
