"""A whole analysis: measurement, walks and judgement, with a scripted model and real servers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from footlight.audit.analysis.config import AnalysisOptions, UXAnalysisConfig
from footlight.audit.analysis.personas import Persona
from footlight.audit.model.stream import (
    AIStreamPart,
    ErrorPart,
    FinishPart,
    TextDeltaPart,
    ToolCallPart,
    ToolResultPart,
)
from footlight.audit.ux_analysis import UXAnalysis, analyze_ux
from footlight.browser_client.mcp_config import MCPConfig
from footlight.demo.shop.site import serve_shop
from footlight.errors import ConfigurationError
from tests.audit.scripted import ScriptedModel, call
from tests.audit.shop_scripts import BUYER, FIND_AND_ORDER, JUDGE, SHOP_SCRIPTS, TELEPHONE, Turns
from tests.client.browser_servers import config_of
from tests.processes import children_of, list_started_since
from tests.site import Site

pytestmark = pytest.mark.anyio

LIMIT_SECONDS = 60.0
READER = Persona("Reader", "Reads everything.", ["Look around"])


def look(_: str) -> Turns:
    yield [call("getPageStructure")]
    yield [call("finishGoal", outcome="reached", why="It is all there")]


LOOKS = {"Your goal: Look around": look, **JUDGE}


def options(folder: Path) -> AnalysisOptions:
    return AnalysisOptions(server=config_of("footlight").transport(cwd=str(folder)))


def is_whole(parts: Sequence[AIStreamPart], analysis: UXAnalysis) -> bool:
    """Return whether the parts are a whole analysis: the text, a result after each call, one last part."""
    calls = [part.tool_call_id for part in parts if isinstance(part, ToolCallPart)]
    results = [part.tool_call_id for part in parts if isinstance(part, ToolResultPart)]
    text = "".join(part.text_delta for part in parts if isinstance(part, TextDeltaPart))
    ends = [part for part in parts if isinstance(part, FinishPart | ErrorPart)]
    result = analysis.result
    assert result is not None
    return (calls, text, ends, [each.id for each in result.tool_calls]) == (
        results,
        result.analysis_text,
        [parts[-1]],
        results,
    )


@asynccontextmanager
async def check_no_process_is_left() -> AsyncGenerator[None]:
    """Check that all processes that the block started have ended."""
    before = set(children_of(psutil.Process()))
    yield
    left = list_started_since(before)
    assert await asyncio.to_thread(psutil.wait_procs, left, timeout=10) == (left, [])


@pytest.mark.slow
async def test_the_shop_is_walked_through_and_judged(tmp_path: Path) -> None:
    """In one goal it places an order, in the other it is stopped, and it cites what it saw.

    The model is of no provider that we know.
    """
    model = ScriptedModel(SHOP_SCRIPTS)
    async with serve_shop() as site, check_no_process_is_left():
        config = UXAnalysisConfig(site.url, [BUYER], "openai")
        analysis = analyze_ux(config, options=options(tmp_path), model=model.model)

        parts = [part async for part in analysis]

        orders = [order.received["Production"] for order in site.shop.orders]
    result = analysis.result
    assert result is not None
    assert is_whole(parts, analysis)
    assert (parts[-1], orders, result.analysis_text, result.personas) == (
        FinishPart(finish_reason="stop"),
        ["The Tempest"],
        "I have read it.\n\nThe shop works. Nobody can be called.",
        ["Stage manager"],
    )
    assert [(walk.goal, walk.outcome, walk.why) for walk in result.walks] == [
        (FIND_AND_ORDER, "reached", "The shop gives the order a number"),
        (TELEPHONE, "stopped", "No page names one"),
    ]
    steps = [step for walk in result.walks for step in walk.steps]
    assert [step.id for step in steps] == [f"W{number}" for number in range(1, len(steps) + 1)]
    judged = [(each.id, each.rule, each.cites) for each in result.findings if each.source == "judged"]
    assert judged == [("J1", "judged/help", ("W2",))]
    assert [(each.title, each.why) for each in result.dropped] == [
        ("The colours look dated", "there is no evidence F99")
    ]
    assert (result.usage.requests, result.duration > 0) == (len(model.requests), True)


async def test_parts_are_streamed_live(site: Site) -> None:
    """A call is told before it is made. The server is our own, as none is named."""
    page = site.page("<h1>Here</h1>")
    asked = asyncio.Event()

    def look_when_asked(_: str) -> Turns:
        yield [call("getPageStructure")]
        assert asked.is_set()
        yield [call("finishGoal", outcome="reached", why="There")]

    model = ScriptedModel({"Your goal": look_when_asked, **JUDGE})
    config = UXAnalysisConfig(page, [READER], "openai")
    async with analyze_ux(config, model=model.model) as analysis:
        first = await anext(analysis)
        asked.set()
        kinds = [part.type async for part in analysis]

    assert (first.type, kinds[0], kinds[-2:]) == ("tool-call", "tool-result", ["text-delta", "finish"])


@pytest.mark.slow
async def test_stopped_iteration_leaves_no_process(site: Site, tmp_path: Path) -> None:
    config = UXAnalysisConfig(site.page("<h1>Here</h1>"), [READER], "openai")
    async with check_no_process_is_left():
        model = ScriptedModel(LOOKS).model
        async with analyze_ux(config, options=options(tmp_path), model=model) as analysis:
            async for _ in analysis:
                break

    assert analysis.result is None


@pytest.mark.slow
async def test_cancelled_analysis_leaves_no_process(site: Site, tmp_path: Path) -> None:
    begun = asyncio.Event()
    config = UXAnalysisConfig(site.page("<h1>Here</h1>"), [READER], "openai")

    async def follow() -> None:
        model = ScriptedModel(LOOKS).model
        async for _ in analyze_ux(config, options=options(tmp_path), model=model):
            begun.set()

    async with check_no_process_is_left(), asyncio.timeout(LIMIT_SECONDS):
        task = asyncio.create_task(follow())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.mark.slow
async def test_page_load_failure_gives_an_error_and_a_result(tmp_path: Path) -> None:
    config = UXAnalysisConfig("http://127.0.0.1:9/", [READER], "openai")
    async with check_no_process_is_left():
        analysis = analyze_ux(config, options=options(tmp_path), model=ScriptedModel(LOOKS).model)

        parts = [part async for part in analysis]

    assert is_whole(parts, analysis)
    assert [part.type for part in parts] == ["text-delta", "error"]
    assert analysis.result is not None
    assert (analysis.result.status, analysis.result.findings) == ("failed", ())
    assert analysis.result.analysis_text.startswith("The page could not be analysed: ")


async def test_missing_server_command_gives_an_error_and_a_result() -> None:
    config = UXAnalysisConfig("http://127.0.0.1:9/", [READER], "openai")
    nowhere = AnalysisOptions(server=MCPConfig("no-such-command", ()))
    analysis = analyze_ux(config, options=nowhere, model=ScriptedModel(LOOKS).model)

    parts = [part async for part in analysis]

    assert is_whole(parts, analysis)
    assert isinstance(parts[-1], ErrorPart)
    assert "no-such-command" in parts[-1].error


@pytest.mark.slow
async def test_model_failure_keeps_the_measurements(site: Site, tmp_path: Path) -> None:
    """A partial result says so."""
    from footlight.audit.model.failures import ModelError

    def fails(_: str) -> Turns:
        yield [call("getPageStructure")]
        raise ModelError("The provider is out of order")

    config = UXAnalysisConfig(site.page("<html><img src=x>"), [READER], "openai")
    model = ScriptedModel({"Your goal": fails}).model
    analysis = analyze_ux(config, options=options(tmp_path), model=model)

    parts = [part async for part in analysis]

    result = analysis.result
    assert result is not None
    assert is_whole(parts, analysis)
    assert [part.type for part in parts] == ["tool-call", "tool-result", "text-delta", "error"]
    assert (result.status, result.analysis_text, result.error) == (
        "partial",
        "The model wrote no analysis.",
        "The provider is out of order",
    )
    assert "axe/image-alt" in [finding.rule for finding in result.findings]
    assert [(walk.outcome, walk.why) for walk in result.walks] == [
        ("unfinished", "The provider is out of order")
    ]


async def test_missing_key_is_refused_before_any_process_starts() -> None:
    config = UXAnalysisConfig("http://127.0.0.1:9/", [READER], "anthropic")
    async with check_no_process_is_left():
        with pytest.raises(ConfigurationError, match="ANTHROPIC_API_KEY"):
            async for _ in analyze_ux(config, options=AnalysisOptions(environ={})):
                pass
