"""Playwright traces, written without the server's secrets."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

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

    async def stop(self, mask: Callable[[str], str] | None) -> None:
        """Write the trace. If there is a `mask`, it is applied to each text."""

        def copy(file: BinaryIO) -> None:
            if mask:
                copy_masked(self._raw, file, mask)
                return
            with self._raw.open("rb") as raw:
                shutil.copyfileobj(raw, file)

        await self._write(lambda: self._context.tracing.stop(path=self._raw), copy)


def copy_masked(trace: Path, out: BinaryIO, mask: Callable[[str], str]) -> None:
    """Write a copy of the trace with `mask` applied to each text. Screenshots are unchanged."""
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
