"""What looking at a page has taught: the nodes of each frame, and which element a ref was given to."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from footlight.browser.places import Place, places
from footlight.browser.snapshot import Node, Snapshot, node_of, replayed

if TYPE_CHECKING:
    from playwright.async_api import Frame

__all__ = ["FrameView", "Gone", "Identity", "Meaning", "RefNumbers", "View", "identity"]

MOST_IN_A_PASS = 100_000
"""Refs; `snapshot.js` gives fewer."""
MOST_GONE = 5_000
"""Refs whose element is gone, and which may still be healed."""


class RefNumbers:
    """Counts the refs of a session: one that names an element in a page names nothing in another."""

    def __init__(self) -> None:
        self.next = 1
        self._lock = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def given(self) -> AsyncGenerator[int]:
        """The number of the next ref, for one pass at a time.

        A pass whose reply is lost has given refs all the same, or still will: none of them is given again.
        """
        async with self._lock:
            try:
                yield self.next
            except BaseException:
                self.next += MOST_IN_A_PASS
                raise


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


def meanings(nodes: Iterable[Node], all_nodes: Sequence[Node]) -> dict[str, Meaning]:
    where = places(all_nodes)
    alike = Counter(identity(node) for node in all_nodes)
    return {node.ref: _meaning(node, where[node.ref], alike) for node in nodes if node.ref}


def _meaning(node: Node, place: Place, alike: Counter[Identity]) -> Meaning:
    """What is before it counts only where it is like others, and in no entry."""
    known = identity(node)
    return Meaning(known, place.entry or (place.after if alike[known] > 1 else ""))


class Meaning(NamedTuple):
    """What a caller knows an element by: itself, and the entry that it is in, where that is known."""

    identity: Identity
    entry: str


@dataclass(frozen=True, slots=True)
class Gone:
    """What a ref meant when its element was last seen, in which frame, at which address and place.

    `unique`: nothing else on the page was like it. `before` is the number of the first ref given later.
    """

    node: Node
    frame: Frame
    url: str
    place: Place
    unique: bool
    before: int


@dataclass(slots=True)
class FrameView:
    """The last pass over a frame, and the frames in it by the ref of their element."""

    depth: int = 0
    generation: str | int = 0
    url: str = ""
    nodes: list[Node] = field(default_factory=list[Node])
    children: dict[str, Frame] = field(default_factory=dict[str, "Frame"])

    def take(self, reply: dict[str, Any], depth: int) -> None:
        """Bring it up to date with a reply of `snapshot.js`."""
        if "ops" in reply:
            self.nodes = replayed(self.nodes, reply["ops"], depth=depth)
        else:
            self.nodes = [node_of(record, depth=depth) for record in reply["nodes"]]
        self.generation, self.depth = reply["gen"], depth
        self.url = str(reply["url"]).partition("#")[0]


class View:
    """A page's. `told` is what its callers were told last, `healed` which refs lead elsewhere by now.

    `located` are the selectors with refs that were used, and what leads to their elements in another run.
    """

    def __init__(self, numbers: RefNumbers) -> None:
        self.numbers = numbers
        self.told: Snapshot | None = None
        self.healed: dict[str, str] = {}
        self.located: dict[str, str] = {}
        self.frames: dict[Frame, FrameView] = {}
        self._seen: dict[str, tuple[Node, Frame]] = {}
        self._gone: OrderedDict[str, Gone] = OrderedDict()
        self._told: Snapshot | None = None
        self._nodes: Sequence[Node] = ()
        self._urls: dict[Frame, str] = {}
        self._meanings: dict[str, Meaning] = {}

    def meaning(self, ref: str) -> Meaning | None:
        """What a caller was last told that the ref is; None where it was not told of it."""
        if self.told is not self._told:
            self._told = self.told
            nodes = self.told.nodes if self.told else ()
            self._meanings = meanings(nodes, nodes)
        return self._meanings.get(ref)

    def show(self, nodes: Iterable[Node], *, of: Sequence[Node]) -> None:
        """A caller was told of these of all that was looked at, and of nothing else."""
        self.meaning("")
        self._meanings |= meanings(nodes, of)

    def seen(self, ref: str) -> tuple[Node, Frame] | None:
        """What the ref meant in the last look, and where."""
        return self._seen.get(ref)

    def element_of(self, frame: Frame) -> str | None:
        """The ref of the `iframe` element around a frame; none around the page's own."""
        inside = ((ref, child) for view in self.frames.values() for ref, child in view.children.items())
        return next((ref for ref, child in inside if child is frame), None)

    def gone(self, ref: str) -> Gone | None:
        return self._gone.get(ref)

    def see(self, snapshot: Snapshot) -> None:
        """Take a whole look: refs that are not in it any more are gone."""
        urls = {frame: each.url for frame, each in self.frames.items()}
        now = {
            node.ref: (node, frame) for frame, each in self.frames.items() for node in each.nodes if node.ref
        }
        if missing := self._seen.keys() - now.keys():
            alike = Counter(identity(node) for node, _ in self._seen.values())
            where = places(self._nodes)
            for ref in missing:
                node, frame = self._seen[ref]
                unique, url = alike[identity(node)] == 1, self._urls.get(frame, "")
                self._bury(ref, Gone(node, frame, url, where[ref], unique, self._before))
        self._nodes, self._urls = snapshot.nodes, urls
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

    def take_located(self) -> str | dict[str, str] | None:
        """Just the one where there is one; by selector where there are several."""
        located, self.located = self.located, {}
        return located if len(located) > 1 else next(iter(located.values()), None)

    def take_healed(self) -> dict[str, str]:
        healed, self.healed = self.healed, {}
        return healed
