"""Selecting the tools that a server offers."""

from __future__ import annotations

import json

import pytest

from footlight.config import Settings, ToolSettings
from footlight.errors import ConfigurationError
from footlight.server.protocol.tools import compact_tool
from footlight.server.selection import (
    Group,
    choose_tools,
    explain_withheld,
    instructions_for,
    parse_tools_option,
)
from footlight.toolsets.browser import MINIMAL, BrowserToolset, load_tools

TOOLS: dict[str, Group] = {
    "navigate": "core",
    "click": "core",
    "evaluate": "core",
    "requests": "network",
    "cookies": "storage",
}
BROWSER = BrowserToolset(Settings())


def list_chosen(*words: str) -> list[str]:
    """Return what `--tools` with these words offers."""
    settings = {key.removeprefix("tools."): value for key, value in parse_tools_option(words).items()}
    minimal = ("click", "navigate", "snapshot")
    return list(choose_tools(TOOLS, ToolSettings.model_validate(settings), minimal=minimal))


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
def test_tools_flag_selects_tools_and_groups(words: list[str], offered: list[str]) -> None:
    assert list_chosen(*words) == offered


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["clik"], "setting 'tools.allow': there is no tool 'clik'; closest: click"),
        (["default,-evalute"], "setting 'tools.deny': there is no tool 'evalute'; closest: evaluate"),
        (["netwrk"], "setting 'tools.allow': there is no tool 'netwrk'; closest: network"),
        (["-evaluate,-click,-navigate"], "setting 'tools': no tool is left"),
    ],
)
def test_unknown_tool_is_reported_with_the_closest_names(words: list[str], wrong: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        list_chosen(*words)

    assert raised.value.message == wrong


def test_unknown_tool_group_in_the_settings_is_refused() -> None:
    with pytest.raises(ConfigurationError) as raised:
        choose_tools(TOOLS, ToolSettings(groups=["xyzzy"]), minimal=())

    assert raised.value.message == (
        "setting 'tools.groups': there is no group 'xyzzy'; "
        "groups: default, minimal, all, core, network, storage, devtools, vision, touch, audit, webmcp, "
        "handover"
    )


def test_unavailable_tool_error_explains_how_to_enable_the_tool() -> None:
    assert explain_withheld("requests", "network", ToolSettings()) == (
        "requests, of the group network, is not offered by this server. The server operator can add it: "
        "--tools default,requests"
    )
    assert explain_withheld("evaluate", "core", ToolSettings(deny=["evaluate"])) == (
        "evaluate is denied on this server (setting tools.deny)"
    )


def test_instructions_omit_sentences_about_unavailable_tools() -> None:
    text = "1. `navigate` to it. Look: `click`, `requests`. 2. Act. Or `evaluate`.\n\nUse `cookies`.\n\nEnd."

    assert instructions_for(["navigate", "click", "evaluate"], text, TOOLS) == (
        "1. `navigate` to it. 2. Act. Or `evaluate`.\n\nEnd."
    )
    assert instructions_for(list(TOOLS), text, TOOLS) is text


def test_default_list_has_at_least_44_tools() -> None:
    assert BROWSER.describe(None)
    assert len(BROWSER.offered) >= 44


@pytest.mark.parametrize(
    ("groups", "most_tools", "most_characters"), [("default", 99, 19_220), ("minimal", 15, 5_000)]
)
def test_tool_list_stays_within_its_size_limit(groups: str, most_tools: int, most_characters: int) -> None:
    """Limit the characters: benchmarks/tokens.py counts 4,400 tokens in 19,210 of them."""
    offered = BrowserToolset(Settings(tools=ToolSettings(groups=[groups]))).offered
    listed = [compact_tool(tool) for tool in offered.values()]

    assert len(offered) <= most_tools
    assert len(json.dumps(listed, separators=(",", ":"), ensure_ascii=False)) < most_characters


def test_every_tool_of_the_minimal_list_exists() -> None:
    assert {*MINIMAL} <= {tool.name for tool in load_tools()}


def test_tool_groups_are_known_without_loading_the_tools() -> None:
    assert BROWSER.groups == {tool.name: tool.group for tool in BROWSER.tools}
    assert list(BROWSER.groups) == [tool.name for tool in BROWSER.tools]


def test_each_tool_is_found_without_loading_the_others() -> None:
    assert [BROWSER.load_tool(name) for name in BROWSER.groups] == list(BROWSER.tools)
