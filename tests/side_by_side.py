"""Run drills that spend their time on waiting at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

__all__ = ["run_all", "run_in_folders"]


async def run_all(*drills: Awaitable[None]) -> None:
    """Run all drills to their end at the same time, and report all that failed."""
    ended = await asyncio.gather(*drills, return_exceptions=True)
    if failures := [each for each in ended if isinstance(each, Exception)]:
        raise ExceptionGroup("drills failed", failures)


async def run_in_folders(parent: Path, *drills: Callable[[Path], Awaitable[None]]) -> None:
    """Run all drills at the same time, each with a new folder below `parent`."""
    folders = [parent / str(number) for number, _ in enumerate(drills)]
    for folder in folders:
        folder.mkdir()
    await run_all(*(drill(folder) for drill, folder in zip(drills, folders, strict=True)))
