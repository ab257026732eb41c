"""A plugin of pytest for scripts/mutation.py: tell coverage which test runs, or run the tests of a list."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import psutil
import pytest
from coverage import Coverage

from scripts.mutations.follow_tests import CURRENT_TEST, POLL_S

__all__ = ["DURATIONS", "ONLY_TESTS"]

DURATIONS = "MUTATION_DURATIONS"
"""The environment variable that names the file for the seconds of each test."""
ONLY_TESTS = "MUTATION_ONLY_TESTS"
"""The environment variable that names a file with the tests to run, one in a line and in this order."""


class Recorder:
    """Tells coverage and the processes that tests start which test runs, and records how long each takes."""

    def __init__(self, folder: str, durations: Path) -> None:
        self.current = Path(folder) / "test"
        self.durations = durations
        self.seconds = defaultdict[str, float](float)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        coverage = Coverage.current()
        assert coverage is not None
        coverage.switch_context(item.nodeid)
        whole = self.current.with_suffix(".new")
        whole.write_text(item.nodeid, "utf-8")
        whole.replace(self.current)
        if psutil.Process().children():
            time.sleep(2 * POLL_S)  # They have read it then.
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        self.durations.write_text(json.dumps(self.seconds), "utf-8")


def pytest_configure(config: pytest.Config) -> None:
    if path := os.environ.pop(DURATIONS, None):
        folder = tempfile.TemporaryDirectory()
        config.add_cleanup(folder.cleanup)
        os.environ[CURRENT_TEST] = f"{folder.name}/test"
        config.pluginmanager.register(Recorder(folder.name, Path(path)))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if path := os.environ.pop(ONLY_TESTS, None):
        known = {item.nodeid: item for item in items}
        names = Path(path).read_text("utf-8").splitlines()
        items[:] = [known.pop(name) for name in names if name in known]
        config.hook.pytest_deselected(items=list(known.values()))
