"""The answers of a fake vendor, request by request, independent of the vendor's format."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Call", "Failure", "Received", "Script", "Turn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call. Its arguments are sent as JSON in these `pieces`."""

    id: str
    name: str
    pieces: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An error, sent instead of an answer or in the middle of one."""

    status: int
    message: str = "It went wrong."
    headers: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """An answer: text in pieces, then calls of tools.

    `end`: `broken` is Google's alone, which says of itself that it made no sense.
    `hold`: after the text, nothing more comes until it is set. `cut_after` so many bytes the connection ends,
    or, if `clean`, the body ends as if it were complete. `fails`: after the text there is this error.
    """

    text: Sequence[str] = ()
    calls: Sequence[Call] = ()
    end: Literal["stop", "length", "refusal", "broken"] = "stop"
    input_tokens: int = 10
    output_tokens: int = 5
    hold: asyncio.Event | None = None
    cut_after: int | None = None
    clean: bool = False
    fails: Failure | None = None


Script = Sequence[Turn | Failure]


@dataclass(frozen=True, slots=True)
class Received:
    """A received request."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
