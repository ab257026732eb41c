"""The controller that a user interface subscribes to during an analysis."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from footlight.audit.analysis.config import AnalysisOptions, UXAnalysisConfig
from footlight.audit.analysis.personas import Persona
from footlight.audit.controller import AnalysisView, ToolCallView, UXAnalysisController, apply_part
from footlight.audit.model.stream import ToolResultPart
from footlight.audit.ux_analysis import UXAnalysis, analyze_ux
from tests.audit.scripted import ScriptedModel, call
from tests.audit.shop_scripts import Turns
from tests.client.browser_servers import config_of
from tests.site import Site

pytestmark = pytest.mark.anyio

READER = Persona("Reader", "Reads everything.", ["Look around"])


def look(_: str) -> Turns:
    yield [call("getPageStructure"), call("clickElement", target="#none")]
    yield [call("finishGoal", outcome="reached", why="There")]


def judge(_: str) -> Turns:
    yield ["All good."]


def analysis_of(url: str, folder: Path) -> UXAnalysis:
    return analyze_ux(
        UXAnalysisConfig(url, [READER], "openai"),
        options=AnalysisOptions(server=config_of("footlight").transport(cwd=str(folder))),
        model=ScriptedModel({"Your goal": look, "Personas:": judge}).model,
    )


@pytest.mark.slow
async def test_analysis_is_observable_from_start_to_end(site: Site, tmp_path: Path) -> None:
    views: list[AnalysisView] = []
    controller = UXAnalysisController()
    controller.subscribe(views.append)
    before = controller.view

    result = await controller.analyze(analysis_of(site.page("<h1>Here"), tmp_path))

    statuses = [view.status for view in views]
    assert (before, statuses) == (AnalysisView(), ["analyzing"] * (len(views) - 1) + ["complete"])
    assert [each.status for each in views[1].tool_calls] == ["running"]
    assert result is not None
    calls = [ToolCallView(each.id, each.name, each.status) for each in result.tool_calls]
    assert [call.status for call in calls] == ["success", "error", "success"]
    assert views[-1] == AnalysisView("complete", tuple(calls), "All good.")


@pytest.mark.slow
async def test_repeated_call_ids_are_made_unique(site: Site, tmp_path: Path) -> None:
    """In each answer, and in each stage: what has ended stays as it ended."""
    views: list[AnalysisView] = []
    controller = UXAnalysisController()
    controller.subscribe(views.append)
    twice = Persona("Reader", "Reads everything.", ["Look around", "Look again"])
    model = ScriptedModel({"Your goal": look, "Personas:": judge}, restarts_ids=True).model
    config = UXAnalysisConfig(site.page("<h1>Here"), [twice], "openai")
    options = AnalysisOptions(server=config_of("footlight").transport(cwd=str(tmp_path)))

    result = await controller.analyze(analyze_ux(config, options=options, model=model))

    calls = views[-1].tool_calls
    assert [call.status for call in calls] == ["success", "error", "success"] * 2
    assert len({call.id for call in calls}) == 6
    assert result is not None
    assert [call.id for call in result.tool_calls] == [call.id for call in calls]
    for before, then in pairwise(views):
        ended = [call for call in before.tool_calls if call.status != "running"]
        assert [call for call in then.tool_calls if call in ended] == ended


def test_result_completes_the_running_call() -> None:
    """Also where a stream has the same id twice."""
    view = AnalysisView(tool_calls=(ToolCallView("1", "a", "error"), ToolCallView("1", "b")))

    def result(id: str) -> ToolResultPart:
        return ToolResultPart(tool_call_id=id, tool_name="b", result="")

    assert apply_part(view, result("1")).tool_calls == (
        ToolCallView("1", "a", "error"),
        ToolCallView("1", "b", "success"),
    )
    assert apply_part(view, result("2")) == view
    assert apply_part(apply_part(view, result("1")), result("1")).tool_calls[0].status == "error"


async def test_analysis_error_is_reported(tmp_path: Path) -> None:
    controller = UXAnalysisController()

    await controller.analyze(analysis_of("http://127.0.0.1:9/", tmp_path))

    view = controller.view
    assert (view.status, view.tool_calls, view.error is not None) == ("complete", (), True)


@pytest.mark.slow
async def test_cancelled_controller_is_idle_again(site: Site, tmp_path: Path) -> None:
    controller = UXAnalysisController()
    begun = asyncio.Event()
    controller.subscribe(lambda view: begun.set() if view.tool_calls else None)
    task = asyncio.create_task(controller.analyze(analysis_of(site.page("<h1>Here"), tmp_path)))
    await begun.wait()

    with pytest.raises(RuntimeError, match="an analysis is already running"):
        await controller.analyze(analysis_of("http://127.0.0.1:9/", tmp_path))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert controller.view.status == "idle"
