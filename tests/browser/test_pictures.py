"""Drawing refs into a screenshot."""

from __future__ import annotations

import io

import pytest
from PIL import Image, ImageColor

from footlight.browser.reading.areas import Area, PictureFrame
from footlight.browser.reading.pictures import COLOURS, Mark, draw_marks, fit, is_marked
from footlight.browser.snapshot.nodes import Node, NodeBox
from footlight.errors import ResourceExhaustedError


def draw_areas(*areas: Area, size: tuple[int, int] = (300, 200)) -> Image.Image:
    """Return a white picture with these marked e1, e2, …"""
    file = io.BytesIO()
    Image.new("RGB", size, "white").save(file, "png")
    marks = [Mark(f"e{number}", area) for number, area in enumerate(areas, start=1)]
    return Image.open(io.BytesIO(draw_marks(file.getvalue(), marks, type="png", quality=None))).convert("RGB")


def count_ink(picture: Image.Image, number: int) -> int:
    """Return how many pixels have the colour of that mark."""
    colour = ImageColor.getrgb(COLOURS[number])
    return sum(each == colour for each in picture.get_flattened_data())


def test_element_has_frame_and_label_of_the_same_colour() -> None:
    picture = draw_areas(Area(50, 80, 100, 30))

    colour = ImageColor.getrgb(COLOURS[0])
    assert [picture.getpixel(at) for at in ((50, 95), (100, 80), (149, 95), (51, 70))] == [colour] * 4
    assert [picture.getpixel(at) for at in ((100, 95), (200, 70), (100, 70))] == [(255, 255, 255)] * 3


def test_labels_of_adjacent_elements_do_not_overlap() -> None:
    alone = [count_ink(draw_areas(Area(100, 100, 12, 12)), 0)] * 4

    picture = draw_areas(
        *(Area(100 + 12 * column, 100 + 12 * row, 12, 12) for row in (0, 1) for column in (0, 1))
    )

    assert [count_ink(picture, number) for number in range(4)] == pytest.approx(alone, rel=0.35)


@pytest.mark.parametrize("at", [(0, 0), (288, 0), (0, 188), (288, 188)])
def test_label_at_the_edge_stays_inside_the_picture(at: tuple[int, int]) -> None:
    inside, edge = draw_areas(Area(100, 100, 12, 12)), draw_areas(Area(*at, 12, 12))

    assert count_ink(edge, 0) == pytest.approx(count_ink(inside, 0), rel=0.35)


def test_areas_outside_the_picture_are_not_drawn() -> None:
    picture = draw_areas(Area(-50, 10, 40, 20), Area(10, 300, 40, 20), Area(300, 0, 5, 5))

    assert picture.getcolors() == [(300 * 200, (255, 255, 255))]


@pytest.mark.parametrize(
    ("node", "is_one"),
    [
        (Node(0, "button", "Buy", "e1", box=NodeBox(1, 2, 3, 4)), True),
        (Node(0, "generic", "", "e1", states=("clickable",), box=NodeBox(1, 2, 3, 4)), True),
        (Node(0, "heading", "Title", "e1", box=NodeBox(1, 2, 3, 4)), False),
        (Node(0, "button", "Buy", "e1", box=NodeBox(1, 2, 0, 4)), False),
        (Node(0, "button", "Buy", "e1"), False),
        (Node(0, "option", "a", None, box=NodeBox(1, 2, 3, 4)), False),
    ],
)
def test_only_visible_actionable_nodes_are_marked(node: Node, is_one: bool) -> None:
    assert is_marked(node) == is_one


def test_box_is_rounded_to_whole_pixels() -> None:
    assert PictureFrame(0, 0, 1).area(NodeBox(1.2, 2.5, 3.1, 4)) == Area(1, 2, 4, 5)
    assert PictureFrame(0, -100, 2).area(NodeBox(1, 2, 3, 4)) == Area(2, 204, 6, 8)


def test_picture_with_too_many_pixels_is_refused_before_decoding() -> None:
    file = io.BytesIO()
    Image.new("1", (14_000, 14_000)).save(file, "PNG")

    with pytest.raises(ResourceExhaustedError, match="more pixels than this server reads"):
        draw_marks(file.getvalue(), [], type="png", quality=None)
    with pytest.raises(ResourceExhaustedError, match="more pixels than this server reads"):
        fit(file.getvalue(), type="png", quality=None, max_side=100)


def test_page_that_is_longer_than_a_jpeg_can_be_is_refused() -> None:
    file = io.BytesIO()
    Image.new("1", (1, 65_501)).save(file, "png")

    for picture in (file.getvalue(), b""):
        with pytest.raises(ResourceExhaustedError, match="than a JPEG can be, which is 65,500 pixels"):
            draw_marks(picture, [], type="jpeg", quality=None)
    with pytest.raises(ResourceExhaustedError, match="than a JPEG can be"):
        fit(b"", type="jpeg", quality=None, max_side=100)
