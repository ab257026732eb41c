"""Which tools are offered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from footlight.config import ToolSettings
from footlight.errors import ConfigurationError
from footlight.server.handlers.tools import listed_tool
from footlight.server.selection import choose, fitted, how_to_get, settings_of
from footlight.server.tool import Group, Tool, ToolCall, tool
from footlight.toolsets.browser import INSTRUCTIONS, MINIMAL
from footlight.toolsets.browser import TOOLS as BROWSER_TOOLS


def made(name: str, group: Group = "core") -> Tool:
    async def function(call: ToolCall) -> Mapping[str, Any]:
        """Do it."""
        return {}

    return tool(name=name, effect="read", group=group)(function)


TOOLS = (
    made("navigate"),
    made("click"),
    made("evaluate"),
    made("requests", "network"),
    made("cookies", "storage"),
)


def chosen(*words: str) -> list[str]:
    """What `--tools` with these words offers."""
    settings = {key.removeprefix("tools."): value for key, value in settings_of(words).items()}
    offered = choose(TOOLS, ToolSettings.model_validate(settings), minimal=("click", "navigate", "snapshot"))
    return [tool.name for tool in offered]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ([], ["navigate", "click", "evaluate"]),
        (["default"], ["navigate", "click", "evaluate"]),
        (["minimal"], ["navigate", "click"]),
        (["all"], ["navigate", "click", "evaluate", "requests", "cookies"]),
        (["network"], ["requests"]),
        (["default,network"], ["navigate", "click", "evaluate", "requests"]),
        (["default", " network , storage,"], ["navigate", "click", "evaluate", "requests", "cookies"]),
        (["cookies,click"], ["click", "cookies"]),
        (["minimal,cookies"], ["navigate", "click", "cookies"]),
        (["-evaluate"], ["navigate", "click"]),
        (["all,-evaluate", "-cookies"], ["navigate", "click", "requests"]),
        (["evaluate,click,-evaluate"], ["click"]),
    ],
)
def test_the_words_of_the_flag_choose(words: list[str], offered: list[str]) -> None:
    assert chosen(*words) == offered


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["clik"], "setting 'tools.allow': there is no tool 'clik'; closest: click"),
        (["default,-evalute"], "setting 'tools.deny': there is no tool 'evalute'; closest: evaluate"),
        (["netwrk"], "setting 'tools.allow': there is no tool 'netwrk'; closest: network"),
        (["-evaluate,-click,-navigate"], "setting 'tools': no tool is left"),
    ],
)
def test_what_does_not_exist_is_told_with_what_is_closest(words: list[str], wrong: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        chosen(*words)

    assert raised.value.message == wrong


def test_a_group_of_the_settings_must_exist() -> None:
    with pytest.raises(ConfigurationError) as raised:
        choose(TOOLS, ToolSettings(groups=["xyzzy"]), minimal=())

    assert raised.value.message == (
        "setting 'tools.groups': there is no group 'xyzzy'; "
        "groups: default, minimal, all, core, network, storage, devtools, vision"
    )


def test_whoever_calls_what_is_not_offered_hears_how_to_get_it() -> None:
    assert how_to_get(TOOLS[3], ToolSettings()) == (
        "requests, of the group network, is not offered by this server. Whoever runs it can add it: "
        "--tools default,requests"
    )
    assert how_to_get(TOOLS[2], ToolSettings(deny=["evaluate"])) == (
        "evaluate is denied on this server (setting tools.deny)"
    )


def test_instructions_leave_out_the_sentences_on_what_is_not_offered() -> None:
    text = "1. `navigate` to it. Look: `click`, `requests`. 2. Act. Or `evaluate`.\n\nUse `cookies`.\n\nEnd."

    assert fitted(text, ["navigate", "click", "evaluate"], TOOLS) == (
        "1. `navigate` to it. 2. Act. Or `evaluate`.\n\nEnd."
    )
    assert fitted(text, [tool.name for tool in TOOLS], TOOLS) is text


def test_the_default_list_holds_all_of_the_document() -> None:
    """R003-1"""
    offered = choose(BROWSER_TOOLS, ToolSettings(), minimal=MINIMAL)

    assert fitted(INSTRUCTIONS, [tool.name for tool in offered], BROWSER_TOOLS)
    assert len(offered) >= 44


@pytest.mark.parametrize(
    ("groups", "most_tools", "most_tokens"), [("default", 99, 8_000), ("minimal", 15, 2_000)]
)
def test_a_list_takes_few_tokens(groups: str, most_tools: int, most_tokens: int) -> None:
    """As benchmarks/tokens.py counts them; here, by their characters, of which each has 4.1."""
    offered = choose(BROWSER_TOOLS, ToolSettings(groups=[groups]), minimal=MINIMAL)
    listed = [
        tool.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"output_schema"})
        for tool in map(listed_tool, offered)
    ]

    assert len(offered) <= most_tools
    assert len(json.dumps(listed, separators=(",", ":"))) / 4.15 < most_tokens


def test_all_of_the_minimal_list_is_there() -> None:
    assert {*MINIMAL} <= {tool.name for tool in BROWSER_TOOLS}
