"""Named sessions. Each one has its own browser with a profile on disk.

The browser starts when a caller opens the session. The options of the session are saved with the profile, and
are the defaults when it is opened again.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from footlight.browser.driver.playwright_connection import on_disconnected
from footlight.browser.driver.shielding import shield_until_done
from footlight.browser.launch.launch_options import LaunchOptions, Measure, list_measures
from footlight.browser.launch.persistent_launch import DebugEndpoint, PersistentBrowser
from footlight.browser.launch.pool import PooledBrowser
from footlight.browser.launch.profiles import ProfileInfo, ProfileStore
from footlight.browser.sessions.session import Session
from footlight.browser.sessions.tables.session_table import SessionTable
from footlight.errors import (
    InvalidParameterError,
    MissingParameterError,
    ResourceExhaustedError,
    SessionNotFoundError,
)
from footlight.private_files import remove_folder

if TYPE_CHECKING:
    from footlight.browser.launch.persistent_launch import PersistentLauncher
    from footlight.browser.launch.profile_lock import ProfileLock
    from footlight.browser.sessions.environment import SessionEnvironment
    from footlight.caller import Caller
    from footlight.config import SessionSettings

__all__ = ["DebugEndpoint", "NamedSessions", "OpenedSession"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedSession:
    """A named session and how it was opened."""

    session: Session
    already_open: bool
    profile: ProfileInfo
    measures: tuple[Measure, ...] = ()
    """The stealth measures and whether each is set; empty without stealth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _SessionResources:
    """The resources that an open session owns and releases."""

    name: str
    store: ProfileStore
    lock: ProfileLock
    browser: PersistentBrowser


class NamedSessions(SessionTable):
    """Sessions by the names that their callers chose. Each named principal has separate sessions."""

    def __init__(
        self,
        settings: SessionSettings,
        *,
        max_browsers: int,
        launcher: PersistentLauncher,
        environment: SessionEnvironment,
        profiles: ProfileStore,
    ) -> None:
        super().__init__(settings)
        self._most = min(settings.max_sessions, max_browsers)
        self._launcher = launcher
        self._environment = environment
        self._profiles = profiles
        self._reserved = 0
        self._resources: dict[Session, _SessionResources] = {}
        self._ending: dict[str, asyncio.Event] = {}

    def own_id(self, id: str | None, caller: Caller) -> str:
        """Return the id: the name, followed by the owner if there are several owners. A name contains no `~`.

        Raises:
            MissingParameterError: no name is given. There is no default session.
        """
        if id is None:
            raise MissingParameterError(
                "sessionName: required", parameter="sessionName", suggestion="Give the name of the session."
            )
        whose = _owner_of(caller)
        return id if whose and id.endswith(whose) else f"{id}{whose}"

    async def open(self, name: str, options: LaunchOptions, *, caller: Caller) -> OpenedSession:
        """Return the session with this name. If it is not open, start its browser on its profile.

        Options that are not given keep their last values.

        Raises:
            InvalidParameterError: the name or an option is invalid, or the session is open with other
                options.
            ResourceExhaustedError: the profile or its port is in use, or all browsers are in use.
            PermissionDeniedError: the profile cannot be written.
            BrowserNotInstalledError: the browser is not installed, or does not start.
        """
        options.check()
        self._store(caller).check_name(name)

        async def discard(opened: OpenedSession) -> None:
            if not opened.already_open and self._sessions.get(opened.session.id) is opened.session:
                await self.close(name, caller=caller)

        return await shield_until_done(self._open(name, options, caller), discard=discard)

    async def _open(self, name: str, options: LaunchOptions, caller: Caller) -> OpenedSession:
        id = self.own_id(name, caller)
        async with self._one_at_a_time(id):
            session = self._sessions.get(id)
            if session is not None and not session.alive:
                await self._drop_crashed(session)
            elif session is not None and session.owner == caller.principal:
                return self._open_already(session, options)
            await self._wait_until_ended(id)
            resources = await self._start(name, options, caller)
            try:
                resources.store.save_options(name, resources.browser.launch.options)
                session = await self._make(id, resources, caller)
            except BaseException:
                await resources.browser.end()
                resources.lock.release()
                raise
        await self._check_still_there(id, caller)
        return self._describe_opened(session, already_open=False)

    def _open_already(self, session: Session, options: LaunchOptions) -> OpenedSession:
        in_force = self._resources[session].browser.launch.options
        if options.with_defaults(in_force) != in_force:
            raise InvalidParameterError(
                "launchOptions: the session is already open with other options, which it keeps",
                suggestion="Call session.close first, or leave launchOptions out.",
                parameter="launchOptions",
                inForce=in_force.to_json(),
            )
        session.touch()
        return self._describe_opened(session, already_open=True)

    def _describe_opened(self, session: Session, *, already_open: bool) -> OpenedSession:
        resources = self._resources[session]
        profile = resources.store.find(resources.name)
        assert profile is not None
        measures = list_measures(resources.browser.launch, shell=resources.browser.shell)
        return OpenedSession(session=session, already_open=already_open, profile=profile, measures=measures)

    async def _start(self, name: str, options: LaunchOptions, caller: Caller) -> _SessionResources:
        """Start a browser on the locked profile. A failed start is cleaned up."""
        if len(self._sessions) + self._reserved >= self._most:
            raise ResourceExhaustedError(
                f"All {self._most} browsers are in use",
                suggestion="Close a session that is not needed with session.close, then try again.",
                maxBrowsers=self._most,
            )
        store = self._store(caller)
        self._reserved += 1
        lock = None
        try:
            lock = store.lock(name)
            is_new = store.find(name) is None
            asked = options.with_defaults(store.load_options(name))
            folder = store.prepare(name)
            try:
                self._check_port(store, name)
                browser = await self._launcher.launch(folder, asked, port=store.port_of(name))
            except BaseException:
                if is_new:
                    await asyncio.to_thread(remove_folder, folder)
                raise
            return _SessionResources(name=name, store=store, lock=lock, browser=browser)
        except BaseException:
            if lock is not None:
                lock.release()
            raise
        finally:
            self._reserved -= 1

    def _check_port(self, store: ProfileStore, name: str) -> None:
        """Check that no other open session uses the same port. Two names can have the same port."""
        port = store.port_of(name)
        for resources in self._resources.values():
            if resources.browser.endpoint.port == port:
                raise ResourceExhaustedError(
                    f"port {port} is in use by the open session {resources.name}",
                    suggestion=f"Close {resources.name} first, or give another sessionName.",
                    port=port,
                    sessionName=resources.name,
                )

    async def _make(self, id: str, resources: _SessionResources, caller: Caller) -> Session:
        context = resources.browser.context
        assert context.browser is not None
        browser = PooledBrowser(context.browser, sessions=1)
        on_disconnected(browser.browser, browser.disconnected.set)
        await browser.watch_targets()
        session = await Session.open(
            id,
            owner=caller.principal,
            options=resources.browser.launch.context,
            browser=browser,
            environment=self._environment,
            context=context,
        )
        self._resources[session] = resources
        on_disconnected(browser.browser, lambda: self._on_gone(session))
        self._add(session)
        return session

    def _on_gone(self, session: Session) -> None:
        """Release the profile of a crashed browser."""
        if not session.closed:
            logger.warning("the browser of session %s is gone", session.id)
            self._resources[session].lock.release()

    async def delete(self, name: str, *, caller: Caller) -> None:
        """Close the session if it is open, and remove its profile from the disk.

        Raises:
            InvalidParameterError: the name is invalid.
            SessionNotFoundError: the profile does not exist.
            ResourceExhaustedError: another process has it open.
        """
        store = self._store(caller)
        store.check_name(name)
        await shield_until_done(self._delete(name, store, caller))

    async def _delete(self, name: str, store: ProfileStore, caller: Caller) -> None:
        id = self.own_id(name, caller)
        async with self._one_at_a_time(id):
            if self._find(id, caller) is not None:
                await self.close(name, caller=caller)
            await self._wait_until_ended(id)
            await asyncio.to_thread(store.delete, name)

    def profiles(self, *, caller: Caller) -> list[ProfileInfo]:
        """Return all profiles of the caller, sorted by name."""
        return self._store(caller).list()

    def endpoint(self, name: str, *, caller: Caller) -> DebugEndpoint:
        """Return the debugging endpoint of an open session.

        Raises:
            SessionNotFoundError: the session is not open.
        """
        return self._resources[self.find(name, caller=caller)].browser.endpoint

    def _store(self, caller: Caller) -> ProfileStore:
        return self._profiles.below(caller.scope_name(""))

    async def _make_again(self, id: str, caller: Caller) -> Session:
        """Raise SessionNotFoundError, because only callers open named sessions."""
        raise self._not_found_error(id, caller)

    def _not_found_error(self, id: str, caller: Caller) -> SessionNotFoundError:
        name = id.removesuffix(_owner_of(caller))
        if ended := self._find_ended(id, caller):
            why = ended.reason
        elif self._store(caller).find(name):
            why = "is not open; its profile is on disk"
        else:
            why = "does not exist"
        return SessionNotFoundError(
            f'Session "{name}" {why}', suggestion="Call session.open first.", sessionName=name
        )

    async def _close(self, session: Session) -> None:
        resources = self._resources[session]
        ended = self._ending[session.id] = asyncio.Event()
        try:
            await session.close()
            await resources.browser.end()
        finally:
            del self._resources[session]
            resources.lock.release()
            del self._ending[session.id]
            ended.set()

    async def _wait_until_ended(self, id: str) -> None:
        """Wait for the browser of a closed session, which leaves the table before its browser ends."""
        if ending := self._ending.get(id):
            await ending.wait()

    async def _keep(self, session: Session) -> None:
        """Do nothing: the profile is already on disk."""

    def _forget(self, id: str, caller: Caller) -> None:
        """Do nothing: the profile is kept."""


def _owner_of(caller: Caller) -> str:
    return caller.scope_name("").replace(".", "~", 1)
