"""Start an app under test, with its build, its services, its browser and its home page."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from footlight.app_errors import InvalidConfigError
from footlight.apps.extension import ExtensionApp
from footlight.apps.nodes import RefMap
from footlight.apps.observation import AppObservation, observe_app, wait_for_screen
from footlight.apps.profile import BuildRequest
from footlight.browser.context.options import SessionOptions
from footlight.browser.driver.deadline import Deadline
from footlight.browser.driver.playwright_connection import on_disconnected
from footlight.browser.launch.extensions import read_extension
from footlight.browser.launch.pool import PooledBrowser
from footlight.browser.sessions.session import Session
from footlight.errors import BrowserCrashedError, FootlightError, LaunchFailedError
from footlight.safe_text import cut_text

if TYPE_CHECKING:
    from footlight.apps.profile import AppProfile, LaunchRequest, Services
    from footlight.browser.launch.extension_launch import ExtensionBrowser, ExtensionLauncher
    from footlight.browser.launch.extensions import UnpackedExtension
    from footlight.browser.page.page import Page
    from footlight.browser.sessions.environment import SessionEnvironment
    from footlight.caller import Caller

__all__ = ["AppLaunch", "AppStarter", "RunningApp", "Stage"]

logger = logging.getLogger(__name__)

READY_SECONDS = 60.0
"""The time limit for an app to show a screen of its profile."""
OWN_HOME_SECONDS = 10.0
"""The time limit for an app to open its home page itself, after it shows a screen."""

MAX_SHOWN = 300
"""The maximum number of characters of a path in a message."""

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
    """The active session: the app, its services, and the refs and observations that the caller has."""

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
        """Return the refs of a page. They are not valid in other pages."""
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


class AppStarter:
    """Starts apps of one profile, and builds their extension."""

    def __init__(
        self,
        *,
        profile: AppProfile,
        prefix: str,
        repository: Path,
        launcher: ExtensionLauncher,
        environment: SessionEnvironment,
        headless: bool,
    ) -> None:
        self._profile = profile
        self._prefix = prefix
        self._repository = repository
        self._launcher = launcher
        self._environment = environment
        self._headless = headless
        self._builds_without_request = set[tuple[Path, int]]()
        """Builds that never request their state, by folder and modification time of the manifest."""
        self._building = asyncio.Lock()

    async def build(self, build_type: str, *, force: bool, stage: Stage) -> Path:
        """Build the extension and return its folder. Only one build runs at a time.

        Raises:
            LaunchFailedError: The profile has no build function, and there is no build.
            DependenciesMissingError, BuildFailedError: The error names the missing dependency, or has the
                end of the build output.
        """
        if self._profile.build is None:
            return self._get_build_folder()
        request = BuildRequest(repository=self._repository, build_type=build_type, force=force, stage=stage)
        async with self._building:
            return await self._profile.build(request)

    def _get_build_folder(self) -> Path:
        """Return the folder of the existing build.

        Raises:
            LaunchFailedError: There is no build.
        """
        folder = self._repository / self._profile.dist
        if not (folder / "manifest.json").is_file():
            raise LaunchFailedError(
                f"There is no build of {self._profile.name} in {folder}",
                suggestion="Build it first, launch with autoBuild: true, or give extensionPath.",
                folder=str(folder),
            )
        return folder

    async def start(self, launch: AppLaunch, caller: Caller, stage: Stage) -> RunningApp:
        """Start the services, the browser and the app, and wait until the app shows a screen.

        A failed start leaves no process behind.

        Raises:
            InvalidConfigError, PortInUseError, DependenciesMissingError, BuildFailedError,
                LaunchFailedError: The app did not start.
            BrowserCrashedError: The browser crashed during the start.
        """
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
                raise LaunchFailedError(failed)
            return RunningApp(
                session=session,
                app=app,
                profile=self._profile,
                services=services,
                browser=browser,
                folder=folder,
                _resources=stack.pop_all(),
            )

    async def _start_app(
        self,
        stack: contextlib.AsyncExitStack,
        extension: UnpackedExtension,
        launch: AppLaunch,
        caller: Caller,
        services: Services,
        stage: Stage,
    ) -> tuple[ExtensionBrowser, ExtensionApp]:
        """Start the browser. Start it again if the app needs its state in its storage."""
        build = (extension.folder, extension.modified_ns)
        storage = services.state_to_store() if build in self._builds_without_request else None
        while True:
            own = await stack.enter_async_context(contextlib.AsyncExitStack())
            stage("starting the browser")
            browser = await self._launcher.launch(
                [extension],
                SessionOptions(viewport=(1280, 800)),
                headless=self._headless,
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
            LaunchFailedError: The home page does not open.
            BrowserCrashedError: The browser crashed while the page was opening.
        """
        try:
            session = await self._open_session(browser, caller)
            stack.push_async_callback(session.close)
            app = ExtensionApp(
                session,
                browser.extensions[0],
                home=self._profile.home,
                notification=self._profile.notification,
            )
            stage(f"waiting for {self._profile.name}")
            page = await app.open_home(Deadline.after(READY_SECONDS * 1000))
            await wait_for_screen(app, self._profile, page, seconds=READY_SECONDS)
            if services.opens_home():
                # Wait for the app's own page, which would otherwise come to the front during a call.
                await app.wait_for_duplicate(page, Deadline.after(OWN_HOME_SECONDS * 1000))
            await app.close_duplicates(page)
            session.actions.take_events()  # Pages that opened during the launch are not events of a call.
        except Exception as error:
            if await browser.has_crashed():
                raise BrowserCrashedError(
                    f"The browser crashed while {self._profile.name} was opening"
                ) from error
            raise
        return app

    async def _start_services(self, stack: contextlib.AsyncExitStack, request: LaunchRequest) -> Services:
        try:
            return await stack.enter_async_context(self._profile.services(request))
        except FootlightError:
            raise
        except Exception as error:
            # The services are third-party code, which may raise any exception.
            logger.warning("the services of %s did not start", self._profile.name, exc_info=True)
            raise LaunchFailedError(
                f"The services of {self._profile.name} did not start: {type(error).__name__}: {error}"
            ) from error

    def _find_folder(self, launch: AppLaunch) -> Path | None:
        """Return the folder of the extension, or None if it may have to be built.

        Raises:
            InvalidConfigError, LaunchFailedError: The given or built folder does not exist.
        """
        if launch.extension_path is not None:
            path = self._repository / launch.extension_path
            if not os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises for a name that is too long
                raise InvalidConfigError(
                    f"extensionPath: {cut_text(str(launch.extension_path), MAX_SHOWN)} is not a folder",
                    parameter="extensionPath",
                )
            return path
        return None if launch.auto_build else self._get_build_folder()

    async def _build_for_launch(self, stage: Stage) -> Path:
        stage(f"building {self._profile.name}")
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
