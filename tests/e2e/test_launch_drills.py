"""Browsers that do not start: what the error says, and what is left of them."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from tests.conftest import ENGINE, connect_browser
from tests.processes import descendants_of, line_of
from tests.site import Site

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(ENGINE != "chromium", reason="the path of another engine is Playwright's own"),
]


def write_program(folder: Path, script: str) -> Path:
    path = folder / "browser"
    path.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    path.chmod(0o755)
    return path


async def test_a_browser_that_hangs_at_its_start_is_ended_with_the_server(site: Site, tmp_path: Path) -> None:
    path = write_program(tmp_path, "sleep 300 &\nsleep 300")

    async with connect_browser(site, "--executable-path", str(path), "--timeout", "2000") as browser:
        error = await browser.refused("navigate", url=site.page("<p>Hello"))
        hanging = [each for each in descendants_of(psutil.Process()) if line_of(each) == ["sleep", "300"]]

    assert (error["code"], len(hanging)) == ("TIMEOUT", 2)
    assert psutil.wait_procs(hanging, timeout=10)[1] == []


async def test_a_configured_file_that_is_no_browser_is_named_with_its_setting(
    site: Site, tmp_path: Path
) -> None:
    path = write_program(tmp_path, "echo 'not me' >&2; exit 3")

    async with connect_browser(site, "--executable-path", str(path)) as browser:
        error = await browser.refused("navigate", url=site.page("<p>Hello"))

    assert error == {
        "code": "BROWSER_NOT_INSTALLED",
        "message": f"chromium ({path}) did not start: it ended with exit code 3: not me",
        "details": {"browser": "chromium", "path": str(path)},
        "retryable": False,
        "suggestion": "Correct browser.executablePath (--executable-path), or leave it out.",
    }
