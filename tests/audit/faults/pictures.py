"""Pictures that weigh something: noise, which no format makes small."""

from __future__ import annotations

import io
import random

from PIL import Image

__all__ = ["noise"]


def noise(width: int, height: int) -> bytes:
    """Return a PNG of three bytes for each pixel, the same each time."""
    out = io.BytesIO()
    data = random.Random(1).randbytes(width * height * 3)
    Image.frombytes("RGB", (width, height), data).save(out, "PNG", compress_level=0)
    return out.getvalue()
