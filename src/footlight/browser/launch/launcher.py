"""Start a browser of the pool, or attach to a running one."""

from __future__ import annotations

import logging
import os
import re
import sys
import tempfile
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footlight.browser.context.arguments import context_arguments
from footlight.browser.driver.pending_starts import PendingStarts
from footlight.browser.driver.playwright_api import Error, cause
from footlight.browser.driver.playwright_connection import start_playwright
from footlight.browser.driver.shielding import shield_until_done
from footlight.browser.launch.browser_process import close_context
from footlight.browser.launch.chromium_flags import (
    BEHIND_PROXY,
    NO_LINK_LOCAL,
    NO_OWN_REQUESTS,
    UNLIMITED_NAVIGATIONS,
)
from footlight.browser.launch.installation import (
    CHECK_PATH,
    CORRECT_PATH,
    FoundBrowser,
    find_browser,
    install_remedy,
)
from footlight.config import BrowserSettings
from footlight.errors import (
    BrowserCrashedError,
    BrowserNotInstalledError,
    FootlightError,
    ResourceExhaustedError,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from playwright.async_api import Browser, BrowserContext, Playwright

    from footlight.browser.context.devices import Devices
    from footlight.browser.context.options import SessionOptions

__all__ = [
    "ProfileLauncher",
    "TriedBrowser",
    "check_file_limit",
    "is_display_missing",
    "launch_arguments",
    "launch_browser",
    "launch_error",
    "track_start",
    "try_browser",
]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TriedBrowser:
    """A browser that was started successfully and has opened a page."""

    version: str
    path: str
    sandboxed: bool


async def try_browser(settings: BrowserSettings) -> TriedBrowser:
    """Start the configured browser, open a page and close it.

    Raises:
        BrowserNotInstalledError: one of these steps fails.
    """
    with tempfile.TemporaryDirectory(prefix="footlight-try-") as folder:
        async with start_playwright(Path(folder)) as playwright:
            browser = await launch_browser(playwright, settings, proxied=False, starts=PendingStarts())
            await (await browser.new_page()).goto("about:blank")
            version = f"{settings.type} {browser.version}"
            await browser.close()
            if settings.cdp_endpoint:
                return TriedBrowser(version, settings.cdp_endpoint, True)
            found = find_browser(settings, Path(getattr(playwright, settings.type).executable_path))
            sandboxed = settings.type != "chromium" or _sandbox(settings.args)
            return TriedBrowser(version, found.path, sandboxed)


async def launch_browser(
    playwright: Playwright, settings: BrowserSettings, *, proxied: bool, starts: PendingStarts
) -> Browser:
    """Start a browser, or attach to the one at `cdpEndpoint`.

    Raises:
        BrowserNotInstalledError: the browser is missing, does not start, or does not respond.
    """
    engine = getattr(playwright, settings.type)
    if settings.cdp_endpoint:
        return await _attach(playwright, settings.cdp_endpoint, starts)
    found = find_browser(settings, Path(engine.executable_path))
    try:
        with track_start(starts, settings, found):
            return await engine.launch(**launch_arguments(settings, found, proxied=proxied))
    except Error as error:
        raise launch_error(error, settings, found) from error


def track_start(
    starts: PendingStarts, settings: BrowserSettings, found: FoundBrowser
) -> AbstractContextManager[None]:
    """Track the start of a browser in this block."""
    check = CHECK_PATH if found.source == "configured" else f"Check that {found.path} starts by itself"
    return starts.track(
        f"{settings.type} ({found.path})",
        advice=f"{check}. If it is only slow, increase the timeout parameter.",
        details={"browser": settings.type, "path": found.path},
    )


def launch_arguments(settings: BrowserSettings, found: FoundBrowser, *, proxied: bool) -> dict[str, Any]:
    """Return Playwright's launch arguments, for a browser with or without a profile.

    Raises:
        ResourceExhaustedError: the process may not have as many files open as a browser needs.
    """
    check_file_limit()
    logger.info("starting %s (%s: %s)", settings.type, found.source, found.path)
    options: dict[str, Any] = {"headless": settings.headless, "args": list(settings.args)}
    if found.executable is not None:
        options["executable_path"] = found.executable
    if settings.channel is not None:
        options["channel"] = settings.channel
    if settings.type == "chromium":
        options["args"] = [*NO_OWN_REQUESTS, *(BEHIND_PROXY if proxied else NO_LINK_LOCAL), *settings.args]
        options["chromium_sandbox"] = _sandbox(settings.args)
        options["ignore_default_args"] = [*UNLIMITED_NAVIGATIONS]
    # The server handles signals: Playwright would end the browsers before the sessions are saved.
    return {**options, "handle_sigint": False, "handle_sigterm": False, "handle_sighup": False}


class ProfileLauncher:
    """Starts Chromium on profiles. Its temporary files are in `temporary`."""

    def __init__(
        self,
        playwright: Callable[[], Playwright],
        settings: BrowserSettings,
        *,
        devices: Devices,
        filter_proxy: str | None,
        temporary: Path,
        starts: PendingStarts,
    ) -> None:
        self._playwright = playwright
        self._settings = settings
        self._devices = devices
        self._filter_proxy = filter_proxy
        self._temporary = temporary
        self._starts = starts

    def find(self) -> FoundBrowser:
        """Return the browser to start. Raise BrowserNotInstalledError if no browser is found."""
        return find_browser(self._settings, Path(self._playwright().chromium.executable_path), shell=False)

    def _base_arguments(self, options: SessionOptions, found: FoundBrowser) -> dict[str, Any]:
        return {
            **launch_arguments(self._settings, found, proxied=self._filter_proxy is not None),
            **context_arguments(
                options, devices=self._devices, engine="chromium", filter_proxy=self._filter_proxy
            ),
            "env": {**os.environ, "TMPDIR": str(self._temporary)},
        }

    async def _launch_on(
        self,
        profile: Path,
        arguments: dict[str, Any],
        found: FoundBrowser,
        *,
        discard: Callable[[BrowserContext], Awaitable[None]] = close_context,
    ) -> BrowserContext:
        """Start a browser on the profile. If this is cancelled, `discard` ends the browser when it runs."""

        async def start() -> BrowserContext:
            with track_start(self._starts, self._settings, found):
                return await self._playwright().chromium.launch_persistent_context(profile, **arguments)

        return await shield_until_done(start(), discard=discard)


_KILLED = re.compile(r"signal=(SIG(?:KILL|TERM|INT|HUP|SEGV|BUS))\b")


def launch_error(error: Error, settings: BrowserSettings, found: FoundBrowser) -> FootlightError:
    if killed := _KILLED.search(error.message):
        return BrowserCrashedError(
            f"{settings.type} ({found.path}) ended by {killed[1]} while it was starting"
        )
    return BrowserNotInstalledError(
        f"{settings.type} ({found.path}) did not start: {_start_reason(error)}",
        suggestion=_start_remedy(error, settings, found),
        browser=settings.type,
        path=found.path,
    )


async def _attach(playwright: Playwright, endpoint: str, starts: PendingStarts) -> Browser:
    advice = "Check that browser.cdpEndpoint is the address of a Chromium that responds. "
    advice += "If it is only slow, increase the timeout parameter."
    try:
        with starts.track(f"the browser at {endpoint}", advice=advice, details={"cdpEndpoint": endpoint}):
            return await playwright.chromium.connect_over_cdp(endpoint)
    except Error as error:
        raise BrowserNotInstalledError(
            f"No browser answers at {endpoint}: {cause(error)}",
            suggestion="Start Chromium with --remote-debugging-port; browser.cdpEndpoint is its address.",
            cdpEndpoint=endpoint,
        ) from error


def check_file_limit() -> None:
    """Check that the process may have as many files open as a browser needs.

    Raises:
        ResourceExhaustedError: it may not.
    """
    if sys.platform == "win32":
        return
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit != resource.RLIM_INFINITY and limit < MIN_FILES:
        raise ResourceExhaustedError(
            f"The server's process may have {limit} files open (ulimit -n), and a browser needs {MIN_FILES}",
            retryable=False,
            suggestion="Raise the limit before the server is started, for example with `ulimit -n 4096`.",
        )


def _sandbox(args: list[str]) -> bool:
    """Return whether to use the sandbox. It is disabled for root or by configuration, which is logged."""
    if "--no-sandbox" in args:
        logger.warning("the browser's sandbox is off: browser.args has --no-sandbox")
        return False
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        logger.warning("the browser's sandbox is off: Chromium has none for the root user")
        return False
    return True


MIN_FILES = 128
"""With fewer, Chromium starts and then crashes."""
_NO_SANDBOX = ("sandboxing failed", "No usable sandbox", "without --no-sandbox")
"""Messages about a missing sandbox. The reported command line always contains the flag too."""


def is_display_missing(error: Error) -> bool:
    return "DISPLAY" in error.message or "XServer" in error.message


_EXITED = re.compile(r"<process did exit: exitCode=(\d{1,10}),")
EXIT_BY_SIGNAL = 128
"""A shell that starts the browser exits with this number plus that of the signal that ended the browser."""
_REFUSED_ARGUMENT = re.compile(
    r"Playwright manages remote debugging|Arguments can not specify page|Pass user_data_dir parameter"
)
_SAID = re.compile(r"\[pid=\d{1,10}\]\[err\] ([^\n]{1,300})")
_ORIGIN = re.compile(r"^\[[\d/.:]{1,40}:[A-Z]{1,10}:[\w/.-]{1,200}:\d{1,6}\] ")
"""The place in Chromium's source code at the beginning of a line of its log."""


def _start_reason(error: Error) -> str:
    """Return why the browser did not start: for a process that ended, its exit code and last log line."""
    if is_display_missing(error):
        return "there is no display to show it on"
    ended = _EXITED.search(error.message)
    if ended is None:
        return cause(error)
    # Chromium's zygote process writes errors after the browser has ended.
    words = [each for each in _SAID.findall(error.message) if "/zygote/" not in each]
    said = f": {_ORIGIN.sub('', words[-1].strip())}" if words else ""
    return f"it ended with exit code {ended[1]}{said}"


def _start_remedy(error: Error, settings: BrowserSettings, found: FoundBrowser) -> str:
    if is_display_missing(error):
        return "There is no display: leave --headed out, or run under `xvfb-run`."
    if _REFUSED_ARGUMENT.search(error.message):
        return "Correct browser.args: this server itself chooses the port, the profile and the first page."
    if settings.channel is not None:
        return f"Install it (`playwright install {settings.channel}`), or leave browser.channel out."
    if any(words in error.message for words in _NO_SANDBOX):
        return (
            "The system forbids Chromium's sandbox: "
            "allow user namespaces, or add --no-sandbox to browser.args."
        )
    if "error while loading shared libraries" in error.message:
        return (
            "Install the library with the system's package manager, "
            f"or run `python -m playwright install-deps {settings.type}`."
        )
    if settings.args != BrowserSettings().args:
        correct = "Correct browser.args, or leave them out: the browser was started with them."
        return f"{correct} {CORRECT_PATH}" if found.source == "configured" else correct
    if found.source == "configured":
        return CORRECT_PATH
    ended = _EXITED.search(error.message)
    if "signal=SIG" in error.message or (ended and int(ended[1]) > EXIT_BY_SIGNAL):
        return (
            "The browser is installed, but the system ended it: check the limits of the server's process "
            "(ulimit -a), and the memory and disk of the machine."
        )
    return install_remedy(settings.type)
