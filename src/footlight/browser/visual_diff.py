"""Two pictures of a page compared, pixel by pixel, as an eye would: pure, with Pillow alone.

A pixel is another where its colour is further away than a threshold, measured as pixelmatch does: in YIQ,
where brightness counts most (Kotsarenko and Ramos, "Measuring perceived color difference", 2010). Imported
when there is something to compare: Pillow is not light.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from PIL import Image, ImageChops, ImageDraw, ImageMath

from footlight.browser.areas import Area

__all__ = ["Difference", "PictureUnreadable", "compare"]

MOST_PIXELS = 100_000_000
MOST_REGIONS = 20
FARTHEST = 35215.0
"""The distance of two colours that could not be more different."""
STRIP = 512
"""Rows that are compared at a time, which bounds the memory."""
CELL = 12
"""Pixels. Changes that are nearer than this to each other belong together, or further in a large picture."""
MOST_CELLS = 40_000

RED = (230, 0, 35)
FRAME = (255, 140, 0)


class PictureUnreadable(ValueError):
    """It is no PNG or JPEG, broken, or too large."""


@dataclass(frozen=True, slots=True)
class Difference:
    """`size` is that of what was compared: of the larger picture, in both directions."""

    size: tuple[int, int]
    sizes_differ: bool
    pixels: int
    regions: tuple[Area, ...]
    """Where something changed, the largest changes, in reading order."""
    picture: bytes
    """A PNG of the second picture, faded, with what changed in red."""

    @property
    def percent(self) -> float:
        return 100 * self.pixels / (self.size[0] * self.size[1])


def compare(before: bytes, after: bytes, *, threshold: float, ignored: Sequence[Area] = ()) -> Difference:
    """`threshold` is from 0, where every other colour counts, to 1. What is in an ignored area is the same.

    Raises:
        PictureUnreadable: `before` is no picture.
    """
    old, new = _opened(before), _opened(after)
    size = (max(old.width, new.width), max(old.height, new.height))
    changed = _changed(_on_canvas(old, size), _on_canvas(new, size), threshold)
    _mark_beyond(changed, old.size, new.size)
    pen = ImageDraw.Draw(changed)
    for area in ignored:
        pen.rectangle((area.x, area.y, area.x + area.width - 1, area.y + area.height - 1), fill=0)
    regions = _regions(changed)
    return Difference(
        size=size,
        sizes_differ=old.size != new.size,
        pixels=changed.histogram()[255],
        regions=regions,
        picture=_annotated(_on_canvas(new, size), changed, regions),
    )


def _opened(data: bytes) -> Image.Image:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # The limit is ours.
            with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as image:
                if image.width * image.height > MOST_PIXELS:
                    raise PictureUnreadable(f"it has more than {MOST_PIXELS} pixels")
                return _on_white(image)
    except (OSError, SyntaxError, Image.DecompressionBombError):
        raise PictureUnreadable("it is no PNG or JPEG that can be read") from None


def _on_white(image: Image.Image) -> Image.Image:
    if not image.has_transparency_data:
        return image.convert("RGB")
    layer = image.convert("RGBA")
    page = Image.new("RGB", image.size, "white")
    page.paste(layer, mask=layer)
    return page


def _on_canvas(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    if image.size == size:
        return image
    canvas = Image.new("RGB", size, "white")
    canvas.paste(image)
    return canvas


def _changed(old: Image.Image, new: Image.Image, threshold: float) -> Image.Image:
    """255 for each pixel that changed, else 0. Only where anything differs at all is looked at closely."""
    changed = Image.new("L", old.size, 0)
    differing = ImageChops.difference(old, new).getbbox()
    if differing is None:
        return changed
    left, top, right, bottom = differing
    limit = FARTHEST * threshold * threshold
    for y in range(top, bottom, STRIP):
        strip = (left, y, right, min(y + STRIP, bottom))
        changed.paste(_far(old.crop(strip), new.crop(strip), limit), strip[:2])
    return changed


def _far(old: Image.Image, new: Image.Image, limit: float) -> Image.Image:
    bands = {
        f"{name}{number}": band for number, image in enumerate((old, new)) for name, band in _bands(image)
    }

    def distance(args: dict[str, Any]) -> Any:
        real = args["float"]
        r, g, b = (real(args[f"{name}0"]) - real(args[f"{name}1"]) for name in "rgb")
        y = r * 0.29889531 + g * 0.58662247 + b * 0.11448223
        i = r * 0.59597799 - g * 0.2741761 - b * 0.32180189
        q = r * 0.21147017 - g * 0.52261711 + b * 0.31114694
        return args["convert"]((y * y * 0.5053 + i * i * 0.299 + q * q * 0.1957 > limit) * 255, "L")

    return ImageMath.lambda_eval(distance, **bands)


def _bands(image: Image.Image) -> Iterator[tuple[str, Image.Image]]:
    return zip("rgb", image.split(), strict=True)


def _mark_beyond(changed: Image.Image, old: tuple[int, int], new: tuple[int, int]) -> None:
    """What only one of the pictures has."""
    common = (min(old[0], new[0]), min(old[1], new[1]))
    pen = ImageDraw.Draw(changed)
    if common[0] < changed.width:
        pen.rectangle((common[0], 0, changed.width, changed.height), fill=255)
    if common[1] < changed.height:
        pen.rectangle((0, common[1], changed.width, changed.height), fill=255)


def _regions(changed: Image.Image) -> tuple[Area, ...]:
    """Boxes around changes that are near each other."""
    grid, cell = changed.reduce(CELL).point(_ANY), CELL
    while grid.width * grid.height > MOST_CELLS:
        grid, cell = grid.reduce(2).point(_ANY), cell * 2
    cells = {(at % grid.width, at // grid.width) for at, value in enumerate(grid.tobytes()) if value}
    boxes = [_tight(changed, group, cell) for group in _groups(cells)]
    largest = sorted(boxes, key=lambda area: area.width * area.height, reverse=True)[:MOST_REGIONS]
    return tuple(sorted(largest, key=lambda area: (area.y, area.x)))


_ANY = [0, *([255] * 255)]
"""The mean of a cell is not 0 as soon as one of its pixels changed."""


def _groups(cells: set[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Cells that touch each other, also at a corner."""
    left = set(cells)
    while left:
        group = [left.pop()]
        for column, row in group:  # It grows meanwhile.
            near = {(column + x, row + y) for x in (-1, 0, 1) for y in (-1, 0, 1)} & left
            left -= near
            group.extend(near)
        yield group


def _tight(changed: Image.Image, group: list[tuple[int, int]], cell: int) -> Area:
    """The box of what changed in these cells."""
    left, top = (cell * min(each[axis] for each in group) for axis in (0, 1))
    right, bottom = (cell * (max(each[axis] for each in group) + 1) for axis in (0, 1))
    box = changed.crop((left, top, right, bottom)).getbbox()
    assert box is not None
    return Area(left + box[0], top + box[1], box[2] - box[0], box[3] - box[1])


def _annotated(new: Image.Image, changed: Image.Image, regions: Sequence[Area]) -> bytes:
    faded = Image.blend(new.convert("L").convert("RGB"), Image.new("RGB", new.size, "white"), 0.7)
    faded.paste(RED, mask=changed)
    pen = ImageDraw.Draw(faded)
    for area in regions:
        pen.rectangle(
            (area.x - 4, area.y - 4, area.x + area.width + 3, area.y + area.height + 3), None, FRAME, 2
        )
    file = io.BytesIO()
    faded.save(file, "png")
    return file.getvalue()
