"""Compare two screenshots pixel by pixel, by perceived colour. No I/O.

Pixels differ if the distance of their colours exceeds a threshold. As in pixelmatch it is measured in YIQ,
where brightness has the most weight (Kotsarenko and Ramos, "Measuring perceived color difference", 2010).
Pillow is slow to import, so import this module only when it is needed.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from PIL import Image, ImageChops, ImageDraw, ImageMath

from footlight.browser.reading.areas import Area

__all__ = ["ImageDifference", "UnreadablePictureError", "compare"]

MAX_PIXELS = 100_000_000
MAX_REGIONS = 20
MAX_COLOUR_DISTANCE = 35215.0
"""The largest possible distance of two colours."""
STRIP = 512
"""The number of rows that are compared at a time, which limits the memory."""
CELL = 12
"""The distance in pixels below which changes belong to one region. It is larger in large images."""
MAX_CELLS = 40_000

RED = (230, 0, 35)
FRAME = (255, 140, 0)


class UnreadablePictureError(ValueError):
    """The data is not a PNG or JPEG, is damaged, or has too many pixels."""


@dataclass(frozen=True, slots=True)
class ImageDifference:
    """The result of a comparison. `size` is the larger width and the larger height of the two images."""

    size: tuple[int, int]
    sizes_differ: bool
    pixels: int
    regions: tuple[Area, ...]
    """The largest changed regions, in reading order."""
    picture: bytes
    """A PNG of the second image, faded, with the changed pixels in red."""

    @property
    def percent(self) -> float:
        return 100 * self.pixels / (self.size[0] * self.size[1])


def compare(
    before: bytes, after: bytes, *, threshold: float, ignored: Sequence[Area] = ()
) -> ImageDifference:
    """Compare two images. `threshold` is from 0, where every other colour counts, to 1.

    Pixels in an ignored area count as equal.

    Raises:
        UnreadablePictureError: an image cannot be read.
    """
    old, new = _open_image(before), _open_image(after)
    size = (max(old.width, new.width), max(old.height, new.height))
    changed = _make_change_mask(_extend(old, size), _extend(new, size), threshold)
    _mark_beyond(changed, old.size, new.size)
    pen = ImageDraw.Draw(changed)
    for area in ignored:
        pen.rectangle((area.x, area.y, area.x + area.width - 1, area.y + area.height - 1), fill=0)
    regions = _find_regions(changed)
    return ImageDifference(
        size=size,
        sizes_differ=old.size != new.size,
        pixels=changed.histogram()[255],
        regions=regions,
        picture=_annotate(_extend(new, size), changed, regions),
    )


def _open_image(data: bytes) -> Image.Image:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # The limit is ours.
            with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as image:
                if image.width * image.height > MAX_PIXELS:
                    raise UnreadablePictureError(f"it has more than {MAX_PIXELS} pixels")
                return _flatten(image)
    except UnreadablePictureError:
        raise
    except (OSError, SyntaxError, ValueError, AssertionError, Image.DecompressionBombError):
        raise UnreadablePictureError("it is not a readable PNG or JPEG") from None


def _flatten(image: Image.Image) -> Image.Image:
    if not image.has_transparency_data:
        return image.convert("RGB")
    layer = image.convert("RGBA")
    page = Image.new("RGB", image.size, "white")
    page.paste(layer, mask=layer)
    return page


def _extend(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    if image.size == size:
        return image
    canvas = Image.new("RGB", size, "white")
    canvas.paste(image)
    return canvas


def _make_change_mask(old: Image.Image, new: Image.Image, threshold: float) -> Image.Image:
    """Return an image with 255 for each changed pixel and 0 for the others.

    Only the bounding box of all differences is compared in detail.
    """
    changed = Image.new("L", old.size, 0)
    bounds = ImageChops.difference(old, new).getbbox()
    if bounds is None:
        return changed
    left, top, right, bottom = bounds
    limit = MAX_COLOUR_DISTANCE * threshold * threshold
    for y in range(top, bottom, STRIP):
        strip = (left, y, right, min(y + STRIP, bottom))
        changed.paste(_distant_pixels(old.crop(strip), new.crop(strip), limit), strip[:2])
    return changed


def _distant_pixels(old: Image.Image, new: Image.Image, limit: float) -> Image.Image:
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
    """Mark the pixels that exist in only one of the images."""
    common = (min(old[0], new[0]), min(old[1], new[1]))
    pen = ImageDraw.Draw(changed)
    if common[0] < changed.width:
        pen.rectangle((common[0], 0, changed.width, changed.height), fill=255)
    if common[1] < changed.height:
        pen.rectangle((0, common[1], changed.width, changed.height), fill=255)


def _find_regions(changed: Image.Image) -> tuple[Area, ...]:
    """Return bounding boxes around changes that are close to each other."""
    grid, cell = changed.reduce(CELL).point(_ANY), CELL
    while grid.width * grid.height > MAX_CELLS:
        grid, cell = grid.reduce(2).point(_ANY), cell * 2
    cells = {(at % grid.width, at // grid.width) for at, value in enumerate(grid.tobytes()) if value}
    boxes = [_find_bounding_box(changed, group, cell) for group in _group_cells(cells)]
    largest = sorted(boxes, key=lambda area: area.width * area.height, reverse=True)[:MAX_REGIONS]
    return tuple(sorted(largest, key=lambda area: (area.y, area.x)))


_ANY = [0, *([255] * 255)]
"""Maps the mean of a cell to 255 if at least one of its pixels changed."""


def _group_cells(cells: set[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Yield groups of cells that touch each other, also at a corner."""
    ungrouped = set(cells)
    while ungrouped:
        group = [ungrouped.pop()]
        for column, row in group:  # The group grows during the loop.
            neighbours = {(column + x, row + y) for x in (-1, 0, 1) for y in (-1, 0, 1)} & ungrouped
            ungrouped -= neighbours
            group.extend(neighbours)
        yield group


def _find_bounding_box(changed: Image.Image, group: list[tuple[int, int]], cell: int) -> Area:
    """Return the bounding box of the changed pixels in these cells."""
    left, top = (cell * min(each[axis] for each in group) for axis in (0, 1))
    right, bottom = (cell * (max(each[axis] for each in group) + 1) for axis in (0, 1))
    box = changed.crop((left, top, right, bottom)).getbbox()
    assert box is not None
    return Area(left + box[0], top + box[1], box[2] - box[0], box[3] - box[1])


def _annotate(new: Image.Image, changed: Image.Image, regions: Sequence[Area]) -> bytes:
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
