"""The page as a tree of lines with refs, and a search in it."""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.driver.offload import call_in_loop, offload
from footlight.browser.driver.output_folder import write_new
from footlight.browser.page.capture import look
from footlight.browser.page.region_capture import look_at
from footlight.browser.snapshot.blankness import BLANK_NOTICE, is_blank
from footlight.browser.snapshot.finding import find_lines, make_matcher
from footlight.browser.snapshot.nodes import Node, Snapshot
from footlight.browser.snapshot.text.budget import fit_snapshot
from footlight.browser.snapshot.text.fitting import LinkTo, cut_lines, fit
from footlight.browser.snapshot.text.formats import NodeInfo, render_json, render_yaml
from footlight.browser.snapshot.text.landmarks import fold_known_landmarks
from footlight.browser.snapshot.text.narrowing import keep_interactive, limit_depth
from footlight.browser.snapshot.view import SnapshotText
from footlight.errors import InvalidParameterError
from footlight.server.answers import PageText
from footlight.server.calls.attachments import attach_again, attach_text
from footlight.server.tools import Count, MaybeBudget, ToolCall, tool
from footlight.toolsets.browser.files import describe_file, output_of
from footlight.toolsets.browser.parameters import Selector

__all__ = []

SnapshotFormat = Literal["text", "yaml", "json"]


class SnapshotTaken(TypedDict):
    """`snapshot` is text or YAML, `nodes` the same as JSON. `cut`: the snapshot exceeded the budget.
    `notice` says that the page shows no contents yet.

    With `file` there is neither: the whole is at `path`, and can be read at `uri` unless it is large. In a
    cluster there is no `path`, and a large file has a `downloadUrl`.
    """

    url: str
    title: str
    snapshot: NotRequired[str]
    nodes: NotRequired[list[dict[str, Any]]]
    cut: NotRequired[bool]
    resource: NotRequired[str]
    notice: NotRequired[str]
    path: NotRequired[str]
    bytes: NotRequired[int]
    uri: NotRequired[str]
    downloadUrl: NotRequired[str]


class FindResult(TypedDict):
    """`count` counts all matches; `matches` are lines of the snapshot with their ancestors."""

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
    test_ids: bool = False,
    format: SnapshotFormat = "text",
    file: str | None = None,
    budget: MaybeBudget = None,
) -> SnapshotTaken:
    """Look at the page. Roles, names, states, and refs (e12) to use as selectors."""
    view = call.page.view
    is_region = root_selector is not None or boxes or test_ids
    if is_region:
        seen = await look_at(call.page, call.deadline, selector=root_selector, boxes=boxes, test_ids=test_ids)
    else:
        seen = await look(call.page, call.deadline)
    is_whole = not is_region and ((not interactive and depth is None) or view.last_reported is None)

    def narrow() -> Snapshot:
        nodes = keep_interactive(seen.nodes) if interactive else seen.nodes
        if test_ids and format == "text":
            nodes = [_with_test_id(node) for node in nodes]
        return Snapshot(seen.url, seen.title, nodes if depth is None else limit_depth(nodes, depth))

    before = view.last_reported if is_whole else None
    if is_whole:
        view.last_reported = seen
    else:
        await offload(len(seen.nodes), lambda: view.note_reported(seen.nodes, of=seen.nodes))
    if file is not None:
        path = await asyncio.to_thread(lambda: _write_file(call, narrow(), format, file))
        written = describe_file(call, path, "application/json" if format == "json" else "text/plain")
        return {"url": seen.url, "title": seen.title, **written}

    limit = budget or call.settings.observation.budget
    options = seen.url, seen.title, format, limit, interactive, depth, is_whole
    known = view.last_text
    if known and known.is_text_of(seen, before, options) and _link_again(call, known.answer):
        taken = cast("SnapshotTaken", {**known.answer})
    else:
        uris: list[str] = []

        @call_in_loop
        def keep(text: str) -> str | None:
            uri = attach_text(call, text, tool="snapshot")
            uris.extend([uri] if uri else [])
            return uri

        def write() -> SnapshotTaken:
            selected = narrow()
            folded = fold_known_landmarks(before, selected) if is_whole else None
            taken = _fit_snapshot(selected, format, limit, keep, uris, folded)
            if root_selector is None and is_blank(seen):
                taken["notice"] = BLANK_NOTICE
            return taken

        taken = await offload(len(seen.nodes), write)
        view.last_text = None if is_region else SnapshotText(seen, before, options, {**taken})
    if is_whole and not taken.get("cut"):
        view.note_shown(seen)
    return taken


def _link_again(call: ToolCall, taken: Mapping[str, object]) -> bool:
    """Link to the whole text of a page as an earlier answer did. Return False if it is no longer stored."""
    uri = taken.get("resource")
    return uri is None or attach_again(call, str(uri))


def _write_file(call: ToolCall, seen: Snapshot, format: SnapshotFormat, name: str) -> Path:
    """Write the whole snapshot to a new file in the output folder. Secrets are masked in it."""
    text = (
        json.dumps(render_json(seen.nodes), ensure_ascii=False)
        if format == "json"
        else "\n".join(render_yaml(seen.nodes))
        if format == "yaml"
        else fit_snapshot(seen.nodes, sys.maxsize, lambda _: None).text
    )
    suffix = {"text": ".txt", "yaml": ".yaml", "json": ".json"}[format]
    folder = output_of(call)
    with folder.fill(folder.reserve(name, suffix, parameter="file")) as path:
        write_new(path, call.mask(f"{text}\n").encode("utf-8", "replace"))
    return path


def _with_test_id(node: Node) -> Node:
    """Return the node with its test id among the states, in the form in which selectors take it."""
    return replace(node, states=(*node.states, f"testid={node.testid}")) if node.testid else node


def _fit_snapshot(
    seen: Snapshot,
    format: SnapshotFormat,
    budget: int,
    keep: LinkTo,
    uris: Sequence[str],
    folded: Sequence[Node] | None,
) -> SnapshotTaken:
    data: SnapshotTaken = {"url": seen.url, "title": seen.title}
    if format == "json":
        nodes, was_cut = _cut_nodes(seen.nodes, budget, keep)
        data["nodes"] = cast("list[dict[str, Any]]", nodes)
    else:
        fitted = (
            fit_snapshot(seen.nodes, budget, keep, folded=folded)
            if format == "text"
            else cut_lines(render_yaml(seen.nodes), budget, keep, comment="# ")
        )
        data["snapshot"], was_cut = PageText(fitted.text), fitted.cut
    if was_cut:
        data["cut"] = True
    if uris:
        data["resource"] = uris[0]
    return data


def _cut_nodes(nodes: Sequence[Node], budget: int, keep: LinkTo) -> tuple[list[NodeInfo], bool]:
    """Return the first nodes that fit into the budget as JSON, and whether any were cut."""
    whole = render_json(nodes)
    text = json.dumps(whole, ensure_ascii=False)
    if len(text) <= budget:
        return whole, False
    keep(text)
    sizes = accumulate(
        len(json.dumps(render_json([node]), ensure_ascii=False)) + len(_AROUND) for node in nodes
    )
    return render_json(nodes[: sum(1 for _ in takewhile(lambda size: size <= budget, sizes))]), True


_AROUND = ', "children": []'


@tool(effect="read")
async def find(
    call: ToolCall,
    text: Annotated[str | None, Field(min_length=1)] = None,
    regex: Annotated[str | None, Field(min_length=1)] = None,
    limit: Annotated[Count, Field(le=200)] = 20,
    budget: MaybeBudget = None,
) -> FindResult:
    """Find in the snapshot. By text or regex; returns refs and surrounding lines."""
    if (text is None) == (regex is None):
        raise InvalidParameterError("find takes either text or regex", parameter="text")
    matches = make_matcher(text, regex)
    seen = await look(call.page, call.deadline)
    found = await asyncio.to_thread(find_lines, seen.nodes, matches, limit)
    lines = [line.node for line in found.lines if line.node]
    await offload(len(seen.nodes), lambda: call.page.view.note_reported(lines, of=seen.nodes))
    fitted = fit(found.lines, budget or call.settings.observation.budget, lambda _: None)
    answer: FindResult = {"count": found.count, "matches": PageText(fitted.text)}
    if fitted.cut or found.count > limit:
        answer["cut"] = True
    return answer
