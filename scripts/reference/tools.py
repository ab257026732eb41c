"""The parts that the reference pages of the three toolsets share."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import cast

from footlight.server.tools import Tool
from scripts.reference.markdown import Row, bullets, code_block, prose, table, yes_or_no
from scripts.reference.schemas import Schema, describe_type, write_properties

SESSION = "The session to work in."

SHARED = {
    "sessionId": f"{SESSION} Default: the session `default`, [the caller's own]"
    "(../network.md#whose-session-is-default), which is created when it is first used.",
    "pageId": "The tab to work in: `page-1`, `page-2`, … Default: the tab that was selected last, or else the"
    " oldest one, or a new one.",
    "timeout": "The time limit of the whole call, in milliseconds. Default: `session.defaultTimeout`.",
}
"""Descriptions of the parameters that come with the scope of a tool."""

SHARED_BY_ACTIONS = {
    "observe": "What the answer contains of the page: `diff`, `full` or `none`. Default: `observation.mode`."
    " See [what action results include](../looking.md#what-action-results-include).",
    "settle": "`auto` waits for what the action started, `none` does not. Default: `observation.settle`. See"
    " [settling](../looking.md#settling).",
    "expect": "What must be true after the action, as an object with `text`, `gone`, `url`, `request`,"
    " `value` or `count`. See [expect](../waiting.md#expect).",
    "locator": "With `true`, the answer contains the element as a line of Playwright for Python.",
    "budget": "The maximum number of characters of page text in the answer. Default: `observation.budget`.",
}
"""Descriptions of the parameters that come with the observation of a page."""

EVENTS = {
    "newPages": "`{pageId, url}` of each popup or tab that opened",
    "closedPages": "`pageId` of each page that was closed because a script in it did not end",
    "dialogs": "`{pageId, type, message, defaultValue?, handled}` of each dialog; `handled` is `accepted` or"
    " `dismissed`, and a prompt has `defaultValue`",
    "downloads": "`{suggestedFilename, url, path?, failure?}` of each download: the file where it was saved,"
    " or why it failed",
}
"""Keys of a result that are present only when such an event happened."""

PARAMETER_HEADS = ("Parameter", "Type", "Required", "Default", "Description")

_SELECTORS = ("selector", "source", "target")
_SWITCHES = {
    "evaluation": "security.enableScriptEvaluation",
    "page tools": "security.enablePageTools",
    "upload": "security.enableFileUpload",
}


def render_events() -> str:
    return bullets(f"`{name}`: {text}" for name, text in EVENTS.items())


def group_by_family(tools: Sequence[Tool]) -> list[tuple[str, list[Tool]]]:
    """Return the tools of each module under the module's name."""
    families: dict[str, list[Tool]] = {}
    for tool in tools:
        families.setdefault(tool.function.__module__.rpartition(".")[2].capitalize(), []).append(tool)
    return list(families.items())


def render_overview(head: str, groups: Iterable[tuple[str, Sequence[Tool]]]) -> Iterator[str]:
    yield "## Overview"
    yield table(
        [head, "Tools"],
        (
            [name, ", ".join(f"[`{tool.name}`](#{tool.name.replace('.', '').lower()})" for tool in tools)]
            for name, tools in groups
        ),
    )


def render_families(
    families: Iterable[tuple[str, Sequence[Tool]]],
    is_shared: Callable[[Tool, str, Schema], bool],
    render_result: Callable[[Tool], Iterable[str]],
) -> Iterator[str]:
    """Render each family: its module's docstring, and each tool with the parameters that are not shared."""
    for name, tools in families:
        yield f"## {name}"
        yield prose(sys.modules[tools[0].function.__module__].__doc__)
        for tool in tools:
            yield from render_heading(tool)
            yield from _render_parameters(tool, is_shared)
            yield from render_result(tool)
            yield f"{render_annotations(tool)} {_render_permission(tool)}"


def render_heading(tool: Tool) -> Iterator[str]:
    rest = tool.description.removeprefix(tool.title).removeprefix(".").strip()
    yield f"### {tool.name}"
    yield f"**{tool.title}.** {rest}".strip()


def _render_parameters(tool: Tool, is_shared: Callable[[Tool, str, Schema], bool]) -> Iterator[str]:
    parameters = get_parameters(tool)
    shared = [name for name, schema in parameters if is_shared(tool, name, schema)]
    own = [(name, schema) for name, schema in parameters if name not in shared]
    if own:
        rows = (parameter_row(tool, name, schema, _describe(name, schema)) for name, schema in own)
        yield table(PARAMETER_HEADS, rows)
    if shared:
        names = ", ".join(f"`{name}`" for name in shared)
        yield f"{'Also' if own else 'Parameters:'} {names} ([shared](#shared-parameters))."


def get_parameters(tool: Tool) -> list[tuple[str, Schema]]:
    return list(cast("dict[str, Schema]", tool.input_schema["properties"]).items())


def parameter_row(tool: Tool, name: str, schema: Schema, description: str) -> Row:
    required = name in tool.input_schema.get("required", ())
    default = f"`{json.dumps(schema['default'])}`" if "default" in schema else ""
    return [f"`{name}`", describe_type(schema), yes_or_no(required), default, description]


def _describe(name: str, schema: Schema) -> str:
    if description := schema.get("description"):
        return str(description)
    if name in _SELECTORS:
        return "A [selector](#selectors)"
    return SESSION if name == "sessionId" else ""


def render_object(schema: Schema, name: str = "", without: Iterable[str] = ()) -> Iterator[str]:
    """Render an object's properties as a block, followed by its description where it has one."""
    lines = (f"  {line}" for line in write_properties(schema, without))
    yield code_block([f"{name} {{".lstrip(), *lines, "}"])
    if description := schema.get("description"):
        yield prose(description)


def render_annotations(tool: Tool) -> str:
    hints = {
        "read-only": tool.read_only,
        "destructive": tool.destructive,
        "idempotent": tool.idempotent,
        "open world": tool.open_world,
    }
    return f"Annotations: {', '.join(f'{name} {yes_or_no(holds)}' for name, holds in hints.items())}."


def _render_permission(tool: Tool) -> str:
    return f"Permission: `{_SWITCHES[tool.permission]}`." if tool.permission else "Permission: none."
