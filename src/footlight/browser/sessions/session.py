"""A session: an isolated browser context with its pages, its log and its recordings."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from footlight.browser.context.arguments import open_context
from footlight.browser.context.cookies import CookieJar
from footlight.browser.driver.output_folder import OutputFolder
from footlight.browser.driver.playwright_api import Error, is_closed
from footlight.browser.driver.shielding import shield_until_done
from footlight.browser.network.console import Console
from footlight.browser.network.downloads import Downloads
from footlight.browser.network.mocks import InterceptionRules
from footlight.browser.network.policy import make_refused_host_error
from footlight.browser.network.request_log import RequestLog
from footlight.browser.page.dialogs import Dialogs
from footlight.browser.page.events import Events
from footlight.browser.page.page import LastAction, Page, TouchSource
from footlight.browser.recording.recordings import Recordings
from footlight.browser.sessions.action_tracker import ActionTracker
from footlight.browser.sessions.change_events import ChangeKind, SessionChange
from footlight.browser.sessions.emulation import Emulator
from footlight.browser.sessions.page_table import PageTable
from footlight.browser.sessions.popups import PopupTracker
from footlight.browser.sessions.takeover import Takeover
from footlight.browser.snapshot.view import PageView, RefCounter
from footlight.errors import (
    BrowserCrashedError,
    FootlightError,
    NavigationFailedError,
    SessionNotFoundError,
)

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.async_api import BrowserContext, Dialog, Response

    from footlight.browser.context.options import SessionOptions
    from footlight.browser.driver.playwright_connection import SilentPart
    from footlight.browser.launch.extensions import LoadedExtension
    from footlight.browser.launch.pool import PooledBrowser
    from footlight.browser.network.policy import DomainPolicy
    from footlight.browser.recording.artifact_store import Artifact, ArtifactStore
    from footlight.browser.sessions.environment import SessionEnvironment

__all__ = ["Session"]

logger = logging.getLogger(__name__)

CRASH_NOTICE_SECONDS = 1.0
"""How long after the loss of a page the end of the browser may be reported."""
CLOSE_SECONDS = 3.0


class Session:
    """A browser context with its pages, and a lock that a call holds while it uses the session.

    `Session.open` creates a session, and `close` ends it.

    `page_table` owns the pages, `actions` tracks what the last action has started, and `emulator` owns the
    emulation and the network speed.
    """

    def __init__(
        self,
        id: str,
        *,
        owner: str,
        options: SessionOptions,
        browser: PooledBrowser,
        context: BrowserContext,
        environment: SessionEnvironment,
        adopted: bool = False,
        is_default: bool = False,
        kept_as: str | None = None,
    ) -> None:
        self.id = id
        self.options = options
        self.owner = owner
        """The principal that owns the session."""
        self.is_default = is_default
        """Whether its caller can omit its name."""
        self.kept_as = kept_as
        """The name under which it is kept, or None if the session ends with the server."""
        self.lock = asyncio.Lock()
        self.takeover = Takeover(id, self.lock)
        self.ref_numbers = RefCounter()
        self.created_at = time.time()
        self.last_used = time.monotonic()
        self.closed = False
        self.crash_reported = False
        self._browser = browser
        self._context = context
        self._environment = environment
        self._adopted = adopted
        self._left = False
        self._tasks: set[asyncio.Task[None]] = set()

        popups = PopupTracker(browser)
        self.files = environment.quota.of_session(id)
        self.events = Events()
        self.page_table = PageTable(self, context, popups)
        self.dialogs = Dialogs(
            {**environment.dialogs.model_dump(), **options.dialogs}, self.events, self.spawn
        )
        self.downloads = Downloads(
            environment.download_path,
            self.events.add_download,
            self.page_table.id_of,
            files=self.files,
            mask=environment.mask or str,
        )
        self.actions = ActionTracker(
            pages=self.page_table, popups=popups, downloads=self.downloads, events=self.events
        )
        self.cookies = CookieJar(context, browser.browser)
        self.rules = InterceptionRules(context)
        self.log = RequestLog(self.page_table.id_of_request)
        self.console = Console(context, page_id_of=self.page_table.id_of, spawn=self.spawn)
        self.recordings = Recordings(
            context, browser.browser, environment.scratch_path, files=self.files, mask=environment.mask
        )
        self.emulator = Emulator(
            context,
            options,
            engine=browser.engine,
            devices=environment.devices,
            pages=lambda: self.page_table.open_pages,
            ensure_page=self.page_table.get,
        )

    @classmethod
    async def open(
        cls,
        id: str,
        *,
        owner: str,
        options: SessionOptions,
        browser: PooledBrowser,
        environment: SessionEnvironment,
        context: BrowserContext | None = None,
        is_default: bool = False,
        kept_as: str | None = None,
    ) -> Session:
        """Open a session, and its context if none is given.

        The session `default` adopts the context of a browser that the server has attached to.
        """
        contexts = browser.browser.contexts
        adopt = bool(browser.attached and id == "default" and contexts and not environment.proxy)
        if adopt:
            context = contexts[0]
        elif context is None:
            context = await open_context(
                browser.browser,
                options,
                devices=environment.devices,
                filter_proxy=environment.proxy.url if environment.proxy else None,
            )
        session = cls(
            id,
            owner=owner,
            options=options,
            browser=browser,
            context=context,
            environment=environment,
            adopted=adopt,
            is_default=is_default,
            kept_as=kept_as,
        )
        session._watch()
        return session

    def _watch(self) -> None:
        self.page_table.watch()
        self.log.watch(self._context)
        self.console.watch()
        self.downloads.watch(self._context)
        self._context.on("dialog", self._on_dialog)
        self._context.on("close", lambda _: self._leave())
        self.spawn(self._watch_browser())

    async def _watch_browser(self) -> None:
        """End the waits for requests when the browser ends. With a dead driver, its pages report nothing."""
        await self._browser.disconnected.wait()
        self.page_table.end_waits()

    # Lifecycle

    @property
    def alive(self) -> bool:
        """Return whether the browser is running."""
        return not self._browser.disconnected.is_set()

    @property
    def has_ended(self) -> bool:
        """Return whether the session has ended. Its context may close a moment before its browser ends."""
        return self._left or not self.alive

    def touch(self) -> None:
        """Record that the session was used now, which postpones its expiry."""
        self.last_used = time.monotonic()

    async def explain_end(self) -> FootlightError | None:
        """Return the error that explains why the session has ended, or None if it still works."""
        if self.closed:
            return SessionNotFoundError(f'Session "{self.id}" was closed during the call', sessionId=self.id)
        await self._wait_for_crash()
        return None if self.alive else self.make_crash_error()

    async def explain_failed_open(self, error: Error) -> FootlightError | None:
        """Return the error for a page that could not be opened if the browser has crashed, or None."""
        if is_closed(error):
            await self._wait_for_crash()
        return None if self.alive else self.make_crash_error()

    def make_crash_error(self) -> BrowserCrashedError:
        """Return the error that reports the crash, and record that it was reported."""
        self.crash_reported = True
        self.events.closed.clear()  # The pages were closed by the crash.
        return BrowserCrashedError(f"The browser crashed; {self._environment.after_crash}", sessionId=self.id)

    async def _wait_for_crash(self) -> None:
        """Wait a moment for the event that the browser has ended."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CRASH_NOTICE_SECONDS):
                await self._browser.disconnected.wait()

    async def close(self) -> None:
        """End the session. Its context is closed, unless it existed before the session."""
        self.closed = self.closed or self.alive  # A crashed session is removed without being closed.
        self._leave()
        self.downloads.close()
        for task in self._tasks:
            task.cancel()
        await self.recordings.close()
        if not self.alive:
            return
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                # The first step of closing a context does not close it yet. If it were cancelled there, a
                # later close would have no effect.
                end = self.dialogs.dismiss_all() if self._adopted else self._context.close()
                await shield_until_done(end)
        except TimeoutError:
            self._browser.is_suspect = True
        except Error:
            pass  # The browser has ended.

    def _leave(self) -> None:
        """Report the end once. Afterwards another session may have the same id."""
        if not self._left:
            self._environment.artifacts.remove_session(self.id)
            self.report_change("closed")
            self._left = True

    def report_change(self, kind: ChangeKind, page_id: str | None = None) -> None:
        """Report a change of the session or of one of its pages. Do nothing after the end of the session."""
        if not self._left:
            self._environment.on_change(SessionChange(kind, self.owner, self.id, page_id))

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run `work` in the background, at most until the session ends."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_done)
        return task

    def _on_task_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        # An error of Playwright means that the page is gone.
        if not task.cancelled() and (error := task.exception()) and not isinstance(error, Error):
            logger.error("background work of session %s failed", self.id, exc_info=error)

    def _on_dialog(self, dialog: Dialog) -> None:
        # If a page opens a dialog immediately, the dialog is announced before the page.
        self.dialogs.on_dialog(self.page_table.id_of(dialog.page), dialog)

    # The browser and the environment

    @property
    def engine(self) -> str:
        return self._browser.engine

    @property
    def browser(self) -> PooledBrowser:
        return self._browser

    @property
    def context(self) -> BrowserContext:
        """The context, for other modules of this package."""
        return self._context

    @property
    def extensions(self) -> tuple[LoadedExtension, ...]:
        """The extensions that the browser runs."""
        return self._browser.extensions

    @property
    def touch_source(self) -> TouchSource | None:
        return self.emulator.touch_source

    def start_probes(self) -> None:
        """Ask the driver, the browser and the pages whether they respond, for errors about timeouts."""
        self._browser.start_probes()
        for page in self.pages:
            page.start_probes()

    async def find_silent_part(self, within_seconds: float) -> SilentPart | None:
        """Return the part that does not respond, the driver or the browser, or None. Pages may hang."""
        return await self._browser.find_silent_part(within_seconds)

    @property
    def policy(self) -> DomainPolicy:
        return self._environment.policy

    @property
    def secrets(self) -> tuple[str, ...]:
        return self._environment.secrets

    @property
    def is_traced(self) -> bool:
        return self.recordings.is_tracing

    @property
    def scratch_path(self) -> Path:
        return self._environment.scratch_path

    @property
    def output(self) -> OutputFolder:
        return OutputFolder(self._environment.output_path, self.files)

    @property
    def artifacts(self) -> ArtifactStore:
        return self._environment.artifacts

    def store_artifact(self, artifact: Artifact) -> bool:
        """Store an artifact. Return False if it is too large or the session has ended."""
        return not self._left and self._environment.artifacts.add(artifact)

    # Members for the pages

    @property
    def pages(self) -> list[Page]:
        """The open pages, oldest first."""
        return self.page_table.open_pages

    @property
    def views(self) -> dict[str, PageView]:
        """The views of the open pages by page id, oldest page first."""
        return {page.id: page.view for page in self.pages}

    @property
    def last_action(self) -> LastAction:
        return self.actions.last

    async def close_hung(
        self, *, called_at: float = -math.inf, within_seconds: float = math.inf
    ) -> list[str]:
        """Close the pages that do not respond because of a script, and return their ids.

        A page that was called only a short time ago may be busy and stays open.
        """
        return await self.page_table.close_hung(called_at, within_seconds)

    def check_proxy_response(self, response: Response) -> None:
        """Check that a response comes from the site and not from the filter proxy.

        Raises:
            PermissionDeniedError: the policy refuses the host.
            NavigationFailedError: the host cannot be reached, or the request is malformed.
        """
        if self._environment.proxy is None:
            return
        if host := response.headers.get("x-footlight-refused"):
            raise make_refused_host_error(host, response.url)
        if reason := response.headers.get("x-footlight-proxy"):
            raise NavigationFailedError(f"{response.url} could not be opened: {reason}", url=response.url)
