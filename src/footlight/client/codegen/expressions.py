"""Type expressions such as `list[str]`, `Literal["a"] | None` or a reference to a class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

__all__ = [
    "ANY",
    "NEVER",
    "NONE",
    "Expression",
    "Reference",
    "SimpleType",
    "Subscript",
    "Union",
    "names_in",
    "union",
]


@dataclass(frozen=True, slots=True)
class SimpleType:
    """A type without arguments, such as `str` or `Any`, or the text of a literal."""

    text: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to a definition by its key. Definitions are named when all of them are known."""

    key: str


@dataclass(frozen=True, slots=True)
class Subscript:
    """A generic type with its arguments, such as `list[…]`, `Literal[…]` or `NotRequired[…]`."""

    head: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Union:
    """Two or more alternative types. Use `union` to create one."""

    members: tuple[Expression, ...]


Expression = SimpleType | Reference | Subscript | Union

ANY = SimpleType("Any")
NEVER = SimpleType("Never")
NONE = SimpleType("None")


def union(members: Iterable[Expression]) -> Expression:
    """Return the union of types.

    Duplicates are removed, literals are merged, and `Any` absorbs all others.
    """
    flat = dict.fromkeys(_flat(members))
    flat.pop(NEVER, None)
    if ANY in flat:
        return ANY
    literals = [each for each in flat if isinstance(each, Subscript) and each.head == "Literal"]
    if len(literals) > 1:
        values = dict.fromkeys(value for literal in literals for value in literal.arguments)
        one = Subscript("Literal", tuple(values))
        others = flat.keys() - literals
        flat = dict.fromkeys(
            one if each is literals[0] else each for each in flat if each is literals[0] or each in others
        )
    if not flat:
        return NEVER
    return next(iter(flat)) if len(flat) == 1 else Union(tuple(flat))


def names_in(expression: Expression) -> Iterator[str]:
    """Yield the names that an expression uses, except those in references and in literals."""
    match expression:
        case SimpleType(text):
            yield text
        case Subscript(head, _):
            yield head
        case _:
            pass
    for part in _parts_of(expression):
        yield from names_in(part)


def references_in(expression: Expression) -> Iterator[str]:
    """Yield the keys of the definitions that an expression refers to, in order."""
    if isinstance(expression, Reference):
        yield expression.key
    for part in _parts_of(expression):
        yield from references_in(part)


def _parts_of(expression: Expression) -> Sequence[Expression]:
    """Return the direct parts of an expression. The arguments of `Literal` are values, not parts."""
    match expression:
        case Subscript("Literal", _):
            return ()
        case Subscript(_, arguments):
            return arguments
        case Union(members):
            return members
        case _:
            return ()


def _flat(members: Iterable[Expression]) -> Iterator[Expression]:
    for member in members:
        if isinstance(member, Union):
            yield from member.members
        else:
            yield member
