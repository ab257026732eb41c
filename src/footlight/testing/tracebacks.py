"""A failure's traceback without our own frames, which say nothing to whoever wrote the test."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, TracebackType

import pytest

from footlight.client.errors import MCPError

__all__ = ["end_with_the_test"]

OURS = "footlight"
PYTHONS = Path(sysconfig.get_path("stdlib"))
GENERATED = "REGISTRY_HASH"
"""What only a module has that `footlight codegen` wrote."""


def end_with_the_test(error: BaseException) -> None:
    """Let its traceback end where the test called us, and those of the errors that led to it.

    Only errors that we raise on purpose; a bug of ours keeps all its frames, and so does what an adapter or a
    handler of the test's own raised.
    """
    for each in _chain(error):
        if not isinstance(each, (MCPError, pytest.UsageError)):
            continue
        trace = _last_of_others(each.__traceback__)
        if trace is None:
            each.__traceback__ = None
        else:
            trace.tb_next = None
        cause = each.__cause__
        if isinstance(cause, MCPError) and str(cause) in str(each):
            each.__cause__ = None  # Its words are there already.
            each.__suppress_context__ = True


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        each = left.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        left += [each.__cause__, None if each.__suppress_context__ else each.__context__]


def _last_of_others(trace: TracebackType | None) -> TracebackType | None:
    """The last entry that is neither ours nor the standard library's on our behalf."""
    last = None
    while trace is not None:
        if not _is_ours(trace.tb_frame):
            last = trace
        trace = trace.tb_next
    return last


def _is_ours(frame: FrameType) -> bool:
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return package == OURS or GENERATED in frame.f_globals or _is_pythons(Path(frame.f_code.co_filename))


def _is_pythons(file: Path) -> bool:
    return PYTHONS in file.parents and "site-packages" not in file.parts
