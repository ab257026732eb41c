"""Parsing and running the tool calls of models."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ConfigDict

from footlight.audit.model.tool_calls import ParsedCall, StageTools
from footlight.audit.model.tools import AITool, ToolAnswer

pytestmark = pytest.mark.anyio


class Goto(BaseModel):
    model_config = ConfigDict(extra="forbid")

    url: str
    depth: int = 1


async def run_goto(arguments: Goto) -> ToolAnswer:
    return ToolAnswer(text=f"{arguments.url} {arguments.depth}")


GOTO = AITool(name="goto", description="Go.", parameters=Goto, run=run_goto)
DONE = AITool(name="done", description="End.", parameters=Goto, run=run_goto, ends=True)


def test_arguments_may_be_json_text_or_parsed() -> None:
    calls = StageTools([GOTO])
    read = ParsedCall(input={"url": "a"}, tool=GOTO, arguments=Goto(url="a"))

    assert calls.parse("goto", '{"url": "a"}') == read
    assert calls.parse("goto", {"url": "a"}) == read


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("", "The arguments are wrong. url: Field required. Call again."),
        (None, "The arguments are wrong. url: Field required. Call again."),
        (
            '{"url": "a", "deep": 1}',
            "The arguments are wrong. deep: Extra inputs are not permitted. Call again.",
        ),
        (
            {"depth": "far"},
            "The arguments are wrong. url: Field required; depth: Input should be a valid integer, "
            "unable to parse string as an integer. Call again.",
        ),
        ('["a"]', "The arguments must be a JSON object, with a name for each. Call again."),
        (
            '{"url": "a',
            "The arguments are not JSON (Unterminated string starting at: line 1 column 9 (char 8)): "
            "they may have been cut. Call again.",
        ),
    ],
)
def test_invalid_arguments_are_reported_with_the_field(
    arguments: str | dict[str, str] | None, problem: str
) -> None:
    assert StageTools([GOTO]).parse("goto", arguments).problem == problem


def test_unknown_tool_error_lists_known_tools() -> None:
    assert (
        StageTools([GOTO, DONE]).parse("fly", "{").problem
        == "There is no tool fly. The tools are: goto, done."
    )
    assert StageTools([]).parse("fly", "{}").problem == "There is no tool fly. The tools are: none."


async def test_unrunnable_call_is_answered_with_an_error() -> None:
    calls = StageTools([GOTO])

    answer = await calls.run(calls.parse("fly", "{}"))

    assert answer == ToolAnswer(text="There is no tool fly. The tools are: goto.", is_error=True)


async def test_no_tool_runs_after_the_ending_call() -> None:
    calls = StageTools([GOTO, DONE])

    assert await calls.run(calls.parse("done", '{"url": "a"}')) == ToolAnswer(text="a 1")
    assert calls.ended
    late = await calls.run(calls.parse("goto", '{"url": "a"}'))

    assert late == ToolAnswer(text="Not done: the previous call ended the work.", is_error=True)
    assert calls.ended


async def test_failed_ending_call_does_not_end_the_work() -> None:
    async def refuse(_: Goto) -> ToolAnswer:
        return ToolAnswer(text="Not yet.", is_error=True)

    calls = StageTools([AITool(name="done", description="End.", parameters=Goto, run=refuse, ends=True)])
    await calls.run(calls.parse("done", '{"url": "a"}'))

    assert not calls.ended
