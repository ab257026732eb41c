"""Answer the requests of the watch page for the sessions of this process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footlight.browser.driver.offload import CHARACTERS_A_NODE, offload
from footlight.browser.driver.playwright_api import Error
from footlight.errors import FootlightError
from footlight.watch.report import render_report
from footlight.watch.report_content import make_report
from footlight.watch.watchers import PagePicture, Visitor, WatchedItem, WatchRequestError, WatchState

if TYPE_CHECKING:
    from footlight.browser.sessions.session import Session
    from footlight.browser.sessions.tables.session_table import SessionTable
    from footlight.watch.control import Control
    from footlight.watch.journal import Journal, PastSession
    from footlight.watch.pictures import Pictures
    from footlight.watch.redaction import Redactor

__all__ = ["LocalWatchBackend", "mask_views", "view_session"]

PICTURE_SECONDS = 10.0
"""The time limit for a request that waits for a newer picture."""
MAX_URL = 500
MAX_REASON = 2_000
MAX_MESSAGE = 1_000


class LocalWatchBackend:
    """Answers requests from the journal, the pictures and the control of this process."""

    def __init__(
        self,
        sessions: Callable[[], SessionTable | None],
        *,
        journal: Journal,
        pictures: Pictures,
        control: Control,
    ) -> None:
        self._sessions = sessions
        self._journal = journal
        self._pictures = pictures
        self._control = control

    def note_watcher(self, watcher: str, *, seconds_ago: float = 0.0) -> None:
        self._control.note_watcher(watcher, seconds_ago=seconds_ago)

    async def read_state(self, after: int, seconds: float) -> WatchState:
        if seconds:
            await self._journal.wait(after, seconds)
        sessions = [(session, view_session(session, self._pictures)) for session in self._list_sessions()]
        await mask_views([view for _, view in sessions], self._journal.redactor)
        return WatchState(
            revision=self._journal.revision,
            captures=self._pictures.captures,
            sessions=[
                WatchedItem(view, session.owner, session.id, self._control.find_person(session))
                for session, view in sessions
            ],
            ended=[
                WatchedItem(_render_ended(each), each.owner, each.id) for each in self._journal.list_ended()
            ],
            calls=[
                WatchedItem(entry.as_json(), entry.owner, entry.session_id)
                for entry in self._journal.entries(after=after)
            ],
        )

    async def read_picture(
        self, session_id: str, page_id: str | None, after: int, visitor: Visitor
    ) -> PagePicture:
        session = self._get(session_id, visitor)
        page = next((each for each in session.pages if each.id == page_id), session.page_table.current)
        if page is None:
            raise WatchRequestError(409, "The session has no open page.")
        if page.crashed:
            raise WatchRequestError(409, "The page has crashed.")
        found = await self._pictures.wait_for_next(session, page, after, PICTURE_SECONDS)
        if session.has_ended:
            self._get(session_id, visitor)
        return PagePicture(page.id, found[0], found[1]) if found else PagePicture(page.id)

    async def read_still(self, call: str, visitor: Visitor) -> bytes:
        for entry in self._journal.entries():
            if str(entry.number) == call and entry.picture and visitor.may_see(entry.session_id, entry.owner):
                return entry.picture
        raise WatchRequestError(404, "There is no such picture.")

    async def make_report(self, session_id: str, visitor: Visitor) -> str:
        calls = self._journal.entries(session_id=session_id)
        if not any(visitor.may_see(session_id, entry.owner) for entry in calls):
            self._get(session_id, visitor)
        for session in self._list_sessions():
            if session.id == session_id:
                await session.console.fetch()
        traffic = self._journal.find_traffic(session_id)
        return await asyncio.to_thread(lambda: render_report(make_report(session_id, calls, traffic)))

    async def find_trace(self, session_id: str | None, call: str | None, visitor: Visitor) -> Path:
        traces = [
            entry.trace
            for entry in self._journal.entries()
            if entry.trace and visitor.may_see(entry.session_id, entry.owner)
            if (entry.session_id == session_id if call is None else str(entry.number) == call)
        ]
        if not traces:
            raise WatchRequestError(404, "No trace was recorded. The tool `trace` records one.")
        return traces[-1]

    async def take(self, session_id: str, watcher: str, visitor: Visitor) -> None:
        if (why := await self._control.take(self._get(session_id, visitor), watcher)) is not None:
            raise WatchRequestError(409, why)
        self._journal.touch()

    async def give_back(self, session_id: str, watcher: str, note: str, visitor: Visitor) -> None:
        await self._control.give_back(self._get(session_id, visitor), watcher, note)
        self._journal.touch()

    async def act(self, session_id: str, watcher: str, events: Sequence[Any], visitor: Visitor) -> None:
        try:
            await self._control.act(self._get(session_id, visitor), watcher, events)
        except FootlightError as error:
            raise WatchRequestError(409, self._journal.redactor.text(error.message)) from None
        except Error:
            raise WatchRequestError(409, "The page did not accept the input.") from None
        self._journal.touch()

    def _list_sessions(self) -> Sequence[Session]:
        table = self._sessions()
        return table.list_all() if table else ()

    def _get(self, id: str, visitor: Visitor) -> Session:
        """Return the session. A session that the visitor may not see is reported as missing."""
        for session in self._list_sessions():
            if session.id == id and visitor.may_see(id, session.owner):
                return session
        ended = self._journal.find_ended(id)
        if ended is not None and visitor.may_see(id, ended.owner):
            crashed = ended.reason == "crashed"
            raise WatchRequestError(
                410, "The browser of the session crashed." if crashed else f"The session {ended.reason}."
            )
        raise WatchRequestError(404, "There is no such session.")


def view_session(session: Session, pictures: Pictures) -> dict[str, Any]:
    """Return the description of a session for the watch page, which `mask_views` must mask.

    It is known without querying the pages.
    """
    current = session.page_table.current
    takeover = session.takeover
    if takeover.is_active:
        state = "person"
    elif takeover.help is not None:
        state = "help"
    else:
        state = "busy" if session.lock.locked() else "idle"
    return {
        "id": session.id,
        "name": session.kept_as or ("default" if session.is_default else ""),
        "browser": session.engine,
        "createdAt": round(session.created_at * 1000),
        "state": state,
        "help": takeover.help.reason if takeover.help is not None else None,
        "page": current.id if current is not None else None,
        "pages": [{"id": page.id, "url": page.url, "crashed": page.crashed} for page in session.pages],
        "dialogs": [
            {"page": dialog.page_id, "type": dialog.type, "message": dialog.message}
            for dialog in session.dialogs.open
        ],
        "watchers": pictures.count_watchers(session.id),
    }


async def mask_views(views: Sequence[dict[str, Any]], redactor: Redactor) -> None:
    """Mask and shorten the texts in descriptions of sessions. They come from pages and callers."""
    texts: list[tuple[dict[str, Any], str, int]] = []
    for view in views:
        texts += [(view, "help", MAX_REASON)] if view["help"] is not None else []
        texts += [(page, "url", MAX_URL) for page in view["pages"]]
        texts += [(dialog, "message", MAX_MESSAGE) for dialog in view["dialogs"]]
    known = redactor.copy()

    def mask() -> list[str]:
        return [known.text(item[field], longest) for item, field, longest in texts]

    work = sum(len(item[field]) for item, field, _ in texts) // CHARACTERS_A_NODE
    for (item, field, _), text in zip(texts, await offload(work, mask), strict=True):
        item[field] = text


def _render_ended(ended: PastSession) -> dict[str, Any]:
    return {
        "id": ended.id,
        "state": "ended",
        "reason": ended.reason,
        "endedAt": round(ended.at_ms),
        "secondsAgo": round(time.time() - ended.at_ms / 1000),
    }
