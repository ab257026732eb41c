"""Run pytest tests in a separate process, against a browser that stays open.

Our pytest plugin attaches the tests to the browser over the endpoint in the environment, and writes a report.
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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import psutil

from footlight.errors import (
    DeadlineExceededError,
    FootlightError,
    InvalidParameterError,
    PermissionDeniedError,
)

if TYPE_CHECKING:
    from asyncio.subprocess import Process

__all__ = ["RunReport", "RunRequest", "TestOutcome", "run_tests", "sort_by_likeness"]

PLUGIN_SWITCH = "PYDANTIC_DISABLE_PLUGINS"
"""A variable that the server sets for its own start, and that is not meant for the tests."""

PLUGIN = "footlight.pytest_plugin"
MAX_LOG_CHARS = 8_000
"""Maximum number of characters of the log. The end is kept, because errors are at the end."""
NO_TESTS = 5
BAD_USAGE = 4
"""pytest's own exit codes."""
CHECK_SECONDS = 0.02
LAST_WORDS_SECONDS = 1.0
MAX_NAMES = 50
"""Maximum number of test names in an error."""

Status = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """The tests to run, and the browser to run them in. `params` are passed to the tests."""

    directory: Path
    session_name: str
    endpoint: str
    target: str
    """The target id of the page that the tests use."""
    scratch: Path
    """A folder for the files of the run."""
    timeout_ms: float
    grep: str | None
    params: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TestOutcome:
    """`error` says why the test failed or was skipped; `result` is the result that it reported."""

    __test__ = False

    title: str
    status: Status
    error: str | None = None
    result: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """The outcome of each test that ran. `log` is the end of the output."""

    tests: Sequence[TestOutcome]
    log: str

    def count(self, status: Status) -> int:
        return sum(test.status == status for test in self.tests)


@dataclass(frozen=True, slots=True)
class _PytestExit:
    status: int
    log: str


async def run_tests(request: RunRequest) -> RunReport:
    """Run the matching tests. On return, also after an error, none of their processes is left.

    Raises:
        InvalidParameterError: No test matches, or the grep is not valid.
        PermissionDeniedError: pytest or the tests directory is missing.
        DeadlineExceededError: The tests took too long.
    """
    _check_request(request)
    try:
        async with asyncio.timeout(request.timeout_ms / 1000):
            return await _run(request)
    except TimeoutError:
        raise DeadlineExceededError(
            f"The tests were stopped: they did not finish within {request.timeout_ms:.0f}ms",
            suggestion="Increase the timeout parameter, or run fewer tests with grep.",
            retryable=False,
            timeout=request.timeout_ms,
            dispatched=True,
        ) from None


def _check_request(request: RunRequest) -> None:
    if importlib.util.find_spec("pytest") is None:
        raise PermissionDeniedError(
            "browser.run_test needs pytest, which is not installed with this server",
            suggestion="Ask the server operator to install pytest: pip install pytest.",
        )
    if not request.directory.is_dir():
        raise PermissionDeniedError(
            f"browser.run_test has no tests: {request.directory} is not a directory",
            suggestion="Ask the server operator to correct the setting tests.directory.",
            setting="tests.directory",
        )


async def _run(request: RunRequest) -> RunReport:
    with tempfile.TemporaryDirectory(prefix="tests-", dir=request.scratch) as folder:
        file = Path(folder) / "report.json"
        ended = await _run_pytest(request, file)
        report = _read_report(file)
    if request.grep and ended.status == BAD_USAGE and "passed to '-k'" in ended.log:
        raise InvalidParameterError(
            f"grep: {request.grep!r} is not a valid expression",
            suggestion="Give a part of a test's name, or several with and, or, not: login and not guest.",
            parameter="grep",
        )
    if ended.status == NO_TESTS:
        raise _explain_no_match(request, report.get("available", []))
    return RunReport(tests=_collect_outcomes(report) or [_describe_crash(ended)], log=ended.log)


def _read_report(file: Path) -> dict[str, Any]:
    """Return the report, or an empty one if pytest did not write any."""
    try:
        return json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def _collect_outcomes(report: Mapping[str, Any]) -> list[TestOutcome]:
    """Return the outcome of each test. A file that cannot be collected counts as a failed test."""
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


def _describe_crash(ended: _PytestExit) -> TestOutcome:
    last = ended.log.strip().rpartition("\n")[2]
    return TestOutcome(title="pytest", status="failed", error=f"pytest ended with {ended.status}: {last}")


def _explain_no_match(request: RunRequest, available: Sequence[str]) -> FootlightError:
    if not available:
        return InvalidParameterError(
            "there are no tests in the tests directory of this server",
            suggestion="Ask the server operator to correct the setting tests.directory.",
            parameter="grep",
        )
    titles = sort_by_likeness(request.grep or "", available)
    return InvalidParameterError(
        f"grep: no test matches {request.grep!r}; closest: {', '.join(titles[:3])}; "
        f"there {'is' if len(titles) == 1 else 'are'} {len(titles)}",
        parameter="grep",
        tests=titles[:MAX_NAMES],
    )


def sort_by_likeness(title_part: str, titles: Sequence[str]) -> list[str]:
    """Return the titles sorted by their likeness to `title_part`, ignoring how words are joined."""
    return sorted(titles, key=lambda title: _likeness(title_part, title), reverse=True)


def _likeness(title_part: str, title: str) -> float:
    return difflib.SequenceMatcher(None, _letters(title_part), _letters(title)).ratio()


def _letters(title: str) -> str:
    return re.sub(r"[\W_]", "", title.lower()).removeprefix("test")


# The process


async def _run_pytest(request: RunRequest, report: Path) -> _PytestExit:
    """Run pytest and return its exit status and log. Its open stdin lets it end when this process ends."""
    process = await asyncio.create_subprocess_exec(
        *_command(request, report),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=_environment(request),
        start_new_session=True,
    )
    assert process.stdout is not None
    tail = _OutputEnd()
    reading = asyncio.create_task(tail.read(process.stdout))
    try:
        while process.returncode is None:  # noqa: ASYNC110 - `wait` also waits for children with its output open
            await asyncio.sleep(CHECK_SECONDS)
    finally:
        _kill_tree(process)
        await asyncio.wait([reading], timeout=LAST_WORDS_SECONDS)
        reading.cancel()
    return _PytestExit(process.returncode, tail.text)


def _command(request: RunRequest, report: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "pytest", str(request.directory)),
        *([f"-k{request.grep}"] if request.grep else []),
        *("-p", _plugin(), "--footlight-report", str(report)),
        *("-p", "no:cacheprovider", "--color=no"),
    ]


def _plugin() -> str:
    """Return the plugin's entry point name, if it has one: pytest refuses a plugin with two names."""
    return next((each.name for each in entry_points(group="pytest11") if each.value == PLUGIN), PLUGIN)


def _environment(request: RunRequest) -> dict[str, str]:
    variables = _variables(request.params)
    return {
        **{name: value for name, value in os.environ.items() if name != PLUGIN_SWITCH},
        "PYTHONUNBUFFERED": "1",
        "FOOTLIGHT_LIFELINE": "1",
        "FOOTLIGHT_CDP_ENDPOINT": request.endpoint,
        "FOOTLIGHT_CDP_TARGET": request.target,
        "FOOTLIGHT_SESSION_NAME": request.session_name,
        "FOOTLIGHT_PARAMS": json.dumps(variables),
        **{variables[name]: value for name, value in request.params.items()},
    }


def _variables(names: Iterable[str]) -> dict[str, str]:
    """Return the environment variable of each parameter: its name in capitals, numbered if it is taken.

    `a` and `A` are two parameters, but one variable on some systems.
    """
    variables: dict[str, str] = {}
    used: set[str] = set()
    for number, name in enumerate(names):
        variable = f"FOOTLIGHT_PARAM_{name.upper()}"
        # The number is unambiguous, because parameter names contain no dots.
        variables[name] = f"{variable}.{number}" if variable in used else variable
        used.add(variable)
    return variables


def _kill_tree(process: Process) -> None:
    """Kill the process and its children, which may outlive it."""
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


class _OutputEnd:
    """Keeps the end of an output of any length."""

    def __init__(self) -> None:
        self._tail = b""
        self._length = 0

    async def read(self, stream: asyncio.StreamReader) -> None:
        while part := await stream.read(65_536):
            self._length += len(part)
            self._tail = (self._tail + part)[-4 * MAX_LOG_CHARS :]

    @property
    def text(self) -> str:
        text = self._tail.decode("utf-8", "replace")
        if self._length == len(self._tail) and len(text) <= MAX_LOG_CHARS:
            return text
        return f"[cut, the end of {self._length} bytes]…\n{text[-MAX_LOG_CHARS:]}"
