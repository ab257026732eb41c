"""Find an installed browser. A missing browser is reported with the command that installs it."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from footlight.errors import BrowserNotInstalledError

if TYPE_CHECKING:
    from footlight.config import BrowserSettings

__all__ = ["CHECK_PATH", "CORRECT_PATH", "FoundBrowser", "find_browser", "install_remedy"]

Source = Literal["configured", "channel", "playwright", "system"]

CHECK_PATH = "Check that browser.executablePath (--executable-path) is a browser that starts"
CORRECT_PATH = "Correct browser.executablePath (--executable-path), or leave it out."

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
    """A browser to start. `executable` is None if Playwright finds it: its own build, or a channel."""

    source: Source
    executable: Path | None
    path: str
    """The path to show to users."""


def find_browser(settings: BrowserSettings, own_build: Path, *, shell: bool = True) -> FoundBrowser:
    """Return the configured browser, otherwise Playwright's own, otherwise the system's.

    `own_build` is the path of Playwright's own build of this engine. Without `shell`, the headless shell is
    the last choice.

    Raises:
        BrowserNotInstalledError: no browser was found. The error has the command that installs one.
    """
    if settings.executable_path is not None:
        return _find_configured(settings.executable_path)
    if settings.channel is not None:
        return FoundBrowser("channel", None, settings.channel)
    if not shell and (whole := _find_whole(own_build)):
        return whole
    if _has_own_build(own_build, settings.headless and settings.type == "chromium"):
        return FoundBrowser("playwright", None, str(own_build))
    if settings.type == "chromium" and (path := _find_system_chromium(settings.headless)):
        return FoundBrowser("system", Path(path), path)
    if own_build.is_file():  # Without its headless shell. The browser itself can also run without a window.
        return FoundBrowser("playwright", own_build, str(own_build))
    raise BrowserNotInstalledError(
        f"No usable {settings.type} was found on this machine",
        suggestion=install_remedy(settings.type),
        browser=settings.type,
    )


def _find_whole(own_build: Path) -> FoundBrowser | None:
    """Find a Chromium that can open a window."""
    if own_build.is_file():
        return FoundBrowser("playwright", own_build, str(own_build))
    path = _find_system_chromium(headless=False)
    return FoundBrowser("system", Path(path), path) if path else None


def _find_configured(path: Path) -> FoundBrowser:
    if not (path.is_file() and os.access(path, os.X_OK)):
        raise BrowserNotInstalledError(
            f"The configured browser {path} is not an executable file",
            suggestion=CORRECT_PATH,
            executablePath=str(path),
        )
    return FoundBrowser("configured", path, str(path))


def _has_own_build(own_build: Path, headless_shell: bool) -> bool:
    """Return whether Playwright has its own build.

    The headless shell is in a folder beside it: `chromium_headless_shell-N`.
    """
    if not headless_shell:
        return own_build.is_file()
    for folder in own_build.parents:
        if folder.name.startswith("chromium-"):
            return (folder.parent / folder.name.replace("chromium-", "chromium_headless_shell-")).is_dir()
    return own_build.is_file()


def _find_system_chromium(headless: bool) -> str | None:
    """Find the system's browser. A headless shell is preferred, because it opens pages four times as fast."""
    names = (*_SHELLS, *_CHROMIUMS) if headless else _CHROMIUMS
    return next((path for name in names if (path := shutil.which(name))), None)


def install_remedy(engine: str) -> str:
    install = f"Run `{Path(sys.executable).name} -m playwright install {engine}`"
    if engine != "chromium":
        return f"{install} (only Playwright's own build of {engine} can be driven)."
    return (
        f"Run `footlight doctor --install`, or {install[0].lower()}{install[1:]}, or install Chromium "
        "with the system's package manager (Debian: `apt-get install chromium chromium-headless-shell`)."
    )
