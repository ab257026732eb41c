"""What surrounds an element, which distinguishes it from others like it."""

from __future__ import annotations

from hypothesis import given

from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.view import meaning_of, meanings
from tests.browser.trees import patient, trees


@patient
@given(trees())
def test_one_ref_has_the_same_meaning_as_among_all(nodes: list[Node]) -> None:
    expected = meanings(nodes, nodes)

    refs = [node.ref for node in nodes if node.ref]
    assert {ref: meaning_of(ref, nodes) for ref in refs} == expected
    assert meaning_of("e0", nodes) is None
