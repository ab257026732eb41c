"""What looking at a page has taught: the nodes of each frame, and which element a ref was given to."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from footlight.browser.snapshot import Node, Snapshot, node_of, replayed

if TYPE_CHECKING:
    from playwright.async_api import Frame

__all__ = ["FrameView", "Gone", "Identity", "RefNumbers", "View", "identity"]

MOST_GONE = 5_000
"""Refs whose element is gone, and which may still be healed."""


class RefNumbers:
    """Counts the refs of a session: one that names an element in a page names nothing in another."""

    def __init__(self) -> None:
        self.next = 1


class Identity(NamedTuple):
    """What makes an element the same to a reader."""

    testid: str
    role: str
    name: str

    @property
    def tells_apart(self) -> bool:
        return bool(self.testid or self.name)


def identity(node: Node) -> Identity:
    return Identity(node.testid, node.role, node.name)


@dataclass(frozen=True, slots=True)
class Gone:
    """What a ref meant when its element was last seen.

    `unique`: nothing else on the page was like it. `before` is the number of the first ref given later.
    """

    node: Node
    unique: bool
    before: int


@dataclass(slots=True)
class FrameView:
    """The last pass over a frame, and the frames in it by the ref of their element."""

    depth: int = 0
    generation: str | int = 0
    nodes: list[Node] = field(default_factory=list[Node])
    children: dict[str, Frame] = field(default_factory=dict[str, "Frame"])

    def take(self, reply: dict[str, Any], depth: int) -> None:
        """Bring it up to date with a reply of `snapshot.js`."""
        if "ops" in reply:
            self.nodes = replayed(self.nodes, reply["ops"], depth=depth)
        else:
            self.nodes = [node_of(record, depth=depth) for record in reply["nodes"]]
        self.generation, self.depth = reply["gen"], depth


class View:
    """A page's. `told` is what its callers were told last, `healed` which refs lead elsewhere by now."""

    def __init__(self, numbers: RefNumbers) -> None:
        self.numbers = numbers
        self.told: Snapshot | None = None
        self.healed: dict[str, str] = {}
        self.frames: dict[Frame, FrameView] = {}
        self._seen: dict[str, tuple[Node, Frame]] = {}
        self._gone: OrderedDict[str, Gone] = OrderedDict()
        self._told: Snapshot | None = None
        self._meanings: dict[str, Identity] = {}

    def meaning(self, ref: str) -> Identity | None:
        """What a caller was last told that the ref is; None where it was told of it in no whole look."""
        if self.told is not self._told:
            self._told = self.told
            nodes = self.told.nodes if self.told else ()
            self._meanings = {node.ref: identity(node) for node in nodes if node.ref}
        return self._meanings.get(ref)

    def show(self, nodes: Iterable[Node]) -> None:
        """A caller was told of these, and of nothing else."""
        self.meaning("")
        self._meanings |= {node.ref: identity(node) for node in nodes if node.ref}

    def seen(self, ref: str) -> tuple[Node, Frame] | None:
        """What the ref meant in the last look, and where."""
        return self._seen.get(ref)

    def element_of(self, frame: Frame) -> str | None:
        """The ref of the `iframe` element around a frame; none around the page's own."""
        inside = ((ref, child) for view in self.frames.values() for ref, child in view.children.items())
        return next((ref for ref, child in inside if child is frame), None)

    def gone(self, ref: str) -> Gone | None:
        return self._gone.get(ref)

    def see(self, passes: Iterable[tuple[Frame, Sequence[Node]]]) -> None:
        """Take a whole look: refs that are not in it any more are gone."""
        now = {node.ref: (node, frame) for frame, nodes in passes for node in nodes if node.ref}
        if missing := self._seen.keys() - now.keys():
            alike = Counter(identity(node) for node, _ in self._seen.values())
            for ref in missing:
                node = self._seen[ref][0]
                self._bury(ref, Gone(node, alike[identity(node)] == 1, self._before))
        for ref in now.keys() & self._gone.keys():  # It was taken out of the document, and put back.
            del self._gone[ref]
        self._seen = now
        self._before = self.numbers.next

    _before = 1
    """The number of the next ref, at the last look."""

    def _bury(self, ref: str, gone: Gone) -> None:
        self._gone[ref] = gone
        self._gone.move_to_end(ref)
        if len(self._gone) > MOST_GONE:
            self._gone.popitem(last=False)

    def take_healed(self) -> dict[str, str]:
        healed, self.healed = self.healed, {}
        return healed
