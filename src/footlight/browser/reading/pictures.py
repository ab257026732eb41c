"""Scale images, and draw refs into screenshots beside their elements.

This module imports Pillow, so import it only when it is needed.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, NamedTuple

from PIL import Image, ImageDraw, ImageFont, UnidentifiedImageError

from footlight.browser.reading.areas import Area
from footlight.browser.snapshot.nodes import Node
from footlight.browser.snapshot.text.narrowing import ACTIVE_STATES, CONTROLS
from footlight.errors import ResourceExhaustedError

__all__ = ["EncodedImage", "Mark", "draw_marks", "fit", "is_marked"]

JPEG_QUALITY = 80
MAX_JPEG_SIDE = 65_500
FONT_SIZE = 12
PADDING = 1
MAX_MARKS = 500
LABEL_WEIGHT = 10
SQUARE = 64
LARGE_AREA = 40_000
"""The area in square pixels above which a label may cover an element."""
COLOURS = ("#c2185b", "#00695c", "#1a237e", "#bf360c", "#4a148c", "#1b5e20", "#3e2723")
"""White text is readable on each of these colours. Consecutive elements get different colours."""


@dataclass(frozen=True, slots=True)
class EncodedImage:
    """An encoded image. Sizes are (width, height) in pixels."""

    data: bytes
    size: tuple[int, int]
    original_size: tuple[int, int]


def fit(data: bytes, *, type: Literal["png", "jpeg"], quality: int | None, max_side: int) -> EncodedImage:
    """Scale the image down so that no side is longer than `max_side`. With 0, return it unchanged.

    Raises:
        ResourceExhaustedError: the image has too many pixels, or is too long for its type.
    """
    with _open_screenshot(data) as image:
        original = image.size
        if not max_side or max(original) <= max_side:
            return EncodedImage(data, original, original)
        ratio = max_side / max(original)
        size = (max(1, round(image.width * ratio)), max(1, round(image.height * ratio)))
        smaller = image.resize(size, Image.Resampling.LANCZOS)
    return EncodedImage(_encode(smaller, type, quality), size, original)


def _encode(image: Image.Image, type: Literal["png", "jpeg"], quality: int | None) -> bytes:
    if type == "jpeg" and max(image.size) > MAX_JPEG_SIDE:
        raise _too_long_for_jpeg()
    file = io.BytesIO()
    image.save(
        file, type, **({"quality": JPEG_QUALITY if quality is None else quality} if type == "jpeg" else {})
    )
    return file.getvalue()


def _too_long_for_jpeg() -> ResourceExhaustedError:
    return ResourceExhaustedError(
        f"The page is longer or wider than a JPEG can be, which is {MAX_JPEG_SIDE:,} pixels",
        retryable=False,
        suggestion='Take it with type: "png", without fullPage, or of one element.',
    )


@contextmanager
def _open_screenshot(data: bytes) -> Generator[Image.Image]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(data))
    except Image.DecompressionBombError:
        raise ResourceExhaustedError(
            "The screenshot has more pixels than this server reads",
            suggestion="Take it without fullPage, in a smaller viewport, or of one element.",
        ) from None
    except UnidentifiedImageError:  # Chromium returns no picture then.
        raise _too_long_for_jpeg() from None
    with image:
        yield image


class Mark(NamedTuple):
    """A ref, and the area of its element in the image."""

    ref: str
    area: Area


def is_marked(node: Node) -> bool:
    """Return whether the node can be acted on and has an area."""
    acts = node.role in CONTROLS or not ACTIVE_STATES.isdisjoint(node.states)
    return acts and node.ref is not None and node.box is not None and min(node.box[2:]) > 0


def draw_marks(
    picture: bytes, marks: Iterable[Mark], *, type: Literal["png", "jpeg"], quality: int | None
) -> bytes:
    """Draw a frame around each visible element, and a label that avoids other labels."""
    with _open_screenshot(picture) as opened:
        image = opened.convert("RGB")
    pen = ImageDraw.Draw(image)
    font = ImageFont.load_default(FONT_SIZE)
    visible = [Mark(mark.ref, clipped) for mark in marks if (clipped := _clip(mark.area, image.size))]
    visible = visible[:MAX_MARKS]
    for number, mark in enumerate(visible):
        x, y, width, height = mark.area
        pen.rectangle((x, y, x + width - 1, y + height - 1), outline=_colour(number), width=2)
    for number, (mark, place) in enumerate(
        zip(visible, _place_labels(visible, font, image.size), strict=True)
    ):
        pen.rectangle(
            (place.x, place.y, place.x + place.width - 1, place.y + place.height - 1), _colour(number)
        )
        middle = (place.x + place.width / 2, place.y + place.height / 2)
        pen.text(middle, mark.ref, "white", font, anchor="mm")
    return _encode(image, type, quality)


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _clip(area: Area, size: tuple[int, int]) -> Area | None:
    """Return the part of the area that is inside the image, or None."""
    left, top = max(area.x, 0), max(area.y, 0)
    right, bottom = min(area.x + area.width, size[0]), min(area.y + area.height, size[1])
    return Area(left, top, right - left, bottom - top) if left < right and top < bottom else None


def _place_labels(
    marks: Sequence[Mark], font: ImageFont.FreeTypeFont | ImageFont.ImageFont, size: tuple[int, int]
) -> Iterator[Area]:
    """Yield the area of each label. It covers as little as possible of other labels, and then of elements."""
    labels, elements = _AreaIndex(()), _AreaIndex(mark.area for mark in marks)
    for ref, area in marks:
        width = round(font.getlength(ref)) + 2 * PADDING
        places = [
            _move_inside(place, size) for place in _label_positions(area, width, FONT_SIZE + 2 * PADDING)
        ]
        best = min(
            places,
            key=lambda place: (
                LABEL_WEIGHT * labels.count_covered_pixels(place) + elements.count_covered_pixels(place)
            ),
        )
        labels.add(best)
        yield best


class _AreaIndex:
    """Areas, indexed by the squares of the image that they touch."""

    def __init__(self, areas: Iterable[Area]) -> None:
        self._squares: dict[tuple[int, int], list[Area]] = {}
        for area in areas:
            self.add(area)

    def add(self, area: Area) -> None:
        if area.width * area.height <= LARGE_AREA:
            for square in _squares(area):
                self._squares.setdefault(square, []).append(area)

    def count_covered_pixels(self, area: Area) -> int:
        """Return the number of pixels of the indexed areas that the given area covers."""
        neighbours = {other for square in _squares(area) for other in self._squares.get(square, ())}
        return sum(_overlap(area, other) for other in neighbours)


def _squares(area: Area) -> Iterator[tuple[int, int]]:
    for column in range(area.x // SQUARE, (area.x + area.width - 1) // SQUARE + 1):
        for row in range(area.y // SQUARE, (area.y + area.height - 1) // SQUARE + 1):
            yield column, row


def _label_positions(area: Area, width: int, height: int) -> Iterator[Area]:
    """Yield the possible positions of a label, the preferred ones above the element first."""
    right, bottom = area.x + area.width, area.y + area.height
    for x, y in (
        *((area.x, area.y - height), (right - width, area.y - height), (area.x - width, area.y)),
        *((right, area.y), (area.x, bottom), (right - width, bottom)),
        *((area.x, area.y), (right - width, area.y), (right - width, bottom - height)),
        *((area.x - width, area.y - height), (right, bottom)),
    ):
        yield Area(x, y, width, height)


def _move_inside(area: Area, size: tuple[int, int]) -> Area:
    """Move the area into the image."""
    x = max(0, min(area.x, size[0] - area.width))
    y = max(0, min(area.y, size[1] - area.height))
    return area._replace(x=x, y=y)


def _overlap(one: Area, other: Area) -> int:
    width = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    height = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return max(0, width) * max(0, height)
