"""The sessions of the app under test: at most one app runs, launched and ended with its services."""

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
from footlight.apps.nodes import RefMap
from footlight.apps.observation import AppObservation, observe_app, wait_for_screen
from footlight.apps.profile import BuildRequest
from footlight.browser.context.options import SessionOptions
from footlight.browser.driver.deadline import Deadline
from footlight.browser.driver.playwright_api import on_disconnected
from footlight.browser.driver.shielding import run_detached
from footlight.browser.launch.extensions import read_extension
from footlight.browser.launch.pool import PooledBrowser
from footlight.browser.sessions.session import Session
from footlight.browser.sessions.session_table import CRASHED, SessionTable
from footlight.errors import (
    BrowserCrashed,
    FootlightError,
    InvalidConfig,
    InvalidParameter,
    LaunchFailed,
    NoActiveSession,
    SessionAlreadyRunning,
)

if TYPE_CHECKING:
    from footlight.apps.profile import AppProfile, LaunchRequest, Services
    from footlight.browser.launch.extension_launch import ExtensionBrowser, ExtensionLauncher
    from footlight.browser.launch.extensions import UnpackedExtension
    from footlight.browser.page.page import Page
    from footlight.browser.sessions.session import SessionEnvironment
    from footlight.caller import Caller
    from footlight.config import SessionSettings
    from footlight.knowledge.store import KnowledgeStore

__all__ = ["AppLaunch", "AppSessions", "CleanUp", "RunningApp"]

logger = logging.getLogger(__name__)

READY_SECONDS = 60.0
"""Time for an app to show a screen that its profile knows."""
OWN_HOME_SECONDS = 10.0
"""Time for an app that shows a screen to open its own home page."""

Stage = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class AppLaunch:
    """Options of a launch. Without `extension_path`, the build in the repository is launched."""

    request: LaunchRequest
    extension_path: Path | None = None
    auto_build: bool = True
    slow_mo_ms: int = 0


@dataclass(slots=True, kw_only=True, eq=False)
class RunningApp:
    """The active session: the app, its services, and what the caller knows of it."""

    session: Session
    app: ExtensionApp
    profile: AppProfile
    services: Services
    browser: ExtensionBrowser
    folder: Path
    """The folder of the extension."""
    last_look: AppObservation | None = None
    """The last observation, until `take_look` returns it."""
    _refs: WeakKeyDictionary[Page, RefMap] = field(default_factory=WeakKeyDictionary[Any, RefMap])
    _sent: WeakKeyDictionary[Page, AppObservation] = field(
        default_factory=WeakKeyDictionary[Any, AppObservation]
    )
    _resources: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)

    def refs_of(self, page: Page) -> RefMap:
        """Return the refs of a page; they are not valid in other pages."""
        return self._refs.setdefault(page, RefMap())

    async def look(self, page: Page, deadline: Deadline) -> AppObservation:
        """Observe a page.

        Raises:
            FootlightError: The page does not answer, or is closed.
        """
        self.last_look = await observe_app(self.app, self.profile, self.services, page, deadline)
        return self.last_look

    def last_sent(self, page: Page) -> AppObservation | None:
        """Return the last observation of a page that the caller received."""
        return self._sent.get(page)

    def mark_sent(self, page: Page, look: AppObservation) -> None:
        self._sent[page] = look

    def take_look(self) -> AppObservation | None:
        look, self.last_look = self.last_look, None
        return look

    async def end(self) -> None:
        await self._resources.aclose()


@dataclass(frozen=True, slots=True)
class CleanUp:
    """The result of a clean-up: whether it ended anything, and the ended session if there was one."""

    any: bool
    session: Session | None = None


class AppSessions(SessionTable):
    """The table of sessions of the app: at most one for all callers."""

    def __init__(
        self,
        settings: SessionSettings,
        *,
        profile: AppProfile,
        prefix: str,
        repository: Path,
        launcher: ExtensionLauncher,
        environment: SessionEnvironment,
        headless: bool,
        knowledge: KnowledgeStore | None = None,
    ) -> None:
        """Create the table. Steps are recorded in `knowledge`."""
        super().__init__(settings)
        self.profile = profile
        self._prefix = prefix
        self.repository = repository
        self.headless = headless
        self.knowledge = knowledge
        self._launcher = launcher
        self._environment = environment
        self._running: RunningApp | None = None
        self._launching: asyncio.Task[RunningApp] | None = None
        self._launching_for: Caller | None = None
        self._builds_without_request = set[tuple[Path, int]]()
        """Builds that never request their state, by folder and time of their manifest."""
        self._building = asyncio.Lock()
        self._ending = asyncio.Lock()
        """Held until a session has ended completely, because its ports are free only then."""

    # Building

    async def build(self, build_type: str, *, force: bool, stage: Stage) -> Path:
        """Build the extension and return its folder. One build at a time.

        Raises:
            DependenciesMissing, BuildFailed: The error says what to install, or has the end of the build
                output.
        """
        if self.profile.build is None:
            return self._get_build_folder()
        request = BuildRequest(repository=self.repository, build_type=build_type, force=force, stage=stage)
        async with self._building:
            return await self.profile.build(request)

    def _get_build_folder(self) -> Path:
        """Return the folder of the existing build.

        Raises:
            LaunchFailed: There is no build.
        """
        folder = self.repository / self.profile.dist
        if not (folder / "manifest.json").is_file():
            raise LaunchFailed(
                f"There is no build of {self.profile.name} in {folder}",
                suggestion="Build it first, launch with autoBuild: true, or give extensionPath.",
                folder=str(folder),
            )
        return folder

    # Launching

    async def launch(self, launch: AppLaunch, *, caller: Caller, stage: Stage) -> RunningApp:
        """Launch the app. A failed launch leaves no process behind.

        Raises:
            SessionAlreadyRunning: An app is running or being launched.
            InvalidConfig, PortInUse, DependenciesMissing, BuildFailed, LaunchFailed: The app did not start.
        """
        await self._check_not_running(caller)
        launching = self._launching = asyncio.create_task(self._launch(launch, caller, stage))
        self._launching_for = caller
        launching.add_done_callback(self._on_launched)
        try:
            return await asyncio.shield(launching)
        except asyncio.CancelledError:
            if launching.cancelled():
                raise LaunchFailed("The launch was ended by a clean-up") from None
            run_detached(self._take_back(launching))
            raise

    def _on_launched(self, _: object) -> None:
        self._launching = self._launching_for = None

    async def _take_back(self, launching: asyncio.Task[RunningApp]) -> None:
        """Cancel a launch that no caller waits for any more, or end the app if it is already running."""
        launching.cancel()
        await asyncio.wait([launching])
        if not launching.cancelled() and launching.exception() is None:
            await self._discard(launching.result())

    async def _check_not_running(self, caller: Caller) -> None:
        if self._running is not None and not self._running.session.alive:
            await self._end_crashed(self._running.session)
        async with self._ending:
            running = self._running
        if running is None and self._launching is None:
            return
        mine = running is not None and running.session.owner == caller.principal
        raise SessionAlreadyRunning(
            f"{self.profile.name} is already running"
            if running
            else f"{self.profile.name} is being launched",
            sessionId=running.session.id if running and mine else None,
        )

    async def _discard(self, running: RunningApp) -> None:
        if self._sessions.pop(running.session.id, None):
            await self._close(running.session)

    async def _launch(self, launch: AppLaunch, caller: Caller, stage: Stage) -> RunningApp:
        async with contextlib.AsyncExitStack() as stack:
            # Fast checks come before the build, which takes minutes.
            self._launcher.find()
            found_folder = self._find_folder(launch)
            extension = read_extension(found_folder) if found_folder else None
            stage("starting the services of the app")
            services = await self._start_services(stack, launch.request)
            folder = found_folder or await self._build_for_launch(stage)
            browser, app = await self._start_app(
                stack, extension or read_extension(folder), launch, caller, services, stage
            )
            session = app.session
            if failed := services.find_failure():
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
            on_disconnected(browser.context.browser, lambda: run_detached(self._end_crashed(session)))
            return running

    async def _start_app(
        self,
        stack: contextlib.AsyncExitStack,
        extension: UnpackedExtension,
        launch: AppLaunch,
        caller: Caller,
        services: Services,
        stage: Stage,
    ) -> tuple[ExtensionBrowser, ExtensionApp]:
        """Start the browser; start it again if the app needs its state in its storage."""
        build = (extension.folder, extension.modified_ns)
        storage = services.state_to_store() if build in self._builds_without_request else None
        while True:
            own = await stack.enter_async_context(contextlib.AsyncExitStack())
            stage("starting the browser")
            browser = await self._launcher.launch(
                [extension],
                SessionOptions(viewport=(1280, 800)),
                headless=self.headless,
                slow_mo_ms=launch.slow_mo_ms,
                storage=storage,
            )
            own.push_async_callback(browser.end)
            app = await self._open_app(own, browser, caller, services, stage)
            if storage is not None or (storage := services.state_to_store()) is None:
                return browser, app
            self._builds_without_request.add(build)
            await own.aclose()

    async def _open_app(
        self,
        stack: contextlib.AsyncExitStack,
        browser: ExtensionBrowser,
        caller: Caller,
        services: Services,
        stage: Stage,
    ) -> ExtensionApp:
        """Open a session and the home page of the app.

        Raises:
            LaunchFailed: The home page does not open.
            BrowserCrashed: The browser ended meanwhile.
        """
        try:
            session = await self._open_session(browser, caller)
            stack.push_async_callback(session.close)
            app = ExtensionApp(
                session,
                browser.extensions[0],
                home=self.profile.home,
                notification=self.profile.notification,
            )
            stage(f"waiting for {self.profile.name}")
            page = await app.open_home(Deadline.after(READY_SECONDS * 1000))
            await wait_for_screen(app, self.profile, page, seconds=READY_SECONDS)
            if services.opens_home():
                # Otherwise it would come to the front during a call.
                await app.wait_for_double(page, Deadline.after(OWN_HOME_SECONDS * 1000))
            await app.close_doubles(page)
            session.actions.take_events()  # Pages that opened during the launch are not events of a call.
        except Exception as error:
            if await browser.has_crashed():
                raise BrowserCrashed(f"The browser crashed while {self.profile.name} was opening") from error
            raise
        return app

    async def _end_crashed(self, session: Session) -> None:
        """End the services of a crashed browser without waiting for the next call."""
        if self._sessions.get(session.id) is session:
            logger.warning("the browser of session %s is gone", session.id)
            await self._drop_crashed(session)

    async def _start_services(self, stack: contextlib.AsyncExitStack, request: LaunchRequest) -> Services:
        try:
            return await stack.enter_async_context(self.profile.services(request))
        except FootlightError:
            raise
        except Exception as error:
            # The services are foreign code, which may raise anything.
            logger.warning("the services of %s did not start", self.profile.name, exc_info=True)
            raise LaunchFailed(
                f"The services of {self.profile.name} did not start: {type(error).__name__}: {error}"
            ) from error

    def _find_folder(self, launch: AppLaunch) -> Path | None:
        """Return the folder of the extension, or None if it may have to be built.

        Raises:
            InvalidConfig, LaunchFailed: The given or built folder does not exist.
        """
        if launch.extension_path is not None:
            path = self.repository / launch.extension_path
            if not path.is_dir():
                raise InvalidConfig(
                    f"extensionPath: {launch.extension_path} is not a folder", parameter="extensionPath"
                )
            return path
        return None if launch.auto_build else self._get_build_folder()

    async def _build_for_launch(self, stage: Stage) -> Path:
        stage(f"building {self.profile.name}")
        return await self.build("build:test", force=False, stage=stage)

    async def _open_session(self, browser: ExtensionBrowser, caller: Caller) -> Session:
        context = browser.context
        assert context.browser is not None
        pooled = PooledBrowser(context.browser, sessions=1)
        on_disconnected(pooled.browser, pooled.disconnected.set)
        await pooled.watch_targets()
        return await Session.open(
            f"{self._prefix}-{secrets.token_hex(8)}",
            owner=caller.principal,
            options=browser.options,
            browser=pooled,
            environment=self._environment,
            context=context,
        )

    # Using

    def running(self, *, caller: Caller) -> RunningApp:
        """Return the running app of the caller.

        Raises:
            NoActiveSession: No app is running, or it belongs to another principal.
        """
        running = self.find_running(caller=caller)
        if running is None:
            raise self._not_found_error("", caller)
        return running

    def find_running(self, *, caller: Caller) -> RunningApp | None:
        running = self._running
        return running if running and running.session.owner == caller.principal else None

    def active_id(self, *, caller: Caller) -> str | None:
        running = self.find_running(caller=caller)
        return running.session.id if running else None

    def own_id(self, id: str | None, caller: Caller) -> str:
        """Return `id`, or the id of the running session if it is None."""
        return id or self.active_id(caller=caller) or ""

    async def clean_up(self, id: str | None, *, caller: Caller) -> CleanUp:
        """End the running app, and a launch in progress.

        Raises:
            InvalidParameter: The running session is not the named one.
        """
        launching = self._launching if self._launching_for == caller and id is None else None
        if launching is not None:
            launching.cancel()
            await asyncio.wait([launching])
        running = self.find_running(caller=caller)
        if running is None:
            return CleanUp(launching is not None)
        if id is not None and id != running.session.id:
            raise InvalidParameter(
                f"sessionId: {id} is not running; {running.session.id} is",
                suggestion="Leave sessionId out, or give the id of the running session.",
                parameter="sessionId",
            )
        await self.close(running.session.id, caller=caller)
        return CleanUp(True, running.session)

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
        """Refuse: only `launch` starts an app."""
        raise self._not_found_error(id, caller)

    def _not_found_error(self, id: str, caller: Caller) -> NoActiveSession:
        """Return the error that says how the named session, or else the last one, ended."""
        id = id or self._find_last_ended(caller) or ""
        ended = self._find_ended(id, caller)
        why = f"{self.profile.name} is not running"
        if ended and ended.reason == CRASHED:
            why += f": the browser of session {id} crashed, or was killed"
        elif ended:
            why += f": session {id} {ended.reason}"
        return NoActiveSession(why, crashed=True if ended and ended.reason == CRASHED else None)

    def _find_last_ended(self, caller: Caller) -> str | None:
        return next((id for id in reversed(self._ended) if self._find_ended(id, caller)), None)

    async def _keep(self, session: Session) -> None:
        """Keep nothing: a session of an app does not survive a restart."""

    def _forget(self, id: str, caller: Caller) -> None:
        """Do nothing: no session is kept."""
