"""Rendering nodes as text, YAML and JSON."""

from __future__ import annotations

import json
import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from footlight.browser.snapshot.nodes import Node, NodeBox
from footlight.browser.snapshot.text.compact import compact_lines
from footlight.browser.snapshot.text.formats import render_json, render_yaml
from footlight.browser.snapshot.text.rendering import make_lines, render_text
from tests.browser.trees import HOSTILE, patient, trees

ARROW = Node(1, "generic", "", "e8", states=("clickable",), hint=".fa-chevron-right")
PAGE = (
    Node(0, "banner", "", "e1"),
    Node(1, "link", "Docs", "e2", url="/docs"),
    Node(0, "main", "", "e3"),
    Node(1, "heading", "Sign up", "e4", states=("level=1",)),
    Node(1, "form", "Account", "e5"),
    Node(2, "textbox", "Name", "e6", value="Ada", states=("required", "focused"), testid="name"),
    Node(2, "textbox", "Mail", "e7", placeholder="you@example.org", description="Never shown"),
    Node(2, "text", "By signing up you accept the "),
    Node(2, "link", "terms", "e8", url="https://example.org/terms"),
    Node(2, "button", "Save", "e9", states=("disabled",), box=NodeBox(8, 20.5, 60, 24)),
    Node(1, "list", "", "e10"),
    Node(2, "listitem", "", "e11", text="Free for a month"),
    Node(2, "progressbar", "Seats", "e12", value="50", text="Half taken"),
)


def test_text_has_one_line_per_node_with_its_ref_first() -> None:
    assert render_text(PAGE) == "\n".join(
        [
            "e1 banner",
            ' e2 link "Docs" -> /docs',
            "e3 main",
            ' e4 h1 "Sign up"',
            ' e5 form "Account"',
            '  e6 textbox "Name" required focused: Ada',
            '  e7 textbox "Mail" placeholder "you@example.org" description "Never shown"',
            '  "By signing up you accept the "',
            '  e8 link "terms" -> https://example.org/terms',
            '  e9 button "Save" disabled box=8,20.5,60,24',
            " e10 list",
            "  e11 listitem: Free for a month",
            '  e12 progressbar "Seats" text "Half taken": 50',
        ]
    )


def test_yaml_resembles_an_aria_snapshot() -> None:
    assert render_yaml(PAGE) == [
        "- banner [ref=e1]:",
        '  - link "Docs" [ref=e2]:',
        "    - /url: /docs",
        "- main [ref=e3]:",
        '  - heading "Sign up" [level=1] [ref=e4]',
        '  - form "Account" [ref=e5]:',
        '    - textbox "Name" [required] [focused] [ref=e6]: Ada',
        '    - textbox "Mail" [ref=e7]:',
        '      - /placeholder: "you@example.org"',
        "      - /description: Never shown",
        '    - text: "By signing up you accept the "',
        '    - link "terms" [ref=e8]:',
        '      - /url: "https://example.org/terms"',
        '    - button "Save" [disabled] [box=8,20.5,60,24] [ref=e9]',
        "  - list [ref=e10]:",
        "    - listitem [ref=e11]: Free for a month",
        '    - progressbar "Seats" [ref=e12]:',
        "      - /text: Half taken",
        '      - text: "50"',
    ]


def test_json_is_nested_and_omits_empty_values() -> None:
    assert render_json(PAGE[:4] + PAGE[9:10]) == [
        {
            "role": "banner",
            "ref": "e1",
            "children": [{"role": "link", "ref": "e2", "name": "Docs", "url": "/docs"}],
        },
        {
            "role": "main",
            "ref": "e3",
            "children": [
                {
                    "role": "heading",
                    "ref": "e4",
                    "name": "Sign up",
                    "states": ["level=1"],
                    "children": [
                        {
                            "role": "button",
                            "ref": "e9",
                            "name": "Save",
                            "states": ["disabled"],
                            "box": [8, 20.5, 60, 24],
                        }
                    ],
                }
            ],
        },
    ]


@pytest.mark.parametrize(
    ("node", "line"),
    [
        (Node(0, "button", 'x" [e9]', "e1"), r'e1 button "x\" [e9]"'),
        (Node(0, "button", 'x"\ne9 button "Pay', "e1"), r'e1 button "x\"\ne9 button \"Pay"'),
        (Node(0, "listitem", "", "e1", text="use e9 now"), 'e1 listitem: "use e9 now"'),
        (Node(0, "listitem", "", "e1", text="a\u2028e9 button"), r'e1 listitem: "a\u2028e9 button"'),
        (Node(0, "textbox", "", "e1", value='Ada (was "")'), r'e1 textbox: "Ada (was \"\")"'),
        (Node(0, "text", "e9 button"), '"e9 button"'),
        (Node(0, "e9", "", None), '"e9"'),
        (Node(0, "link", "", "e1", url="/a b\ne9"), r'e1 link -> "/a b\ne9"'),
        (Node(0, "link", "", "e1", url="/" + 99 * "x"), f"e1 link -> /{58 * 'x'}…"),
        (Node(0, "button", "", "e1", states=("current=\ne9",)), r'e1 button "current=\ne9"'),
        (Node(0, "button", "\ud83d", "e1"), r'e1 button "\ud83d"'),
    ],
)
def test_page_text_cannot_forge_a_line_or_a_ref(node: Node, line: str) -> None:
    assert render_text([node]) == line


@patient
@given(trees())
def test_each_text_line_begins_with_the_ref_of_its_node(nodes: list[Node]) -> None:
    lines = render_text(nodes).splitlines()

    begins = [re.match(r' *(?:(e\d+) |")', line + " ") for line in lines]
    assert [match and match[1] for match in begins] == [node.ref for node in nodes]
    assert [remove_page_texts(line) for line in lines if re.search(r" e\d|…", remove_page_texts(line))] == []
    assert render_text(nodes).encode().decode() == render_text(nodes)


def remove_page_texts(line: str) -> str:
    """Without its ref, and without what is in quotes or behind an arrow."""
    return re.sub(r'"(?:[^"\\]|\\.)*"|-> [^\s"]+', "", re.sub(r"^ *e\d+", "", line))


@patient
@given(trees())
def test_yaml_of_any_page_is_parseable(nodes: list[Node]) -> None:
    read = yaml.safe_load("\n".join(render_yaml(nodes)))

    assert sorted(re.findall(r"\[ref=(e\d+)\]'?$", "\n".join(_keys(read)), re.MULTILINE)) == sorted(
        node.ref for node in nodes if node.ref
    )


@patient
@given(st.sampled_from(HOSTILE) | st.text())
def test_yaml_preserves_texts(said: str) -> None:
    nodes = [
        Node(0, "text", said),
        Node(0, "link", "", "e1", url=said or "x"),
        Node(0, "button", said[:50], "e2"),
    ]

    text, link, button = yaml.safe_load("\n".join(render_yaml(nodes)))

    name = f" {json.dumps(said[:50], ensure_ascii=False)}" if said else ""
    assert (text, link) == ({"text": said}, {"link [ref=e1]": [{"/url": said or "x"}]})
    assert json.loads(button[len("button ") : -len(" [ref=e2]")] or '""') == (
        json.loads(name) if name else ""
    )


def _keys(read: object) -> list[str]:
    """Return the key of each item of a list, nested lists included."""
    if not isinstance(read, list):
        return []
    keys: list[str] = []
    for item in read:
        key, inside = next(iter(item.items())) if isinstance(item, dict) else (item, None)
        keys += [key, *_keys(inside)]
    return keys


@patient
@given(trees())
def test_json_has_all_nodes_in_order(nodes: list[Node]) -> None:
    def refs(infos: list[dict[str, object]]) -> list[object]:
        return [ref for info in infos for ref in (info.get("ref"), *refs(info.get("children", [])))]

    assert refs(json.loads(json.dumps(render_json(nodes)))) == [node.ref for node in nodes]


def test_json_depth_is_limited_to_sixty_levels() -> None:
    deep = render_json([Node(depth, "generic", "", f"e{depth}") for depth in range(5_000)])

    levels = 0
    while deep:
        levels, deep = levels + 1, deep[-1].get("children", [])
    assert levels == 60


def test_controls_like_those_of_the_row_above_are_only_refs() -> None:
    nodes = [Node(0, "table", "", "e1")]
    for row, name in enumerate(("Tea", "Milk", "Jam", "Bread"), 1):
        controls = (
            Node(3, "checkbox", f"Choose this {name}", f"e{row}2"),
            Node(3, "link", name, f"e{row}3", url=f"https://a.test/{row}", path=f"/{row}"),
            Node(3, "button", "Delete", f"e{row}4", states=("disabled",) if name == "Jam" else ()),
        )
        nodes.append(Node(1, "row", "", f"e{row}1"))
        nodes += [node for control in controls for node in (Node(2, "cell", ""), control)]

    lines = [line.render() for line in compact_lines(make_lines(nodes))]

    assert lines == [
        "e1 table",
        ' row: e12 checkbox "Choose this Tea" | e13 link "Tea" -> /1 | e14 button "Delete"',
        ' row: e22 | e23 "Milk" | e24',
        ' row: e32 | e33 "Jam" | e34 disabled',
        ' row: e42 | e43 "Bread" | e44',
    ]


def test_row_of_fields_is_one_line_although_their_values_name_the_cells() -> None:
    nodes = [Node(0, "row", "", "e1")]
    for at, (role, name, value) in enumerate((("textbox", "Item", "Tea"), ("spinbutton", "Quantity", "2"))):
        nodes += [Node(1, "cell", value, f"e{at}2"), Node(2, role, name, f"e{at}3", value=value)]
    nodes += [Node(1, "cell", "", "e22"), Node(2, "button", "Remove", "e23")]

    assert [line.render() for line in compact_lines(make_lines(nodes))] == [
        'row: e03 textbox "Item": "Tea" | e13 spinbutton "Quantity": "2" | e23 button "Remove"'
    ]


def test_week_is_one_line_whose_name_is_not_repeated() -> None:
    nodes = [Node(0, "row", "29 30 1", "e1")]
    for at, (day, state) in enumerate((("29", "disabled"), ("30", "disabled"), ("1", "clickable"))):
        nodes += [
            Node(1, "gridcell", day, f"e{at}2"),
            Node(2, "generic", "", f"e{at}3", text=day, states=(state,)),
        ]

    assert [line.render() for line in compact_lines(make_lines(nodes))] == [
        'e1 row: e03 disabled: "29" | e13 disabled: "30" | e23 clickable: "1"'
    ]


def test_description_like_that_of_the_previous_column_is_omitted() -> None:
    nodes = [Node(0, "row", "", "e1")]
    columns = (("Name", "Sort by Name"), ("Mail", "Sort by Mail"), ("Age", "Years"))
    for at, (name, description) in enumerate(columns):
        nodes += [Node(1, "columnheader", ""), Node(2, "link", name, f"e{at + 2}", description=description)]

    assert [line.render() for line in compact_lines(make_lines(nodes))] == [
        'row of links: e2 "Name" description "Sort by Name" | e3 "Mail" | e4 "Age" description "Years"'
    ]


def test_targets_are_shown_once_and_only_first_in_second_row() -> None:
    nodes = [Node(0, "table", "", "e1")]
    for row, path in enumerate(("/tea", "/milk", "/jam"), 1):
        links = (("Tea", path), ("Add", f"{path}/add"), ("Edit", path))
        nodes.append(Node(1, "row", "", f"e{row}0"))
        for at, (name, target) in enumerate(links, 1):
            nodes += [
                Node(2, "cell", ""),
                Node(3, "link", name, f"e{row}{at}", url=f"https://a.test{target}", path=target),
            ]

    assert [line.render() for line in compact_lines(make_lines(nodes))][1:] == [
        ' row of links: e11 "Tea" -> /tea | e12 "Add" -> /tea/add | e13 "Edit"',
        ' row: e21 "Tea" -> /milk | e22 "Add" | e23 "Edit"',
        " row: e31 | e32 | e33",
    ]


def test_numbered_link_target_like_the_previous_is_omitted() -> None:
    nodes = [Node(0, "list", "", "e1")]
    for number in (1, 2):
        nodes.append(Node(1, "listitem", "", f"e{number}0"))
        nodes.append(Node(2, "link", f"Page {number}", f"e{number}1", url=f"https://a.test/?page={number}"))

    assert [line.render() for line in compact_lines(make_lines(nodes))] == [
        'e1 list of links: e11 "Page 1" -> https://a.test/?page=1 | e21 "Page 2"'
    ]


def test_heading_with_one_link_is_one_line_without_repeated_text() -> None:
    nodes = [
        Node(0, "region", "News", "e1"),
        Node(1, "heading", "News", "e2", states=("level=2",)),
        Node(1, "heading", "Tea is ripe", "e3", states=("level=3",)),
        Node(2, "link", "Tea is ripe", "e4", url="https://a.test/tea", path="/tea"),
        Node(0, "link", "Milk", "e5", url="https://a.test/milk", path="/milk", description="Show Milk"),
        Node(0, "button", "Milk", "e6", description="Show Milk"),
    ]

    assert [line.render() for line in compact_lines(make_lines(nodes))] == [
        "e1 region",
        ' e2 h2 "News"',
        ' h3: e4 link "Tea is ripe" -> /tea',
        'e5 link "Milk" -> /milk',
        'e6 button "Milk" description "Show Milk"',
    ]


def test_what_a_card_of_a_shop_repeats_is_written_once() -> None:
    nodes = [
        *(Node(0, "link", "Tea", "e1", url="/tea"), Node(1, "img", "Tea", "e2")),
        *(Node(0, "heading", "Tea", "e3", states=("level=3",)), Node(1, "link", "Tea", "e4", url="/tea")),
        *(Node(0, "link", "Tea", "e5", url="/other"), Node(1, "img", "Tea", "e6")),
        *(Node(0, "link", "Jam", "e10", url="/jam", text="-20%"), Node(0, "heading", "Jam", "e11")),
        *(Node(1, "link", "Jam", "e12", url="/jam"), Node(0, "tab", "Tuesday", "e13", text="7°")),
        Node(0, "button", "Add Tea to cart", "e7", text="Add to cart"),
        Node(0, "button", "Like Tea", "e8", text="♡"),
        Node(0, "button", "Buy Tea", "e9", text="Sold out"),
    ]

    assert [line.render() for line in compact_lines(make_lines(nodes))] == [
        'h3: e4 link "Tea" -> /tea',
        'e5 link "Tea" -> /other',
        'e10 link "Jam" -> /jam: "-20%"',
        'heading: e12 link "Jam"',
        'e13 tab "Tuesday": 7°',
        'e7 button "Add Tea to cart"',
        'e8 button "Like Tea"',
        'e9 button "Buy Tea": Sold out',
    ]


def test_head_of_several_tables_is_written_once() -> None:
    def table(ref: str, *names: str) -> list[Node]:
        cells = [Node(2, "columnheader", name, f"{ref}{at}") for at, name in enumerate(names)]
        return [Node(0, "table", "", ref), Node(1, "row", " ".join(names), f"{ref}0"), *cells]

    nodes = [*table("e1", "Item", "Price"), *table("e2", "Item", "Price"), *table("e3", "Item", "Size")]

    assert [line.render() for line in compact_lines(make_lines(nodes))] == [
        *("e1 table", ' head: "Item" | "Price"'),
        *("e2 table", " head like e1"),
        *("e3 table", ' head: "Item" | "Size"'),
    ]


def test_the_part_of_a_tree_entry_that_is_pressed_has_its_title() -> None:
    nodes = [
        *(Node(0, "treeitem", "Letters", "e1"), Node(1, "generic", "", "e2", states=("clickable",))),
        *(Node(1, "group", "", "e3"), Node(2, "treeitem", "a.txt", "e4")),
        *(Node(3, "generic", "", "e5", states=("clickable",)), Node(3, "generic", "x", "e6")),
        *(Node(0, "treeitem", "Notes", "e7", text="Notes"), ARROW),
    ]

    assert [line.render() for line in compact_lines(make_lines(nodes))][:2] == [
        'e1 treeitem "Letters"',
        " e2 generic clickable: Letters",
    ]
    assert "   e5 generic clickable" in [line.render() for line in compact_lines(make_lines(nodes))]
    assert compact_lines(make_lines(nodes))[-1].node is ARROW


def test_cards_and_list_items_with_few_texts_are_one_line_each() -> None:
    card = (
        *(Node(0, "generic", "", "e1", states=("clickable",)), Node(1, "heading", "Ink", "e2")),
        *(Node(1, "generic", "", text="Fri"), Node(1, "time", "", text="3 May")),
        *(
            Node(1, "paragraph", "", "e3", text="Ann"),
            Node(1, "button", "Open", "e4"),
            Node(0, "separator", ""),
        ),
    )
    mail = (
        *(Node(0, "listitem", "", "e5"), Node(1, "checkbox", "Choose", "e6"), Node(1, "link", "Ann", "e7")),
        *(Node(1, "text", "Hello"), Node(1, "text", "See you"), Node(1, "time", "", text="9:30")),
    )
    long = (
        Node(0, "article", "", "e8"),
        Node(1, "paragraph", "", text="x" * 300),
        Node(1, "link", "More", "e9"),
    )

    assert [line.render() for line in compact_lines(make_lines([*card, *mail]))] == [
        'e1 generic clickable: e2 heading "Ink" | "Fri" | "3 May" | e3 paragraph: "Ann" | e4 button "Open"',
        'listitem: e6 checkbox "Choose" | e7 link "Ann" | "Hello" | "See you" | "9:30"',
    ]
    assert len(compact_lines(make_lines(long))) == 3


@pytest.mark.parametrize(("characters", "count"), [(24, 1), (25, 4)])
def test_only_short_clickable_texts_share_a_line(characters: int, count: int) -> None:
    nodes = [
        Node(0, "generic", "", f"e{number}", states=("clickable",), text=f"{number:0{characters}}")
        for number in range(4)
    ]

    assert len(compact_lines(make_lines(nodes))) == count


def test_clickable_cell_keeps_a_text_that_equals_that_above() -> None:
    nodes = [Node(0, "table", "", "e1")]
    for row in range(1, 5):
        nodes.append(Node(1, "row", "", f"e{row}0"))
        nodes += [Node(2, "cell", text, f"e{row}{text}", states=("clickable",)) for text in ("0", "1")]

    lines = [line.render() for line in compact_lines(make_lines(nodes))]
    assert lines[1:] == [f' e{row}0 row of clickable cells: e{row}0 "0" | e{row}1 "1"' for row in range(1, 5)]


def test_paragraph_that_arranges_controls_is_left_out() -> None:
    nodes = [
        *(
            Node(0, "paragraph", ""),
            Node(1, "button", "Save", "e1"),
            Node(1, "button", "Run", "e2"),
            Node(1, "link", "Help", "e5"),
        ),
        *(Node(0, "paragraph", ""), Node(1, "textbox", "Born:", "e3"), Node(1, "text", "In your time zone")),
        *(Node(0, "paragraph", ""), Node(1, "text", "See"), Node(1, "link", "Manual", "e4")),
        *(Node(0, "paragraph", ""), Node(1, "link", "A", "e6"), Node(1, "text", "|")),
        Node(1, "link", "B", "e7"),
    ]

    assert [line.render() for line in compact_lines(make_lines(nodes))] == [
        'e1 button "Save"',
        'e2 button "Run"',
        'e5 link "Help"',
        'e3 textbox "Born:"',
        '"In your time zone"',
        "paragraph",
        ' "See"',
        ' e4 link "Manual"',
        'e6 link "A"',
        'e7 link "B"',
    ]


def test_only_item_of_a_list_is_on_the_line_of_the_list() -> None:
    added = (Node(2, "text", "The author"), Node(2, "link", "Ada", "e3"), Node(2, "text", "was added."))
    message = [Node(0, "list", ""), Node(1, "listitem", ""), *added]

    assert [line.render() for line in compact_lines(make_lines(message))] == [
        'list: "The author" & e3 link "Ada" & "was added."'
    ]
