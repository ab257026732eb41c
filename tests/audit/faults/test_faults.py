"""The audit finds each planted fault with its rule, and nothing at all on its clean twin."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence, Set
from typing import Any

import pytest

from footlight.audit.findings import Element, Evidence
from footlight.audit.page.page import DESKTOP, PHONE, AuditedPage
from tests.audit.conftest import WALL_CLOCK
from tests.audit.faults import FAULTS
from tests.audit.faults.clean import CLEAN_PAGES, CleanPage
from tests.audit.faults.fault import Fault
from tests.audit.faults.visiting import evidence_of, evidence_of_twin, finding_of, one_browser, own_to_check
from tests.tiers import sample_parameters

pytestmark = pytest.mark.anyio

SIDE_BY_SIDE = 3
"""The number of pages that are measured at a time, each in its own session: half of the time is waiting."""


@pytest.fixture(scope="module")
async def pages(anyio_backend: str) -> AsyncGenerator[Sequence[AuditedPage]]:
    async with one_browser(SIDE_BY_SIDE) as pages:
        yield pages


def alarms(evidence: Evidence, *, but: Set[str]) -> list[tuple[str, Sequence[Element]]]:
    every = (*evidence.findings, *own_to_check(evidence))
    return [(found.rule, found.elements) for found in every if found.rule not in but]


def grouped(faults: Sequence[Fault], *fast: Fault) -> list[Any]:
    """Return groups of faults as parameters: each of `fast` alone, the others together and marked as slow."""
    slow = [fault for fault in faults if fault not in fast]
    starts = range(0, len(slow), SIDE_BY_SIDE)
    groups = [*([fault] for fault in fast), *(slow[start : start + SIDE_BY_SIDE] for start in starts)]
    return [
        pytest.param(
            group,
            id=", ".join(fault.name for fault in group),
            marks=() if group[0] in fast else pytest.mark.slow,
        )
        for group in groups
    ]


@pytest.mark.parametrize("faults", grouped(FAULTS, *FAULTS[::160]))
async def test_planted_faults_are_found_by_their_rules(
    pages: Sequence[AuditedPage], faults: Sequence[Fault]
) -> None:
    async with asyncio.TaskGroup() as group:
        visits = [group.create_task(finding_of(*each)) for each in zip(pages, faults, strict=False)]
    found = [visit.result() for visit in visits]

    assert [fault.name for fault, finding in zip(faults, found, strict=True) if finding is None] == []


def distinct_twins(faults: Sequence[Fault]) -> Sequence[Fault]:
    """Leave out the faults whose clean page is measured for an earlier one, in the same way."""
    first: dict[object, Fault] = {}
    for fault in faults:
        routes = frozenset(fault.routes.items())
        way = (fault.rule.startswith("layout/"), frozenset(WALL_CLOCK & {fault.rule}))
        first.setdefault((fault.clean, fault.clean_path, fault.is_secure, routes, way), fault)
    return [*first.values()]


@pytest.mark.parametrize("faults", grouped(distinct_twins(FAULTS), *FAULTS[::200]))
async def test_clean_twins_have_no_findings(pages: Sequence[AuditedPage], faults: Sequence[Fault]) -> None:
    """Layout faults are measured on a phone too; `python -m tests.audit.faults` measures all widths."""

    async def found_on_twin(page: AuditedPage, fault: Fault) -> tuple[str, object, object]:
        views = (DESKTOP, PHONE) if fault.rule.startswith("layout/") else (DESKTOP,)
        evidence = await evidence_of_twin(page, fault, views=views)
        return fault.name, alarms(evidence, but=WALL_CLOCK - {fault.rule}), evidence.skipped

    async with asyncio.TaskGroup() as group:
        visits = [group.create_task(found_on_twin(*each)) for each in zip(pages, faults, strict=False)]

    assert [visit.result() for visit in visits] == [(fault.name, [], []) for fault in faults]


@pytest.mark.slow
@pytest.mark.parametrize(
    "clean", sample_parameters(CLEAN_PAGES, CLEAN_PAGES[1]), ids=lambda clean: clean.name
)
async def test_large_clean_page_has_no_findings(pages: Sequence[AuditedPage], clean: CleanPage) -> None:
    evidence = await evidence_of(pages[0], clean.html, clean.routes)

    assert alarms(evidence, but=WALL_CLOCK) == []
    assert evidence.skipped == []


def test_names_of_faults_are_unique() -> None:
    names = [fault.name for fault in FAULTS]

    assert sorted(names) == sorted(set(names))
