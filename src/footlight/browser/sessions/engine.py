"""Start and stop everything outside the server: driver, proxy, browsers, sessions and folders."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from footlight.browser.driver.driver_process import Driver
from footlight.browser.driver.pending_starts import SILENCE_ADVICE, PendingStarts
from footlight.browser.driver.probe import RESPONSE_SECONDS
from footlight.browser.driver.run_folder import run_folder
from footlight.browser.driver.shielding import run_detached, start_work
from footlight.browser.launch.chromium_flags import DEBUGGING_PORTS, PAGE_TOOLS, enable_feature
from footlight.browser.launch.installation import find_browser
from footlight.browser.launch.launcher import check_file_limit, launch_browser
from footlight.browser.launch.pool import Pool
from footlight.browser.network.policy import DomainPolicy
from footlight.browser.sessions.change_events import OnChange, ignore_change
from footlight.errors import FootlightError
from footlight.private_files import remove_folder

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

    from footlight.browser.driver.early_driver import EarlyDriver
    from footlight.browser.driver.pending_starts import PendingStart
    from footlight.browser.driver.playwright_connection import SilentPart
    from footlight.browser.launch.extension_launch import ExtensionLauncher
    from footlight.browser.launch.extension_pool import ExtensionPool
    from footlight.browser.network.filter_proxy import FilterProxy
    from footlight.browser.sessions.environment import SessionEnvironment
    from footlight.browser.sessions.tables.session_table import SessionTable
    from footlight.caller import Caller
    from footlight.config import Settings

__all__ = ["Engine", "MakeTable"]

logger = logging.getLogger(__name__)

MakeTable: TypeAlias = "Callable[[ExtensionLauncher, SessionEnvironment], SessionTable]"
SESSION_SETUP = "footlight.browser.sessions.session_setup"
"""It imports the modules of sessions and pages, which take longer than those that start a browser."""
REAP_SECONDS = 30.0
WARM_SECONDS = 2.0
"""How long after the first browser the other browsers of `pool.minBrowsers` start."""
CLOSE_SECONDS = 3.5
READY_SECONDS = 5.0
MAX_FOLDER_BYTES = 103 - len("/org.chromium.Chromium.XXXXXX/SingletonSocket")
"""Maximum length in bytes. The path of a socket has at most 103 bytes on macOS and 107 on Linux."""


class Engine:
    """The driver, browsers and sessions of a server.

    `start` begins to start them and returns immediately, `sessions` waits for the first browser, and `close`
    ends them. `on_change` receives the changes of every session.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        on_change: OnChange = ignore_change,
        secrets: tuple[str, ...] = (),
        mask: Callable[[Any], Any] | None = None,
        named_sessions: bool = False,
        make_table: MakeTable | None = None,
        session_prefix: str = "",
        early_driver: EarlyDriver | None = None,
    ) -> None:
        """Create the engine.

        `mask` removes secrets from texts that are written to files. With `named_sessions` each session has
        its own browser with a profile, and no browser starts before a session is opened. `make_table` creates
        the session table of a toolset that launches extensions itself. The ids of new sessions begin with
        `session_prefix`. `early_driver` is a driver that has already been started.
        """
        self._early_driver = early_driver
        self._session_prefix = session_prefix
        self._named_sessions = named_sessions
        self._make_table = make_table
        self._settings = _with_page_tools(settings) if settings.security.enable_page_tools else settings
        self._secrets = secrets
        self._mask = mask
        self._on_change = on_change
        self._resources = contextlib.AsyncExitStack()
        self._ready: asyncio.Task[SessionTable] | None = None
        self._warming: asyncio.Task[None] | None = None
        self._reaping: asyncio.Task[None] | None = None
        self._sessions: SessionTable | None = None
        self._pool: Pool | ExtensionPool | None = None
        self._driver: Driver | None = None
        self._proxy: FilterProxy | None = None
        self._starts = PendingStarts()

    def start(self) -> None:
        """Begin to start the driver and the first browser, without waiting for them."""
        self._ready = start_work(self._start())

    async def sessions(self) -> SessionTable:
        """Wait for the browser and return the session table.

        Raises:
            BrowserNotInstalledError: no browser can be started. The next call tries again.
        """
        if self._ready is None or (self._ready.done() and self._ready.exception() is not None):
            self.start()
        assert self._ready is not None
        return await asyncio.shield(self._ready)

    def _start_again(self) -> None:
        """Start again, because the driver has ended. New calls wait for the new driver."""
        if self._sessions is None:
            return  # The first start notices it.
        self.start()
        assert self._ready is not None
        self._ready.add_done_callback(_log_failure)

    async def why_not_ready(self) -> str | None:
        """Return why no session can be opened now, or None if one can."""
        try:
            async with asyncio.timeout(READY_SECONDS):
                await self.sessions()
        except FootlightError as error:
            return error.message
        except TimeoutError:
            start = self._starts.oldest
            return start.describe() if start else "the browser is still starting"
        if not await self._driver_responds():
            return "the driver of the browsers does not respond"
        if not await self._browser_responds():
            return "the browser does not respond"
        return None

    async def find_silent_part(self, within_seconds: float) -> PendingStart | SilentPart | None:
        """Return what does not respond and blocks new calls: a pending start or a running part, or None."""
        driver, browser = await asyncio.gather(
            self._driver_responds(within_seconds), self._browser_responds(within_seconds)
        )
        if not driver:
            return "driver"
        return self._starts.oldest or (None if browser else "browser")

    async def _driver_responds(self, within_seconds: float = RESPONSE_SECONDS) -> bool:
        return self._driver is None or await self._driver.responds(within_seconds)

    async def _browser_responds(self, within_seconds: float = RESPONSE_SECONDS) -> bool:
        return self._pool is None or await self._pool.responds(within_seconds)

    def find_sessions(self) -> SessionTable | None:
        """Return the session table if it exists, without waiting."""
        return self._sessions

    @property
    def session_count(self) -> int:
        return self._sessions.count if self._sessions is not None else 0

    async def leave(self, principal: str) -> None:
        """End all sessions of a principal that will not return."""
        if self._sessions is not None:
            await self._sessions.leave(principal)

    def disconnect(self, caller: Caller) -> None:
        """End the default session of a closed connection, without waiting for it."""
        if self._sessions is not None:
            run_detached(self._sessions.disconnect(caller))

    async def close(self) -> None:
        """Save kept sessions, end all browsers and remove temporary files, within a time limit."""
        for task in (self._reaping, self._warming, self._ready):
            if task is not None and not task.done():
                task.cancel()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                if self._sessions is not None:
                    await self._sessions.close_all()
                await self._resources.aclose()

    async def _start(self) -> SessionTable:
        if self._sessions is None:
            await self._open()
        assert self._driver is not None
        await self._ensure_driver(self._driver)
        starting = [self._driver.wait_until_prepared()]
        if self._pool is not None:
            starting.append(self._pool.warm_one())
        if self._sessions is None:
            starting.append(self._make_sessions())
        for error in await asyncio.gather(*starting, return_exceptions=True):
            if error is not None:
                raise error
        if self._pool is not None:
            await self._pool.warm_one()  # The pool of extensions is created with the sessions.
            if self._warming is None or self._warming.done():
                self._warming = asyncio.create_task(self._warm_later(self._pool))
        assert self._sessions is not None
        return self._sessions

    async def _open(self) -> None:
        """Start the driver and the proxy, and create the pool if it needs no sessions."""
        settings = self._settings
        if settings.browser.cdp_endpoint is None:
            check_file_limit()  # The driver would end first, without a reason.
        process = None
        if taken := self._early_driver.take() if self._early_driver else None:
            process, self._temporary = taken
            self._resources.callback(remove_folder, self._temporary)
        else:
            self._temporary = self._resources.enter_context(run_folder())
        self._driver = Driver(
            self._temporary, prepare=self._prepare, on_end=self._start_again, process=process
        )
        self._resources.push_async_callback(self._driver.close)
        await self._ensure_driver(self._driver)
        self._policy = DomainPolicy(
            settings.security.allowed_domains,
            settings.security.blocked_domains,
            block_private=settings.security.block_private_networks,
            closed_ports=DEBUGGING_PORTS if self._named_sessions else range(0),
            extensions=self._make_table is not None or bool(settings.browser.extensions),
        )
        self._proxy = await self._start_proxy(self._policy) if self._policy.restricts else None
        if self._make_table is None and not self._named_sessions and not settings.browser.extensions:
            self._pool = Pool(settings, self._launch, find=self._check_browser_exists)
            self._resources.push_async_callback(self._pool.close)

    async def _make_sessions(self) -> None:
        """Create the session table. Its modules are imported in a thread, while the first browser starts."""
        await asyncio.to_thread(importlib.import_module, SESSION_SETUP)
        from footlight.browser.sessions.session_setup import SessionSetup

        assert self._driver is not None
        setup = SessionSetup(
            settings=self._settings,
            driver=self._driver,
            policy=self._policy,
            proxy=self._proxy,
            temporary=self._temporary,
            short_temporary=self._short_folder,
            starts=self._starts,
            secrets=self._secrets,
            mask=self._mask,
            on_change=self._on_change,
        )
        if self._make_table is not None:
            self._sessions = setup.make_app_sessions(self._make_table)
        elif self._named_sessions:
            self._sessions = setup.make_named_sessions()
        else:
            if self._pool is None:
                self._pool = setup.make_extension_pool()
                self._resources.push_async_callback(self._pool.close)
            self._sessions = setup.make_pooled_sessions(self._pool, id_prefix=self._session_prefix)
        self._reaping = asyncio.create_task(self._reap())

    async def _ensure_driver(self, driver: Driver) -> Playwright:
        with self._starts.track("the driver of the browsers", advice=SILENCE_ADVICE["driver"]):
            return await driver.ensure()

    async def _prepare(self, playwright: Playwright) -> None:
        await asyncio.to_thread(importlib.import_module, SESSION_SETUP)
        from footlight.browser.sessions.session_setup import register_page_scripts

        await register_page_scripts(playwright, has_secrets=bool(self._secrets))

    def _playwright(self) -> Playwright:
        assert self._driver is not None
        return self._driver.playwright

    def _short_folder(self) -> Path:
        """Return a folder with a short path, for browsers whose profile lock is a socket."""
        if os.name != "posix" or len(os.fsencode(self._temporary)) <= MAX_FOLDER_BYTES:
            return self._temporary
        return self._resources.enter_context(run_folder(Path("/tmp")))

    async def _start_proxy(self, policy: DomainPolicy) -> FilterProxy:
        from footlight.browser.network.filter_proxy import FilterProxy

        proxy = FilterProxy(policy.refuses, closes=policy.closes, refuses_address=policy.refuses_address)
        return await self._resources.enter_async_context(proxy)

    async def _launch(self) -> Browser:
        assert self._driver is not None
        playwright = await self._ensure_driver(self._driver)
        browser = await launch_browser(
            playwright, self._settings.browser, proxied=self._proxy is not None, starts=self._starts
        )
        await self._driver.wait_until_prepared()
        return browser

    def _check_browser_exists(self) -> None:
        """Check that a browser is installed. Raise BrowserNotInstalledError otherwise."""
        settings = self._settings.browser
        if settings.cdp_endpoint is None:
            find_browser(settings, Path(getattr(self._playwright(), settings.type).executable_path))

    async def _warm_later(self, pool: Pool | ExtensionPool) -> None:
        """Start the other browsers a while later, so that their load does not delay the first page."""
        await asyncio.sleep(WARM_SECONDS)
        await self._warm(pool)

    async def _warm(self, pool: Pool | ExtensionPool) -> None:
        try:
            await pool.warm()
        except Exception:
            logger.warning("the pool could not be filled", exc_info=True)

    async def _reap(self) -> None:
        every = min(
            REAP_SECONDS,
            *(
                _reap_after(ms)
                for ms in (self._settings.pool.idle_timeout, self._settings.session.idle_timeout)
            ),
        )
        while True:
            await asyncio.sleep(every)
            assert self._sessions is not None
            try:
                await self._sessions.reap()
                if self._pool is not None:
                    await self._pool.reap()
            except Exception:
                # The loop continues, because otherwise nothing would expire any more.
                logger.exception("sessions and browsers could not be reaped")
            if self._warming is not None and self._pool is not None:
                await self._warm(self._pool)  # A browser may have crashed.


def _with_page_tools(settings: Settings) -> Settings:
    """Return the settings with the Chromium feature by which pages offer tools."""
    browser = settings.browser
    if not browser.starts_chromium:
        return settings
    args = enable_feature(browser.args, PAGE_TOOLS)
    return settings.model_copy(update={"browser": browser.model_copy(update={"args": args})})


def _log_failure(starting: asyncio.Task[SessionTable]) -> None:
    if not starting.cancelled() and (error := starting.exception()):
        logger.error("the browsers could not be started again", exc_info=error)


def _reap_after(idle_timeout_ms: int) -> float:
    """Return an interval in seconds at which sessions expire at most a tenth of their idle time late."""
    return max(0.05, idle_timeout_ms / 10_000) if idle_timeout_ms else REAP_SECONDS
