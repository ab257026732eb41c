"""Narrowing a snapshot to a part, a depth or its controls."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.text.narrowing import keep_interactive, limit_depth
from footlight.browser.snapshot.text.rendering import render_text
from tests.browser.trees import patient, trees

PAGE = (
    Node(0, "banner", "", "e1"),
    Node(1, "navigation", "Main", "e2"),
    Node(2, "list", "", "e3"),
    Node(3, "listitem", "", "e4"),
    Node(4, "link", "Home", "e5", url="/"),
    Node(0, "main", "", "e6"),
    Node(1, "heading", "People", "e7", states=("level=1",)),
    Node(1, "paragraph", "", "e8", text="All who have a key."),
    Node(1, "table", "", "e9"),
    Node(2, "row", "", "e10"),
    Node(3, "cell", "Ada", "e11"),
    Node(3, "cell", "Edit", "e12"),
    Node(4, "button", "Edit", "e13"),
    Node(2, "row", "", "e14"),
    Node(3, "cell", "Bob", "e15"),
    Node(3, "cell", "Edit", "e16"),
    Node(4, "button", "Edit", "e17"),
    Node(1, "generic", "", "e18", states=("clickable",)),
    Node(2, "text", "Invite"),
    Node(2, "img", "", "e19"),
    Node(1, "iframe", "Empty", "e20", is_frame=True),
    Node(1, "iframe", "Chat", "e21", is_frame=True),
    Node(2, "textbox", "Message", "e22"),
    Node(0, "contentinfo", "", "e23"),
    Node(1, "text", "Made by hand"),
)


def test_interactive_filter_keeps_controls_and_their_context() -> None:
    assert render_text(keep_interactive(PAGE)) == "\n".join(
        [
            'e2 navigation "Main"',
            ' e5 link "Home" -> /',
            'e7 h1 "People"',
            "e10 row: Ada",
            ' e13 button "Edit"',
            "e14 row: Bob",
            ' e17 button "Edit"',
            "e18 generic clickable: Invite",
            'e21 iframe "Chat"',
            ' e22 textbox "Message"',
        ]
    )


def test_depth_limit_counts_omitted_nodes() -> None:
    assert render_text(limit_depth(PAGE, 2)) == "\n".join(
        [
            "e1 banner",
            ' e2 navigation "Main" more-inside=3',
            "e6 main",
            ' e7 h1 "People"',
            " e8 paragraph: All who have a key.",
            " e9 table more-inside=8",
            " e18 generic clickable more-inside=2",
            ' e20 iframe "Empty"',
            ' e21 iframe "Chat" more-inside=1',
            "e23 contentinfo",
            ' "Made by hand"',
        ]
    )


@patient
@given(trees())
def test_interactive_filter_keeps_every_control_in_a_valid_tree(nodes: list[Node]) -> None:
    kept = keep_interactive(nodes)

    controls = [node.ref for node in nodes if node.role in ("button", "link", "textbox")]
    assert [node.ref for node in kept if node.role in ("button", "link", "textbox")] == controls
    depths = [-1, *(node.depth for node in kept)]
    assert all(second <= first + 1 for first, second in pairwise(depths))
