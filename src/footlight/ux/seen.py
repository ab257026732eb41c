"""What an answer of a server's tool says of the page, in few characters. Pure."""

from __future__ import annotations

import base64
import difflib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from footlight.client.dialects.markdown_answer import dialog_of, page_of, snapshot_of
from footlight.client.loose import an_object, text
from footlight.client.results import ToolResult
from footlight.ux.findings import Picture
from footlight.ux.small_picture import small_picture

__all__ = [
    "Seen",
    "changes",
    "compact_yaml",
    "cut",
    "picture_of",
    "seen_by_footlight",
    "seen_by_playwright_mcp",
]

_EVENTS = ("dialogs", "newPages", "downloads")
_WHERE_THE_WHOLE_IS = re.compile(r"; the whole: \S+$", re.MULTILINE)
_NOISE = re.compile(r" \[cursor=pointer\]|(?<=- generic) \[active\]")
_LOUD = re.compile(r"\W*(?:e\d+ )?(?:alert|status|heading)\b")
_MARKUP = re.compile(r"^\W*(?:e\d+ )?| \[(?:ref|level)=\w+\]| level=\d|:$")
MORE = "; getPageStructure with a target shows a part"
MOST_LINES_COMPARED = 2_000
MOST_LOUD = 5
PICTURE_SIDE = 1_024
"""Pixels: a model that asks for a picture wants to read in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """`url` and `title` where the answer has them. `text` is the page's own, or what changed in it.

    `whole`: it shows all of the page, so that what was shown before is no more than history.
    """

    url: str | None = None
    title: str | None = None
    text: str = ""
    events: str = ""
    whole: bool = False
    picture: Picture | None = None

    @property
    def where(self) -> str:
        return " · ".join(filter(None, (self.url, self.title)))

    @property
    def told(self) -> str:
        """Where it is, what happened beside, and the page."""
        nothing = (
            "The picture shows what is visible." if self.picture else "Nothing changed that can be seen."
        )
        return "\n".join(filter(None, (self.where, self.events, self.text))) or nothing

    @property
    def gist(self) -> str:
        """The same for whoever comes later: of a whole page only what it says of itself."""
        if not self.whole:
            return self.told
        loud = [_MARKUP.sub("", line) for line in self.text.splitlines() if _LOUD.match(line)]
        return " · ".join(filter(None, (self.where, self.events, *loud[:MOST_LOUD])))


def seen_by_footlight(result: ToolResult) -> Seen:
    """`{success, data, observation}`: of an action, the observation is what changed."""
    answer = an_object(result.structured_content)
    data, observation = an_object(answer.get("data")), an_object(answer.get("observation"))
    events = {name: data[name] for name in _EVENTS if data.get(name)}
    if observation.get("console"):
        events["console"] = observation["console"]
    shown = text(observation.get("text")) or text(data.get("snapshot")) or text(answer.get("preview")) or ""
    return Seen(
        url=text(observation.get("url")) or text(data.get("finalUrl")) or text(data.get("url")),
        title=text(observation.get("title")) or text(data.get("title")),
        text=_WHERE_THE_WHOLE_IS.sub(MORE, shown),
        events=json.dumps(events, ensure_ascii=False) if events else "",
        whole=observation.get("kind") == "full" or "snapshot" in data,
        picture=picture_of(result),
    )


def seen_by_playwright_mcp(result: ToolResult) -> Seen:
    """Markdown, of which the code that it ran and the files that it wrote say nothing to a model."""
    page, dialog = page_of(result.text), dialog_of(result.text)
    return Seen(
        url=page.url if page else None,
        title=page.title if page else None,
        text=compact_yaml(snapshot_of(result.text) or ""),
        events=f"A dialog is open, answer it: {dialog}" if dialog else "",
        picture=picture_of(result),
    )


def picture_of(result: ToolResult) -> Picture | None:
    data = next((part.data for part in result.content if part.type == "image" and part.data), None)
    try:
        return small_picture(base64.b64decode(data), side=PICTURE_SIDE) if data else None
    except ValueError:
        return None


def compact_yaml(yaml: str) -> str:
    return _NOISE.sub("", yaml.rstrip())


def cut(shown: str, characters: int) -> str:
    """Its first lines, and how many there are."""
    if len(shown) <= characters:
        return shown
    lines = shown.splitlines()
    kept = shown[:characters].splitlines()[:-1]
    return "\n".join([*kept, f"… cut: {len(kept):,} of {len(lines):,} lines shown{MORE}"])


def changes(before: str, after: str) -> str | None:
    """The lines that are gone and those that are new, or None where to tell the whole takes less."""
    old, new = before.splitlines(), after.splitlines()
    if len(old) + len(new) > MOST_LINES_COMPARED:
        return None
    told = "\n".join(_different(old, new))
    return told if len(told) < len(after) else None


def _different(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Each line that changed, as it was and as it is."""
    told: list[str] = []
    for kind, first, last, begin, end in difflib.SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if kind != "equal":
            told += [f"- was: {line.strip()}" for line in old[first:last]]
            told += [f"- now: {line.strip()}" for line in new[begin:end]]
    return told
