"""Which nodes of a page are reported, and with which properties."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.apps.nodes import ACTIONABLE, IMPORTANT, TrimmedNode, trim_nodes
from footlight.browser.snapshot.nodes import Node


def tree(text: str) -> list[Node]:
    """Return nodes from lines `role name [state …]`, indented by level. All but texts have a ref."""
    nodes: list[Node] = []
    for number, line in enumerate(text.strip("\n").splitlines()):
        depth = len(line) - len(line.lstrip())
        said, _, states = line.strip().rstrip("]").partition(" [")
        role, _, name = said.partition(" ")
        ref = None if role == "text" else f"f{number}"
        nodes.append(Node(depth, role, name, ref, states=tuple(states.split())))
    return nodes


def describe_nodes(text: str) -> list[str]:
    """Return each node as `role:name @ path`."""
    return [f"{node.role}:{node.name} @ {' > '.join(node.path)}" for node in trim_nodes(tree(text))]


def flags(text: str) -> dict[str, Any]:
    [node] = trim_nodes(tree(text))
    return {
        key: value for key, value in node.as_json("e1").items() if key not in ("ref", "role", "name", "path")
    }


def test_reported_roles_match_the_specification() -> None:
    assert {"button", "link", "checkbox", "radio", "switch", "textbox", "combobox", "menuitem"} == ACTIONABLE
    assert {"dialog", "alert", "status", "heading"} == IMPORTANT


def test_containers_and_plain_text_are_omitted() -> None:
    """What is inside of them is told all the same."""
    page = """
navigation Main
 list
  listitem
   link Home
text Welcome
 main
  paragraph
   text Read this
  table
   row
    cell
     button Open
  tab Second
  img Logo
"""

    assert describe_nodes(page) == ["link:Home @ ", "button:Open @ "]


def test_a_dialog_is_part_of_its_own_path() -> None:
    page = """
dialog Confirm
 button Confirm
"""

    assert [node.as_json(f"e{n}") for n, node in enumerate(trim_nodes(tree(page)), 1)] == [
        {"ref": "e1", "role": "dialog", "name": "Confirm", "disabled": False, "path": ["dialog:Confirm"]},
        {"ref": "e2", "role": "button", "name": "Confirm", "disabled": False, "path": ["dialog:Confirm"]},
    ]


def test_path_names_last_heading_in_the_same_dialog() -> None:
    page = """
heading Wallet
button Menu
dialog Confirm
 text Are you sure?
 generic
  heading Send
 button Send
 heading Fee
 link Edit
 alert Too low
  button Raise
 button Cancel
button Behind
"""

    assert describe_nodes(page) == [
        "heading:Wallet @ ",
        "button:Menu @ heading:Wallet",
        "dialog:Confirm @ dialog:Confirm",
        "heading:Send @ dialog:Confirm",
        "button:Send @ dialog:Confirm > heading:Send",
        "heading:Fee @ dialog:Confirm",
        "link:Edit @ dialog:Confirm > heading:Fee",
        "alert:Too low @ dialog:Confirm > alert:Too low",
        "button:Raise @ dialog:Confirm > alert:Too low",
        "button:Cancel @ dialog:Confirm > heading:Fee",
        "button:Behind @ heading:Wallet",
    ]


def test_alertdialog_is_reported_as_dialog() -> None:
    assert describe_nodes("alertdialog Lost\n button Retry") == [
        "dialog:Lost @ dialog:Lost",
        "button:Retry @ dialog:Lost",
    ]


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("button A", {"disabled": False}),
        ("button A [disabled]", {"disabled": True}),
        ("checkbox A", {"disabled": False, "checked": False}),
        ("radio A [checked]", {"disabled": False, "checked": True}),
        ("switch A [checked disabled]", {"disabled": True, "checked": True}),
        ("checkbox A [checked=mixed]", {"disabled": False}),
        ("button A [expanded]", {"disabled": False, "expanded": True}),
        ("combobox A [collapsed]", {"disabled": False, "expanded": False}),
        ("link A [checked]", {"disabled": False}),
    ],
)
def test_node_states_are_reported(node: str, expected: dict[str, Any]) -> None:
    """What is neither on nor off is left out, as no boolean says it."""
    assert flags(node) == expected


def test_status_without_name_is_named_by_its_text() -> None:
    nodes = [Node(0, "textbox", "", "f1"), Node(0, "status", "", "f2", text="2 to read")]

    assert [node.name for node in trim_nodes(nodes)] == ["", "2 to read"]


def test_lookalike_nodes_keep_their_own_elements() -> None:
    page = "button Remove\nbutton Remove\nbutton Remove"

    assert [(node.element, node.name) for node in trim_nodes(tree(page))] == [
        ("f0", "Remove"),
        ("f1", "Remove"),
        ("f2", "Remove"),
    ]


ROLES = st.sampled_from(sorted(ACTIONABLE | IMPORTANT | {"list", "generic", "alertdialog", "text"}))
NODES = st.lists(st.builds(Node, st.integers(0, 4), ROLES, st.text(max_size=3)), max_size=20).map(
    lambda nodes: [
        Node(node.depth, node.role, node.name, None if node.role == "text" else f"f{n}")
        for n, node in enumerate(nodes)
    ]
)


@given(NODES)
def test_all_nodes_of_reported_roles_are_kept_in_order(nodes: list[Node]) -> None:
    kept = [node.ref for node in nodes if node.role in ACTIONABLE | IMPORTANT | {"alertdialog"}]

    found = trim_nodes(nodes)

    assert [node.element for node in found] == kept
    assert trim_nodes(nodes) == found
    assert all(part.split(":")[0] in IMPORTANT for node in found for part in node.path)


def test_no_nodes_are_read_beyond_the_limit() -> None:
    nodes = iter(tree("button A\ntext\nlink B\nbutton C\nbutton D"))

    found = trim_nodes(nodes, 2)

    assert [node.name for node in found] == ["A", "B"]
    assert next(nodes).name == "D", "of the others, only the next one was read"


def test_node_json_uses_the_given_ref() -> None:
    node = TrimmedNode(element="f9", role="link", name="x", path=("dialog:y",), disabled=False)

    assert node.as_json("e2") == {
        "ref": "e2",
        "role": "link",
        "name": "x",
        "disabled": False,
        "path": ["dialog:y"],
    }
