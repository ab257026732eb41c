"""Fitting text into a budget."""

from __future__ import annotations

import yaml
from hypothesis import given
from hypothesis import strategies as st

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.text.budget import fit_snapshot
from footlight.browser.snapshot.text.fitting import FittedText, cut_lines, fit
from footlight.browser.snapshot.text.formats import render_yaml
from footlight.browser.snapshot.text.rendering import Line, make_lines, render_text
from tests.browser.trees import patient, trees

OPTIONS = (
    Node(0, "listbox", "Country", "e1"),
    *(Node(1, "option", f"Country {number}", f"e{number}") for number in range(2, 62)),
    Node(0, "button", "Go", "e62"),
)


class Shelf:
    """Keeps texts."""

    def __init__(self, uri: str | None = "page://1") -> None:
        self.kept: list[str] = []
        self._uri = uri

    def __call__(self, text: str) -> str | None:
        self.kept.append(text)
        return self._uri


def test_text_within_the_budget_is_unchanged() -> None:
    shelf, text = Shelf(), render_text(OPTIONS)

    assert fit(make_lines(OPTIONS), len(text), shelf) == FittedText(text, cut=False, lines=62)
    assert shelf.kept == []


def test_a_long_run_is_folded_first() -> None:
    shelf = Shelf()

    assert fit(make_lines(OPTIONS), 400, shelf).text == "\n".join(
        [
            'e1 listbox "Country"',
            *(f' e{number} option "Country {number}"' for number in range(2, 7)),
            " … 54 more options e7–e60",
            ' e61 option "Country 61"',
            'e62 button "Go"',
            "… shortened: 9 of 62 lines shown; the whole: page://1",
        ]
    )
    assert shelf.kept == [render_text(OPTIONS)]


def test_folded_refs_with_gaps_are_not_shown_as_a_range() -> None:
    nodes = [Node(0, "option", "x", f"e{2 * number}") for number in range(1, 21)]

    assert (
        " … ".join(fit(make_lines(nodes), 200, Shelf()).text.splitlines()[5:6]) == "… 14 more options e12…e38"
    )


def test_folded_controls_are_counted_without_the_elements_around_them() -> None:
    nodes = [
        node
        for number in range(1, 41, 2)
        for node in (Node(0, "generic", "", f"e{number}"), Node(1, "button", "Go", f"e{number + 1}"))
    ]

    assert "… 13 more buttons e14…e38" in fit_snapshot(nodes, 200, Shelf()).text.splitlines()


def test_selected_or_focused_node_is_not_folded() -> None:
    nodes = [*OPTIONS[:30], Node(1, "option", "Here", "e99", states=("selected",)), *OPTIONS[31:]]

    text = fit(make_lines(nodes), 600, Shelf()).text

    assert ' e99 option "Here" selected' in text.splitlines()


def test_long_texts_are_shortened_before_deep_texts_are_dropped() -> None:
    nodes = [
        Node(0, "paragraph", "", "e1", text="word " * 100),
        Node(0, "text", "shallow text"),
        Node(0, "form", "", "e2"),
        Node(1, "text", "deep text, as long as it takes"),
        Node(1, "button", "Save", "e3"),
    ]
    short = f"e1 paragraph: {('word ' * 100)[:119]}…"

    assert [fit(make_lines(nodes), budget, Shelf(None)).text.split("\n") for budget in (260, 215)] == [
        [
            short.replace(": word", ': "word') + '"',
            '"shallow text"',
            "e2 form",
            ' "deep text, as long as it takes"',
            ' e3 button "Save"',
            "… shortened: 5 of 5 lines shown",
        ],
        [
            short.replace(": word", ': "word') + '"',
            '"shallow text"',
            "e2 form",
            ' e3 button "Save"',
            "… shortened: 4 of 5 lines shown",
        ],
    ]


def test_remaining_text_is_truncated_at_a_line_end() -> None:
    nodes = [Node(0, "button", f"B{number}", f"e{number}", states=("focused",)) for number in range(1, 100)]

    assert fit(make_lines(nodes), 100, Shelf()).text == "\n".join(
        [
            'e1 button "B1" focused',
            'e2 button "B2" focused',
            "… cut: 2 of 99 lines shown; the whole: page://1",
        ]
    )


@patient
@given(trees(), st.integers(0, 600), st.none() | st.text(max_size=300), st.booleans())
def test_fitted_text_never_exceeds_the_budget(
    nodes: list[Node], budget: int, uri: str | None, folded: bool
) -> None:
    shelf = Shelf(uri)
    lines = [Line(node.depth, node, "+", "(moved)") for node in nodes] if folded else make_lines(nodes)
    whole = "\n".join(line.render() for line in lines)

    fitted = fit(lines, budget, shelf, folded=folded)

    assert len(fitted.text) <= budget
    assert shelf.kept == ([whole] if fitted.cut else [])
    assert fitted.cut or folded or fitted.text == whole


@patient
@given(trees(), st.integers(60, 600))
def test_truncated_yaml_is_still_valid(nodes: list[Node], budget: int) -> None:
    fitted = cut_lines(render_yaml(nodes), budget, Shelf(), comment="# ")

    yaml.safe_load(fitted.text)
    assert len(fitted.text) <= budget


def test_a_wide_table_keeps_its_head_and_its_first_rows() -> None:
    """The rows are cut at their ends, unless there are controls."""
    cells = [f"Column {number}" for number in range(12)]
    nodes = [Node(0, "heading", "Orders", "e1"), Node(0, "table", "", "e2"), Node(1, "row", "", "e3")]
    nodes += [Node(2, "columnheader", name, f"e{number}") for number, name in enumerate(cells, 4)]
    for row in range(20):
        first = 20 * (row + 1)
        nodes += [Node(1, "row", "", f"e{first}"), Node(2, "cell", "", f"e{first + 1}")]
        nodes += [Node(3, "link", f"Order {row}", f"e{first + 2}")]
        nodes += [Node(2, "cell", f"value {number}", f"e{first + 3 + number}") for number in range(11)]
    form = [Node(0, "textbox", f"Field {number}", f"e{900 + number}") for number in range(4)]

    names = " | ".join(f'"Column {number}"' for number in range(5))
    values = " | ".join(f'"value {number}"' for number in range(5))
    assert fit_snapshot([*nodes, *form], 420, Shelf()).text.splitlines() == [
        'e1 heading "Orders"',
        "e2 table",
        f" head: {names} | … 7 more cells",
        f' row: e22 link "Order 0" | {values} | … 6 more cells',
        " … 17 more rows e60…e380",
        *(f'e{900 + number} textbox "Field {number}"' for number in range(4)),
        "… cut: 9 of 27 lines shown; the whole: page://1",
    ]


def test_cells_that_are_no_part_of_a_line_are_folded() -> None:
    """A cell with more than four parts has lines of its own."""
    nodes = [Node(0, "table", "", "e1"), Node(1, "row", "", "e2")]
    for day in range(10, 40):
        nodes.append(Node(2, "cell", "", f"e{day}0"))
        nodes += [Node(3, "link", f"Event {number}", f"e{day}{number}") for number in range(1, 6)]

    lines = fit_snapshot(nodes, 600, Shelf()).text.splitlines()

    assert [line for line in lines if "more cells" in line] == ["  … 26 more cells e130…e380"]
    assert any('link "Event 5"' in line for line in lines)
