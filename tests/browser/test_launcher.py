"""Choosing and starting a browser, and the errors when that fails."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from footlight.browser.launch.installation import FoundBrowser, find_browser
from footlight.browser.launch.launcher import try_browser
from footlight.config import BrowserSettings
from footlight.errors import BrowserNotInstalledError
from tests.conftest import ENGINE

needs_chromium = pytest.mark.skipif(ENGINE != "chromium", reason="starts Chromium")
as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="root's Chromium has no sandbox"
)

INSTALL = f"`{Path(sys.executable).name} -m playwright install"
CHROMIUM_REMEDY = (
    f"Run `footlight doctor --install`, or run {INSTALL} chromium`, or install Chromium with the system's "
    "package manager (Debian: `apt-get install chromium chromium-headless-shell`)."
)


class Machine:
    """Files that look like browsers; nothing else is on PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.own_build = folder / "own" / "chromium-7" / "chrome-linux" / "chrome"

    def file(self, path: Path, mode: int = 0o755) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(mode)
        return path

    def program(self, name: str) -> Path:
        return self.file(self.folder / "bin" / name)

    def has_own_build(self) -> None:
        self.file(self.own_build)

    def has_own_shell(self) -> None:
        (self.folder / "own" / "chromium_headless_shell-7").mkdir(parents=True)

    def finds(self, **settings: Any) -> FoundBrowser:
        return find_browser(BrowserSettings.model_validate(settings), self.own_build)

    def misses(self, **settings: Any) -> BrowserNotInstalledError:
        with pytest.raises(BrowserNotInstalledError) as raised:
            self.finds(**settings)
        return raised.value


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return Machine(tmp_path)


# Which one


def test_configured_browser_takes_precedence(machine: Machine) -> None:
    configured = machine.file(machine.folder / "mine")
    machine.has_own_build()
    machine.has_own_shell()
    machine.program("chromium")

    expected = FoundBrowser("configured", configured, str(configured))
    assert machine.finds(executablePath=str(configured)) == expected
    assert machine.finds(executablePath=str(configured), channel="chrome") == expected
    assert machine.finds(executablePath=str(configured), type="firefox") == expected


def test_channel_is_resolved_by_playwright(machine: Machine) -> None:
    machine.has_own_build()
    machine.program("chromium")

    assert machine.finds(channel="msedge") == FoundBrowser("channel", None, "msedge")


def test_playwright_build_precedes_system_browsers(machine: Machine) -> None:
    machine.has_own_build()
    machine.has_own_shell()
    machine.program("chromium")
    machine.program("chromium-headless-shell")

    own = FoundBrowser("playwright", None, str(machine.own_build))
    assert machine.finds() == own
    assert machine.finds(headless=False) == own


def test_headless_shell_is_preferred_for_headless_work(machine: Machine) -> None:
    machine.has_own_build()
    shell = machine.program("chromium-headless-shell")
    machine.program("chromium")

    assert machine.finds() == FoundBrowser("system", shell, str(shell))
    assert machine.finds(headless=False).source == "playwright"


def test_profile_prefers_a_full_browser_over_headless_shell(machine: Machine) -> None:
    """The headless shell names itself in Sec-CH-UA, and keeps its cookies in another way."""
    shell = machine.program("chromium-headless-shell")
    found = [find_browser(BrowserSettings(), machine.own_build, shell=False)]
    chromium = machine.program("chromium")
    found.append(find_browser(BrowserSettings(), machine.own_build, shell=False))
    machine.has_own_build()
    machine.has_own_shell()
    found.append(find_browser(BrowserSettings(), machine.own_build, shell=False))

    assert found == [
        FoundBrowser("system", shell, str(shell)),
        FoundBrowser("system", chromium, str(chromium)),
        FoundBrowser("playwright", machine.own_build, str(machine.own_build)),
    ]


def test_playwright_headless_shell_suffices_for_headless_work(machine: Machine) -> None:
    machine.has_own_shell()

    assert machine.finds().source == "playwright"
    assert machine.misses(headless=False).details == {"browser": "chromium"}


def test_playwright_build_without_a_shell_is_used(machine: Machine) -> None:
    machine.has_own_build()

    assert machine.finds() == FoundBrowser("playwright", machine.own_build, str(machine.own_build))


def test_playwright_build_in_another_folder_is_used(machine: Machine) -> None:
    machine.own_build = machine.file(machine.folder / "built" / "chrome")

    assert machine.finds() == FoundBrowser("playwright", None, str(machine.own_build))


@pytest.mark.parametrize(
    ("installed", "headless", "found"),
    [
        (["chromium", "google-chrome", "chromium-headless-shell"], True, "chromium-headless-shell"),
        (["chromium", "chrome-headless-shell"], True, "chrome-headless-shell"),
        (["chromium", "google-chrome", "chromium-headless-shell"], False, "chromium"),
        (["google-chrome", "microsoft-edge"], True, "google-chrome"),
        (["chromium-browser", "google-chrome"], False, "chromium-browser"),
        (["microsoft-edge-stable"], True, "microsoft-edge-stable"),
    ],
)
def test_system_browsers_are_chosen_in_order(
    machine: Machine, installed: list[str], headless: bool, found: str
) -> None:
    programs = {name: machine.program(name) for name in installed}

    assert machine.finds(headless=headless) == FoundBrowser("system", programs[found], str(programs[found]))


@pytest.mark.parametrize("engine", ["firefox", "webkit"])
def test_firefox_and_webkit_need_the_playwright_build(machine: Machine, engine: str) -> None:
    machine.program(engine)
    machine.program("chromium")

    assert machine.misses(type=engine).message == f"No usable {engine} was found on this machine"

    machine.own_build = machine.file(machine.folder / "own" / f"{engine}-7" / engine)
    assert machine.finds(type=engine) == FoundBrowser("playwright", None, str(machine.own_build))


# None


def test_missing_chromium_error_suggests_a_remedy(machine: Machine) -> None:
    error = machine.misses()

    assert error.message == "No usable chromium was found on this machine"
    assert error.suggestion == CHROMIUM_REMEDY
    assert error.details == {"browser": "chromium"}


@pytest.mark.parametrize("engine", ["firefox", "webkit"])
def test_missing_firefox_or_webkit_error_suggests_a_remedy(machine: Machine, engine: str) -> None:
    error = machine.misses(type=engine)

    assert error.suggestion == (
        f"Run {INSTALL} {engine}` (only Playwright's own build of {engine} can be driven)."
    )
    assert error.details == {"browser": engine}


def test_invalid_configured_browser_is_refused_without_fallback(machine: Machine) -> None:
    machine.has_own_build()
    machine.has_own_shell()
    machine.program("chromium")
    plain = machine.file(machine.folder / "plain", 0o644)

    for path in (machine.folder / "missing", machine.folder, plain):
        error = machine.misses(executablePath=str(path))
        assert error.message == f"The configured browser {path} is not an executable file"
        assert error.suggestion == "Correct browser.executablePath (--executable-path), or leave it out."
        assert error.details == {"executablePath": str(path)}


# Started


async def fails(**settings: Any) -> BrowserNotInstalledError:
    with pytest.raises(BrowserNotInstalledError) as raised:
        await try_browser(BrowserSettings.model_validate(settings))
    return raised.value


@needs_chromium
@pytest.mark.anyio
async def test_disabled_sandbox_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, logger="footlight.browser.launch.launcher"):
        tried = await try_browser(BrowserSettings(args=["--no-sandbox", "--disable-dev-shm-usage"]))

    assert tried.version.startswith("chromium ")
    assert tried.path
    assert not tried.sandboxed
    assert "the browser's sandbox is off: browser.args has --no-sandbox" in caplog.messages


@needs_chromium
@as_root
@pytest.mark.anyio
async def test_sandbox_is_disabled_for_root_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="footlight.browser.launch.launcher"):
        tried = await try_browser(BrowserSettings())

    assert not tried.sandboxed
    assert "the browser's sandbox is off: Chromium has none for the root user" in caplog.messages


@needs_chromium
@as_root
@pytest.mark.anyio
async def test_sandbox_is_enabled_for_other_users_and_its_failure_explained(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Chromium itself refuses to start: it sees who we really are."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    error = await fails()

    assert error.suggestion == (
        "The system forbids Chromium's sandbox: allow user namespaces, or add --no-sandbox to browser.args."
    )


@pytest.mark.anyio
async def test_non_browser_program_fails_to_start(tmp_path: Path) -> None:
    program = Machine(tmp_path).program("lamp")

    error = await fails(executablePath=str(program))

    assert error.message.startswith(f"chromium ({program}) did not start: ")
    assert "\n" not in error.message
    assert error.suggestion == "Correct browser.executablePath (--executable-path), or leave it out."
    assert error.details == {"browser": "chromium", "path": str(program)}


@pytest.mark.slow
@needs_chromium
@pytest.mark.anyio
@pytest.mark.parametrize(
    "argument", ["--remote-debugging-pipe", "https://example.com/", "--user-data-dir=/profile"]
)
async def test_refused_browser_argument_is_named_with_its_setting(argument: str) -> None:
    error = await fails(args=[argument])

    assert error.suggestion.startswith("Correct browser.args: ")


@pytest.mark.slow
@needs_chromium
@pytest.mark.anyio
async def test_headed_browser_needs_a_display(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    tried = await try_browser(BrowserSettings())
    browser = tried.path.replace("-headless-shell", "")

    for channel in (None, "chrome"):
        error = await fails(headless=False, executablePath=browser, channel=channel)
        assert error.message.endswith(" did not start: there is no display to show it on")
        assert error.suggestion == "There is no display: leave --headed out, or run under `xvfb-run`."


HAS_EDGE = any(
    Path(path).exists() for path in ("/opt/microsoft/msedge/msedge", "/Applications/Microsoft Edge.app")
)


@pytest.mark.skipif(HAS_EDGE, reason="Edge is there")
@pytest.mark.anyio
async def test_missing_channel_error_suggests_a_remedy() -> None:
    error = await fails(channel="msedge")

    assert error.message.startswith("chromium (msedge) did not start: ")
    assert error.suggestion == "Install it (`playwright install msedge`), or leave browser.channel out."


@pytest.mark.anyio
async def test_unreachable_cdp_endpoint_is_named() -> None:
    error = await fails(cdpEndpoint="http://127.0.0.1:9")

    assert error.message.startswith("No browser answers at http://127.0.0.1:9: ")
    assert error.suggestion == (
        "Start Chromium with --remote-debugging-port; browser.cdpEndpoint is its address."
    )
    assert error.details == {"cdpEndpoint": "http://127.0.0.1:9"}
