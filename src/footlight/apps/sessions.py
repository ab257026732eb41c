"""The one app that runs: launched with all that it needs, and ended with all of it (R002-8, R002-40)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from footlight.apps.extension import ExtensionApp
from footlight.apps.observing import Look, look_at_app, wait_for_screen
from footlight.apps.profile import BuildRequest
from footlight.apps.ref_map import RefMap
from footlight.browser.deadline import Deadline
from footlight.browser.extensions import read_extension
from footlight.browser.options import SessionOptions
from footlight.browser.pool import PooledBrowser
from footlight.browser.session import Session
from footlight.browser.session_table import SessionTable
from footlight.browser.unbroken import detached
from footlight.errors import (
    FootlightError,
    InvalidConfig,
    InvalidParameter,
    LaunchFailed,
    NoActiveSession,
    SessionAlreadyRunning,
)

if TYPE_CHECKING:
    from footlight.apps.profile import AppProfile, LaunchRequest, Services
    from footlight.browser.extension_launch import ExtensionBrowser, ExtensionLauncher
    from footlight.browser.page import Page
    from footlight.browser.session import SessionSurroundings
    from footlight.caller import Caller
    from footlight.config import SessionSettings
    from footlight.knowledge.store import KnowledgeStore

__all__ = ["AppSessions", "CleanedUp", "Launch", "RunningApp"]

logger = logging.getLogger(__name__)

READY_SECONDS = 60.0
"""How long an app may take to show a screen that its profile knows."""
OWN_HOME_SECONDS = 10.0
"""How long an app that shows a screen may take to open its own page by itself."""

Stage = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How an app is launched. Without `extension_path` it is the build in the repository."""

    request: LaunchRequest
    extension_path: Path | None = None
    auto_build: bool = True
    slow_mo_ms: int = 0


@dataclass(slots=True, kw_only=True, eq=False)
class RunningApp:
    """The active session: the app, what runs beside it, and what was told of it."""

    session: Session
    app: ExtensionApp
    profile: AppProfile
    services: Services
    browser: ExtensionBrowser
    folder: Path
    """The extension's."""
    looked: Look | None = None
    """The last look, until somebody takes it."""
    _refs: WeakKeyDictionary[Page, RefMap] = field(default_factory=WeakKeyDictionary[Any, RefMap])
    _told: WeakKeyDictionary[Page, Look] = field(default_factory=WeakKeyDictionary[Any, Look])
    _resources: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)

    def refs_of(self, page: Page) -> RefMap:
        """A page's own: a ref of one stands for nothing in another."""
        return self._refs.setdefault(page, RefMap())

    async def look(self, page: Page, deadline: Deadline) -> Look:
        """Raises FootlightError where the page gives no answer, or is gone."""
        self.looked = await look_at_app(self.app, self.profile, self.services, page, deadline)
        return self.looked

    def told_of(self, page: Page) -> Look | None:
        """What a caller was told of it last."""
        return self._told.get(page)

    def tell(self, page: Page, look: Look) -> None:
        self._told[page] = look

    def take_look(self) -> Look | None:
        looked, self.looked = self.looked, None
        return looked

    async def end(self) -> None:
        await self._resources.aclose()


@dataclass(frozen=True, slots=True)
class CleanedUp:
    """Whether there was anything to end, and the session that it was, if it had come so far."""

    any: bool
    session: Session | None = None


class AppSessions(SessionTable):
    """At most one, whoever asks."""

    def __init__(
        self,
        settings: SessionSettings,
        *,
        profile: AppProfile,
        prefix: str,
        repository: Path,
        launcher: ExtensionLauncher,
        surroundings: SessionSurroundings,
        headless: bool,
        knowledge: KnowledgeStore | None = None,
    ) -> None:
        """`headless` is whether no window is wanted; `knowledge` is where the steps are written down."""
        super().__init__(settings)
        self.profile = profile
        self._prefix = prefix
        self.repository = repository
        self.headless = headless
        self.knowledge = knowledge
        self._launcher = launcher
        self._surroundings = surroundings
        self._running: RunningApp | None = None
        self._launching: asyncio.Task[RunningApp] | None = None
        self._launching_for: Caller | None = None
        self._building = asyncio.Lock()
        self._ending = asyncio.Lock()
        """Held until all of a session is gone: its ports are free only then."""

    # Building

    async def build(self, build_type: str, *, force: bool, stage: Stage) -> Path:
        """The built extension. One build at a time.

        Raises:
            DependenciesMissing, BuildFailed: with what to install, or the end of what the build said.
        """
        if self.profile.build is None:
            return self._built()
        request = BuildRequest(repository=self.repository, build_type=build_type, force=force, stage=stage)
        async with self._building:
            return await self.profile.build(request)

    def _built(self) -> Path:
        """Raises LaunchFailed where there is no build."""
        folder = self.repository / self.profile.dist
        if not (folder / "manifest.json").is_file():
            raise LaunchFailed(
                f"There is no build of {self.profile.name} in {folder}",
                suggestion="Build it first, launch with autoBuild: true, or give extensionPath.",
                folder=str(folder),
            )
        return folder

    # Launching

    async def launch(self, launch: Launch, *, caller: Caller, stage: Stage) -> RunningApp:
        """Start the app. What was begun in vain leaves nothing (R002-40).

        Raises:
            SessionAlreadyRunning: another runs, or is being launched.
            InvalidConfig, PortInUse, DependenciesMissing, BuildFailed, LaunchFailed: why it did not start.
        """
        await self._check_none_runs(caller)
        launching = self._launching = asyncio.create_task(self._launch(launch, caller, stage))
        self._launching_for = caller
        launching.add_done_callback(self._on_launched)
        try:
            return await asyncio.shield(launching)
        except asyncio.CancelledError:
            if launching.cancelled():
                raise LaunchFailed("The launch was ended by a clean-up") from None
            detached(self._take_back(launching))
            raise

    def _on_launched(self, _: object) -> None:
        self._launching = self._launching_for = None

    async def _take_back(self, launching: asyncio.Task[RunningApp]) -> None:
        """Nobody waits for it any more; it may be done by now all the same."""
        launching.cancel()
        await asyncio.wait([launching])
        if not launching.cancelled() and launching.exception() is None:
            await self._discard(launching.result())

    async def _check_none_runs(self, caller: Caller) -> None:
        if self._running is not None and not self._running.session.alive:
            await self._end_crashed(self._running.session)
        async with self._ending:
            running = self._running
        if running is None and self._launching is None:
            return
        mine = running is not None and running.session.owner == caller.principal
        raise SessionAlreadyRunning(
            f"{self.profile.name} runs already" if running else f"{self.profile.name} is being launched",
            sessionId=running.session.id if running and mine else None,
        )

    async def _discard(self, running: RunningApp) -> None:
        if self._sessions.pop(running.session.id, None):
            await self._close(running.session)

    async def _launch(self, launch: Launch, caller: Caller, stage: Stage) -> RunningApp:
        async with contextlib.AsyncExitStack() as stack:
            folder = await self._folder(launch, stage)
            extension = read_extension(folder)
            stage("starting what the app needs")
            services = await self._start_services(stack, launch.request)
            stage("starting the browser")
            options = SessionOptions(viewport=(1280, 800))
            browser = await self._launcher.launch(
                [extension], options, headless=self.headless, slow_mo_ms=launch.slow_mo_ms
            )
            stack.push_async_callback(browser.end)
            session = await self._open_session(browser, caller)
            stack.push_async_callback(session.close)
            app = ExtensionApp(
                session,
                browser.extensions[0],
                home=self.profile.home,
                notification=self.profile.notification,
            )
            stage(f"waiting for {self.profile.name}")
            await self._get_ready(app, services)
            if failed := services.failed():
                raise LaunchFailed(failed)
            running = RunningApp(
                session=session,
                app=app,
                profile=self.profile,
                services=services,
                browser=browser,
                folder=folder,
                _resources=stack.pop_all(),
            )
            self._running = running
            self._add(session)
            assert browser.context.browser is not None
            browser.context.browser.on("disconnected", lambda _: detached(self._end_crashed(session)))
            return running

    async def _end_crashed(self, session: Session) -> None:
        """What runs beside a browser that is gone ends with it, whether or not anybody calls."""
        if self._sessions.get(session.id) is session:
            logger.warning("the browser of session %s is gone", session.id)
            await self._bury(session)

    async def _start_services(self, stack: contextlib.AsyncExitStack, request: LaunchRequest) -> Services:
        try:
            return await stack.enter_async_context(self.profile.services(request))
        except FootlightError:
            raise
        except Exception as error:
            # It is another's code, which may fail in any way.
            logger.warning("what %s needs did not start", self.profile.name, exc_info=True)
            raise LaunchFailed(
                f"What {self.profile.name} needs did not start: {type(error).__name__}: {error}"
            ) from error

    async def _folder(self, launch: Launch, stage: Stage) -> Path:
        if launch.extension_path is not None:
            path = self.repository / launch.extension_path
            if not path.is_dir():
                raise InvalidConfig(
                    f"extensionPath: {launch.extension_path} is not a folder", parameter="extensionPath"
                )
            return path
        if not launch.auto_build:
            return self._built()
        stage(f"building {self.profile.name}")
        return await self.build("build:test", force=False, stage=stage)

    async def _open_session(self, browser: ExtensionBrowser, caller: Caller) -> Session:
        context = browser.context
        assert context.browser is not None
        pooled = PooledBrowser(context.browser, sessions=1)
        pooled.browser.on("disconnected", lambda _: pooled.gone.set())
        await pooled.watch_targets()
        return await Session.open(
            f"{self._prefix}-{secrets.token_hex(8)}",
            owner=caller.principal,
            options=browser.options,
            browser=pooled,
            surroundings=self._surroundings,
            context=context,
        )

    async def _get_ready(self, app: ExtensionApp, services: Services) -> None:
        page = await app.open_home(Deadline.after(READY_SECONDS * 1000))
        await wait_for_screen(app, self.profile, page, seconds=READY_SECONDS)
        if services.opens_home():
            # It would come to the front in the midst of a call.
            await app.wait_for_double(page, Deadline.after(OWN_HOME_SECONDS * 1000))
        await app.close_doubles(page)
        app.session.take_events()  # What opened and closed until here is no news of a call.

    # Using

    def running(self, *, caller: Caller) -> RunningApp:
        """Raises NoActiveSession where none runs, or it is another principal's."""
        running = self.find_running(caller=caller)
        if running is None:
            raise self._not_found("", caller)
        return running

    def find_running(self, *, caller: Caller) -> RunningApp | None:
        running = self._running
        return running if running and running.session.owner == caller.principal else None

    def active_id(self, *, caller: Caller) -> str | None:
        running = self.find_running(caller=caller)
        return running.session.id if running else None

    def own_id(self, id: str | None, caller: Caller) -> str:
        """Whoever names none means the one that runs."""
        return id or self.active_id(caller=caller) or ""

    async def clean_up(self, id: str | None, *, caller: Caller) -> CleanedUp:
        """End what runs, and what is being launched.

        Raises:
            InvalidParameter: another session runs than the one that is named.
        """
        launching = self._launching if self._launching_for == caller and id is None else None
        if launching is not None:
            launching.cancel()
            await asyncio.wait([launching])
        running = self.find_running(caller=caller)
        if running is None:
            return CleanedUp(launching is not None)
        if id is not None and id != running.session.id:
            raise InvalidParameter(
                f"sessionId: {id} does not run; {running.session.id} does",
                suggestion="Leave sessionId out, or give that of the session that runs.",
                parameter="sessionId",
            )
        await self.close(running.session.id, caller=caller)
        return CleanedUp(True, running.session)

    async def close_all(self) -> None:
        if self._launching is not None:
            self._launching.cancel()
            await asyncio.wait([self._launching])
        await super().close_all()

    async def _close(self, session: Session) -> None:
        async with self._ending:
            running, self._running = self._running, None
            await (running.end() if running is not None else session.close())

    async def _make_again(self, id: str, caller: Caller) -> Session:
        """Only its caller launches one."""
        raise self._not_found(id, caller)

    def _not_found(self, id: str, caller: Caller) -> NoActiveSession:
        ended = self._ended_of(id, caller)
        why = f"The session {id} {ended.reason}" if ended else f"{self.profile.name} is not running"
        return NoActiveSession(why)

    async def _keep(self, session: Session) -> None:
        """Nothing of it survives."""

    def _forget(self, id: str, caller: Caller) -> None:
        """Nothing of it is kept."""
