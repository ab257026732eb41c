"""Normalize JSON Schemas: resolve references, merge `allOf`, and list alternatives.

Schemas come from a server and may be malformed. Malformed parts are ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast
from urllib.parse import unquote

__all__ = ["Flat", "Schemas", "canonical", "choices", "names_of", "properties_of", "schema_types"]

Flat = Mapping[str, Any] | bool
"""A schema without `$ref` and `allOf` at its top level."""

MAX_STEPS = 5_000
"""The maximum number of schemas that are normalized for one tool. All further ones are `Any`."""
MAX_COPIED = 100_000
"""The maximum number of copied properties and references, which limits the work for large schemas."""
MAX_CHOICES = 64
DEEPEST = 200
"""The maximum length of a chain of references and nested `allOf`."""

_INDEX = re.compile("[0-9]{1,9}")
_TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")


class Schemas:
    """Normalizes the schemas within a tool's schema, which is the root of their references."""

    def __init__(self, root: object) -> None:
        self._root = root
        self._steps = 0
        self._copied = 0
        self._level = 0

    def flat(self, schema: object, seen: frozenset[str] = frozenset()) -> Flat:
        """Return an equivalent flat schema. `True` accepts everything, `False` nothing.

        `seen` are the references that are being resolved.
        """
        if schema is False:
            return False
        self._steps += 1
        spent = self._steps > MAX_STEPS or self._copied > MAX_COPIED or self._level > DEEPEST
        if not isinstance(schema, Mapping) or spent:
            return True
        self._level += 1
        try:
            return self._merge_references(cast("Mapping[str, Any]", schema), seen)
        finally:
            self._level -= 1

    def _merge_references(self, found: Mapping[str, Any], seen: frozenset[str]) -> Flat:
        own: Flat = {name: found[name] for name in found if name not in ("$ref", "allOf")}
        reference = found.get("$ref")
        if isinstance(reference, str) and reference not in seen:
            own = self.intersect(own, self.flat(self.resolve(reference), seen | {reference}))
        for each in _items(found.get("allOf")):
            own = self.intersect(own, self.flat(each, seen))
        return own

    def resolve(self, reference: str) -> object:
        """Return the target of a JSON pointer, or `True` if there is none or the reference is an anchor."""
        if reference != "#" and not reference.startswith("#/"):
            return True
        target: object = self._root
        for part in unquote(reference[1:]).split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(target, Mapping):
                target = cast("Mapping[str, Any]", target).get(key, True)
            elif (
                isinstance(target, list)
                and _INDEX.fullmatch(key)
                and int(key) < len(cast("list[Any]", target))
            ):
                target = cast("list[Any]", target)[int(key)]
            else:
                return True
        return target

    def intersect(self, one: Flat, other: Flat) -> Flat:
        """Return a schema that accepts the values that both schemas accept."""
        if one is False or other is False:
            return False
        if one is True or other is True:
            return other if one is True else one
        merged = {**other, **one}
        self._copied += _size(one) + _size(other)
        for name in one.keys() & other.keys():
            if name in _MERGED:
                merged[name] = _MERGED[name](one[name], other[name])
        if schema_types(one) and schema_types(other) and not schema_types(merged):
            return False
        if "const" in one and "const" in other and canonical(one["const"]) != canonical(other["const"]):
            return False
        return merged

    def members(self, schema: Mapping[str, Any]) -> Sequence[Flat] | None:
        """Return the alternatives, each merged with the common part, or None if the schema has none."""
        if not any(_items(schema.get(name)) for name in ("anyOf", "oneOf")):
            return None
        base = {name: schema[name] for name in schema if name not in ("anyOf", "oneOf")}
        members: list[Flat] = [base]
        for name in ("anyOf", "oneOf"):
            alternatives = _items(schema.get(name))
            if alternatives and len(members) * len(alternatives) <= MAX_CHOICES:
                members = [
                    self.intersect(each, self.flat(member)) for each in members for member in alternatives
                ]
        return members

    def identity(self, schema: object) -> str:
        """Return a text that is the same for equal schemas, also if they belong to different tools."""
        reached = {"": schema}
        waiting = [schema]
        while waiting:
            for reference in _references(waiting.pop()):
                if reference not in reached:
                    reached[reference] = self.resolve(reference)
                    waiting.append(reached[reference])
        self._copied += len(reached)
        return canonical(reached)


def canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def choices(schema: Mapping[str, Any]) -> Sequence[Any] | None:
    """Return the values of `const` or `enum` that have the schema's type, or None if it has neither."""
    if "const" in schema:
        values = [schema["const"]]
    elif isinstance(schema.get("enum"), list):
        values = cast("list[Any]", schema["enum"])
    else:
        return None
    types = schema_types(schema)
    return [value for value in values if not types or _is_of(value, types)]


def schema_types(schema: Mapping[str, Any]) -> Sequence[str]:
    """Return the types that a schema names, without duplicates, or else infer them from other keywords."""
    named = schema.get("type")
    names = [named] if isinstance(named, str) else _items(named)
    known = [
        name for name in dict.fromkeys(name for name in names if isinstance(name, str)) if name in _TYPES
    ]
    if known or "type" in schema:
        return known
    if isinstance(schema.get("properties"), Mapping):
        return ["object"]
    return ["array"] if "items" in schema or "prefixItems" in schema else []


def properties_of(schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the properties, including required ones without a schema, or None without `properties`."""
    described = schema.get("properties")
    if not isinstance(described, Mapping):
        return None
    properties = dict(cast("Mapping[str, Any]", described))
    return properties | {name: True for name in names_of(schema.get("required")) if name not in properties}


def names_of(value: object) -> Sequence[str]:
    """Return the strings in a list, in order. Return nothing if the value is not a list."""
    return [each for each in _items(value) if isinstance(each, str)]


def _size(schema: Mapping[str, Any]) -> int:
    described = schema.get("properties")
    return len(cast("Mapping[str, Any]", described)) if isinstance(described, Mapping) else 0


def _items(value: object) -> Sequence[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else ()


def _references(schema: object) -> list[str]:
    """Return all references in a schema, including those in examples, which does no harm."""
    found: list[str] = []
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            inside = cast("Mapping[str, Any]", part)
            if isinstance(inside.get("$ref"), str):
                found.append(inside["$ref"])
            waiting += inside.values()
        elif isinstance(part, list):
            waiting += cast("list[Any]", part)
    return found


def _is_of(value: Any, types: Sequence[str]) -> bool:
    match value:
        case None:
            return "null" in types
        case bool():
            return "boolean" in types
        case int():
            return "integer" in types or "number" in types
        case float():
            return "number" in types or ("integer" in types and value.is_integer())
        case str():
            return "string" in types
        case list():
            return "array" in types
        case _:
            return "object" in types


def _merge_types(one: Any, other: Any) -> list[str]:
    ours, theirs = schema_types({"type": one}), schema_types({"type": other})
    if not ours or not theirs:
        return [*ours, *theirs]
    narrow = [name for name in ours if name in theirs or (name == "integer" and "number" in theirs)]
    return narrow + [name for name in theirs if name == "integer" and "number" in ours and name not in ours]


def _merge_properties(one: Any, other: Any) -> Any:
    if not (isinstance(one, Mapping) and isinstance(other, Mapping)):
        return cast("Any", one if isinstance(one, Mapping) else other)
    ours, theirs = cast("Mapping[str, Any]", one), cast("Mapping[str, Any]", other)
    both = {name: _merge_schemas(ours[name], theirs[name]) for name in ours if name in theirs}
    return {**ours, **theirs, **both}


def _merge_schemas(one: Any, other: Any) -> Any:
    if one is True or other is True:
        return other if one is True else one
    if any(part is other for part in _parts(one)):
        return one  # The same reference was followed twice. Comparing large schemas would take long.
    parts = {canonical(part): part for part in (*_parts(one), *_parts(other))}
    return one if len(parts) == 1 else {"allOf": [*parts.values()]}


def _parts(schema: Any) -> Sequence[Any]:
    """Return the parts of a schema that `_merge_schemas` created, or the schema itself.

    Without this, merging a recursive schema would never yield an equal schema again.
    """
    if isinstance(schema, Mapping) and list(cast("Mapping[str, Any]", schema)) == ["allOf"]:
        return _items(cast("Mapping[str, Any]", schema)["allOf"])
    return [schema]


def _merge_choices(one: Any, other: Any) -> Any:
    if one is other:
        return one
    theirs = {canonical(value) for value in _items(other)}
    return [value for value in _items(one) if canonical(value) in theirs]


def _merge_alternatives(one: Any, other: Any) -> Any:
    """Return all pairs of an alternative of one with an alternative of the other, merged."""
    ours, theirs = _items(one), _items(other)
    if not ours or not theirs or len(ours) * len(theirs) > MAX_CHOICES:
        return ours or theirs
    return [{"allOf": [mine, its]} for mine in ours for its in theirs]


def _merge_names(one: Any, other: Any) -> list[str]:
    return list(dict.fromkeys([*names_of(one), *names_of(other)]))


_MERGED: Mapping[str, Callable[[Any, Any], Any]] = {
    "type": _merge_types,
    "properties": _merge_properties,
    "required": _merge_names,
    "enum": _merge_choices,
    "items": _merge_schemas,
    "additionalProperties": _merge_schemas,
    "anyOf": _merge_alternatives,
    "oneOf": _merge_alternatives,
}
