"""Draw the steps of a tour as an animation: left the calls and their answers, right the page."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import urlsplit

from PIL import Image

from footlight.markup import Html, element, join
from scripts.screenshots.shop_tour import PAGE_SIZE, Box, TourStep
from scripts.screenshots.viewer import open_browser, serve_pages

__all__ = ["make_animation"]

ROOT = Path(__file__).parents[2]
STAGE = Template(Path(__file__).with_name("stage.html").read_text("utf-8"))
FRAME_SIZE = (1200, 664)
PAGE_WIDTH = 636
SCALE = PAGE_WIDTH / PAGE_SIZE[0]
START = (540.0, 520.0)
COLOURS = 255

TYPED_MS = 110
MOVED_MS = 55
MOVES = 6
CLICKED_MS = 200
LOOK_MS = 700
LINE_MS = 330
END_MS = 3_200
MARKS = {"~": "changed", "+": "added", "-": "removed"}

POINTER = Html(
    '<svg class="pointer" style="left:{x:.1f}px;top:{y:.1f}px" viewBox="0 0 26 26">'
    '<path d="M4 2v18l5-4.4 3.2 7.4 3.4-1.5-3.2-7.2 6.8-.4Z"/></svg>'
)


@dataclass(frozen=True, kw_only=True)
class Frame:
    """A state of both halves, and how long it is shown."""

    log: Html
    picture: str
    overlay: Html
    address: str
    ms: float


def make_animation(steps: Sequence[TourStep], file: Path) -> None:
    """Draw each frame in a browser, and write all of them as a GIF that repeats."""
    pictures = {f"/{number}.png": step.picture for number, step in enumerate(steps)}
    frames = list(_make_frames(steps))
    pages: dict[str, str | bytes] = {f"/{number}": _draw(frame) for number, frame in enumerate(frames)}
    with serve_pages(pages | pictures) as url, open_browser(size=FRAME_SIZE) as browser:
        images: list[Image.Image] = []
        for number in range(len(frames)):
            browser.call("navigate", url=f"{url}/{number}", observe="none")
            images.append(Image.open(io.BytesIO(browser.screenshot())).convert("RGB"))
    palette = _make_palette(images)
    reduced = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    durations = [round(frame.ms / 10) * 10 for frame in frames]  # A GIF counts in hundredths of a second.
    reduced[0].save(file, save_all=True, append_images=reduced[1:], duration=durations, loop=0, optimize=True)


def _make_palette(images: Sequence[Image.Image]) -> Image.Image:
    """Return one palette for all frames, so that what does not change keeps its colours."""
    width, height = FRAME_SIZE
    several = images[:: max(1, len(images) // 12)]
    sheet = Image.new("RGB", (width, height * len(several)))
    for number, image in enumerate(several):
        sheet.paste(image, (0, height * number))
    return sheet.quantize(COLOURS, method=Image.Quantize.MEDIANCUT)


def _make_frames(steps: Sequence[TourStep]) -> Iterator[Frame]:
    log, pointer, picture = Html(""), START, ""
    for number, step in enumerate(steps):
        for part in (0.4, 1.0):
            call = _draw_call(step, part)
            yield _frame(join([log, call]), picture, _draw_pointer(pointer), step.url_before, TYPED_MS)
        log = join([log, _draw_call(step, 1.0)])
        rings = join(_draw_ring(box) for box in step.targets)
        for box in step.targets:
            goal = _middle(box)
            for move in range(1, MOVES + 1):
                place = _place_between(pointer, goal, move / MOVES)
                yield _frame(log, picture, join([rings, _draw_pointer(place)]), step.url_before, MOVED_MS)
            pointer = goal
            ripple = element("div", class_="ripple", style=f"left:{goal[0]:.1f}px;top:{goal[1]:.1f}px")
            overlay = join([rings, ripple, _draw_pointer(goal)])
            yield _frame(log, picture, overlay, step.url_before, CLICKED_MS)
        log = join([log, _draw_answer(step)])
        picture = f"/{number}.png"
        ms = END_MS if step is steps[-1] else LOOK_MS + LINE_MS * len(step.lines)
        yield _frame(log, picture, _draw_pointer(pointer), step.url, ms)


def _frame(log: Html, picture: str, overlay: Html, url: str, ms: float) -> Frame:
    parts = urlsplit(url)
    address = f"{parts.hostname}{parts.path}" if url else ""
    return Frame(log=log, picture=picture, overlay=overlay, address=address, ms=ms)


def _draw(frame: Frame) -> str:
    picture = element("img", src=frame.picture, alt="") if frame.picture else None
    return STAGE.substitute(
        logo=(ROOT / "docs/logo.svg").read_text("utf-8"),
        log=frame.log,
        address=join([frame.address]),
        page=join([picture, frame.overlay]),
    )


def _draw_call(step: TourStep, part: float) -> Html:
    """Draw a call, or this part of its text."""
    texts = list(_arguments(step.arguments))
    whole = sum(map(len, texts))
    remaining = round(whole * part)
    drawn: list[Html] = []
    for text in texts:
        drawn.append(_argument(text[:remaining], alone=len(texts) == 1))
        remaining = max(0, remaining - len(text))
    return element("div", element("b", step.tool), *drawn, class_="call")


def _argument(text: str, *, alone: bool) -> Html:
    if alone:
        return element("i", " ", _with_refs(text))
    return element("div", element("i", _with_refs(text)), class_="argument")


def _arguments(arguments: dict[str, Any]) -> Iterator[str]:
    fields: dict[str, str] = arguments.get("fields", {})
    for selector, value in fields.items():
        yield f'{selector} = "{value}"'
    if "selector" in arguments:
        yield arguments["selector"]
    if "url" in arguments:
        url: str = arguments["url"]
        parts = urlsplit(url)
        yield f"{parts.scheme}://{parts.hostname}{parts.path}"


def _draw_answer(step: TourStep) -> Html:
    # The lines of a difference begin with its marks, all others with the depth of the element.
    indent = 0 if step.kind == "diff" else min(len(line) - len(line.lstrip()) for line in step.lines)
    lines = [_draw_line(line[indent:]) for line in step.lines]
    if step.left_out > 1:
        lines.append(element("div", f"… {step.left_out} more lines", class_="rest"))
    return element("div", *lines, class_="answer")


def _draw_line(line: str) -> Html:
    return element("div", _with_refs(line), class_=MARKS.get(line[:1]))


def _with_refs(text: str) -> Html:
    parts: list[str] = re.split(r"\b(e\d+)\b", text)
    return join(
        element("span", part, class_="ref") if index % 2 else part for index, part in enumerate(parts)
    )


def _draw_ring(box: Box) -> Html:
    x, y, width, height = (value * SCALE for value in box)
    style = f"left:{x - 5:.1f}px;top:{y - 5:.1f}px;width:{width + 10:.1f}px;height:{height + 10:.1f}px"
    return element("div", class_="ring", style=style)


def _draw_pointer(place: tuple[float, float]) -> Html:
    return Html(POINTER.format(x=place[0], y=place[1]))


def _middle(box: Box) -> tuple[float, float]:
    return (box.x + min(box.width / 2, 90)) * SCALE, (box.y + box.height / 2) * SCALE


def _place_between(start: tuple[float, float], goal: tuple[float, float], part: float) -> tuple[float, float]:
    """Return a place on the line between two, slower at both ends."""
    eased = part * part * (3 - 2 * part)
    return start[0] + (goal[0] - start[0]) * eased, start[1] + (goal[1] - start[1]) * eased
