"""Regular expressions and wildcards, matched in time that grows with the text and no faster.

Python's `re` tries every way in which a pattern can match, and there can be more of them than seconds in a
year. RE2 follows all ways at once. It has no lookarounds and no backreferences; `\\w`, `\\d`, `\\s` and `\\b`
know ASCII only, `\\p{L}` and the like all characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

__all__ = ["ANY_SPACE", "AnyOf", "LinearPattern", "PatternError", "matches_wildcard"]

MAX_INSTRUCTIONS = 20_000
"""Of a caller's expression. RE2 takes a step for each of them and each character at the worst."""
MAX_MEMORY = 4 << 20
"""Bytes that RE2 may take for a caller's expression."""
MAX_OWN_MEMORY = 256 << 20
ANY_SPACE = r"[\s\v\x1c-\x1f\x{85}\p{Z}]"
"""A character that `str.isspace` takes for one, in RE2's syntax."""
SYNTAX = (
    "it takes RE2's syntax, which has no lookarounds, backreferences, atomic groups or possessive quantifiers"
)
TOO_LARGE = "it is too large; write fewer or smaller counted repetitions"


class PatternError(ValueError):
    """The expression is malformed, uses what RE2 does not support, or is too large; says which."""


class LinearPattern:
    """A caller's expression.

    Raises:
        PatternError: RE2 does not take it.
    """

    def __init__(self, expression: str, *, dot_matches_newline: bool = False) -> None:
        import re2  # Not before somebody needs it: most servers never do.

        options = _options(MAX_MEMORY)
        options.dot_nl = dot_matches_newline
        try:
            self._pattern: Any = re2.compile(_encoded(expression), options)
        except cast("type[Exception]", re2.error) as error:
            reason = cast("tuple[bytes | str]", error.args)[0]
            told = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
            raise PatternError(TOO_LARGE if "too large" in told else f"{told}; {SYNTAX}") from None
        if self._pattern.programsize > MAX_INSTRUCTIONS:
            raise PatternError(TOO_LARGE)

    def is_in(self, text: str) -> bool:
        """Return whether some part of the text matches."""
        return self._pattern.search(_encoded(text)) is not None


class AnyOf:
    """Expressions of our own in RE2's syntax; where several match at one place, the first of them counts."""

    def __init__(self, expressions: Sequence[str]) -> None:
        import re2

        options = _options(MAX_OWN_MEMORY)
        self._pattern: Any = re2.compile("|".join(f"(?:{each})" for each in expressions), options)
        self._each: Any = re2.Set.FullMatchSet(options)
        for each in expressions:
            self._each.Add(each)
        self._each.Compile()

    def replace(self, text: str, replacement: Callable[[int, str], str]) -> str:
        """Replace each match; `replacement` is given the index of its expression, and what was matched."""
        pieces = list(self._replaced(_encoded(text), replacement))
        return "".join(pieces) if pieces else text

    def _replaced(self, encoded: bytes, replacement: Callable[[int, str], str]) -> Iterator[str]:
        end = 0
        for match in self._pattern.finditer(encoded):
            found: bytes = match.group()
            yield _decoded(encoded[end : match.start()])
            yield replacement(min(self._each.Match(found)), _decoded(found))
            end = match.end()
        if end:
            yield _decoded(encoded[end:])


def _options(max_memory: int) -> Any:
    import re2

    options: Any = re2.Options()
    options.log_errors = False
    options.max_mem = max_memory
    return options


def _encoded(text: str) -> bytes:
    """Halves of characters, which pages can have in their texts, match nothing and stay what they are."""
    return text.encode("utf-8", "surrogatepass")


def _decoded(encoded: bytes) -> str:
    return encoded.decode("utf-8", "surrogatepass")


def matches_wildcard(pattern: str, text: str) -> bool:
    """Return whether the whole text fits a pattern in which `*` is any text, and nothing else is special."""
    first, *middle = pattern.split("*")
    if not middle:
        return text == pattern
    last = middle.pop()
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    at, end = len(first), len(text) - len(last)
    for part in middle:
        # The first place is the best: it leaves most of the text for the parts that follow.
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True
