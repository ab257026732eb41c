"""Mutation testing: change one place of `src` at a time and run the tests: `scripts/mutation --count 60`.

A seed chooses the places from all packages, so two runs on the same code make the same changes. Each change
is made in a copy of the project. The tests of `make test` run first, until one fails twice, then those that
only `make test-all` runs. Prints a line per change, and a summary.

`scripts/mutation --map tests/knowledge tests/client` records in `.mutation` which test of these folders runs
which line. A change is judged first by the tests that are known to run its line.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

from scripts.mutations.changes import Change, draw, tests_of
from scripts.mutations.line_map import LineMap, make_map
from scripts.mutations.project_copy import copy_project, run_pytest
from scripts.mutations.record_tests import ONLY_TESTS


def failure_of(
    copy: Path, limit_s: float, *arguments: str, variables: Mapping[str, str] | None = None
) -> str | None:
    """Return the first test that fails twice, or None where all pass within the limit."""
    try:
        done = run_pytest(copy, "-x", "--reruns", "1", *arguments, limit_s=limit_s, variables=variables)
    except subprocess.TimeoutExpired:
        print(f"    stopped after {limit_s:.0f} s: {' '.join(arguments)}", flush=True)
        return None
    if done.returncode in (0, 5):  # 5: no test of this tier is there.
        return None
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED tests/", "ERROR tests/"))]
    return failed[0].split(" - ")[0] if failed else f"pytest itself, status {done.returncode}"


@contextmanager
def apply_change(change: Change, copy: Path) -> Generator[None]:
    """Make a change in a copy of the project, and undo it at the end."""
    file = copy / change.path
    data = file.read_bytes()
    file.write_bytes(data[: change.start] + change.text.encode() + data[change.end :])
    try:
        yield
    finally:
        file.write_bytes(data)


def judge(change: Change, copy: Path, lines: LineMap, limit_s: float) -> tuple[str, str]:
    """Return which tier notices the change, or `nobody`, and the test."""
    own, package = tests_of(change.path)
    selected, complete = lines.tests_of(change)
    modules = [
        module
        for module in dict.fromkeys(name.partition("::")[0] for name in selected)
        if (copy / module).exists()
    ]
    listed = copy / "selected-tests"
    listed.write_text("\n".join(selected), "utf-8")
    selection = {ONLY_TESTS: str(listed)}
    fast, slow = ("make test", "not slow"), ("make test-all", "slow")
    runs: list[tuple[tuple[str, str], Sequence[str], Mapping[str, str]]] = [
        (fast, modules, selection),
        (fast, own, {}),
        (fast, () if complete else package, {}),
        (slow, list(dict.fromkeys([*own, *modules])), {}),
        (slow, package, {}),
    ]
    with apply_change(change, copy):
        for (tier, mark), tests, variables in runs:
            if tests and (noticed := failure_of(copy, limit_s, "-m", mark, *tests, variables=variables)):
                return tier, noticed
    return "nobody", f"{len(selected)} tests run it"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=60, help="number of changes (default: 60)")
    parser.add_argument("--seed", type=int, default=1, help="seed that chooses the changes (default: 1)")
    parser.add_argument(
        "--number", type=int, action="append", help="only the change of this number, as listed"
    )
    parser.add_argument("--workers", type=int, default=2, help="changes judged side by side (default: 2)")
    parser.add_argument(
        "--limit", type=float, default=900, help="seconds for one run of pytest (default: 900)"
    )
    parser.add_argument("--only", help="only modules whose path contains this text")
    parser.add_argument("--list", action="store_true", help="print the changes without running tests")
    parser.add_argument(
        "--map", nargs="+", metavar="TESTS", help="only record which of these tests runs which line"
    )
    options = parser.parse_args()
    if options.map:
        make_map(options.map, options.workers)
        return
    numbered = [
        (number, change)
        for number, change in enumerate(draw(options.count, options.seed), 1)
        if (options.only or "") in str(change.path) and number in (options.number or [number])
    ]
    if options.list:
        for number, change in numbered:
            print(f"{number:3} {change}")
        return
    lines = LineMap()
    tiers: Counter[str] = Counter()
    copies: SimpleQueue[Path] = SimpleQueue()

    def judge_in_copy(change: Change) -> tuple[str, str]:
        copy = copies.get()
        try:
            return judge(change, copy, lines, options.limit)
        finally:
            copies.put(copy)

    with (
        tempfile.TemporaryDirectory(prefix="mutation-") as folder,
        ThreadPoolExecutor(options.workers) as pool,
    ):
        for number in range(options.workers):
            copy_project(Path(folder, str(number)))
            copies.put(Path(folder, str(number)))
        judged = {pool.submit(judge_in_copy, change): (number, change) for number, change in numbered}
        for done in as_completed(judged):
            number, change = judged[done]
            tier, test = done.result()
            tiers[tier] += 1
            print(f"{number:3} {tier:13} {change}  {test}", flush=True)
    for tier, count in tiers.items():
        print(f"noticed by {tier}: {count} of {tiers.total()}")


if __name__ == "__main__":
    main()
