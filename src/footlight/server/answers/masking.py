"""Replace the values of secrets by a marker in all text that leaves the server."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar, cast

from footlight.patterns import AnyOf, overlapping_rest
from footlight.server.answers.json_values import PageTitle
from footlight.server.answers.secret_patterns import MARKED, beginning_pattern, plain_pattern, value_pattern
from footlight.server.answers.secrets import MIN_PART, Secrets

__all__ = ["Mask", "Masker", "keep_unmasked", "mask_document", "protocol_keys"]

T = TypeVar("T")

MIN_PIECE_LENGTH = 1_000
"""The length in characters from which a text may be a part of a longer one."""
_SEPARATOR = "\ud800"
"""The separator of texts that are searched together: a lone surrogate, which no expression matches."""
_CUT = re.compile(r"…|\\u2026")
"""The marker of a cut in texts of answers and in lines of the log."""
_CUT_AT_END = re.compile(r"(?:…|\\u2026)\Z")


class Mask(Protocol):
    """A function that returns a copy of a value without secrets."""

    def __call__(self, value: T, /) -> T: ...


def keep_unmasked(value: T, /) -> T:
    """Return the value unchanged. This is the mask of a server without secrets."""
    return value


def mask_document(data: str | bytes, mime_type: str, mask: Mask) -> str | bytes:
    """Mask the contents of a resource. Binary contents, such as images, are not changed."""
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
    """Return the keys of resources, and those of answers with these output schemas."""
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
    """Replaces the values of secrets by `[secret NAME]`, also as encoded in JSON, URLs, HTML, base64 and
    hexadecimal.

    Case is ignored, because a page may show a text in capitals. `keys` are the keys of the protocol, which
    are never masked.
    """

    def __init__(self, secrets: Secrets, keys: Iterable[str] = ()) -> None:
        values = zip(secrets.names, secrets.values, strict=True)
        self._secrets = sorted(values, key=lambda secret: len(secret[1]), reverse=True)
        values = [value for _, value in self._secrets]
        whole = [
            f"(?:{value_pattern(value)}){overlapping_rest(value, values, plain_pattern)}" for value in values
        ]
        self._pattern = AnyOf([MARKED, *whole, *map(beginning_pattern, values)])
        self._keys = frozenset(keys)

    def __call__(self, value: T, /) -> T:
        """Mask a value that consists of strings, numbers, mappings, sequences and dataclasses."""
        return cast("T", self._mask_value(value, self._short_texts(value)))

    def text(self, text: str) -> str:
        return self._finish(self._pattern.replace(text, self._mark))

    def _short_texts(self, value: Any) -> dict[str, str]:
        """Return the masked form of each short text in a value. All of them are searched together."""
        texts = dict.fromkeys(
            text for text in _texts(value) if len(text) < MIN_PIECE_LENGTH and _SEPARATOR not in text
        )
        masked = self._pattern.replace(_SEPARATOR.join(texts), self._mark).split(_SEPARATOR)
        return dict(zip(texts, map(self._finish, masked), strict=True)) if texts else {}

    def _finish(self, masked: str) -> str:
        text = self._without_cut(masked)
        # A long text may be a part of a longer one.
        if len(text) < MIN_PIECE_LENGTH:
            return text
        return _without_end(_without_beginning(text, self._secrets), self._secrets)

    def _mask_value(self, value: Any, texts: Mapping[str, str]) -> Any:
        if isinstance(value, PageTitle):
            return value.map(self.text)
        if isinstance(value, str):
            known = texts.get(value)
            text = self.text(value) if known is None else known
            return text if type(value) is str else type(value)(text)
        if isinstance(value, Mapping):
            entries = cast("Mapping[Any, Any]", value).items()
            return {
                key if key in self._keys else self._mask_value(key, texts): self._mask_value(item, texts)
                for key, item in entries
            }
        if isinstance(value, (list, tuple)):
            items = [self._mask_value(item, texts) for item in cast("Sequence[Any]", value)]
            return tuple(items) if isinstance(value, tuple) else items
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return self._number(value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
            masked = {name: self._mask_value(item, texts) for name, item in fields.items()}
            return dataclasses.replace(value, **masked)
        return value

    def _number(self, value: float) -> float | str:
        """Mask a number that equals a secret of digits."""
        return next((_mark(name) for name, secret in self._secrets if secret == str(value)), value)

    def _mark(self, index: int, found: str) -> str:
        """Return the replacement for a match. The first expression matches text that is already masked."""
        if not index:
            return found
        end = _CUT_AT_END.search(found) if index > len(self._secrets) else None
        return _mark(self._secrets[(index - 1) % len(self._secrets)][0]) + (end[0] if end else "")

    def _without_cut(self, text: str) -> str:
        """Mask the beginnings of secrets before markers of cuts, and the ends of secrets after them."""
        secrets = [
            secret
            for secret in self._secrets
            if secret[1][:MIN_PART] in text or secret[1][-MIN_PART:] in text
        ]
        cuts = [(cut.start(), cut.end()) for cut in _CUT.finditer(text)] if secrets else []
        if not cuts:
            return text
        first, *others = zip(
            (0, *(end for _, end in cuts)), (*(at for at, _ in cuts), len(text)), strict=True
        )
        pieces = [_without_beginning(text[slice(*first)], secrets)]
        for (begin, end), cut in zip(others, cuts, strict=True):
            piece = _without_end(text[begin:end], secrets)
            pieces += text[slice(*cut)], piece if end == len(text) else _without_beginning(piece, secrets)
        return "".join(pieces)


def _texts(value: Any) -> Iterator[str]:
    """Yield every string in a value, including keys."""
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
    """Mask the beginning of a secret at the end of the text."""
    for name, value in secrets:
        tail = text[-len(value) :]
        for at in _places(tail, value[:MIN_PART]):
            if value.startswith(tail[at:]):
                return f"{text[: len(text) - len(tail) + at]}{_mark(name)}"
    return text


def _without_end(text: str, secrets: Iterable[tuple[str, str]]) -> str:
    """Mask the end of a secret at the beginning of the text."""
    for name, value in secrets:
        for at in _places(text[: len(value)], value[-MIN_PART:], backwards=True):
            if value.endswith(text[: at + MIN_PART]):
                return _mark(name) + text[at + MIN_PART :]
    return text


def _places(text: str, part: str, *, backwards: bool = False) -> Iterator[int]:
    """Yield the positions of a part in a text, in order or, with `backwards`, in reverse order."""
    at = text.rfind(part) if backwards else text.find(part)
    while at >= 0:
        yield at
        at = text.rfind(part, 0, at + len(part) - 1) if backwards else text.find(part, at + 1)


def _mark(name: str) -> str:
    return f"[secret {name}]"
