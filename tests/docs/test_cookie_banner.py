"""The demonstrator runs as its users run it. `make check` compares its generated module with the code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT

EXAMPLE = "docs/examples/cookie_banner"
LIMIT_S = 110


@pytest.mark.slow
def test_cookie_banner_example_tests_pass() -> None:
    ran = run("pytest", EXAMPLE, "-p", "no:cacheprovider", "-p", "no:asyncio")

    assert (ran.returncode, " 3 passed in " in ran.stdout) == (0, True), ran.stdout


def run(*module: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *module],
        cwd=ROOT,
        # The module names its server as people do.
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_S,
        check=False,
    )
