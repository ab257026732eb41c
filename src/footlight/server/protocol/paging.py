"""Send long lists in pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from footlight.server.requests import INVALID_PARAMS, ProtocolError, Request

__all__ = ["PAGE_SIZE", "page_of", "refuse_cursor"]

T = TypeVar("T")

PAGE_SIZE = 100


def page_of(items: Sequence[T], request: Request) -> tuple[Sequence[T], dict[str, Any]]:
    """Return the page at the request's cursor, and the fields with the cursor of the next page.

    Raises:
        ProtocolError: the cursor is not valid.
    """
    cursor = request.optional_text("cursor")
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 10):
        raise _unknown_cursor(cursor)
    start = int(cursor or 0)
    end = start + PAGE_SIZE
    return items[start:end], ({"nextCursor": str(end)} if end < len(items) else {})


def refuse_cursor(request: Request) -> None:
    """Check that a request for a list without pages has no cursor.

    Raises:
        ProtocolError: the request has a cursor.
    """
    cursor = request.optional_text("cursor")
    if cursor is not None:
        raise _unknown_cursor(cursor)


def _unknown_cursor(cursor: str) -> ProtocolError:
    return ProtocolError(INVALID_PARAMS, f"Unknown cursor: {cursor[:100]}")
