"""The page of the tools of the toolset `metamask`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from footlight.knowledge.records import step_schema
from footlight.server.tools import Tool
from footlight.toolsets.metamask import app_tools
from scripts.reference.markdown import Row, bullets, join, table
from scripts.reference.schemas import Schema
from scripts.reference.tools import (
    EVENTS,
    PARAMETER_HEADS,
    get_parameters,
    parameter_row,
    render_annotations,
    render_heading,
    render_object,
    render_overview,
)

INTRO = """\
The tools of `footlight serve --toolset metamask`. Their names begin with `mm_`, or for another app with
[its own prefix](../extensions.md#an-extension-of-your-own). A call returns one text, a JSON object:

```text
{meta: {timestamp: string, sessionId?: string, durationMs: integer}, ok: true, result: {…}}
{error: {code: string, message: string, details: object}, meta: {…}, ok: false}
```

Each tool below lists its `result`. The error codes are in [the guide](../extensions.md#errors). Tools and
parameters marked as **additional** are left out with `--strict-002`. So are these keys of `result`, which are
present only when such an event happened:
"""

_EVENTS = EVENTS | {"closedPages": "`pageId` of each page that was closed, such as a confirmation"}

_SHAPES = {
    "state": ("ExtensionState", "The state of the app. `currentScreen` is one of its screens, or `unknown`."),
    "items": ("TestIdItem", "A visible test id. `text` is present when the element has a text."),
    "nodes": ("A11yNodeTrimmed", "An element to use or to know about. `path` lists the elements around it."),
}
"""The definitions of the step schema behind the keys of results."""


def render() -> str:
    every = app_tools("mm", strict=False)
    strict = {tool.name: tool for tool in app_tools("mm", strict=True)}
    groups = [
        ("Standard tools", [tool for tool in every if tool.name in strict]),
        ("Additional tools", [tool for tool in every if tool.name not in strict]),
    ]
    return join(
        [
            "# Tools of the toolset metamask",
            INTRO.strip(),
            bullets(f"`{name}`: {text}" for name, text in _EVENTS.items()),
            *render_overview("Group", groups),
            *_render_shapes(),
            *(part for name, tools in groups for part in (f"## {name}", *_render_tools(tools, strict))),
        ]
    )


def _render_shapes() -> Iterator[str]:
    yield "## Shapes"
    yield "The key `state`, and each element of `items` and `nodes`:"
    definitions = step_schema([])["definitions"]
    for key, (name, description) in _SHAPES.items():
        yield f"`{key}`: {description}"
        yield from render_object(definitions[name])


def _render_tools(tools: Sequence[Tool], strict: Mapping[str, Tool]) -> Iterator[str]:
    for tool in tools:
        yield from render_heading(tool)
        standard = strict.get(tool.name, tool).input_schema["properties"]
        rows = [
            _row(tool, name, schema, is_standard=name in standard) for name, schema in get_parameters(tool)
        ]
        if rows:
            yield table(PARAMETER_HEADS, rows)
        yield from render_object(tool.returned_schema, "result")
        yield render_annotations(tool)


def _row(tool: Tool, name: str, schema: Schema, *, is_standard: bool) -> Row:
    known = {key: value for key, value in schema.items() if key != "default" or value is not None}
    mark = "" if is_standard else "**Additional.** "
    return parameter_row(tool, name, known, f"{mark}{schema.get('description', '')}")
