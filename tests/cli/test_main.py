"""The command group: what it costs to ask it something, and which setting a flag sets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPORT = """
import atexit, sys
heavy = ("playwright", "mcp", "mcp_types", "pydantic", "uvicorn", "starlette")
atexit.register(lambda: print("imported:", *[name for name in heavy if name in sys.modules]))
from footlight.cli.main import main
main()
"""


def run(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        stdin=subprocess.DEVNULL,
        cwd=cwd,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize(
    "question", ["--help", "-h", "--version", "serve --help", "doctor --help", "demo --help", "", "fly"]
)
def test_a_question_costs_no_import_of_what_serves(question: str) -> None:
    done = run("-c", REPORT, *question.split())

    assert done.stdout.splitlines()[-1] == "imported:"


def test_it_runs_as_a_module_and_as_a_command() -> None:
    as_module = run("-m", "footlight", "--version")
    as_command = subprocess.run(
        [Path(sys.executable).with_name("footlight"), "--version"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert as_module.returncode == as_command.returncode == 0
    assert as_module.stdout == as_command.stdout


def test_an_unknown_command_is_named() -> None:
    done = run("-m", "footlight", "fly")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("Error: No such command 'fly'.\n")


REFUSED = {
    "--download-path=~nobody-here/x": "browser.downloadPath",
    "--executable-path=~nobody-here/x": "browser.executablePath",
    "--state-directory=~nobody-here/x": "session.stateDirectory",
    "--upload-root=~nobody-here/x": "security.uploadRoots",
    "--log-file=~nobody-here/x": "logging.file",
    "--timeout=0": "session.defaultTimeout",
    "--max-sessions=0": "session.maxSessions",
    "--allow-domain=https://example.com": "security.allowedDomains",
    "--block-domain=example.com:80": "security.blockedDomains",
}


@pytest.mark.parametrize("flag", REFUSED)
def test_a_value_that_a_flag_cannot_have_is_named_with_its_setting(tmp_path: Path, flag: str) -> None:
    """R003-81"""
    done = run("-m", "footlight", "serve", flag, cwd=tmp_path)

    first, last = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "")
    assert first.startswith(f"footlight: flag for {REFUSED[flag]}: setting '{REFUSED[flag]}")
    assert last == "Correct the setting; docs/reference/configuration.md lists them all."


OVERRIDDEN = {
    "--browser=firefox": "FOOTLIGHT_BROWSER_TYPE",
    "--channel=chrome": "FOOTLIGHT_BROWSER_CHANNEL",
    "--headed": "FOOTLIGHT_BROWSER_HEADLESS",
    "--headless": "FOOTLIGHT_BROWSER_HEADLESS",
    "--enable-script-evaluation": "FOOTLIGHT_SECURITY_ENABLE_SCRIPT_EVALUATION",
    "--log-level=debug": "FOOTLIGHT_LOGGING_LEVEL",
    "--log-format=text": "FOOTLIGHT_LOGGING_FORMAT",
    "--log-file=log": "FOOTLIGHT_LOGGING_DESTINATION",
}


@pytest.mark.parametrize("flag", OVERRIDDEN)
def test_a_flag_takes_the_place_of_its_variable(tmp_path: Path, flag: str) -> None:
    """R003-81: of one that is wrong, so that it shows whether it counts."""
    environment = {OVERRIDDEN[flag]: "none", "FOOTLIGHT_TRANSPORT": "carrier-pigeon"}
    wrong = {name: f"environment variable {name}: " for name in environment}

    without = run("-m", "footlight", "serve", cwd=tmp_path, **environment)
    done = run("-m", "footlight", "serve", flag, cwd=tmp_path, **environment)

    assert (without.returncode, done.returncode) == (2, 2)
    assert all(each in without.stderr for each in wrong.values())
    assert wrong["FOOTLIGHT_TRANSPORT"] in done.stderr
    assert wrong[OVERRIDDEN[flag]] not in done.stderr
    assert "Traceback" not in done.stderr


def test_an_endpoint_goes_with_chromium_alone(tmp_path: Path) -> None:
    """R003-81"""
    done = run(
        "-m", "footlight", "serve", "--browser=webkit", "--cdp-endpoint=http://127.0.0.1:9", cwd=tmp_path
    )

    assert done.returncode == 2
    assert done.stderr.startswith("footlight: setting 'browser.cdpEndpoint' needs 'browser.type' to be ")
