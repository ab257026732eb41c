"""Replace the values of secrets by a mark in all text that leaves the server."""

from __future__ import annotations

import base64
import dataclasses
import itertools
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html.entities import codepoint2name
from typing import Any, Protocol, TypeVar, cast

from footlight.patterns import ANY_SPACE, AnyOf
from footlight.server.secrets.secrets import SHORTEST, Secrets

__all__ = ["Mask", "Masker", "keep_unmasked", "mask_document", "protocol_keys"]

T = TypeVar("T")

FEWEST_BASE64 = 5
"""Characters. With fewer, the base64 form of a secret would be found by chance."""
LEAST_PIECE = 1_000
"""Characters."""
_SEPARATOR = "\ud800"
"""Between texts that are searched together: half a character, which no expression matches."""
_CUT = re.compile(r"…|\\u2026")
"""The mark at which this server cuts texts in answers and in lines of the log."""


class Mask(Protocol):
    """Returns a copy of a value without secrets."""

    def __call__(self, value: T, /) -> T: ...


def keep_unmasked(value: T, /) -> T:
    """Return the value unchanged: the mask of a server without secrets."""
    return value


def mask_document(data: str | bytes, mime_type: str, mask: Mask) -> str | bytes:
    """Mask the contents of a resource. Binary contents, such as pictures, stay unchanged."""
    if mask is keep_unmasked:
        return data
    if isinstance(data, str):
        return _mask_json(data, mask) if mime_type == "application/json" else mask(data)
    if not re.match(r"text/|application/(?:[\w.-]+\+)?(?:json|xml|javascript)", mime_type):
        return data
    return mask(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _mask_json(text: str, mask: Mask) -> str:
    return json.dumps(mask(json.loads(text)), ensure_ascii=False)


def protocol_keys(schemas: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the keys of resources, and of answers that have these output schemas."""
    return set(RESOURCE_KEYS).union(*map(_properties, schemas))


RESOURCE_KEYS = frozenset(("uri", "name", "description", "mimeType", "metadata", "content", "attributes"))


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
    """Replaces a value by `[secret NAME]`: plain, and in its forms in JSON, URLs, HTML and base64.

    Case is ignored, because a page may show a text in capitals. `keys` are the names of the protocol's own
    keys, which are never masked.
    """

    def __init__(self, secrets: Secrets, keys: Iterable[str] = ()) -> None:
        values = zip(secrets.names, secrets.values, strict=True)
        self._secrets = sorted(values, key=lambda secret: len(secret[1]), reverse=True)
        self._pattern = AnyOf([_MARKED, *(_value_pattern(value) for _, value in self._secrets)])
        self._keys = frozenset(keys)

    def __call__(self, value: T, /) -> T:
        """Mask a value of any shape: text, numbers, mappings, sequences and dataclasses."""
        return cast("T", self._of(value, self._short_texts(value)))

    def text(self, text: str) -> str:
        return self._finish(self._pattern.replace(text, self._mark))

    def _short_texts(self, value: Any) -> dict[str, str]:
        """Return the masked form of each short text in a value. All of them are searched at once."""
        texts = dict.fromkeys(
            text for text in _texts(value) if len(text) < LEAST_PIECE and _SEPARATOR not in text
        )
        masked = self._pattern.replace(_SEPARATOR.join(texts), self._mark).split(_SEPARATOR)
        return dict(zip(texts, map(self._finish, masked), strict=True)) if texts else {}

    def _finish(self, masked: str) -> str:
        text = self._without_cut(masked)
        # A long text may be a piece of a longer one.
        return self._without_end(self._without_beginning(text)) if len(text) >= LEAST_PIECE else text

    def _of(self, value: Any, texts: Mapping[str, str]) -> Any:
        if isinstance(value, str):
            known = texts.get(value)
            text = self.text(value) if known is None else known
            return text if type(value) is str else type(value)(text)
        if isinstance(value, Mapping):
            entries = cast("Mapping[Any, Any]", value).items()
            return {
                key if key in self._keys else self._of(key, texts): self._of(item, texts)
                for key, item in entries
            }
        if isinstance(value, (list, tuple)):
            items = [self._of(item, texts) for item in cast("Sequence[Any]", value)]
            return tuple(items) if isinstance(value, tuple) else items
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return self._number(value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
            masked = {name: self._of(item, texts) for name, item in fields.items()}
            return dataclasses.replace(value, **masked)
        return value

    def _number(self, value: float) -> float | str:
        """Mask a number that a script has made from a secret of digits."""
        return next((_mark(name) for name, secret in self._secrets if secret == str(value)), value)

    def _mark(self, index: int, found: str) -> str:
        """Return the replacement for a match. The first group is text that is masked already."""
        return _mark(self._secrets[index - 1][0]) if index else found

    def _without_cut(self, text: str) -> str:
        """Mask the beginnings of secrets in front of the marks of cuts."""
        secrets = [secret for secret in self._secrets if secret[1][:SHORTEST] in text]
        cuts = [cut.start() for cut in _CUT.finditer(text)] if secrets else []
        if not cuts:
            return text
        pieces = (text[begin:end] for begin, end in itertools.pairwise((0, *cuts)))
        return "".join([*(_without_beginning(piece, secrets) for piece in pieces), text[cuts[-1] :]])

    def _without_beginning(self, text: str) -> str:
        """Mask the end of a secret whose beginning was cut off."""
        return _without_beginning(text, self._secrets)

    def _without_end(self, text: str) -> str:
        """Mask the end of a secret that begins in the piece before."""
        for name, value in self._secrets:
            for at in _places(text[: len(value)], value[-SHORTEST:], backwards=True):
                if value.endswith(text[: at + SHORTEST]):
                    return _mark(name) + text[at + SHORTEST :]
        return text


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a value, also keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in cast("Mapping[Any, Any]", value).items():
            yield from _texts(key)
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in cast("Sequence[Any]", value):
            yield from _texts(item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _texts(getattr(value, field.name))


def _without_beginning(text: str, secrets: Iterable[tuple[str, str]]) -> str:
    for name, value in secrets:
        tail = text[-len(value) :]
        for at in _places(tail, value[:SHORTEST]):
            if value.startswith(tail[at:]):
                return f"{text[: len(text) - len(tail) + at]}{_mark(name)}"
    return text


def _places(text: str, part: str, *, backwards: bool = False) -> Iterator[int]:
    """Yield the places of a part in a text, from its beginning or from its end."""
    at = text.rfind(part) if backwards else text.find(part)
    while at >= 0:
        yield at
        at = text.rfind(part, 0, at + len(part) - 1) if backwards else text.find(part, at + 1)


def _mark(name: str) -> str:
    return f"[secret {name}]"


_MARKED = r"\[secret \w+\]"
"""Matches first, so that text that is masked already stays unchanged."""

_INVISIBLE = r"[\x{AD}\x{34F}\x{200B}-\x{200F}\x{202A}-\x{202E}\x{2060}-\x{2064}\x{FEFF}]"
_SPACE = (
    rf"(?:{ANY_SPACE}|\\+(?:[nrt]|(?:u00|x)(?:20|0a|0d|09|a0)|u\{{(?:20|a|d|9|a0)\}})|%(?:25)*(?:20|09|0a|0d)"
    rf"|\+|&nbsp;|&#x?[0-9a-f]{{1,2}};|{_INVISIBLE})+"
)
_ESCAPED = (
    r"\\+u(?:00a[0d]|20(?:0[b-f]|60)|feff)|&(?:amp;)*(?:shy|nbsp|zerowidthspace|#173|#160|#820[3-7]);"
    r"|%(?:25)*(?:c2%(?:25)*a[0d]|e2%(?:25)*8(?:0%(?:25)*8[b-f]|1%(?:25)*a[0-4])|ef%(?:25)*bb%(?:25)*bf)"
)
_NO_CHARACTER = rf"(?:{_INVISIBLE}|{_ESCAPED})*"
"""Between two characters of a value: characters that a page does not show."""
_BREAK = (
    r"(?:[\s\x{A0}\x{AD}\x{200B}-\x{200F}\x{2060}\x{FEFF}*_~`+-]"
    rf"|\\+[nrt]|%(?:25)*(?:20|0[ad])|{_ESCAPED})*"
)
"""Between two characters of a long value: spaces and dashes that group them, line breaks, and the marks of
Markdown."""

SHORTEST_GROUPED = 8
"""Characters. The groups of a shorter value could be parts of other texts."""
LONGEST_GROUPED = 100
"""Characters. A longer value would make the expression too large."""
_BACKSLASH = r"(?:\\|%(?:25)*5c)"


def _value_pattern(value: str) -> str:
    """Return an expression in RE2's syntax that matches any spelling of a value."""
    spellings = dict.fromkeys((value, unicodedata.normalize("NFC", value)))
    return "|".join((*_in_base64(value), *map(_plain_pattern, spellings)))


def _plain_pattern(value: str) -> str:
    is_short = len(value) < SHORTEST_GROUPED
    between = "" if len(value) > LONGEST_GROUPED else _NO_CHARACTER if is_short else _BREAK
    words = (between.join(map(_character_pattern, word)) for word in value.split())
    # A page may remove the spaces around a value, and a URL loses its line breaks.
    space = f"(?:{_SPACE}|{_ESCAPED})" + ("+" if is_short else "*")
    return f"(?i:{space.join(words)})"


_IN_FILE_NAMES = re.compile(r"[\w.\- ()]")
"""In the name of a download, an underscore stands for any other character."""


def _character_pattern(char: str) -> str:
    """Return an expression for a character as it is, and as it is escaped in JSON, scripts, URLs and HTML.

    The longest forms are first, because the first one that matches counts: `%` begins its own form `%25`.
    """
    cases = {char, char.lower(), char.upper()}
    cases.update(unicodedata.normalize(form, case) for case in [*cases] for form in ("NFD", "NFKC"))
    longest_first = sorted(cases, key=lambda case: (-len(case), case))
    written = "|".join((*_codes(longest_first), *map(re.escape, longest_first)))
    if char.isascii() and char.isalnum():
        return f"(?:{written})"
    escaped = json.dumps(char)[1:-1]
    letter = [rf"\\+{escaped[1:]}"] if re.fullmatch(r"\\[a-t]", escaped) else []
    underscore = [] if _IN_FILE_NAMES.match(char) else ["_"]
    return f"(?:{'|'.join((*letter, f'{_BACKSLASH}*(?:{written})', *underscore))})"


def _codes(cases: Sequence[str]) -> Iterator[str]:
    """Yield expressions for the numbers and names that stand for a character, in any of its forms."""
    points = [ord(case) for case in cases if len(case) == 1]
    for case in [case for case in cases if not case.isascii()]:
        yield "".join(map(_percent_encoded, case))
        if len(case) == 1:
            yield "".join(rf"\\+x{octet}" for octet in _octets(case.encode()))
            yield "".join(
                rf"(?:{_BACKSLASH}+|%(?:25)*)u{unit}" for unit in _octets(case.encode("utf-16-be"), 2)
            )
    # After the form in UTF-8, which begins with the same byte for some characters, such as Ã.
    if latin := [f"{point:02x}" for point in points if point <= 0xFF]:
        yield rf"(?:\\+(?:u00|x)|%(?:25)*)(?:{'|'.join(latin)})"
    numbers = f"0*(?:{'|'.join(map(str, points))})|x0*(?:{'|'.join(f'{point:x}' for point in points)})"
    names = [f"|{name}" for point in points if (name := codepoint2name.get(point))]
    yield f"&(?:amp;)*(?:#(?:{numbers}){''.join(names)});"


def _percent_encoded(char: str) -> str:
    """Return an expression for a character in a URL. Letters and digits may stay as they are."""
    encoded = "".join(f"%(?:25)*{octet}" for octet in _octets(char.encode()))
    return f"(?:{re.escape(char)}|{encoded})" if char.isascii() else encoded


def _octets(data: bytes, size: int = 1) -> list[str]:
    """Return the bytes of a character, or units of several bytes, in hexadecimal."""
    return [data[at : at + size].hex() for at in range(0, len(data), size)]


def _in_base64(value: str) -> list[str]:
    """Return the Base64 characters that depend only on the value, for each of the three positions of its
    first byte.
    """
    data = value.encode()
    between = r"\s*" if len(value) >= SHORTEST_GROUPED else ""
    found: list[str] = []
    for before, first in ((0, 0), (1, 2), (2, 3)):
        whole = base64.b64encode(b"\0" * before + data).decode().rstrip("=")
        full = (before + len(data)) * 8 // 6
        if full - first >= FEWEST_BASE64:
            rest = f"(?:{_base64_letters(whole[full:])}=*)?" if whole[full:] else ""
            found.append(between.join(map(_base64_letters, whole[first:full])) + between + rest)
    return found


def _base64_letters(text: str) -> str:
    """Return an expression for Base64 text in both alphabets, and as in a URL."""
    spelled = {"+": r"(?:[+-]|%2[Bb])", "/": r"(?:\\*/|_|%2[Ff])"}
    return "".join(spelled.get(char, char) for char in text)
