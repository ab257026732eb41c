"""Pictures of elements with findings: cut-outs, and screenshots in which elements are framed."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

from PIL import Image, ImageDraw, ImageFont

from footlight.audit.findings import ElementBox, EvidencePicture, ScreenPicture
from footlight.audit.page.page import AuditViewport

__all__ = ["PageScreenshot"]

MARGIN = 40
MAX_WIDTH, MAX_HEIGHT = 640, 400
COLOUR = "#c2185b"
"""The colour of frames and labels, on which white text is legible."""
QUALITY = 80
FONT_SIZE = 12


class PageScreenshot:
    """A screenshot from the top left corner of a page, with one pixel for each CSS pixel."""

    def __init__(self, png: bytes) -> None:
        with Image.open(io.BytesIO(png)) as opened:
            self._image = opened.convert("RGB")

    def cut_out(self, box: ElementBox) -> EvidencePicture | None:
        """Return the framed element with its surroundings, or None if the screenshot does not show it."""
        left, top = max(box.x, 0), max(box.y, 0)
        right = min(box.x + box.width, self._image.width)
        bottom = min(box.y + box.height, self._image.height)
        if right - left < 1 or bottom - top < 1:
            return None
        corner = max(int(left) - MARGIN, 0), max(int(top) - MARGIN, 0)
        part = self._image.crop(
            (
                *corner,
                min(int(right) + MARGIN, self._image.width, corner[0] + MAX_WIDTH),
                min(int(bottom) + MARGIN, self._image.height, corner[1] + MAX_HEIGHT),
            )
        )
        frame = left - corner[0] - 2, top - corner[1] - 2, right - corner[0] + 1, bottom - corner[1] + 1
        ImageDraw.Draw(part).rectangle(frame, outline=COLOUR, width=2)
        return _picture(part)

    def first_screen(
        self, marks: Iterable[tuple[str, ElementBox]], view: AuditViewport
    ) -> Sequence[ScreenPicture]:
        """Return the first screen, and a second copy with frames and finding ids if it shows elements."""
        size = min(self._image.width, view.width), min(self._image.height, view.height)
        image = self._image.crop((0, 0, *size))
        plain = ScreenPicture(width=view.width, picture=_picture(image))
        visible = [(id, box) for id, box in marks if _is_in(box, size)]
        if not visible:
            return (plain,)
        pen, font = ImageDraw.Draw(image), ImageFont.load_default(FONT_SIZE)
        for _, box in visible:
            pen.rectangle((box.x, box.y, box.x + box.width, box.y + box.height), outline=COLOUR, width=2)
        for id, box in visible:
            place = max(box.x, 0) + 2, max(box.y - FONT_SIZE - 3, 0)
            left, top, right, bottom = pen.textbbox(place, id, font=font)
            pen.rectangle((left - 2, top - 1, right + 2, bottom + 1), fill=COLOUR)
            pen.text(place, id, fill="white", font=font)
        return plain, ScreenPicture(width=view.width, picture=_picture(image), marked=True)


def _is_in(box: ElementBox, size: tuple[int, int]) -> bool:
    across = box.x + box.width > 0 and box.x < size[0]
    return across and box.y + box.height > 0 and box.y < size[1] and min(box.width, box.height) >= 1


def _picture(image: Image.Image) -> EvidencePicture:
    out = io.BytesIO()
    image.save(out, "JPEG", quality=QUALITY)
    return EvidencePicture(data=out.getvalue(), width=image.width, height=image.height)
