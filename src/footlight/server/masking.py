"""The values of secrets are replaced by a mark wherever text leaves the server."""

from __future__ import annotations

import base64
import dataclasses
import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from footlight.server.secrets import SHORTEST, Secrets

if TYPE_CHECKING:
    from footlight.server.tool import Tool

__all__ = ["Mask", "Masker", "masked_document", "unmasked", "words_of"]

T = TypeVar("T")

FEWEST_BASE64 = 5
"""Characters. With fewer, what is a secret's in base64 would be found by chance."""
LEAST_PIECE = 1_000
"""Characters."""
_CUT = re.compile(r"(?=…|\\u2026)")
"""Before the mark where our own answers, or lines of the log, cut a text."""


class Mask(Protocol):
    """Gives a copy of a value in which no secret is."""

    def __call__(self, value: T, /) -> T: ...


def unmasked(value: T, /) -> T:
    """The mask of a server without secrets."""
    return value


def masked_document(data: str | bytes, mime_type: str, mask: Mask) -> str | bytes:
    """A resource's contents. What is no text, such as a picture, stays as it is."""
    if mask is unmasked:
        return data
    if isinstance(data, str):
        return _masked_json(data, mask) if mime_type == "application/json" else mask(data)
    if not re.match(r"text/|application/(?:[\w.-]+\+)?(?:json|xml|javascript)", mime_type):
        return data
    return mask(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _masked_json(text: str, mask: Mask) -> str:
    return json.dumps(mask(json.loads(text)), ensure_ascii=False)


def words_of(tools: Iterable[Tool]) -> set[str]:
    """The names of which answers and resources are made."""
    return set(RESOURCE_WORDS).union(*(_properties(tool.output_schema) for tool in tools))


RESOURCE_WORDS = frozenset(("uri", "name", "description", "mimeType", "metadata", "content", "attributes"))


def _properties(schema: Any) -> set[str]:
    if isinstance(schema, list):
        return set[str]().union(*map(_properties, cast("list[Any]", schema)))
    if not isinstance(schema, dict):
        return set()
    typed = cast("dict[str, Any]", schema)
    named: dict[str, Any] = typed.get("properties", {})
    inside = (*named.values(), *(value for key, value in typed.items() if key != "properties"))
    return {*named}.union(*map(_properties, inside))


class Masker:
    """Puts `[secret NAME]` for a value: plain, and as JSON, URLs, HTML and base64 write it.

    Case does not count, as a page may show a text in capitals. `words` are the names of which answers are
    made: a key that is one of them stays, whatever the secrets are.
    """

    def __init__(self, secrets: Secrets, words: Iterable[str] = ()) -> None:
        values = zip(secrets.names, secrets.values, strict=True)
        self._secrets = sorted(values, key=lambda secret: len(secret[1]), reverse=True)
        self._pattern = _pattern([value for _, value in self._secrets])
        self._words = frozenset(words)

    def __call__(self, value: T, /) -> T:
        """Of any shape: text, numbers, mappings, sequences, dataclasses."""
        return cast("T", self._of(value))

    def text(self, text: str) -> str:
        masked = self._pattern.sub(self._mark, text)
        *cut, rest = _CUT.split(masked)
        told = "".join([*map(self._without_beginning, cut), rest])
        # A long text may be a piece of a longer one.
        return self._without_end(self._without_beginning(told)) if len(told) >= LEAST_PIECE else told

    def _of(self, value: Any) -> Any:
        if isinstance(value, str):
            text = self.text(value)
            return text if type(value) is str else type(value)(text)
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

    def _without_beginning(self, text: str) -> str:
        """Of a secret in the midst of which a text was cut."""
        for name, value in self._secrets:
            for length in range(min(len(value), len(text)), SHORTEST - 1, -1):
                if text.endswith(value[:length]):
                    return text[:-length] + _mark(name)
        return text

    def _without_end(self, text: str) -> str:
        """Of a secret that the piece before begins."""
        for name, value in self._secrets:
            for length in range(min(len(value), len(text)), SHORTEST - 1, -1):
                if text.startswith(value[-length:]):
                    return _mark(name) + text[length:]
        return text


def _mark(name: str) -> str:
    return f"[secret {name}]"


_MARKED = r"\[secret \w+\]"
"""Is found first, so that what is masked already stays as it is."""

_SPACE = r"(?:\s|\\+(?:[nrt]|u00(?:20|0a|0d|09|a0))|%(?:25)*(?:20|09|0a|0d)|\+|&nbsp;|&#x?[0-9a-f]{1,2};)+"


def _pattern(values: Sequence[str]) -> re.Pattern[str]:
    """A group for each value. Most places in a text are passed over by their first character alone."""
    first = re.escape("".join({"[", *(char for value in values for char in _beginnings(value))}))
    return re.compile(f"(?=[{first}])(?:{'|'.join((_MARKED, *map(_written, values)))})")


def _beginnings(value: str) -> str:
    first = value.split()[0][0]
    in_base64 = (written[0] for written in _in_base64(value.encode()))
    return "".join((first.lower(), first.upper(), r"\&%+-/_", *in_base64))


def _written(value: str) -> str:
    """A group of an expression: any spelling of a value."""
    words = ("".join(map(_letter, word)) for word in value.split())
    # What surrounds it is nothing that a page would keep.
    plain = f"(?i:{_SPACE.join(words)})"
    return f"({'|'.join((*_in_base64(value.encode()), plain))})"


_IN_FILE_NAMES = re.compile(r"[\w.\- ()]")
"""In the name of a download the browser and we write an underscore for anything else."""


def _letter(char: str) -> str:
    """A character as it is, and as it is escaped in JSON and scripts, in URLs and in HTML."""
    if char.isascii() and char.isalnum():
        return char
    point = ord(char)
    entity, escaped = html.escape(char), json.dumps(char)[1:-1]
    units = (char.encode("utf-16-be")[at : at + 2].hex() for at in range(0, 2 * (1 + (point > 0xFFFF)), 2))
    return "(?:{})".format(
        "|".join(
            (
                *([rf"\\+{escaped[1:]}"] if re.fullmatch(r"\\[a-t]", escaped) else []),
                "".join(rf"\\+u{unit}" for unit in units),
                "".join(rf"%(?:25)*{byte:02x}" for byte in char.encode()),
                *([rf"&(?:amp;)*{entity[1:]}"] if len(entity) > 1 else []),
                rf"&(?:amp;)*#0*{point};",
                rf"&(?:amp;)*#x0*{point:x};",
                rf"\\*{re.escape(char)}",
                *([] if _IN_FILE_NAMES.match(char) else ["_"]),
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
