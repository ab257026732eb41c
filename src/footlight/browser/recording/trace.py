"""Playwright traces, written without the server's secrets."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from footlight.browser.recording.har import mask_json
from footlight.browser.recording.kept_recording import KeptRecording

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext

__all__ = ["TraceRecorder", "copy_masked"]

_JSON_LINES = (".trace", ".network", ".stacks")
"""Suffixes of the files whose lines are JSON. The other files are resources of pages and screenshots."""


class TraceRecorder(KeptRecording):
    """Records a trace from `start` to `stop`."""

    def __init__(self, context: BrowserContext, path: Path, scratch: Path) -> None:
        super().__init__(path, scratch, "raw.zip")
        self._context = context

    @classmethod
    async def start(cls, context: BrowserContext, path: Path, scratch: Path) -> TraceRecorder:
        """Start to record. `path` is a file that was reserved for the trace."""
        await context.tracing.start(screenshots=True, snapshots=True, sources=False)
        return cls(context, path, scratch)

    async def stop(self, mask: Callable[[Any], Any] | None) -> None:
        """Write the trace. If there is a `mask`, it is applied to each text and number."""

        def copy(file: BinaryIO) -> None:
            if mask:
                copy_masked(self._raw, file, mask)
                return
            with self._raw.open("rb") as raw:
                shutil.copyfileobj(raw, file)

        await self._write(lambda: self._context.tracing.stop(path=self._raw), copy)


def copy_masked(trace: Path, out: BinaryIO, mask: Callable[[Any], Any]) -> None:
    """Write a copy of the trace with `mask` applied to each text and number. Screenshots are unchanged."""
    from zipfile import ZIP_DEFLATED, ZipFile

    with ZipFile(trace) as source, ZipFile(out, "w", ZIP_DEFLATED) as copy:
        for name in source.namelist():
            copy.writestr(name, _mask_file(name, source.read(name), mask))


def _mask_file(name: str, data: bytes, mask: Callable[[Any], Any]) -> bytes:
    if not name.endswith(_JSON_LINES):
        # A resource may have another encoding, in which ASCII characters are the same bytes.
        return mask(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    # JSON escapes only these line breaks: `str.splitlines` would also split at others in texts of pages.
    lines = (json.dumps(mask_json(json.loads(line), mask)) for line in data.split(b"\n") if line.strip())
    return "".join(f"{line}\n" for line in lines).encode()
