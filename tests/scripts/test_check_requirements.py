"""`scripts/check_requirements.py` on pages and files made in the test."""

from pathlib import Path

import pytest

from scripts import check_requirements
from scripts.check_requirements import check_page, check_uses, find_uses

FIRST = "R" + "000-1"
SECOND = "R" + "000-2"
THIRD = "R" + "000-3"

PAGE = f"""\
| {SECOND} | the document | here | why |

- **{FIRST}** Calls are logged.
  Tests: `client/test_log.py`: `test_a_call_is_logged`,
  `test_a_failure_is_logged`; `test_all.py`.
- **{SECOND}** Results are kept. (differs)
  Not held: nothing needs them.

## Next
"""


@pytest.fixture(autouse=True)
def _two_requirements(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setattr(check_requirements, "TOTALS", {"000": 2})


@pytest.fixture
def tests(tmp_path: Path) -> Path:
    folder = tmp_path / "tests"
    (folder / "client").mkdir(parents=True)
    (folder / "test_all.py").write_text("")
    (folder / "client/test_log.py").write_text(
        "def test_a_call_is_logged(): pass\nasync def test_a_failure_is_logged(): pass\n"
    )
    return folder


def test_requirements_page_with_existing_tests_has_no_problem(tests: Path) -> None:
    assert list(check_page(PAGE, tests)) == []


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        (f"- **{FIRST}**", f"- **{THIRD}**", f"{FIRST} is missing."),
        (f"- **{SECOND}**", f"- **{FIRST}**", f"{FIRST} is listed twice."),
        ("Not held: nothing needs them.", "", f"{SECOND} names no test."),
        ("Not held: nothing needs them.", "Not held:", f"{SECOND} names no test."),
        (" (differs)", "", f"{SECOND} says `(differs)` if and only if"),
        ("logged.", "logged. (differs)", f"{FIRST} says `(differs)` if and only if"),
        ("`test_all.py`", "`test_none.py`", f"{FIRST}: there is no tests/test_none.py."),
        ("test_a_failure", "test_no", f"{FIRST}: there is no test_no_is_logged in tests/client/test_log.py."),
        ("`client/test_log.py`: ", "", f"{FIRST}: the file of test_a_call_is_logged is missing."),
    ],
)
def test_a_problem_names_the_requirement(tests: Path, before: str, after: str, problem: str) -> None:
    assert before in PAGE

    found = "\n".join(check_page(PAGE.replace(before, after), tests))

    assert f"docs/requirements.md: {problem}" in found


def test_requirement_ids_outside_the_page_are_reported() -> None:
    uses = {"docs/requirements.md": [FIRST], "src/log.py": [FIRST], "tests/test_log.py": [SECOND, SECOND]}

    assert list(check_uses(uses)) == [
        f"src/log.py: say what {FIRST} means; ids belong to docs/requirements.md only.",
        f"tests/test_log.py: say what {SECOND} means; ids belong to docs/requirements.md only.",
    ]


@pytest.mark.slow
def test_requirements_page_of_this_repository_has_no_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    root = Path(__file__).parents[2]
    page = (root / check_requirements.PAGE).read_text("utf-8")

    assert list(check_page(page, root / "tests")) == []
    assert list(check_uses(find_uses(root))) == []
