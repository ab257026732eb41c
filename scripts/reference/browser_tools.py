"""The page of the tools of the toolset `browser`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import cast

from footlight.server.protocol.tools import compact_tool
from footlight.server.tools import Tool
from footlight.toolsets.browser import load_tools, parameters
from scripts.reference.markdown import bullets, join, table
from scripts.reference.python_code import attribute_docstrings
from scripts.reference.schemas import Schema
from scripts.reference.tools import (
    EVENTS,
    SHARED,
    SHARED_BY_ACTIONS,
    group_by_family,
    render_families,
    render_object,
    render_overview,
)

INTRO = """\
A call returns `{success: true, data}` or `{success: false, error}`, as structured content and also as JSON
text. A screenshot is returned as an image with a resource link. An answer that is too long is returned as
[a link with a preview](../resources.md#links-instead-of-large-answers). The codes of `error` have
[a page of their own](errors.md).

Each tool lists its `data` as keys and types; a key with `?` may be absent. These keys are present only when
such an event happened; when the call fails, they are in the `details` of the error:
"""

_DESCRIBED = SHARED | SHARED_BY_ACTIONS
_SHARED_BY_SCOPE: dict[str, tuple[str, ...]] = {
    "page": tuple(_DESCRIBED),
    "session": ("sessionId", *SHARED_BY_ACTIONS),
    "server": (),
}


def render() -> str:
    families = group_by_family(load_tools())
    used = {name for tool in load_tools() for name in _get_data(tool)["properties"]}
    return join(
        [
            "# Tools",
            INTRO.strip(),
            bullets(f"`{name}`: {text}" for name, text in EVENTS.items() if name in used),
            "## Shared parameters",
            "Each tool names those that it takes.",
            table(["Parameter", "Description"], ([f"`{name}`", text] for name, text in _DESCRIBED.items())),
            "## Selectors",
            attribute_docstrings(parameters)["Selector"],
            *render_overview("Family", families),
            *render_families(families, _is_shared, _render_data),
        ]
    )


def _is_shared(tool: Tool, name: str, schema: Schema) -> bool:
    in_scope = name in _SHARED_BY_SCOPE[tool.scope] and "description" not in schema
    return in_scope and name not in cast("Iterable[str]", tool.input_schema.get("required", ()))


def _get_data(tool: Tool) -> Schema:
    return cast("Schema", tool.output_schema["properties"]["data"])


def _render_data(tool: Tool) -> Iterator[str]:
    return render_object(_get_data(tool), "data", without=EVENTS)


def render_listed_tools() -> str:
    """Return the group, function and compact form of each tool, as JSON with a line for each tool."""
    listed = {
        tool.name: {
            "group": tool.group,
            "function": _get_path(tool.function),
            "tool": compact_tool(tool),
        }
        for tool in load_tools()
    }
    lines = (f"{json.dumps(name)}: {json.dumps(each, ensure_ascii=False)}" for name, each in listed.items())
    return "{\n" + ",\n".join(lines) + "\n}"


def _get_path(function: Callable[..., object]) -> str:
    return f"{function.__module__}.{cast('FunctionType', function).__name__}"
