"""The report file of a test run, for the program that started it."""

from __future__ import annotations

import json
from textwrap import dedent
from typing import Any

import pytest

pytest_plugins = ["pytester"]

LIMIT_SECONDS = 90.0

TESTS = """
import pytest

def test_passes(record_result, run_params):
    record_result("overwritten")
    record_result({"asked": run_params})

def test_fails():
    assert 1 == 2

@pytest.mark.parametrize("number", [1])
def test_skips(number):
    pytest.skip("not today")

@pytest.mark.xfail(reason="known")
def test_known():
    assert False

@pytest.fixture
def broken():
    yield
    raise RuntimeError("broken")

def test_ends_badly(broken):
    pass

def test_tells_nonsense(record_result):
    record_result(object())

def test_not_asked_for():
    pass
"""


def report(pytester: pytest.Pytester, tests: str, *arguments: str) -> dict[str, Any]:
    """Return the report of a test run in a process of its own."""
    pytester.makepyfile(test_it=dedent(tests))
    options = ("-p", "no:asyncio", "-p", "no:hypothesispytest", "--footlight-report", "report.json")
    pytester.runpytest_subprocess(*options, *arguments, timeout=LIMIT_SECONDS)
    return json.loads(pytester.path.joinpath("report.json").read_text("utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("processes", [0, 2])
def test_report_lists_test_outcomes_and_available_tests(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    monkeypatch.setenv("FOOTLIGHT_PARAM_EMAIL", "me@example.com")

    reported = report(pytester, TESTS, "-k", "not asked", "-n", str(processes))

    by_title = {test["title"]: test for test in reported["tests"]}
    where = pytester.path / "test_it.py"
    ended = {
        "test_passes": {"status": "passed", "result": {"asked": {"email": "me@example.com"}}},
        "test_fails": {"status": "failed", "error": f"assert 1 == 2\n{where}:8"},
        "test_skips[1]": {"status": "skipped", "error": "not today"},
        "test_known": {"status": "skipped", "error": "known"},
        "test_ends_badly": {"status": "failed", "error": f"RuntimeError: broken\n{where}:21"},
        "test_tells_nonsense": {"status": "failed", "error": by_title["test_tells_nonsense"]["error"]},
    }
    assert by_title == {
        title: {"title": title, "nodeid": f"test_it.py::{title}", **how} for title, how in ended.items()
    }
    assert by_title["test_tells_nonsense"]["error"].startswith("TypeError: ")
    if not processes:
        assert reported | {"tests": []} == {
            "tests": [],
            "collected": 7,
            "deselected": 1,
            "available": [*ended, "test_not_asked_for"],
            "errors": [],
        }


@pytest.mark.slow
def test_collection_errors_are_reported(pytester: pytest.Pytester) -> None:
    reported = report(pytester, "import no_such_module")

    (error,) = reported.pop("errors")
    assert reported == {"tests": [], "collected": 0, "deselected": 0, "available": []}
    assert (error["title"], error["nodeid"]) == ("test_it.py", "test_it.py")
    assert "No module named 'no_such_module'" in error["error"]
