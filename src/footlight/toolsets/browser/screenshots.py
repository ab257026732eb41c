"""Screenshots of a page or an element, and their comparison with a baseline."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.driver.output_folder import write_new
from footlight.browser.network.policy import upload_paths
from footlight.browser.page.region_capture import look_at
from footlight.browser.reading.areas import Area, find_areas, locate_frame
from footlight.browser.reading.screenshots import ScreenshotOptions, take_element_screenshot, take_screenshot
from footlight.browser.recording.artifact_store import ScreenshotArtifact
from footlight.errors import InvalidParameterError, MissingParameterError, PermissionDeniedError
from footlight.server.calls.attachments import attach_screenshot
from footlight.server.resources.uris import ROOT, Address
from footlight.server.tools import Number, ToolCall, tool
from footlight.toolsets.browser.files import output_of
from footlight.toolsets.browser.parameters import Selector

if TYPE_CHECKING:
    from footlight.browser.reading.pictures import EncodedImage
    from footlight.browser.reading.visual_diff import ImageDifference

__all__ = ["MODEL_SIDE", "attach"]

MODEL_SIDE = 1568
"""Pixels of the longer side. Models scale larger images down, so more pixels only cost tokens."""


async def attach(
    call: ToolCall,
    data: bytes,
    *,
    type: Literal["png", "jpeg"] = "png",
    quality: int | None = None,
    max_side: int,
    full_page: bool,
) -> "tuple[EncodedImage, str | None]":
    """Attach a picture to the answer, scaled down to `max_side` pixels (0: unscaled).

    Return the picture as it is sent, and its URI if the server keeps it.

    Raises:
        PermissionDeniedError: The picture is larger than this server allows.
        ResourceExhaustedError: It has too many pixels.
    """
    from footlight.browser.reading.pictures import fit

    picture = await asyncio.to_thread(fit, data, type=type, quality=quality, max_side=max_side)
    _check_size(call, picture.data)
    return picture, attach_screenshot(call, picture.data, type=type, size=picture.size, full_page=full_page)


def _check_size(call: ToolCall, data: bytes) -> None:
    limit = call.settings.security.max_screenshot_size
    if len(data) > limit:
        raise PermissionDeniedError(
            f"The screenshot has {len(data)} bytes, more than the {limit} that this server allows",
            suggestion="Take it as jpeg, smaller (maxSide), without fullPage, or of one element.",
            bytes=len(data),
            maxScreenshotSize=limit,
        )


ImageType = Literal["png", "jpeg"]


class ScreenshotTaken(TypedDict):
    """Sizes in pixels of the image; `originalWidth` and `originalHeight` only if it was scaled down.

    The image can be read again at `uri`, unless the server does not keep one of that size.
    """

    width: int
    height: int
    format: ImageType
    bytes: int
    fullPage: bool
    originalWidth: NotRequired[int]
    originalHeight: NotRequired[int]
    uri: NotRequired[str]


MaxSide = Annotated[Number | None, Field(ge=0)]


@tool(effect="read")
async def screenshot(
    call: ToolCall,
    full_page: bool = False,
    type: ImageType = "png",
    quality: Annotated[Number | None, Field(ge=0, le=100, description="JPEG only")] = None,
    max_side: Annotated[MaxSide, Field(description="Longest side in pixels; 0: no limit")] = None,
    marks: Annotated[bool, Field(description="Draw refs beside controls")] = False,
) -> ScreenshotTaken:
    """Take screenshot"""
    if quality is not None and type == "png":
        raise InvalidParameterError("quality: only valid for JPEG; set type to jpeg", parameter="quality")
    options = ScreenshotOptions(
        full_page=full_page, type=type, quality=None if quality is None else int(quality)
    )
    data = await (
        _screenshot_with_marks(call, options) if marks else take_screenshot(call.page, options, call.deadline)
    )
    side = max_side if max_side is not None else 0 if full_page else MODEL_SIDE
    return await _attach_screenshot(call, data, options, int(side))


@tool(effect="read")
async def screenshot_element(
    call: ToolCall, selector: Selector, type: ImageType = "png", max_side: MaxSide = None
) -> ScreenshotTaken:
    """Screenshot element"""
    options = ScreenshotOptions(type=type)
    data = await take_element_screenshot(call.page, selector, options, call.deadline)
    return await _attach_screenshot(call, data, options, MODEL_SIDE if max_side is None else int(max_side))


async def _screenshot_with_marks(call: ToolCall, options: ScreenshotOptions) -> bytes:
    """Take a lossless screenshot, draw refs on it and encode it as requested."""
    from footlight.browser.reading.pictures import Mark, draw_marks, is_marked

    page, deadline = call.page, call.deadline
    nodes = (await look_at(page, deadline, boxes=True)).nodes
    frame = await locate_frame(page, deadline, full_page=options.full_page)
    picture = await take_screenshot(page, ScreenshotOptions(full_page=options.full_page), deadline)
    marks = [
        Mark(node.ref, frame.area(node.box)) for node in nodes if is_marked(node) if node.ref and node.box
    ]
    return await asyncio.to_thread(draw_marks, picture, marks, type=options.type, quality=options.quality)


async def _attach_screenshot(
    call: ToolCall, data: bytes, options: ScreenshotOptions, max_side: int
) -> ScreenshotTaken:
    """Attach the image to the answer and return its size."""
    picture, uri = await attach(
        call,
        data,
        type=options.type,
        quality=options.quality,
        max_side=max_side,
        full_page=options.full_page,
    )
    answer: ScreenshotTaken = {
        "width": picture.size[0],
        "height": picture.size[1],
        "format": options.type,
        "bytes": len(picture.data),
        "fullPage": options.full_page,
    }
    if picture.size != picture.original_size:
        answer["originalWidth"], answer["originalHeight"] = picture.original_size
    return {**answer, "uri": uri} if uri else answer


MAX_BASELINE_BYTES = 50_000_000


class ChangedArea(TypedDict):
    x: int
    y: int
    width: int
    height: int


class ComparisonResult(TypedDict):
    """In pixels of the screenshot. Without a baseline only the size and `saved` are set.

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


@tool(effect="configure", untrusted=False)
async def visual_diff(
    call: ToolCall,
    baseline: Annotated[str | None, Field(description="Screenshot uri or image file")] = None,
    selector: Selector | None = None,
    full_page: bool = False,
    threshold: Annotated[Number, Field(ge=0, le=1, description="Tolerated color difference")] = 0.1,
    max_percent: Annotated[Number, Field(ge=0, le=100, description="Tolerated changed pixels")] = 0,
    masks: Annotated[list[Selector] | None, Field(description="Elements to ignore")] = None,
    save: Annotated[str | None, Field(description="Name for a new baseline")] = None,
) -> ComparisonResult:
    """Compare with a baseline screenshot"""
    if selector is not None and full_page:
        raise InvalidParameterError(
            "fullPage: cannot be combined with selector; leave one of them out", parameter="fullPage"
        )
    if baseline is None and save is None:
        raise MissingParameterError(
            "visual_diff needs the parameter baseline, or save",
            suggestion="Give the uri of an earlier screenshot, or the path of an image, as baseline; or "
            "save, to write the first one.",
            parameter="baseline",
        )
    before = None if baseline is None else await _read_baseline(call, baseline)
    now = await _take_picture(call, selector, full_page=full_page)
    path = None if save is None else _save_baseline(call, save, now)
    compared: ComparisonResult = {"width": 0, "height": 0}
    if before is None:
        compared["width"], compared["height"] = await asyncio.to_thread(_measure, now)
    else:
        frame = await locate_frame(call.page, call.deadline, selector=selector, full_page=full_page)
        ignored = await find_areas(call.page, masks or (), frame, call.deadline)
        try:
            difference = await asyncio.to_thread(_compare_pictures, before, now, threshold, ignored)
        except ValueError as error:
            raise InvalidParameterError(
                f"baseline: {baseline} cannot be compared with: {error}", parameter="baseline"
            ) from None
        side = 0 if full_page else MODEL_SIDE
        _, uri = await attach(call, difference.picture, max_side=side, full_page=full_page)
        compared = _describe_difference(difference, max_percent, uri)
    return {**compared, "saved": str(path)} if path else compared


async def _take_picture(call: ToolCall, selector: str | None, *, full_page: bool) -> bytes:
    options = ScreenshotOptions(full_page=full_page, still=True)
    if selector is not None:
        return await take_element_screenshot(call.page, selector, options, call.deadline)
    return await take_screenshot(call.page, options, call.deadline)


def _save_baseline(call: ToolCall, name: str, picture: bytes) -> Path:
    folder = output_of(call)
    with folder.fill(folder.reserve(name, ".png", parameter="save")) as path:
        write_new(path, picture)
    return path


def _compare_pictures(
    before: bytes, now: bytes, threshold: float, ignored: Sequence[Area]
) -> "ImageDifference":
    from footlight.browser.reading.visual_diff import compare

    return compare(before, now, threshold=threshold, ignored=ignored)


def _measure(picture: bytes) -> tuple[int, int]:
    from footlight.browser.reading.pictures import fit

    return fit(picture, type="png", quality=None, max_side=0).size


def _describe_difference(
    difference: "ImageDifference", max_percent: float, uri: str | None
) -> ComparisonResult:
    result: ComparisonResult = {
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
    return {**result, "uri": uri} if uri else result


async def _read_baseline(call: ToolCall, baseline: str) -> bytes:
    if baseline.startswith(ROOT):
        return _find_screenshot(call, baseline)
    return await asyncio.to_thread(_read_image, call, baseline)


def _find_screenshot(call: ToolCall, uri: str) -> bytes:
    """Return the screenshot that this server keeps at `uri`.

    Raises:
        InvalidParameterError: There is no screenshot at that address.
        SessionNotFoundError: The session has ended, or belongs to another principal.
    """
    try:
        address = Address.parse(uri)
    except ValueError as error:
        raise InvalidParameterError(f"baseline: {uri}: {error}", parameter="baseline") from None
    if address.kind == "screenshot":
        session = call.sessions.find(address.session_id, caller=call.caller)
        for shot in session.artifacts.items(session.id, ScreenshotArtifact):
            if (shot.page_id, shot.timestamp) == address.segments[1:]:
                return shot.data
    raise InvalidParameterError(
        f"baseline: there is no screenshot {uri}, or it was dropped to make room for later ones",
        parameter="baseline",
    )


def _read_image(call: ToolCall, file: str) -> bytes:
    """Return an image file: by its name in the output folder, or from below an upload root.

    Raises:
        InvalidParameterError: It is not a file, or too large.
        PermissionDeniedError: It is outside these folders.
    """
    path = _find_image(call, file)
    if path.stat().st_size > MAX_BASELINE_BYTES:
        raise InvalidParameterError(
            f"baseline: {file} has more than {MAX_BASELINE_BYTES} bytes", parameter="baseline"
        )
    return path.read_bytes()


def _find_image(call: ToolCall, file: str) -> Path:
    security = call.settings.security
    output = output_of(call)
    if found := output.find(file) or output.find(f"{file}.png"):
        return found
    roots = [output.path, *(security.upload_roots if security.enable_file_upload else ())]
    try:
        return upload_paths([file], roots, forbidden=call.settings.private_paths)[0]
    except InvalidParameterError:
        raise InvalidParameterError(
            f"baseline: {file} is not a file",
            suggestion="Give the uri of an earlier screenshot, a name given to save, or a path.",
            parameter="baseline",
        ) from None
    except PermissionDeniedError:
        raise PermissionDeniedError(
            f"baseline: {file} is outside the folders that images may be read from",
            suggestion=f"Use a file below {', '.join(str(root.resolve()) for root in roots)}.",
            parameter="baseline",
        ) from None
