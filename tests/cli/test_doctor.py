"""`footlight doctor`, as it is typed."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.test_serve import run


def test_it_says_what_is_here() -> None:
    done = run("doctor")

    assert done.returncode == 0
    assert done.stderr == ""
    facts = dict(re.split(r"  +", line, maxsplit=1) for line in done.stdout.splitlines())
    assert {"footlight", "python", "playwright", "mcp", "browser", "sandbox"} <= set(facts)
    assert facts["browser"].startswith("chromium ")
    assert re.fullmatch(r"\d+ ms", facts["first page"])


def test_it_can_be_quiet() -> None:
    done = run("doctor", "--quiet")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_it_says_what_is_missing_and_what_mends_it(tmp_path: Path) -> None:
    missing = tmp_path / "nothing"

    done = run("doctor", "--quiet", "--executable-path", str(missing))

    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        f"browser     missing: The configured browser {missing} is not an executable file\n"
        "remedy      Correct browser.executablePath (--executable-path), or leave it out.\n"
    )


def test_it_says_what_mends_a_machine_without_a_browser(tmp_path: Path) -> None:
    done = run("doctor", "--quiet", PATH=str(tmp_path), PLAYWRIGHT_BROWSERS_PATH=str(tmp_path))

    assert done.returncode == 1
    assert "No usable chromium was found on this machine" in done.stderr
    assert "footlight doctor --install" in done.stderr
    assert "apt-get install chromium" in done.stderr


def test_it_names_a_bad_setting(tmp_path: Path) -> None:
    done = run("doctor", "--config", str(tmp_path / "missing.toml"))

    assert done.returncode == 2
    assert "missing.toml: the configuration cannot be read" in done.stderr
