"""What a page draws anew says nothing, and refs lead to what took the place of their elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given

from footlight.browser.snapshot.difference import compute_difference
from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.observation import render_difference
from tests.browser.trees import patient, trees


def todo(*entries: str, first: int = 1) -> list[Node]:
    """Return a list whose entries have a checkbox and a button; `Milk*` is ticked."""
    nodes = [Node(0, "main", "", f"e{first}"), Node(1, "list", "", f"e{first + 1}")]
    for number, entry in enumerate(entries):
        ref = first + 10 * (number + 1)
        states = ("checked",) if entry.endswith("*") else ()
        nodes += [
            Node(2, "listitem", "", f"e{ref}"),
            Node(3, "checkbox", entry.rstrip("*"), f"e{ref + 1}", states=states),
            Node(3, "button", "Delete", f"e{ref + 2}"),
        ]
    return nodes


def board(marks: str, *, first: int = 1) -> list[Node]:
    return [Node(0, "button", mark.strip(), f"e{first + number}") for number, mark in enumerate(marks)]


def chat(*said: str, first: int = 1) -> list[Node]:
    """Return a title that counts the messages, and each message with a button."""
    nodes = [Node(0, "heading", f"{len(said)} messages", f"e{first}")]
    for number, words in enumerate(said, first + 1):
        nodes += [Node(0, "text", words), Node(0, "button", "Reply", f"e{number}")]
    return nodes


MESSAGE = [Node(0, "alert", "Wrong password", "e1"), Node(0, "button", "Log in", "e2")]


def drawn_anew(nodes: Sequence[Node]) -> list[Node]:
    return [replace(node, ref=f"e9{node.ref[1:]}" if node.ref else None) for node in nodes]


@pytest.mark.parametrize(
    ("before", "after", "lines", "successors"),
    [
        pytest.param(
            todo("Milk", "Tea"),
            todo("Milk", "Tea", first=101),
            [],
            {"e11": "e111", "e12": "e112", "e13": "e113", "e23": "e123"},
            id="the same list",
        ),
        pytest.param(
            todo("Milk", "Tea", "Rice"),
            todo("Milk", "Tea*", "Rice", first=101),
            ["  e121 listitem", '~  e122 checkbox "Tea" checked (now checked)'],
            {"e13": "e113", "e22": "e122", "e23": "e123"},
            id="one entry has another state",
        ),
        pytest.param(
            todo("Milk", "Tea", "Rice"),
            todo("Milk", "Rice", first=101),
            ["  e102 list", '-  e21 listitem "Tea Delete" (2 inside)'],
            {"e13": "e113", "e33": "e123", "e23": None},
            id="one entry is gone",
        ),
        pytest.param(
            todo("Milk", "Tea"),
            todo("Tea", "Milk", first=101),
            ["  e102 list", "~  e111 listitem (moved)"],
            {"e13": "e123", "e23": "e113"},
            id="another order",
        ),
        pytest.param(
            board("    x    "),
            board("   ox    ", first=101),
            ["- e4 button", '+ e104 button "o"'],
            {"e3": "e103", "e4": None, "e5": "e105", "e6": "e106"},
            id="equal elements are known by their places",
        ),
        pytest.param(
            board("    "),
            board("   ", first=101),
            [
                *(f"- e{number} button" for number in range(1, 5)),
                *(f"+ e10{number} button" for number in (1, 2, 3)),
            ],
            {"e1": None, "e4": None},
            id="which of equal elements is gone is not known",
        ),
        pytest.param(
            chat("Hi", "Hello"),
            chat("Hi", "Hello", "Bye", first=101),
            ['~ e101 heading "3 messages" (name was "2 messages")', '+ "Bye"', '+ e104 button "Reply"'],
            {"e1": "e101", "e2": "e102", "e3": "e103"},
            id="equal elements are known by the text before them",
        ),
        pytest.param(
            MESSAGE,
            drawn_anew(MESSAGE),
            ['- e1 alert "Wrong password"', '+ e91 alert "Wrong password"'],
            {"e1": None, "e2": "e92"},
            id="a message that comes again is news",
        ),
    ],
)
def test_of_what_is_drawn_anew_only_the_changes_are_reported(
    before: Sequence[Node], after: Sequence[Node], lines: Sequence[str], successors: dict[str, str | None]
) -> None:
    found = compute_difference(before, after, redrawn=True)

    assert found
    assert render_difference(found) == lines
    assert {ref: found.successors.get(ref) for ref in successors} == successors


@patient
@given(trees())
def test_a_page_that_is_drawn_anew_whole_says_only_its_messages(nodes: list[Node]) -> None:
    found = compute_difference(nodes, drawn_anew(nodes), redrawn=True)

    changes = found.changes if found else ()
    assert not changes or {"dialog", "iframe"} & {node.role for node in nodes}
