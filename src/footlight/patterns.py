"""Regular expressions and wildcards that match in time linear in the length of the text.

Python's `re` backtracks, which can take exponential time. RE2 matches in linear time. It has no lookarounds
and no backreferences. `\\w`, `\\d`, `\\s` and `\\b` match only ASCII; `\\p{L}` and similar classes match all
of Unicode.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, cast

__all__ = [
    "ANY_SPACE",
    "ENCODED_LINE_BREAK",
    "MIN_GROUPED_LENGTH",
    "AnyOf",
    "EncodedForm",
    "LinearPattern",
    "PatternError",
    "encoded_forms",
    "matches_wildcard",
    "overlapping_rest",
]

MAX_EXPRESSION_CHARS = 10_000
"""Maximum length of a caller's expression. RE2 compiles some expressions in quadratic time."""
MAX_INSTRUCTIONS = 20_000
"""Maximum size of a caller's compiled expression. At worst RE2 runs each instruction for each character."""
MAX_MEMORY = 4 << 20
"""Maximum memory, in bytes, that RE2 may use for a caller's expression."""
MAX_OWN_MEMORY = 512 << 20
"""Maximum memory, in bytes, that RE2 may use for expressions of Footlight itself."""
ANY_SPACE = r"[\s\v\x1c-\x1f\x{85}\p{Z}]"
"""An RE2 expression for the characters for which `str.isspace` is true."""
MAX_OVERLAPPING_CHARS = 200
"""Maximum length of a text whose overlaps with other texts are searched."""
MAX_RESTS = 20
"""Maximum number of rests after one text. A text of one repeated character overlaps itself in many ways."""
MIN_BASE64_LENGTH = 5
"""The minimum number of base64 characters. Fewer would match other texts by chance."""
MIN_HEX_BYTES = 4
MIN_GROUPED_LENGTH = 8
"""The minimum length of a value that is also matched in groups. A shorter one could match other texts."""
ENCODED_LINE_BREAK = r"(?:\s|\\+[nrt]|%(?:25)*(?:20|0[ad]))"
SYNTAX = (
    "the syntax is RE2, which has no lookarounds, backreferences, atomic groups or possessive quantifiers"
)
TOO_LARGE = "it is too large; write fewer or smaller counted repetitions"


class PatternError(ValueError):
    """The expression is malformed, not supported by RE2, or too large. The message says which."""


class LinearPattern:
    """A regular expression from a caller.

    Raises:
        PatternError: RE2 does not accept the expression.
    """

    def __init__(
        self,
        expression: str,
        *,
        dot_matches_newline: bool = False,
        max_instructions: int = MAX_INSTRUCTIONS,
    ) -> None:
        import re2  # Imported on demand, because most servers never need it.

        if len(expression) > MAX_EXPRESSION_CHARS:
            raise PatternError(f"it has more than {MAX_EXPRESSION_CHARS} characters")
        options = _options(MAX_MEMORY)
        options.dot_nl = dot_matches_newline
        options.never_capture = True  # The positions of thousands of groups take seconds for each text.
        try:
            self._pattern: Any = re2.compile(_encode(expression), options)
        except cast("type[Exception]", re2.error) as error:
            reason = cast("tuple[bytes | str]", error.args)[0]
            why = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
            raise PatternError(TOO_LARGE if "too large" in why else f"{why}; {SYNTAX}") from None
        if self.instructions > max_instructions:
            raise PatternError(TOO_LARGE)

    @property
    def instructions(self) -> int:
        """The size of the compiled expression."""
        return self._pattern.programsize

    def is_in(self, text: str) -> bool:
        """Return whether some part of the text matches."""
        return self._pattern.search(_encode(text)) is not None


class AnyOf:
    """A set of Footlight's own RE2 expressions. If several match at one place, the first of them counts."""

    def __init__(self, expressions: Sequence[str]) -> None:
        import re2

        self._expressions = expressions
        joined = "|".join(f"(?:{each})" for each in expressions)
        self._pattern: Any = re2.compile(joined, _options(MAX_OWN_MEMORY))

    @cached_property
    def _each(self) -> Any:
        """Compiled when the first match is found, because it takes as long as the expression itself."""
        import re2

        each: Any = re2.Set.FullMatchSet(_options(MAX_OWN_MEMORY))
        for expression in self._expressions:
            each.Add(expression)
        each.Compile()
        return each

    def replace(self, text: str, replacement: Callable[[int, str], str]) -> str:
        """Replace each match by `replacement(index, match)`, with the index of the matching expression."""
        pieces = list(self._replace_matches(_encode(text), replacement))
        return "".join(pieces) if pieces else text

    def _replace_matches(self, encoded: bytes, replacement: Callable[[int, str], str]) -> Iterator[str]:
        end = 0
        replaced: dict[bytes, str] = {}
        for match in self._pattern.finditer(encoded):
            start, found_end = match.span()
            found = encoded[start:found_end]
            if found not in replaced:
                replaced[found] = replacement(min(self._each.Match(found)), _decode(found))
            yield _decode(encoded[end:start])
            yield replaced[found]
            end = found_end
        if end:
            yield _decode(encoded[end:])


def overlapping_rest(text: str, others: Iterable[str], pattern: Callable[[str], str] = re.escape) -> str:
    """Return an RE2 expression for what may follow `text` if one of the others begins within it, or "".

    A search for `ab` and `bc` finds only `ab` in `abc`. With this expression after it, `ab` includes the `c`.
    """
    if len(text) > MAX_OVERLAPPING_CHARS:
        return ""
    rests = {
        other[len(text) - at :]: None
        for other in others
        if len(other) <= MAX_OVERLAPPING_CHARS
        for at in range(max(1, len(text) - len(other) + 1), len(text))
        if text[at:].casefold() == other[: len(text) - at].casefold()
    }
    longest = sorted(rests, key=len, reverse=True)[:MAX_RESTS]
    return f"(?i:{'|'.join(map(pattern, longest))})?" if longest else ""


def _options(max_memory: int) -> Any:
    import re2

    options: Any = re2.Options()
    options.log_errors = False
    options.max_mem = max_memory
    return options


def _encode(text: str) -> bytes:
    """Encode a text for RE2. Unpaired surrogates, which pages can contain, are kept and match nothing."""
    return text.encode("utf-8", "surrogatepass")


def _decode(encoded: bytes) -> str:
    return encoded.decode("utf-8", "surrogatepass")


def matches_wildcard(pattern: str, text: str) -> bool:
    """Return whether the whole text matches a pattern in which only `*` is special and matches any text."""
    first, *middle = _split_wildcard(pattern)
    if not middle:
        return text == pattern
    last = middle.pop()
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    at, end = len(first), len(text) - len(last)
    for part in middle:
        # The first match is the best, because it leaves the most text for the following parts.
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


@lru_cache(maxsize=8)  # A log matches one pattern with each of its entries.
def _split_wildcard(pattern: str) -> tuple[str, ...]:
    """Return the parts between the `*`, of which several in a row count as one."""
    first, *others = pattern.split("*")
    return (first, *filter(None, others[:-1]), *others[-1:])


_URL_SAFE = str.maketrans("+/", "-_")


@dataclass(frozen=True, slots=True)
class EncodedForm:
    """A value, encoded in Base64 or hexadecimal."""

    texts: tuple[str, ...]
    """The part that does not depend on what is before and after the value, in each alphabet."""

    pattern: str
    """An expression that also matches line breaks, the other alphabet of Base64, and percent-encoding."""


def encoded_forms(value: str) -> Iterator[EncodedForm]:
    """Yield the forms of a value, except those that are too short to be told from other texts."""
    yield from _base64_forms(value)
    octets = [f"{octet:02x}" for octet in value.encode("utf-8", "surrogatepass")]
    if len(octets) >= MIN_HEX_BYTES:
        between = r"[\s:,-]?" if len(value) >= MIN_GROUPED_LENGTH else ""
        yield EncodedForm(("".join(octets),), f"(?i:{between.join(octets)})")


def _base64_forms(value: str) -> Iterator[EncodedForm]:
    """Yield the Base64 forms of a value at each of the three alignments of its first byte.

    Leading characters that also depend on preceding bytes are left out, and trailing ones are optional.
    """
    data = value.encode("utf-8", "surrogatepass")
    between = f"{ENCODED_LINE_BREAK}*" if len(value) >= MIN_GROUPED_LENGTH else ""
    for before, first in ((0, 0), (1, 2), (2, 3)):
        whole = base64.b64encode(b"\0" * before + data).decode().rstrip("=")
        full = (before + len(data)) * 8 // 6
        if full - first >= MIN_BASE64_LENGTH:
            last = _base64_letters(whole[full:])
            rest = f"(?:{between}{last}(?:=|%(?:25)*3[Dd])*)?" if last else ""
            inner = whole[first:full]
            letters = between.join(map(_base64_letters, inner))
            yield EncodedForm((inner, inner.translate(_URL_SAFE)), letters + rest)


def _base64_letters(text: str) -> str:
    """Return an expression for Base64 text in both alphabets, also percent-encoded."""
    spelled = {"+": r"(?:[+-]|%(?:25)*2[Bb])", "/": r"(?:\\*/|_|%(?:25)*2[Ff])"}
    return "".join(spelled.get(char, char) for char in text)
