"""A browser over a profile: started with a port for debuggers, ended with nothing of it left.

It is the whole browser where there is one, because the headless shell keeps its cookies in another way, and
names itself in a header whatever its user agent is.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from footlight.browser._playwright import Error
from footlight.browser.browser_process import close_context, end_process, process_of
from footlight.browser.context import context_arguments, option_refused
from footlight.browser.launch import did_not_start, find_browser, lacks_display, launch_arguments
from footlight.browser.launch_options import Launch, LaunchOptions, needs_own_agent
from footlight.browser.listening import listener_on
from footlight.browser.profile_lock import find_browser_holder
from footlight.browser.profiles import in_use
from footlight.errors import FootlightError, ResourceExhausted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psutil
    from playwright.async_api import BrowserContext, Playwright

    from footlight.browser.devices import Devices
    from footlight.browser.launch import FoundBrowser
    from footlight.config import BrowserSettings

__all__ = ["Endpoint", "PersistentBrowser", "PersistentLauncher", "check_port", "closed_to_pages"]

VACATED_SECONDS = 5.0
"""How long the browser of a server that was killed may take to notice."""
LISTENS_SECONDS = 10.0
LOOK_SECONDS = 0.02

RULES = "--host-resolver-rules="
_THIS_MACHINE = (
    *("localhost", "localhost.", "*.localhost", "*.localhost.", "127.*", "0.*"),
    *("[::ffff:7f*]", "[::ffff:0:*]"),
)
"""Under these names debuggers are served. `PORTS` are 2????, where ? may also be nothing."""
_SHORT_PORTS = tuple(f"MAP {host}:2??? {host}" for host in ("localhost", "127.0.0.1"))
"""So these must be said to be no such ports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where the browser of a session listens for debuggers, on this machine alone."""

    port: int
    http: str
    ws: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PersistentBrowser:
    """One that runs on a profile."""

    context: BrowserContext
    launch: Launch
    endpoint: Endpoint
    process: psutil.Process
    """Not its number, which may be another's when the browser is gone."""
    shell: bool
    """Whether it is a headless shell."""

    async def end(self) -> None:
        """Be sure that it is gone: the profile is whole, and its port free, only then."""
        await close_context(self.context)
        await asyncio.to_thread(end_process, self.process)


class PersistentLauncher:
    """Starts browsers over profiles. What they keep for as long as they run is in `temporary`."""

    def __init__(
        self,
        playwright: Playwright,
        settings: BrowserSettings,
        *,
        devices: Devices,
        filter_proxy: str | None,
        temporary: Path,
    ) -> None:
        self._temporary = temporary
        self._playwright = playwright
        self._settings = settings
        self._devices = devices
        self._filter_proxy = filter_proxy
        self._own_agent: str | None = None

    async def launch(self, folder: Path, options: LaunchOptions, *, port: int) -> PersistentBrowser:
        """Start one on the profile in `folder`, which nobody else may have by now.

        Raises:
            BrowserNotInstalled: there is none, or it does not start.
            InvalidParameter: names the option that it does not take.
            ResourceExhausted: another browser runs on the profile, or something else listens on the port.
        """
        launch = Launch.of(
            options,
            headless=self._settings.headless,
            own_agent=await self._agent() if needs_own_agent(options) else None,
            devices=self._devices,
        )
        await _vacated(folder)
        check_port(port)
        found = self._find()
        context = await self._start(folder, launch, found, port)
        try:
            async with asyncio.timeout(LISTENS_SECONDS):
                process = await process_of(context)
                endpoint = await _endpoint(process, port)
            return PersistentBrowser(
                context=context, launch=launch, endpoint=endpoint, process=process, shell=_is_shell(found)
            )
        except BaseException as error:
            await close_context(context)
            if isinstance(error, TimeoutError):
                check_port(port)
                raise _taken(port, "something else") from None
            if _is_gone(error):
                told = error if isinstance(error, Error) else Error("it ended at once")
                raise self._why_not(told, launch, found) from error
            raise

    def _find(self) -> FoundBrowser:
        return find_browser(self._settings, Path(self._playwright.chromium.executable_path), shell=False)

    async def _start(self, folder: Path, launch: Launch, found: FoundBrowser, port: int) -> BrowserContext:
        arguments: dict[str, Any] = {
            **launch_arguments(self._settings, found, proxied=self._filter_proxy is not None),
            **context_arguments(
                launch.context, devices=self._devices, engine="chromium", filter_proxy=self._filter_proxy
            ),
            "headless": launch.headless,
            "env": {**os.environ, "TMPDIR": str(self._temporary)},
        }
        # Ours come last, and count.
        listen = ("--remote-debugging-address=127.0.0.1", f"--remote-debugging-port={port}")
        arguments["args"] = [*closed_to_pages(arguments["args"]), *launch.args, *listen]
        try:
            return await self._playwright.chromium.launch_persistent_context(folder, **arguments)
        except Error as error:
            raise self._why_not(error, launch, found) from error

    def _why_not(self, error: Error, launch: Launch, found: FoundBrowser) -> FootlightError:
        if refused := option_refused(error, of="launchOptions."):
            return refused
        failed = did_not_start(error, self._settings, found)
        if launch.options.headless is False and lacks_display(error):
            failed.suggestion = "Give headless: true in launchOptions; a window needs a display."
        return failed

    async def _agent(self) -> str:
        """What the browser calls itself, asked once: it must be known before one starts with another word."""
        if self._own_agent is None:
            found = self._find()
            arguments = launch_arguments(self._settings, found, proxied=False)
            arguments["headless"] = True
            try:
                browser = await self._playwright.chromium.launch(**arguments)
                try:
                    cdp = await browser.new_browser_cdp_session()
                    version = cast("dict[str, str]", await cdp.send("Browser.getVersion"))
                finally:
                    await browser.close()
            except Error as error:
                raise did_not_start(error, self._settings, found) from error
            self._own_agent = version["userAgent"]
        return self._own_agent


def closed_to_pages(args: Sequence[str]) -> list[str]:
    """With the ports of debuggers out of reach, of this browser and of all others of ours.

    Only the last switch of that name counts, so its rules are put together.
    """
    given = [arg.removeprefix(RULES) for arg in args if arg.startswith(RULES)]
    rules = [*_SHORT_PORTS, *(f"MAP {host}:2???? ~NOTFOUND" for host in _THIS_MACHINE), *given]
    return [*(arg for arg in args if not arg.startswith(RULES)), RULES + ", ".join(rules)]


async def _endpoint(process: psutil.Process, port: int) -> Endpoint:
    """When the browser listens. It goes on without a port where it cannot have this one."""
    while not await asyncio.to_thread(_listens, process, port):  # noqa: ASYNC110 - the system tells of none
        await asyncio.sleep(LOOK_SECONDS)
    at = f"127.0.0.1:{port}"
    path = await asyncio.to_thread(_debugger_path, port)
    return Endpoint(port=port, http=f"http://{at}", ws=f"ws://{at}{path}")


def _listens(process: psutil.Process, port: int) -> bool:
    listening = (each for each in process.net_connections("tcp4") if each.status == "LISTEN")
    return any(each.laddr and each.laddr[1] == port for each in listening)


def _is_gone(error: BaseException) -> bool:
    """Whether this is how it shows, to whoever asks a browser, that it has ended."""
    import psutil

    return isinstance(error, (Error, psutil.NoSuchProcess, OSError, http.client.HTTPException))


def _debugger_path(port: int) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LISTENS_SECONDS)
    with contextlib.closing(connection):
        connection.request("GET", "/json/version")
        told: dict[str, str] = json.load(connection.getresponse())
    return urlsplit(told["webSocketDebuggerUrl"]).path


def _is_shell(found: FoundBrowser) -> bool:
    return "headless" in Path(found.path).name or (found.source == "playwright" and found.executable is None)


async def _vacated(folder: Path) -> None:
    """Wait for the browser of a server that was killed: it ends, but not at once."""
    try:
        async with asyncio.timeout(VACATED_SECONDS):
            while await asyncio.to_thread(find_browser_holder, folder):  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(LOOK_SECONDS)
    except TimeoutError:
        if holder := find_browser_holder(folder):
            raise in_use(folder.name, holder) from None


def check_port(port: int) -> None:
    """Raises ResourceExhausted where somebody listens there, and says who, if the system tells."""
    with socket.socket() as trial:
        # As Chromium does: what is left of connections that were closed is no matter.
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(("127.0.0.1", port))
        except OSError:
            raise _taken(port, listener_on(port)) from None


def _taken(port: int, by: str) -> ResourceExhausted:
    return ResourceExhausted(
        f"port {port}, on which the browser of this session listens, is taken by {by}",
        suggestion="The port comes from the name: end that process, or give another sessionName.",
        port=port,
    )
