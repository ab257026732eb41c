"""The ids of found elements."""

from __future__ import annotations

from footlight.browser.snapshot.element_ids import ElementIds, KeptElement


def test_repeatedly_found_element_keeps_its_id() -> None:
    """This holds when the path to its frame is written differently."""
    elements = ElementIds()
    save, card = KeptElement("", "a-1"), KeptElement("#frame >> ", "b-1")
    same_card = KeptElement("iframe >> ", "b-1")

    assert [elements.keep(each) for each in (save, card, save, same_card)] == [
        *("element-1", "element-2"),
        *("element-1", "element-2"),
    ]
    assert (elements.find("element-2"), elements.find("element-3")) == (same_card, None)


def test_least_recently_found_elements_are_forgotten() -> None:
    elements = ElementIds()
    for number in range(1000):
        elements.keep(KeptElement("", str(number)))
    elements.keep(KeptElement("", "0"))

    new = elements.keep(KeptElement("", "new"))

    assert (new, elements.find("element-1"), elements.find("element-2")) == (
        "element-1001",
        KeptElement("", "0"),
        None,
    )
    assert elements.keep(KeptElement("", "1")) == "element-1002"
    assert len(elements.ids) == 1000


def test_ids_are_not_reused_in_the_next_document() -> None:
    elements = ElementIds()
    elements.keep(KeptElement("", "a-1"))

    elements.clear()

    assert elements.ids == ()
    assert elements.keep(KeptElement("", "a-1")) == "element-2"
