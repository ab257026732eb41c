"""Keep the sessions of a worker on disk, so that another one can open them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any

from footlight.errors import FootlightError

if TYPE_CHECKING:
    from footlight.browser.sessions.session import Session
    from footlight.browser.sessions.tables.pooled_sessions import PooledSessions
    from footlight.caller import Caller
    from footlight.server.answers.answer import Answer

__all__ = ["SessionKeeper", "find_session_name"]

logger = logging.getLogger(__name__)

SAVE_EVERY_SECONDS = 1.0
PARK_EVERY_SECONDS = 0.2


class SessionKeeper:
    """Saves sessions soon after their calls, and parks idle ones while their worker is draining.

    It does nothing unless `session.persistentSessions` is on.
    """

    def __init__(self, sessions: PooledSessions) -> None:
        self._sessions = sessions
        self._unsaved: dict[str, Session] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._calls: Counter[str] = Counter()
        """How many calls of each session run."""
        self._parking: dict[str, asyncio.Event] = {}
        """The sessions that are being parked. The event is set when another worker can open them."""

    async def close(self) -> None:
        tasks = [*self._tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def is_parking(self) -> bool:
        return bool(self._parking)

    @contextlib.contextmanager
    def use(self, id: str | None) -> Generator[None]:
        """Do not park the session until the block ends."""
        if id is None:
            yield
            return
        self._calls[id] += 1
        try:
            yield
        finally:
            self._calls[id] -= 1
            if not self._calls[id]:
                del self._calls[id]

    async def has_left(self, id: str | None) -> bool:
        """Return whether the session is not open here. If it is being parked, wait until that is done."""
        if id is None or self.find(id) is not None:
            return False
        if parking := self._parking.get(id):
            await parking.wait()
        return True

    def find(self, id: str | None) -> Session | None:
        """Return the open session with this id, if there is one."""
        return next((each for each in self._sessions.list_all() if each.id == id), None)

    def note_call(self, arguments: Mapping[str, Any], answer: Answer, caller: Caller) -> None:
        """Save the session of a finished call soon, and reserve the refs in its answer at once."""
        created: str | None = answer.content["data"].get("sessionId") if answer.success else None
        try:
            session = self._sessions.find(find_session_name(arguments) or created, caller=caller)
            if not self._sessions.kept.includes(session):
                return
            self._sessions.kept.reserve_refs(session)
        except FootlightError:
            return
        self._unsaved[session.id] = session
        self._run("save", self._save_forever)

    def start_parking(self) -> None:
        self._run("park", self._park_forever)

    def _run(self, name: str, work: Any) -> None:
        if name not in self._tasks:
            self._tasks[name] = asyncio.create_task(work())

    async def _save_forever(self) -> None:
        while True:
            await asyncio.sleep(SAVE_EVERY_SECONDS)
            for session in [*self._unsaved.values()]:
                if not session.lock.locked():
                    del self._unsaved[session.id]
                    async with session.lock:
                        await self._sessions.kept.save_between_calls(session)

    async def _park_forever(self) -> None:
        while True:
            await asyncio.gather(*map(self._park_if_idle, self._sessions.list_all()))
            await asyncio.sleep(PARK_EVERY_SECONDS)

    async def _park_if_idle(self, session: Session) -> None:
        is_open = self.find(session.id) is session
        if not is_open or self._is_used(session) or not self._sessions.kept.includes(session):
            return
        parked = self._parking[session.id] = asyncio.Event()
        try:
            await self._sessions.park(session)
        finally:
            del self._parking[session.id]
            parked.set()

    def _is_used(self, session: Session) -> bool:
        """Return whether a call or a download runs in the session, or a dialog waits for its answer."""
        return (
            session.lock.locked()
            or session.id in self._calls
            or session.downloads.are_running
            or bool(session.dialogs.open)
        )


def find_session_name(arguments: Mapping[str, Any]) -> str | None:
    """Return the name by which a call names its session, or None if it gives none."""
    id = arguments.get("sessionId")
    return id if isinstance(id, str) else None
