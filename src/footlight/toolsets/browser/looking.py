"""Looking at a page: its tree with refs, and what is in it that one looks for."""

import json
from collections.abc import Sequence
from itertools import accumulate, takewhile
from typing import Annotated, Any, Literal, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.finding import found_lines, pattern_of
from footlight.browser.fitting import LinkTo, cut, fit
from footlight.browser.looking import look, look_at
from footlight.browser.narrowing import interactive as only_interactive
from footlight.browser.narrowing import to_depth
from footlight.browser.rendering import NodeInfo, as_json, as_yaml, lines_of
from footlight.browser.snapshot import Node, Snapshot
from footlight.errors import InvalidParameter
from footlight.server.answer import PageText
from footlight.server.keeping import keep_text
from footlight.server.tool import Count, MaybeBudget, ToolCall, tool
from footlight.toolsets.browser.parameters import Selector

__all__ = ["TOOLS"]


class SnapshotTaken(TypedDict):
    """`snapshot` is text or YAML, `nodes` the same as JSON. `cut`: it was longer than the budget."""

    url: str
    title: str
    snapshot: NotRequired[str]
    nodes: NotRequired[list[dict[str, Any]]]
    cut: NotRequired[bool]
    resource: NotRequired[str]


class FoundText(TypedDict):
    """`count` is of all matches; `matches` are lines of the snapshot with those above them."""

    count: int
    matches: str
    cut: NotRequired[bool]


@tool(effect="read")
async def snapshot(
    call: ToolCall,
    root_selector: Selector | None = None,
    interactive: bool = False,
    depth: Count | None = None,
    boxes: bool = False,
    format: Literal["text", "yaml", "json"] = "text",
    budget: MaybeBudget = None,
) -> SnapshotTaken:
    """Look at the page. Roles, names, states, and refs (e12) to use as selector."""
    if root_selector is None and not boxes:
        seen = await look(call.page, call.deadline)
        view = call.page.view
        if (not interactive and depth is None) or view.told is None:
            view.told = seen
        else:
            view.show(seen.nodes, of=seen.nodes)
    else:
        seen = await look_at(call.page, call.deadline, selector=root_selector, boxes=boxes)
        call.page.view.show(seen.nodes, of=seen.nodes)
    if interactive:
        seen = Snapshot(seen.url, seen.title, only_interactive(seen.nodes))
    if depth is not None:
        seen = Snapshot(seen.url, seen.title, to_depth(seen.nodes, depth))
    return _written(call, seen, format, budget or call.settings.observation.budget)


def _written(
    call: ToolCall, seen: Snapshot, format: Literal["text", "yaml", "json"], budget: int
) -> SnapshotTaken:
    kept: list[str] = []

    def keep(text: str) -> str | None:
        uri = keep_text(call, text, tool="snapshot")
        kept.extend([uri] if uri else [])
        return uri

    taken: SnapshotTaken = {"url": seen.url, "title": seen.title}
    if format == "json":
        nodes, was_cut = _nodes_within(seen.nodes, budget, keep)
        taken["nodes"] = cast("list[dict[str, Any]]", nodes)
    else:
        fitted = (
            fit(lines_of(seen.nodes), budget, keep)
            if format == "text"
            else cut(as_yaml(seen.nodes), budget, keep, comment="# ")
        )
        taken["snapshot"], was_cut = PageText(fitted.text), fitted.cut
    if was_cut:
        taken["cut"] = True
    if kept:
        taken["resource"] = kept[0]
    return taken


def _nodes_within(nodes: Sequence[Node], budget: int, keep: LinkTo) -> tuple[list[NodeInfo], bool]:
    """As many of the first nodes as have room as JSON."""
    whole = as_json(nodes)
    text = json.dumps(whole, ensure_ascii=False)
    if len(text) <= budget:
        return whole, False
    keep(text)
    sizes = accumulate(len(json.dumps(as_json([node]), ensure_ascii=False)) + len(_AROUND) for node in nodes)
    return as_json(nodes[: sum(1 for _ in takewhile(lambda size: size <= budget, sizes))]), True


_AROUND = ', "children": []'


@tool(effect="read")
async def find(
    call: ToolCall,
    text: Annotated[str | None, Field(min_length=1)] = None,
    regex: Annotated[str | None, Field(min_length=1)] = None,
    limit: Annotated[Count, Field(le=200)] = 20,
    budget: MaybeBudget = None,
) -> FoundText:
    """Find in the snapshot. By text or regex; with refs and what is around."""
    if (text is None) == (regex is None):
        raise InvalidParameter("find takes either text or regex", parameter="text")
    pattern = pattern_of(text, regex)
    seen = await look(call.page, call.deadline)
    found = found_lines(seen.nodes, pattern, limit)
    call.page.view.show((line.node for line in found.lines if line.node), of=seen.nodes)
    fitted = fit(found.lines, budget or call.settings.observation.budget, lambda _: None)
    answer: FoundText = {"count": found.count, "matches": PageText(fitted.text)}
    if fitted.cut or found.count > limit:
        answer["cut"] = True
    return answer


TOOLS = (snapshot, find)
