"""Find the processes that a test has started, as distinct from those of other tests in the same worker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import psutil

__all__ = [
    "browsers_in",
    "children_of",
    "descendants_of",
    "kill_all",
    "line_of",
    "list_started_since",
    "name_of",
    "wait_until",
    "wait_until_gone",
]

Result = TypeVar("Result")

ENDED = (psutil.Error, FileNotFoundError)
"""What asking a process raises that ends meanwhile: psutil lets the system's own error out at times."""


def list_started_since(before: set[psutil.Process]) -> list[psutil.Process]:
    """Children of this process that are not among `before`, and all below them.

    Below another test's server processes come and go at any time: each page may have one.
    """
    mine = [each for each in children_of(psutil.Process()) if each not in before]
    return [process for each in mine for process in (each, *descendants_of(each))]


def children_of(process: psutil.Process) -> list[psutil.Process]:
    """Return the processes that it has started; none where it has ended."""
    return _below(process, recursive=False)


def descendants_of(process: psutil.Process) -> list[psutil.Process]:
    """Return its children, theirs, and so on; none where it has ended."""
    return _below(process, recursive=True)


def _below(process: psutil.Process, *, recursive: bool) -> list[psutil.Process]:
    while True:
        try:
            return process.children(recursive=recursive)
        except FileNotFoundError:  # One of them ended while it was asked.
            continue
        except psutil.NoSuchProcess:
            return []


def kill_all(processes: Iterable[psutil.Process]) -> None:
    """Kill the processes. Some may end meanwhile, by themselves or with another of them."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def name_of(process: psutil.Process) -> str:
    """Return the name of its program; "" where it has ended."""
    try:
        return process.name()
    except ENDED:
        return ""


def browsers_in(folder: Path) -> list[psutil.Process]:
    """Return the browsers with a profile in the folder, without their child processes."""
    return [each for each in descendants_of(psutil.Process()) if _is_browser_in(folder, each)]


def line_of(process: psutil.Process) -> list[str]:
    """Return the command line that it was started with; nothing where it has ended."""
    try:
        return process.cmdline()
    except ENDED:
        return []


async def wait_until(happened: Callable[[], Result], limit_seconds: float = 60.0) -> Result:
    """Return the first result that is true. Ask again and again, because other processes send no event."""
    async with asyncio.timeout(limit_seconds):
        while not (result := happened()):  # noqa: ASYNC110 - other processes have no event for us
            await asyncio.sleep(0.02)
    return result


async def wait_until_gone(processes: Sequence[psutil.Process], limit_seconds: float = 15.0) -> None:
    _, alive = await asyncio.to_thread(psutil.wait_procs, processes, limit_seconds)
    assert not alive


def _is_browser_in(folder: Path, process: psutil.Process) -> bool:
    line = line_of(process)
    return any(each.startswith(f"--user-data-dir={folder}") for each in line) and not any(
        each.startswith("--type=") for each in line
    )
