"""A text as the words that it is found by."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from footlight.steering import clean

__all__ = ["STOP_WORDS", "in_order", "join_words", "words"]

LONGEST_TEXT = 400
"""Of a text that is longer, the rest is not found: an accessible name can be a whole page."""

LONGEST_WORD = 60

STOP_WORDS = frozenset(
    """
    a am an and are as at be been by can could did do does for from had has have he her him his how
    i if in into is it its me mm my no of on or our out she should so than that the their them then
    there these they this those to up us was we were what when where which who why will with would
    you your
    """.split()  # noqa: SIM905 - it is a text
)
"""Words of questions, which say nothing of what is asked for."""

_CHUNK = re.compile(r"[^\W_]+")
_PART = re.compile(r"0x[0-9a-fA-F]+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9]+")


def words(text: str) -> frozenset[str]:
    """Each part of a name (`camelCase`, `kebab-case`, `snake_case`, `erc20`), and what is in one piece."""
    return _words(text[:LONGEST_TEXT])


def in_order(text: str) -> list[str]:
    """The parts only, as they are read."""
    return [_cut(part) for chunk in _CHUNK.findall(_plain(text)) for part in _PART.findall(chunk)]


def join_words(texts: Iterable[str]) -> str:
    """The words of all of them, each once and in a fixed order, with spaces between."""
    return " ".join(sorted(frozenset[str]().union(*map(words, texts))))


@lru_cache(maxsize=16_384)
def _words(text: str) -> frozenset[str]:
    found: set[str] = set()
    for chunk in _CHUNK.findall(_plain(text)):
        found.add(_cut(chunk))
        found.update(map(_cut, _PART.findall(chunk)))
    return frozenset(found)


def _plain(text: str) -> str:
    """Without accents."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", clean(text))
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def _cut(word: str) -> str:
    return word.casefold()[:LONGEST_WORD]
