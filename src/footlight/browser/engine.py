"""Everything outside, started and stopped as one: driver, proxy, browsers, sessions, folders."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from footlight.browser._playwright import start_playwright
from footlight.browser.changes import OnChange, ignore
from footlight.browser.devices import Devices
from footlight.browser.extension_launch import ExtensionLauncher
from footlight.browser.extension_pool import ExtensionPool
from footlight.browser.extensions import read_extension
from footlight.browser.launch import launch_browser
from footlight.browser.looking import register_engine
from footlight.browser.markdown import register_markdown_engine
from footlight.browser.named_sessions import NamedSessions
from footlight.browser.persistent_launch import PersistentLauncher
from footlight.browser.policy import DomainPolicy
from footlight.browser.pool import Pool
from footlight.browser.profiles import PORTS, ProfileStore
from footlight.browser.scripts import register_scripts
from footlight.browser.secrets import register_secrets_engine
from footlight.browser.session import SessionSurroundings
from footlight.browser.sessions import Sessions
from footlight.browser.settling import register_settling
from footlight.browser.shelf import Shelf
from footlight.browser.storage import StateStore
from footlight.errors import FootlightError

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

    from footlight.browser.filter_proxy import FilterProxy
    from footlight.browser.session_table import SessionTable
    from footlight.config import Settings

__all__ = ["Engine", "MakeTable"]

logger = logging.getLogger(__name__)

MakeTable = Callable[[ExtensionLauncher, SessionSurroundings], "SessionTable"]
RUN_PREFIX = "footlight-run-"
REAP_SECONDS = 30.0
CLOSE_SECONDS = 3.5
READY_SECONDS = 5.0
LONGEST_FOLDER = 103 - len("/org.chromium.Chromium.XXXXXX/SingletonSocket")
"""Bytes. The path of a socket has 103 on macOS, and 107 on Linux."""


class Engine:
    """Start with `start`, which returns at once; `sessions()` waits until there is a browser.

    The toolset `szkrabok` has another table of sessions, and no browser before one is opened.
    `on_change` gets the news of every session.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        on_change: OnChange = ignore,
        secrets: tuple[str, ...] = (),
        make_table: MakeTable | None = None,
    ) -> None:
        """`make_table` gives the sessions of a toolset that launches extensions itself."""
        self._make_table = make_table
        self._settings = settings
        self._secrets = secrets
        self._on_change = on_change
        self._resources = contextlib.AsyncExitStack()
        self._ready: asyncio.Task[SessionTable] | None = None
        self._warming: asyncio.Task[None] | None = None
        self._reaping: asyncio.Task[None] | None = None
        self._sessions: SessionTable | None = None
        self._pool: Pool | ExtensionPool | None = None

    def start(self) -> None:
        self._ready = asyncio.create_task(self._start())

    async def sessions(self) -> SessionTable:
        """Raises BrowserNotInstalled where none can be started; the next call tries again."""
        if self._ready is None or (self._ready.done() and self._ready.exception() is not None):
            self._ready = asyncio.create_task(self._start())
        return await asyncio.shield(self._ready)

    async def why_not_ready(self) -> str | None:
        """Why no session can be had now; None when one can."""
        try:
            async with asyncio.timeout(READY_SECONDS):
                await self.sessions()
        except FootlightError as error:
            return error.message
        except TimeoutError:
            return "the browser is still starting"
        return None

    def find_sessions(self) -> SessionTable | None:
        """The table, where there is one by now: this starts nothing and does not wait."""
        return self._sessions

    async def close(self) -> None:
        """Keep what is to survive, end every browser, remove every temporary file. Bounded in time."""
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
            self._sessions = await self._open()
        if self._pool is not None:
            await self._pool.warm_one()
            self._warming = asyncio.create_task(self._warm(self._pool))
        return self._sessions

    async def _open(self) -> SessionTable:
        settings = self._settings
        temporary = self._resources.enter_context(_run_folder(Path(tempfile.gettempdir())))
        self._playwright = await self._resources.enter_async_context(start_playwright(temporary))
        await register_engine(self._playwright)
        await register_scripts(self._playwright)
        if self._secrets:
            await register_secrets_engine(self._playwright)
        await register_settling(self._playwright)
        await register_markdown_engine(self._playwright)
        policy = DomainPolicy(
            settings.security.allowed_domains,
            settings.security.blocked_domains,
            closed_ports=PORTS if settings.toolset == "szkrabok" else range(0),
            extensions=self._make_table is not None or bool(settings.browser.extensions),
        )
        self._proxy = await self._start_proxy(policy) if policy.restricts else None
        self._reaping = asyncio.create_task(self._reap())
        surroundings = SessionSurroundings(
            policy=policy,
            dialogs=settings.session.dialogs,
            download_path=settings.browser.download_path or temporary / "downloads",
            output_path=settings.browser.output_path or temporary / "output",
            scratch_path=temporary,
            shelf=Shelf(settings.resources.max_stored),
            script_evaluation=settings.security.enable_script_evaluation,
            devices=Devices(cast("dict[str, Any]", self._playwright.devices)),
            secrets=self._secrets,
            proxy=self._proxy,
            on_change=self._on_change,
        )
        if self._make_table is not None:
            return self._make_table(self._extension_launcher(surroundings), surroundings)
        return self._named(surroundings) if settings.toolset == "szkrabok" else self._pooled(surroundings)

    def _extension_launcher(self, surroundings: SessionSurroundings) -> ExtensionLauncher:
        return ExtensionLauncher(
            self._playwright,
            self._settings.browser,
            devices=surroundings.devices,
            filter_proxy=self._proxy.url if self._proxy else None,
            temporary=self._short_folder(surroundings.scratch_path),
        )

    def _pooled(self, surroundings: SessionSurroundings) -> Sessions:
        settings = self._settings
        self._pool = (
            self._extension_pool(surroundings)
            if settings.browser.extensions
            else Pool(settings, self._launch)
        )
        self._resources.push_async_callback(self._pool.close)
        return Sessions(
            settings.session,
            pool=self._pool,
            surroundings=surroundings,
            persistent=StateStore(settings.session.state_directory / "sessions"),
        )

    def _extension_pool(self, surroundings: SessionSurroundings) -> ExtensionPool:
        browser = self._settings.browser
        return ExtensionPool(
            self._settings,
            launcher=self._extension_launcher(surroundings),
            extensions=[read_extension(folder) for folder in browser.extensions],
            # A window is what an extension is looked at in, unless somebody says otherwise.
            headless="headless" in browser.model_fields_set and browser.headless,
        )

    def _named(self, surroundings: SessionSurroundings) -> NamedSessions:
        settings = self._settings
        return NamedSessions(
            settings.session,
            max_browsers=settings.pool.max_browsers,
            launcher=PersistentLauncher(
                self._playwright,
                settings.browser,
                devices=surroundings.devices,
                filter_proxy=self._proxy.url if self._proxy else None,
                temporary=self._short_folder(surroundings.scratch_path),
            ),
            surroundings=replace(surroundings, after_crash="session.open opens the session again"),
            profiles=ProfileStore(settings.profiles.directory),
        )

    def _short_folder(self, temporary: Path) -> Path:
        """Where a browser that locks its profile has a socket for that: it does not start in a long path."""
        if os.name != "posix" or len(os.fsencode(temporary)) <= LONGEST_FOLDER:
            return temporary
        return self._resources.enter_context(_run_folder(Path("/tmp")))

    async def _start_proxy(self, policy: DomainPolicy) -> FilterProxy:
        from footlight.browser.filter_proxy import FilterProxy

        return await self._resources.enter_async_context(FilterProxy(policy.refuses, closes=policy.closes))

    async def _launch(self) -> Browser:
        playwright: Playwright = self._playwright
        return await launch_browser(playwright, self._settings.browser, proxied=self._proxy is not None)

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
                # It is tried again; without it nothing would ever expire any more.
                logger.exception("sessions and browsers could not be reaped")
            if self._warming is not None and self._pool is not None:
                await self._warm(self._pool)  # One may have crashed.


def _reap_after(idle_timeout_ms: int) -> float:
    """Often enough to be a tenth late at the most."""
    return max(0.05, idle_timeout_ms / 10_000) if idle_timeout_ms else REAP_SECONDS


@contextlib.contextmanager
def _run_folder(root: Path) -> Generator[Path]:
    """A temporary folder named after this process; those of processes that are gone are removed first."""
    for old in root.glob(f"{RUN_PREFIX}*"):
        if not _is_running(old.name.removeprefix(RUN_PREFIX).partition("-")[0]):
            shutil.rmtree(old, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{RUN_PREFIX}{os.getpid()}-", dir=root))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_running(pid: str) -> bool:
    if not pid.isdigit():
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
