"""The state of a page according to its snapshots: the nodes of each frame, and the element of each ref."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from footlight.browser.driver.offload import offload
from footlight.browser.snapshot.nodes import Node, Snapshot, are_same, find_changed_range
from footlight.browser.snapshot.places import ElementPlace, find_entry_around, find_places, find_text_before

if TYPE_CHECKING:
    from playwright.async_api import Frame

__all__ = [
    "ElementIdentity",
    "FrameView",
    "PageView",
    "RefCounter",
    "RefMeaning",
    "RemovedRef",
    "SnapshotText",
    "identity_of",
]

MAX_REFS_PER_PASS = 100_000
"""An upper limit of the number of refs that the snapshot script creates in one pass."""
MAX_LOST_PASSES = 50
"""The number of passes without a reply that are stored."""
MAX_REMOVED_REFS = 5_000
"""The number of refs of removed elements that can still be resolved to a successor."""
MAX_SHOWN_PAGES = 5
MAX_SHOWN_NODES = 3_000
"""The number and the size of the pages with which later pages are compared."""


class RefCounter:
    """Counts the refs of a session, so that a ref of one page is invalid in all other pages."""

    def __init__(self) -> None:
        self.next = 1
        self._passes = 0
        self._lost: list[int] = []
        self._lock = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def reserve(self) -> AsyncGenerator[dict[str, Any]]:
        """Yield the fields of a request that determine the next refs, for one pass at a time.

        A pass whose reply is lost may nevertheless have created refs. The next request makes the document
        drop them, so that their numbers can be reused.
        """
        async with self._lock:
            self._passes += 1
            number = self._passes
            try:
                yield {"next": self.next, "pass": number, **({"lost": self._lost} if self._lost else {})}
            except BaseException:
                self._lost.append(number)
                if len(self._lost) > MAX_LOST_PASSES:  # The refs of the oldest pass can no longer be reused.
                    self.next += MAX_REFS_PER_PASS
                    del self._lost[0]
                raise


class ElementIdentity(NamedTuple):
    """The properties that identify an element for a reader."""

    testid: str
    role: str
    name: str

    @property
    def is_distinctive(self) -> bool:
        return bool(self.testid or self.name)


def identity_of(node: Node) -> ElementIdentity:
    return ElementIdentity(node.testid, node.role, node.known_name)


def meanings(nodes: Iterable[Node], all_nodes: Sequence[Node]) -> dict[str, RefMeaning]:
    """Return the meaning of each ref of `nodes` for a caller who was shown them.

    The text before a node is used only outside entries and if others are like it.
    """
    where = find_places(all_nodes)
    counts = Counter(identity_of(node) for node in all_nodes)
    found: dict[str, RefMeaning] = {}
    for node in nodes:
        if node.ref:
            known, place = identity_of(node), where[node.ref]
            found[node.ref] = RefMeaning(known, place.entry or (place.after if counts[known] > 1 else ""))
    return found


def meaning_of(ref: str, nodes: Sequence[Node]) -> RefMeaning | None:
    """Return what `meanings` says of one ref, in less time, or None if it is not among these nodes."""
    index = next((at for at, node in enumerate(nodes) if node.ref == ref), None)
    if index is None:
        return None
    known = identity_of(nodes[index])
    entry = find_entry_around(nodes, index)
    if not entry and sum(_has_identity(node, known) for node in nodes) > 1:
        entry = find_text_before(nodes, index)
    return RefMeaning(known, entry)


def _has_identity(node: Node, identity: ElementIdentity) -> bool:
    return node.role == identity.role and identity_of(node) == identity


class RefMeaning(NamedTuple):
    """The meaning of a ref for a caller: the identity of the element, and the entry around it if known."""

    identity: ElementIdentity
    entry: str


@dataclass(frozen=True, slots=True)
class RemovedRef:
    """The last meaning of a ref whose element is gone, with its frame, URL and place.

    `unique` means that no other element on the page was like it. `before` is the number of the first ref that
    was created later. `with_document` means that its whole document is gone.
    """

    node: Node
    frame: Frame
    url: str
    place: ElementPlace
    unique: bool
    before: int
    with_document: bool


@dataclass(slots=True)
class FrameView:
    """The last pass over a frame, and its child frames by the refs of their elements.

    `document` is the number of its document, which no other document of the page has.
    """

    depth: int = 0
    document: int = 0
    generation: str | int = 0
    url: str = ""
    nodes: Sequence[Node] = ()
    children: dict[str, Frame] = field(default_factory=dict[str, "Frame"])

    def take(self, reply: dict[str, Any], nodes: Sequence[Node], depth: int) -> None:
        """Store a reply of the snapshot script and the nodes that were made of it."""
        self.generation, self.depth, self.nodes = reply["gen"], depth, nodes
        self.url = str(reply["url"]).partition("#")[0]


@dataclass(frozen=True, slots=True)
class SnapshotText:
    """An answer with the text of a page, and what it was made of."""

    snapshot: Snapshot
    before: Snapshot | None
    options: Sequence[object]
    answer: Mapping[str, object]

    def is_text_of(self, snapshot: Snapshot, before: Snapshot | None, options: Sequence[object]) -> bool:
        """Return whether the answer is also right for another snapshot of the unchanged page."""
        return (
            self.options == options
            and are_same(self.snapshot.nodes, snapshot.nodes)
            and are_same(self.before.nodes if self.before else (), before.nodes if before else ())
        )


class PageView:
    """The view of one page.

    `last_reported` is the last snapshot that its callers were shown, and `last_text` the last text that was
    written of a whole page. `shown` are the last pages that the
    callers have seen completely, by URL and whether a modal dialog covered them, newest last. `healed` maps
    refs to their successors, and `stable_selectors` maps used selectors with refs to selectors for another
    run.
    """

    def __init__(self, numbers: RefCounter) -> None:
        self.numbers = numbers
        self.documents = 0
        """The number of documents that were read in the frames of the page."""
        self.last_reported: Snapshot | None = None
        self.last_text: SnapshotText | None = None
        self.named_origin: str | None = None
        """The origin that the last answer with a text of the page has named."""
        self.named_url: str | None = None
        """The URL that the last answer of an action in the page has named."""
        self.healed: dict[str, str] = {}
        self.shown: OrderedDict[tuple[str, bool], Snapshot] = OrderedDict()
        self._successors: OrderedDict[str, str] = OrderedDict()
        self.stable_selectors: dict[str, str] = {}
        self.wants_portable = False
        """Playwright without this server must find the same elements by `stable_selectors`."""
        self.frames: dict[Frame, FrameView] = {}
        self._seen: dict[str, tuple[Node, Frame]] = {}
        self._removed: OrderedDict[str, RemovedRef] = OrderedDict()
        self._later_meanings: dict[str, RefMeaning] = {}
        """The meanings of the refs that callers were shown after `last_reported`."""
        self._later_than: Snapshot | None = None
        self._nodes: Sequence[Node] = ()
        self._frame: Frame | None = None
        """The frame of the last snapshot, if it has only one."""
        self._documents: dict[Frame, tuple[str, int]] = {}
        """The URL and the number of the document in each frame at the time of the last snapshot."""

    def find_meaning(self, ref: str) -> RefMeaning | None:
        """Return the meaning of the ref that a caller received last, or None."""
        reported = self.last_reported
        return self._get_later_meanings().get(ref) or (meaning_of(ref, reported.nodes) if reported else None)

    def note_reported(self, nodes: Iterable[Node], *, of: Sequence[Node]) -> None:
        """Record that a caller was shown `nodes`, a part of all nodes `of` the page."""
        self._get_later_meanings().update(meanings(nodes, of))

    def _get_later_meanings(self) -> dict[str, RefMeaning]:
        """Return the meanings that were recorded since `last_reported`, and drop those of an earlier one."""
        if self.last_reported is not self._later_than:
            self._later_than, self._later_meanings = self.last_reported, {}
        return self._later_meanings

    def note_shown(self, snapshot: Snapshot) -> None:
        """Record that the callers have seen the whole page, or the whole dialog that covers it."""
        address = snapshot.url.partition("#")[0].partition("?")[0], snapshot.is_modal
        self.shown.pop(address, None)
        if len(snapshot.nodes) <= MAX_SHOWN_NODES:
            self.shown[address] = snapshot
            if len(self.shown) > MAX_SHOWN_PAGES:
                self.shown.popitem(last=False)

    def note_successors(self, successors: Mapping[str, str]) -> None:
        """Record the elements for which callers may still use the refs of an earlier page."""
        self._successors.update(successors)
        while len(self._successors) > MAX_REMOVED_REFS:
            self._successors.popitem(last=False)

    def follow(self, ref: str) -> str:
        """Return the ref itself, or the ref of the element that was reported to have replaced it."""
        passed = {ref}
        while ref not in self._seen and (following := self._successors.get(ref)) and following not in passed:
            ref = following
            passed.add(ref)
        return ref

    def find_seen(self, ref: str) -> tuple[Node, Frame] | None:
        """Return the node and frame of the ref in the last snapshot, or None."""
        return self._seen.get(ref)

    def find_frame_ref(self, frame: Frame) -> str | None:
        """Return the ref of the `iframe` element around a frame, or None for the main frame."""
        inside = ((ref, child) for view in self.frames.values() for ref, child in view.children.items())
        return next((ref for ref, child in inside if child is frame), None)

    def find_removed(self, ref: str) -> RemovedRef | None:
        return self._removed.get(ref)

    async def record_snapshot(self, snapshot: Snapshot) -> None:
        """Record a whole snapshot. Refs that it does not contain are gone."""
        frames = dict(self.frames)
        if snapshot.nodes is not self._nodes:
            frame = next(iter(frames)) if len(frames) == 1 else None
            now = self._update(frame, snapshot.nodes) if frame is not None and frame is self._frame else None
            removed: dict[str, RemovedRef] = {}
            if now is None:
                about = len(snapshot.nodes) + len(self._seen)
                now, removed = await offload(about, lambda: self._compare(frames))
            self._frame = frame
            for ref, each in removed.items():
                self._remember_removed(ref, each)
            for ref in now.keys() & self._removed.keys():  # The element was removed and put back.
                del self._removed[ref]
            self._nodes, self._seen = snapshot.nodes, now
        self._documents = {frame: (each.url, each.document) for frame, each in frames.items()}
        self._before = self.numbers.next

    def _update(self, frame: Frame, nodes: Sequence[Node]) -> dict[str, tuple[Node, Frame]] | None:
        """Return all current refs of a page with one frame, or None if some may be gone."""
        start, end_before, end = find_changed_range(self._nodes, nodes) or (0, 0, 0)
        now = {node.ref: (node, frame) for node in nodes[start:end] if node.ref}
        is_gone = any(node.ref and node.ref not in now for node in self._nodes[start:end_before])
        return None if is_gone else {**self._seen, **now}

    def _compare(
        self, frames: Mapping[Frame, FrameView]
    ) -> tuple[dict[str, tuple[Node, Frame]], dict[str, RemovedRef]]:
        """Return all current refs, and the last meanings of those that are gone."""
        now = {node.ref: (node, frame) for frame, each in frames.items() for node in each.nodes if node.ref}
        missing = [ref for ref in self._seen if ref not in now][-MAX_REMOVED_REFS:]
        if not missing:
            return now, {}
        counts = Counter(identity_of(node) for node, _ in self._seen.values())
        where = find_places(self._nodes)
        removed: dict[str, RemovedRef] = {}
        for ref in missing:
            node, frame = self._seen[ref]
            url, document = self._documents.get(frame, ("", 0))
            removed[ref] = RemovedRef(
                node,
                frame,
                url,
                where[ref],
                unique=counts[identity_of(node)] == 1,
                before=self._before,
                with_document=frame not in frames or frames[frame].document != document,
            )
        return now, removed

    _before = 1
    """The number of the next ref at the time of the last snapshot."""

    def _remember_removed(self, ref: str, removed: RemovedRef) -> None:
        self._removed[ref] = removed
        self._removed.move_to_end(ref)
        if len(self._removed) > MAX_REMOVED_REFS:
            self._removed.popitem(last=False)

    def begin_locating(self, *, portable: bool) -> None:
        """Discard the selectors of an earlier failed call, and note what those of this one are for."""
        self.stable_selectors, self.wants_portable = {}, portable

    def take_located(self) -> str | dict[str, str] | None:
        """Return and clear the stable selector, or a map from used to stable ones if there are several."""
        stable_selectors, self.stable_selectors = self.stable_selectors, {}
        return stable_selectors if len(stable_selectors) > 1 else next(iter(stable_selectors.values()), None)

    def take_healed(self) -> dict[str, str]:
        healed, self.healed = self.healed, {}
        return healed
