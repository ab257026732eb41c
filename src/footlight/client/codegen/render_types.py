"""Render definitions as `TypedDict` classes and aliases, each after those that it refers to."""

from __future__ import annotations

import re
from collections.abc import Mapping

from footlight.client.codegen.definitions import (
    AliasDefinition,
    Definition,
    ObjectDefinition,
    ParameterDefinition,
    Translator,
)
from footlight.client.codegen.expressions import (
    Expression,
    SimpleType,
    Subscript,
    Union,
    names_in,
    references_in,
)
from footlight.client.codegen.layout import STEP, Names, assignment, field_line, flat, lay_out
from footlight.client.codegen.names import MAX_LENGTH, is_key
from footlight.client.codegen.python_text import LINE_LENGTH, docstring, string

__all__ = ["TypeWriter", "schema_to_type"]


class TypeWriter:
    """Writes each definition once, when it is first needed. `used` are the names that must be imported."""

    def __init__(self, definitions: Mapping[str, Definition], names: Names) -> None:
        self._definitions = definitions
        self._names = names
        self._begun: set[str] = set()
        self._written: set[str] = set()
        self.used: set[str] = set()

    def write(self, key: str) -> list[str]:
        """Return the lines of a definition, after those of the definitions that it needs.

        Definitions that were written before are left out.
        """
        if key in self._begun:
            return []
        self._begun.add(key)
        definition = self._definitions[key]
        lines: list[str] = []
        for expression in _expressions(definition):
            self.used.update(names_in(expression))
            for other in references_in(expression):
                lines += self.write(other)
        name = self._names[key]
        if isinstance(definition, AliasDefinition):
            lines += ["", "", *self._alias(name, definition)]
        elif self._can_be_class(definition):
            lines += ["", "", *self._class(name, definition)]
        else:
            lines += ["", "", *self._call(name, definition)]
        self._written.add(key)
        return lines

    def _alias(self, name: str, alias: AliasDefinition) -> list[str]:
        self.used.add("TypeAlias")
        return assignment(f"{name}: TypeAlias", self._quote_references(alias.type), self._names)

    def _class(self, name: str, fields: ObjectDefinition) -> list[str]:
        self.used.add("TypedDict")
        lines = [f"class {name}(TypedDict):"]
        doc_lines = docstring(fields.description, indent=STEP)
        if fields.fields:
            lines += [*doc_lines, ""] if doc_lines else []
        else:
            lines += doc_lines or docstring("Empty.", indent=STEP)
        for field in fields.fields:
            lines += field_line(field.name, self._field(field), self._names, indent=STEP)
            lines += docstring(_field_docstring(field), indent=STEP)
        return lines

    def _call(self, name: str, fields: ObjectDefinition) -> list[str]:
        """Return a `TypedDict` call, for keys that a class cannot have.

        The descriptions follow the call, because a comment in it could be a directive for a type checker.
        """
        self.used.add("TypedDict")
        lines = [f"{name} = TypedDict(", f'{STEP}"{name}",', f"{STEP}{{"]
        for field in fields.fields:
            expression = self._field(field)
            line = f"{STEP * 2}{string(field.name)}: "
            if isinstance(expression, Union) and len(line + flat(expression, self._names)) >= LINE_LENGTH:
                self.used.add("Required")
                expression = Subscript("Required", (expression,))
            lines += lay_out(line, expression, ",", self._names, indent=STEP * 2)
        keys = [f"{field.name}: {text}" for field in fields.fields if (text := _field_docstring(field))]
        return [*lines, f"{STEP}}},", ")", *docstring("\n\n".join((fields.description, *keys)).strip())]

    def _can_be_class(self, fields: ObjectDefinition) -> bool:
        """Return whether all keys can be fields, and none hides a name that the field types use."""
        keys = {field.name for field in fields.fields}
        used = {"NotRequired"}
        for field in fields.fields:
            used.update(names_in(field.type))
            used.update(self._names[key] for key in references_in(field.type))
        return all(is_key(key) and len(key) <= MAX_LENGTH for key in keys) and keys.isdisjoint(used)

    def _field(self, field: ParameterDefinition) -> Expression:
        type = self._quote_references(field.type)
        if field.required:
            return type
        self.used.add("NotRequired")
        return Subscript("NotRequired", (type,))

    def _quote_references(self, expression: Expression) -> Expression:
        """Return the expression as a string if it refers to a definition that is not written yet."""
        if all(key in self._written for key in references_in(expression)):
            return expression
        return SimpleType(string(flat(expression, self._names)))


def _expressions(definition: Definition) -> list[Expression]:
    if isinstance(definition, AliasDefinition):
        return [definition.type]
    return [field.type for field in definition.fields]


def _field_docstring(field: ParameterDefinition) -> str:
    """Return the description of a field, followed by its default."""
    if field.default is None:
        return field.description
    default = f"Default: {field.default}."
    described = field.description.strip()
    if not described or "\n" in described:
        return f"{described}\n\n{default}".strip()
    end = "." if re.search(r"[\w)`]$", described) else ""
    return f"{described}{end} {default}"


def schema_to_type(schema: object) -> str:
    """Return the type of a property's schema as text, or `Any` for an unknown schema.

    The result is for example `str`, `Literal["a", "b"]`, `dict[str, Any]`, `list[str]`, or a union of these.
    """
    return flat(Translator(schema, named=False).expression(schema, ()), {})
