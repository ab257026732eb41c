"""The difference between two observations of an app."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from footlight.apps.nodes import TrimmedNode
from footlight.apps.observation import AppChanges, AppObservation, AppState, compare_observations
from footlight.apps.profile import Facts, Screen
from footlight.browser.reading.test_ids import VisibleTestId

STATE = AppState(
    current_url="chrome-extension://x/home.html",
    extension_id="x",
    screen=Screen(name="home"),
    is_unlocked=True,
    facts=Facts(),
)


def node(element: str, name: str = "Send", *path: str, **more: Any) -> TrimmedNode:
    values: dict[str, Any] = {"role": "button", "disabled": False, **more}
    return TrimmedNode(element=element, name=name, path=path, **values)


def look(*nodes: TrimmedNode, test_ids: Sequence[str] = ()) -> AppObservation:
    return AppObservation(
        state=STATE, nodes=nodes, test_ids=[VisibleTestId(test_id, "button", "") for test_id in test_ids]
    )


def make_changes(**lists: Any) -> AppChanges:
    nothing: dict[str, Any] = {
        "added": [],
        "changed": [],
        "removed": [],
        "added_test_ids": [],
        "removed_test_ids": [],
    }
    return AppChanges(**{**nothing, **lists})


def test_equal_observations_have_no_changes() -> None:
    here = look(node("f1"), test_ids=["send"])

    assert compare_observations(here, here) == make_changes()
    assert compare_observations(here, here).any is False


def test_first_observation_reports_all_elements_as_added() -> None:
    assert compare_observations(None, look(node("f1"), test_ids=["send"])) == make_changes(
        added=[node("f1")], added_test_ids=["send"]
    )


def test_added_changed_and_removed_elements_are_reported() -> None:
    before = look(node("f1"), node("f2", "Cancel"), node("f3", "Next", disabled=True))
    after = look(node("f4", "Back"), node("f2", "Close"), node("f3", "Next"))

    difference = compare_observations(before, after)

    assert difference == make_changes(
        added=[node("f4", "Back")], changed=[node("f2", "Close"), node("f3", "Next")], removed=[node("f1")]
    )
    assert difference.any is True


def test_replaced_lookalike_element_is_removed_and_added() -> None:
    assert compare_observations(look(node("f1")), look(node("f2"))) == make_changes(
        added=[node("f2")], removed=[node("f1")]
    )


def test_changed_heading_path_alone_is_not_a_change() -> None:
    """A heading that comes before many nodes would make all of them other ones."""
    assert compare_observations(look(node("f1")), look(node("f1", "Send", "heading:Fee"))) == make_changes()


def test_checked_and_expanded_states_are_compared() -> None:
    before = look(node("f1", role="checkbox", checked=False), node("f2", expanded=False))
    after = look(node("f1", role="checkbox", checked=True), node("f2", expanded=True))

    assert compare_observations(before, after) == make_changes(changed=[*after.nodes])


def test_repeated_test_ids_are_counted() -> None:
    before = look(test_ids=["item", "item", "menu"])
    after = look(test_ids=["item", "item", "item", "close"])

    assert compare_observations(before, after) == make_changes(
        added_test_ids=["item", "close"], removed_test_ids=["menu"]
    )
