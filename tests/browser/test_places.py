"""Find what surrounds an element, which distinguishes it from others like it."""

from __future__ import annotations

from hypothesis import given

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.places import find_entry_around, find_places, find_text_before
from tests.browser.trees import patient, trees


@patient
@given(trees())
def test_one_element_has_the_same_place_as_among_all(nodes: list[Node]) -> None:
    places = find_places(nodes)

    for index, node in enumerate(nodes):
        if node.ref:
            found = find_entry_around(nodes, index), find_text_before(nodes, index)
            assert found == (places[node.ref].entry, places[node.ref].after)
