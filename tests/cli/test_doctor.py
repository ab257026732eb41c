"""The command `footlight doctor`."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from footlight.errors import DOCUMENTATION_URL
from tests.cli.commands import run


def test_report_lists_versions_browser_and_timing() -> None:
    began = time.monotonic()
    done = run("doctor")
    spent_ms = (time.monotonic() - began) * 1000

    assert done.status == 0
    assert done.err == ""
    facts = dict(re.split(r"  +", line, maxsplit=1) for line in done.out.splitlines())
    assert {"footlight", "python", "playwright", "mcp", "browser", "sandbox"} <= set(facts)
    assert facts["browser"].startswith("chromium ")
    assert re.fullmatch(r"\d+ ms", facts["first page"])
    assert int(facts["first page"].removesuffix(" ms")) <= spent_ms


@pytest.mark.slow
def test_quiet_run_prints_nothing() -> None:
    done = run("doctor", "--quiet")

    assert (done.status, done.out, done.err) == (0, "", "")


def test_missing_browser_is_reported_with_a_remedy(tmp_path: Path) -> None:
    missing = tmp_path / "nothing"

    done = run("doctor", "--quiet", "--executable-path", str(missing))

    assert done.status == 1
    assert done.out == ""
    assert done.err == (
        f"browser     missing: The configured browser {missing} is not an executable file\n"
        "remedy      Correct browser.executablePath (--executable-path), or leave it out.\n"
        f"more        {DOCUMENTATION_URL}reference/errors.html#browser_not_installed\n"
    )


@pytest.mark.slow
def test_machine_without_a_browser_gets_installation_advice(tmp_path: Path) -> None:
    done = run("doctor", "--quiet", PATH=str(tmp_path), PLAYWRIGHT_BROWSERS_PATH=str(tmp_path))

    assert done.status == 1
    assert "No usable chromium was found on this machine" in done.err
    assert "footlight doctor --install" in done.err
    assert "apt-get install chromium" in done.err


def test_failed_installation_says_how_else_to_get_a_browser(tmp_path: Path) -> None:
    (tmp_path / "playwright.py").write_text("raise SystemExit('no network')\n")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "footlight", "doctor", "--install", "--quiet"],
        cwd=tmp_path,
        env={**os.environ, "PATH": str(tmp_path), "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 1
    assert "No browser could be installed with the tools of this machine." in done.stderr
    assert "apt-get install chromium" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_installation_leaves_no_process(tmp_path: Path, number: signal.Signals) -> None:
    """The installer is a module in the working folder, which the command itself does not import (`-P`)."""
    started = tmp_path / "started"
    os.mkfifo(started)
    (tmp_path / "playwright.py").write_text(
        "import os, pathlib, time\n"
        f"pathlib.Path({str(started)!r}).write_text(str(os.getpid()))\n"
        "time.sleep(600)\n"
    )
    doctor = subprocess.Popen(
        [sys.executable, "-P", "-m", "footlight", "doctor", "--install", "--quiet"],
        cwd=tmp_path,
        env={**os.environ, "PATH": str(tmp_path), "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path)},
        stderr=subprocess.PIPE,
    )
    pid = int(started.read_text())
    doctor.send_signal(number)
    doctor.communicate(timeout=60)

    assert doctor.returncode == 128 + number
    assert not psutil.pid_exists(pid)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
@pytest.mark.parametrize("command", ["doctor", "serve"])
def test_signal_to_the_process_group_leaves_no_hanging_browser(tmp_path: Path, command: str) -> None:
    """It ends the driver first, which then cannot end the browser."""
    started, browser = tmp_path / "started", tmp_path / "browser"
    os.mkfifo(started)
    browser.write_text(f"#!/bin/sh\necho $$ > {started}\nexec sleep 600\n")
    browser.chmod(0o700)
    process = subprocess.Popen(
        [sys.executable, "-m", "footlight", command, "--executable-path", str(browser)],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    pid = int(started.read_text())

    os.killpg(process.pid, signal.SIGTERM)
    process.communicate(timeout=60)

    with contextlib.suppress(psutil.NoSuchProcess):  # Some systems leave a zombie.
        assert psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.mark.skipif(sys.platform == "win32", reason="the browser is a shell script")
def test_browser_that_hangs_is_reported(tmp_path: Path) -> None:
    browser = tmp_path / "browser"
    browser.write_text("#!/bin/sh\nexec sleep 600\n")
    browser.chmod(0o700)
    short = "from footlight.cli import doctor, main; doctor.START_SECONDS = 1; main.main()"

    done = subprocess.run(
        [sys.executable, "-c", short, "doctor", "--executable-path", str(browser)],
        capture_output=True,
        text=True,
        timeout=110,
    )

    assert done.returncode == 1
    assert "missing: chromium did not open a page within 1 s" in done.stderr


def test_invalid_setting_is_named(tmp_path: Path) -> None:
    done = run("doctor", "--config", str(tmp_path / "missing.toml"))

    assert done.status == 2
    assert "missing.toml: the configuration cannot be read" in done.err
