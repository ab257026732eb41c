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
@pytest.mark.parametrize("how", ["raise KeyboardInterrupt", "pytest.exit('enough')"])
def test_interrupted_test_is_not_reported_as_passed(pytester: pytest.Pytester, how: str) -> None:
    reported = report(pytester, f"import pytest\ndef test_passes(): pass\ndef test_stops(): {how}\n")

    assert [(test["title"], test["status"], test.get("error")) for test in reported["tests"]] == [
        ("test_passes", "passed", None),
        ("test_stops", "failed", "The test was interrupted"),
    ]


RECORDED = """
import enum

class Colour(str, enum.Enum):
    RED = "red"

def test_enumeration(record_result):
    record_result([Colour.RED])

def test_surrogate(record_result):
    record_result("\\ud800")

def test_changed_later(record_result):
    value = {}
    record_result(value)
    value["page"] = object()

def test_not_a_number(record_result):
    record_result(float("nan"))
"""


@pytest.mark.slow
@pytest.mark.parametrize("processes", [0, 1])
def test_recorded_result_is_the_json_value_at_that_time(pytester: pytest.Pytester, processes: int) -> None:
    reported = report(pytester, RECORDED, "-n", str(processes))

    assert {test["title"]: (test["status"], test.get("result")) for test in reported["tests"]} == {
        "test_enumeration": ("passed", ["red"]),
        "test_surrogate": ("passed", "\ud800"),
        "test_changed_later": ("passed", {}),
        "test_not_a_number": ("failed", None),
    }


@pytest.mark.slow
def test_report_that_cannot_be_written_stops_the_run_before_the_tests(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it="def test_runs(): raise SystemExit('ran')")

    ran = pytester.runpytest_subprocess("--footlight-report", "nowhere/report.json", timeout=LIMIT_SECONDS)

    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    ran.stderr.fnmatch_lines(["ERROR: --footlight-report: *report.json cannot be written: No such file*"])
    ran.stdout.no_fnmatch_line("*ran*")


@pytest.mark.slow
def test_report_of_an_earlier_run_does_not_outlive_a_killed_run(pytester: pytest.Pytester) -> None:
    report(pytester, "def test_passes(): pass")

    killed = report(pytester, "import os\ndef test_dies(): os._exit(1)")

    assert killed["tests"] == []


@pytest.mark.slow
def test_collection_errors_are_reported(pytester: pytest.Pytester) -> None:
    reported = report(pytester, "import no_such_module")

    (error,) = reported.pop("errors")
    assert reported == {"tests": [], "collected": 0, "deselected": 0, "available": []}
    assert (error["title"], error["nodeid"]) == ("test_it.py", "test_it.py")
    assert "No module named 'no_such_module'" in error["error"]
