"""Write the evidence of a failed test to `test-artifacts/`, in a folder of its name.

That is its server's log and, where there is a page, a picture and a snapshot. The failure names the files.
"""

from __future__ import annotations

import asyncio
import base64
import functools
import os
import tempfile
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from mcp_types import ImageContent

from footlight.testing.watched_test import file_name

__all__ = ["ServerLog", "artifacts", "keep_evidence", "keep_log", "server_log"]

ARTIFACTS = Path(__file__).parents[1] / "test-artifacts"
SHOWN_LINES = 15
PAGE_SECONDS = 10.0

Test = Callable[..., Awaitable[object]]


class ServerLog:
    """The file to which a server's standard error is written."""

    def __init__(self, file: IO[str]) -> None:
        self.file = file
        self._start = 0

    def start_test(self) -> None:
        """Let `text` begin at the present end, because earlier lines belong to other tests."""
        self._start = os.fstat(self.file.fileno()).st_size

    def text(self) -> str:
        size = os.fstat(self.file.fileno()).st_size - self._start
        return os.pread(self.file.fileno(), size, self._start).decode(errors="replace")


@contextmanager
def server_log() -> Generator[ServerLog]:
    """Open a file for a server's standard error, and keep it if the block raises."""
    with tempfile.TemporaryFile("w+") as file:
        log = ServerLog(file)
        try:
            yield log
        except Exception as error:
            keep_log(error, log.text())
            raise


def keep_log(error: BaseException, text: str) -> None:
    """Write a server's log to a file, and add its last lines to the error."""
    if not text.strip():
        error.add_note("The server wrote nothing to its log.")
        return
    file = artifacts() / "server.log"
    file.write_text(text)
    last = "\n".join(text.rstrip().splitlines()[-SHOWN_LINES:])
    error.add_note(f"The server's log, {_display_path(file)}, ends:\n{last}")


def keep_evidence(test: Test, browser: Any) -> Test:
    """Return the test, which shows the page of `browser` and its server's log when it fails."""
    browser.log.start_test()

    @functools.wraps(test)
    async def watch_test(*arguments: Any, **keywords: Any) -> object:
        try:
            return await test(*arguments, **keywords)
        except Exception as error:
            keep_log(error, browser.log.text())
            await _keep_page(error, browser)
            raise

    return watch_test


async def _keep_page(error: Exception, browser: Any) -> None:
    folder = artifacts()
    try:
        async with asyncio.timeout(PAGE_SECONDS):
            listed = await browser.answer("list_sessions")
            if any('"sessions":[]' in getattr(part, "text", "") for part in listed.content):
                return  # A snapshot would open a session, which the next test would find.
            snapshot = await browser.answer("snapshot")
            picture = await browser.answer("screenshot")
    except Exception as reason:  # noqa: BLE001 it must not hide why the test failed
        error.add_note(f"There is no picture of the page: {reason!r}")
        return
    (folder / "snapshot.txt").write_text("\n".join(getattr(part, "text", "") for part in snapshot.content))
    error.add_note(f"What the page contained: {_display_path(folder / 'snapshot.txt')}")
    for part in picture.content:
        if isinstance(part, ImageContent):
            file = folder / f"page.{part.mime_type.rpartition('/')[2]}"
            file.write_bytes(base64.b64decode(part.data))
            error.add_note(f"What the page looked like: {_display_path(file)}")


def artifacts() -> Path:
    """Return the evidence folder of the running test."""
    test, _, _ = os.environ.get("PYTEST_CURRENT_TEST", "outside any test").rpartition(" (")
    folder = ARTIFACTS / file_name(test)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _display_path(file: Path) -> str:
    return str(file.relative_to(ARTIFACTS.parent))
