"""Texts on which a backtracking pattern takes long: repeated pieces of what it matches."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from re import _constants as op
from re import _parser as parser
from typing import Any

__all__ = ["Attack", "attacks"]

MAX_SAMPLES = 6
"""Different texts that are kept of a part of a pattern."""
MAX_PUMPS = 80
MAX_PAIRED = 10
MAX_STARTS = 4
ENDS = ("", "\0", "!", "\n", " ", "a", "0", '"')


@dataclass(frozen=True, slots=True)
class Attack:
    """A text of any length: a beginning, one piece repeated, and an end that spoils the match."""

    start: str
    pump: str
    end: str

    def text(self, length: int) -> str:
        times = max(0, length - len(self.start) - len(self.end)) // len(self.pump)
        return self.start + self.pump * times + self.end


def attacks(pattern: re.Pattern[str]) -> list[Attack]:
    """Return the attacks on a pattern: each of its repeats, its beginnings, and two pieces in turn."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    sampler = _Sampler()
    whole = sampler.samples(tree)
    bodies = [body for _, bodies, _ in sampler.repeats for body in bodies]
    again = [start + body * max(1, least) for start, bodies, least in sampler.repeats for body in bodies]
    pieces = _some((*bodies, *again, *sampler.beginnings, *whole, *sampler.characters), MAX_PUMPS)
    pairs = [
        one + other
        for parts in (bodies, sampler.characters)
        for one, other in itertools.permutations(_some(parts, MAX_PAIRED), 2)
    ]
    starts = _some(("", *(start for start, _, _ in sampler.repeats), *sampler.beginnings), MAX_STARTS)
    found = [
        *(Attack("", pump, end) for pump in pieces for end in ENDS),
        *(Attack(start, pump, end) for pump in pieces for start in starts for end in ENDS[:2]),
        *(Attack("", pump, end) for pump in pairs for end in ENDS[:2]),
        *(Attack(start, body, end) for start, each, _ in sampler.repeats for body in each for end in ENDS),
    ]
    return [attack for attack in dict.fromkeys(found) if attack.pump]


class _Sampler:
    """Collects texts that parts of a pattern match, roughly: what is not matched is an attack too."""

    def __init__(self) -> None:
        self.repeats: list[tuple[str, list[str], int]] = []
        """For each repeat a text that leads to it, texts of its body, and how often that is needed."""
        self.beginnings: list[str] = []
        self.characters: dict[str, None] = {}
        self._groups: dict[int, list[str]] = {}

    def samples(self, tree: Iterable[Any], before: str = "") -> list[str]:
        found = [""]
        for index, (kind, argument) in enumerate(tree):
            parts = self._pump_item(kind, argument, before + found[0]) or [""]
            found = _some(one + part for part, one in itertools.product(parts, found))
            if index and not before:
                self.beginnings += found
        return found

    def _pump_item(self, kind: Any, argument: Any, before: str) -> list[str]:
        if kind is op.LITERAL:
            self.characters[chr(argument)] = None
            return [chr(argument)]
        if kind is op.NOT_LITERAL:
            return _some(char for char in "a0 -\n" if ord(char) != argument)
        if kind is op.ANY:
            return ["a", " ", "0"]
        if kind is op.IN:
            found = _some(_members(argument))
            self.characters.update(dict.fromkeys(found))
            return found
        if kind is op.BRANCH:
            return _some(itertools.chain(*(self.samples(each, before)[:2] for each in argument[1])), most=12)
        if kind is op.SUBPATTERN:
            number, _, _, inner = argument
            self._groups[number] = self.samples(inner, before)
            return self._groups[number]
        if kind is op.ATOMIC_GROUP:
            return self.samples(argument, before)
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            return self._repeat(*argument, before)
        if kind is op.GROUPREF:
            return self._groups.get(argument, [""])
        if kind in (op.ASSERT, op.ASSERT_NOT):
            direction, inner = argument
            inside = self.samples(inner, before)
            return inside if direction < 0 and kind is op.ASSERT else ["", *inside]
        return [""]

    def _repeat(self, least: int, most: Any, inner: Any, before: str) -> list[str]:
        bodies = self.samples(inner, before)
        if most is op.MAXREPEAT or most > 1:
            self.repeats.append((before, bodies, least))
        times = [least, min(int(most), max(least, 1) + 1)]
        return _some(body * count for count in times for body in bodies)


def _members(of: Sequence[tuple[Any, Any]]) -> Iterator[str]:
    negated = of[0][0] is op.NEGATE
    test = re.compile(_class(of))
    if negated:
        yield from (char for char in "a0 -_/.:\"'\\\n\0é" if test.match(char))
        return
    for kind, argument in of:
        if kind is op.LITERAL:
            yield chr(argument)
        elif kind is op.RANGE:
            yield chr(argument[0])
        elif kind is op.CATEGORY:
            yield from (char for char in "a0_ \n-é" if _is_in_category(argument, char))


_CATEGORIES = {
    op.CATEGORY_DIGIT: r"\d",
    op.CATEGORY_NOT_DIGIT: r"\D",
    op.CATEGORY_SPACE: r"\s",
    op.CATEGORY_NOT_SPACE: r"\S",
    op.CATEGORY_WORD: r"\w",
    op.CATEGORY_NOT_WORD: r"\W",
}


def _is_in_category(category: Any, char: str) -> bool:
    return re.match(_CATEGORIES[category], char) is not None


def _class(of: Sequence[tuple[Any, Any]]) -> str:
    text = ""
    for kind, argument in of:
        if kind is op.NEGATE:
            text += "^"
        elif kind is op.LITERAL:
            text += re.escape(chr(argument))
        elif kind is op.RANGE:
            text += f"{re.escape(chr(argument[0]))}-{re.escape(chr(argument[1]))}"
        elif kind is op.CATEGORY:
            text += _CATEGORIES[argument]
    return f"[{text}]"


def _some(texts: Iterable[str], most: int = MAX_SAMPLES) -> list[str]:
    return list(itertools.islice(dict.fromkeys(texts), most))
