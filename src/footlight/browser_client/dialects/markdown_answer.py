"""Read the answers of `@playwright/mcp`: Markdown with a section for each kind of information.

Pages can write into some sections: a dialog's message may have line ends, and look like another section. Each
fact is therefore read from a place that no text of a page comes before.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

__all__ = ["PageHead", "dialog_of", "error_of", "page_of", "snapshot_of", "value_of"]

_PAGE = re.compile(r"^### Page\n((?:- .*\n?)+)", re.MULTILINE)
_HEAD = re.compile(r"^- (Page URL|Page Title|HTTP status): (.*)$", re.MULTILINE)
_DIALOG = re.compile(r'\n### Modal state\n- \[("\w+" dialog with message ".*)')
_RESULT = re.compile(r"^### Result\n", re.MULTILINE)
_SNAPSHOT = re.compile(r"^### Snapshot\n```yaml\n(.*?)(?:\n?^```$|\Z)", re.MULTILINE | re.DOTALL)
_UNTIL_LAST_FENCE = re.compile(r".*^```$", re.MULTILINE | re.DOTALL)
_ERROR = re.compile(r"\A### Error\n(.*?)(?=^### |\Z)", re.MULTILINE | re.DOTALL)
_PREFIX = re.compile(r"\A(?:(?:Error|browserBackend\.callTool): )+")
_TERMINAL = re.compile(r"\x1b?\[\d+m")
_TRACE = re.compile(r"^    at .*\n?", re.MULTILINE)
_CALL_LOG = re.compile(r"(?<!\n)\n+Call log:\n.*", re.DOTALL)
_PAGE_TOOLS = re.compile(r"\A- webmcp tools .*?\n\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PageHead:
    """The page's section.

    `status` is only known if it is not a success: the server does not report others.
    """

    url: str
    title: str | None = None
    status: int | None = None


def page_of(answer: str) -> PageHead | None:
    """Return the page's section, which comes before everything that a page can write."""
    section = _PAGE.search(answer)
    if section is None:
        return None
    facts = {name: value for name, value in reversed(_HEAD.findall(section[1]))}
    status = re.match(r"\d{3}\b", facts.get("HTTP status", ""))
    return PageHead(facts.get("Page URL", ""), facts.get("Page Title"), int(status[0]) if status else None)


def dialog_of(answer: str) -> str | None:
    """Return the first line about an open dialog, which comes right after the page's section."""
    section = _PAGE.search(answer)
    found = None if section is None else _DIALOG.match(answer, section.end() - 1)
    return None if found is None else found[1]


def snapshot_of(answer: str) -> str | None:
    """Return the YAML of the snapshot in an answer, without the tools that the page offers.

    The last snapshot in the answer counts: whatever a page writes comes before it.
    """
    closed = _UNTIL_LAST_FENCE.match(answer)
    sections = _SNAPSHOT.findall(closed[0]) if closed else None
    return _PAGE_TOOLS.sub("", sections[-1]) if sections else None


def value_of(answer: str) -> Any:
    """Return the value of a script, or None for `undefined`.

    Raises:
        ValueError: there is none.
    """
    section = _RESULT.search(answer)
    if section is None:
        raise ValueError("the answer has no result")
    if answer.startswith("undefined", section.end()):
        return None
    value, _ = json.JSONDecoder().raw_decode(answer, section.end())
    return value


def error_of(answer: str, *, log: bool = True) -> str:
    """Return the error without stack traces and colours. Its call log says which fields were filled in."""
    section = _ERROR.match(answer)
    message = _TRACE.sub("", _TERMINAL.sub("", section[1] if section else answer))
    if not log:
        message = _CALL_LOG.sub("", message)
    return _PREFIX.sub("", message.strip()).strip()
