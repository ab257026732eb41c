"""Sessions that have a name: each is a browser of its own over a profile that stays on disk.

The caller opens one, and says how; nothing is started before that. What it is opened with is kept with the
profile, and holds the next time, where nothing else is said.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from footlight.browser.launch_options import LaunchOptions, Measure, measures
from footlight.browser.persistent_launch import Endpoint, PersistentBrowser
from footlight.browser.pool import PooledBrowser
from footlight.browser.profiles import ProfileInfo, ProfileStore
from footlight.browser.session import Session
from footlight.browser.session_table import SessionTable
from footlight.browser.unbroken import unbroken
from footlight.errors import InvalidParameter, MissingParameter, ResourceExhausted, SessionNotFound

if TYPE_CHECKING:
    from footlight.browser.persistent_launch import PersistentLauncher
    from footlight.browser.profile_lock import ProfileLock
    from footlight.browser.session import SessionSurroundings
    from footlight.caller import Caller
    from footlight.config import SessionSettings

__all__ = ["Endpoint", "NamedSessions", "Opened"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A named session, and how it came to be open."""

    session: Session
    already_open: bool
    profile: ProfileInfo
    measures: tuple[Measure, ...] = ()
    """What stealth has set, and what not; empty where it was not asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """What an open session has, and gives back."""

    name: str
    store: ProfileStore
    lock: ProfileLock
    browser: PersistentBrowser


class NamedSessions(SessionTable):
    """By the names that their callers chose; those of a named principal are its own (R000-86, R000-90)."""

    def __init__(
        self,
        settings: SessionSettings,
        *,
        max_browsers: int,
        launcher: PersistentLauncher,
        surroundings: SessionSurroundings,
        profiles: ProfileStore,
    ) -> None:
        super().__init__(settings)
        self._most = min(settings.max_sessions, max_browsers)
        self._launcher = launcher
        self._surroundings = surroundings
        self._profiles = profiles
        self._reserved = 0
        self._held: dict[Session, _Held] = {}
        self._ending: dict[str, asyncio.Event] = {}

    def own_id(self, id: str | None, caller: Caller) -> str:
        """The name, and whose it is, where that must be told apart. `~` is in no name.

        Raises:
            MissingParameter: there is no default.
        """
        if id is None:
            raise MissingParameter(
                "sessionName: required", parameter="sessionName", suggestion="Give the name of the session."
            )
        whose = _whose(caller)
        return id if whose and id.endswith(whose) else f"{id}{whose}"

    async def open(self, name: str, options: LaunchOptions, *, caller: Caller) -> Opened:
        """The session of that name, with its browser started on its profile, unless it is open already.

        What `options` do not say is as it was the last time.

        Raises:
            InvalidParameter: the name or an option is wrong, or the session is open with other options.
            ResourceExhausted: the profile or its port is in use, or there are too many browsers.
            PermissionDenied: the profile cannot be written.
            BrowserNotInstalled: there is no browser, or it does not start.
        """
        options.check()
        self._store(caller).check_name(name)

        async def discard(opened: Opened) -> None:
            if not opened.already_open and self._sessions.get(opened.session.id) is opened.session:
                await self.close(name, caller=caller)

        return await unbroken(self._open(name, options, caller), discard=discard)

    async def _open(self, name: str, options: LaunchOptions, caller: Caller) -> Opened:
        id = self.own_id(name, caller)
        async with self._one_at_a_time(id):
            session = self._sessions.get(id)
            if session is not None and not session.alive:
                await self._bury(session)
            elif session is not None and session.owner == caller.principal:
                return self._open_already(session, options)
            await self._ended_wholly(id)
            held = await self._start(name, options, caller)
            try:
                held.store.save_options(name, held.browser.launch.options)
                session = await self._make(id, held, caller)
            except BaseException:
                await held.browser.end()
                held.lock.release()
                raise
        await self._check_still_there(id, caller)
        return self._opened(session, already_open=False)

    def _open_already(self, session: Session, options: LaunchOptions) -> Opened:
        in_force = self._held[session].browser.launch.options
        if options.over(in_force) != in_force:
            raise InvalidParameter(
                "launchOptions: the session is open already, with others; a browser that runs keeps its own",
                suggestion="Call session.close first, or leave launchOptions out.",
                parameter="launchOptions",
                inForce=in_force.to_json(),
            )
        session.touch()
        return self._opened(session, already_open=True)

    def _opened(self, session: Session, *, already_open: bool) -> Opened:
        held = self._held[session]
        profile = held.store.find(held.name)
        assert profile is not None
        told = measures(held.browser.launch, shell=held.browser.shell)
        return Opened(session=session, already_open=already_open, profile=profile, measures=told)

    async def _start(self, name: str, options: LaunchOptions, caller: Caller) -> _Held:
        """A browser on the profile, which is ours alone. What was begun in vain leaves nothing."""
        if len(self._sessions) + self._reserved >= self._most:
            raise ResourceExhausted(
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
            asked = options.over(store.load_options(name))
            folder = store.prepare(name)
            try:
                self._check_port(store, name)
                browser = await self._launcher.launch(folder, asked, port=store.port_of(name))
            except BaseException:
                if is_new:
                    shutil.rmtree(folder, ignore_errors=True)
                raise
            return _Held(name=name, store=store, lock=lock, browser=browser)
        except BaseException:
            if lock is not None:
                lock.release()
            raise
        finally:
            self._reserved -= 1

    def _check_port(self, store: ProfileStore, name: str) -> None:
        """Two names may come to one port."""
        port = store.port_of(name)
        for held in self._held.values():
            if held.browser.endpoint.port == port:
                raise ResourceExhausted(
                    f"port {port} is also that of the session {held.name}, which is open",
                    suggestion=f"Close {held.name} first, or give another sessionName.",
                    port=port,
                    sessionName=held.name,
                )

    async def _make(self, id: str, held: _Held, caller: Caller) -> Session:
        context = held.browser.context
        assert context.browser is not None
        browser = PooledBrowser(context.browser, sessions=1)
        browser.browser.on("disconnected", lambda _: browser.gone.set())
        await browser.watch_targets()
        session = await Session.open(
            id,
            owner=caller.principal,
            options=held.browser.launch.context,
            browser=browser,
            surroundings=self._surroundings,
            context=context,
        )
        self._held[session] = held
        browser.browser.on("disconnected", lambda _: self._on_gone(session))
        self._add(session)
        return session

    def _on_gone(self, session: Session) -> None:
        """Others may have the profile of a browser that crashed."""
        if not session.closed:
            logger.warning("the browser of session %s is gone", session.id)
            self._held[session].lock.release()

    async def delete(self, name: str, *, caller: Caller) -> None:
        """Close the session, if it is open, and remove its profile from the disk.

        Raises:
            InvalidParameter: the name is none.
            SessionNotFound: there is no such profile.
            ResourceExhausted: another process has it open.
        """
        store = self._store(caller)
        store.check_name(name)
        await unbroken(self._delete(name, store, caller))

    async def _delete(self, name: str, store: ProfileStore, caller: Caller) -> None:
        id = self.own_id(name, caller)
        async with self._one_at_a_time(id):
            if self._find(id, caller) is not None:
                await self.close(name, caller=caller)
            await self._ended_wholly(id)
            await asyncio.to_thread(store.delete, name)

    def profiles(self, *, caller: Caller) -> list[ProfileInfo]:
        """The caller's, by name, open or not."""
        return self._store(caller).list()

    def endpoint(self, name: str, *, caller: Caller) -> Endpoint:
        """Where debuggers find the browser of an open session. Raises SessionNotFound."""
        return self._held[self.find(name, caller=caller)].browser.endpoint

    def _store(self, caller: Caller) -> ProfileStore:
        return self._profiles.below(caller.scoped(""))

    async def _make_again(self, id: str, caller: Caller) -> Session:
        """Only its caller opens one."""
        raise self._not_found(id, caller)

    def _not_found(self, id: str, caller: Caller) -> SessionNotFound:
        name = id.removesuffix(_whose(caller))
        if ended := self._ended_of(id, caller):
            why = ended.reason
        elif self._store(caller).find(name):
            why = "is not open; its profile is on disk"
        else:
            why = "does not exist"
        return SessionNotFound(
            f'Session "{name}" {why}', suggestion="Call session.open first.", sessionName=name
        )

    async def _close(self, session: Session) -> None:
        held = self._held[session]
        ended = self._ending[session.id] = asyncio.Event()
        try:
            await session.close()
            await held.browser.end()
        finally:
            del self._held[session]
            held.lock.release()
            del self._ending[session.id]
            ended.set()

    async def _ended_wholly(self, id: str) -> None:
        """A session that is closed is out of the table at once, and its browser a moment later."""
        if ending := self._ending.get(id):
            await ending.wait()

    async def _keep(self, session: Session) -> None:
        """The profile is kept as it is."""

    def _forget(self, id: str, caller: Caller) -> None:
        """The profile is kept."""


def _whose(caller: Caller) -> str:
    return caller.scoped("").replace(".", "~", 1)
