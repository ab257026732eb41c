"""Sessions that share a pool of browsers."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from footlight.browser.context.options import SessionOptions
from footlight.browser.driver.deadline import Deadline
from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.shielding import shield_until_done
from footlight.browser.sessions.session import Session
from footlight.browser.sessions.tables.session_state import apply_state
from footlight.browser.sessions.tables.session_table import SessionTable
from footlight.errors import (
    FootlightError,
    MissingParameterError,
    ResourceExhaustedError,
)

if TYPE_CHECKING:
    from footlight.browser.context.storage_state import SessionState
    from footlight.browser.launch.extension_pool import ExtensionPool
    from footlight.browser.launch.pool import Pool, PooledBrowser
    from footlight.browser.sessions.environment import SessionEnvironment
    from footlight.browser.sessions.tables.kept_sessions import KeptSessions
    from footlight.caller import Caller
    from footlight.config import SessionSettings

__all__ = ["PooledSessions"]

logger = logging.getLogger(__name__)

EVICTION_IDLE_SECONDS = 300.0
"""After this time without a call, a default session may be ended for another one."""
OPEN_SECONDS = 5.0
"""After this time, the browser in which a session is opened is asked whether it responds."""


class _BrowserNotRespondingError(Exception):
    """The browser in which a session was to be opened does not respond."""


class PooledSessions(SessionTable):
    """Sessions in shared browsers. The session `default` is created by its first call."""

    def __init__(
        self,
        settings: SessionSettings,
        *,
        pool: Pool | ExtensionPool,
        environment: SessionEnvironment,
        kept: KeptSessions,
        id_prefix: str = "",
    ) -> None:
        """Create the table. `kept` has the sessions on disk. The ids of new ones begin with `id_prefix`."""
        super().__init__(settings)
        self._pool = pool
        self._environment = environment
        self.kept = kept
        self._id_prefix = id_prefix
        self._reserved = 0

    def own_id(self, id: str | None, caller: Caller) -> str:
        """Return the id of a session. Without a name, or with `default`, it is the caller's default session.

        Raises:
            MissingParameterError: the caller's requests do not share a connection, so it must name a session.
        """
        own = caller.find_session_id(id)
        if own is None:
            raise MissingParameterError(
                "sessionId: the requests of this connection are independent, so each must name its session",
                parameter="sessionId",
                suggestion="Call create_session, and give its sessionId with every call.",
            )
        return own

    def list_kept_ids(self, *, caller: Caller) -> Sequence[str]:
        return [id for id in self.kept.list_ids(caller) if id not in self._sessions]

    async def close(self, id: str, *, caller: Caller) -> None:
        own = self.own_id(id, caller)
        async with self._one_at_a_time(own):
            session = self._find(own, caller)
            if session is None and own in self.list_kept_ids(caller=caller):
                with self.kept.hold(own, caller) as lock:
                    if lock.elsewhere is None:
                        self._forget(own, caller)
                return
            if session is not None and not self.kept.includes(session):
                # What is kept under its name belongs to another server.
                self._drop(session, "was closed")
                await shield_until_done(self._close(session))
                return
        await super().close(id, caller=caller)

    async def create(self, options: SessionOptions, *, caller: Caller) -> Session:
        """Create a session. Close it if the caller was cancelled meanwhile."""

        async def discard(made: Session) -> None:
            if made.id in self._sessions:
                await self.close(made.id, caller=caller)

        id = self._id_prefix + secrets.token_hex(16)
        return await shield_until_done(self._open(id, caller, options), discard=discard)

    async def _make_again(self, id: str, caller: Caller) -> Session:
        """Create the caller's default session, or one that was kept or whose browser crashed."""
        with self.kept.hold(id, caller) as lock:
            state = self.kept.find_state(id, caller)
            ended = self._find_ended(id, caller)
            if state is not None:
                session = await self._reopen(id, caller, state)
            elif id == caller.default_session:
                session = await self._open(id, caller, (ended and ended.options) or SessionOptions())
            elif ended is not None and ended.options is not None:
                session = await self._open(id, caller, ended.options)
            else:
                raise self._not_found_error(id, caller)
            self.kept.keep_lock(session, lock)
        return session

    async def _reopen(self, id: str, caller: Caller, state: SessionState) -> Session:
        """Reopen a kept session.

        Its earlier refs stay invalid, and the next result reports the restoration.
        """
        options, next_ref = self.kept.find_options(id, caller)
        session = await self._open(id, caller, options)
        session.ref_numbers.next = max(session.ref_numbers.next, next_ref)
        session.events.restored = await self._restore_state(session, state)
        return session

    async def _open(self, id: str, caller: Caller, options: SessionOptions) -> Session:
        if self._has_no_room:
            await self._make_room()
        if self._has_no_room:
            raise ResourceExhaustedError(
                f"All {self._settings.max_sessions} sessions are in use",
                maxSessions=self._settings.max_sessions,
            )
        self._reserved += 1
        try:
            session = await self._open_in_next_browser(id, caller, options)
        finally:
            self._reserved -= 1
        self._add(session)
        await self._check_still_there(id, caller)
        return session

    @property
    def _has_no_room(self) -> bool:
        return len(self._sessions) + self._reserved >= self._settings.max_sessions

    async def _make_room(self) -> None:
        """End the default session that has been idle the longest, for at least `EVICTION_IDLE_SECONDS`."""
        limit = time.monotonic() - EVICTION_IDLE_SECONDS
        idle = [
            each
            for each in self._sessions.values()
            if each.kept_as is None and each.last_used < limit and not each.lock.locked()
        ]
        if idle:
            session = min(idle, key=lambda each: each.last_used)
            logger.info("session %s is ended to make room for another", session.id)
            self._drop(session, "was ended to make room, after it had not been used for a while")
            await self._close(session)

    async def _open_in_next_browser(self, id: str, caller: Caller, options: SessionOptions) -> Session:
        """Open the session in a browser of the pool. Try another if that one is ending or silent.

        Raises:
            ResourceExhaustedError: no browser responds, and no other one can be started.
        """
        silent: set[PooledBrowser] = set()
        while True:
            browser = await self._pool.acquire(options)
            try:
                return await self._open_in(browser, id, caller, options)
            except _BrowserNotRespondingError:
                if browser in silent:
                    raise ResourceExhaustedError(
                        "The browser does not respond, and other sessions use it",
                        suggestion="Close the other sessions, so that the browser is replaced.",
                    ) from None
                silent.add(browser)
            except Error:
                if not await browser.has_ended():
                    raise

    async def _open_in(
        self, browser: PooledBrowser, id: str, caller: Caller, options: SessionOptions
    ) -> Session:
        is_default = id == caller.default_session
        opening = Session.open(
            id,
            owner=caller.principal,
            options=options,
            browser=browser,
            environment=self._environment,
            context=browser.context,
            is_default=is_default,
            kept_as=caller.scope_name(id) if caller.default_outlives_connection or not is_default else None,
        )
        # A session that opens too late is closed.
        task = asyncio.create_task(shield_until_done(opening, discard=lambda late: late.close()))
        try:
            while not (await asyncio.wait([task], timeout=OPEN_SECONDS))[0]:
                if await browser.find_silent_part() == "browser" and not task.done():
                    browser.is_suspect = True
                    raise _BrowserNotRespondingError
            return task.result()
        except BaseException:
            task.cancel()
            self._pool.release(browser)
            await shield_until_done(self._pool.end_session(browser))
            raise

    async def _restore_state(self, session: Session, state: SessionState) -> bool:
        """Restore the state as far as possible, because the session can also be used without it.

        Return whether all of it was restored.
        """
        try:
            await apply_state(session, state, Deadline.after(self._settings.default_timeout))
        except (Error, FootlightError, TimeoutError):
            logger.warning("the state of session %s could not be restored", session.id, exc_info=True)
            return False
        return True

    def _drop(self, session: Session, reason: str, *, options: SessionOptions | None = None) -> None:
        self._pool.release(session.browser)
        super()._drop(session, reason, options=options)

    async def close_all(self) -> None:
        for session in self._sessions.values():
            self._pool.release(session.browser)
        await super().close_all()

    async def _close(self, session: Session) -> None:
        try:
            await super()._close(session)
            await self._pool.end_session(session.browser)
        finally:
            self.kept.release(session)

    def _forget(self, id: str, caller: Caller) -> None:
        self.kept.forget(id, caller)

    async def park(self, session: Session) -> None:
        """Save a kept session and end it here. A process with the same state folder can reopen it."""
        self._drop(session, "was moved")
        await self._keep(session)
        await self._close(session)

    async def _keep(self, session: Session) -> None:
        await self.kept.save_before_end(session)
