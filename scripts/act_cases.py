"""Audit the test cases of the W3C ACT rules without a model, and print how many failing cases are found.

    act_cases.py [--cases FOLDER] [--rule ID ...] [--only failed|passing] [--jobs N] [--out FILE] [--list]

A failing case is found if a finding names the case's rule, or a success criterion of WCAG that the rule
requires. A finding of our own rules (all but axe-core's) about a passing or inapplicable case is a false
alarm. Without `--cases`, the cases are downloaded from GitHub to `.agreement/act`, once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
import tarfile
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from footlight import MCPClient
from footlight.audit.evidence.collector_sets import standard_collectors
from footlight.audit.evidence.collectors.photograph import Photograph
from footlight.audit.evidence.measurement import collect_evidence
from footlight.audit.findings import Evidence
from footlight.audit.page.page import DESKTOP, AuditedPage
from footlight.audit.page.server import own_server
from footlight.audit.page.server_page import page_of
from footlight.protocol.errors import MCPError
from scripts.local_server import QuietFolderHandler, serve_folder

__all__ = ["ActCase", "CaseResult", "audit_cases", "load_cases", "serve_cases", "write_table"]

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".agreement/act"
ARCHIVE = "https://codeload.github.com/w3c/wcag-act-rules/tar.gz/refs/heads/main"
ASSETS = "content-assets/wcag-act-rules"
"""The folder of the cases in the repository; on the site it is below `/WAI/`."""
CASE_SECONDS = 90.0
CPUS = os.cpu_count() or 1
JOBS = 3 * CPUS
"""How many pages are audited at a time. Much of an audit is waiting."""
_CRITERION = re.compile(r"wcag\d\d:(\d\.\d+\.\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ActCase:
    """A test case: a page that fails, passes or does not concern its rule."""

    id: str
    rule: str
    rule_name: str
    expected: str
    path: str
    criteria: frozenset[str]
    """The success criteria that the rule requires."""

    @property
    def fails(self) -> bool:
        return self.expected == "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """What the audit of a case found about its rule. `error` says why a case could not be audited."""

    case: ActCase
    found_by: Sequence[str]
    others: Sequence[str] = ()
    to_check: Sequence[str] = ()
    skipped: Sequence[str] = ()
    error: str | None = None

    @property
    def own(self) -> Sequence[str]:
        return [rule for rule in self.found_by if not rule.startswith("axe/")]

    def to_dict(self) -> dict[str, Any]:
        return {
            "rule": self.case.rule,
            "name": self.case.rule_name,
            "case": self.case.id,
            "expected": self.case.expected,
            "path": self.case.path,
            "foundBy": [*self.found_by],
            "others": [*self.others],
            "toCheck": [*self.to_check],
            "skipped": [*self.skipped],
            "error": self.error,
        }


def load_cases(folder: Path) -> Sequence[ActCase]:
    """Return the cases that `testcases.json` lists, those that are pages."""
    listed = json.loads((folder / ASSETS / "testcases.json").read_text("utf-8"))["testcases"]
    return [_read_case(each) for each in listed if (folder / ASSETS / each["relativePath"]).is_file()]


def _read_case(listed: Mapping[str, Any]) -> ActCase:
    requirements: Mapping[str, Any] = listed["ruleAccessibilityRequirements"] or {}
    return ActCase(
        id=listed["testcaseId"],
        rule=listed["ruleId"],
        rule_name=listed["ruleName"],
        expected=listed["expected"],
        path=listed["relativePath"],
        criteria=frozenset(
            found[1]
            for name, kind in requirements.items()
            if kind.get("forConformance") and (found := _CRITERION.fullmatch(name))
        ),
    )


@contextmanager
def serve_cases(folder: Path) -> Generator[str]:
    """Serve the folder as the W3C's site does, and yield the URL of the cases."""
    with serve_folder(folder, _CaseHandler) as url:
        yield f"{url}/WAI/{ASSETS}"


_MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".vtt": "text/vtt; charset=utf-8",
    ".webm": "video/webm",
}


class _CaseHandler(QuietFolderHandler):
    def guess_type(self, path: str | os.PathLike[str]) -> str:
        return _MEDIA_TYPES.get(Path(path).suffix) or super().guess_type(path)

    def translate_path(self, path: str) -> str:
        return super().translate_path(path.removeprefix("/WAI"))


async def audit_cases(
    cases: Sequence[ActCase], folder: Path, *, jobs: int, clients: Sequence[MCPClient]
) -> Sequence[CaseResult]:
    """Audit the cases, `jobs` at a time, and return their results in the order of the cases.

    A page that is a case of several rules is audited once.
    """
    groups: dict[str, list[ActCase]] = {}
    for each in cases:
        groups.setdefault(each.id, []).append(each)
    results: dict[str, CaseResult] = {}
    waiting = [*reversed(groups.values())]

    async def work(page: AuditedPage) -> None:
        while waiting:
            group = waiting.pop()
            results.update(await _audit_page(page, f"{url}/{group[0].path}", group))
            if len(waiting) % 50 == 0:
                print(f"{len(waiting)} of {len(groups)} pages left", file=sys.stderr)
        await page.close()

    with serve_cases(folder) as url:
        async with asyncio.TaskGroup() as tasks:
            for number in range(jobs):
                tasks.create_task(work(await page_of(clients[number % len(clients)])))
    return [results[case.path] for case in cases]


async def _audit_page(page: AuditedPage, url: str, cases: Sequence[ActCase]) -> Mapping[str, CaseResult]:
    """Audit the page of these cases, and return the result of each by its path."""
    # Pictures decide nothing here.
    collectors = [each for each in standard_collectors() if not isinstance(each, Photograph)]
    try:
        async with asyncio.timeout(CASE_SECONDS):
            evidence = await collect_evidence(page, url, collectors=collectors, views=(DESKTOP,))
    except (MCPError, TimeoutError) as error:
        why = str(error) or "it took too long"
        return {case.path: CaseResult(case=case, found_by=(), error=why) for case in cases}
    return {case.path: _judge_case(case, evidence) for case in cases}


def _judge_case(case: ActCase, evidence: Evidence) -> CaseResult:
    about = [each for each in evidence.findings if _is_about(case, each.act, each.wcag)]
    return CaseResult(
        case=case,
        found_by=sorted({each.rule for each in about}),
        others=sorted({each.rule for each in evidence.findings} - {each.rule for each in about}),
        to_check=sorted({each.rule for each in evidence.to_check}),
        skipped=[f"{each.what}: {each.why}" for each in evidence.skipped],
    )


def _is_about(case: ActCase, act: Iterable[str], wcag: Iterable[str]) -> bool:
    """Return whether a finding with these ACT rules and success criteria is about the rule of the case."""
    return case.rule in act or not case.criteria.isdisjoint(each.split()[0] for each in wcag)


def write_table(results: Sequence[CaseResult]) -> Iterator[str]:
    """Yield the lines of a Markdown table, with a line for each rule and one for all."""
    yield "| ACT rule | failing cases | found | by axe-core | false alarms of our rules | in cases |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    rules: dict[str, list[CaseResult]] = {}
    for each in sorted(results, key=lambda each: (each.case.rule_name, each.case.rule)):
        rules.setdefault(each.case.rule, []).append(each)
    for rule, some in rules.items():
        yield _row(f"{some[0].case.rule_name} (`{rule}`)", some)
    yield _row("**all**", results)


def _row(title: str, results: Sequence[CaseResult]) -> str:
    failing = [each for each in results if each.case.fails]
    passing = [each for each in results if not each.case.fails]
    found = sum(bool(each.found_by) for each in failing)
    by_axe = sum(len(each.own) < len(each.found_by) for each in failing)
    alarms = sum(bool(each.own) for each in passing)
    return f"| {title} | {len(failing)} | {found} | {by_axe} | {alarms} | {len(passing)} |"


def ensure_cases() -> Path:
    """Return the folder with the cases, downloaded if it is not there yet."""
    if not (CACHE / ASSETS / "testcases.json").is_file():
        with urlopen(ARCHIVE, timeout=120) as answer:
            content = BytesIO(answer.read())
        with tarfile.open(fileobj=content) as archive:
            for member in archive:
                member.name = member.name.partition("/")[2]
                if member.name.startswith(f"{ASSETS}/"):
                    archive.extract(member, CACHE, filter="data")
    return CACHE


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=Path, help="a checkout of w3c/wcag-act-rules, instead of a download")
    parser.add_argument("--rule", action="append", help="the id of a rule; can be repeated")
    parser.add_argument("--only", choices=("failed", "passing"))
    parser.add_argument("--jobs", type=int, default=JOBS, help="pages side by side")
    parser.add_argument("--out", type=Path, help="a JSON file with the result of each case")
    parser.add_argument("--list", action="store_true", help="print missed cases and false alarms")
    options = parser.parse_args(arguments)
    folder = options.cases or ensure_cases()
    cases = [
        each
        for each in load_cases(folder)
        if (not options.rule or each.rule in options.rule)
        and (not options.only or each.fails == (options.only == "failed"))
    ]
    results = asyncio.run(_run(cases, folder, options.jobs))
    if options.out:
        options.out.write_text(json.dumps([each.to_dict() for each in results], indent=1), "utf-8")
    print("\n".join(write_table(results)))
    for each in results if options.list else ():
        if each.case.fails != bool(each.found_by if each.case.fails else each.own) or each.error:
            print(f"- {each.case.expected} {each.case.path}: {', '.join(each.own) or each.error or 'missed'}")


async def _run(cases: Sequence[ActCase], folder: Path, jobs: int) -> Sequence[CaseResult]:
    async with AsyncExitStack() as stack:
        # A server is one process, and a few pages keep it busy.
        servers = [MCPClient(own_server(environ=os.environ), timeout_ms=60_000) for _ in range(CPUS)]
        clients = [await stack.enter_async_context(each) for each in servers[: max(jobs // 2, 1)]]
        return await audit_cases(cases, folder, jobs=jobs, clients=clients)


if __name__ == "__main__":
    main()
