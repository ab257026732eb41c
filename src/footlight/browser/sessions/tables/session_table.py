"""The sessions of a server by id. Each session belongs to one principal."""

from __future__ import annotations

import asyncio
import logging
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from footlight.browser.driver.shielding import shield_until_done
from footlight.errors import SessionNotFoundError

if TYPE_CHECKING:
    from footlight.browser.context.options import SessionOptions
    from footlight.browser.sessions.session import Session
    from footlight.caller import Caller
    from footlight.config import SessionSettings

__all__ = ["CRASHED", "EndedSession", "SessionTable"]

logger = logging.getLogger(__name__)

MAX_REMEMBERED = 1_000
CRASHED = "crashed"
"""The reason for the end of a session whose browser crashed or was killed."""


@dataclass(frozen=True, slots=True)
class EndedSession:
    """A session that has ended, and the reason. After a crash it can be created again under its id.

    Its refs are not reused: `next_ref` is the number of the first unused one.
    """

    reason: str
    owner: str
    next_ref: int
    options: SessionOptions | None = None


class SessionTable(ABC):
    """The sessions of a server by id. Subclasses decide how sessions are created, kept and named."""

    def __init__(self, settings: SessionSettings) -> None:
        self._settings = settings
        self._sessions: dict[str, Session] = {}
        self._opening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._ended: OrderedDict[str, EndedSession] = OrderedDict()
        self._departed: OrderedDict[str, None] = OrderedDict()
        """Principals and ids of default sessions that will not return.

        A session of theirs may still be opening.
        """

    @property
    def count(self) -> int:
        """The number of sessions of all callers."""
        return len(self._sessions)

    def list_kept_ids(self, *, caller: Caller) -> Sequence[str]:
        """Return the ids of the principal's kept sessions that are not open. A call opens the one named."""
        del caller
        return ()

    def list(self, *, caller: Caller) -> list[Session]:
        """Return the principal's sessions, except the default sessions of other connections."""
        return [
            each
            for each in self._sessions.values()
            if each.owner == caller.principal
            and not each.has_ended
            and (not each.is_default or each.id == caller.default_session)
        ]

    def list_all(self) -> list[Session]:
        """Return the sessions of all principals, including all default sessions."""
        return [each for each in self._sessions.values() if not each.has_ended]

    def why_ended(self, id: str) -> str:
        """Return why a session has ended. A session that is still in the table has lost its browser."""
        ended = self._ended.get(id)
        return ended.reason if ended is not None and id not in self._sessions else CRASHED

    def find(self, id: str | None, *, caller: Caller) -> Session:
        """Return the session without marking it as used.

        Raises:
            SessionNotFoundError: it was never created, was closed, expired or crashed, or belongs to another
            principal.
        """
        id = self.own_id(id, caller)
        session = self._find(id, caller)
        if session is None:
            raise self._not_found_error(id, caller)
        if session.has_ended:
            raise SessionNotFoundError(f'Session "{id}" crashed', sessionId=id)
        return session

    def active_id(self, *, caller: Caller) -> str | None:
        """Return the id of the only session, in tables that have at most one. Otherwise return None."""
        del caller
        return None

    def _find(self, id: str, caller: Caller) -> Session | None:
        """Return the session or None. Raise SessionNotFoundError if it belongs to another principal."""
        session = self._sessions.get(id)
        if session is not None and session.owner != caller.principal:
            raise self._not_found_error(id, caller)
        return session

    @abstractmethod
    def own_id(self, id: str | None, caller: Caller) -> str:
        """Return the id of a session from the name that its caller gives.

        Raises:
            MissingParameterError: the caller must name a session.
        """

    async def get(self, id: str | None, *, caller: Caller) -> Session:
        """Return the session ready for use. Create it again if possible.

        Raises:
            SessionNotFoundError: it was never created, was closed or expired, or belongs to another
                principal.
            BrowserCrashedError: its browser has ended; raised once.
            ResourceExhaustedError: it would have to be created, but all sessions are in use.
        """
        id = self.own_id(id, caller)
        async with self._one_at_a_time(id):
            session = self._find(id, caller)
            if session is not None and session.alive:
                session.touch()
                return session
            if session is not None:
                await self._drop_crashed(session)
                if not session.crash_reported:
                    raise session.make_crash_error()
            return await self._make_again(id, caller)

    def _one_at_a_time(self, id: str) -> asyncio.Lock:
        """Return the lock that is held while a session with this id is found, created or closed."""
        return self._opening.setdefault(id, asyncio.Lock())

    @abstractmethod
    async def _make_again(self, id: str, caller: Caller) -> Session:
        """Create a session that is not in the table, or raise SessionNotFoundError."""

    async def close(self, id: str, *, caller: Caller) -> None:
        """End a session immediately. A running call in it fails.

        Raises:
            SessionNotFoundError: it does not exist, or belongs to another principal.
        """
        id = self.own_id(id, caller)
        session = self._find(id, caller)
        if session is None:
            raise self._not_found_error(id, caller)
        self._drop(session, "was closed")
        self._forget(id, caller)
        await shield_until_done(self._close(session))

    async def leave(self, principal: str) -> None:
        """End all sessions of a principal that will not return, including those that are opening."""
        self._remember_departed(principal)
        await self._end_departed([each for each in self._sessions.values() if each.owner == principal])

    async def disconnect(self, caller: Caller) -> None:
        """End the default session of a closed connection, which no other caller can use."""
        id = caller.default_session
        if id is None or caller.default_outlives_connection:
            return
        self._remember_departed(id)
        await self._end_departed([each for each in self._sessions.values() if each.id == id])

    def _remember_departed(self, whose: str) -> None:
        self._departed[whose] = None
        while len(self._departed) > MAX_REMEMBERED:
            self._departed.popitem(last=False)

    async def _end_departed(self, sessions: Sequence[Session]) -> None:
        for session in sessions:
            self._drop(session, "ended with its connection")
        await asyncio.gather(*(self._close(session) for session in sessions))

    async def _check_still_there(self, id: str, caller: Caller) -> None:
        """End a session whose caller has left while it was created, and raise SessionNotFoundError."""
        if caller.principal in self._departed:
            await self.leave(caller.principal)
        elif id in self._departed:
            await self.disconnect(caller)
        else:
            return
        raise self._not_found_error(id, caller)

    async def close_all(self) -> None:
        """Save the kept sessions, and end all sessions."""
        sessions, self._sessions = [*self._sessions.values()], {}
        await asyncio.gather(*(self._keep(session) for session in sessions))
        await asyncio.gather(*(self._close(session) for session in sessions))

    async def reap(self) -> None:
        """End sessions that have been idle for too long."""
        if not self._settings.idle_timeout:
            return
        limit = time.monotonic() - self._settings.idle_timeout / 1000
        for session in [each for each in self._sessions.values() if each.alive]:
            if self._sessions.get(session.id) is not session:
                continue  # It was closed while another session was being ended.
            if session.last_used <= limit and not session.lock.locked():
                logger.info("session %s expired", session.id)
                self._drop(session, f"expired after {self._settings.idle_timeout}ms without use")
                await self._keep(session)
                await self._close(session)

    async def _drop_crashed(self, session: Session) -> None:
        """Remove a session whose browser has ended."""
        self._drop(session, CRASHED, options=session.options)
        await self._close(session)

    def _drop(self, session: Session, reason: str, *, options: SessionOptions | None = None) -> None:
        """Remove a session from the table before it is closed."""
        del self._sessions[session.id]
        self._ended[session.id] = EndedSession(reason, session.owner, session.ref_numbers.next, options)
        while len(self._ended) > MAX_REMEMBERED:
            self._ended.popitem(last=False)

    def _add(self, session: Session) -> None:
        if ended := self._ended.pop(session.id, None):
            session.ref_numbers.next = ended.next_ref
        self._sessions[session.id] = session
        session.report_change("opened")

    def _find_ended(self, id: str, caller: Caller) -> EndedSession | None:
        ended = self._ended.get(id)
        return ended if ended is not None and ended.owner == caller.principal else None

    def _not_found_error(self, id: str, caller: Caller) -> SessionNotFoundError:
        ended = self._find_ended(id, caller)
        why = ended.reason if ended else "does not exist"
        return SessionNotFoundError(f'Session "{id}" {why}', sessionId=id)

    # Hooks for subclasses

    async def _close(self, session: Session) -> None:
        """End a session that was removed from the table."""
        await session.close()

    @abstractmethod
    async def _keep(self, session: Session) -> None:
        """Save a session that expires or ends with the server, if it is kept."""

    @abstractmethod
    def _forget(self, id: str, caller: Caller) -> None:
        """Remove what is kept of a session, because the caller closed it."""
