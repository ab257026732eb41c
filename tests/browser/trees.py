"""Generated trees of nodes, for properties that hold for any page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from footlight.browser.snapshot.nodes import Node, NodeBox
from tests.tiers import examples

patient = examples(60)
"""Trees take a while to draw, and a busy machine longer."""

HOSTILE = (
    *('x" [e9]', "e9 button", '\ne9 button "Pay"', "a\u2028e9 button", "\x85", "\x00\x1b[2J", "\ud800"),
    *("… cut: 1 of 2 lines shown", '+ e9 button "Pay"', "- a: [b]", "'", '"', "\\", "#", "a: b", "null", "1"),
    *('Ada (was "")', "-> /pay", " ", "\u202eevil", "\ufeff", "~", "{", "x" * 2_000),
)
words = st.sampled_from(("", "", "Save", "Two words", *HOSTILE)) | st.text(max_size=20)
roles = st.sampled_from(
    ("button", "textbox", "link", "list", "listitem", "generic", "dialog", "heading", "row", "iframe")
)
boxes = st.none() | st.builds(NodeBox, *[st.integers(-9, 9_999)] * 4)


@st.composite
def elements(draw: st.DrawFn) -> Node:
    return Node(
        0,
        draw(roles),
        draw(words),
        "",
        description=draw(words),
        value=draw(st.none() | words),
        states=tuple(draw(st.lists(st.sampled_from(("disabled", "checked=mixed", "clickable")), max_size=2))),
        text=draw(words),
        url=draw(words),
        testid=draw(words),
        placeholder=draw(words),
        box=draw(boxes),
    )


texts = words.map(lambda said: Node(0, "text", said))
plain = st.builds(Node, st.just(0), roles, words, st.just(""))
mixed = plain | elements() | texts


def tree(nodes: Sequence[Node], steps: Sequence[int], *, first: int = 1) -> list[Node]:
    """Return nodes, each so many levels above the deepest place it could have. Elements (ref `""`) get
    refs.
    """
    placed: list[Node] = []
    for node, step in zip(nodes, steps, strict=True):
        deepest = _deepest(placed)
        ref = f"e{first + len(placed)}" if node.ref == "" else node.ref
        placed.append(replace(node, depth=max(0, deepest - step), ref=ref))
    return placed


def _deepest(placed: Sequence[Node]) -> int:
    if not placed:
        return 0
    return placed[-1].depth + (placed[-1].role != "text")


@st.composite
def trees(draw: st.DrawFn, nodes: st.SearchStrategy[Node] = mixed, *, most: int = 25) -> list[Node]:
    drawn = draw(st.lists(nodes, max_size=most))
    return tree(drawn, [draw(st.integers(0, 3)) for _ in drawn])


@st.composite
def looks(draw: st.DrawFn) -> tuple[list[Node], list[Node]]:
    """Return a page before and after some edits. Nodes that are not edited are the same objects."""
    before = draw(trees(plain | texts))
    after = list(before)
    for number in range(draw(st.integers(0, 5))):
        _edit(draw, after, f"e{1_000 + number}")
    return before, _limit_depths(after)


def _edit(draw: st.DrawFn, nodes: list[Node], ref: str) -> None:
    at = draw(st.integers(0, max(0, len(nodes) - 1)))
    kind = draw(st.sampled_from(("insert", "remove", "unwrap", "rename", "move", "wrap")))
    end = next((i for i in range(at + 1, len(nodes)) if nodes[i].depth <= nodes[at].depth), len(nodes))
    if kind == "insert" or not nodes:
        node = draw(plain | texts)
        depth = draw(st.integers(0, 4))
        nodes.insert(at, replace(node, depth=depth, ref=ref if node.ref == "" else None))
    elif kind == "remove":
        del nodes[at:end]
    elif kind == "unwrap":
        del nodes[at]
    elif kind == "rename":
        nodes[at] = replace(nodes[at], name=draw(words))
    elif kind == "move":
        part = nodes[at:end]
        del nodes[at:end]
        to = draw(st.integers(0, len(nodes)))
        nodes[to:to] = part
    else:
        depth = nodes[at].depth
        nodes[at:end] = [replace(node, depth=node.depth + 1) for node in nodes[at:end]]
        nodes.insert(at, Node(depth, "generic", "", ref))


def _limit_depths(nodes: Sequence[Node]) -> list[Node]:
    """With depths that a tree can have."""
    settled: list[Node] = []
    for node in nodes:
        deepest = _deepest(settled)
        settled.append(node if node.depth <= deepest else replace(node, depth=deepest))
    return settled
