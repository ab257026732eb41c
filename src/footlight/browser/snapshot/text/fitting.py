"""Fit lines into a budget of characters: fold runs, shorten long texts, and cut off the end last."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, pairwise
from operator import itemgetter

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.text.quoting import plural, quote, quote_unless_word, shorten
from footlight.browser.snapshot.text.rendering import Line

__all__ = [
    "MAX_WORD_CHARACTERS",
    "MESSAGE_ROLES",
    "FittedText",
    "LinkTo",
    "cut_lines",
    "cut_mark",
    "fit",
    "fold",
    "fold_note",
]

LinkTo = Callable[[str], str | None]
"""A function that stores a text and returns the URI to read it at, or None if there is no room for it."""

_NOWHERE = 1_000_000
"""A depth that no line has."""
MESSAGE_ROLES = frozenset(("alert", "alertdialog", "dialog", "status"))
"""Roles of elements that a reader must see at once."""
MAX_RUN = 12
"""The longest run of similar nodes that is shown completely."""
SHOWN_OF_RUN = 5
MAX_WORD_CHARACTERS = 120
"""The length to which a name or a text is shortened."""
_PARTS = frozenset(("group", "region", "tabpanel"))
_TOOLS = frozenset(("button", "menuitem", "tab"))
MAX_PART_NAMES = 8
MAX_PART_NAME = 40


@dataclass(frozen=True, slots=True)
class FittedText:
    """A text that fits the budget. `lines` is the number of lines before cuts."""

    text: str
    cut: bool
    lines: int


def fit(lines: Sequence[Line], budget: int, link: LinkTo, *, folded: bool = False) -> FittedText:
    """Return the text unchanged if it fits the budget, and otherwise as much of it as fits.

    With `folded`, runs are folded in any case. If the budget cuts something off, the last line reports it and
    links to the whole text. The steps are: fold runs, shorten long texts, drop the deepest texts, cut off the
    end.
    """
    whole = [line.render() for line in lines]
    text = "\n".join(whole)
    if not folded and len(text) <= budget:
        return FittedText(text, cut=False, lines=len(lines))
    known = dict(zip(map(id, lines), whole, strict=True))
    fewer = fold(lines)
    less = [known.get(id(line)) or line.render() for line in fewer]
    if folded and _measure_joined(less) <= budget:
        return FittedText("\n".join(less), cut=False, lines=len(lines))
    return FittedText(_reduce(fewer, less, budget, len(lines), link(text)), cut=True, lines=len(lines))


def cut_lines(lines: Sequence[str], budget: int, link: LinkTo, *, comment: str = "") -> FittedText:
    """Fit lines of another format into the budget. `comment` precedes the mark, such as `# ` in YAML."""
    text = "\n".join(lines)
    if len(text) <= budget:
        return FittedText(text, cut=False, lines=len(lines))
    return FittedText(
        _keep_beginning(lines, budget, len(lines), link(text), comment), cut=True, lines=len(lines)
    )


def _reduce(lines: Sequence[Line], written: Sequence[str], budget: int, total: int, uri: str | None) -> str:
    room = budget - len(cut_mark("shortened", total, total, uri)) - 1
    short = [
        text if len(text) <= MAX_WORD_CHARACTERS else line.render(limit=MAX_WORD_CHARACTERS)
        for line, text in zip(lines, written, strict=True)
    ]
    for less in (written, short, _drop_deepest_texts(lines, short, room)):
        if _measure_joined(less) <= room:
            return "\n".join([*less, cut_mark("shortened", len(less), total, uri)])
    important = _keep_important(lines, short, budget - len(cut_mark("cut", total, total, uri)))
    return _keep_beginning(important or short, budget, total, uri)


def _keep_important(lines: Sequence[Line], written: Sequence[str], room: int) -> list[str]:
    """Return the lines that fit, each with those around it: messages first, then changes, then the others.

    The others are taken from the beginning, but in a log from its end.
    """
    messages: list[int] = []
    changes: list[int] = []
    in_log: list[int] = []
    others: list[int] = []
    parents: list[int] = []
    above: list[int] = []
    log = message = _NOWHERE
    for index, line in enumerate(lines):
        depth = line.depth
        while above and lines[above[-1]].depth >= depth:
            above.pop()
        parents.append(above[-1] if above else -1)
        above.append(index)
        log = _NOWHERE if depth <= log else log
        message = _NOWHERE if depth <= message else message
        role = line.node.role if line.node is not None else ""
        if role in MESSAGE_ROLES and line.mark in ("+", "~"):
            message = min(message, depth)
        if message != _NOWHERE:
            messages.append(index)
        elif line.mark == "~":
            changes.append(index)
        else:
            (others if log == _NOWHERE else in_log).append(index)
        log = min(log, depth) if role == "log" else log
    kept: set[int] = set()
    urgent = {*messages, *changes}
    for index in chain(messages, changes, reversed(in_log), others):
        around: list[int] = []
        at = index
        while at >= 0 and at not in kept:
            around.append(at)
            at = parents[at]
        cost = sum([len(written[each]) + 1 for each in around])
        if cost <= room:
            room -= cost
            kept.update(around)
        elif index not in urgent:
            break
    return [written[index] for index in sorted(kept)]


def _measure_joined(lines: Sequence[str]) -> int:
    return sum(map(len, lines)) + len(lines) - 1


def _drop_deepest_texts(lines: Sequence[Line], written: Sequence[str], room: int) -> list[str]:
    """Drop texts without a ref, deepest first, until the remaining lines fit."""
    excess = _measure_joined(written) - room
    texts = [index for index, line in enumerate(lines) if _is_text(line)]
    dropped: set[int] = set()
    for index in sorted(texts, key=lambda index: -lines[index].depth):
        if excess <= 0:
            break
        dropped.add(index)
        excess -= len(written[index]) + 1
    return [line for index, line in enumerate(written) if index not in dropped]


def _is_text(line: Line) -> bool:
    return line.node is not None and line.node.is_text and not line.mark


def _keep_beginning(lines: Sequence[str], budget: int, total: int, uri: str | None, comment: str = "") -> str:
    """Return the lines that fit beside the mark. Leave out the link if even the mark does not fit."""
    if len(cut_mark("cut", total, total, uri)) + len(comment) > budget:
        uri = None
    room = budget - len(comment) - len(cut_mark("cut", total, total, uri))
    fitting: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        fitting.append(line)
    mark = comment + cut_mark("cut", len(fitting), total, uri)
    return "\n".join([*fitting, mark])[: max(budget, 0)]


def cut_mark(done: str, visible_count: int, total: int, uri: str | None) -> str:
    """Return the last line of a shortened text.

    A list that is one line of the whole text takes several if entries are left out. If more lines are shown
    than the whole text has, their number is left out.
    """
    where = f"; the whole: {uri}" if uri else ""
    count = f": {visible_count:,} of {total:,} lines shown" if visible_count <= total else ""
    return f"… {done}{count}{where}"


_Key = tuple[bool, str, int, str]


def fold(lines: Sequence[Line]) -> list[Line]:
    """Fold long runs of similar nodes without children to the first five, a count with refs, and the last.

    Of a run in a log, whose entries may have children, the last six are shown.
    """
    folded: list[Line] = []
    for key, group in groupby(_list_entries(lines), itemgetter(0)):
        run = [entry for _, entry in group]
        if key is None or len(run) <= MAX_RUN:
            folded += chain.from_iterable(run)
            continue
        first = 0 if key[0] else SHOWN_OF_RUN
        last = len(run) - (SHOWN_OF_RUN + 1 - first)
        (shown, *inside), *others = run[last:]
        folded += chain.from_iterable(run[:first])
        folded += [
            _make_fold_line([entry[0] for entry in run[first:last]]),
            replace(shown, above=()),
            *inside,
        ]
        folded += chain.from_iterable(others)
    return folded


def _list_entries(lines: Sequence[Line]) -> Iterator[tuple[_Key | None, Sequence[Line]]]:
    """Yield each line, and each entry of a log with the lines inside it, after a key.

    The key is equal for similar entries, begins with whether they are in a log, and is None for an entry that
    must not be folded.
    """
    log: int | None = None
    index = 0
    while index < len(lines):
        line, end = lines[index], index + 1
        if log is not None and line.depth <= log:
            log = None
        while log is not None and end < len(lines) and lines[end].depth > line.depth:
            end += 1
        is_whole = end == len(lines) or lines[end].depth <= line.depth
        node = line.node if is_whole else None
        entry = lines[index:end]
        is_folded = node is not None and not any([_is_in_use(each) for each in entry])
        yield (log is not None, line.mark, line.depth, node.role) if node and is_folded else None, entry
        if log is None and line.node is not None and line.node.role == "log":
            log = line.depth
        index = end


def _is_in_use(line: Line) -> bool:
    states = line.node.states if line.node is not None else ()
    return bool(states) and ("selected" in states or "focused" in states)


def _make_fold_line(run: Sequence[Line]) -> Line:
    nodes = [replace(line.node, ref=_first_ref(line)) for line in run if line.node is not None]
    return Line(run[0].depth, None, run[0].mark, fold_note(nodes))


def _first_ref(line: Line) -> str | None:
    """Return the ref of a line, or otherwise the first ref in its cells."""
    nodes = [line.node, *(node for parts in line.cells for node in parts)]
    return next((node.ref for node in nodes if node is not None and node.ref), None)


def fold_note(nodes: Sequence[Node]) -> str:
    """Return the line that replaces similar nodes: `… 40 more rows e40…e200`.

    The parts of a page and a few buttons differ in what they are for, so their names follow:
    `… 2 more regions e40…e52: "A", "B"`.
    """
    refs = [node.ref for node in nodes if node.ref]
    note = " ".join([f"… {len(nodes)} more {quote_unless_word(plural(nodes[0].role))}", *_ref_range(refs)])
    is_bar = nodes[0].role in _TOOLS and len(nodes) <= MAX_PART_NAMES
    names = [
        quote(shorten(node.name, MAX_PART_NAME))
        for node in nodes
        if node.name and (is_bar or node.role in _PARTS)
    ]
    if not names:
        return note
    return f"{note}: {', '.join([*names[:MAX_PART_NAMES], *(['…'] if len(names) > MAX_PART_NAMES else [])])}"


def _ref_range(refs: Sequence[str]) -> list[str]:
    """Return `e12–e59` if the numbers are consecutive, and `e12…e80` otherwise."""
    if not refs:
        return []
    numbers = [int(ref[1:]) for ref in refs]
    in_a_row = all(second == first + 1 for first, second in pairwise(numbers))
    return [f"{refs[0]}{'–' if in_a_row else '…'}{refs[-1]}"]
