"""The three ways of docs/first-steps.md, each from an empty folder and a wheel."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import venv
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread
import pytest
import yaml
from mcp import Client, StdioServerParameters

from scripts.environments import pip_command
from tests.docs.markdown import ROOT, blocks
from tests.site import serve_site

LIMIT_SECONDS = 300
PAGE = ROOT / "docs/first-steps.md"

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(900)]


@dataclass(frozen=True)
class Installation:
    """A virtual environment with nothing but the wheel, what it depends on, and pytest."""

    environment: dict[str, str]

    def run(self, line: str, folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            line,
            shell=True,
            cwd=folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Generator[Installation]:
    folder = tmp_path_factory.mktemp("installation")
    pip = (
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    )
    subprocess.run(pip, check=True, timeout=LIMIT_SECONDS)
    [wheel] = folder.glob("*.whl")
    venv.create(folder / ".venv")
    scripts = folder / ".venv/bin"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    own = {
        "PATH": os.pathsep.join([str(scripts), kept["PATH"]]),
        "FOOTLIGHT_DAEMON_DIR": str(folder / "daemon"),
        "PIP_NO_COMPILE": "1",  # Most modules of the dependencies are never imported.
    }
    installation = Installation(kept | own)
    [install] = [line for line in commands_of("pip install")]
    line = install.replace("pip", shlex.join(pip_command(folder / ".venv")), 1)
    done = installation.run(line.replace(" footlight ", f" --quiet {wheel} "), folder)
    assert done.returncode == 0, done.stderr
    yield installation
    stopped = installation.run("footlight daemon stop", folder)
    assert stopped.returncode == 0, stopped.stderr


async def test_documented_mcp_client_setup_works_from_a_wheel(
    installed: Installation, tmp_path: Path
) -> None:
    [entry] = [json.loads(block.text) for block in blocks("json") if block.page == PAGE]
    readme = [json.loads(block.text) for block in blocks("json") if block.page == ROOT / "README.md"]
    command = entry["mcpServers"]["footlight"]
    server = StdioServerParameters(**command, env=installed.environment, cwd=tmp_path)

    async with serve_site() as site, Client(server) as client:
        url = site.page("<h1>Tickets</h1>")
        answer = await client.call_tool("navigate", {"url": url})
        [call] = commands_of("footlight call")
        line = call.replace("https://example.com", url)
        done = await anyio.to_thread.run_sync(installed.run, line, tmp_path)

    assert entry in readme
    assert answer.structured_content is not None
    assert answer.structured_content["observation"]["text"] == 'e1 h1 "Tickets"'
    assert (done.returncode, "Tickets" in done.stdout) == (0, True)


def test_documented_pytest_test_works_from_a_wheel(installed: Installation, tmp_path: Path) -> None:
    [test] = [block.text for block in blocks("python") if block.page == PAGE]
    [command] = commands_of("pytest")
    (tmp_path / "test_tickets.py").write_text(test)

    passed = installed.run(command, tmp_path)
    (tmp_path / "test_tickets.py").write_text(test.replace("Reserved for Ada", "Reserved for Bob"))
    failed = installed.run(command, tmp_path)

    assert (passed.returncode, "1 passed" in passed.stdout) == (0, True)
    assert (failed.returncode, "1 failed" in failed.stdout) == (1, True)
    assert "e4 status: Reserved for Ada" in failed.stdout


def test_documented_ci_audit_works_from_a_wheel(installed: Installation, tmp_path: Path) -> None:
    [page] = [block.text for block in blocks("html") if block.page == PAGE]
    first, in_ci = commands_of("footlight audit")
    workflows = [yaml.safe_load(block.text) for block in blocks("yaml") if "runs-on" in block.text]
    steps = [step.get("run") for workflow in workflows for step in workflow["jobs"]["audit"]["steps"]]
    (tmp_path / "public").mkdir()
    (tmp_path / "public/index.html").write_text(page)

    kept = installed.run(first, tmp_path)
    unchanged = installed.run(in_ci, tmp_path)
    (tmp_path / "public/index.html").write_text(page.replace("<p>", '<input type="email"><p>'))
    worse = installed.run(in_ci, tmp_path)

    assert in_ci in steps
    assert [kept.returncode, unchanged.returncode, worse.returncode] == [0, 0, 1], worse.stdout
    sarif = json.loads((tmp_path / "audit.sarif").read_text())
    assert {result["ruleId"] for result in sarif["runs"][0]["results"]} >= {"axe/image-alt", "axe/label"}
    assert "axe/label" in (tmp_path / "audit.html").read_text()


def commands_of(program: str) -> list[str]:
    """Return the command lines of the page that begin with this."""
    lines = [
        line.removeprefix("$ ")
        for block in blocks("console")
        if block.page == PAGE
        for line in block.text.splitlines()
    ]
    return [line for line in lines if re.match(rf"{program}\b", line)]
