"""The size of an image, and how it is made smaller. Imported when there is an image: Pillow is not light."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Literal

from PIL import Image

__all__ = ["Picture", "fit"]

JPEG_QUALITY = 80


@dataclass(frozen=True, slots=True)
class Picture:
    """An encoded image; sizes are (width, height) in pixels."""

    data: bytes
    size: tuple[int, int]
    original_size: tuple[int, int]


def fit(data: bytes, *, type: Literal["png", "jpeg"], quality: int | None, max_side: int) -> Picture:
    """The image with no side longer than `max_side`; 0 leaves it as it is."""
    with Image.open(io.BytesIO(data)) as image:
        original = image.size
        if not max_side or max(original) <= max_side:
            return Picture(data, original, original)
        ratio = max_side / max(original)
        size = (max(1, round(image.width * ratio)), max(1, round(image.height * ratio)))
        smaller = image.resize(size, Image.Resampling.LANCZOS)
    file = io.BytesIO()
    smaller.save(file, type, **({"quality": quality or JPEG_QUALITY} if type == "jpeg" else {}))
    return Picture(file.getvalue(), size, original)
