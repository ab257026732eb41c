"""A long list, a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp_types import INVALID_PARAMS, PaginatedRequestParams

__all__ = ["PAGE_SIZE", "Context", "page_of"]

T = TypeVar("T")
Context = ServerRequestContext[Any]

PAGE_SIZE = 100


def page_of(items: Sequence[T], params: PaginatedRequestParams | None) -> tuple[Sequence[T], str | None]:
    """The page that the cursor names, and the cursor of the next one.

    Raises:
        MCPError: a cursor that was not given out.
    """
    cursor = params.cursor if params else None
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 10):
        raise MCPError(INVALID_PARAMS, f"Unknown cursor: {cursor[:100]}")
    start = int(cursor or 0)
    end = start + PAGE_SIZE
    return items[start:end], str(end) if end < len(items) else None
