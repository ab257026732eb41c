"""The changes between two observations of a page."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from footlight.browser.snapshot.difference import NodeChange, SnapshotDifference, compute_difference
from footlight.browser.snapshot.nodes import Node, Snapshot
from footlight.browser.snapshot.observation import Observation, find_change, observe, render_difference
from footlight.browser.snapshot.text.compact import compact_lines
from footlight.browser.snapshot.text.rendering import make_lines, render_text
from tests.browser.trees import looks, patient, trees

FORM = (
    Node(0, "main", "", "e1"),
    Node(1, "form", "Account", "e2"),
    Node(2, "textbox", "Name", "e3", states=("focused",)),
    Node(2, "textbox", "Mail", "e4"),
    Node(2, "generic", "", "e5"),
    Node(3, "text", "0 of 3 done"),
    Node(2, "button", "Save", "e6", states=("disabled",)),
    Node(1, "list", "People", "e7"),
    Node(2, "listitem", "", "e8"),
    Node(3, "link", "Ada", "e9"),
    Node(2, "listitem", "", "e10"),
    Node(3, "link", "Bob", "e11"),
    Node(2, "listitem", "", "e12"),
    Node(3, "link", "Cyd", "e13"),
)


def describe_difference(before: Sequence[Node], after: Sequence[Node]) -> list[str]:
    found = compute_difference(before, after)
    return [] if found is None else render_difference(found)


def edit_form(**nodes: Node | None) -> list[Node]:
    """Return the form with these nodes in place of those. None removes one."""
    return [new for node in FORM if (new := nodes.get(node.ref or "", node)) is not None]


def snapshot(nodes: Sequence[Node]) -> Snapshot:
    return Snapshot("https://example.org/", "Example", nodes)


def test_changed_form_fields_are_reported_with_old_values() -> None:
    after = edit_form(
        e3=replace(FORM[2], value="Ada", states=()),
        e4=replace(FORM[3], states=("invalid", "focused"), description="Is needed"),
        e6=replace(FORM[6], states=()),
    )
    after[5] = Node(3, "text", "1 of 3 done")

    assert describe_difference(FORM, after) == [
        '  e2 form "Account"',
        '~  e3 textbox "Name": Ada (was "")',
        '~  e4 textbox "Mail" invalid focused description "Is needed" (now invalid, description was "")',
        '~  "1 of 3 done" (was "0 of 3 done")',
        '~  e6 button "Save" (no longer disabled)',
    ]


def test_the_new_focus_is_reported() -> None:
    lost = edit_form(e3=replace(FORM[2], states=()))
    went = edit_form(e3=replace(FORM[2], states=()), e4=replace(FORM[3], states=("focused",)))

    assert describe_difference(FORM, lost) == [
        '  e2 form "Account"',
        '~  e3 textbox "Name" (no longer focused)',
    ]
    assert describe_difference(FORM, went) == ['  e2 form "Account"', '~  e4 textbox "Mail" focused']


def test_added_nodes_have_refs_and_removed_ones_a_single_line() -> None:
    dialog = [
        Node(0, "dialog", "Really?", "e20", states=("modal",)),
        Node(1, "text", "Bob will be gone."),
        Node(1, "button", "Yes", "e21"),
    ]
    after = [*edit_form(e10=None, e11=None), *dialog]

    assert describe_difference(FORM, after) == [
        '  e7 list "People"',
        '-  e10 listitem "Bob" (1 inside)',
        '+ e20 dialog "Really?" modal',
        '+  "Bob will be gone."',
        '+  e21 button "Yes"',
    ]


def test_added_or_removed_wrapper_does_not_report_its_content() -> None:
    wrapped = [
        *FORM[:8],
        Node(2, "group", "Staff", "e20"),
        *(replace(node, depth=node.depth + 1) for node in FORM[8:]),
    ]

    assert describe_difference(FORM, wrapped) == [
        '  e7 list "People"',
        '+  e20 group "Staff"',
        "    e8 listitem",
        "    e10 listitem",
        "    e12 listitem",
    ]
    assert describe_difference(wrapped, FORM) == ['  e7 list "People"', '-  e20 group "Staff"']


def test_only_reordered_siblings_are_reported_as_moved() -> None:
    sorted_otherwise = [*FORM[:8], *FORM[12:], *FORM[8:12]]
    elsewhere = [*FORM[:4], *(FORM[8:10]), *FORM[4:8], *FORM[10:]]

    assert describe_difference(FORM, sorted_otherwise) == [
        '  e7 list "People"',
        '~  e12 listitem "Cyd" (moved)',
    ]
    assert describe_difference(FORM, elsewhere) == ['  e2 form "Account"', '~  e8 listitem "Ada" (moved)']


def test_long_runs_are_folded() -> None:
    many = [Node(2, "option", f"Town {number}", f"e{number}") for number in range(100, 160)]

    assert describe_difference(FORM, [*FORM, *many]) == [
        '  e7 list "People"',
        *(f'+  e{number} option "Town {number}"' for number in range(100, 105)),
        "+  … 54 more options e105–e158",
        '+  e159 option "Town 159"',
    ]
    first = " | ".join([f'"Town {number}"' for number in range(100, 120)])
    assert describe_difference([*FORM, *many], FORM) == [
        '  e7 list "People"',
        f"-  60 options: {first} | … 40 more",
    ]


def test_entry_that_gets_into_the_next_list_is_reported_as_moved() -> None:
    todo, tea, milk, done, rice = (
        Node(0, "list", "To do", "e1"),
        Node(1, "listitem", "Tea", "e2"),
        Node(1, "listitem", "Milk", "e3"),
        Node(0, "list", "Done", "e4"),
        Node(1, "listitem", "Rice", "e5"),
    )

    assert describe_difference([todo, tea, milk, done, rice], [todo, tea, done, milk, rice]) == [
        '  e4 list "Done"',
        '~  e3 listitem "Milk" (moved)',
    ]


def test_removed_elements_without_words_keep_their_own_lines() -> None:
    buttons = [Node(2, "button", name, f"e{100 + at}") for at, name in enumerate(("", "", "", "A", "B"))]

    assert describe_difference([*FORM, *buttons], FORM)[1:] == [
        *(f"-  e{number} button" for number in (100, 101, 102)),
        *('-  e103 button "A"', '-  e104 button "B"'),
    ]


def test_scrolling_log_reports_its_first_and_last_line() -> None:
    log = [Node(0, "log", "", "e1"), *(Node(1, "text", f"line {number}") for number in range(9))]

    assert describe_difference(log, [log[0], *log[2:], Node(1, "text", "line 9")]) == [
        "  e1 log",
        '-  "line 0"',
        '+  "line 9"',
    ]


@pytest.mark.parametrize("role", ["text", "listitem"])
def test_difference_of_a_log_has_its_last_messages(role: str) -> None:
    """The first of other lists, such as results, matter more. Messages may have content."""
    messages = [Node(2, role, f"message {number}") for number in range(30)]
    messages = [each for message in messages for each in (message, Node(3, "button", "Like", "e9"))]
    messages = messages[::2] if role == "text" else messages
    log = [Node(0, "log", "", "e1"), Node(1, "list", "", "e2")]

    said = describe_difference(log, [*log, *messages])

    shown = [line.split('"')[1] for line in said if "message" in line]
    assert (said[0], said[1].startswith(f"+  … 24 more {role}s")) == ("  e1 log", True)
    assert shown == [f"message {number}" for number in range(24, 30)]


def test_long_difference_keeps_messages_changes_and_the_end_of_a_log() -> None:
    total = Node(0, "paragraph", "", text="12 messages")
    log, status = Node(0, "log", "", "e1"), Node(0, "status", "", "e99")
    same = [Node(0, "heading", f"An older heading of the page {at}", f"e{at}") for at in range(100, 180)]
    said = [[Node(1, "text", f"Message {at}"), Node(1, "button", "Reply", f"e{at}")] for at in range(12, 42)]
    after = [
        *same,
        log,
        *itertools.chain(*said),
        *(Node(0, "button", f"New {at}", f"e{at}") for at in range(50, 61)),
        replace(total, text="42 messages"),
        replace(status, text="Sent"),
    ]

    text = observe(
        snapshot([*same, log, total, status]), snapshot(after), mode="diff", budget=220, link=lambda _: None
    ).text

    assert text.splitlines()[0] == "  e1 log"
    assert '+  "Message 41"' in text
    assert text.splitlines()[-3:-1] == [
        '~ paragraph: 42 messages (text was "12 messages")',
        '~ e99 status: Sent (text was "")',
    ]


def test_unchanged_page_is_same_regardless_of_test_ids() -> None:
    same = [replace(node, testid="x") for node in FORM]

    assert observe_change(FORM, FORM) == observe_change(FORM, same) == Observation("same")


def test_refs_of_elements_drawn_anew_are_followed_only_at_the_same_url() -> None:
    again = [replace(node, ref=f"e9{node.ref[1:]}" if node.ref else None) for node in FORM]
    there = replace(snapshot(again), url="https://example.org/2")

    assert observe_change(FORM, again).successors["e9"] == "e99"
    elsewhere = observe(snapshot(FORM), there, mode="diff", budget=8_000, link=lambda _: None)
    assert elsewhere == Observation("same")


def test_a_message_that_comes_again_is_a_change() -> None:
    before = [Node(0, "alert", "Wrong password", "e1"), Node(0, "button", "Log in", "e2")]
    again = [replace(before[0], ref="e3"), replace(before[1], ref="e4")]

    assert find_change(before, again, successors={"e2": "e4"}) == "some"
    assert find_change(before[1:], again[1:], successors={"e2": "e4"}) == "focus"
    assert find_change(before, again, successors={}, is_replaced=True) == "focus"


def observe_change(
    before: Sequence[Node] | None, after: Sequence[Node], *, budget: int = 8_000, document: int = 0
) -> Observation:
    look = None if before is None else snapshot(before)
    seen = replace(snapshot(after), document=document)
    return observe(look, seen, mode="diff", budget=budget, link=lambda _: None)


def test_full_snapshot_is_sent_first_or_for_a_new_document() -> None:
    other = [replace(node, ref=f"e{number}") for number, node in enumerate(FORM, 50)]
    asked = observe(snapshot(FORM), snapshot(FORM), mode="full", budget=8_000, link=lambda _: None)

    whole = Observation("full", "\n".join(render_compact(FORM)), cut=False, lines=8)
    assert observe_change(None, FORM) == asked == whole
    text = "\n".join(render_compact(other))
    assert observe_change(FORM, other, document=1) == Observation("full", text, cut=False, lines=8)


def render_compact(nodes: Sequence[Node]) -> list[str]:
    return [line.render() for line in compact_lines(make_lines(nodes))]


def test_full_snapshot_is_sent_when_shorter_than_the_diff() -> None:
    after = [FORM[0], Node(1, "text", "Done")]
    before = [Node(0, "list", "All of them", f"e{number}", states=(str(number),)) for number in range(20, 50)]

    assert observe_change([FORM[0], *before], after) == Observation("full", render_text(after), lines=2)


def test_long_diff_is_truncated_and_linked_in_full() -> None:
    kept: list[str] = []
    new = [Node(2, "listitem", "", f"e{number}", states=("focused",)) for number in range(20, 60)]
    page = [*FORM, *(Node(0, "paragraph", "Words that make the page long", f"e{n}") for n in range(100, 200))]

    def link(text: str) -> str:
        kept.append(text)
        return "page://1"

    found = observe(snapshot(page), snapshot([*FORM, *new, *page[14:]]), mode="diff", budget=110, link=link)

    assert found == Observation(
        "diff",
        '  e7 list "People"\n+  e20 listitem focused\n… cut: 2 of 41 lines shown; the whole: page://1',
        cut=True,
        lines=41,
    )
    assert [len(text.splitlines()) for text in kept] == [41]


@patient
@given(looks())
def test_every_added_or_removed_ref_is_accounted_for(pages: tuple[list[Node], list[Node]]) -> None:
    before, after = pages
    changes = (compute_difference(before, after) or SnapshotDifference(())).changes
    stayed = {node.ref for node in before if node.ref} & {node.ref for node in after}

    added = [change.node.ref for change in changes if change.kind == "added" and change.node.ref]
    assert added == [node.ref for node in after if node.ref and node.ref not in stayed]
    assert sorted(list_removed_refs(before, changes, stayed)) == sorted(
        node.ref for node in before if node.ref and node.ref not in stayed
    )


def list_removed_refs(before: Sequence[Node], changes: Sequence[NodeChange], stayed: set[str]) -> list[str]:
    """Return the refs of what was removed and of what was in it."""
    removed = [change.node for change in changes if change.kind == "removed"]
    return list(
        {
            node.ref
            for top in removed
            for node in (_subtree(before, top.ref) if top.ref else _inside(before, top))
            if node.ref and node.ref not in stayed
        }
    )


def _subtree(nodes: Sequence[Node], ref: str) -> tuple[Node, ...]:
    """Return the node with this ref at depth 0 and all its descendants. Empty if there is none."""
    start = next((index for index, node in enumerate(nodes) if node.ref == ref), None)
    if start is None:
        return ()
    depth = nodes[start].depth
    end = next((i for i in range(start + 1, len(nodes)) if nodes[i].depth <= depth), len(nodes))
    return tuple(replace(node, depth=node.depth - depth) for node in nodes[start:end])


def _inside(before: Sequence[Node], top: Node) -> Sequence[Node]:
    start = next(index for index, node in enumerate(before) if node is top)
    return before[
        start : next((i for i in range(start + 1, len(before)) if before[i].depth <= top.depth), None)
    ]


@patient
@given(looks())
def test_empty_diff_means_equal_pages(pages: tuple[list[Node], list[Node]]) -> None:
    before, after = pages

    if compute_difference(before, after) is None:
        assert render_text(after) == render_text(before)
    assert compute_difference(after, [replace(node) for node in after]) is None


@patient
@given(looks(), st.integers(0, 300))
@example(
    (
        [Node(0, "text", "", "")],
        [Node(0, "generic", "", ""), Node(1, "text", "", ""), Node(0, "text", "", "")],
    ),
    0,
)
def test_observation_never_exceeds_budget_or_page(pages: tuple[list[Node], list[Node]], budget: int) -> None:
    before, after = pages

    assert len(observe_change(before, after, budget=budget).text) <= budget
    assert len(observe_change(before, after, budget=10**9).text) <= len(render_text(after))


@patient
@given(trees())
def test_page_cannot_forge_a_diff_line(nodes: list[Node]) -> None:
    found = compute_difference([], nodes)

    lines = [] if found is None else render_difference(found)

    assert [line for line in lines if len(line.splitlines()) != 1 or line[0] not in "+ "] == []
