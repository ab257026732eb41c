"""The open page of a session, as an audit measures it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from footlight.browser.driver.playwright_api import Error
from footlight.browser.network.console import MessageFilter
from footlight.browser.page.region_capture import find_ref
from footlight.browser.reading.isolated_world import ScriptFailedError
from footlight.errors import DeadlineExceededError, FootlightError, InvalidParameterError

if TYPE_CHECKING:
    from footlight.audit.page.page import AuditViewport, ConsoleMessage, OpenResult
    from footlight.browser.reading.isolated_world import ElementPath, IsolatedWorld
    from footlight.browser.snapshot.nodes import Snapshot
    from footlight.protocol.errors import MCPError
    from footlight.server.tools import ToolCall

__all__ = ["LivePage", "make_measurement_error"]

SCRIPT_SECONDS = 20.0
"""How long one script may take. A page that keeps it longer does not answer."""
FINISH_SECONDS = 1.0
"""What is left of the deadline for the answer itself."""
REF_SECONDS = 0.5
MAX_ERROR_TEXT = 200
MAX_MESSAGES = 200


class LivePage:
    """The page of the session, for the audit: it is not navigated, and scripts run in an isolated world."""

    server = "footlight"

    def __init__(
        self,
        call: ToolCall,
        world: IsolatedWorld,
        *,
        about: ElementPath | None = None,
        snapshot: Snapshot | None = None,
    ) -> None:
        """Create the page. Only the refs of `snapshot` are reported, because later calls know these."""
        self._snapshot = snapshot
        self._call = call
        self._world = world
        self._about = about
        self._is_silent = False

    async def find_view(self) -> AuditViewport:
        """Return the present size of the viewport."""
        from footlight.audit.page.page import AuditViewport
        from footlight.protocol.errors import MCPError

        try:
            width, height = await self.evaluate("() => [innerWidth, innerHeight]")
        except MCPError as error:
            raise make_measurement_error("the page cannot be measured", error) from error
        return AuditViewport("the present size", int(width), int(height))

    async def open(self, url: str, view: AuditViewport) -> OpenResult:  # noqa: ARG002 - it is open
        from footlight.audit.page.page import OpenResult

        return OpenResult(url=self._call.page.url, status=None)

    async def evaluate(self, script: str) -> Any:
        from footlight.protocol.errors import MCPTimeoutError, ToolInvocationError

        seconds = min(SCRIPT_SECONDS, self._call.deadline.remaining_ms / 1000 - FINISH_SECONDS)
        # A page that did not answer once would use up the time of all other scripts too.
        if self._is_silent or seconds <= 0:
            raise MCPTimeoutError("the page did not respond in time", timeout_ms=0)
        try:
            return await self._world.call(script, seconds=seconds, about=self._about)
        except TimeoutError:
            self._is_silent = True
            raise MCPTimeoutError("the page did not respond in time", timeout_ms=seconds * 1000) from None
        except (ScriptFailedError, Error) as error:
            raise ToolInvocationError(
                self._call.mask(str(error).partition("\n")[0])[:MAX_ERROR_TEXT], tool_name="evaluate"
            ) from None

    async def isolate(self, *, isolated: bool) -> bool:
        del isolated
        return True

    async def press(self, key: str) -> None:
        raise NotImplementedError(f"an audit of a live page does not press {key}")

    async def screenshot(self, *, full_page: bool = False) -> bytes:
        raise NotImplementedError("an audit of a live page takes no screenshot")

    async def console(self) -> Sequence[ConsoleMessage]:
        from footlight.audit.page.page import ConsoleMessage

        console = self._call.session.console
        await console.fetch(self._call.page.id)
        message_filter = MessageFilter(
            levels=("error", "warning"), page=self._call.page.id, since_navigation=True
        )
        return [
            ConsoleMessage(level=each.level, text=each.text, source=each.source)
            for each in console.select(message_filter)[:MAX_MESSAGES]
        ]

    async def find_ref(self, selector: str) -> str | None:
        if self._is_silent or self._snapshot is None or selector in ("html", "body"):
            return None
        page = self._call.page
        try:
            async with asyncio.timeout(REF_SECONDS):
                ref = await find_ref(page, selector, self._call.deadline.without_patience())
        except (FootlightError, TimeoutError):
            return None
        if (seen := page.view.find_seen(ref)) is None:
            return None
        page.view.note_reported([seen[0]], of=self._snapshot.nodes)
        return ref

    async def new_page(self) -> None:
        return None

    async def close(self) -> None: ...


def make_measurement_error(what: str, error: MCPError, **details: Any) -> FootlightError:
    """Return the error of a failed measurement. A page that does not answer in time is a timeout."""
    message = f"{what}: {error.message}"
    if isinstance(error, TimeoutError):
        return DeadlineExceededError(message, **details)
    return InvalidParameterError(message, **details)
