"""`footlight doctor`: check that a browser can be started, and install one on request."""

from __future__ import annotations

import asyncio
import logging
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from footlight.cli.interruption import run_until_signal
from footlight.cli.sections import SectionedCommand, browser_option

if TYPE_CHECKING:
    from footlight.config import Settings
    from footlight.errors import BrowserNotInstalledError

__all__ = ["doctor"]

Say = Callable[[str], None]

START_SECONDS = 60.0
"""The time that the browser may take to start and open a page."""
INSTALL_SECONDS = 120
PACKAGE_SECONDS = 900

PACKAGE_MANAGERS: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    (
        "apt-get",
        (
            ("apt-get", "update", "-qq"),
            ("apt-get", "install", "-y", "-qq", "chromium", "chromium-headless-shell"),
            ("apt-get", "install", "-y", "-qq", "chromium"),
        ),
    ),
    ("dnf", (("dnf", "install", "-y", "-q", "chromium"),)),
    ("apk", (("apk", "add", "--quiet", "chromium"),)),
    ("pacman", (("pacman", "-S", "--noconfirm", "--quiet", "chromium"),)),
    ("brew", (("brew", "install", "--quiet", "--cask", "chromium"),)),
)
"""The commands of each package manager. Later installations are tried only if earlier ones fail."""


EXAMPLES = (
    "footlight doctor",
    "footlight doctor --install",
    "footlight doctor --executable-path /usr/bin/chromium",
)


@click.command(cls=SectionedCommand, examples=EXAMPLES)
@click.option("--install", is_flag=True, help="Install a browser if none can be started.")
@click.option("--config", type=click.Path(path_type=Path), help="Settings file in JSON or TOML.")
@browser_option
@click.option("--executable-path", type=click.Path(path_type=Path), help="Check this browser executable.")
@click.option("--quiet", is_flag=True, help="Print only problems.")
def doctor(
    install: bool, config: Path | None, browser: str | None, executable_path: Path | None, quiet: bool
) -> None:
    """Check that a browser can be started, and say how to fix it if not.

    Exits with 1 if no browser can be started.
    """
    from footlight.config.loading import load_settings
    from footlight.errors import BrowserNotInstalledError

    def exit_with_remedy(missing: BrowserNotInstalledError) -> NoReturn:
        link = missing.documentation_link(settings.documentation_url)
        lines = (f"browser     missing: {missing.message}", f"remedy      {missing.suggestion}")
        click.echo("\n".join([*lines, f"more        {link}"]), err=True)
        sys.exit(1)

    logging.getLogger("footlight").addHandler(logging.NullHandler())  # The command prints the problem itself.
    flags = {"browser.type": browser, "browser.executablePath": executable_path}
    settings = load_settings(file=config, environment=os.environ, flags=flags)

    def say(line: str) -> None:
        if not quiet:
            click.echo(line)

    _describe_machine(say)
    try:
        _describe_browser(settings, say)
    except BrowserNotInstalledError as missing:
        if not install:
            exit_with_remedy(missing)
        if not _install(settings.browser.type):
            click.echo("No browser could be installed with the tools of this machine.", err=True)
            exit_with_remedy(missing)
        try:
            _describe_browser(settings, say)
        except BrowserNotInstalledError as still_missing:
            exit_with_remedy(still_missing)


def _describe_machine(say: Say) -> None:
    from importlib.metadata import version

    say(f"footlight   {version('footlight')}")
    say(f"python      {platform.python_version()} on {platform.system()} {platform.machine()}")
    say(f"playwright  {version('playwright')}")
    say(f"mcp         {version('mcp')}")
    display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if platform.system() == "Linux":
        say(f"display     {display or 'none: --headed needs one (xvfb-run provides one)'}")
        if not display:
            xvfb = shutil.which("Xvfb")
            where = f"on displays of {xvfb}" if xvfb else "without a window: Xvfb is not installed"
            say(f"extensions  {where}")


def _describe_browser(settings: Settings, say: Say) -> None:
    """Start the browser and open a page.

    Raises:
        BrowserNotInstalledError: no browser can be started.
    """
    began = time.monotonic()
    name, path, sandbox = run_until_signal(_try(settings))
    say(f"browser     {name}, {path}")
    say(f"sandbox     {sandbox}")
    say(f"first page  {(time.monotonic() - began) * 1000:.0f} ms")


async def _try(settings: Settings) -> tuple[str, str, str]:
    from footlight.browser.launch.launcher import try_browser
    from footlight.errors import BrowserNotInstalledError

    limit = asyncio.timeout(START_SECONDS)
    try:
        async with limit:
            tried = await try_browser(settings.browser)
    except TimeoutError:
        if not limit.expired():
            raise
        raise BrowserNotInstalledError(
            f"{settings.browser.type} did not open a page within {START_SECONDS:.0f} s",
            suggestion="Start it by hand to see why it hangs, or name another with --executable-path.",
        ) from None
    return tried.version, tried.path, "on" if tried.sandboxed else "off (root user, or --no-sandbox)"


def _install(engine: str) -> bool:
    """Install Playwright's browser or, if that fails, a system package. Return whether one was installed."""
    click.echo(f"installing {engine} with Playwright …", err=True)
    if _run([sys.executable, "-m", "playwright", "install", engine], INSTALL_SECONDS):
        return True
    if engine != "chromium":
        return False
    for manager, commands in PACKAGE_MANAGERS:
        if shutil.which(manager):
            click.echo(f"installing {engine} with {manager} …", err=True)
            return _run_first([_add_sudo(manager, command) for command in commands])
    return False


def _run_first(commands: Sequence[Sequence[str]]) -> bool:
    """Run the commands until an installation succeeds. An `update` only prepares it, and may fail."""
    return any(_run(command, PACKAGE_SECONDS) and "update" not in command for command in commands)


def _add_sudo(manager: str, command: Sequence[str]) -> Sequence[str]:
    if manager == "brew" or not hasattr(os, "geteuid") or os.geteuid() == 0:
        return command
    return ("sudo", "-n", *command)


def _run(command: Sequence[str], limit_seconds: float) -> bool:
    """Run the command, and return whether it succeeded. The time limit or a signal kills all of it."""
    try:
        status, errors = run_until_signal(_wait_for(command, limit_seconds))
    except OSError as error:
        click.echo(f"  {command[0]}: {error}", err=True)
        return False
    if status is None:
        click.echo(f"  {' '.join(command[:3])}: gave up after {limit_seconds:.0f} s", err=True)
    elif status:
        click.echo(f"  {' '.join(command[:3])}: {_reason(errors, status)}", err=True)
    return status == 0


async def _wait_for(command: Sequence[str], limit_seconds: float) -> tuple[int | None, str]:
    """Run the command, and return its status, which is None if it took too long, and its errors."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(limit_seconds):
            _, errors = await process.communicate()
        return process.returncode, errors.decode(errors="replace")
    except TimeoutError:
        return None, ""
    finally:
        if process.returncode is None:
            _kill_group(process)


def _kill_group(process: asyncio.subprocess.Process) -> None:
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def _reason(errors: str, status: int) -> str:
    """Return the last line that names an error, or else the last line."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    with_error = [line for line in lines if "error" in line.lower()]
    return (with_error or lines or [f"exit status {status}"])[-1]
