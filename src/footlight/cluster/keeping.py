"""Keep the sessions of a worker on disk, so that another one can open them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from footlight.errors import FootlightError

if TYPE_CHECKING:
    from footlight.browser.sessions.pooled_sessions import PooledSessions
    from footlight.browser.sessions.session import Session
    from footlight.caller import Caller
    from footlight.server.answers.answer import Answer

__all__ = ["SessionKeeper"]

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

    async def close(self) -> None:
        tasks = [*self._tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def is_open(self, arguments: Mapping[str, Any], caller: Caller) -> bool:
        """Return whether the session of a call is open here, or the call is refused because it names none."""
        try:
            id = self._sessions.own_id(_get_session_name(arguments), caller)
        except FootlightError:
            return True
        return self.find(id) is not None

    def find(self, id: str | None) -> Session | None:
        """Return the open session with this id, if there is one."""
        return next((each for each in self._sessions.list_all() if each.id == id), None)

    def note_call(self, arguments: Mapping[str, Any], answer: Answer, caller: Caller) -> None:
        """Save the session of a finished call soon, and reserve the refs in its answer at once."""
        created: str | None = answer.content["data"].get("sessionId") if answer.success else None
        try:
            session = self._sessions.find(_get_session_name(arguments) or created, caller=caller)
            if not self._sessions.is_kept(session):
                return
            self._sessions.reserve_refs(session)
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
                        await self._sessions.save(session)

    async def _park_forever(self) -> None:
        while True:
            idle = [
                each
                for each in self._sessions.list_all()
                if self._sessions.is_kept(each) and not each.lock.locked()
            ]
            await asyncio.gather(*map(self._sessions.park, idle))
            await asyncio.sleep(PARK_EVERY_SECONDS)


def _get_session_name(arguments: Mapping[str, Any]) -> str | None:
    id = arguments.get("sessionId")
    return id if isinstance(id, str) else None
