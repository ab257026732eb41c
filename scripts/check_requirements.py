"""Check docs/requirements.md: every requirement has tests that exist, and no id is used elsewhere.

    check_requirements.py [ROOT]

Print each problem, and exit with status 1 when there is one.
"""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

PAGE = "docs/requirements.md"
TOTALS = {"000": 91, "001": 58, "002": 72, "003": 91, "004": 56}
"""The number of requirements of each specification."""

ID = re.compile(r"\bR00\d-\d+\b")
_ITEM = re.compile(r"^- \*\*(R00\d-\d+)\*\* (.*?)(?=^- \*\*R|^#|\Z)", re.MULTILINE | re.DOTALL)
_TEST = re.compile(r"`([\w/]+\.py)`|`(test_\w+)`")
_DIFFERENCES = re.compile(r"^\| (R00\d-\d+(?:, R00\d-\d+)*) \|", re.MULTILINE)


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1]
    page = (root / PAGE).read_text("utf-8")
    problems = [*check_page(page, root / "tests"), *check_uses(find_uses(root))]
    for problem in problems:
        print(problem)
    print(f"{len(_ITEM.findall(page))} requirements, {len(problems)} problems.")
    return 1 if problems else 0


def check_page(page: str, tests: Path) -> Iterator[str]:
    """Yield what is wrong with the page: missing ids, statements without tests, tests that do not exist."""
    items = _ITEM.findall(page)
    ids = [each for each, _ in items]
    expected = [f"R{document}-{n}" for document, total in TOTALS.items() for n in range(1, total + 1)]
    yield from (f"{PAGE}: {each} is missing." for each in expected if each not in ids)
    yield from (f"{PAGE}: {each} is listed twice." for each in sorted({e for e in ids if ids.count(e) > 1}))
    get_functions = functools.cache(_get_functions)
    different = {each for row in _DIFFERENCES.findall(page) for each in row.split(", ")}
    for each, text in items:
        statement, has_tests, references = text.partition("\n  Tests: ")
        reason = re.search(r"\n  Not held: \S+ \S+", text)
        if not has_tests and not reason:
            yield f"{PAGE}: {each} names no test. Name one, or write `Not held:` and the reason."
        if ("(differs)" in statement) != (each in different):
            yield f"{PAGE}: {each} says `(differs)` if and only if a table of differences has it."
        yield from (
            f"{PAGE}: {each}: {problem}" for problem in _check_tests(references, tests, get_functions)
        )


def _check_tests(references: str, tests: Path, get_functions: Callable[[Path], set[str]]) -> Iterator[str]:
    path = None
    for file, function in _TEST.findall(references):
        if file:
            path = tests / file
            if not path.is_file():
                yield f"there is no tests/{file}."
        elif path is None:
            yield f"the file of {function} is missing."
        elif path.is_file() and function not in get_functions(path):
            yield f"there is no {function} in tests/{path.relative_to(tests)}."


def _get_functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def check_uses(uses: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield the files other than the page that use ids."""
    for path, ids in uses.items():
        if path != PAGE:
            yield f"{path}: say what {', '.join(sorted(set(ids)))} means; ids belong to {PAGE} only."


def find_uses(root: Path) -> dict[str, list[str]]:
    """Return the requirement ids in each file of the repository that has some."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    uses: dict[str, list[str]] = {}
    for name in filter(None, listed.stdout.split("\0")):
        path = root / name
        if path.is_file():
            found = ID.findall(path.read_text("utf-8", errors="ignore"))
            if found:
                uses[name] = found
    return uses


if __name__ == "__main__":
    sys.exit(main())
