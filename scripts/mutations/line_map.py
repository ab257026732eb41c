"""Measure once which test runs which line of `src`, and keep the result in `.mutation`."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from difflib import SequenceMatcher
from pathlib import Path

from coverage import CoverageData

from scripts.mutations.changes import Change, tests_of
from scripts.mutations.follow_tests import START
from scripts.mutations.project_copy import ROOT, copy_project, run_pytest
from scripts.mutations.record_tests import DURATIONS

__all__ = ["LineMap", "make_map"]

MAP = ROOT / ".mutation"
CHECKOUT = MAP / "checkout"
DATA = MAP / "data"
SELECTED_S = 60
COVERAGE_SETTINGS = """\
[run]
source = footlight
parallel = true
patch = subprocess, _exit
concurrency = thread, greenlet
plugins = scripts.mutations.follow_tests
"""


def make_map(tests: Sequence[str], workers: int) -> None:
    """Run these tests of `make test`, a process for each folder, and keep which test runs which line.

    They run in the copy of the project that was made for the first of them. `make clean` removes it.
    """
    if not CHECKOUT.exists():
        copy_project(CHECKOUT)
    settings = CHECKOUT / "coverage.ini"
    settings.write_text(COVERAGE_SETTINGS, "utf-8")

    def run(name: str) -> Path:
        parts = MAP / "parts" / name
        parts.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        done = run_pytest(
            *(CHECKOUT, "-m", "not slow", name),
            under=("-m", "coverage", "run", f"--rcfile={settings}"),
            variables={
                "COVERAGE_FILE": str(parts / "data"),
                DURATIONS: str(MAP / f"{name.replace('/', '-')}.json"),
            },
        )
        *_, summary = ["nothing", *done.stdout.splitlines()]
        print(f"{time.monotonic() - began:6.0f} s  {name}: {summary}", flush=True)
        return parts

    with ThreadPoolExecutor(workers) as pool:
        for parts in pool.map(run, tests):
            combine = (
                "combine",
                "--quiet",
                "--append",
                f"--rcfile={settings}",
                f"--data-file={DATA}",
                str(parts),
            )
            subprocess.run([sys.executable, "-m", "coverage", *combine], cwd=CHECKOUT, check=False)


class LineMap:
    """The lines that each test runs and the time that it takes, for the tests that `make_map` has run."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        for file in MAP.glob("*.json"):
            self.seconds |= json.loads(file.read_text("utf-8"))
        self.data = CoverageData(str(DATA))
        self.data.read()

    def tests_of(self, change: Change) -> tuple[list[str], bool]:
        """Return the tests that run the line of the change, of the shortest `SELECTED_S` seconds of them.

        The module of the same name is first, and then those that take the shortest. Also return whether these
        are all tests of the change's folders that can notice it.
        """
        contexts = self._contexts(change)
        names = {context.removeprefix(START) for context in contexts} & self.seconds.keys()
        left_s = SELECTED_S
        modules: dict[str, list[str]] = {}
        for name in sorted(names, key=self.seconds.__getitem__):
            left_s -= self.seconds[name]
            if left_s < 0:
                break
            modules.setdefault(name.partition("::")[0], []).append(name)

        def duration(module: str) -> tuple[bool, float]:
            return not module.endswith(f"/test_{change.path.stem}.py"), sum(
                map(self.seconds.__getitem__, modules[module])
            )

        selected = [name for module in sorted(modules, key=duration) for name in modules[module]]
        mapped = all(any(name.startswith(each) for name in self.seconds) for each in tests_of(change.path)[1])
        runs = any(context and not context.startswith(START) for context in contexts)
        return selected, mapped and runs and left_s >= 0

    def _contexts(self, change: Change) -> set[str]:
        path = CHECKOUT / change.path
        if not path.exists():
            return set()
        now = (ROOT / change.path).read_text("utf-8").splitlines()
        before = path.read_text("utf-8").splitlines()
        blocks = SequenceMatcher(None, now, before, autojunk=False).get_matching_blocks()
        lines = {a + i: b + i for a, b, size in blocks for i in range(1, size + 1)}
        found = self.data.contexts_by_lineno(str(path))
        last = change.line + change.was.count("\n")
        return {each for line in range(change.line, last + 1) for each in found.get(lines.get(line, 0), ())}
