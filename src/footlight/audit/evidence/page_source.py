"""Find the line and column of elements in the source of a page. The source is untrusted."""

from __future__ import annotations

import html
import logging
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from footlight.audit.evidence.scripts import bare_script
from footlight.audit.page.page import AuditedPage
from footlight.protocol.errors import MCPConnectionError, MCPError
from footlight.protocol.untrusted_json import text

__all__ = ["PageSource", "SourcePlace", "read_source"]

logger = logging.getLogger(__name__)

MAX_SOURCE_LENGTH = 500_000

_NAME = re.compile(r"[a-zA-Z][^\s/>]{0,60}")
_QUOTE_OR_END = re.compile(r"[\"'>]")
_ATTRIBUTE = re.compile(r"([^\s=>\"'/]+)(?:\s{0,9}=\s{0,9}(\"[^\"]*\"|'[^']*'|[^\s>\"']*))?")
_RAW_TEXT = ("script", "style", "textarea", "title", "xmp")


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A line and column, both counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class _Tag:
    name: str
    attributes: Mapping[str, str]
    start: int
    end: int


async def read_source(page: AuditedPage) -> str:
    """Return the source of the page, or an empty text if the page does not let it be read.

    Raises:
        MCPConnectionError: the connection was lost.
    """
    script = bare_script("page_source", f"const MAX_SOURCE_LENGTH = {MAX_SOURCE_LENGTH};")
    try:
        return text(await page.evaluate(script)) or ""
    except MCPConnectionError:
        raise
    except MCPError as error:
        logger.info("the source of the page cannot be read: %s", error)
        return ""


class PageSource:
    """The start tags of a document."""

    def __init__(self, source: str) -> None:
        self._source = source[:MAX_SOURCE_LENGTH]
        self._tags: dict[str, list[_Tag]] = {}
        for tag in _read_tags(self._source):
            self._tags.setdefault(tag.name, []).append(tag)
        self._lines = [0, *(found.end() for found in re.finditer("\n", self._source))]

    def find(self, snippet: str) -> SourcePlace | None:
        """Return the place of an element with this HTML, or None if it is not certain.

        Elements that scripts made or changed have no place, nor have several elements that look the same.
        """
        wanted = next(_read_tags(snippet), None)
        if wanted is None:
            return None
        alike = self._tags.get(wanted.name, [])
        same = [each for each in alike if each.attributes == wanted.attributes]
        if len(same) > 1:
            same = [each for each in same if self._has_text(each, snippet[wanted.end :])]
        elif not same and (id := wanted.attributes.get("id")):
            same = [each for each in alike if each.attributes.get("id") == id]
        return self._place(same[0].start) if len(same) == 1 else None

    def _has_text(self, tag: _Tag, rest: str) -> bool:
        """Return whether the same content follows, as far as the snippet has it."""
        content = _fold(rest.removesuffix(f"</{tag.name}>").partition("…")[0])
        return bool(content) and _fold(self._source[tag.end : tag.end + 2 * len(rest) + 100]).startswith(
            content
        )

    def _place(self, at: int) -> SourcePlace:
        line = bisect_right(self._lines, at)
        return SourcePlace(line, at - self._lines[line - 1] + 1)


def _fold(text: str) -> str:
    return " ".join(html.unescape(text).split())


def _read_tags(source: str) -> Iterator[_Tag]:
    """Yield the start tags, in one pass: each character is looked at a limited number of times."""
    at = source.find("<")
    folded = source.lower() if source.isascii() else _lower_ascii(source)
    while at >= 0:
        if source.startswith("<!--", at):
            at = source.find("-->", at)
        elif found := _NAME.match(source, at + 1):
            end = _end_of_tag(source, found.end())
            if end is None:
                return
            name = found[0].lower()
            yield _Tag(name, _read_attributes(source[found.end() : end - 1]), at, end)
            at = folded.find(f"</{name}", end) if name in _RAW_TEXT else end
        else:
            at += 1
        at = source.find("<", at) if at >= 0 else at


def _end_of_tag(source: str, at: int) -> int | None:
    """Return where the tag ends, after quoted values; None if it does not."""
    while found := _QUOTE_OR_END.search(source, at):
        if found[0] == ">":
            return found.end()
        at = source.find(found[0], found.end()) + 1
        if at == 0:
            return None
    return None


def _read_attributes(text: str) -> Mapping[str, str]:
    attributes: dict[str, str] = {}
    for found in _ATTRIBUTE.finditer(text):
        value = found[2] or ""
        if value[:1] in ('"', "'"):
            value = value[1:-1]
        attributes.setdefault(found[1].lower(), html.unescape(value))
    return attributes


def _lower_ascii(source: str) -> str:
    """Return the source with small ASCII letters: `lower` changes the length of some other letters."""
    return source.translate({code: code + 32 for code in range(ord("A"), ord("Z") + 1)})
