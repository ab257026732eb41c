"""Running tests in a process of their own, against a browser that stays open.

The tests are pytest's. Our plugin attaches them to the browser, over the endpoint in the environment, and
writes down how each of them ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import importlib.util
import json
import os
import re
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import psutil

from footlight.errors import DeadlineExceeded, FootlightError, InvalidParameter, PermissionDenied

if TYPE_CHECKING:
    from asyncio.subprocess import Process

__all__ = ["RunReport", "RunRequest", "TestOutcome", "closest", "run_tests"]

PLUGIN = "footlight.pytest_plugin"
LONGEST_LOG = 8_000
"""Characters, the last ones: what went wrong stands at the end."""
NO_TESTS = 5
BAD_USAGE = 4
"""pytest's own exit codes."""
CHECK_SECONDS = 0.02
LAST_WORDS_SECONDS = 1.0
MOST_TOLD = 50
"""Names of tests, in an error."""

Status = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """Which tests, and in which browser. `params` are given to the tests."""

    directory: Path
    session_name: str
    endpoint: str
    target: str
    """Of the page that the tests are to work in."""
    scratch: Path
    """For files of the run alone."""
    timeout_ms: float
    grep: str | None
    params: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TestOutcome:
    """`error` is why it failed or was skipped, `result` what the test gave to be told."""

    __test__ = False

    title: str
    status: Status
    error: str | None = None
    result: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """How the tests ended that ran. `log` is the end of what was written meanwhile."""

    tests: Sequence[TestOutcome]
    log: str

    def count(self, status: Status) -> int:
        return sum(test.status == status for test in self.tests)


@dataclass(frozen=True, slots=True)
class _Ended:
    status: int
    log: str


async def run_tests(request: RunRequest) -> RunReport:
    """Run those that match. When this returns, however it does, nothing of it runs any more.

    Raises:
        InvalidParameter: no test matches, or the grep cannot be read.
        PermissionDenied: there is no pytest, or no such folder.
        DeadlineExceeded: they took too long.
    """
    _check(request)
    try:
        async with asyncio.timeout(request.timeout_ms / 1000):
            return await _run(request)
    except TimeoutError:
        raise DeadlineExceeded(
            f"The tests were ended: they had not come to an end after {request.timeout_ms:.0f}ms",
            suggestion="Increase the timeout parameter, or run fewer tests with grep.",
            retryable=False,
            timeout=request.timeout_ms,
            dispatched=True,
        ) from None


def _check(request: RunRequest) -> None:
    if importlib.util.find_spec("pytest") is None:
        raise PermissionDenied(
            "browser.run_test needs pytest, which is not installed beside this server",
            suggestion="Whoever runs the server can install it: pip install pytest.",
        )
    if not request.directory.is_dir():
        raise PermissionDenied(
            f"browser.run_test has no tests: {request.directory} is no folder",
            suggestion="Whoever runs the server can correct the setting tests.directory.",
            setting="tests.directory",
        )


async def _run(request: RunRequest) -> RunReport:
    with tempfile.TemporaryDirectory(prefix="tests-", dir=request.scratch) as folder:
        file = Path(folder) / "report.json"
        ended = await _pytest(request, file)
        report = _read(file)
    if request.grep and ended.status == BAD_USAGE and "passed to '-k'" in ended.log:
        raise InvalidParameter(
            f"grep: {request.grep!r} is no expression of names",
            suggestion="Give a part of a test's name, or several with and, or, not: login and not guest.",
            parameter="grep",
        )
    if ended.status == NO_TESTS:
        raise _no_match(request, report.get("available", []))
    return RunReport(tests=_outcomes(report) or [_pytest_failed(ended)], log=ended.log)


def _read(file: Path) -> dict[str, Any]:
    """Nothing where no report was written: pytest did not get so far."""
    try:
        return json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def _outcomes(report: Mapping[str, Any]) -> list[TestOutcome]:
    """A file that cannot be read for tests is told as one that failed."""
    return [
        *(
            TestOutcome(
                title=each["title"], status=each["status"], error=each.get("error"), result=each.get("result")
            )
            for each in report.get("tests", ())
        ),
        *(
            TestOutcome(title=each["title"], status="failed", error=each.get("error"))
            for each in report.get("errors", ())
        ),
    ]


def _pytest_failed(ended: _Ended) -> TestOutcome:
    last = ended.log.strip().rpartition("\n")[2]
    return TestOutcome(title="pytest", status="failed", error=f"pytest ended with {ended.status}: {last}")


def _no_match(request: RunRequest, available: Sequence[str]) -> FootlightError:
    if not available:
        return InvalidParameter(
            "there are no tests in the folder of this server",
            suggestion="Whoever runs the server can correct the setting tests.directory.",
            parameter="grep",
        )
    titles = closest(request.grep or "", available)
    return InvalidParameter(
        f"grep: no test matches {request.grep!r}; closest: {', '.join(titles[:3])}; "
        f"there {'is' if len(titles) == 1 else 'are'} {len(titles)}",
        parameter="grep",
        tests=titles[:MOST_TOLD],
    )


def closest(wanted: str, titles: Sequence[str]) -> list[str]:
    """All of them, those first that are most like it, however words are joined there."""
    return sorted(titles, key=lambda title: _likeness(wanted, title), reverse=True)


def _likeness(wanted: str, title: str) -> float:
    return difflib.SequenceMatcher(None, _letters(wanted), _letters(title)).ratio()


def _letters(title: str) -> str:
    return re.sub(r"[\W_]", "", title.lower()).removeprefix("test")


# The process


async def _pytest(request: RunRequest, report: Path) -> _Ended:
    """Its input is open as long as we are there, and so it ends with us. What it writes is read meanwhile."""
    process = await asyncio.create_subprocess_exec(
        *_command(request, report),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=_environment(request),
        start_new_session=True,
    )
    assert process.stdout is not None
    tail = _Tail()
    reading = asyncio.create_task(tail.read(process.stdout))
    try:
        while process.returncode is None:  # noqa: ASYNC110 - `wait` waits for all who have its output open
            await asyncio.sleep(CHECK_SECONDS)
    finally:
        _end_all(process)
        await asyncio.wait([reading], timeout=LAST_WORDS_SECONDS)
        reading.cancel()
    return _Ended(process.returncode, tail.text)


def _command(request: RunRequest, report: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "pytest", str(request.directory)),
        *([f"-k{request.grep}"] if request.grep else []),
        *("-p", _plugin(), "--footlight-report", str(report)),
        *("-p", "no:cacheprovider", "--color=no"),
    ]


def _plugin() -> str:
    """By its entry point where it has one: under two names pytest refuses it."""
    return next((each.name for each in entry_points(group="pytest11") if each.value == PLUGIN), PLUGIN)


def _environment(request: RunRequest) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONUNBUFFERED": "1",
        "FOOTLIGHT_LIFELINE": "1",
        "FOOTLIGHT_CDP_ENDPOINT": request.endpoint,
        "FOOTLIGHT_CDP_TARGET": request.target,
        "FOOTLIGHT_SESSION_NAME": request.session_name,
        **{f"FOOTLIGHT_PARAM_{name.upper()}": value for name, value in request.params.items()},
    }


def _end_all(process: Process) -> None:
    """With what it started: that may outlive it."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        return
    with contextlib.suppress(psutil.Error):  # Windows has no groups.
        for child in psutil.Process(process.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                child.kill()
    with contextlib.suppress(ProcessLookupError):
        process.kill()


class _Tail:
    """The end of what is written, however much that is."""

    def __init__(self) -> None:
        self._kept = b""
        self._length = 0

    async def read(self, stream: asyncio.StreamReader) -> None:
        while part := await stream.read(65_536):
            self._length += len(part)
            self._kept = (self._kept + part)[-4 * LONGEST_LOG :]

    @property
    def text(self) -> str:
        text = self._kept.decode("utf-8", "replace")
        if self._length == len(self._kept) and len(text) <= LONGEST_LOG:
            return text
        return f"[cut, the end of {self._length} bytes]…\n{text[-LONGEST_LOG:]}"
