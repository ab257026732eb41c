"""Tests that end with the server that started them, however that ends."""

from __future__ import annotations

import contextlib
import os
import signal
import threading

__all__ = ["LIFELINE", "hold_lifeline"]

LIFELINE = "FOOTLIGHT_LIFELINE"
"""Set where the standard input is a pipe to which nobody writes, and which only the server holds open."""


def hold_lifeline() -> None:
    """Take the standard input away from the tests, and end with it, and with all that they started."""
    if os.environ.pop(LIFELINE, None) is None:
        return
    line = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    threading.Thread(target=_end_with, args=(line,), name="footlight-lifeline", daemon=True).start()


def _end_with(line: int) -> None:
    while os.read(line, 1):
        pass
    if hasattr(os, "killpg"):  # The server has made it a group of its own.
        os.killpg(0, signal.SIGKILL)
    _end_children()
    os._exit(1)


def _end_children() -> None:
    """Windows has no groups."""
    import psutil

    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            child.kill()
