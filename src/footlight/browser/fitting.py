"""Lines within a budget of characters: runs are folded, long words cut, and at last the tail is cut off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from footlight.browser.rendering import Line, word

__all__ = ["Fitted", "LinkTo", "cut", "fit", "fold"]

LinkTo = Callable[[str], str | None]
"""Keeps a text and gives the URI to read it at, or None where there is no room for it."""

LONGEST_RUN = 12
"""So many alike nodes in a row are shown; of more, the first and the last."""
FIRST = 5
LONGEST_WORDS = 120
"""Characters of a name or a text, where the whole is too long."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """At most as many characters as the budget. `lines` is how many there are without a cut."""

    text: str
    cut: bool
    lines: int


def fit(lines: Sequence[Line], budget: int, link: LinkTo, *, folded: bool = False) -> Fitted:
    """The text as it is, with runs folded if so asked, when that has room; else as much as has.

    Where something is left out for the budget's sake the last line says so, with the link to the whole:
    first runs are folded, then long words cut, then the deepest texts dropped, then the tail cut off.
    """
    whole = [line.written() for line in lines]
    text = "\n".join(whole)
    if not folded and len(text) <= budget:
        return Fitted(text, cut=False, lines=len(lines))
    known = dict(zip(map(id, lines), whole, strict=True))
    fewer = fold(lines)
    less = [known.get(id(line)) or line.written() for line in fewer]
    if folded and _length(less) <= budget:
        return Fitted("\n".join(less), cut=False, lines=len(lines))
    return Fitted(_reduced(fewer, less, budget, len(lines), link(text)), cut=True, lines=len(lines))


def cut(lines: Sequence[str], budget: int, link: LinkTo, *, comment: str = "") -> Fitted:
    """Of lines of any other kind. `comment` is in front of the mark, such as `# ` in YAML."""
    text = "\n".join(lines)
    if len(text) <= budget:
        return Fitted(text, cut=False, lines=len(lines))
    return Fitted(_beginning(lines, budget, len(lines), link(text), comment), cut=True, lines=len(lines))


def _reduced(lines: Sequence[Line], written: Sequence[str], budget: int, total: int, uri: str | None) -> str:
    room = budget - len(_mark("shortened", total, total, uri)) - 1
    short = [
        text if len(text) <= LONGEST_WORDS else line.written(longest=LONGEST_WORDS)
        for line, text in zip(lines, written, strict=True)
    ]
    for less in (written, short, _without_deepest_texts(lines, short, room)):
        if _length(less) <= room:
            return "\n".join([*less, _mark("shortened", len(less), total, uri)])
    return _beginning(short, budget, total, uri)


def _length(lines: Sequence[str]) -> int:
    return sum(map(len, lines)) + len(lines) - 1


def _without_deepest_texts(lines: Sequence[Line], written: Sequence[str], room: int) -> list[str]:
    """Texts that only are read go first where they are deepest; what has a ref stays."""
    excess = _length(written) - room
    texts = [index for index, line in enumerate(lines) if _is_text(line)]
    dropped: set[int] = set()
    for index in sorted(texts, key=lambda index: -lines[index].depth):
        if excess <= 0:
            break
        dropped.add(index)
        excess -= len(written[index]) + 1
    return [line for index, line in enumerate(written) if index not in dropped]


def _is_text(line: Line) -> bool:
    return line.node is not None and line.node.role == "text" and line.node.ref is None and not line.mark


def _beginning(lines: Sequence[str], budget: int, total: int, uri: str | None, comment: str = "") -> str:
    """As many lines as have room beside the mark; the link goes first where even that has none."""
    if len(_mark("cut", total, total, uri)) + len(comment) > budget:
        uri = None
    room = budget - len(comment) - len(_mark("cut", total, total, uri))
    shown: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        shown.append(line)
    mark = comment + _mark("cut", len(shown), total, uri)
    return "\n".join([*shown, mark])[: max(budget, 0)]


def _mark(done: str, shown: int, total: int, uri: str | None) -> str:
    where = f"; the whole: {uri}" if uri else ""
    return f"… {done}: {shown:,} of {total:,} lines shown{where}"


def fold(lines: Sequence[Line]) -> list[Line]:
    """Long runs of alike nodes without children: the first five, how many more with their refs, the last."""
    kinds = [_kind(line, following) for line, following in pairwise([*lines, None]) if line is not None]
    folded: list[Line] = []
    start = 0
    for kind, group in groupby(kinds):
        end = start + sum(1 for _ in group)
        run = lines[start:end]
        if kind is not None and len(run) > LONGEST_RUN:
            run = [*run[:FIRST], _folded(run[FIRST:-1]), run[-1]]
        folded += run
        start = end
    return folded


def _kind(line: Line, following: Line | None) -> tuple[str, int, str] | None:
    """What is alike has the same; None for what has children, or must be seen."""
    node = line.node
    if node is None or (following is not None and following.depth > line.depth):
        return None
    if "selected" in node.states or "focused" in node.states:
        return None
    return line.mark, line.depth, node.role


def _folded(run: Sequence[Line]) -> Line:
    nodes = [line.node for line in run if line.node is not None]
    refs = [node.ref for node in nodes if node.ref]
    said = " ".join([f"… {len(nodes)} more {word(_plural(nodes[0].role))}", *_range(refs)])
    return Line(run[0].depth, None, run[0].mark, said)


def _range(refs: Sequence[str]) -> list[str]:
    """`e12–e59` where each of the refs between them is one of these, `e12…e80` otherwise."""
    if not refs:
        return []
    numbers = [int(ref[1:]) for ref in refs]
    in_a_row = all(second == first + 1 for first, second in pairwise(numbers))
    return [f"{refs[0]}{'–' if in_a_row else '…'}{refs[-1]}"]


def _plural(role: str) -> str:
    return f"{role}es" if role.endswith(("s", "x", "ch")) else f"{role}s"
