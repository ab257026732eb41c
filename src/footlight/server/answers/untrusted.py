"""Mark text from pages, because it may contain instructions that a model must not follow.

The `_meta` of a message lists, under `META`, all parts of the message that may contain text from a page.
"""

from __future__ import annotations

import re
import secrets
from itertools import chain, count, repeat

__all__ = ["META", "WHOLE", "mark_page_content", "origin_of", "point_into_meta"]

META = "footlight/untrusted"
"""The key in `_meta`. Its value is a list of JSON pointers into the object that has the `_meta`."""

WHOLE = [""]
"""The JSON pointer to the whole object."""

MIN_DIGITS = 3
"""The number of digits in a marker. It has more if the text contains most numbers with so few digits."""
SHORT_TRIES = 8
"""How many numbers with `MIN_DIGITS` digits are drawn before longer ones."""
MAX_SOURCE = 200
"""The maximum length of an origin in characters."""


def mark_page_content(text: str, *, source: str = "") -> str:
    """Return a page's text between two markers with a number that the text does not contain.

    The number is random, and chosen for this text, so that no page can write the closing marker. The first
    marker has the origin of `source`, which is empty if the reader knows it.
    """
    number = _choose_number(text)
    origin = f" from={origin_of(source)}" if source else ""
    return f"<page-content {number}{origin}>\n{text}\n</page-content {number}>"


def _choose_number(text: str) -> str:
    """Return a random number that occurs nowhere in a text. Short numbers take few tokens."""
    lengths = chain(repeat(MIN_DIGITS, SHORT_TRIES), count(MIN_DIGITS + 1))
    numbers = (f"{secrets.randbelow(10**digits):0{digits}}" for digits in lengths)
    return next(number for number in numbers if number not in text)


def origin_of(source: str) -> str:
    """Return the origin of a URL, or only its scheme if it has no host, as with `data:`.

    The result contains no characters that could close the marker.
    """
    scheme, colon, rest = source.partition(":")
    host = re.split("[/?#]", rest[2:], maxsplit=1)[0].rpartition("@")[2] if rest.startswith("//") else ""
    origin = re.sub(r"[\s<>]", "", f"{scheme}{colon}{'//' if host else ''}{host}")
    return origin if len(origin) <= MAX_SOURCE else f"{origin[:MAX_SOURCE]}…"


def point_into_meta(*keys: str) -> list[str]:
    """Return JSON pointers to the values of these keys in the `_meta` of a result."""
    return [f"/_meta/{key.replace('~', '~0').replace('/', '~1')}" for key in keys]
