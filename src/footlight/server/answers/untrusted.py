"""Mark text that comes from a page: it may contain instructions for a model, which must not follow them.

`_meta` of a message names, under `META`, every part of the message whose text a page may have chosen.
"""

from __future__ import annotations

import re
import secrets

__all__ = ["META", "WHOLE", "mark_page_content", "origin_of", "point_into_meta"]

META = "footlight/untrusted"
"""The key in a `_meta`. Its value is a list of JSON pointers into what the `_meta` belongs to."""

WHOLE = [""]
"""The JSON pointer to the whole."""

MAX_SOURCE = 200
"""Characters."""


def mark_page_content(text: str, *, source: str) -> str:
    """Return a page's text between two marks. A random number keeps the page from writing the second."""
    number = f"{secrets.randbelow(10**8):08}"  # Digits, because they are few tokens.
    return f"<page-content {number} from={origin_of(source)}>\n{text}\n</page-content {number}>"


def origin_of(source: str) -> str:
    """Return the origin of a URL, or only its scheme if the page chose the rest, as with `data:`.

    The result cannot close the mark that contains it.
    """
    scheme, colon, rest = source.partition(":")
    host = re.split("[/?#]", rest[2:], maxsplit=1)[0].rpartition("@")[2] if rest.startswith("//") else ""
    origin = re.sub(r"[\s<>]", "", f"{scheme}{colon}{'//' if host else ''}{host}")
    return origin if len(origin) <= MAX_SOURCE else f"{origin[:MAX_SOURCE]}…"


def point_into_meta(*keys: str) -> list[str]:
    """Return JSON pointers into a result whose own `_meta` has page texts under these keys."""
    return [f"/_meta/{key.replace('~', '~0').replace('/', '~1')}" for key in keys]
