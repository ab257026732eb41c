"""What a page draws anew says nothing, and refs lead to what took the place of their elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.browser.snapshot.difference import compute_difference
from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.observation import render_difference
from footlight.browser.snapshot.subtrees import number_subtrees, words_of
from footlight.browser.snapshot.text.compact import compact_lines
from footlight.browser.snapshot.text.rendering import make_lines
from tests.browser.trees import looks, patient, trees


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


def flat(words: str) -> list[Node]:
    """Return elements written as `role name`; `*` is ticked, and behind `=` is the value."""
    nodes: list[Node] = []
    for number, each in enumerate(words.split(", "), 1):
        role, _, name = each.partition(" ")
        name, is_field, value = name.partition("=")
        states = ("checked",) if name.endswith("*") else ()
        ref = None if role == "text" else f"e{number}"
        nodes.append(Node(0, role, name.rstrip("*"), ref, states=states, value=value if is_field else None))
    return nodes


def table(*names: str, role: str = "table") -> list[Node]:
    """Return numbered rows with a button. The rows of a grid have names."""
    nodes = [Node(0, role, "", "e1")]
    for number, name in enumerate(names, 1):
        row = f"{number} {name} Delete" if role == "grid" else ""
        nodes += [
            Node(1, "row", row, f"e{number}0"),
            Node(2, "cell", str(number), f"e{number}1"),
            Node(2, "cell", name, f"e{number}2"),
            Node(2, "button", "Delete", f"e{number}3"),
        ]
    return nodes


def frame(name: str) -> list[Node]:
    """Return a frame in which the ref of the button is in an element without one."""
    button = Node(2, "button", "Pay", f"e{len(name)}")
    return [Node(0, "iframe", "", "e1", is_frame=True), Node(1, "paragraph", ""), button]


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
            ["  e102 list", '~  e111 listitem "Tea Delete" (moved)'],
            {"e13": "e123", "e23": "e113"},
            id="another order",
        ),
        pytest.param(
            board("    x    "),
            board("   ox    ", first=101),
            ["- e4 button", '+ e104 button "o"'],
            {"e3": None, "e4": None, "e5": "e105", "e6": None},
            id="equal elements are uncertain where others changed",
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
            {"e1": None, "e2": None, "e3": None},
            id="equal elements are uncertain where others are new",
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
    found = compute_difference(before, after, match_redrawn=True)

    assert found
    assert render_difference(found) == lines
    assert {ref: found.successors.get(ref) for ref in successors} == successors


@pytest.mark.parametrize(
    ("before", "after", "certain"),
    [
        pytest.param(chat("Hi", "Hello"), chat("Hello", "Bye"), ["e1"], id="messages that moved up"),
        pytest.param(
            flat("link Milk, button Add, link Tea, button Add"),
            flat("link Tea, button Add, link Milk, button Add"),
            ["e1", "e3"],
            id="cards in another order",
        ),
        pytest.param(
            flat("heading Milk, button Add, heading Tea, button Add"),
            flat("heading Rice, button Add, heading Salt, button Add"),
            [],
            id="the next page of cards",
        ),
        pytest.param(
            flat("text Milk, button Edit, button Delete, text Tea, button Edit, button Delete"),
            flat("text Rice, button Edit, button Delete, text Milk, button Edit, button Delete"),
            [],
            id="two buttons after a text",
        ),
        pytest.param(
            flat("button x, text Milk, button x, text Tea"),
            flat("button x, text Tea, button x, text Rice"),
            [],
            id="buttons before their texts",
        ),
        pytest.param(table("Milk", "Tea"), table("Tea", "Milk"), [], id="the rows have numbers"),
        pytest.param(table("Milk"), table("Tea"), [], id="the only row has a number"),
        pytest.param(
            table("Milk", "Tea", role="grid"), table("Tea", "Milk", role="grid"), [], id="rows of a grid"
        ),
        pytest.param(
            flat("checkbox *, checkbox , checkbox "),
            flat("checkbox , checkbox *, checkbox "),
            [],
            id="other checkboxes are ticked",
        ),
        pytest.param(
            flat("checkbox , checkbox , button Save"),
            flat("checkbox *, checkbox , button Save"),
            ["e1", "e2", "e3"],
            id="a checkbox was ticked",
        ),
        pytest.param(
            flat("textbox =Milk, button x, textbox =Tea, button x"),
            flat("textbox =Tea, button x, textbox =Milk, button x"),
            [],
            id="the values changed places",
        ),
        pytest.param(
            flat("textbox =Milk, button x, textbox =Tea, button x"),
            flat("textbox =Rice, button x, textbox =Tea, button x"),
            ["e1", "e2", "e3", "e4"],
            id="a field was filled",
        ),
    ],
)
def test_a_ref_leads_only_to_what_a_reader_cannot_confuse(
    before: Sequence[Node], after: Sequence[Node], certain: Sequence[str]
) -> None:
    found = compute_difference(before, drawn_anew(after), match_redrawn=True)

    assert sorted(found.successors if found else ()) == certain


def test_another_document_in_a_frame_is_not_drawn_anew() -> None:
    found = compute_difference(frame("one"), frame("other"), match_redrawn=True)

    assert found
    assert found.successors == {}
    assert [change.kind for change in found.changes if change.node.role == "button"] == ["removed", "added"]


@patient
@given(trees())
def test_a_page_that_is_drawn_anew_whole_says_only_its_messages(nodes: list[Node]) -> None:
    found = compute_difference(nodes, drawn_anew(nodes), match_redrawn=True)

    changes = found.changes if found else ()
    assert not changes or {"dialog", "iframe"} & {node.role for node in nodes}


@patient
@given(looks(), st.integers(0, 9))
def test_refs_lead_only_to_elements_with_the_same_words(
    pages: tuple[list[Node], list[Node]], start: int
) -> None:
    before, after = pages[0], [*pages[1][:start], *drawn_anew(pages[1][start:])]

    found = compute_difference(before, after, match_redrawn=True)

    successors = found.successors.items() if found else ()
    numbers: dict[tuple[object, ...], int] = {}
    was, now = (number_subtrees(nodes, numbers, content=words_of) for nodes in (before, after))
    old_words = {node.ref: each for node, each in zip(before, was, strict=True)}
    new_words = {node.ref: each for node, each in zip(after, now, strict=True)}
    assert [old_words[old] for old, _ in successors] == [new_words[new] for _, new in successors]
    assert len({new for _, new in successors}) == len(successors)


def calendar(month: str, first: int, days: int, ref: int) -> list[Node]:
    """Return the weeks of a month as rows. `first` is the number of days before the first of the month."""
    nodes = [Node(0, "table", "", f"e{ref}"), Node(1, "row", "", f"e{ref + 1}")]
    nodes += [Node(2, "columnheader", day, f"e{ref + 2 + at}") for at, day in enumerate("SMTWRFA")]
    for at in range(42):
        day, here = at - first + 1, ref + 10 + 3 * at
        if at % 7 == 0:
            nodes.append(Node(1, "row", "", f"e{here}"))
        nodes.append(Node(2, "cell", "", f"e{here + 1}"))
        if 0 < day <= days:
            name = f"Choose {'SMTWRFA'[at % 7]}, {month} {day}"
            nodes.append(Node(3, "button", name, f"e{here + 2}", text=str(day)))
    return nodes


def test_another_month_is_reported_as_its_weeks() -> None:
    """No week counts as an earlier one that also begins with 1, and a date is written once for its month."""
    table, *december = calendar("December", 2, 31, 201)

    found = compute_difference(
        calendar("November", 0, 30, 1), [replace(table, ref="e1"), *december], match_redrawn=True
    )

    assert found
    lines = render_difference(found)
    assert lines[0] == "  e1 table"
    added = [line for line in lines if line.startswith("+")]
    assert added[0] == (
        '+  row: "" | "" | e219 button "Choose T, December 1" | e222 button "Choose W, December 2"'
        ' | e225 button "Choose R, December 3" | e228 button "Choose F, December 4"'
        ' | e231 button "Choose A, December 5"'
    )
    assert added[2].startswith('+  row of buttons: e255: "13" | e258: "14" | e261: "15" | e264: "16" | ')


def test_days_below_the_names_of_their_weekdays_are_written_as_numbers() -> None:
    week = compact_lines(make_lines(calendar("November", 0, 30, 1)))[2].render()

    assert week.startswith(' row of buttons: e13 "Choose S, November 1" | e16: "2" | e19: "3" | e22: "4"')
