"""Create and connect the parts of the watch page for one server."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from footlight.browser.driver.playwright_api import Error
from footlight.browser.page.selectors import locate_in
from footlight.browser.recording.live_picture import take_still
from footlight.errors import FootlightError
from footlight.server.answers.masking import Mask, keep_unmasked
from footlight.server.live_view import SessionView
from footlight.watch.control import Control
from footlight.watch.journal import Journal
from footlight.watch.local_backend import LocalWatchBackend, mask_views, view_session
from footlight.watch.pictures import Pictures
from footlight.watch.redaction import Redactor
from footlight.watch.site import WatchSites

if TYPE_CHECKING:
    from footlight.browser.page.page import Page
    from footlight.browser.sessions.session import Session
    from footlight.browser.sessions.tables.session_table import SessionTable
    from footlight.server.tools.declaration import Tool
    from footlight.watch.entry import Box, Entry

__all__ = ["Watch"]

BOX_SECONDS = 0.5
KEYFRAME_QUALITY = 45
KEYFRAME_MS = 1_500
VIEW_SECONDS = 0.8
"""The time limit for a view of an MCP client to wait for a picture."""
MAX_VIEW_CALLS = 20


class Watch:
    """The journal, pictures and control of a server. It is created and closed with the server."""

    def __init__(
        self,
        find_sessions: Callable[[], SessionTable | None],
        tools: Iterable[Tool],
        *,
        mask: Mask = keep_unmasked,
        secrets: Sequence[str] = (),
        keyframes: bool = False,
    ) -> None:
        """Create the parts.

        With `keyframes`, the journal keeps a picture after each action, even without watchers.
        """
        self._find_sessions = find_sessions
        self._keyframes = keyframes
        self.pictures = Pictures()
        self.journal = Journal(
            Redactor(tools, mask=mask, secrets=secrets),
            find_box=_find_box,
            take_picture=self._take_picture,
            why_ended=self._why_ended,
            is_watched=self.pictures.is_watched,
        )
        self.control = Control(self.journal)
        self.backend = LocalWatchBackend(
            find_sessions, journal=self.journal, pictures=self.pictures, control=self.control
        )
        self.sites = WatchSites(self.backend)

    async def view(self, session: Session, *, after_frame: int, after_call: int) -> SessionView:
        """Return the state of a session and its changes, after at most `VIEW_SECONDS`."""
        page = session.page_table.current
        found = await self.pictures.wait_for_next(session, page, after_frame, VIEW_SECONDS) if page else None
        shown = view_session(session, self.pictures)
        await mask_views([shown], self.journal.redactor)
        revision = self.journal.revision
        calls = self.journal.entries(session_id=session.id, after=after_call)
        facts = {
            "session": shown,
            "calls": [_summary(entry) for entry in calls[-MAX_VIEW_CALLS:]],
            "frame": found[0] if found else after_frame,
            "revision": revision,
        }
        return SessionView(facts, found[1].data if found else None)

    async def close(self) -> None:
        self.sites.close()
        await self.control.close()
        await self.pictures.close()

    def _why_ended(self, id: str) -> str | None:
        table = self._find_sessions()
        return table.why_ended(id) if table else None

    async def _take_picture(self, page: Page) -> bytes | None:
        if not self._keyframes:
            # While a person watches, use the latest frame of the live picture.
            frame = (
                self.pictures.latest(page.session.id) if self.pictures.is_watched(page.session.id) else None
            )
            return frame.data if frame and time.time() * 1000 - frame.at_ms < KEYFRAME_MS else None
        return await take_still(page, quality=KEYFRAME_QUALITY, timeout_ms=KEYFRAME_MS)


def _summary(entry: Entry) -> dict[str, Any]:
    """Return the fields of a call that a small view shows."""
    names = ("number", "source", "tool", "outcome", "duration", "target")
    whole = entry.as_json()
    return {name: whole[name] for name in names}


async def _find_box(page: Page, selector: str) -> Box | None:
    """Return the position of an element in the viewport, or None if it is not found within `BOX_SECONDS`."""
    size = page.playwright.viewport_size
    if size is None:
        return None
    with contextlib.suppress(Error, FootlightError, TimeoutError):
        async with asyncio.timeout(BOX_SECONDS):
            found = await locate_in(page.playwright, selector, timeout_ms=None)
            box = await found.first.bounding_box(timeout=BOX_SECONDS * 1000)
            if box is not None:
                width, height = size["width"], size["height"]
                return box["x"] / width, box["y"] / height, box["width"] / width, box["height"] / height
    return None
