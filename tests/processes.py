"""Processes that a test has started, beside those of other tests in the same worker."""

from __future__ import annotations

from pathlib import Path

import psutil

__all__ = ["browsers_in", "line_of", "started_since"]


def started_since(before: set[psutil.Process]) -> list[psutil.Process]:
    """Children of this process that are not among `before`, and all below them.

    Below another test's server processes come and go at any time: each page may have one.
    """
    mine = [each for each in psutil.Process().children() if each not in before]
    return [process for each in mine for process in (each, *_below(each))]


def _below(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def browsers_in(folder: Path) -> list[psutil.Process]:
    """Those with a profile in the folder, without the processes that they started themselves."""
    return [each for each in psutil.Process().children(recursive=True) if _is_browser_in(folder, each)]


def line_of(process: psutil.Process) -> list[str]:
    """How it was started; nothing of one that has ended."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _is_browser_in(folder: Path, process: psutil.Process) -> bool:
    line = line_of(process)
    return any(each.startswith(f"--user-data-dir={folder}") for each in line) and not any(
        each.startswith("--type=") for each in line
    )
