"""A ref has the same meaning whether it is computed alone or with all others."""

from __future__ import annotations

from hypothesis import given

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.places import find_entry_around, find_places, find_text_before
from footlight.browser.snapshot.view import meaning_of, meanings
from tests.browser.trees import patient, trees


@patient
@given(trees())
def test_one_ref_has_the_same_meaning_as_among_all(nodes: list[Node]) -> None:
    expected = meanings(nodes, nodes)

    refs = [node.ref for node in nodes if node.ref]
    assert {ref: meaning_of(ref, nodes) for ref in refs} == expected
    assert meaning_of("e0", nodes) is None


@patient
@given(trees())
def test_one_element_has_the_same_place_as_among_all(nodes: list[Node]) -> None:
    places = find_places(nodes)

    for index, node in enumerate(nodes):
        if node.ref:
            found = find_entry_around(nodes, index), find_text_before(nodes, index)
            assert found == (places[node.ref].entry, places[node.ref].after)
