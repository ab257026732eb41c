"""Measure how long an event loop is blocked, in this process or in a server.

    python tests/loop_watch.py FILE serve --transport stdio

runs footlight's command line, and writes a line for each turn of the loop that took long: the milliseconds
that its thread had of a processor, so that a busy machine does not count, and what was to run.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["MAX_GAP_MS", "Gaps", "command_watched", "gaps_in", "watch_loops"]

MAX_GAP_MS = 250.0
WORTH_TELLING_MS = 50.0


@dataclass(slots=True)
class Gaps:
    """The turns of the event loop that took long, in milliseconds, with the callback of each."""

    turns: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])

    @property
    def too_long(self) -> list[tuple[float, str]]:
        return [turn for turn in self.turns if turn[0] > MAX_GAP_MS]


@contextlib.contextmanager
def watch_loops() -> Generator[Gaps]:
    """Watch the event loops of this process."""
    gaps = Gaps()
    with _watch_each_turn(lambda taken_ms, what: gaps.turns.append((taken_ms, what))):
        yield gaps


def command_watched(file: Path, command: list[str]) -> list[str]:
    """Return the command `python -m footlight …`, with its event loop watched."""
    python, _, module, *arguments = command
    assert module == "footlight"
    return [python, __file__, str(file), *arguments]


@contextlib.contextmanager
def gaps_in(file: Path) -> Generator[Gaps]:
    """Yield the gaps that a watched server records within the block."""
    before = file.stat().st_size if file.exists() else 0
    gaps = Gaps()
    yield gaps
    if file.exists():
        for line in file.read_bytes()[before:].decode("utf-8", "replace").splitlines():
            taken, _, what = line.partition(" ")
            gaps.turns.append((float(taken), what))


@contextlib.contextmanager
def _watch_each_turn(tell: Callable[[float, str], object]) -> Generator[None]:
    of_loop: Any = asyncio.base_events.BaseEventLoop
    run_once = of_loop._run_once

    def watch_once(loop: Any) -> None:
        ready = [*loop._ready][:5]
        began = time.thread_time()
        run_once(loop)
        taken_ms = (time.thread_time() - began) * 1000
        if taken_ms > WORTH_TELLING_MS:
            tell(taken_ms, "; ".join(repr(each)[:400] for each in ready))

    of_loop._run_once = watch_once
    try:
        yield
    finally:
        of_loop._run_once = run_once


def _main() -> None:
    file = Path(sys.argv[1])

    def write(taken_ms: float, what: str) -> None:
        with file.open("a", encoding="utf-8", errors="replace") as lines:
            lines.write(f"{taken_ms:.0f} {' '.join(what.split())}\n")

    with _watch_each_turn(write):
        from footlight.cli.main import main

        sys.argv[:2] = ["footlight"]
        main()


if __name__ == "__main__":
    _main()
