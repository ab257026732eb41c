"""Request the pages of a list, such as the tools of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footlight.protocol.connection import Result
from footlight.protocol.errors import MCPError
from footlight.protocol.untrusted_json import estimate_size, text

if TYPE_CHECKING:
    from footlight.client.client_session import ClientSession
    from footlight.protocol.deadline import CallDeadline

__all__ = ["request_pages"]

MAX_PAGES = 1_000
MAX_CHARS = 64 << 20
"""The maximum size of all pages. It is that of one message, which a server without pages may send."""


async def request_pages(session: ClientSession, method: str, *, deadline: CallDeadline) -> list[Result]:
    """Request all pages of a list.

    An empty cursor is valid, but many servers mark the last page with it. If it is sent to them, they refuse
    it or return the first page again.

    Raises:
        MCPError: the pages have no end or are too large (`protocol`), or the request failed.
    """
    pages: list[Result] = []
    cursors: set[str] = set()
    cursor: str | None = None
    size = 0
    while True:
        params = {} if cursor is None else {"cursor": cursor}
        try:
            page = await session.request(method, params, deadline=deadline)
        except MCPError as error:
            if cursor == "" and error.reason == "peer":
                return pages
            raise
        if cursor == "" and page in pages:
            return pages
        pages.append(page)
        cursor = text(page.get("nextCursor"))
        if cursor is None:
            return pages
        size += estimate_size(page)
        if cursor in cursors or len(pages) >= MAX_PAGES or size > MAX_CHARS:
            raise MCPError(f"{method} returns pages without end", reason="protocol")
        cursors.add(cursor)
