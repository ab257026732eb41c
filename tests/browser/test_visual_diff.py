"""Comparing two screenshots."""

from __future__ import annotations

import io
import random
import zlib
from collections.abc import Sequence

import pytest
from PIL import Image, ImageDraw

from footlight.browser.reading.areas import Area
from footlight.browser.reading.visual_diff import ImageDifference, UnreadablePictureError, compare


def png(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "png")
    return file.getvalue()


def page(
    *boxes: tuple[int, int, int, int], size: tuple[int, int] = (400, 300), colour: str = "black"
) -> bytes:
    """Return a white picture with boxes, each given by x, y, width and height."""
    image = Image.new("RGB", size, "white")
    for x, y, width, height in boxes:
        ImageDraw.Draw(image).rectangle((x, y, x + width - 1, y + height - 1), fill=colour)
    return png(image)


def summarize(difference: ImageDifference) -> tuple[int, tuple[Area, ...], bool]:
    return difference.pixels, difference.regions, difference.sizes_differ


def test_identical_images_have_no_difference() -> None:
    difference = compare(page((1, 1, 9, 9)), page((1, 1, 9, 9)), threshold=0)

    assert (summarize(difference), difference.percent, difference.size) == ((0, (), False), 0.0, (400, 300))


def test_nearby_changes_are_merged_and_distant_ones_separate() -> None:
    difference = compare(page(), page((10, 10, 5, 5), (18, 12, 2, 2), (300, 200, 20, 10)), threshold=0.1)

    assert summarize(difference) == (25 + 4 + 200, (Area(10, 10, 10, 5), Area(300, 200, 20, 10)), False)
    assert difference.percent == pytest.approx(100 * 229 / 120_000)


@pytest.mark.parametrize(
    ("old", "new", "threshold", "pixels"),
    [
        ("#000000", "#000001", 0, 100),
        ("#000000", "#000001", 0.1, 0),
        ("#808080", "#8c8c8c", 0.1, 0),
        ("#808080", "#a0a0a0", 0.1, 100),
        ("#ff0000", "#00b000", 0.1, 100),
        ("#000000", "#ffffff", 0.9, 100),
        ("#808080", "#a0a0a0", 1, 0),
    ],
)
def test_colour_difference_is_compared_with_the_threshold(
    old: str, new: str, threshold: float, pixels: int
) -> None:
    before, after = page((5, 5, 10, 10), colour=old), page((5, 5, 10, 10), colour=new)

    assert compare(before, after, threshold=threshold).pixels == pixels


@pytest.mark.parametrize("seed", range(5))
def test_pixel_count_matches_the_reference_formula(seed: int) -> None:
    """The formula of pixelmatch, pixel by pixel."""
    chance = random.Random(seed)
    sizes = (70, 1100)
    old = Image.frombytes("RGB", sizes, chance.randbytes(3 * 70 * 1100))
    new = old.point([min(255, value + chance.randrange(60)) for value in range(256)] * 3)
    pairs = zip(old.get_flattened_data(), new.get_flattened_data(), strict=True)

    expected = sum(distance(*pair) > 35215 * 0.1**2 for pair in pairs)

    assert compare(png(old), png(new), threshold=0.1).pixels == expected


def distance(one: Sequence[int], other: Sequence[int]) -> float:
    r, g, b = (a - b for a, b in zip(one, other, strict=True))
    y = r * 0.29889531 + g * 0.58662247 + b * 0.11448223
    i = r * 0.59597799 - g * 0.2741761 - b * 0.32180189
    q = r * 0.21147017 - g * 0.52261711 + b * 0.31114694
    return 0.5053 * y * y + 0.299 * i * i + 0.1957 * q * q


def test_area_outside_one_image_is_changed() -> None:
    difference = compare(page(size=(400, 300)), page(size=(410, 280)), threshold=1)

    assert difference.size == (410, 300)
    assert summarize(difference) == (410 * 300 - 400 * 280, (Area(0, 0, 410, 300),), True)


def test_ignored_areas_are_not_compared() -> None:
    after = page((10, 10, 50, 50), (200, 200, 5, 5))

    difference = compare(page(), after, threshold=0.1, ignored=[Area(-5, -5, 65, 65), Area(390, 290, 99, 99)])

    assert summarize(difference) == (25, (Area(200, 200, 5, 5),), False)


def test_the_twenty_largest_changes_are_reported_in_reading_order() -> None:
    boxes = [(column * 80, row * 60, 5 + column, 5 + row) for row in range(5) for column in range(5)]

    difference = compare(page(), page(*boxes), threshold=0.1)

    largest = sorted(boxes, key=lambda box: box[2] * box[3])[-20:]
    assert difference.regions == tuple(
        Area(*box) for box in sorted(largest, key=lambda box: (box[1], box[0]))
    )


@pytest.mark.slow
def test_single_changed_pixel_of_a_long_page_is_found() -> None:
    difference = compare(
        page(size=(1280, 8000)), page((1279, 7999, 1, 1), (640, 3000, 1, 1), size=(1280, 8000)), threshold=0.1
    )

    assert summarize(difference) == (2, (Area(640, 3000, 1, 1), Area(1279, 7999, 1, 1)), False)


def test_diff_image_marks_changes_red_and_fades_the_rest() -> None:
    difference = compare(page((50, 50, 10, 10)), page((50, 50, 10, 10), (100, 100, 10, 10)), threshold=0.1)

    with Image.open(io.BytesIO(difference.picture)) as picture:
        colours = [picture.convert("RGB").getpixel(at) for at in ((105, 105), (55, 55), (5, 5), (96, 96))]
    assert colours == [(230, 0, 35), (178, 178, 178), (255, 255, 255), (255, 140, 0)]


def test_transparent_pixels_are_white() -> None:
    clear = png(Image.new("RGBA", (400, 300), (0, 0, 0, 0)))

    assert compare(clear, page(), threshold=0).pixels == 0


def with_chunk(kind: bytes, data: bytes) -> bytes:
    """Return a PNG with this chunk after its header."""
    whole = png(Image.new("L", (9, 9)))
    checksum = zlib.crc32(kind + data).to_bytes(4, "big")
    return whole[:33] + len(data).to_bytes(4, "big") + kind + data + checksum + whole[33:]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no picture",
        png(Image.new("L", (9, 9)))[:45],
        b"GIF89a" + bytes(99),
        with_chunk(b"tRNS", b""),
        with_chunk(b"gAMA", b"a"),
        with_chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(10_000_000))),
    ],
)
def test_invalid_image_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadablePictureError, match="it is not a readable PNG or JPEG"):
        compare(data, page(), threshold=0.1)


@pytest.mark.slow
def test_image_above_the_memory_limit_is_refused() -> None:
    large = png(Image.new("1", (20_000, 20_000)))

    with pytest.raises(UnreadablePictureError):
        compare(large, page(), threshold=0.1)
