"""An audited page that reuses one session for all visits, which keeps its scripts compiled."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from footlight import MCPClient
from footlight.audit.page.page import AuditedPage, AuditViewport, OpenResult
from footlight.audit.page.server_page import FootlightPage
from footlight.protocol.errors import MCPError
from tests.audit.conftest import TIMEOUT_MS

__all__ = ["OneSessionPage"]

logger = logging.getLogger(__name__)


class OneSessionPage(FootlightPage):
    """A page whose session stays open between visits of the same size.

    Each visit opens another site, which shares nothing with the others but cookies.
    """

    def __init__(
        self, client: MCPClient, timeout_ms: int = TIMEOUT_MS, session: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(client, timeout_ms, session or {})
        self._view: AuditViewport | None = None
        self._beside: list[OneSessionPage] = []
        self._used = 0
        """The number of pages beside this one that are in use."""

    async def open(self, url: str, view: AuditViewport) -> OpenResult:
        self._used = 0
        if view == self._view:
            try:
                return await self._navigate(url)
            except MCPError:
                logger.info("%s is opened in a new session", url)  # Not every page lets itself be left.
        await super().close()
        self._view = view
        return await super().open(url, view)

    async def new_page(self) -> AuditedPage:
        self._used += 1
        if len(self._beside) < self._used:
            self._beside.append(OneSessionPage(self.client, session=self._session_arguments))
        return self._beside[self._used - 1]

    async def close(self) -> None:
        """Keep the session open for the next visit."""

    async def end(self) -> None:
        """Close the session, and those of the pages beside this one."""
        self._view = None
        await super().close()
        for each in self._beside:
            await each.end()
