"""Shorten the traceback of a failure to the frames of the test."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, TracebackType

import pytest

from footlight.protocol.errors import MCPError

__all__ = ["AnswerMismatchError", "trim_traceback"]

PACKAGE = "footlight"
STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
GENERATED = "REGISTRY_HASH"
"""A name that only generated modules have."""


class AnswerMismatchError(AssertionError):
    """The answer of a tool did not meet an assertion before the deadline."""


def trim_traceback(error: BaseException) -> None:
    """Remove the frames of Footlight from the end of the tracebacks of an error and its causes.

    Only errors that Footlight raises intentionally are trimmed. Other errors, such as bugs and errors in an
    adapter or handler of the test, keep all frames.
    """
    for each in _chain(error):
        if not isinstance(each, (MCPError, AnswerMismatchError, pytest.UsageError)):
            continue
        trace = _last_foreign_entry(each.__traceback__)
        if trace is None:
            each.__traceback__ = None
        else:
            trace.tb_next = None
        cause = each.__cause__
        if isinstance(cause, MCPError) and str(cause) in str(each):
            each.__cause__ = None  # The message already contains it.
            each.__suppress_context__ = True


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    stack: list[BaseException | None] = [error]
    while stack:
        each = stack.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        stack += [each.__cause__, None if each.__suppress_context__ else each.__context__]


def _last_foreign_entry(trace: TracebackType | None) -> TracebackType | None:
    """Return the last traceback entry outside of Footlight and the standard library, or None."""
    last = None
    while trace is not None:
        if not _is_internal(trace.tb_frame):
            last = trace
        trace = trace.tb_next
    return last


def _is_internal(frame: FrameType) -> bool:
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return (
        package == PACKAGE
        or GENERATED in frame.f_globals
        or _is_standard_library(Path(frame.f_code.co_filename))
    )


def _is_standard_library(file: Path) -> bool:
    return STANDARD_LIBRARY in file.parents and "site-packages" not in file.parts
