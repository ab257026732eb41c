"""Mutation testing: change one place of `src` at a time and run the tests: `scripts/mutation --count 60`.

A seed chooses the places from all packages, so two runs on the same code make the same changes. Each change
is made in a copy of the project. The tests of `make test` that belong to the module run first, until one
fails. If all pass, the tests that only `make test-all` runs follow. Prints a line per change, and a summary.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = Path("src/footlight")
TIMEOUT_S = 900
INSTALLED = (".venv", ".peers")

TESTS = {
    "app": ("tests/cli", "tests/server", "tests/transports", "tests/watch", "tests/e2e"),
    "apps": ("tests/apps", "tests/toolsets/metamask"),
    "audit": ("tests/audit", "tests/cli/test_audit.py"),
    "browser": ("tests/browser", "tests/toolsets/browser", "tests/server", "tests/e2e"),
    "browser_client": ("tests/browser_client", "tests/client", "tests/audit"),
    "cli": ("tests/cli", "tests/demo", "tests/docs"),
    "client": ("tests/client", "tests/testing", "tests/cli"),
    "cluster": ("tests/cluster",),
    "daemon": ("tests/cli",),
    "demo": ("tests/demo", "tests/docs"),
    "knowledge": ("tests/knowledge", "tests/toolsets/metamask", "tests/cli/test_knowledge.py"),
    "protocol": ("tests/protocol", "tests/client"),
    "server": ("tests/server", "tests/toolsets/browser", "tests/protocol", "tests/e2e"),
    "testing": ("tests/testing",),
    "toolsets/browser": ("tests/toolsets/browser", "tests/server"),
    "toolsets/metamask": ("tests/toolsets/metamask", "tests/e2e"),
    "toolsets/szkrabok": ("tests/toolsets/szkrabok", "tests/e2e"),
    "transports": ("tests/transports", "tests/protocol", "tests/e2e"),
    "watch": ("tests/watch",),
}
"""The tests of each package. Other modules have the tests of their name and the end-to-end tests."""
OTHERS = ("tests/cli", "tests/server", "tests/transports", "tests/toolsets/browser")

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


@dataclass(frozen=True)
class Change:
    """A change: `text` replaces the bytes from `start` to `end` of a file. `line` is the line of `start`."""

    path: Path
    line: int
    start: int
    end: int
    text: str
    was: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(SOURCE)}:{self.line}: {self.was!r} -> {self.text!r}"


def changes_in(path: Path) -> Iterator[Change]:
    """Yield the possible changes within the functions of a file."""
    source = (ROOT / path).read_text("utf-8")
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    data = source.encode()

    def change(node: ast.expr | ast.stmt, new: ast.AST | str) -> Change:
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        text = new if isinstance(new, str) else f"({ast.unparse(new)})"
        return Change(path, node.lineno, start, end, text, data[start:end].decode())

    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in (each for statement in function.body for each in ast.walk(statement)):
            if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
                other = COMPARISONS[type(node.ops[0])]()
                yield change(node, ast.Compare(node.left, [other, *node.ops[1:]], node.comparators))
            elif isinstance(node, ast.BoolOp):
                other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
                yield change(node, ast.BoolOp(other, node.values))
            elif isinstance(node, ast.If):
                yield change(node.test, f"(not ({ast.unparse(node.test)}))")
            elif isinstance(node, ast.Return) and node.value is not None:
                if not isinstance(node.value, ast.Constant):
                    yield change(node.value, "None")
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
                other = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
                yield change(node, ast.BinOp(node.left, other, node.right))
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Await):
                yield change(node, "pass")


def package_of(path: Path) -> str:
    first, *rest = path.relative_to(SOURCE).parts
    return f"{first}/{rest[0]}" if first == "toolsets" and len(rest) > 1 else first


def draw(count: int, seed: int) -> list[Change]:
    """Return a number of changes for each package in proportion to its lines, at least one."""
    chance = random.Random(seed)
    packages: dict[str, list[Path]] = {}
    for file in sorted((ROOT / SOURCE).rglob("*.py")):
        path = file.relative_to(ROOT)
        packages.setdefault(package_of(path), []).append(path)
    lines = {name: sum(len((ROOT / path).read_bytes()) for path in paths) for name, paths in packages.items()}
    total = sum(lines.values())
    drawn: list[Change] = []
    for name, paths in packages.items():
        possible = [change for path in paths for change in changes_in(path)]
        share = max(1 if lines[name] > total / 200 else 0, round(count * lines[name] / total))
        drawn += chance.sample(possible, min(share, len(possible)))
    return drawn


def tests_of(path: Path) -> list[str]:
    """Return the tests of a module: first those of its own name, then those of its package."""
    own = [str(file.relative_to(ROOT)) for file in sorted((ROOT / "tests").rglob(f"test_{path.stem}.py"))]
    folders = [name for name in TESTS.get(package_of(path), OTHERS) if (ROOT / name).exists()]
    return [*own, *folders]


def run_tests(copy: Path, tests: Sequence[str], tier: str, workers: int) -> str | None:
    """Return the first test that fails, or None where all pass."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", str(workers), "--dist", "worksteal"]
    environment = {**os.environ, "PYTHONPATH": str(copy / "src")}
    try:
        done = subprocess.run(
            [*command, "-m", tier, *tests],
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        return "the time limit"
    if done.returncode in (0, 5):  # 5: no test of this tier is there.
        return None
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED tests/", "ERROR tests/"))]
    return failed[0].split(" - ")[0] if failed else f"pytest itself, status {done.returncode}"


def judge(change: Change, workers: int) -> tuple[str, str]:
    """Return which tier notices the change, or `nobody`, and the test."""
    own, *rest = ([test for test in tests_of(change.path) if test.endswith(".py")], tests_of(change.path))
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        copy = Path(folder) / "checkout"
        ignored = shutil.ignore_patterns(".git", *INSTALLED, "test-artifacts", ".hypothesis", ".pytest_cache")
        shutil.copytree(ROOT, copy, ignore=ignored, symlinks=True)
        for name in INSTALLED:
            (copy / name).symlink_to(ROOT / name)
        file = copy / change.path
        data = file.read_bytes()
        file.write_bytes(data[: change.start] + change.text.encode() + data[change.end :])
        for tier, mark in (("make test", "not slow"), ("make test-all", "slow")):
            for tests in (own, *rest):
                if tests and (noticed := run_tests(copy, tests, mark, workers)):
                    return tier, noticed
    return "nobody", ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=60, help="number of changes (default: 60)")
    parser.add_argument("--seed", type=int, default=1, help="seed that chooses the changes (default: 1)")
    parser.add_argument("--skip", type=int, default=0, help="continue after this number of changes")
    parser.add_argument("--workers", type=int, default=2, help="worker processes of a test run (default: 2)")
    parser.add_argument("--only", help="only modules whose path contains this text")
    parser.add_argument("--list", action="store_true", help="print the changes without running tests")
    options = parser.parse_args()
    changes = [each for each in draw(options.count, options.seed) if (options.only or "") in str(each.path)]
    tiers: Counter[str] = Counter()
    for number, change in list(enumerate(changes, 1))[options.skip :]:
        if options.list:
            print(f"{number:3} {change}")
            continue
        tier, test = judge(change, options.workers)
        tiers[tier] += 1
        print(f"{number:3} {tier:13} {change}  {test}", flush=True)
    for tier, count in tiers.items():
        print(f"noticed by {tier}: {count} of {tiers.total()}")


if __name__ == "__main__":
    main()
