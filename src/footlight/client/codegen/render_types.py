"""Definitions as text: `TypedDict` classes and aliases, each after those that it refers to."""

from __future__ import annotations

import re
from collections.abc import Mapping

from footlight.client.codegen.definitions import Alias, Definition, Field, Fields
from footlight.client.codegen.expressions import Expression, Subscript, Union, Word, names_in, references_in
from footlight.client.codegen.layout import STEP, Names, annotated, assigned, flat, laid_out
from footlight.client.codegen.names import LONGEST, is_key
from footlight.client.codegen.texts import docstring
from footlight.client.python_text import LINE_LENGTH, string

__all__ = ["TypeWriter"]


class TypeWriter:
    """Writes each definition once, when it is first needed. `used` are the words that must be imported."""

    def __init__(self, definitions: Mapping[str, Definition], names: Names) -> None:
        self._definitions = definitions
        self._names = names
        self._begun: set[str] = set()
        self._written: set[str] = set()
        self.used: set[str] = set()

    def write(self, key: str) -> list[str]:
        """The definition and what it needs that is not written yet, with empty lines before each."""
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
        if isinstance(definition, Alias):
            lines += ["", "", *self._alias(name, definition)]
        elif self._can_be_class(definition):
            lines += ["", "", *self._class(name, definition)]
        else:
            lines += ["", "", *self._call(name, definition)]
        self._written.add(key)
        return lines

    def _alias(self, name: str, alias: Alias) -> list[str]:
        self.used.add("TypeAlias")
        return assigned(f"{name}: TypeAlias", self._quoted(alias.type), self._names)

    def _class(self, name: str, fields: Fields) -> list[str]:
        self.used.add("TypedDict")
        lines = [f"class {name}(TypedDict):"]
        told = docstring(fields.description, indent=STEP)
        if fields.fields:
            lines += [*told, ""] if told else []
        else:
            lines += told or docstring("Empty.", indent=STEP)
        for field in fields.fields:
            lines += annotated(field.name, self._field(field), self._names, indent=STEP)
            lines += docstring(_told(field), indent=STEP)
        return lines

    def _call(self, name: str, fields: Fields) -> list[str]:
        """What no class can say. Its keys are told of below it: a comment could steer a checker."""
        self.used.add("TypedDict")
        lines = [f"{name} = TypedDict(", f'{STEP}"{name}",', f"{STEP}{{"]
        for field in fields.fields:
            expression = self._field(field)
            line = f"{STEP * 2}{string(field.name)}: "
            if isinstance(expression, Union) and len(line + flat(expression, self._names)) >= LINE_LENGTH:
                self.used.add("Required")
                expression = Subscript("Required", (expression,))
            lines += laid_out(line, expression, ",", self._names, indent=STEP * 2)
        keys = [f"{field.name}: {told}" for field in fields.fields if (told := _told(field))]
        return [*lines, f"{STEP}}},", ")", *docstring("\n\n".join((fields.description, *keys)).strip())]

    def _can_be_class(self, fields: Fields) -> bool:
        """Whether all keys are names, of which none hides a name that a type of the class is told with."""
        keys = {field.name for field in fields.fields}
        used = {"NotRequired"}
        for field in fields.fields:
            used.update(names_in(field.type))
            used.update(self._names[key] for key in references_in(field.type))
        return all(is_key(key) and len(key) <= LONGEST for key in keys) and keys.isdisjoint(used)

    def _field(self, field: Field) -> Expression:
        type = self._quoted(field.type)
        if field.required:
            return type
        self.used.add("NotRequired")
        return Subscript("NotRequired", (type,))

    def _quoted(self, expression: Expression) -> Expression:
        """As text where it names what is not there yet, because it is within that."""
        if all(key in self._written for key in references_in(expression)):
            return expression
        return Word(string(flat(expression, self._names)))


def _expressions(definition: Definition) -> list[Expression]:
    if isinstance(definition, Alias):
        return [definition.type]
    return [field.type for field in definition.fields]


def _told(field: Field) -> str:
    """What it is for, and what it is where it is not given."""
    if field.default is None:
        return field.description
    default = f"Default: {field.default}."
    described = field.description.strip()
    if not described or "\n" in described:
        return f"{described}\n\n{default}".strip()
    end = "." if re.search(r"[\w)`]$", described) else ""
    return f"{described}{end} {default}"
