"""Start a browser on a profile, with a port for debuggers, and end it completely.

The full browser is preferred. The headless shell stores its cookies in another way, and identifies itself in
a header regardless of its user agent.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from footlight.browser.context.arguments import option_error
from footlight.browser.driver.playwright_api import Error
from footlight.browser.launch.browser_process import close_context, end_process, find_process, listener_on
from footlight.browser.launch.chromium_flags import close_debugging_ports
from footlight.browser.launch.launch_options import LaunchOptions, LaunchPlan, needs_own_agent
from footlight.browser.launch.launcher import (
    ProfileLauncher,
    is_display_missing,
    launch_arguments,
    launch_error,
    track_start,
)
from footlight.browser.launch.profile_lock import find_browser_holder
from footlight.browser.launch.profiles import profile_in_use_error
from footlight.errors import FootlightError, ResourceExhaustedError

if TYPE_CHECKING:
    import psutil
    from playwright.async_api import BrowserContext

    from footlight.browser.launch.installation import FoundBrowser

__all__ = ["DebugEndpoint", "PersistentBrowser", "PersistentLauncher", "check_port"]

VACATED_SECONDS = 5.0
"""How long the browser of a killed server may take to end."""
LISTENS_SECONDS = 10.0
LOOK_SECONDS = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class DebugEndpoint:
    """The endpoint at which the browser of a session accepts debuggers, only from this machine."""

    port: int
    http: str
    ws: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PersistentBrowser:
    """A browser that runs on a profile."""

    context: BrowserContext
    launch: LaunchPlan
    endpoint: DebugEndpoint
    process: psutil.Process
    """The process. Its id may be reused after the browser has ended."""
    shell: bool
    """Whether it is a headless shell."""

    async def end(self) -> None:
        """End the browser. Afterwards the profile is consistent and the port is free."""
        await close_context(self.context)
        await asyncio.to_thread(end_process, self.process)


class PersistentLauncher(ProfileLauncher):
    """Starts browsers on profiles with a port for debuggers."""

    _own_agent: str | None = None

    async def launch(self, folder: Path, options: LaunchOptions, *, port: int) -> PersistentBrowser:
        """Start a browser on the profile in `folder`, which the caller has locked.

        Raises:
            BrowserNotInstalledError: the browser is missing, or does not start.
            InvalidParameterError: the browser refuses an option, which the error names.
            ResourceExhaustedError: another browser runs on the profile, or another process listens on the
                port.
        """
        launch = LaunchPlan.of(
            options,
            headless=self._settings.headless,
            own_agent=await self._agent() if needs_own_agent(options) else None,
            devices=self._devices,
        )
        await _wait_until_vacated(folder)
        check_port(port)
        found = self.find()
        context = await self._start(folder, launch, found, port)
        try:
            async with asyncio.timeout(LISTENS_SECONDS):
                process = await find_process(context)
                endpoint = await _endpoint(process, port)
            return PersistentBrowser(
                context=context, launch=launch, endpoint=endpoint, process=process, shell=_is_shell(found)
            )
        except BaseException as error:
            await close_context(context)
            if isinstance(error, TimeoutError):
                check_port(port)
                raise _port_in_use_error(port, "something else") from None
            if _is_gone(error):
                cause = error if isinstance(error, Error) else Error("it ended at once")
                raise self._launch_error(cause, launch, found) from error
            raise

    async def _start(
        self, folder: Path, launch: LaunchPlan, found: FoundBrowser, port: int
    ) -> BrowserContext:
        arguments = self._base_arguments(launch.context, found)
        arguments["headless"] = launch.headless
        # The last switch with a name is used, so ours come last.
        listen = ("--remote-debugging-address=127.0.0.1", f"--remote-debugging-port={port}")
        arguments["args"] = [*close_debugging_ports(arguments["args"]), *launch.args, *listen]
        try:
            return await self._launch_on(folder, arguments, found)
        except Error as error:
            raise self._launch_error(error, launch, found) from error

    def _launch_error(self, error: Error, launch: LaunchPlan, found: FoundBrowser) -> FootlightError:
        if refused := option_error(error, of="launchOptions."):
            return refused
        failed = launch_error(error, self._settings, found)
        if launch.options.headless is False and is_display_missing(error):
            failed.suggestion = "Give headless: true in launchOptions; a window needs a display."
        return failed

    async def _agent(self) -> str:
        """Return the browser's own user agent. It is read once, from a browser without an override."""
        if self._own_agent is None:
            found = self.find()
            arguments = launch_arguments(self._settings, found, proxied=False)
            arguments["headless"] = True
            try:
                with track_start(self._starts, self._settings, found):
                    browser = await self._playwright().chromium.launch(**arguments)
                try:
                    cdp = await browser.new_browser_cdp_session()
                    version = cast("dict[str, str]", await cdp.send("Browser.getVersion"))
                finally:
                    await browser.close()
            except Error as error:
                raise launch_error(error, self._settings, found) from error
            self._own_agent = version["userAgent"]
        return self._own_agent


async def _endpoint(process: psutil.Process, port: int) -> DebugEndpoint:
    """Return the endpoint when the browser listens.

    If the port is taken, Chromium runs without an endpoint.
    """
    while not await asyncio.to_thread(_is_listening, process, port):  # noqa: ASYNC110 - there is no event
        await asyncio.sleep(LOOK_SECONDS)
    at = f"127.0.0.1:{port}"
    path = await asyncio.to_thread(_debugger_path, port)
    return DebugEndpoint(port=port, http=f"http://{at}", ws=f"ws://{at}{path}")


def _is_listening(process: psutil.Process, port: int) -> bool:
    sockets = (each for each in process.net_connections("tcp4") if each.status == "LISTEN")
    return any(each.laddr and each.laddr[1] == port for each in sockets)


def _is_gone(error: BaseException) -> bool:
    """Return whether the error means that the browser has ended."""
    from http.client import HTTPException

    import psutil

    return isinstance(error, (Error, psutil.NoSuchProcess, OSError, HTTPException))


def _debugger_path(port: int) -> str:
    from http.client import HTTPConnection

    connection = HTTPConnection("127.0.0.1", port, timeout=LISTENS_SECONDS)
    with contextlib.closing(connection):
        connection.request("GET", "/json/version")
        version: dict[str, str] = json.load(connection.getresponse())
    return urlsplit(version["webSocketDebuggerUrl"]).path


def _is_shell(found: FoundBrowser) -> bool:
    return "headless" in Path(found.path).name or (found.source == "playwright" and found.executable is None)


async def _wait_until_vacated(folder: Path) -> None:
    """Wait a moment until the browser of a killed server has ended."""
    try:
        async with asyncio.timeout(VACATED_SECONDS):
            while await asyncio.to_thread(find_browser_holder, folder):  # noqa: ASYNC110 - no event
                await asyncio.sleep(LOOK_SECONDS)
    except TimeoutError:
        if holder := find_browser_holder(folder):
            raise profile_in_use_error(folder.name, holder) from None


def check_port(port: int) -> None:
    """Check that the port is free.

    Raise ResourceExhaustedError otherwise, which names the process if the system reports it.
    """
    with socket.socket() as trial:
        # This is what Chromium does. Closed connections in TIME_WAIT then do not count.
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(("127.0.0.1", port))
        except OSError:
            raise _port_in_use_error(port, listener_on(port)) from None


def _port_in_use_error(port: int, by: str) -> ResourceExhaustedError:
    return ResourceExhaustedError(
        f"port {port}, on which the browser of this session listens, is taken by {by}",
        suggestion="The port comes from the name: end that process, or give another sessionName.",
        port=port,
    )
