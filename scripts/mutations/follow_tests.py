"""A plugin of coverage for the servers and commands that tests start: it tells coverage which test runs.

The pytest process writes the name of the current test to a file (record_tests.py). The lines that a
process runs during the test that started it have the name of that test after `START`: a later test that uses
the same process depends on those lines too, but does not run them.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from coverage import Coverage
from coverage.exceptions import CoverageException

__all__ = ["CURRENT_TEST", "POLL_S", "START", "coverage_init"]

CURRENT_TEST = "MUTATION_CURRENT_TEST"
"""The environment variable that names the file with the current test."""
START = "start "
POLL_S = 0.02


def coverage_init(_registry: object, _options: object) -> None:
    if path := os.environ.get(CURRENT_TEST):
        threading.Thread(target=_follow, args=(Path(path),), daemon=True).start()


def _follow(path: Path) -> None:
    try:
        current = path.read_text("utf-8")
        context = START + current
        while True:
            coverage = Coverage.current()
            if context and coverage is not None:
                try:
                    coverage.switch_context(context)
                    context = ""
                except CoverageException:
                    pass  # It has not started yet.
            time.sleep(POLL_S)
            test = path.read_text("utf-8")
            if test != current:
                current = context = test
    except OSError:
        pass  # The tests have ended.
