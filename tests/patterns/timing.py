"""Measure the processor time of a pattern for an attack, which other processes do not affect."""

from __future__ import annotations

import contextlib
import re
import signal
import time
from collections import deque
from collections.abc import Callable, Generator
from types import FrameType

from tests.patterns.collecting import Found
from tests.patterns.pumps import Attack, attacks

__all__ = ["MAX_SECONDS", "MAX_TEXT_LENGTH", "SlowPatternError", "find_slow"]

MAX_TEXT_LENGTH = 100_000
MAX_SECONDS = 0.05
"""For the longest text."""
ROUNDS = ((40, None), (250, None), (1_500, None), (6_000, 30), (MAX_TEXT_LENGTH, 4))
"""The length of the texts, and how many of the slowest attacks of the round before are made with it.

An exponential pattern is found with the shortest, before it does not end.
"""
SPARE_SECONDS = 0.001
"""What a call may take in any case, which is what the clock and the machine take of it."""
TRIES = 4
REFERENCE = re.compile(r"(?:[a-z]{3,8}+\s++)++")
REFERENCE_TEXT = "word and " * 20_000
REFERENCE_SECONDS = 0.0012
"""The time of the reference where the limits hold. On a slower machine, patterns have more time."""


class SlowPatternError(Exception):
    """An attack took longer than its length allows."""


def find_slow(found: Found) -> str | None:
    """Return what made a pattern slow, or None."""
    for method in sorted({"find all" if each in _ALL else each for each in found.methods}):
        run = _runner(found, method)
        left = attacks(found.pattern)
        for size, most in ROUNDS:
            limit = SPARE_SECONDS + MAX_SECONDS * size / MAX_TEXT_LENGTH
            times: list[tuple[float, Attack]] = []
            for attack in left[:most]:
                taken = _fastest(run, attack.text(size), limit)
                if taken > limit and taken > limit * _measure_slowness():
                    return f"{method} takes {taken * 1000:.1f} ms for {size} characters of {attack}"
                times.append((taken, attack))
            left = [attack for _, attack in sorted(times, key=lambda each: each[0], reverse=True)]
    return None


def _measure_slowness() -> float:
    """Return how much longer a pattern takes here than where the limits hold: a factor of at least 1."""
    times: list[float] = []
    for _ in range(TRIES):
        began = time.thread_time()
        deque(REFERENCE.finditer(REFERENCE_TEXT), maxlen=0)
        times.append(time.thread_time() - began)
    return max(1.0, min(times) / REFERENCE_SECONDS)


_ALL = ("sub", "subn", "split", "findall", "finditer")


def _runner(found: Found, method: str) -> Callable[[str], object]:
    if method == "find all":
        return lambda text: deque(found.pattern.finditer(text), maxlen=0)
    return getattr(found.pattern, method)


def _fastest(run: Callable[[str], object], text: str, enough: float) -> float:
    """Return the shortest of several times. Stop at the first that is short enough."""
    fastest = float("inf")
    for _ in range(TRIES):
        began = time.thread_time()
        with contextlib.suppress(SlowPatternError), _interrupt_after(20 * enough):
            run(text)
        fastest = min(fastest, time.thread_time() - began)
        if fastest <= enough or fastest > 10 * enough:
            break
    return fastest


@contextlib.contextmanager
def _interrupt_after(seconds: float) -> Generator[None]:
    """Raise in the midst of a match that takes so much of the processor."""

    def stop(_: int, __: FrameType | None) -> None:
        raise SlowPatternError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
