"""Markdown: tables, lists, code blocks, and docstrings as prose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

Row = Sequence[str]


def join(parts: Iterable[str]) -> str:
    """Join the paragraphs of a page."""
    return "\n\n".join(parts)


def prose(text: str | None) -> str:
    """Return a docstring on one line, capitalized, without requirement ids."""
    line = " ".join((text or "").split())
    line = re.sub(r"\s*\((?:R?\d{3}\b)[^)]*\)", "", line)
    return line[:1].upper() + line[1:]


def yes_or_no(value: bool) -> str:
    return "yes" if value else "no"


def bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def code_block(lines: Iterable[str]) -> str:
    return "\n".join(["```text", *lines, "```"])


def table(heads: Row, rows: Iterable[Row]) -> str:
    return "\n".join(_table_line(cells) for cells in [heads, ["---"] * len(heads), *rows])


def _table_line(cells: Row) -> str:
    escaped = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
    return "|" + "|".join(f" {cell} " if cell else " " for cell in escaped) + "|"
