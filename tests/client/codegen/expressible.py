"""Generated schemas that Python types can express in full, with valid and nearly valid values.

Objects are closed by `unevaluatedProperties`, as a `TypedDict` is. A whole number is never written as 1.0,
which is one to JSON Schema.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

__all__ = ["Chance", "chances"]

KEYS = ("a", "b", "class", "x-y", "list", "str", "__x", "self", "items", "é")
CLOSED: Mapping[str, Any] = {"unevaluatedProperties": False}
DEFINED = ("node", "json", "choice")
WORDS = ("one", "two", '"', "x\n", "")


class Chance:
    """A generator of one schema, and of any number of values for it."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._definitions = {
            "node": {**self._object(1, {"next": {"$ref": "#/$defs/node"}}), "required": []},
            "json": {
                "anyOf": [
                    {"type": ["string", "boolean", "null"]},
                    {"type": "array", "items": {"$ref": "#/$defs/json"}},
                    {"type": "object", "additionalProperties": {"$ref": "#/$defs/json"}},
                ]
            },
            "choice": {"enum": self._chance.sample(WORDS, 2)},
        }
        self.schema: dict[str, Any] = {**self._object(3), "$defs": self._definitions}

    def value(self) -> Any:
        """Return a value that the schema accepts, or one that differs a little."""
        value = self._value(self.schema, 4)
        return value if self._chance.random() < 0.4 else self._mutate(value)

    def _schema(self, depth: int) -> dict[str, Any]:
        plain = (
            *({"type": each} for each in ("string", "integer", "number", "boolean", "null")),
            {"type": ["integer", "null"]},
            {"type": ["string", "number"], "description": "Either."},
            {"enum": ["one", "two"]},
            {"enum": ["one", 1, True, None]},
            {"type": "string", "enum": ["one", 2]},
            {"const": self._chance.choice((*WORDS, 0, False, None))},
            {"oneOf": [{"const": "one", "title": "One"}, {"const": "two"}]},
            {"$ref": f"#/$defs/{self._chance.choice(DEFINED)}"},
            {"$ref": "#/$defs/choice", "description": "Beside a reference."},
            {"$ref": "#/$defs/choice", "type": "string"},
            {"allOf": [{"type": ["string", "integer"]}, {"type": ["number", "null"]}]},
            {"allOf": [{"enum": ["one", "two"]}, {"enum": ["two", 3]}]},
        )
        if depth == 0 or self._chance.random() < 0.4:
            return self._chance.choice(plain)
        inner = depth - 1
        match self._chance.randrange(7):
            case 0:
                return {"type": "array", "items": self._schema(inner)}
            case 1:
                return {"type": "object", "additionalProperties": self._schema(inner)}
            case 2:
                return {"anyOf": [self._schema(inner) for _ in range(self._chance.randrange(1, 4))]}
            case 3:
                return {"type": ["object", "null"], **self._properties(inner), **CLOSED}
            case 4:
                parts = [{"type": "object", **self._properties(inner, keys)} for keys in (KEYS[:5], KEYS[5:])]
                return {"allOf": parts, **CLOSED}
            case 5:
                return self._one_of_two(inner)
            case _:
                return self._object(inner)

    def _object(self, depth: int, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        found = self._properties(depth)
        return {"type": "object", **found, "properties": {**found["properties"], **(more or {})}, **CLOSED}

    def _properties(self, depth: int, keys: Sequence[str] = KEYS) -> dict[str, Any]:
        names = self._chance.sample(keys, self._chance.randrange(1, 4))
        properties = {name: self._schema(depth) for name in names}
        return {"properties": properties, "required": [name for name in names if self._chance.random() < 0.5]}

    def _one_of_two(self, depth: int) -> dict[str, Any]:
        """Return a schema that requires one key or another."""
        found = self._object(depth, {"p": {"type": "string"}, "q": {"type": "integer"}})
        return {**found, "anyOf": [{"required": ["p"]}, {"required": ["q"]}]}

    def _value(self, schema: Mapping[str, Any], depth: int) -> Any:
        chance = self._chance
        if "$ref" in schema:
            return self._value(self._definitions[schema["$ref"].rpartition("/")[2]], depth - 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return chance.choice(schema["enum"])
        if "allOf" in schema:
            first, second = (self._value(part, depth) for part in schema["allOf"])
            return {**first, **second} if isinstance(first, dict) and isinstance(second, dict) else first
        found = {} if "properties" not in schema else self.make_properties(schema, depth)
        for name in ("anyOf", "oneOf"):
            if name in schema:
                chosen = chance.choice(schema[name])
                if "properties" in schema:
                    return found | {
                        key: self._value(schema["properties"][key], 0) for key in chosen["required"]
                    }
                return self._value(chosen, depth - 1)
        types = schema["type"]
        match chance.choice(types) if isinstance(types, list) else types:
            case "array":
                size = chance.randrange(3) if depth > 0 else 0
                return [self._value(schema["items"], depth - 1) for _ in range(size)]
            case "object" if "additionalProperties" in schema:
                size = chance.randrange(3) if depth > 0 else 0
                return {
                    chance.choice(KEYS): self._value(schema["additionalProperties"], depth - 1)
                    for _ in range(size)
                }
            case "object":
                return found
            case plain:
                return self._make_plain_value(plain)

    def make_properties(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        return {
            name: self._value(each, depth - 1)
            for name, each in schema["properties"].items()
            if name in schema["required"] or (depth > 0 and self._chance.random() < 0.5)
        }

    def _make_plain_value(self, type: str) -> Any:
        choices: Mapping[str, tuple[Any, ...]] = {
            "string": WORDS,
            "integer": (0, 1, -7),
            "number": (0, 1, 0.5),
            "boolean": (True, False),
            "null": (None,),
        }
        return self._chance.choice(choices[type])

    def _mutate(self, value: Any) -> Any:
        """Return a copy of the value in which one part is changed, removed or added."""
        chance = self._chance
        if isinstance(value, dict) and chance.random() < 0.8:
            changed = dict(value)
            match chance.randrange(4 if changed else 1):
                case 0:
                    changed[chance.choice((*KEYS, "p", "q", "next"))] = self._choose_other()
                case 1:
                    del changed[chance.choice([*changed])]
                case _:
                    name = chance.choice([*changed])
                    changed[name] = self._mutate(changed[name])
            return changed
        if isinstance(value, list) and value and chance.random() < 0.8:
            place = chance.randrange(len(value))
            return [*value[:place], self._mutate(value[place]), *value[place + 1 :]]
        return self._choose_other()

    def _choose_other(self) -> Any:
        return self._chance.choice(
            (*WORDS, 0, 1, 2, 0.5, True, False, None, [], {}, ["one"], {"a": 1}, [[None]])
        )


chances = st.integers(0, 1 << 64).map(Chance)
