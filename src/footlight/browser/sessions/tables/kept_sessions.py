"""Keep sessions on disk, so that they can be opened again after the end of their server."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from footlight.browser.actions.dialogs import find_blocking_dialog
from footlight.browser.context.options import SessionOptions
from footlight.browser.context.state_store import StateStore
from footlight.browser.driver.playwright_api import Error
from footlight.browser.sessions.tables.session_state import SessionLock, capture_state, lock_session
from footlight.caller import DEFAULT_SESSION
from footlight.errors import FootlightError, ResourceExhaustedError, SessionNotFoundError

if TYPE_CHECKING:
    from footlight.browser.context.storage_state import SessionState
    from footlight.browser.sessions.session import Session
    from footlight.caller import Caller
    from footlight.config import Settings

__all__ = ["KeptSessions"]

logger = logging.getLogger(__name__)

SAVE_SECONDS = 2.0
RESERVED_REFS = 1_000
"""How many refs are reserved at a time, so that not every snapshot writes a file."""

_ID = re.compile(r"([0-9a-f]{8}\.)?[^.]+")
"""A session id, which may begin with the name of a worker in a cluster."""


class KeptSessions:
    """The states, options and locks of the sessions in a folder, which may belong to several servers.

    Nothing is kept unless `session.persistentSessions` is on.
    """

    def __init__(self, settings: Settings, *, locked: bool, mask: Callable[[str], str] = str) -> None:
        """Open the folder. Without `locked`, something else decides which server has a session open.

        `mask` removes secrets from a text.
        """
        self._store = StateStore(settings.session.state_directory / "sessions")
        self._enabled = settings.session.persistent_sessions
        self._locked = locked
        self._mask = mask
        self._script_evaluation = settings.security.enable_script_evaluation
        self._reserved_refs: WeakKeyDictionary[Session, int] = WeakKeyDictionary()
        """By session: the number of the first ref that it would use after it is reopened."""
        self._locks: WeakKeyDictionary[Session, SessionLock] = WeakKeyDictionary()

    def includes(self, session: Session) -> bool:
        """Return whether the session survives the end of the server."""
        return self._enabled and session.kept_as is not None

    def list_ids(self, caller: Caller) -> Sequence[str]:
        """Return the ids of the principal's kept sessions, open or not."""
        if not self._enabled:
            return ()
        whose = caller.scope_name("")
        # The names of a principal's sessions end with its suffix.
        ids = (name.removesuffix(whose) for name in self._store.names() if name.endswith(whose))
        return [
            id
            for id in ids
            if _ID.fullmatch(id) and (id != DEFAULT_SESSION or caller.default_session == DEFAULT_SESSION)
        ]

    def hold(self, id: str, caller: Caller) -> SessionLock:
        """Lock a kept session while it is opened or forgotten.

        A default session that is open elsewhere is opened as well, but is not kept.

        Raises:
            ResourceExhaustedError: another server has this session open.
        """
        is_default = id == caller.default_session
        if not self._enabled or not self._locked:
            return SessionLock()
        if is_default and not caller.default_outlives_connection:
            return SessionLock()
        lock = lock_session(self._store.lock_path(caller.scope_name(id)))
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

    def keep_lock(self, session: Session, lock: SessionLock) -> None:
        """Hold the lock until `release`. A session that is open elsewhere is not kept."""
        if lock.elsewhere is not None:
            session.kept_as = None
        self._locks[session] = lock.keep()

    def release(self, session: Session) -> None:
        """Let other servers open the session, which has ended here."""
        if lock := self._locks.pop(session, None):
            lock.release()

    def find_state(self, id: str, caller: Caller) -> SessionState | None:
        """Return the state of a kept session, or None. A default session starts again without a broken one.

        Raises:
            SessionNotFoundError: the state cannot be read.
        """
        if not self._enabled:
            return None
        try:
            return self._store.find(caller.scope_name(id))
        except FootlightError as error:
            if id == caller.default_session:
                logger.warning("session %s starts again without its state: %s", id, error.message)
            elif id in self.list_ids(caller):
                raise SessionNotFoundError(
                    f'Session "{id}" was kept, but cannot be opened again: {error.message}', sessionId=id
                ) from error
            return None

    def find_options(self, id: str, caller: Caller) -> tuple[SessionOptions, int]:
        """Return the options of a kept session, without credentials, and the number of the first unused ref.

        Init scripts are dropped unless the server still allows scripts.
        """
        try:
            details = self._store.find_details(caller.scope_name(id))
            options = SessionOptions.from_json(details.get("options", {}))
            next_ref = int(details.get("nextRef", 1))
        except (FootlightError, TypeError, ValueError) as error:
            logger.warning("the options of session %s could not be read: %s", id, error)
            return SessionOptions(), 1
        return options if self._script_evaluation else replace(options, init_scripts=()), next_ref

    def forget(self, id: str, caller: Caller) -> None:
        if self._enabled:
            self._store.forget(caller.scope_name(id))

    def reserve_refs(self, session: Session) -> None:
        """Ensure that the refs that were used so far are not reused after a crash of this process.

        Raises:
            FootlightError: the details of the session cannot be written.
        """
        if session.ref_numbers.next > self._reserved_refs.get(session, 0):
            self._save_options(session, session.ref_numbers.next + RESERVED_REFS)

    async def save_between_calls(self, session: Session) -> None:
        """Save an open session, so that it can be reopened after a crash of this process.

        The session must not be in use. With an open dialog it is not saved.
        """
        page = session.page_table.current
        if session.alive and not (page is not None and await find_blocking_dialog(page)):
            await self._save(session)

    async def save_before_end(self, session: Session) -> None:
        """Save a session that is about to end, if it is kept. Its dialogs are dismissed."""
        if self.includes(session) and session.alive:
            await session.dialogs.dismiss_all()
            await self._save(session)

    async def _save(self, session: Session) -> None:
        """Save the state and the options of a session. Failures are only logged."""
        assert session.kept_as is not None
        try:
            async with asyncio.timeout(SAVE_SECONDS):
                self._store.save(session.kept_as, await capture_state(session))
                self._save_options(session, session.ref_numbers.next)
        except (Error, OSError, TimeoutError, FootlightError):
            logger.warning("the state of session %s could not be saved", session.id, exc_info=True)

    def _save_options(self, session: Session, next_ref: int) -> None:
        assert session.kept_as is not None
        details = {"options": session.options.to_json(self._mask), "nextRef": next_ref}
        self._store.save_details(session.kept_as, details)
        self._reserved_refs[session] = next_ref
