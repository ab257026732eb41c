"""Whether a page still looks as it did."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser import reading
from footlight.browser.areas import Area, areas, frame_of
from footlight.browser.output import write_new
from footlight.browser.policy import upload_paths
from footlight.browser.reading import ScreenshotOptions
from footlight.browser.shelf import Screenshot
from footlight.errors import InvalidParameter, MissingParameter, PermissionDenied
from footlight.server.tool import Number, ToolCall, tool
from footlight.server.uris import ROOT, Address
from footlight.toolsets.browser.files import output_of
from footlight.toolsets.browser.parameters import Selector
from footlight.toolsets.browser.pictures import MODEL_SIDE, attach

if TYPE_CHECKING:
    from footlight.browser.visual_diff import Difference

__all__ = ["TOOLS"]

LARGEST_FILE = 50_000_000
"""Bytes of a baseline."""


class ChangedArea(TypedDict):
    x: int
    y: int
    width: int
    height: int


class Compared(TypedDict):
    """In pixels of the page's picture. What is of a comparison is missing where there was no baseline.

    `different`: more than `maxPercent` of the pixels changed. `uri` is the annotated picture, `saved` the
    path of a new baseline.
    """

    width: int
    height: int
    different: NotRequired[bool]
    percent: NotRequired[float]
    pixels: NotRequired[int]
    sizesDiffer: NotRequired[bool]
    regions: NotRequired[list[ChangedArea]]
    uri: NotRequired[str]
    saved: NotRequired[str]


@tool(effect="configure")
async def visual_diff(
    call: ToolCall,
    baseline: Annotated[str | None, Field(description="Screenshot uri or image file")] = None,
    selector: Selector | None = None,
    full_page: bool = False,
    threshold: Annotated[Number, Field(ge=0, le=1)] = 0.1,
    max_percent: Annotated[Number, Field(ge=0, le=100)] = 0,
    masks: list[Selector] | None = None,
    save: Annotated[str | None, Field(description="Name for a new baseline")] = None,
) -> Compared:
    """Compare with a baseline screenshot. Diff percentage, annotated screenshot; masks are ignored."""
    if selector is not None and full_page:
        raise InvalidParameter("fullPage: not with a selector; leave one of them out", parameter="fullPage")
    if baseline is None and save is None:
        raise MissingParameter(
            "visual_diff needs the parameter baseline, or save",
            suggestion="Give the uri of an earlier screenshot, or the path of an image, as baseline; or "
            "save, to write the first one.",
            parameter="baseline",
        )
    before = None if baseline is None else _baseline(call, baseline)
    now = await _picture(call, selector, full_page=full_page)
    path = None if save is None else _saved(call, save, now)
    compared: Compared = {"width": 0, "height": 0}
    if before is None:
        compared["width"], compared["height"] = await asyncio.to_thread(_size, now)
    else:
        frame = await frame_of(call.page, call.deadline, selector=selector, full_page=full_page)
        ignored = await areas(call.page, masks or (), frame, call.deadline)
        try:
            difference = await asyncio.to_thread(_compare, before, now, threshold, ignored)
        except ValueError as error:
            raise InvalidParameter(
                f"baseline: {baseline} cannot be compared with: {error}", parameter="baseline"
            ) from None
        side = 0 if full_page else MODEL_SIDE
        _, uri = attach(call, difference.picture, max_side=side, full_page=full_page)
        compared = _told(difference, max_percent, uri)
    return {**compared, "saved": str(path)} if path else compared


async def _picture(call: ToolCall, selector: str | None, *, full_page: bool) -> bytes:
    options = ScreenshotOptions(full_page=full_page, still=True)
    if selector is not None:
        return await reading.screenshot_element(call.page, selector, options, call.deadline)
    return await reading.screenshot(call.page, options, call.deadline)


def _saved(call: ToolCall, name: str, picture: bytes) -> Path:
    path = output_of(call).reserve(name, ".png", parameter="save")
    write_new(path, picture)
    return path


def _compare(before: bytes, now: bytes, threshold: float, ignored: Sequence[Area]) -> "Difference":
    from footlight.browser.visual_diff import compare

    return compare(before, now, threshold=threshold, ignored=ignored)


def _size(picture: bytes) -> tuple[int, int]:
    from footlight.browser.picture import fit

    return fit(picture, type="png", quality=None, max_side=0).size


def _told(difference: "Difference", max_percent: float, uri: str | None) -> Compared:
    told: Compared = {
        "width": difference.size[0],
        "height": difference.size[1],
        "different": difference.percent > max_percent,
        "percent": round(difference.percent, 4),
        "pixels": difference.pixels,
        "sizesDiffer": difference.sizes_differ,
        "regions": [
            {"x": area.x, "y": area.y, "width": area.width, "height": area.height}
            for area in difference.regions
        ],
    }
    return {**told, "uri": uri} if uri else told


# What it is compared with


def _baseline(call: ToolCall, baseline: str) -> bytes:
    return _kept(call, baseline) if baseline.startswith(ROOT) else _read(call, baseline)


def _kept(call: ToolCall, uri: str) -> bytes:
    """A screenshot of this server.

    Raises:
        InvalidParameter: there is none at that address.
        SessionNotFound: its session has ended, or is another principal's.
    """
    try:
        address = Address.parse(uri)
    except ValueError as error:
        raise InvalidParameter(f"baseline: {uri}: {error}", parameter="baseline") from None
    if address.kind == "screenshot":
        session = call.sessions.find(address.session_id, caller=call.caller)
        for shot in session.shelf.of(session.id, Screenshot):
            if (shot.page_id, shot.timestamp) == address.segments[1:]:
                return shot.data
    raise InvalidParameter(
        f"baseline: there is no screenshot {uri}, or it had to make room for later ones", parameter="baseline"
    )


def _read(call: ToolCall, file: str) -> bytes:
    """An image file: by its name in the output folder, or below a folder that files may be uploaded from.

    Raises:
        InvalidParameter: it is no file, or too large.
        PermissionDenied: it is elsewhere.
    """
    path = _path(call, file)
    if path.stat().st_size > LARGEST_FILE:
        raise InvalidParameter(f"baseline: {file} has more than {LARGEST_FILE} bytes", parameter="baseline")
    return path.read_bytes()


def _path(call: ToolCall, file: str) -> Path:
    security = call.settings.security
    output = output_of(call)
    if found := output.find(file) or output.find(f"{file}.png"):
        return found
    roots = [output.path, *(security.upload_roots if security.enable_file_upload else ())]
    try:
        return upload_paths([file], roots, never=call.settings.private_paths)[0]
    except InvalidParameter:
        raise InvalidParameter(
            f"baseline: {file} is not a file",
            suggestion="Give the uri of an earlier screenshot, the name that save was given, or a path.",
            parameter="baseline",
        ) from None
    except PermissionDenied:
        raise PermissionDenied(
            f"baseline: {file} is outside the folders that images may be read from",
            suggestion=f"Use a file below {', '.join(str(root.resolve()) for root in roots)}.",
            parameter="baseline",
        ) from None


TOOLS = (visual_diff,)
