"""All sessions of a server by their ids: made on first use or by hand, gone by hand or by idleness."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from footlight.browser import storage
from footlight.browser._playwright import Error
from footlight.browser.deadline import Deadline
from footlight.browser.session import Session, SessionOptions
from footlight.browser.session_table import SessionTable
from footlight.browser.unbroken import unbroken
from footlight.errors import FootlightError, MissingParameter, ResourceExhausted

if TYPE_CHECKING:
    from footlight.browser.extension_pool import ExtensionPool
    from footlight.browser.pool import Pool, PooledBrowser
    from footlight.browser.session import SessionSurroundings
    from footlight.browser.storage import SessionState, StateStore
    from footlight.caller import Caller
    from footlight.config import SessionSettings

__all__ = ["DEFAULT", "Sessions", "SessionsFactory"]

logger = logging.getLogger(__name__)

DEFAULT = "default"
SILENT_SECONDS = 300.0
"""A client whose model thinks for longer may find a new default session, where there are too many."""


class Sessions(SessionTable):
    """In browsers that they share. Each call names one; `default` is made when it is first asked for."""

    def __init__(
        self,
        settings: SessionSettings,
        *,
        pool: Pool | ExtensionPool,
        surroundings: SessionSurroundings,
        persistent: StateStore,
    ) -> None:
        super().__init__(settings)
        self._pool = pool
        self._surroundings = surroundings
        self._persistent = persistent
        self._reserved = 0

    def own_id(self, id: str | None, caller: Caller) -> str:
        """The id of a session as its caller names it: none, or `default`, is the caller's own default.

        Raises:
            MissingParameter: nothing ties this caller's calls together, so it must name a session.
        """
        if id is not None and id != DEFAULT:
            return id
        if caller.default_session is None:
            raise MissingParameter(
                "sessionId: requests of this connection stand alone, so each must name its session",
                parameter="sessionId",
                suggestion="Call create_session, and give its sessionId with every call.",
            )
        return caller.default_session

    async def create(self, options: SessionOptions, *, caller: Caller) -> Session:
        """A session that nobody waits for any more when it is there is closed."""

        async def discard(made: Session) -> None:
            if made.id in self._sessions:
                await self.close(made.id, caller=caller)

        return await unbroken(self._open(secrets.token_hex(16), caller, options), discard=discard)

    async def _make_again(self, id: str, caller: Caller) -> Session:
        """The caller's default, one kept on disk and one whose browser crashed."""
        ended = self._ended_of(id, caller)
        kept = self._kept(id, caller)
        if kept is not None:
            return await self._open(id, caller, self._kept_options(id, caller), kept)
        if id == caller.default_session:
            return await self._open(id, caller, (ended and ended.options) or SessionOptions())
        if ended is not None and ended.options is not None:
            return await self._open(id, caller, ended.options)
        raise self._not_found(id, caller)

    async def _open(
        self, id: str, caller: Caller, options: SessionOptions, kept: SessionState | None = None
    ) -> Session:
        if self._is_full:
            await self._make_room()
        if self._is_full:
            raise ResourceExhausted(
                f"All {self._settings.max_sessions} sessions are in use",
                maxSessions=self._settings.max_sessions,
            )
        self._reserved += 1
        try:
            session = await self._open_somewhere(id, caller.principal, options)
        finally:
            self._reserved -= 1
        session.is_default = id == caller.default_session
        if not session.is_default or caller.default_lasts:
            session.kept_as = caller.scoped(id)
        self._add(session)
        await self._check_still_there(id, caller)
        if kept is not None:
            await self._put_back(session, kept)
        return session

    @property
    def _is_full(self) -> bool:
        return len(self._sessions) + self._reserved >= self._settings.max_sessions

    async def _make_room(self) -> None:
        """End the default session of a connection that has long been silent: it may be gone for good."""
        silent_since = time.monotonic() - SILENT_SECONDS
        silent = [
            each
            for each in self._sessions.values()
            if each.kept_as is None and each.last_used < silent_since and not each.lock.locked()
        ]
        if silent:
            session = min(silent, key=lambda each: each.last_used)
            logger.info("session %s makes room for another", session.id)
            self._drop(session, "was ended to make room, after it had not been used for a while")
            await self._close(session)

    async def _open_somewhere(self, id: str, owner: str, options: SessionOptions) -> Session:
        """In the next browser, where the chosen one turns out to be ending."""
        while True:
            browser = await self._pool.acquire(options)
            try:
                return await self._open_in(browser, id, owner, options)
            except Error:
                if not await browser.ends():
                    raise

    async def _open_in(self, browser: PooledBrowser, id: str, owner: str, options: SessionOptions) -> Session:
        try:
            return await Session.open(
                id,
                owner=owner,
                options=options,
                browser=browser,
                surroundings=self._surroundings,
                context=browser.context,
            )
        except BaseException:
            self._pool.release(browser)
            await unbroken(self._pool.done_with(browser))
            raise

    async def _put_back(self, session: Session, kept: SessionState) -> None:
        """As far as it goes: the site may be gone, and the session is of use without it."""
        try:
            await storage.restore(session, kept, Deadline.after(self._settings.default_timeout))
        except (Error, FootlightError):
            logger.warning("the state of session %s could not be put back", session.id, exc_info=True)

    def _drop(self, session: Session, reason: str, *, options: SessionOptions | None = None) -> None:
        self._pool.release(session.browser)
        super()._drop(session, reason, options=options)

    async def close_all(self) -> None:
        for session in self._sessions.values():
            self._pool.release(session.browser)
        await super().close_all()

    async def _close(self, session: Session) -> None:
        await super()._close(session)
        await self._pool.done_with(session.browser)

    def _forget(self, id: str, caller: Caller) -> None:
        if self._settings.persistent_sessions:
            self._persistent.forget(caller.scoped(id))

    def _kept(self, id: str, caller: Caller) -> SessionState | None:
        if not self._settings.persistent_sessions:
            return None
        try:
            return self._persistent.find(caller.scoped(id))
        except FootlightError:
            return None

    def _kept_options(self, id: str, caller: Caller) -> SessionOptions:
        """As it was made, but for its credentials; scripts only where the server still runs some."""
        try:
            options = SessionOptions.from_json(self._persistent.find_options(caller.scoped(id)))
        except (FootlightError, ValueError) as error:
            logger.warning("the options of session %s could not be read: %s", id, error)
            return SessionOptions()
        return options if self._surroundings.script_evaluation else replace(options, init_scripts=())

    async def _keep(self, session: Session) -> None:
        """Write the state of a session that is to survive the server."""
        if not self._settings.persistent_sessions or not session.alive or session.kept_as is None:
            return
        try:
            async with asyncio.timeout(2.0):
                await session.dialogs.dismiss_all()
                self._persistent.save(session.kept_as, await storage.take(session))
                self._persistent.save_options(session.kept_as, session.options.to_json())
        except (Error, OSError, TimeoutError, FootlightError):
            logger.warning("the state of session %s could not be kept", session.id, exc_info=True)


SessionsFactory = Callable[[], Awaitable[Sessions]]
"""Gives the table when the browser is up; calls made before that wait here."""
