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
"""The errors of a query about a process that has just ended. psutil sometimes raises the system's own."""


def list_started_since(before: set[psutil.Process]) -> list[psutil.Process]:
    """Return the children of this process that are not in `before`, with all of their descendants.

    Below another test's server processes come and go at any time: each page may have one.
    """
    mine = [each for each in children_of(psutil.Process()) if each not in before]
    return [process for each in mine for process in (each, *descendants_of(each))]


def children_of(process: psutil.Process) -> list[psutil.Process]:
    """Return the children of a process, or none if it has ended."""
    return _below(process, recursive=False)


def descendants_of(process: psutil.Process) -> list[psutil.Process]:
    """Return all descendants of a process, or none if it has ended."""
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
    """Kill the processes, some of which may already be ending."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def name_of(process: psutil.Process) -> str:
    """Return the name of the process's program, or "" if it has ended."""
    try:
        return process.name()
    except ENDED:
        return ""


def browsers_in(folder: Path) -> list[psutil.Process]:
    """Return the browsers with a profile in the folder, without their child processes."""
    return [each for each in descendants_of(psutil.Process()) if _is_browser_in(folder, each)]


def line_of(process: psutil.Process) -> list[str]:
    """Return the command line of a process, or an empty list if it has ended."""
    try:
        return process.cmdline()
    except ENDED:
        return []


async def wait_until(happened: Callable[[], Result], limit_seconds: float = 60.0) -> Result:
    """Poll until a result is true, and return it. Other processes send no event to wait for."""
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
