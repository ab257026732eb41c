"""The values of secrets are replaced by a mark wherever text leaves the server."""

from __future__ import annotations

import base64
import dataclasses
import html
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast
from urllib.parse import quote

from footlight.server.secrets import SHORTEST, Secrets

__all__ = ["Masker", "unmasked"]

T = TypeVar("T")
Mask = Callable[[T], T]

FEWEST_BASE64 = 5
"""Characters. With fewer, what is a secret's in base64 would be found by chance."""
CUT = "…"
"""Stands where our own answers cut a text."""


def unmasked(value: T) -> T:
    """The mask of a server without secrets."""
    return value


class Masker:
    """Puts `[secret NAME]` for a value: plain, and as JSON, URLs, HTML and base64 write it.

    Case does not count, as a page may show a text in capitals. `words` are the names of which answers are
    made: a key that is one of them stays, whatever the secrets are.
    """

    def __init__(self, secrets: Secrets, words: Iterable[str] = ()) -> None:
        values = zip(secrets.names, secrets.values, strict=True)
        self._secrets = sorted(values, key=lambda secret: len(secret[1]), reverse=True)
        self._pattern = re.compile("|".join((_MARKED, *(_written(value) for _, value in self._secrets))))
        self._words = frozenset(words)

    def __call__(self, value: T) -> T:
        """A copy of a value of any shape in which no secret is: text, numbers, mappings, dataclasses."""
        return cast("T", self._of(value))

    def json(self, text: str) -> str:
        """The text of a JSON value."""
        if self.text(text) == text:
            return text
        return json.dumps(self(json.loads(text)), ensure_ascii=False)

    def text(self, text: str) -> str:
        masked = self._pattern.sub(self._mark, text)
        return self._without_cut(masked) if CUT in masked else masked

    def _of(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            entries = cast("Mapping[Any, Any]", value).items()
            return {self._key(key): self._of(item) for key, item in entries}
        if isinstance(value, (list, tuple)):
            items = [self._of(item) for item in cast("Sequence[Any]", value)]
            return tuple(items) if isinstance(value, tuple) else items
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return self._number(value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
            return dataclasses.replace(value, **{name: self._of(item) for name, item in fields.items()})
        return value

    def _key(self, key: Any) -> Any:
        return key if key in self._words else self._of(key)

    def _number(self, value: float) -> float | str:
        """A secret of digits, where a script has made a number of it."""
        return next((_mark(name) for name, secret in self._secrets if secret == str(value)), value)

    def _mark(self, match: re.Match[str]) -> str:
        return _mark(self._secrets[match.lastindex - 1][0]) if match.lastindex else match[0]

    def _without_cut(self, text: str) -> str:
        """Where a text was cut in the midst of a secret, its beginning is left before the cut."""
        parts = text.split(CUT)
        return CUT.join([*map(self._without_beginning, parts[:-1]), parts[-1]])

    def _without_beginning(self, text: str) -> str:
        for name, value in self._secrets:
            for length in range(min(len(value), len(text)), SHORTEST - 1, -1):
                if text.endswith(value[:length]):
                    return text[:-length] + _mark(name)
        return text


def _mark(name: str) -> str:
    return f"[secret {name}]"


_MARKED = r"\[secret \w+\]"
"""Is found first, so that what is masked already stays as it is."""

_SPACE = r"(?:\s|\\+[nrtu]|%(?:25)*(?:20|09|0a|0d)|\+|&nbsp;|&#x?[0-9a-f]{1,2};)+"


def _written(value: str) -> str:
    """A group of an expression: any spelling of a value."""
    words = ("".join(map(_letter, word)) for word in value.split())
    # What surrounds it is nothing that a page would keep.
    plain = f"(?i:{_SPACE.join(words)})"
    return f"({'|'.join((*_in_base64(value.encode()), plain))})"


def _letter(char: str) -> str:
    """A character as it is, and as it is escaped in JSON and scripts, in URLs and in HTML."""
    if char.isascii() and char.isalnum():
        return char
    point = ord(char)
    entity = html.escape(char)
    units = (char.encode("utf-16-be")[at : at + 2].hex() for at in range(0, 2 * (1 + (point > 0xFFFF)), 2))
    return "(?:{})".format(
        "|".join(
            (
                rf"\\*{re.escape(char)}",
                "".join(rf"\\+u{unit}" for unit in units),
                "".join(rf"%(?:25)*{byte:02x}" for byte in char.encode()),
                *([rf"&(?:amp;)*{entity[1:]}"] if len(entity) > 1 else []),
                rf"&(?:amp;)*#0*{point};",
                rf"&(?:amp;)*#x0*{point:x};",
            )
        )
    )


def _in_base64(data: bytes) -> list[str]:
    """At each of the three places that a byte can have in a group of three: what is of the value alone."""
    found: list[str] = []
    for before, first in ((0, 0), (1, 2), (2, 3)):
        whole = base64.b64encode(b"\0" * before + data).decode().rstrip("=")
        full = (before + len(data)) * 8 // 6
        if full - first >= FEWEST_BASE64:
            rest = f"(?:{_base64_letters(whole[full:])}=*)?" if whole[full:] else ""
            found.append(_base64_letters(whole[first:full]) + rest)
    return found


def _base64_letters(text: str) -> str:
    """In both alphabets, and as in a URL."""
    spelled = {"+": r"(?:[+-]|%2[Bb])", "/": r"(?:\\*/|_|%2[Ff])"}
    return "".join(spelled.get(char, char) for char in text)
