"""The elements that refs stand for, from one observation to the next."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from footlight.apps.nodes import RefMap, TrimmedNode


def nodes(*elements: str) -> list[TrimmedNode]:
    return [
        TrimmedNode(element=each, role="button", name="Remove", path=(), disabled=False) for each in elements
    ]


def refs(numbered: list[dict[str, object]]) -> list[object]:
    return [node["ref"] for node in numbered]


def test_renumbering_starts_at_one_and_is_stable() -> None:
    """The same page has the same refs, also for nodes that look alike."""
    known = RefMap()

    assert refs(known.renumber(nodes("f7", "f3", "f9"))) == ["e1", "e2", "e3"]
    assert refs(known.renumber(nodes("f7", "f3", "f9"))) == ["e1", "e2", "e3"]
    assert [known.find(ref) for ref in ("e1", "e2", "e3")] == ["f7", "f3", "f9"]


def test_unknown_ref_is_not_found() -> None:
    known = RefMap()
    known.renumber(nodes("f7"))

    assert (known.find("e2"), known.find("e0"), RefMap().find("e1")) == (None, None, None)


def test_renumbering_forgets_earlier_refs() -> None:
    known = RefMap()
    known.renumber(nodes("f1", "f2", "f3"))
    known.renumber(nodes("f3"))

    assert (known.find("e1"), known.find("e2"), known.find("e3")) == ("f3", None, None)


def test_describing_keeps_known_refs_and_adds_new_ones() -> None:
    known = RefMap()
    known.renumber(nodes("f1", "f2"))

    assert refs(known.describe(nodes("f9", "f2", "f9", "f8"))) == ["e3", "e2", "e3", "e4"]
    assert [known.find(f"e{n}") for n in range(1, 5)] == ["f1", "f2", "f9", "f8"]


LOOKS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6, unique=True), max_size=8)


@given(LOOKS)
def test_refs_keep_their_elements_until_renumbering(looks: list[list[str]]) -> None:
    known = RefMap()
    meant: dict[object, str] = {}
    for elements in looks:
        for node, element in zip(known.describe(nodes(*elements)), elements, strict=True):
            assert meant.setdefault(node["ref"], element) == element
    assert {ref: known.find(str(ref)) for ref in meant} == meant
    assert [*meant] == [f"e{n}" for n in range(1, len(meant) + 1)]
