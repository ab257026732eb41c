"""Split texts into the words that the index stores."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from footlight.safe_text import replace_surrogates

__all__ = ["STOP_WORDS", "join_words", "split_in_order", "split_words"]

MAX_TEXT_LENGTH = 400
"""The maximum number of indexed characters of a text. An accessible name can be as long as a page."""

MAX_WORD_LENGTH = 60

STOP_WORDS = frozenset(
    """
    a am an and are as at be been by can could did do does for from had has have he her him his how
    i if in into is it its me mm my no of on or our out she should so than that the their them then
    there these they this those to up us was we were what when where which who why will with would
    you your
    """.split()  # noqa: SIM905 - it is a text
)
"""Words of a query that are irrelevant for the search."""

_CHUNK = re.compile(r"[^\W_]+")
_PART = re.compile(r"0x[0-9a-fA-F]+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9]+")


def split_words(text: str) -> frozenset[str]:
    """Return the words of a text, and the parts of names such as `camelCase`, `kebab-case` and `erc20`."""
    return _find_words(text[:MAX_TEXT_LENGTH])


def split_in_order(text: str) -> list[str]:
    """Return the parts of all words in reading order."""
    return [_cut(part) for chunk in _CHUNK.findall(_remove_accents(text)) for part in _PART.findall(chunk)]


def join_words(texts: Iterable[str]) -> str:
    """Return the distinct words of all texts, sorted and joined with spaces."""
    return " ".join(sorted(frozenset[str]().union(*map(split_words, texts))))


@lru_cache(maxsize=16_384)
def _find_words(text: str) -> frozenset[str]:
    found: set[str] = set()
    for chunk in _CHUNK.findall(_remove_accents(text)):
        found.add(_cut(chunk))
        found.update(map(_cut, _PART.findall(chunk)))
    return frozenset(found)


def _remove_accents(text: str) -> str:
    """Return a text without accents."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", replace_surrogates(text))
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def _cut(word: str) -> str:
    return word.casefold()[:MAX_WORD_LENGTH]
