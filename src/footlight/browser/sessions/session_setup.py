"""Create the table of sessions for an engine, and register the scripts that run in its pages.

The engine imports this module while its first browser starts. Only the servers that need them import
extensions and browsers with profiles.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from footlight.browser.context.devices import Devices
from footlight.browser.driver.file_quota import FileQuota
from footlight.browser.driver.scripts import register_scripts
from footlight.browser.page.capture import register_engine
from footlight.browser.page.press_check import register_press_check
from footlight.browser.page.selectors import register_shown_text
from footlight.browser.page.settling import register_settling
from footlight.browser.reading.markdown import register_markdown_engine
from footlight.browser.reading.screenshots import register_secrets_engine
from footlight.browser.recording.artifact_store import ArtifactStore
from footlight.browser.sessions.environment import SessionEnvironment
from footlight.browser.sessions.tables.kept_sessions import KeptSessions
from footlight.browser.sessions.tables.pooled_sessions import PooledSessions

if TYPE_CHECKING:
    from playwright.async_api import Playwright

    from footlight.browser.driver.driver_process import Driver
    from footlight.browser.driver.pending_starts import PendingStarts
    from footlight.browser.launch.extension_launch import ExtensionLauncher
    from footlight.browser.launch.extension_pool import ExtensionPool
    from footlight.browser.launch.pool import Pool
    from footlight.browser.network.filter_proxy import FilterProxy
    from footlight.browser.network.policy import DomainPolicy
    from footlight.browser.sessions.change_events import OnChange
    from footlight.browser.sessions.tables.named_sessions import NamedSessions
    from footlight.browser.sessions.tables.session_table import SessionTable
    from footlight.config import Settings

__all__ = ["SessionSetup", "register_page_scripts"]


async def register_page_scripts(playwright: Playwright, *, has_secrets: bool) -> None:
    """Register the scripts that run in pages. Call this before any page is opened."""
    await asyncio.gather(
        register_engine(playwright),
        register_scripts(playwright),
        register_settling(playwright),
        register_press_check(playwright),
        register_shown_text(playwright),
        register_markdown_engine(playwright),
        *((register_secrets_engine(playwright),) if has_secrets else ()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSetup:
    """The parts of an engine that its sessions use."""

    settings: Settings
    driver: Driver
    policy: DomainPolicy
    proxy: FilterProxy | None
    temporary: Path
    short_temporary: Callable[[], Path]
    """Returns a folder with a short path, for browsers whose profile lock is a socket."""
    starts: PendingStarts
    secrets: tuple[str, ...]
    mask: Callable[[Any], Any] | None
    on_change: OnChange

    def make_app_sessions(
        self, make_table: Callable[[ExtensionLauncher, SessionEnvironment], SessionTable]
    ) -> SessionTable:
        """Return the session table of a toolset that launches extensions itself."""
        environment = self._make_environment("launch the app again")
        return make_table(self._make_extension_launcher(environment.devices), environment)

    def make_pooled_sessions(self, pool: Pool | ExtensionPool, *, id_prefix: str) -> PooledSessions:
        return PooledSessions(
            self.settings.session,
            pool=pool,
            environment=self._make_environment(),
            # In a cluster, the front decides where a session is open.
            kept=KeptSessions(self.settings, locked=not id_prefix, mask=self.mask or str),
            id_prefix=id_prefix,
        )

    def make_extension_pool(self) -> ExtensionPool:
        from footlight.browser.launch.extension_pool import ExtensionPool
        from footlight.browser.launch.extensions import read_extension

        browser = self.settings.browser
        return ExtensionPool(
            self.settings,
            launcher=self._make_extension_launcher(self._make_devices()),
            extensions=[read_extension(folder) for folder in browser.extensions],
            # Users watch an extension, so a window is the default unless the settings say otherwise.
            headless="headless" in browser.model_fields_set and browser.headless,
        )

    def make_named_sessions(self) -> NamedSessions:
        """Return the table of sessions that each have a browser with a profile."""
        from footlight.browser.launch.persistent_launch import PersistentLauncher
        from footlight.browser.launch.profiles import ProfileStore
        from footlight.browser.sessions.tables.named_sessions import NamedSessions

        environment = self._make_environment("session.open opens the session again")
        return NamedSessions(
            self.settings.session,
            max_browsers=self.settings.pool.max_browsers,
            launcher=PersistentLauncher(
                lambda: self.driver.playwright,
                self.settings.browser,
                devices=environment.devices,
                filter_proxy=self.proxy.url if self.proxy else None,
                temporary=self.short_temporary(),
                starts=self.starts,
            ),
            environment=environment,
            profiles=ProfileStore(self.settings.profiles.directory),
        )

    def _make_extension_launcher(self, devices: Devices) -> ExtensionLauncher:
        from footlight.browser.launch.extension_launch import ExtensionLauncher

        return ExtensionLauncher(
            lambda: self.driver.playwright,
            self.settings.browser,
            devices=devices,
            filter_proxy=self.proxy.url if self.proxy else None,
            temporary=self.short_temporary(),
            starts=self.starts,
        )

    def _make_devices(self) -> Devices:
        return Devices(cast("dict[str, Any]", self.driver.playwright.devices))

    def _make_environment(self, after_crash: str | None = None) -> SessionEnvironment:
        settings = self.settings
        environment = SessionEnvironment(
            policy=self.policy,
            dialogs=settings.session.dialogs,
            download_path=settings.browser.download_path or self.temporary / "downloads",
            output_path=settings.browser.output_path or self.temporary / "output",
            scratch_path=self.temporary,
            artifacts=ArtifactStore(settings.resources.max_stored),
            quota=FileQuota(total=settings.browser.file_quota, session=settings.browser.session_file_quota),
            devices=self._make_devices(),
            secrets=self.secrets,
            mask=self.mask,
            proxy=self.proxy,
            on_change=self.on_change,
        )
        return environment if after_crash is None else replace(environment, after_crash=after_crash)
