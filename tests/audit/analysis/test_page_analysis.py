"""The model's work on a measured page, and its partial results when it ends early."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil
import pytest

from footlight import MCPClient
from footlight.audit.analysis.config import AnalysisOptions, UXAnalysisConfig
from footlight.audit.analysis.page_analysis import PageAnalysis
from footlight.audit.analysis.personas import Persona
from footlight.audit.findings import Skipped
from footlight.audit.model.failures import ModelError
from footlight.audit.model.request import Limits
from footlight.audit.model.stream import AIStreamPart, ErrorPart, FinishPart, TextDeltaPart
from footlight.audit.page.page import AuditedPage
from footlight.audit.page.server_page import page_of
from footlight.audit.results import PageAudit
from tests.audit.conftest import client_of
from tests.audit.evidence_by_hand import evidence_of
from tests.audit.scripted import Script, ScriptedModel, call
from tests.audit.shop_scripts import JUDGE, Turns
from tests.client.browser_servers import config_of
from tests.processes import children_of
from tests.site import Site

pytestmark = pytest.mark.anyio

READER = Persona("Reader", "Reads everything.", ["Look around", "Look again"])
SAID = "I have read it.\n\nThe shop works. Nobody can be called."
FIRST, SECOND = (f"the goal of Reader: {goal}" for goal in READER.goals)


def analysis_of(
    page: AuditedPage, url: str, scripts: Mapping[str, Script], *, limits: Limits | None = None
) -> PageAnalysis:
    client = client_of(page)
    config = UXAnalysisConfig(url, [READER], "openai")
    options = AnalysisOptions(limits=limits or Limits())
    return PageAnalysis(page, client, evidence_of(url), config, options, ScriptedModel(scripts).model)


def add_to_audit(analysis: PageAnalysis, url: str) -> PageAudit:
    return analysis.add_to(PageAudit(url=url, status="complete", evidence=evidence_of(url)))


def look(_: str) -> Turns:
    yield [call("getPageStructure")]
    yield [call("finishGoal", outcome="reached", why="It is all there")]


def look_for_ever(_: str) -> Turns:
    while True:
        yield [call("getPageStructure")]


def say_nothing(_: str) -> Turns:
    yield [" "]


async def parts_of(analysis: PageAnalysis) -> Sequence[AIStreamPart]:
    async with analysis:
        return [part async for part in analysis]


async def test_analysis_outcome_is_added_to_the_page(page: AuditedPage, site: Site) -> None:
    url = site.page("<h1>Here")
    analysis = analysis_of(page, url, {"Your goal": look, **JUDGE})

    parts = await parts_of(analysis)

    audit = add_to_audit(analysis, url)
    assert (audit.status, audit.skipped, audit.analysis_text) == ("complete", (), SAID)
    assert [walk.outcome for walk in audit.walks] == ["reached", "reached"]
    assert [finding.id for finding in audit.findings] == ["F1", "J1"]
    assert ([each.title for each in audit.dropped], audit.usage.requests) == (["The colours look dated"], 6)
    assert (len(audit.tool_calls), parts[-1]) == (6, FinishPart(finish_reason="stop"))


async def test_budget_is_shared_by_goals_and_reserved_for_judging(page: AuditedPage, site: Site) -> None:
    url = site.page("<h1>Here")
    analysis = analysis_of(page, url, {"Your goal": look_for_ever, **JUDGE}, limits=Limits(requests=8))

    await parts_of(analysis)

    audit = add_to_audit(analysis, url)
    why = "neither reached nor given up within 2 requests to the model"
    assert (audit.status, audit.usage.requests, audit.analysis_text) == ("partial", 6, SAID)
    assert audit.skipped == (Skipped(what=FIRST, why=why), Skipped(what=SECOND, why=why))


async def test_missing_analysis_text_is_reported(page: AuditedPage, site: Site) -> None:
    """There is always a text, and it was streamed."""
    url = site.page("<h1>Here")
    analysis = analysis_of(page, url, {"Your goal": look, "Personas:": say_nothing})

    parts = await parts_of(analysis)

    assert parts[-2:] == [
        TextDeltaPart(text_delta="The model wrote no analysis."),
        FinishPart(finish_reason="stop"),
    ]


async def test_model_failure_keeps_the_work_done_before(page: AuditedPage, site: Site) -> None:
    """A partial result says so."""

    def fails(_: str) -> Turns:
        yield [call("getPageStructure")]
        raise ModelError("The provider is out of order")

    url = site.page("<h1>Here")
    analysis = analysis_of(page, url, {"goal: Look around": look, "goal: Look again": fails})

    parts = await parts_of(analysis)

    audit = add_to_audit(analysis, url)
    assert parts[-2:] == [
        TextDeltaPart(text_delta="The model wrote no analysis."),
        ErrorPart(error="The provider is out of order"),
    ]
    assert audit.skipped == (
        Skipped(what=SECOND, why="The provider is out of order"),
        Skipped(what="the rest of the analysis", why="The provider is out of order"),
    )
    assert (audit.status, [walk.outcome for walk in audit.walks]) == ("partial", ["reached", "unfinished"])


async def test_interrupted_analysis_keeps_the_work_done_before(page: AuditedPage, site: Site) -> None:
    """A call that was begun has its record."""
    url = site.page("<h1>Here")
    analysis = analysis_of(page, url, {"Your goal": look, **JUDGE})

    async with analysis:
        await anext(analysis)

    audit = add_to_audit(analysis, url)
    assert [(each.status, each.error) for each in audit.tool_calls] == [("error", "it was interrupted")]
    assert audit.status == "partial"
    assert [(walk.outcome, walk.why) for walk in audit.walks] == [("unfinished", "it was interrupted")]


@pytest.mark.slow
async def test_lost_server_does_not_prevent_judging_of_evidence(site: Site, tmp_path: Path) -> None:
    others = set(children_of(psutil.Process()))
    async with MCPClient(config_of("footlight").transport(cwd=str(tmp_path))) as client:
        (server,) = set(children_of(psutil.Process())) - others

        def lose(_: str) -> Turns:
            yield [call("getPageStructure")]
            server.kill()
            yield [call("getPageStructure")]

        url = site.page("<h1>Here")
        analysis = analysis_of(await page_of(client), url, {"Your goal": lose, **JUDGE})

        parts = await parts_of(analysis)

    audit = add_to_audit(analysis, url)
    assert [(each.what, each.why[:19]) for each in audit.skipped] == [
        (FIRST, "the server was lost"),
        (SECOND, "the page could not "),
    ]
    assert (audit.status, audit.analysis_text, parts[-1].type) == ("partial", SAID, "finish")
