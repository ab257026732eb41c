"""`python -m tests.audit.faults [WORD]`: print a table of the faults found and of the false alarms."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter

import click

from footlight.audit.page.page import AuditedPage
from tests.audit.faults import FAULTS
from tests.audit.faults.clean import CLEAN_PAGES
from tests.audit.faults.fault import Fault
from tests.audit.faults.visiting import evidence_of, evidence_of_twin, finding_of, one_browser

__all__: list[str] = []

ROW = "{:58} {:34} {:7} {:9} {}"


async def main(word: str) -> None:
    faults = [fault for fault in FAULTS if word in f"{fault.name} {fault.rule}"]
    tally = Counter[str]()
    click.echo(ROW.format("fault", "rule", "found", "severity", "false alarms on its clean twin"))
    async with one_browser() as [page]:
        for fault in faults:
            click.echo(await row(page, fault, tally))
        for clean in (each for each in CLEAN_PAGES if word in each.name):
            evidence = await evidence_of(page, clean.html, clean.routes)
            alarms = [finding.rule for finding in evidence.findings]
            tally["alarms"] += len(alarms)
            click.echo(ROW.format(f"clean page: {clean.name}", "", "", "", ", ".join(alarms) or "none"))
    click.echo(f"{tally['found']} of {len(faults)} found, {tally['alarms']} false alarms")


async def row(page: AuditedPage, fault: Fault, tally: Counter[str]) -> str:
    finding = await finding_of(page, fault)
    alarms = [finding.rule for finding in (await evidence_of_twin(page, fault)).findings]
    tally["found"] += finding is not None
    tally["alarms"] += len(alarms)
    found, severity = ("yes", finding.severity) if finding else ("NO", "")
    return ROW.format(fault.name, fault.rule, found, severity, ", ".join(alarms) or "none")


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:])))
