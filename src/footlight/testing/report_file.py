"""Write the results of a test run as JSON, for the program that started it (`--footlight-report`)."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from footlight.atomic_files import write_atomically

__all__ = ["RESULT", "ReportFile"]

RESULT = "footlight_result"
"""The attribute of a report that contains the value of `record_result` as JSON."""
MAX_ERROR = 4_000

Entry = dict[str, Any]


class ReportFile:
    """A plugin that writes `tests`, `collected`, `deselected`, `available` and `errors` at the end."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._tests: dict[str, Entry] = {}
        self._titles: list[str] = []
        self._deselected = 0
        self._errors: list[Entry] = []
        self._running: set[str] = set()

    def pytest_sessionstart(self) -> None:
        """Replace the report of an earlier run, which a reader could take for that of this one.

        Raises:
            pytest.UsageError: the file cannot be written.
        """
        try:
            self._write()
        except OSError as error:
            raise pytest.UsageError(_describe_unwritable(error)) from None

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        self._titles.append(item.name)

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        self._deselected += len(items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            title = report.nodeid.rpartition("/")[2] or report.nodeid
            self._errors.append({"title": title, "nodeid": report.nodeid, "error": _describe_error(report)})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        test = self._ensure_entry(report.nodeid)
        if report.failed and test["status"] != "failed":
            test |= {"status": "failed", "error": _describe_error(report)}
        elif report.skipped and test["status"] == "passed":
            test |= {"status": "skipped", "error": _describe_skip(report)}
        if hasattr(report, RESULT):
            test["result"] = json.loads(getattr(report, RESULT))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._running.add(nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._running.discard(nodeid)

    def _ensure_entry(self, nodeid: str) -> Entry:
        title = nodeid.rpartition("::")[2]
        return self._tests.setdefault(nodeid, {"title": title, "nodeid": nodeid, "status": "passed"})

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None]:
        """Write the report after the summary, so that an unwritable file does not hide the summary."""
        yield
        for nodeid in sorted(self._running):
            test = self._ensure_entry(nodeid)
            if test["status"] != "failed":
                test |= {"status": "failed", "error": "The test was interrupted"}
        try:
            self._write()
        except OSError as error:
            pytest.exit(_describe_unwritable(error), returncode=pytest.ExitCode.INTERNAL_ERROR)

    def _write(self) -> None:
        available = self._titles or [test["title"] for test in self._tests.values()]
        report = {
            "tests": list(self._tests.values()),
            "collected": len(available),
            "deselected": self._deselected,
            "available": available,
            "errors": self._errors,
        }
        written = json.dumps(report, ensure_ascii=False) + "\n"
        write_atomically(self._file, written.encode("utf-8", "backslashreplace"))


def _describe_unwritable(error: OSError) -> str:
    return f"--footlight-report: {error.filename} cannot be written: {error.strerror}"


def _describe_error(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return the message and location of a failure, or else the text of pytest's report."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = report.longreprtext if crash is None else f"{crash.message}\n{crash.path}:{crash.lineno}"
    return text if len(text) <= MAX_ERROR else f"{text[:MAX_ERROR]}… [{len(text)} chars]"


def _describe_skip(report: pytest.TestReport) -> str:
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")
    return getattr(report, "wasxfail", "") or _describe_error(report)
