"""Pages are audited one after the other, and none that fails costs the others."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import anyio

from footlight import __version__
from footlight.ux.audited import Audit, PageAudit, Provenance
from footlight.ux.page_tools import page_of
from footlight.ux.page_work import Judge, PageWork
from footlight.ux.watcher import Watcher

if TYPE_CHECKING:
    from footlight.client.mcp_client import MCPClient
    from footlight.ux.page import AuditedPage

__all__ = ["Auditor", "Judge"]

LIMIT_SECONDS = 300.0
"""Of a page."""
CLOSE_SECONDS = 5.0


class Auditor:
    """`run` it once. `audit` is what there is of it at any time, also after it was cancelled."""

    def __init__(
        self,
        client: MCPClient,
        *,
        judge: Judge | None = None,
        watcher: Watcher | None = None,
        on_page: Callable[[Audit], None] = lambda _: None,
        session: Mapping[str, Any] | None = None,
        limit_s: float = LIMIT_SECONDS,
    ) -> None:
        """
        Args:
            client: it stays its owner's, and is connected anew where its server is lost.
            on_page: is given all that there is whenever a page has ended.
            session: what our own server gives each visit beside its size: a saved state, headers.
            limit_s: of each page; what was measured until then is kept.
        """
        self._client = client
        self._judge = judge
        self._watcher = watcher or Watcher()
        self._on_page = on_page
        self._session = session
        self._limit_s = limit_s
        self._pages: list[PageAudit] = []
        self._server = ""
        self._started = time.time()
        self._finished: float | None = None

    @property
    def audit(self) -> Audit:
        return Audit(
            pages=tuple(self._pages),
            provenance=self._provenance(),
            started_ms=int(self._started * 1000),
            finished_ms=None if self._finished is None else int(self._finished * 1000),
        )

    async def run(self, urls: Sequence[str]) -> Audit:
        """
        Raises:
            MCPError: the server cannot be reached, or is none by which pages can be seen.
        """
        page = await page_of(self._client, session=self._session)
        self._server = page.server
        try:
            for number, url in enumerate(urls, 1):
                self._watcher.page_begins(number, len(urls), url)
                page = await self._audited(url, page)
                if number == len(urls):
                    self._finished = time.time()
                self._watcher.page_ends(self.audit)
                self._on_page(self.audit)
        finally:
            # Shielded: the page is left also where somebody has ended the work.
            with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                await page.close()
        return self.audit

    async def _audited(self, url: str, page: AuditedPage) -> AuditedPage:
        """The page as it is seen now: maybe by another server."""
        work = PageWork(url, page, self._client, reach=self._reach, judge=self._judge, watcher=self._watcher)
        try:
            with anyio.move_on_after(self._limit_s) as limit:
                await work.run()
        except anyio.get_cancelled_exc_class():
            work.end("it was interrupted")
            raise
        else:
            if limit.cancelled_caught:
                work.end(f"it took more than {self._limit_s:g} s")
        finally:
            self._pages.append(work.audit)
        return work.page

    async def _reach(self) -> AuditedPage:
        await self._client.reconnect()
        return await page_of(self._client, session=self._session)

    def _provenance(self) -> Provenance:
        judge = self._judge
        measured = (page.evidence for page in self._pages if page.evidence)
        return Provenance(
            footlight=__version__,
            server=self._server,
            axe=next((each.axe_version for each in measured if each.axe_version), None),
            provider=judge.model.provider if judge else None,
            model=judge.model.name if judge else None,
            personas=tuple(persona.name for persona in judge.config.personas) if judge else (),
            focus_areas=tuple(judge.config.focus_areas) if judge else (),
        )
