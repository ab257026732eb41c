"""Limit the processor time of work, which does not depend on what else the machine runs."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["limit_processor_time"]


@contextmanager
def limit_processor_time(seconds: float) -> Generator[None]:
    """Fail if the block or the decorated function takes more processor time of this process.

    Work without an end is ended by the time limit of all tests.
    """
    began = time.process_time()
    yield
    assert time.process_time() - began < seconds
