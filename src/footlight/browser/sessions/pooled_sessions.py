"""Sessions that share a pool of browsers."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from footlight.browser.actions.dialogs import find_blocking_dialog
from footlight.browser.driver.deadline import Deadline
from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.shielding import shield_until_done
from footlight.browser.sessions.session import Session, SessionOptions
from footlight.browser.sessions.session_state import SessionLock, apply_state, capture_state, lock_session
from footlight.browser.sessions.session_table import SessionTable
from footlight.errors import (
    FootlightError,
    MissingParameterError,
    ResourceExhaustedError,
    SessionNotFoundError,
)

if TYPE_CHECKING:
    from footlight.browser.context.state_store import StateStore
    from footlight.browser.context.storage_state import SessionState
    from footlight.browser.launch.extension_pool import ExtensionPool
    from footlight.browser.launch.pool import Pool, PooledBrowser
    from footlight.browser.sessions.session import SessionEnvironment
    from footlight.caller import Caller
    from footlight.config import SessionSettings

__all__ = ["DEFAULT", "PooledSessions", "SessionsFactory"]

logger = logging.getLogger(__name__)

DEFAULT = "default"
SILENT_SECONDS = 300.0
"""After this time without a call, a default session may be ended for another one."""
OPEN_SECONDS = 5.0
"""After this time, the browser in which a session is opened is asked whether it responds."""
SAVE_SECONDS = 2.0
RESERVED_REFS = 1_000
"""How many refs are reserved at a time, so that not every snapshot writes a file."""

_ID = re.compile(r"([0-9a-f]{8}\.)?[^.]+")
"""A session id, which may begin with the name of a worker in a cluster."""


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
        persistent: StateStore,
        id_prefix: str = "",
    ) -> None:
        """Create the table. The ids of its sessions begin with `id_prefix`."""
        super().__init__(settings)
        self._pool = pool
        self._environment = environment
        self._persistent = persistent
        self._id_prefix = id_prefix
        self._reserved = 0
        self._reserved_refs: WeakKeyDictionary[Session, int] = WeakKeyDictionary()
        """By session: the number of the first ref that it would use after it is reopened."""
        self._locks: WeakKeyDictionary[Session, SessionLock] = WeakKeyDictionary()

    def own_id(self, id: str | None, caller: Caller) -> str:
        """Return the id of a session. Without a name, or with `default`, it is the caller's default session.

        Raises:
            MissingParameterError: the caller's requests do not share a connection, so it must name a session.
        """
        if id is not None and id != DEFAULT:
            return id
        if caller.default_session is None:
            raise MissingParameterError(
                "sessionId: the requests of this connection are independent, so each must name its session",
                parameter="sessionId",
                suggestion="Call create_session, and give its sessionId with every call.",
            )
        return caller.default_session

    def list_kept_ids(self, *, caller: Caller) -> Sequence[str]:
        if not self._settings.persistent_sessions:
            return ()
        whose = caller.scope_name("")
        # The names of a principal's sessions end with its suffix.
        ids = (name.removesuffix(whose) for name in self._persistent.names() if name.endswith(whose))
        return [
            id
            for id in ids
            if _ID.fullmatch(id)
            and id not in self._sessions
            and (id != DEFAULT or caller.default_session == DEFAULT)
        ]

    async def close(self, id: str, *, caller: Caller) -> None:
        own = self.own_id(id, caller)
        async with self._one_at_a_time(own):
            session = self._find(own, caller)
            if session is None and own in self.list_kept_ids(caller=caller):
                with self._hold(own, caller) as lock:
                    if lock.elsewhere is None:
                        self._forget(own, caller)
                return
            if session is not None and not self.is_kept(session):
                # The saved state under its name belongs to another server.
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
        """Create the caller's default session, or one that was saved or whose browser crashed."""
        with self._hold(id, caller) as lock:
            state = self._find_kept_state(id, caller)
            ended = self._find_ended(id, caller)
            if state is not None:
                session = await self._reopen(id, caller, state)
            elif id == caller.default_session:
                session = await self._open(id, caller, (ended and ended.options) or SessionOptions())
            elif ended is not None and ended.options is not None:
                session = await self._open(id, caller, ended.options)
            else:
                raise self._not_found_error(id, caller)
            if lock.elsewhere is not None:
                session.saved_as = None
            self._locks[session] = lock.keep()
        return session

    def _hold(self, id: str, caller: Caller) -> SessionLock:
        """Lock the saved state of a session. In a cluster, the front decides where a session is open.

        A default session that is open elsewhere is opened as well, but its state is not saved.

        Raises:
            ResourceExhaustedError: another server has this session open.
        """
        is_default = id == caller.default_session
        if not self._settings.persistent_sessions or self._id_prefix:
            return SessionLock()
        if is_default and not caller.default_outlives_connection:
            return SessionLock()
        lock = lock_session(self._persistent.lock_path(caller.scope_name(id)))
        if lock.elsewhere is None:
            return lock
        if not is_default:
            raise ResourceExhaustedError(
                f'Session "{id}" is open in another server{lock.elsewhere}',
                sessionId=id,
                suggestion="Close it in that server, or work in another session.",
            )
        logger.warning("session %s is not kept: it is open in another server%s", id, lock.elsewhere)
        return lock

    async def _reopen(self, id: str, caller: Caller, state: SessionState) -> Session:
        """Reopen a saved session.

        Its earlier refs stay invalid, and the next result reports the restoration.
        """
        options, next_ref = self._find_kept_details(id, caller)
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
        """End the default session that has been idle the longest, for at least `SILENT_SECONDS`."""
        silent_since = time.monotonic() - SILENT_SECONDS
        silent = [
            each
            for each in self._sessions.values()
            if each.saved_as is None and each.last_used < silent_since and not each.lock.locked()
        ]
        if silent:
            session = min(silent, key=lambda each: each.last_used)
            logger.info("session %s is ended to make room for another", session.id)
            self._drop(session, "was ended to make room, after it had not been used for a while")
            await self._close(session)

    async def _open_in_next_browser(self, id: str, caller: Caller, options: SessionOptions) -> Session:
        """Open the session in a browser of the pool. Try another browser if that one is ending or silent.

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
            saved_as=caller.scope_name(id) if caller.default_outlives_connection or not is_default else None,
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
            if lock := self._locks.pop(session, None):
                lock.release()

    def _forget(self, id: str, caller: Caller) -> None:
        if self._settings.persistent_sessions:
            self._persistent.forget(caller.scope_name(id))

    def _find_kept_state(self, id: str, caller: Caller) -> SessionState | None:
        if not self._settings.persistent_sessions:
            return None
        try:
            return self._persistent.find(caller.scope_name(id))
        except FootlightError as error:
            if id == caller.default_session:
                logger.warning("session %s starts again without its state: %s", id, error.message)
            elif id in self.list_kept_ids(caller=caller):
                raise SessionNotFoundError(
                    f'Session "{id}" was kept, but cannot be opened again: {error.message}', sessionId=id
                ) from error
            return None

    def _find_kept_details(self, id: str, caller: Caller) -> tuple[SessionOptions, int]:
        """Return the saved options, without credentials, and the number of the first unused ref.

        Init scripts are dropped unless the server still allows scripts.
        """
        try:
            details = self._persistent.find_details(caller.scope_name(id))
            options = SessionOptions.from_json(details.get("options", {}))
            next_ref = int(details.get("nextRef", 1))
        except (FootlightError, TypeError, ValueError) as error:
            logger.warning("the options of session %s could not be read: %s", id, error)
            return SessionOptions(), 1
        allowed = options if self._environment.script_evaluation else replace(options, init_scripts=())
        return allowed, next_ref

    def is_kept(self, session: Session) -> bool:
        """Return whether the session survives the end of the server."""
        return self._settings.persistent_sessions and session.saved_as is not None

    def reserve_refs(self, session: Session) -> None:
        """Ensure that the refs that were used so far are not reused after a crash of this process.

        Raises:
            FootlightError: the details of the session cannot be written.
        """
        if session.ref_numbers.next > self._reserved_refs.get(session, 0):
            self._save_details(session, session.ref_numbers.next + RESERVED_REFS)

    async def save(self, session: Session) -> None:
        """Save the current state of the session, so that it can be reopened after a crash of this process.

        The session must not be in use. With an open dialog it is not saved.
        """
        page = session.page_table.current
        if not session.alive or (page is not None and await find_blocking_dialog(page)):
            return
        await self._save(session)

    async def park(self, session: Session) -> None:
        """Save the session and end it here. A process with the same state folder can reopen it."""
        self._drop(session, "was moved")
        await self._keep(session)
        await self._close(session)

    async def _keep(self, session: Session) -> None:
        if self.is_kept(session) and session.alive:
            await session.dialogs.dismiss_all()
            await self._save(session)

    async def _save(self, session: Session) -> None:
        """Save the state of a persistent session. Failures are only logged."""
        assert session.saved_as is not None
        try:
            async with asyncio.timeout(SAVE_SECONDS):
                self._persistent.save(session.saved_as, await capture_state(session))
                self._save_details(session, session.ref_numbers.next)
        except (Error, OSError, TimeoutError, FootlightError):
            logger.warning("the state of session %s could not be saved", session.id, exc_info=True)

    def _save_details(self, session: Session, next_ref: int) -> None:
        assert session.saved_as is not None
        details = {"options": session.options.to_json(), "nextRef": next_ref}
        self._persistent.save_details(session.saved_as, details)
        self._reserved_refs[session] = next_ref


SessionsFactory = Callable[[], Awaitable[PooledSessions]]
"""A function that returns the session table when the browser is running."""
