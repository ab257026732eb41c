"""Find the browser, start it. It is found, not assumed; a missing one is named with its remedy."""

from __future__ import annotations

import logging
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from footlight.browser._playwright import Error, cause, start_playwright
from footlight.errors import BrowserNotInstalled

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

    from footlight.config import BrowserSettings

__all__ = [
    "FoundBrowser",
    "TriedBrowser",
    "did_not_start",
    "find_browser",
    "lacks_display",
    "launch_arguments",
    "launch_browser",
    "try_browser",
]

logger = logging.getLogger(__name__)

Source = Literal["configured", "channel", "playwright", "system"]

QUIET = (
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""Chromium makes no request of its own."""

_LINK_LOCAL = (
    "169.254.*.*",
    "::ffff:a9fe:*",
    "64:ff9b::a9fe:*",
    "fe8?:*",
    "fe9?:*",
    "fea?:*",
    "feb?:*",
    "fd00:ec2::254",
)
"""As Chromium matches hosts: addresses in their shortest form, those of IPv6 without brackets."""

NO_LINK_LOCAL = ("--host-resolver-rules=" + ", ".join(f"MAP {host} ~NOTFOUND" for host in _LINK_LOCAL),)
"""Also where a redirect leads there, or a page asks: without the proxy, nobody else sees those."""

BEHIND_PROXY = ("--force-webrtc-ip-handling-policy=disable_non_proxied_udp",)
"""Nothing goes around the proxy that enforces the domain policy."""

_SHELLS = ("chromium-headless-shell", "chrome-headless-shell")
_CHROMIUMS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "microsoft-edge-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)


@dataclass(frozen=True, slots=True)
class FoundBrowser:
    """`executable` is None where Playwright knows the way itself (its own build, or a channel)."""

    source: Source
    executable: Path | None
    path: str
    """For people: where it is."""


def find_browser(settings: BrowserSettings, own_build: Path, *, shell: bool = True) -> FoundBrowser:
    """The configured one, else Playwright's own, else the system's.

    `own_build` is where Playwright's own build of this engine would be. Without `shell` the headless shell
    is the last resort.

    Raises:
        BrowserNotInstalled: with the command that mends it.
    """
    if settings.executable_path is not None:
        return _configured(settings.executable_path)
    if settings.channel is not None:
        return FoundBrowser("channel", None, settings.channel)
    if not shell and (whole := _find_whole(own_build)):
        return whole
    if _has_own_build(own_build, settings.headless and settings.type == "chromium"):
        return FoundBrowser("playwright", None, str(own_build))
    if settings.type == "chromium" and (path := _system_chromium(settings.headless)):
        return FoundBrowser("system", Path(path), path)
    if own_build.is_file():  # Without its headless shell; the browser itself can do without a window too.
        return FoundBrowser("playwright", own_build, str(own_build))
    raise BrowserNotInstalled(
        f"No usable {settings.type} was found on this machine",
        suggestion=_remedy(settings.type),
        browser=settings.type,
    )


def _find_whole(own_build: Path) -> FoundBrowser | None:
    """A Chromium that has a window, which it need not show."""
    if own_build.is_file():
        return FoundBrowser("playwright", own_build, str(own_build))
    path = _system_chromium(headless=False)
    return FoundBrowser("system", Path(path), path) if path else None


@dataclass(frozen=True, slots=True)
class TriedBrowser:
    """A browser that was started and opened a page."""

    version: str
    path: str
    sandboxed: bool


async def try_browser(settings: BrowserSettings) -> TriedBrowser:
    """Start the browser of the settings, open a page, end it. Raises BrowserNotInstalled."""
    with tempfile.TemporaryDirectory(prefix="footlight-try-") as folder:
        async with start_playwright(Path(folder)) as playwright:
            browser = await launch_browser(playwright, settings, proxied=False)
            await (await browser.new_page()).goto("about:blank")
            version = f"{settings.type} {browser.version}"
            await browser.close()
            if settings.cdp_endpoint:
                return TriedBrowser(version, settings.cdp_endpoint, True)
            found = find_browser(settings, Path(getattr(playwright, settings.type).executable_path))
            sandboxed = settings.type != "chromium" or _sandbox(settings.args)
            return TriedBrowser(version, found.path, sandboxed)


def _configured(path: Path) -> FoundBrowser:
    if not (path.is_file() and os.access(path, os.X_OK)):
        raise BrowserNotInstalled(
            f"The configured browser {path} is not an executable file",
            suggestion="Correct browser.executablePath (--executable-path), or leave it out.",
            executablePath=str(path),
        )
    return FoundBrowser("configured", path, str(path))


def _has_own_build(own_build: Path, headless_shell: bool) -> bool:
    """Playwright keeps the headless shell beside the browser: `chromium_headless_shell-N`, `chromium-N`."""
    if not headless_shell:
        return own_build.is_file()
    for folder in own_build.parents:
        if folder.name.startswith("chromium-"):
            return (folder.parent / folder.name.replace("chromium-", "chromium_headless_shell-")).is_dir()
    return own_build.is_file()


def _system_chromium(headless: bool) -> str | None:
    """A headless shell opens a page in a quarter of the time, so it comes first where it can serve."""
    names = (*_SHELLS, *_CHROMIUMS) if headless else _CHROMIUMS
    return next((path for name in names if (path := shutil.which(name))), None)


def _remedy(engine: str) -> str:
    install = f"Run `{Path(sys.executable).name} -m playwright install {engine}`"
    if engine != "chromium":
        return f"{install} (only Playwright's own build of {engine} can be driven)."
    return (
        f"Run `footlight doctor --install`, or {install[0].lower()}{install[1:]}, or install Chromium "
        "with the system's package manager (Debian: `apt-get install chromium chromium-headless-shell`)."
    )


async def launch_browser(playwright: Playwright, settings: BrowserSettings, *, proxied: bool) -> Browser:
    """Start a browser, or attach to the one at `cdpEndpoint`.

    Raises:
        BrowserNotInstalled: it is not there, or does not start.
    """
    engine = getattr(playwright, settings.type)
    if settings.cdp_endpoint:
        return await _attach(playwright, settings.cdp_endpoint)
    found = find_browser(settings, Path(engine.executable_path))
    try:
        return await engine.launch(**launch_arguments(settings, found, proxied=proxied))
    except Error as error:
        raise did_not_start(error, settings, found) from error


def launch_arguments(settings: BrowserSettings, found: FoundBrowser, *, proxied: bool) -> dict[str, Any]:
    """As Playwright takes them, for a browser of its own and for one on a profile."""
    logger.info("starting %s (%s: %s)", settings.type, found.source, found.path)
    options: dict[str, Any] = {"headless": settings.headless, "args": list(settings.args)}
    if found.executable is not None:
        options["executable_path"] = found.executable
    if settings.channel is not None:
        options["channel"] = settings.channel
    if settings.type == "chromium":
        options["args"] = [*QUIET, *(BEHIND_PROXY if proxied else NO_LINK_LOCAL), *settings.args]
        options["chromium_sandbox"] = _sandbox(settings.args)
    # Signals are ours: Playwright would end the browsers before the sessions are saved.
    return {**options, "handle_sigint": False, "handle_sigterm": False, "handle_sighup": False}


def did_not_start(error: Error, settings: BrowserSettings, found: FoundBrowser) -> BrowserNotInstalled:
    return BrowserNotInstalled(
        f"{settings.type} ({found.path}) did not start: {_start_reason(error)}",
        suggestion=_start_remedy(error, settings),
        browser=settings.type,
        path=found.path,
    )


async def _attach(playwright: Playwright, endpoint: str) -> Browser:
    try:
        return await playwright.chromium.connect_over_cdp(endpoint)
    except Error as error:
        raise BrowserNotInstalled(
            f"No browser answers at {endpoint}: {cause(error)}",
            suggestion="Start Chromium with --remote-debugging-port; browser.cdpEndpoint is its address.",
            cdpEndpoint=endpoint,
        ) from error


def _sandbox(args: list[str]) -> bool:
    """On, except where it cannot be (the root user) or was turned off; both are logged."""
    if "--no-sandbox" in args:
        logger.warning("the browser's sandbox is off: browser.args has --no-sandbox")
        return False
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        logger.warning("the browser's sandbox is off: Chromium has none for the root user")
        return False
    return True


_NO_SANDBOX = ("sandboxing failed", "No usable sandbox", "without --no-sandbox")
"""What is said where it is missing; the command line, which is told too, names it always."""


def lacks_display(error: Error) -> bool:
    return "DISPLAY" in error.message or "XServer" in error.message


def _start_reason(error: Error) -> str:
    return "there is no display to show it on" if lacks_display(error) else cause(error)


def _start_remedy(error: Error, settings: BrowserSettings) -> str:
    if lacks_display(error):
        return "There is no display: leave --headed out, or run under `xvfb-run`."
    if settings.channel is not None:
        return f"Install it (`playwright install {settings.channel}`), or leave browser.channel out."
    if any(words in error.message for words in _NO_SANDBOX):
        return (
            "The system forbids Chromium's sandbox: "
            "allow user namespaces, or add --no-sandbox to browser.args."
        )
    return _remedy(settings.type)
