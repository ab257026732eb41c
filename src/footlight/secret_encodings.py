"""Expressions for a secret as it is encoded in Base64 or hexadecimal, in the syntax of RE2."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["ENCODED_LINE_BREAK", "MIN_GROUPED_LENGTH", "EncodedForm", "encoded_forms"]

MIN_BASE64_LENGTH = 5
"""The minimum number of base64 characters. Fewer would match other texts by chance."""
MIN_HEX_BYTES = 4
MIN_GROUPED_LENGTH = 8
"""The minimum length of a value that is also matched in groups. A shorter one could match other texts."""
ENCODED_LINE_BREAK = r"(?:\s|\\+[nrt]|%(?:25)*(?:20|0[ad]))"

_URL_SAFE = str.maketrans("+/", "-_")


@dataclass(frozen=True, slots=True)
class EncodedForm:
    """One encoding of a value."""

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
