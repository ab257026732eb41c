"""Sessions by their ids, each its principal's: found, closed, ended by idleness, missed when gone."""

from __future__ import annotations

import asyncio
import logging
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from footlight.browser.unbroken import unbroken
from footlight.errors import SessionNotFound

if TYPE_CHECKING:
    from footlight.browser.options import SessionOptions
    from footlight.browser.session import Session
    from footlight.caller import Caller
    from footlight.config import SessionSettings

__all__ = ["Ended", "SessionTable"]

logger = logging.getLogger(__name__)

REMEMBERED = 1_000


@dataclass(frozen=True, slots=True)
class Ended:
    """Why a session is no more. One whose browser crashed can be made again under its id.

    No ref of it is given again there: `next_ref` is the number of the first that it did not give.
    """

    reason: str
    owner: str
    next_ref: int
    options: SessionOptions | None = None


class SessionTable(ABC):
    """What calls need of the sessions of a server, whatever those are made of."""

    def __init__(self, settings: SessionSettings) -> None:
        self._settings = settings
        self._sessions: dict[str, Session] = {}
        self._opening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._ended: OrderedDict[str, Ended] = OrderedDict()
        self._left: OrderedDict[str, None] = OrderedDict()
        """Principals that never come again. A session may still be opening for one."""

    @property
    def count(self) -> int:
        """Of all callers."""
        return len(self._sessions)

    def list(self, *, caller: Caller) -> list[Session]:
        """The principal's, but not what is the default of another connection."""
        return [
            each
            for each in self._sessions.values()
            if each.owner == caller.principal
            and not each.over
            and (not each.is_default or each.id == caller.default_session)
        ]

    def find(self, id: str | None, *, caller: Caller) -> Session:
        """A session that is there, without using it.

        Raises:
            SessionNotFound: never made, closed, expired, crashed, or another principal's.
        """
        id = self.own_id(id, caller)
        session = self._find(id, caller)
        if session is None:
            raise self._not_found(id, caller)
        if session.over:
            raise SessionNotFound(f'Session "{id}" crashed', sessionId=id)
        return session

    def active_id(self, *, caller: Caller) -> str | None:
        """Of the one session that all calls are in, in tables that have one at the most."""
        del caller
        return None

    def _find(self, id: str, caller: Caller) -> Session | None:
        """Another principal's is told as if there were none."""
        session = self._sessions.get(id)
        if session is not None and session.owner != caller.principal:
            raise self._not_found(id, caller)
        return session

    @abstractmethod
    def own_id(self, id: str | None, caller: Caller) -> str:
        """The id of a session as its caller names it.

        Raises:
            MissingParameter: the caller must name one.
        """

    async def get(self, id: str | None, *, caller: Caller) -> Session:
        """The session, ready to be used; made again where that can be.

        Raises:
            SessionNotFound: never made, closed, expired, or another principal's.
            BrowserCrashed: once, where its browser ended.
            ResourceExhausted: it would have to be made, and there are too many.
        """
        id = self.own_id(id, caller)
        async with self._one_at_a_time(id):
            session = self._find(id, caller)
            if session is not None and session.alive:
                session.touch()
                return session
            if session is not None:
                await self._bury(session)
                if not session.crash_told:
                    raise session.crash()
            return await self._make_again(id, caller)

    def _one_at_a_time(self, id: str) -> asyncio.Lock:
        """Held while a session is being made."""
        return self._opening.setdefault(id, asyncio.Lock())

    @abstractmethod
    async def _make_again(self, id: str, caller: Caller) -> Session:
        """The session of that id, though it is not in the table. Raises SessionNotFound."""

    async def close(self, id: str, *, caller: Caller) -> None:
        """End a session, at once: a call that runs in it fails.

        Raises:
            SessionNotFound: there is none, or it is another principal's.
        """
        id = self.own_id(id, caller)
        session = self._find(id, caller)
        if session is None:
            raise self._not_found(id, caller)
        self._drop(session, "was closed")
        self._forget(id, caller)
        await unbroken(self._close(session))

    async def leave(self, principal: str) -> None:
        """End every session of a principal that never comes again, and those that are opening for it."""
        self._left[principal] = None
        while len(self._left) > REMEMBERED:
            self._left.popitem(last=False)
        theirs = [each for each in self._sessions.values() if each.owner == principal]
        for session in theirs:
            self._drop(session, "ended with its connection")
        await asyncio.gather(*(self._close(session) for session in theirs))

    async def _check_still_there(self, id: str, caller: Caller) -> None:
        """What is made for a principal that has left meanwhile ends at once. Raises SessionNotFound."""
        if caller.principal in self._left:
            await self.leave(caller.principal)
            raise self._not_found(id, caller)

    async def close_all(self) -> None:
        sessions, self._sessions = [*self._sessions.values()], {}
        await asyncio.gather(*(self._keep(session) for session in sessions))
        await asyncio.gather(*(self._close(session) for session in sessions))

    async def reap(self) -> None:
        """End sessions that nobody used for too long."""
        if not self._settings.idle_timeout:
            return
        limit = time.monotonic() - self._settings.idle_timeout / 1000
        for session in [each for each in self._sessions.values() if each.alive]:
            if self._sessions.get(session.id) is not session:
                continue  # Somebody closed it while another was being ended.
            if session.last_used <= limit and not session.lock.locked():
                logger.info("session %s expired", session.id)
                self._drop(session, f"expired after {self._settings.idle_timeout}ms without use")
                await self._keep(session)
                await self._close(session)

    async def _bury(self, session: Session) -> None:
        """A session whose browser is gone."""
        self._drop(session, "crashed", options=session.options)
        await self._close(session)

    def _drop(self, session: Session, reason: str, *, options: SessionOptions | None = None) -> None:
        """Out of the table, though not closed yet."""
        del self._sessions[session.id]
        self._ended[session.id] = Ended(reason, session.owner, session.ref_numbers.next, options)
        while len(self._ended) > REMEMBERED:
            self._ended.popitem(last=False)

    def _add(self, session: Session) -> None:
        if ended := self._ended.pop(session.id, None):
            session.ref_numbers.next = ended.next_ref
        self._sessions[session.id] = session
        session.tell("opened")

    def _ended_of(self, id: str, caller: Caller) -> Ended | None:
        ended = self._ended.get(id)
        return ended if ended is not None and ended.owner == caller.principal else None

    def _not_found(self, id: str, caller: Caller) -> SessionNotFound:
        ended = self._ended_of(id, caller)
        why = ended.reason if ended else "does not exist"
        return SessionNotFound(f'Session "{id}" {why}', sessionId=id)

    # What sessions of one kind need beside this

    async def _close(self, session: Session) -> None:
        """End one that is out of the table."""
        await session.close()

    @abstractmethod
    async def _keep(self, session: Session) -> None:
        """Write down what is to survive of one that ends by itself."""

    @abstractmethod
    def _forget(self, id: str, caller: Caller) -> None:
        """Its caller closed it."""
