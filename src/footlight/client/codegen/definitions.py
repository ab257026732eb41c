"""Translate a tool's schemas into type expressions and the definitions to which they refer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from footlight.client.codegen.expressions import (
    ANY,
    NEVER,
    NONE,
    Expression,
    Reference,
    SimpleType,
    Subscript,
    union,
)
from footlight.client.codegen.names import pascal
from footlight.client.codegen.python_text import string
from footlight.client.codegen.schemas import (
    Flat,
    Schemas,
    choices,
    names_of,
    properties_of,
    schema_types,
)

__all__ = ["AliasDefinition", "Definition", "ObjectDefinition", "ParameterDefinition", "Path", "Translator"]

Path = tuple[str, ...]
"""The position of a schema within a tool's schema, as parts of a class name, the outermost first."""

DEEPEST = 40

_SIMPLE: Mapping[str, Expression] = {
    "string": SimpleType("str"),
    "integer": SimpleType("int"),
    "number": SimpleType("float"),
    "boolean": SimpleType("bool"),
    "null": NONE,
}


@dataclass(frozen=True, slots=True)
class ParameterDefinition:
    """A parameter, or a key of an object."""

    name: str
    type: Expression
    required: bool
    description: str = ""
    default: str | None = None
    """The default value as JSON."""


@dataclass(frozen=True, slots=True)
class ObjectDefinition:
    """An object with known keys, which becomes a `TypedDict`."""

    fields: tuple[ParameterDefinition, ...]
    description: str = ""


@dataclass(frozen=True, slots=True)
class AliasDefinition:
    """A name for an expression."""

    type: Expression


Definition = ObjectDefinition | AliasDefinition


class Translator:
    """Translates one schema. `definitions` and `paths` are those of the types that its expressions refer to.

    Equivalent objects have the same key, also if they belong to different tools. Without `named`, there are
    no definitions, and an object is a `dict`.
    """

    def __init__(self, root: object, *, named: bool = True) -> None:
        self._schemas = Schemas(root)
        self._root = root
        self._named = named
        self._depth = 0
        self._level = 0
        self._open: dict[str, int] = {}
        """The keys that are being translated, with the depth at which each translation began."""
        self.definitions: dict[str, Definition] = {}
        self.paths: dict[str, Path] = {}

    def arguments(self, *, without: Sequence[str] = ()) -> Definition:
        """Return the definition of a tool's parameters, or an alias of a `dict` if the schema names none.

        Alternative sets of parameters are merged. Only parameters that every set requires are required.
        """
        schema = self._schemas.flat(self._root)
        members = None if isinstance(schema, bool) else self._schemas.members(schema)
        objects = [each for each in members or () if not isinstance(each, bool)]
        if members is not None:
            schema = _merge_loosely(objects)
        if isinstance(schema, bool):
            return AliasDefinition(_dict_of(ANY))
        properties = properties_of(schema)
        if properties is None:
            return AliasDefinition(_dict_of(self._values(schema, ())))
        if "" in properties:  # A TypedDict cannot have an empty key.
            return AliasDefinition(_dict_of(ANY))
        remaining = {name: properties[name] for name in properties if name not in without}
        required = [name for name in names_of(schema.get("required")) if name in remaining]
        return self._fields({**schema, "properties": remaining, "required": required}, ())

    def result(self) -> Definition:
        """Return the definition of a tool's output schema."""
        schema = self._schemas.flat(self._root)
        if not isinstance(schema, bool) and self._is_fields(schema):
            return self._fields(schema, ())
        return AliasDefinition(self.expression(self._root, ()))

    def expression(self, schema: object, path: Path) -> Expression:
        """Return the type of the values that the schema accepts, or `Any` if no Python type fits."""
        if self._level > DEEPEST:
            return ANY
        self._level += 1
        try:
            return self._translate(schema, path)
        finally:
            self._level -= 1

    def _translate(self, schema: object, path: Path) -> Expression:
        flat = self._schemas.flat(schema)
        if isinstance(flat, bool):
            return ANY if flat else NEVER
        if self._is_fields(flat):
            return self._object(flat, path)
        if isinstance(schema, Mapping) and "$ref" in schema:
            return self._translate_reference(flat, path)
        return self._expression(flat, path)

    def _expression(self, schema: Mapping[str, Any], path: Path) -> Expression:
        values = choices(schema)
        if values is not None:
            return _literals(values)
        members = self._schemas.members(schema)
        if members is not None:
            return union(
                self.expression(member, _name_member(path, member, number))
                for number, member in enumerate(members, start=1)
            )
        types = schema_types(schema)
        return union(self._translate_type(schema, each, path) for each in types) if types else ANY

    def _translate_type(self, schema: Mapping[str, Any], type: str, path: Path) -> Expression:
        if type == "array":
            return Subscript("list", (self._items(schema, path),))
        if type != "object":
            return _SIMPLE[type]
        narrowed = {**schema, "type": type}
        if self._is_fields(narrowed):
            return self._object(narrowed, path)
        return _dict_of(self._values(schema, path))

    def _items(self, schema: Mapping[str, Any], path: Path) -> Expression:
        """Return the type of all items. A tuple becomes a list of the union of its item types."""
        items: Any = schema.get("items", True)
        first: Any = schema.get("prefixItems", items if isinstance(items, list) else None)
        rest = schema.get("additionalItems", True) if isinstance(items, list) else items
        inside = _add_suffix(path, "Item")
        if not isinstance(first, list):
            return self._enter_schema(rest, inside)
        return union(self._enter_schema(each, inside) for each in [*cast("list[Any]", first), rest])

    def _values(self, schema: Mapping[str, Any], path: Path) -> Expression:
        """Return the type of the values of a `dict` whose keys are not known."""
        patterns: Any = schema.get("patternProperties")
        pattern_schemas = (
            [*cast("Mapping[str, Any]", patterns).values()] if isinstance(patterns, Mapping) else []
        )
        properties = (properties_of(schema) or {}).values()
        rest = schema.get("additionalProperties", True)
        if not self._named and properties:
            return ANY  # Without definitions, the values of an object are `Any`.
        return union(
            self._enter_schema(each, _add_suffix(path, "Value"))
            for each in [*properties, *pattern_schemas, rest]
        )

    def _enter_schema(self, schema: object, path: Path) -> Expression:
        self._depth += 1
        try:
            return self.expression(schema, path)
        finally:
            self._depth -= 1

    def _is_fields(self, schema: Mapping[str, Any]) -> bool:
        """Return whether the schema accepts only objects with known keys, without a schema for other keys."""
        others = schema.get("additionalProperties")
        return (
            self._named
            and bool(properties := properties_of(schema))
            and "" not in properties
            and list(schema_types(schema)) == ["object"]
            and not (isinstance(others, Mapping) and others)
            and choices(schema) is None
            and self._schemas.members(schema) is None
        )

    def _object(self, schema: Mapping[str, Any], path: Path) -> Expression:
        key = self._schemas.identity(schema)
        self.paths[key] = min(path, self.paths.get(key, path), key=lambda each: (len(each), each))
        if key not in self._open and key not in self.definitions:
            self._open[key] = self._depth
            self.definitions[key] = self._fields(schema, path)
            del self._open[key]
        return Reference(key)

    def _fields(self, schema: Mapping[str, Any], path: Path) -> ObjectDefinition:
        required = frozenset(names_of(schema.get("required")))
        return ObjectDefinition(
            tuple(
                self._field(name, each, path, required=name in required)
                for name, each in (properties_of(schema) or {}).items()
                if each is not False or name in required
            ),
            description=_text(schema.get("description")),
        )

    def _field(self, name: str, schema: object, path: Path, *, required: bool) -> ParameterDefinition:
        flat = self._schemas.flat(schema)
        schema_object: Mapping[str, Any] = {} if isinstance(flat, bool) else flat
        if not isinstance(flat, bool) and self._is_fields(flat):
            # The description is moved to the field, so that equal schemas share one class.
            schema = {key: value for key, value in flat.items() if key not in ("default", "description")}
        return ParameterDefinition(
            name,
            self._enter_schema(schema, (*path, pascal(name))),
            required,
            _text(schema_object.get("description")),
            json.dumps(schema_object["default"], ensure_ascii=False) if "default" in schema_object else None,
        )

    def _translate_reference(self, schema: Mapping[str, Any], path: Path) -> Expression:
        """Translate a reference.

        A recursive schema that is not an object with known keys becomes an alias.
        """
        key = f"alias {self._schemas.identity(schema)}"
        if key in self._open:
            if self._open[key] == self._depth:
                return NEVER  # The schema is an alternative of itself, which adds nothing to the union.
            self.paths.setdefault(key, path)
            return Reference(key)
        self._open[key] = self._depth
        expression = self._expression(schema, path)
        del self._open[key]
        if key not in self.paths:
            return expression
        self.paths[key] = path
        self.definitions[key] = AliasDefinition(expression)
        return Reference(key)


def _merge_loosely(members: Sequence[Flat]) -> Flat:
    """Return a schema that every member satisfies: an object with the properties of all members."""
    merged: dict[str, Any] = {}
    required: list[set[str]] = []
    for member in members:
        if isinstance(member, bool):
            continue
        for name, schema in (properties_of(member) or {}).items():
            known = merged.setdefault(name, schema)
            if known != schema:
                merged[name] = {"anyOf": [known, schema]}
        required.append(set(names_of(member.get("required"))))
    if not merged:
        return True
    everywhere = set[str].intersection(*required)
    return {
        "type": "object",
        "properties": merged,
        "required": [name for name in merged if name in everywhere],
    }


def _literals(values: Sequence[Any]) -> Expression:
    return union(map(_literal, values))


def _literal(value: Any) -> Expression:
    match value:
        case None:
            return NONE
        case str():
            return Subscript("Literal", (SimpleType(string(value)),))
        case bool() | int():
            return Subscript("Literal", (SimpleType(repr(value)),))
        case float():
            return SimpleType("float")
        case list():
            return Subscript("list", (ANY,))
        case _:
            return _dict_of(ANY)


def _name_member(path: Path, member: Flat, number: int) -> Path:
    """Return the path of a member of a union, named after a constant property, or else by its number."""
    properties = {} if isinstance(member, bool) else properties_of(member) or {}
    for schema in properties.values():
        schema_object: Mapping[str, Any] = (
            cast("Mapping[str, Any]", schema) if isinstance(schema, Mapping) else {}
        )
        values = choices(schema_object)
        if values and len(values) == 1 and isinstance(values[0], str) and pascal(values[0]):
            return _add_suffix(path, pascal(values[0]))
    return path if number == 1 else _add_suffix(path, str(number))


def _add_suffix(path: Path, ending: str) -> Path:
    return (*path[:-1], path[-1] + ending) if path else (ending,)


def _dict_of(values: Expression) -> Expression:
    return Subscript("dict", (SimpleType("str"), values))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
