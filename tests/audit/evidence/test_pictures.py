"""Pictures of elements, and screenshots with marked findings."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from footlight.audit.evidence.gathered import GatheredEvidence
from footlight.audit.evidence.pictures import COLOUR, MARGIN, MAX_HEIGHT, MAX_WIDTH, PageScreenshot
from footlight.audit.findings import Element, ElementBox, EvidencePicture, Finding
from footlight.audit.page.page import AuditViewport

RED = (255, 0, 0)
FRAME = tuple(bytes.fromhex(COLOUR[1:]))
VIEW = AuditViewport("small", 400, 300)


def page(width: int = 400, height: int = 1000, *, red: ElementBox | None = None) -> PageScreenshot:
    """Return a white screenshot with a red box."""
    image = Image.new("RGB", (width, height), "white")
    if red is not None:
        image.paste(RED, (int(red.x), int(red.y), int(red.x + red.width), int(red.y + red.height)))
    out = io.BytesIO()
    image.save(out, "PNG")
    return PageScreenshot(out.getvalue())


def open_picture(picture: EvidencePicture | None) -> Image.Image:
    assert picture is not None
    image = Image.open(io.BytesIO(picture.data))
    assert (image.format, image.size) == ("JPEG", (picture.width, picture.height))
    return image.convert("RGB")


def is_near(one: object, other: tuple[int, ...]) -> bool:
    """Return whether two colours are equal within the precision of a JPEG."""
    assert isinstance(one, tuple)
    return all(abs(a - b) < 40 for a, b in zip(one, other, strict=True))


def test_element_picture_has_a_margin_and_a_frame() -> None:
    box = ElementBox(100, 200, 60, 20)

    image = open_picture(page(red=box).cut_out(box))

    assert image.size == (60 + 2 * MARGIN, 20 + 2 * MARGIN)
    assert is_near(image.getpixel((MARGIN + 30, MARGIN + 10)), RED)
    assert is_near(image.getpixel((5, 5)), (255, 255, 255))
    assert is_near(image.getpixel((MARGIN + 30, MARGIN - 2)), FRAME)


def test_large_element_is_cropped_at_its_top_left() -> None:
    assert open_picture(page(3000, 3000).cut_out(ElementBox(500, 500, 2000, 2000))).size == (
        MAX_WIDTH,
        MAX_HEIGHT,
    )


@pytest.mark.parametrize(
    "box",
    [
        ElementBox(500, 10, 50, 50),
        ElementBox(10, 2000, 50, 50),
        ElementBox(-100, 0, 50, 50),
        ElementBox(5, 5, 0, 40),
        ElementBox(5, 5, 40, 0.5),
    ],
)
def test_element_outside_the_screenshot_has_no_picture(box: ElementBox) -> None:
    assert page().cut_out(box) is None


@pytest.mark.parametrize("box", [ElementBox(50, 50, 1, 40), ElementBox(50, 50, 40, 1)])
def test_element_of_one_pixel_has_a_picture(box: ElementBox) -> None:
    size = int(box.width) + 2 * MARGIN, int(box.height) + 2 * MARGIN

    assert open_picture(page().cut_out(box)).size == size


def test_partly_visible_element_is_clipped() -> None:
    assert open_picture(page().cut_out(ElementBox(380, 990, 100, 100))).size == (20 + MARGIN, 10 + MARGIN)


def test_first_screen_is_pictured_plain_and_marked() -> None:
    box = ElementBox(100, 100, 60, 20)

    plain, marked = page(red=box).first_screen([("F1", box), ("F2", ElementBox(10, 900, 5, 5))], VIEW)

    assert [(each.width, each.marked) for each in (plain, marked)] == [(400, False), (400, True)]
    assert open_picture(plain.picture).size == open_picture(marked.picture).size == (400, 300)
    assert is_near(open_picture(plain.picture).getpixel((130, 110)), RED)
    assert is_near(open_picture(marked.picture).getpixel((140, 100)), FRAME)


@pytest.mark.parametrize("marks", [[], [("F1", ElementBox(10, 900, 5, 5))]])
def test_screen_without_findings_is_pictured_once(marks: list[tuple[str, ElementBox]]) -> None:
    (plain,) = page().first_screen(marks, VIEW)

    assert not plain.marked


def test_small_page_is_pictured_at_its_own_size() -> None:
    (plain,) = page(200, 100).first_screen([], VIEW)

    assert open_picture(plain.picture).size == (200, 100)


def test_invalid_image_is_refused() -> None:
    with pytest.raises(OSError, match="cannot identify"):
        PageScreenshot(b"no picture")


@pytest.mark.parametrize(
    ("element", "is_marked"),
    [
        (Element(selector="#save", box=ElementBox(100, 100, 60, 20), width=400), True),
        (Element(selector="body", box=ElementBox(0, 0, 400, 1000), width=400), False),
        (Element(selector="#hidden"), False),
    ],
    ids=["a part of the page", "the whole page", "without a box"],
)
def test_only_parts_of_the_page_with_a_box_are_marked(element: Element, is_marked: bool) -> None:
    finding = Finding(
        rule="axe/image-alt", severity="high", title="", advice="", measured_by="", elements=[element]
    )
    evidence = GatheredEvidence(pictures={400: page()})

    pictures = evidence.add_pictures([finding], [VIEW])

    assert [each.marked for each in pictures] == ([False, True] if is_marked else [False])
