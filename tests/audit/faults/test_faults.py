"""Each planted fault is found by its rule, and nothing at all is found on its clean twin."""

from __future__ import annotations

from collections.abc import Sequence, Set

import pytest

from footlight.audit.findings import Element, Evidence
from footlight.audit.page.page import DESKTOP, PHONE, AuditedPage
from tests.audit.conftest import WALL_CLOCK
from tests.audit.faults import FAULTS
from tests.audit.faults.clean import CLEAN_PAGES, CleanPage
from tests.audit.faults.fault import Fault
from tests.audit.faults.visiting import evidence_of, finding_of
from tests.tiers import sample_parameters

pytestmark = pytest.mark.anyio


def alarms(evidence: Evidence, *, but: Set[str]) -> list[tuple[str, Sequence[Element]]]:
    return [(found.rule, found.elements) for found in evidence.findings if found.rule not in but]


EVERY_FAULT = pytest.mark.parametrize(
    "fault", sample_parameters(FAULTS, *FAULTS[::20]), ids=lambda fault: fault.name
)
SOME_TWINS = pytest.mark.parametrize(
    "fault", sample_parameters(FAULTS, *FAULTS[::50]), ids=lambda fault: fault.name
)


@EVERY_FAULT
async def test_a_planted_fault_is_found_by_its_rule(page: AuditedPage, fault: Fault) -> None:
    assert await finding_of(page, fault) is not None


@SOME_TWINS
async def test_nothing_is_found_on_its_clean_twin(page: AuditedPage, fault: Fault) -> None:
    """On a phone too where the fault is about that; `python -m tests.audit.faults` measures all widths."""
    views = (DESKTOP, PHONE) if fault.rule.startswith("layout/") else (DESKTOP,)
    evidence = await evidence_of(page, fault.clean, fault.routes, views=views)

    assert alarms(evidence, but=WALL_CLOCK - {fault.rule}) == []
    assert evidence.skipped == []


@pytest.mark.parametrize(
    "clean", sample_parameters(CLEAN_PAGES, CLEAN_PAGES[1]), ids=lambda clean: clean.name
)
async def test_nothing_is_found_on_a_larger_clean_page(page: AuditedPage, clean: CleanPage) -> None:
    evidence = await evidence_of(page, clean.html, clean.routes)

    assert alarms(evidence, but=WALL_CLOCK) == []
    assert evidence.skipped == []


def test_names_of_faults_are_unique() -> None:
    names = [fault.name for fault in FAULTS]

    assert sorted(names) == sorted(set(names))
