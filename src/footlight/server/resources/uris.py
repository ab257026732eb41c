"""The URIs of resources: `playwright:///{kind}/{…}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast, get_args
from urllib.parse import quote, unquote

__all__ = ["PATTERNS", "ROOT", "Address", "Kind", "template"]

ROOT = "playwright:///"

Kind = Literal["session", "page", "element", "screenshot", "network-log", "answer", "file"]

PATTERNS: Mapping[Kind, tuple[str, ...]] = {
    "session": ("sessionId",),
    "page": ("sessionId", "pageId"),
    "element": ("sessionId", "pageId", "elementId"),
    "screenshot": ("sessionId", "pageId", "timestamp"),
    "network-log": ("sessionId", "pageId"),
    "answer": ("sessionId", "answerId"),
    "file": ("sessionId", "fileName"),
}
"""The names of the segments after the kind, by kind. The first is always the session."""

_PLAIN = "!$&'()*+,;=:@"
"""Characters that RFC 3986 allows in a segment in addition to letters, digits and `-._~`."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a resource. `segments` are decoded, and their number depends on the kind."""

    kind: Kind
    segments: tuple[str, ...]

    @property
    def session_id(self) -> str:
        return self.segments[0]

    @property
    def uri(self) -> str:
        """Return the URI in the form of `resources/list`."""
        return ROOT + "/".join((self.kind, *(quote(each, safe=_PLAIN) for each in self.segments)))

    @classmethod
    def parse(cls, uri: str) -> Address:
        """Parse a URI. Each segment is decoded once.

        Raises:
            ValueError: the URI is not that of a resource. The message has the reason.
        """
        if not uri.startswith(ROOT):
            raise ValueError(f"it does not start with {ROOT}")
        kind, *segments = (_decode_segment(segment) for segment in uri.removeprefix(ROOT).split("/"))
        if kind not in get_args(Kind):
            raise ValueError(f"{kind!r} is not one of {', '.join(PATTERNS)}")
        known = cast("Kind", kind)
        if len(segments) != len(PATTERNS[known]):
            raise ValueError(f"it is not of the form {template(known)}")
        return cls(known, tuple(segments))


def template(kind: Kind) -> str:
    """Return the URI template of a kind (RFC 6570)."""
    return ROOT + "/".join((kind, *(f"{{{name}}}" for name in PATTERNS[kind])))


def _decode_segment(segment: str) -> str:
    if "?" in segment or "#" in segment:
        raise ValueError("it has a query or a fragment")
    if re.search("%(?![0-9A-Fa-f]{2})", segment):
        raise ValueError("a % is not followed by two hexadecimal digits")
    try:
        decoded = unquote(segment, errors="strict")
    except UnicodeDecodeError:
        raise ValueError("it does not decode to UTF-8") from None
    if decoded in ("", ".", ".."):
        raise ValueError("a part of it is empty, or dots")
    return decoded
