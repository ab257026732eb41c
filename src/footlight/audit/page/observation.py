"""Read what a tool's answer says about the page, and shorten it for a model. No I/O."""

from __future__ import annotations

import base64
import difflib
import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from footlight.audit.findings import EvidencePicture
from footlight.browser_client.dialects.markdown_answer import dialog_of, page_of, snapshot_of
from footlight.protocol.results import ToolResult
from footlight.protocol.untrusted_json import an_object, text

__all__ = [
    "PageObservation",
    "compact_yaml",
    "diff_lines",
    "picture_of",
    "read_footlight_answer",
    "read_playwright_mcp_answer",
    "shrink_picture",
    "truncate_lines",
]

_EVENTS = ("dialogs", "newPages", "downloads")
_WHERE_THE_WHOLE_IS = re.compile(r"; the whole: \S+$", re.MULTILINE)
_NOISE = re.compile(r" \[cursor=pointer\]|(?<=- generic) \[active\]")
_PROMINENT = re.compile(r"\W*(?:e\d+ )?(?:alert|status|heading|h\d)\b")
_MARKUP = re.compile(r"^\W*(?:e\d+ )?| \[(?:ref|level)=\w+\]|:$")
_UNCHANGED = re.compile(r" unchanged(?:-lines)?=\d+$", re.MULTILINE)
MORE = "; getPageStructure with a target shows a part"
MAX_LINES_COMPARED = 2_000
MAX_PROMINENT = 5
PICTURE_SIDE = 1_024
"""The longer side of a picture in pixels. A model must be able to read text in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageObservation:
    """The page as an answer describes it. `text` is the structure of the page, or what changed in it.

    `whole`: the answer shows the whole page, so that earlier answers are obsolete.
    """

    url: str | None = None
    title: str | None = None
    text: str = ""
    events: str = ""
    whole: bool = False
    picture: EvidencePicture | None = None

    @property
    def refers_back(self) -> bool:
        """Return whether parts of the page are only in earlier answers, which are still needed then."""
        return _UNCHANGED.search(self.text) is not None

    @property
    def location(self) -> str:
        return " · ".join(filter(None, (self.url, self.title)))

    @property
    def text_for_model(self) -> str:
        """Return the URL, the events and the page's text for a model."""
        nothing = "The picture shows what is visible." if self.picture else "No visible change."
        return "\n".join(filter(None, (self.location, self.events, self.text))) or nothing

    @property
    def summary(self) -> str:
        """Return a shorter text for the record: of a whole page only headings and alerts."""
        if not self.whole:
            return self.text_for_model
        prominent = [_MARKUP.sub("", line) for line in self.text.splitlines() if _PROMINENT.match(line)]
        return " · ".join(filter(None, (self.location, self.events, *prominent[:MAX_PROMINENT])))


def read_footlight_answer(result: ToolResult) -> PageObservation:
    """Read `{success, data, observation}`. The observation of an action is what changed."""
    answer = an_object(result.structured_content)
    data, observation = an_object(answer.get("data")), an_object(answer.get("observation"))
    events = {name: data[name] for name in _EVENTS if data.get(name)}
    if observation.get("console"):
        events["console"] = observation["console"]
    content = text(observation.get("text")) or text(data.get("snapshot")) or text(answer.get("preview")) or ""
    return PageObservation(
        url=text(observation.get("url")) or text(data.get("finalUrl")) or text(data.get("url")),
        title=text(observation.get("title")) or text(data.get("title")),
        text=_WHERE_THE_WHOLE_IS.sub(MORE, content),
        events=json.dumps(events, ensure_ascii=False) if events else "",
        whole=observation.get("kind") == "full" or "snapshot" in data,
        picture=picture_of(result),
    )


def read_playwright_mcp_answer(result: ToolResult) -> PageObservation:
    """Read a Markdown answer, without the code that was run and the names of written files."""
    page, dialog = page_of(result.text), dialog_of(result.text)
    return PageObservation(
        url=page.url if page else None,
        title=page.title if page else None,
        text=compact_yaml(snapshot_of(result.text) or ""),
        events=f"A dialog is open, answer it: {dialog}" if dialog else "",
        picture=picture_of(result),
    )


def picture_of(result: ToolResult) -> EvidencePicture | None:
    data = next((part.data for part in result.content if part.type == "image" and part.data), None)
    try:
        return shrink_picture(base64.b64decode(data), side=PICTURE_SIDE) if data else None
    except ValueError:
        return None


def compact_yaml(yaml: str) -> str:
    return _NOISE.sub("", yaml.rstrip())


def truncate_lines(structure: str, characters: int) -> str:
    """Return the first lines, with a note of how many lines there are."""
    if len(structure) <= characters:
        return structure
    lines = structure.splitlines()
    fitting = structure[:characters].splitlines()[:-1]
    return "\n".join([*fitting, f"… cut: {len(fitting):,} of {len(lines):,} lines shown{MORE}"])


def diff_lines(before: str, after: str) -> str | None:
    """Return the removed and the added lines, or None if the whole text is shorter."""
    old, new = before.splitlines(), after.splitlines()
    if len(old) + len(new) > MAX_LINES_COMPARED:
        return None
    changed = "\n".join(_find_changed_lines(old, new))
    return changed if len(changed) < len(after) else None


def _find_changed_lines(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return each changed line before and after."""
    lines: list[str] = []
    for kind, first, last, begin, end in difflib.SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if kind != "equal":
            lines += [f"- was: {line.strip()}" for line in old[first:last]]
            lines += [f"- now: {line.strip()}" for line in new[begin:end]]
    return lines


QUALITY = 50


def shrink_picture(data: bytes, *, side: int) -> EvidencePicture:
    """Return the image as a JPEG whose sides have at most `side` pixels.

    Raises:
        ValueError: the data is not an image.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as opened:
            image = opened.convert("RGB")
    except (UnidentifiedImageError, OSError) as error:
        raise ValueError(f"the image cannot be read: {error}") from error
    image.thumbnail((side, side))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=QUALITY, optimize=True)
    return EvidencePicture(data=out.getvalue(), width=image.width, height=image.height)
