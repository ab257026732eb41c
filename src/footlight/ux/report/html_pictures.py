"""Which pictures a page brings along. They are most of its size, so not all of them may."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator

from footlight.markup import Html, element
from footlight.ux.audited import Audit
from footlight.ux.findings import Picture
from footlight.ux.report.placed import placed

__all__ = ["LARGEST_PICTURE", "LARGEST_PICTURES", "LARGEST_SCREENS", "Pictures"]

LARGEST_PICTURE = 2_000_000
LARGEST_PICTURES = 8_000_000
"""Bytes of the files, of all of them together; in the page they are a third more."""
LARGEST_SCREENS = 5_000_000
"""Of that, what screenshots of whole screens may have."""


class Pictures:
    """Those of an audit that fit: screens in the order of pages, then elements, the worst findings' first."""

    def __init__(self, audit: Audit) -> None:
        self._shown: set[int] = set()
        self.left_out = 0
        room = self._choose(_screens(audit), LARGEST_SCREENS)
        self._choose(_elements(audit), LARGEST_PICTURES - LARGEST_SCREENS + room)

    def image(self, picture: Picture | None, *, alt: str, kind: str | None = None) -> Html | None:
        """None where there is none, or it does not fit."""
        if picture is None or id(picture) not in self._shown:
            return None
        data = base64.b64encode(picture.data).decode()
        return element(
            "img",
            src=Html(f"data:image/{picture.type};base64,{data}"),
            alt=alt,
            width=picture.width,
            height=picture.height,
            class_=kind,
        )

    def _choose(self, pictures: Iterable[Picture], room: int) -> int:
        """What is left of the room."""
        for picture in pictures:
            if len(picture.data) <= min(room, LARGEST_PICTURE):
                room -= len(picture.data)
                self._shown.add(id(picture))
            else:
                self.left_out += 1
        return room


def _screens(audit: Audit) -> Iterator[Picture]:
    for page in audit.pages:
        yield from (shot.picture for shot in (page.evidence.screenshots if page.evidence else ()))


def _elements(audit: Audit) -> Iterator[Picture]:
    """The first of each finding, then the second of each."""
    found = [
        (place, each.picture)
        for one in placed(audit)
        for place, each in enumerate(one.finding.elements)
        if each.picture
    ]
    yield from (picture for _, picture in sorted(found, key=lambda each: each[0]))
