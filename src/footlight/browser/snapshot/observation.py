"""Choose what a result shows of the page after an action, within a budget: a difference or the whole page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import groupby, takewhile
from operator import attrgetter
from typing import Literal

from footlight.browser.snapshot.difference import NodeChange, SnapshotDifference, compute_difference
from footlight.browser.snapshot.nodes import Node, Snapshot
from footlight.browser.snapshot.text.budget import fit_snapshot
from footlight.browser.snapshot.text.compact import compact_lines
from footlight.browser.snapshot.text.fitting import LinkTo, fit, fold
from footlight.browser.snapshot.text.landmarks import fold_known_landmarks
from footlight.browser.snapshot.text.quoting import plural, quote, shorten
from footlight.browser.snapshot.text.rendering import Line, render_text
from footlight.browser.snapshot.text.unchanged import fold_unchanged

__all__ = ["Change", "Observation", "find_change", "observe", "render_difference"]

Change = Literal["none", "focus", "some"]
"""How two snapshots differ: not at all, only in the focused element, or otherwise."""

ROW_SHARE = 0.75
"""The share of the budget up to which more than the minimum of table rows are shown."""
MAX_WAS_CHARACTERS = 80
"""The maximum length of a previous value."""
MAX_LINES_CHARACTERS = 500
"""The maximum length of the changed lines of a text."""


MIN_REMOVED = 3
MAX_ENTRIES = 20
MAX_ENTRY_CHARACTERS = 40
"""At least this many removed elements of one role are joined to one line with the first words of up to
`MAX_ENTRIES` of them.
"""

_READ = attrgetter(
    *(field.name for field in fields(Node) if field.compare and field.name not in ("ref", "states"))
)
"""What the script has read of an element, without its ref and its states."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The text of the page in a result, whole or as a difference. `lines` is the number of lines before cuts.

    `text` fits the budget, and is empty if the page is the same. `successors` maps refs that were shown
    earlier to those of the elements that replaced them, which the text only counts.
    """

    kind: Literal["same", "diff", "full"]
    text: str = ""
    cut: bool = False
    lines: int = 0
    successors: Mapping[str, str] = field(default_factory=dict[str, str])


def observe(
    before: Snapshot | None,
    after: Snapshot,
    *,
    mode: Literal["diff", "full"],
    budget: int,
    link: LinkTo,
    shown: Sequence[Snapshot] = (),
) -> Observation:
    """Return what changed since `before`, or the whole page if that is shorter or the page was replaced.

    `shown` are the pages that the caller has seen completely, newest first. `link` is called once with the
    whole text if the text is cut.
    """
    if mode == "full" or before is None:
        return _observe_whole(after, budget, link, folded=fold_known_landmarks(before, after))
    pages = [each for each in shown if not each.is_modal]
    last = before
    if before.is_modal and not after.is_modal:
        last = _find_covered(after, pages) or before
        before = _join(last, before)
    found = compute_difference(before.nodes, after.nodes, match_redrawn=before.document == after.document)
    if found is None:
        return Observation("same")
    successors: Mapping[str, str] = found.successors if before.url == after.url else {}
    if not found.changes:
        return Observation("same", successors=successors)
    lines = _difference_lines(found)
    is_replaced = _is_replaced(before, after)
    if (is_replaced and not found.successors) or _is_longer(lines, after.nodes):
        # In the same document, only the content from before the action counts as unchanged.
        pages = pages if is_replaced else [each for each in pages if each is last]
        return _observe_replaced(before, after, budget, link, pages)
    fitted = fit(lines, budget, link, folded=True)
    return Observation("diff", fitted.text, fitted.cut, fitted.lines, successors)


def _find_covered(after: Snapshot, pages: Sequence[Snapshot]) -> Snapshot | None:
    """Return the page that a modal dialog covered, as the caller has last seen it."""
    return next((page for page in pages if not _is_replaced(page, after)), None)


def _join(page: Snapshot, dialog: Snapshot) -> Snapshot:
    """Return a page with its dialog, and the content beside the dialog, at its end."""
    known = {node.ref for node in page.nodes if node.ref}
    nodes = [*page.nodes]
    is_known = True
    for node in dialog.nodes:
        if node.depth == 0:
            is_known = node.ref is None or node.ref in known
        if not is_known:
            nodes.append(node)
    return replace(dialog, nodes=nodes)


def find_change(
    before: Sequence[Node],
    after: Sequence[Node],
    *,
    successors: Mapping[str, str],
    is_replaced: bool = False,
) -> Change:
    """Return whether two snapshots differ in more than the focus. Boxes and test ids count as well.

    In a document that replaced another one, every element has another ref, which is no difference. Elsewhere
    only the refs of `successors` may differ.
    """
    if len(before) != len(after):
        return "some"
    change: Change = "none"
    for was, now in zip(before, after, strict=True):
        if was is now:
            continue
        is_same_ref = is_replaced or successors.get(was.ref or "", was.ref) == now.ref
        if not is_same_ref or _READ(was) != _READ(now):
            return "some"
        if was.states != now.states and _without_focus(was.states) != _without_focus(now.states):
            return "some"
        if was.ref != now.ref or was.states != now.states:
            change = "focus"
    return change


def _without_focus(states: Sequence[str]) -> list[str]:
    return [state for state in states if state != "focused"]


def _observe_whole(
    after: Snapshot, budget: int, link: LinkTo, *, folded: Sequence[Node] | None = None
) -> Observation:
    fitted = fit_snapshot(after.nodes, budget, link, folded=folded, row_share=ROW_SHARE)
    return Observation("full", fitted.text, fitted.cut, fitted.lines)


def _observe_replaced(
    before: Snapshot, after: Snapshot, budget: int, link: LinkTo, shown: Sequence[Snapshot]
) -> Observation:
    """Return the whole page, without the lines that the caller knows from an earlier page."""
    folded = fold_unchanged(before, shown, after)
    if folded.nodes is after.nodes:
        return _observe_whole(after, budget, link)
    fitted = fit_snapshot(folded.nodes, budget, lambda _: link(render_text(after.nodes)), row_share=ROW_SHARE)
    return Observation("full", fitted.text, fitted.cut, fitted.lines, folded.successors)


def _is_replaced(before: Snapshot, after: Snapshot) -> bool:
    if any(was is now and now.ref for was, now in zip(before.nodes, after.nodes, strict=False)):
        return False  # Usually the first node shows it.
    return {node.ref for node in before.nodes if node.ref}.isdisjoint(node.ref for node in after.nodes)


def _is_longer(lines: Sequence[Line], nodes: Sequence[Node]) -> bool:
    """Return whether the lines are longer than the whole page, which is rendered only in case of doubt."""
    length = sum(len(line.render()) + 1 for line in fold(lines))
    return length > 3 * len(nodes) and length > len(render_text(nodes)) + 1


def render_difference(found: SnapshotDifference) -> list[str]:
    """Return lines marked `+`, `-` or `~`, below unmarked lines that identify the place. Fold long runs."""
    return [line.render() for line in fold(_difference_lines(found))]


def _difference_lines(found: SnapshotDifference) -> list[Line]:
    lines: list[Line] = []
    for key, group in groupby(found.changes, _removed_key):
        changes = [*group]
        if key is None or len(changes) < MIN_REMOVED:
            lines += map(_change_line, changes)
        else:
            lines.append(_join_removed(changes))
    return compact_lines(lines)


def _removed_key(change: NodeChange) -> tuple[int, str] | None:
    """Return a key that is equal for removed elements that share a line, or None for other changes."""
    is_joined = change.kind == "removed" and not change.node.is_text and _removed_words(change)
    return (change.depth, change.node.role) if is_joined else None


def _removed_words(change: NodeChange) -> str:
    """Return the words that identify a removed element, or "" if it has none."""
    return change.place or change.node.name or change.node.text


def _join_removed(changes: Sequence[NodeChange]) -> Line:
    """Return one line with the first words of each removed element."""
    words = _without_common_beginning([_removed_words(change) for change in changes[:MAX_ENTRIES]])
    names = [quote(shorten(each, MAX_ENTRY_CHARACTERS)) for each in words]
    more = [f"… {len(changes) - MAX_ENTRIES} more"] if len(changes) > MAX_ENTRIES else []
    title = f"{len(changes)} {plural(changes[0].node.role)}"
    return Line(changes[0].depth, None, _MARKS["removed"], f"{title}: {' | '.join([*names, *more])}")


def _without_common_beginning(names: Sequence[str]) -> Sequence[str]:
    """Return the names without the words with which all of them begin, if these would hide the others."""
    one, other = min(names), max(names)  # What begins both begins all between them.
    begin = one[: sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))]
    begin = begin[: begin.rfind(" ") + 1]
    return [f"…{name[len(begin) :]}" for name in names] if len(begin) > MAX_ENTRY_CHARACTERS // 2 else names


def _change_line(change: NodeChange) -> Line:
    node = change.node
    if change.place and _is_entry(change):
        node = replace(node, name=shorten(change.place, MAX_ENTRY_CHARACTERS))
    elif change.kind == "kept" and len(node.name) > MAX_WAS_CHARACTERS:
        node = replace(node, name=shorten(node.name, MAX_WAS_CHARACTERS))
    line = Line(change.depth, node, _MARKS[change.kind], _change_note(change))
    lines = _describe_changed_lines(change)
    if not lines:
        return line
    if change.node.role == "text":
        return replace(line, node=None, note=f"text {line.note}")
    return replace(line, node=replace(change.node, **{_content_field(change.node): ""}))


def _content_field(node: Node) -> Literal["value", "text", "name"]:
    """Return the field that has the text of a node, which may have several lines."""
    return "name" if node.role == "text" else "value" if node.value else "text"


def _describe_changed_lines(change: NodeChange) -> str:
    """Return the changed lines of a text with several lines, or "" for other changes."""
    if change.was is None or change.was.role != change.node.role:
        return ""
    field = _content_field(change.node)
    was, now = (str(getattr(node, field) or "").split("\n") for node in (change.was, change.node))
    if was == now or min(len(was), len(now)) < 2:
        return ""
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(was, now, strict=False)))
    rest = zip(reversed(was[start:]), reversed(now[start:]), strict=False)
    end = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], rest))
    new, old = ("\n".join(lines[start : len(lines) - end]) for lines in (now, was))
    last = len(now) - end
    numbers = f"line {last}" if last <= start + 1 else f"lines {start + 1}–{last}"
    if last == start:
        gone = len(was) - end
        numbers = f"line {gone}" if gone == start + 1 else f"lines {start + 1}–{gone}"
        return f"{numbers} of {len(was)} removed, was {_quote_short(old)}"
    before = f", was {_quote_short(old)}" if len(was) - end > start else " added"
    return f"{numbers} of {len(now)}: {quote(shorten(new, MAX_LINES_CHARACTERS))}{before}"


_OPPOSITES = {"collapsed": "expanded", "expanded": "collapsed"}
_MARKS = {"kept": " ", "added": "+", "removed": "-", "changed": "~"}


def _is_entry(change: NodeChange) -> bool:
    """Return whether the place of a change is the first words of an entry, which are its name."""
    return change.kind == "removed" or (change.moved and not change.node.name and change.node.role != "row")


def _change_note(change: NodeChange) -> str:
    notes = [f"{change.inside} inside"] if change.inside else []
    if change.place and not _is_entry(change):
        kind = "row" if change.node.role == "row" else "below" if change.is_below else "column"
        notes.append(f"{kind} {_quote_short(change.place)}")
    if change.moved:
        notes.append("moved")
    if change.was is not None:
        lines = _describe_changed_lines(change)
        changed = [lines] if lines else []
        changed += _describe_changes(
            change.was, change.node, without=_content_field(change.node) if lines else ""
        )
        # Usually another element now has the focus, and its line shows that.
        notes += [note for note in changed if note != "no longer focused"] or changed
    return f"({', '.join(notes)})" if notes else ""


def _describe_changes(was: Node, now: Node, *, without: str) -> Iterator[str]:
    """Yield a note for each previous value except `without`. The line itself shows the current ones."""
    if (was.value or "") != (now.value or "") and without != "value":
        yield f"was {_quote_short(was.value or '')}"
    if was.name != now.name and without != "name":
        yield f"was {_quote_short(was.name)}" if now.ref is None else f"name was {_quote_short(was.name)}"
    if was.text != now.text and without != "text":
        yield f"text was {_quote_short(was.text)}"
    # The line itself shows that an element has the focus, and usually it is the element just used.
    yield from (f"now {state}" for state in now.states if state not in was.states and state != "focused")
    gone = (state for state in was.states if state not in now.states)
    yield from (f"no longer {state}" for state in gone if _OPPOSITES.get(state) not in now.states)
    if was.role != now.role:
        yield f"role was {_quote_short(was.role)}"
    if was.description != now.description:
        yield f"description was {_quote_short(was.description)}"
    if was.url != now.url:
        yield f"link was {_quote_short(was.url)}"
    if was.placeholder != now.placeholder:
        yield f"placeholder was {_quote_short(was.placeholder)}"


def _quote_short(text: str) -> str:
    return quote(shorten(text, MAX_WAS_CHARACTERS))
