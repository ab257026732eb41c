"""The evidence that the suite writes for a failed test."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.evidence import ARTIFACTS

ROOT = Path(__file__).parents[2]

FAILS = """
import pytest

@pytest.mark.anyio
async def test_of_a_page(browser):
    await browser.show("<h1>Hello</h1>")
    assert await browser.call("get_text", selector="h1") == {"text": "Bye"}
"""


@pytest.mark.slow
def test_failed_test_leaves_a_result_screenshot_and_snapshot(tmp_path: Path) -> None:
    file = tmp_path / "test_that_fails.py"
    file.write_text(FAILS)
    (tmp_path / "conftest.py").write_text("from tests.conftest import *")
    options = ("-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path))
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", *options, str(file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=90,
    )

    folder = ARTIFACTS / "test_that_fails-test_of_a_page"
    assert run.returncode == 1, run.stdout
    assert "{'text': 'Hello'} == {'text': 'Bye'}" in run.stdout
    assert f"What the page looked like: test-artifacts/{folder.name}/page.png" in run.stdout
    assert (folder / "page.png").read_bytes().startswith(b"\x89PNG")
    assert 'h1 "Hello"' in (folder / "snapshot.txt").read_text()
    shutil.rmtree(folder)
