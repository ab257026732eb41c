"""The page of the tools of the toolset `szkrabok`."""

from __future__ import annotations

from collections.abc import Iterator

from footlight.server.tools import Tool
from footlight.toolsets.szkrabok import TOOLS, parameters
from footlight.toolsets.szkrabok.envelope import PlainEnvelope
from scripts.reference.markdown import code_block, join, table
from scripts.reference.python_code import attribute_docstrings
from scripts.reference.schemas import Schema
from scripts.reference.tools import (
    SHARED,
    group_by_family,
    render_events,
    render_families,
    render_object,
    render_overview,
)

INTRO = """\
The tools of `footlight serve --toolset szkrabok`. A call returns the result itself, as structured content and
also as JSON text: `{"opened":true}`. A result shown as `text` below is plain text only. A screenshot is
returned with an image. A failed call has its message as text and `{error}` as structured content, with
[these codes](errors.md).

Keys with `?` may be absent. Tools that act on a page add these keys when such an event happened:
"""

_NAMED_SHARED = {
    "sessionName": "Name of the stored browser session to operate on, opened by `session.open`. The name is"
    " also the name of its folder in `profiles.directory` and determines its debugging port. Required.",
    "pageId": SHARED["pageId"],
    "timeout": SHARED["timeout"],
    "observe": "How an action reports the page after it: `none`, `diff` or `full`. Default: `none`.",
}


def render() -> str:
    families = group_by_family(TOOLS)
    return join(
        [
            "# Tools of the toolset szkrabok",
            INTRO.strip(),
            render_events(),
            "## Shared parameters",
            table(
                ["Parameter", "Description"], ([f"`{name}`", text] for name, text in _NAMED_SHARED.items())
            ),
            "## Selectors",
            attribute_docstrings(parameters)["Selector"],
            *render_overview("Family", families),
            *render_families(families, _is_shared, _render_result),
        ]
    )


def _is_shared(_: Tool, name: str, schema: Schema) -> bool:
    return name in _NAMED_SHARED and ("description" not in schema or name == "sessionName")


def _render_result(tool: Tool) -> Iterator[str]:
    if PlainEnvelope().schema(tool) is None:
        return iter([code_block(["text"])])
    return render_object(tool.returned_schema)
