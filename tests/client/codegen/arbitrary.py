"""Generated schemas, names and texts of malicious servers.

They are made by chance from a seed, which is what hypothesis chooses and tells: drawn one by one they would
take it a second each.
"""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st

from footlight.protocol.tools import Tool

NASTY = (
    *(
        '"""',
        "'''",
        '"',
        "'",
        "\\",
        "\\N{BULLET}",
        "\\u0041",
        "\n",
        "\r\n",
        "\x00",
        "\x1b[2J",
        "\u2028",
        "\u202e",
    ),
    *("\ud800", "\ufeff", "\x0c", "\t", "#", "# type: ignore", "# fmt: off", "# pyright: basic", "{x}", "%s"),
    *("'); raise SystemExit #", '"""\nraise SystemExit\n"""', "import os", "class", "None", "self", "return"),
    *(
        "list",
        "str",
        "Any",
        "Literal",
        "NotRequired",
        "arguments",
        "options",
        "__x",
        "__init__",
        "x-y",
        "ﬁ",
        "é",
    ),
    *("- a list\n  - of lists\n", "    indented", "word " * 60, "x" * 130, ".", "_root", "close", "_"),
)

PLAIN = (
    "a",
    "b",
    "A",
    "url",
    "x.y",
    "x_y",
    "x-y",
    "a.b",
    "a.c",
    "a.b.c",
    "a.b_c",
    "health",
    "root.x",
    "café",
    "1st",
)
TYPES = ("string", "integer", "number", "boolean", "object", "array", "null", "odd")
REFERENCES = (
    *("#", "#/$defs/a", "#/$defs/b", "#/definitions/a", "#/properties/a", "#/$defs/a/items", "#x"),
    *("http://x", "", "#/$defs/a/anyOf/0", "#/%24defs/b"),
)


class Anything:
    """A generator of anything that a server could send."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def tools(self) -> list[Tool]:
        return [self.tool() for _ in range(self.chance.randrange(7))]

    def tool(self) -> Tool:
        return Tool(
            name=self.name() or "x",
            description=self.text() if self._perhaps() else None,
            title=self.text() if self._perhaps() else None,
            input_schema=self._object(3),
            output_schema=self._object(3) if self._perhaps() else None,
        )

    def text(self) -> str:
        parts = (self.chance.choice((*NASTY, *PLAIN, self._characters())) for _ in range(4))
        return "".join(part for part in parts if self._perhaps())

    def name(self) -> str:
        return self.chance.choice((*NASTY, *PLAIN, *PLAIN, *PLAIN, self.text()))

    def value(self, depth: int = 2) -> Any:
        kinds = 7 if depth else 5
        match self.chance.randrange(kinds):
            case 0:
                return None
            case 1:
                return self._perhaps()
            case 2:
                return self.chance.choice((0, 1, -1, 10**30))
            case 3:
                return self.chance.choice((0.0, 1.0, 1.5, -1e300))
            case 4:
                return self.text()
            case 5:
                return [self.value(depth - 1) for _ in range(self.chance.randrange(4))]
            case _:
                return {self.name(): self.value(depth - 1) for _ in range(self.chance.randrange(4))}

    def schema(self, depth: int = 3) -> Any:
        match self.chance.randrange(10):
            case 0:
                return self.value()
            case 1:
                return self._perhaps()
            case 2:
                return {"type": self.chance.choice(TYPES)}
            case _:
                return self._object(depth - 1) if depth else {"$ref": self.chance.choice(REFERENCES)}

    def _object(self, depth: int) -> dict[str, Any]:
        """Return any object: an entry of the list of tools must be one."""
        chance = self.chance
        odd = 0.05

        def or_odd(value: Any) -> Any:
            return self.value() if chance.random() < odd else value

        def make_schemas() -> list[Any]:
            return [self.schema(depth) for _ in range(chance.randrange(4))]

        def make_named_schemas(names: tuple[str, ...] = ()) -> dict[str, Any]:
            return {
                chance.choice(names) if names else self.name(): self.schema(depth)
                for _ in range(chance.randrange(4))
            }

        makers = {
            "type": lambda: chance.choice((chance.choice(TYPES), "object", chance.sample(TYPES, 2))),
            "enum": lambda: [self.value() for _ in range(chance.randrange(4))],
            "const": self.value,
            "properties": make_named_schemas,
            "required": lambda: [self.name() for _ in range(chance.randrange(3))],
            "additionalProperties": lambda: self.schema(depth),
            "patternProperties": make_named_schemas,
            "items": lambda: chance.choice((self.schema(depth), make_schemas())),
            "prefixItems": make_schemas,
            "anyOf": make_schemas,
            "oneOf": make_schemas,
            "allOf": make_schemas,
            "$ref": lambda: chance.choice(REFERENCES),
            "$defs": lambda: make_named_schemas(("a", "b")),
            "definitions": lambda: make_named_schemas(("a", "b")),
            "description": self.text,
            "default": self.value,
        }
        likely = {"properties": 0.7, "type": 0.7, "$defs": 0.3, "description": 0.3}
        return {
            name: or_odd(make()) for name, make in makers.items() if chance.random() < likely.get(name, 0.12)
        }

    def _characters(self) -> str:
        return "".join(chr(self.chance.randrange(0x3000)) for _ in range(self.chance.randrange(6)))

    def _perhaps(self) -> bool:
        return self.chance.random() < 0.5


anything = st.integers(0, 1 << 64).map(Anything)
