"""An analysis that a user interface watches."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from footlight.ux.analysis import UXAnalysis, analyze_ux
from footlight.ux.config import AnalysisOptions, UXAnalysisConfig
from footlight.ux.controller import AnalysisView, ToolCallView, UXAnalysisController
from footlight.ux.persona import Persona
from tests.client.browser_servers import config_of
from tests.site import Site
from tests.ux.scripted import ScriptedModel, call
from tests.ux.shop_scripts import Turns

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


async def test_an_analysis_is_watched_from_its_beginning_to_its_end(site: Site, tmp_path: Path) -> None:
    """R004-45."""
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


async def test_an_error_is_told(tmp_path: Path) -> None:
    """R004-45."""
    controller = UXAnalysisController()

    await controller.analyze(analysis_of("http://127.0.0.1:9/", tmp_path))

    view = controller.view
    assert (view.status, view.tool_calls, view.error is not None) == ("complete", (), True)


async def test_a_cancelled_one_is_idle_again(site: Site, tmp_path: Path) -> None:
    """R004-45, R004-54."""
    controller = UXAnalysisController()
    begun = asyncio.Event()
    controller.subscribe(lambda view: begun.set() if view.tool_calls else None)
    task = asyncio.create_task(controller.analyze(analysis_of(site.page("<h1>Here"), tmp_path)))
    await begun.wait()

    with pytest.raises(RuntimeError, match="an analysis is going on"):
        await controller.analyze(analysis_of("http://127.0.0.1:9/", tmp_path))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert controller.view.status == "idle"
