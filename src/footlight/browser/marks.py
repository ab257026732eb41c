"""Refs drawn into a picture of a page, beside the elements that they name. Imported when it is needed."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from PIL import Image, ImageDraw, ImageFont

from footlight.browser.areas import Area
from footlight.browser.narrowing import ACTIVE_STATES, CONTROLS
from footlight.browser.picture import JPEG_QUALITY
from footlight.browser.snapshot import Node

__all__ = ["Mark", "is_marked", "marked"]

FONT_SIZE = 12
PADDING = 1
MOST_MARKS = 500
LABEL_WEIGHT = 10
SQUARE = 64
LARGE = 40_000
"""Square pixels. What is larger is not hidden by a label on it."""
COLOURS = ("#c2185b", "#00695c", "#1a237e", "#bf360c", "#4a148c", "#1b5e20", "#3e2723")
"""White is readable on each, and neighbours in the order of the page have different ones."""


class Mark(NamedTuple):
    """A ref, and where its element is in the picture."""

    ref: str
    area: Area


def is_marked(node: Node) -> bool:
    """Whether it can be acted on, and is somewhere."""
    acts = node.role in CONTROLS or not ACTIVE_STATES.isdisjoint(node.states)
    return acts and node.ref is not None and node.box is not None and min(node.box[2:]) > 0


def marked(
    picture: bytes, marks: Iterable[Mark], *, type: Literal["png", "jpeg"], quality: int | None
) -> bytes:
    """The picture with a frame around each element that it shows, and a label that hides no other label."""
    with Image.open(io.BytesIO(picture)) as opened:
        image = opened.convert("RGB")
    pen = ImageDraw.Draw(image)
    font = ImageFont.load_default(FONT_SIZE)
    shown = [Mark(mark.ref, clipped) for mark in marks if (clipped := _clipped(mark.area, image.size))]
    shown = shown[:MOST_MARKS]
    for number, mark in enumerate(shown):
        x, y, width, height = mark.area
        pen.rectangle((x, y, x + width - 1, y + height - 1), outline=_colour(number), width=2)
    for number, (mark, place) in enumerate(zip(shown, _places(shown, font, image.size), strict=True)):
        pen.rectangle(
            (place.x, place.y, place.x + place.width - 1, place.y + place.height - 1), _colour(number)
        )
        middle = (place.x + place.width / 2, place.y + place.height / 2)
        pen.text(middle, mark.ref, "white", font, anchor="mm")
    file = io.BytesIO()
    image.save(file, type, **({"quality": quality or JPEG_QUALITY} if type == "jpeg" else {}))
    return file.getvalue()


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _clipped(area: Area, size: tuple[int, int]) -> Area | None:
    """What of it is in the picture; None where nothing is."""
    left, top = max(area.x, 0), max(area.y, 0)
    right, bottom = min(area.x + area.width, size[0]), min(area.y + area.height, size[1])
    return Area(left, top, right - left, bottom - top) if left < right and top < bottom else None


def _places(
    marks: Sequence[Mark], font: ImageFont.FreeTypeFont | ImageFont.ImageFont, size: tuple[int, int]
) -> Iterator[Area]:
    """For each label the place where it hides least: of other labels above all, then of elements."""
    labels, elements = _Crowd(()), _Crowd(mark.area for mark in marks)
    for ref, area in marks:
        width = round(font.getlength(ref)) + 2 * PADDING
        places = [_inside(place, size) for place in _around(area, width, FONT_SIZE + 2 * PADDING)]
        best = min(
            places, key=lambda place: LABEL_WEIGHT * labels.hidden_by(place) + elements.hidden_by(place)
        )
        labels.add(best)
        yield best


class _Crowd:
    """Areas, by the squares of the picture that they touch."""

    def __init__(self, areas: Iterable[Area]) -> None:
        self._squares: dict[tuple[int, int], list[Area]] = {}
        for area in areas:
            self.add(area)

    def add(self, area: Area) -> None:
        if area.width * area.height <= LARGE:
            for square in _squares(area):
                self._squares.setdefault(square, []).append(area)

    def hidden_by(self, area: Area) -> int:
        """Pixels of them that it would cover."""
        near = {other for square in _squares(area) for other in self._squares.get(square, ())}
        return sum(_overlap(area, other) for other in near)


def _squares(area: Area) -> Iterator[tuple[int, int]]:
    for column in range(area.x // SQUARE, (area.x + area.width - 1) // SQUARE + 1):
        for row in range(area.y // SQUARE, (area.y + area.height - 1) // SQUARE + 1):
            yield column, row


def _around(area: Area, width: int, height: int) -> Iterator[Area]:
    """Places for a label of that size: best is over its element, which it does not hide there."""
    right, bottom = area.x + area.width, area.y + area.height
    for x, y in (
        *((area.x, area.y - height), (right - width, area.y - height), (area.x - width, area.y)),
        *((right, area.y), (area.x, bottom), (right - width, bottom)),
        *((area.x, area.y), (right - width, area.y), (right - width, bottom - height)),
        *((area.x - width, area.y - height), (right, bottom)),
    ):
        yield Area(x, y, width, height)


def _inside(area: Area, size: tuple[int, int]) -> Area:
    """Moved into the picture."""
    x = max(0, min(area.x, size[0] - area.width))
    y = max(0, min(area.y, size[1] - area.height))
    return area._replace(x=x, y=y)


def _overlap(one: Area, other: Area) -> int:
    width = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    height = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return max(0, width) * max(0, height)
