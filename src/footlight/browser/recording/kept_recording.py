"""A recording in a temporary folder of the driver, where it is kept until its file is written."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import BinaryIO

from footlight.browser.driver.output_folder import fill_reserved, open_new, reserve_again
from footlight.errors import FootlightError

__all__ = ["KeptRecording"]


class KeptRecording:
    """A recording whose raw file is in the temporary folder. A copy is written at the end.

    The raw file may contain secrets that the copy does not have.
    """

    def __init__(self, path: Path, scratch: Path, raw_name: str) -> None:
        """Create a recording. `path` is a file that was reserved for it."""
        self.path = path
        self.has_ended = False
        """Whether the recording has ended. Its file may still be missing."""
        self.is_kept = False
        """Whether the recording has ended and waits until its file can be written."""
        self._folder = tempfile.TemporaryDirectory(dir=scratch)
        self._raw = Path(self._folder.name) / raw_name

    async def _write(self, end: Callable[[], Awaitable[object]], copy: Callable[[BinaryIO], object]) -> None:
        """End the recording, unless it has ended, and write its file with `copy`, which runs in a thread.

        If the file cannot be written, the recording is kept, and this can be called again.
        """
        if self.has_ended:
            self.path = reserve_again(self.path)
        try:
            with fill_reserved(self.path) as path:
                if not self.has_ended:
                    await end()
                    self.has_ended = self.is_kept = True
                with open_new(path) as file:
                    await asyncio.to_thread(copy, file)
            self.is_kept = False
        except (FootlightError, asyncio.CancelledError):
            raise
        except Exception:
            self.is_kept = False  # Another attempt to copy it would fail too.
            raise
        finally:
            if not self.is_kept:
                self._folder.cleanup()
