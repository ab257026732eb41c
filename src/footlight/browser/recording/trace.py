"""Playwright traces, written without the server's secrets."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from footlight.browser.driver.output_folder import fill_reserved, open_new, reserve_again
from footlight.browser.recording.har import mask_json

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext

__all__ = ["TraceRecorder", "copy_masked"]

_JSON_LINES = (".trace", ".network", ".stacks")
"""Suffixes of the files whose lines are JSON. The other files are resources of pages, and screenshots."""


class TraceRecorder:
    """Records from `start` to `stop`.

    Where the trace cannot be written, the raw one is kept, and `stop` can be called again.
    """

    def __init__(self, context: BrowserContext, path: Path, scratch: Path) -> None:
        self.path = path
        self._context = context
        self._folder = tempfile.TemporaryDirectory(prefix="trace-", dir=scratch)
        self.has_ended = False
        """Whether the recording is over, and only its file may be missing."""

    @classmethod
    async def start(cls, context: BrowserContext, path: Path, scratch: Path) -> TraceRecorder:
        """Start to record. `path` is a file that was reserved for the trace."""
        await context.tracing.start(screenshots=True, snapshots=True, sources=False)
        return cls(context, path, scratch)

    async def stop(self, mask: Callable[[str], str] | None) -> None:
        """Write the trace. Where there is a `mask`, each text passes through it."""
        if self.has_ended:
            self.path = reserve_again(self.path)
        raw = Path(self._folder.name) / "raw.zip"
        with fill_reserved(self.path) as path:
            if not self.has_ended:
                await self._context.tracing.stop(path=raw)
                self.has_ended = True
            with open_new(path) as file:
                if mask:
                    await asyncio.to_thread(copy_masked, raw, file, mask)
                else:
                    await asyncio.to_thread(_copy, raw, file)
        self._folder.cleanup()


def _copy(trace: Path, out: BinaryIO) -> None:
    with trace.open("rb") as source:
        shutil.copyfileobj(source, out)


def copy_masked(trace: Path, out: BinaryIO, mask: Callable[[str], str]) -> None:
    """Write a copy of the trace with each text passed through `mask`. Screenshots stay as they are."""
    with zipfile.ZipFile(trace) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as copy:
        for name in source.namelist():
            copy.writestr(name, _mask_file(name, source.read(name), mask))


def _mask_file(name: str, data: bytes, mask: Callable[[str], str]) -> bytes | str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data
    if not name.endswith(_JSON_LINES):
        return mask(text)
    lines = (json.dumps(mask_json(json.loads(line), mask)) for line in text.splitlines() if line)
    return "".join(f"{line}\n" for line in lines)
