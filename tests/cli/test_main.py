"""The command group: its start time, its help, and the setting that each flag sets."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from footlight.errors import DOCUMENTATION_URL
from tests.cli.commands import run as run_command

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
def test_help_and_version_import_no_server_modules(question: str) -> None:
    done = run("-c", REPORT, *question.split())

    assert done.stdout.splitlines()[-1] == "imported:"


def test_module_and_command_entry_points_are_equal() -> None:
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


@pytest.mark.parametrize(
    "command",
    ["serve", "audit", "call", "codegen", "replay", "doctor", "daemon", "tools", "knowledge", "skill"],
)
def test_the_help_of_a_command_ends_with_examples(command: str) -> None:
    done = run("-m", "footlight", command, "--help")

    options, _, examples = done.stdout.partition("\nExamples:\n")
    assert all(line.startswith(f"  footlight {command}") for line in examples.splitlines())
    assert examples
    assert "ptions:" in options or "Pages:" in options


def test_serve_help_groups_options_with_common_ones_first() -> None:
    lines = run("-m", "footlight", "serve", "--help").stdout.splitlines()
    heads = [line for line in lines if line.endswith(":") and not line.startswith(" ")]

    assert [heads[0], *heads[-2:]] == ["Common options:", "Other options:", "Examples:"]
    assert lines[lines.index("Other options:") + 1 :][:2] == ["  -h, --help  Show this message and exit.", ""]


def test_exit_codes_are_listed_in_one_table() -> None:
    table = run("-m", "footlight", "--help").stdout.partition("Exit status:\n")[2].partition("\n\n")[0]

    assert re.findall(r"^  (\d+) ", table, re.MULTILINE) == ["0", "1", "2", "3", "130"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a display")
def test_headed_mode_without_a_display_is_refused_at_start(tmp_path: Path) -> None:
    nowhere = {"DISPLAY": "", "WAYLAND_DISPLAY": ""}
    served = run("-m", "footlight", "serve", "--headed", cwd=tmp_path, **nowhere)
    folder = tmp_path / "daemon"
    folder.mkdir(mode=0o700)
    daemon = run(
        *("-m", "footlight", "daemon", "start", "--headed"),
        cwd=tmp_path,
        FOOTLIGHT_DAEMON_DIR=str(folder),
        **nowhere,
    )

    said = "setting 'browser.headless' is false (--headed), but there is no display for a browser window"
    assert (served.returncode, daemon.returncode) == (2, 3)
    assert served.stderr.startswith(f"footlight: {said}\nLeave out --headed, or provide a display: ")
    assert said in daemon.stderr
    assert "started" not in daemon.stdout


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
def test_invalid_flag_value_is_named_with_its_setting(tmp_path: Path, flag: str) -> None:
    done = run_command("serve", flag, cwd=tmp_path)

    first, *others = done.err.splitlines()
    assert (done.status, done.out) == (2, "")
    assert first.startswith(f"footlight: flag for {REFUSED[flag]}: setting '{REFUSED[flag]}")
    assert others == ["Correct the setting.", f"More: {DOCUMENTATION_URL}reference/configuration.html"]


def test_errors_link_to_the_configured_documentation(tmp_path: Path) -> None:
    own = {**os.environ, "FOOTLIGHT_DOCUMENTATION_URL": "https://docs.example.com/footlight"}
    command = (sys.executable, "-m", "footlight", "serve", "--timeout=0")
    done = subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert done.stderr.endswith("\nMore: https://docs.example.com/footlight/reference/configuration.html\n")


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


@pytest.mark.slow
def test_flag_overrides_its_environment_variable(tmp_path: Path) -> None:
    """All variables are wrong, so that the error shows which of them count."""
    environment = {**dict.fromkeys(OVERRIDDEN.values(), "none"), "FOOTLIGHT_TRANSPORT": "carrier-pigeon"}

    def overridden_by(*flags: str) -> set[str]:
        done = run_command("serve", *flags, cwd=tmp_path, **environment)
        assert (done.status, "Traceback" in done.err) == (2, False)
        return {*environment} - {*re.findall(r"environment variable (\w+): ", done.err)}

    assert overridden_by() == set()
    assert {flag: overridden_by(flag) for flag in OVERRIDDEN} == {
        flag: {variable} for flag, variable in OVERRIDDEN.items()
    }


def test_cdp_endpoint_requires_chromium(tmp_path: Path) -> None:
    done = run(
        "-m", "footlight", "serve", "--browser=webkit", "--cdp-endpoint=http://127.0.0.1:9", cwd=tmp_path
    )

    assert done.returncode == 2
    assert done.stderr.startswith("footlight: setting 'browser.cdpEndpoint' needs 'browser.type' to be ")
