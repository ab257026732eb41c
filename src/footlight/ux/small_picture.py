"""A picture as a model is shown it: no larger than it can make use of."""

from __future__ import annotations

import io

from footlight.ux.findings import Picture

__all__ = ["small_picture"]

QUALITY = 50


def small_picture(data: bytes, *, side: int) -> Picture:
    """No side is longer than so many pixels.

    Raises:
        ValueError: it is no image.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as opened:
            image = opened.convert("RGB")
    except (UnidentifiedImageError, OSError) as error:
        raise ValueError(f"it is no image that can be read: {error}") from error
    image.thumbnail((side, side))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=QUALITY, optimize=True)
    return Picture(data=out.getvalue(), width=image.width, height=image.height)
