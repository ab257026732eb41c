"""The sessions of the app under test.

At most one app runs at a time, and it ends together with its services.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from footlight.app_errors import NoActiveSessionError, SessionAlreadyRunningError
from footlight.apps.starter import AppLaunch, AppStarter, RunningApp, Stage
from footlight.browser.driver.playwright_connection import on_disconnected
from footlight.browser.driver.shielding import run_detached
from footlight.browser.sessions.session import Session
from footlight.browser.sessions.tables.session_table import CRASHED, SessionTable
from footlight.errors import InvalidParameterError, LaunchFailedError

if TYPE_CHECKING:
    from footlight.apps.profile import AppProfile
    from footlight.browser.launch.extension_launch import ExtensionLauncher
    from footlight.browser.sessions.environment import SessionEnvironment
    from footlight.caller import Caller
    from footlight.config import SessionSettings
    from footlight.knowledge.store import KnowledgeStore

__all__ = ["AppSessions", "CleanUp"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CleanUp:
    """The result of a clean-up: whether a session or a launch was ended, and the ended session, if any."""

    any: bool
    session: Session | None = None


class AppSessions(SessionTable):
    """The session table of the app. It has at most one session for all callers."""

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
        """Create the table. Steps are recorded in `knowledge`, if it is given."""
        super().__init__(settings)
        self.profile = profile
        self.repository = repository
        self.headless = headless
        self.knowledge = knowledge
        self._starter = AppStarter(
            profile=profile,
            prefix=prefix,
            repository=repository,
            launcher=launcher,
            environment=environment,
            headless=headless,
        )
        self._running: RunningApp | None = None
        self._launching: asyncio.Task[RunningApp] | None = None
        self._launching_for: Caller | None = None
        self._ending = asyncio.Lock()
        """Locked until a session has ended completely, because its ports are in use until then."""

    async def build(self, build_type: str, *, force: bool, stage: Stage) -> Path:
        """Build the extension and return its folder. Only one build runs at a time.

        Raises:
            DependenciesMissingError, BuildFailedError: The error names the missing dependency, or has the
                end of the build output.
        """
        return await self._starter.build(build_type, force=force, stage=stage)

    # Launching

    async def launch(self, launch: AppLaunch, *, caller: Caller, stage: Stage) -> RunningApp:
        """Launch the app. A failed launch leaves no process behind.

        Raises:
            SessionAlreadyRunningError: An app is running or being launched.
            InvalidConfigError, PortInUseError, DependenciesMissingError, BuildFailedError,
                LaunchFailedError: The app did not start.
        """
        await self._check_not_running(caller)
        launching = self._launching = asyncio.create_task(self._launch(launch, caller, stage))
        self._launching_for = caller
        launching.add_done_callback(self._on_launched)
        try:
            return await asyncio.shield(launching)
        except asyncio.CancelledError:
            if launching.cancelled():
                raise LaunchFailedError("The launch was ended by a clean-up") from None
            run_detached(self._take_back(launching))
            raise

    def _on_launched(self, _: object) -> None:
        self._launching = self._launching_for = None

    async def _take_back(self, launching: asyncio.Task[RunningApp]) -> None:
        """Cancel a launch whose caller was cancelled, or end the app if it is already running."""
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
        raise SessionAlreadyRunningError(
            f"{self.profile.name} is already running"
            if running
            else f"{self.profile.name} is being launched",
            sessionId=running.session.id if running and mine else None,
        )

    async def _discard(self, running: RunningApp) -> None:
        if self._sessions.pop(running.session.id, None):
            await self._close(running.session)

    async def _launch(self, launch: AppLaunch, caller: Caller, stage: Stage) -> RunningApp:
        running = self._running = await self._starter.start(launch, caller, stage)
        session = running.session
        self._add(session)
        started = running.browser.context.browser
        assert started is not None
        on_disconnected(started, lambda: run_detached(self._end_crashed(session)))
        return running

    async def _end_crashed(self, session: Session) -> None:
        """End the services of a crashed browser at once, not only on the next call."""
        if self._sessions.get(session.id) is session:
            logger.warning("the browser of session %s is gone", session.id)
            await self._drop_crashed(session)

    # Using

    def running(self, *, caller: Caller) -> RunningApp:
        """Return the running app of the caller.

        Raises:
            NoActiveSessionError: No app is running, or it belongs to another principal.
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
            InvalidParameterError: The running session has another id.
        """
        launching = self._launching if self._launching_for == caller and id is None else None
        if launching is not None:
            launching.cancel()
            await asyncio.wait([launching])
        running = self.find_running(caller=caller)
        if running is None:
            return CleanUp(launching is not None)
        if id is not None and id != running.session.id:
            raise InvalidParameterError(
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
        """Raise an error, because only `launch` starts an app."""
        raise self._not_found_error(id, caller)

    def _not_found_error(self, id: str, caller: Caller) -> NoActiveSessionError:
        """Return the error that explains how the session with this id, or else the last one, has ended."""
        id = id or self._find_last_ended(caller) or ""
        ended = self._find_ended(id, caller)
        why = f"{self.profile.name} is not running"
        if ended and ended.reason == CRASHED:
            why += f": the browser of session {id} crashed, or was killed"
        elif ended:
            why += f": session {id} {ended.reason}"
        return NoActiveSessionError(why, crashed=True if ended and ended.reason == CRASHED else None)

    def _find_last_ended(self, caller: Caller) -> str | None:
        return next((id for id in reversed(self._ended) if self._find_ended(id, caller)), None)

    async def _keep(self, session: Session) -> None:
        """Do nothing, because a session of an app does not survive a restart."""

    def _forget(self, id: str, caller: Caller) -> None:
        """Do nothing, because no session is kept."""
