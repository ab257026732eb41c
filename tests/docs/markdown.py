"""Read the documents of the project and their fenced code blocks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PAGES", "ROOT", "Block", "blocks", "remove_blocks"]

ROOT = Path(__file__).parents[2]
PAGES = tuple(sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]))

FENCED = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    page: Path
    line: int
    text: str

    def __str__(self) -> str:
        """As a test's id."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(language: str) -> list[Block]:
    """Return all blocks of a language, in all documents."""
    return list(_blocks(language))


def remove_blocks(page: Path) -> str:
    return FENCED.sub("", page.read_text("utf-8"))


def _blocks(language: str) -> Iterator[Block]:
    for page in PAGES:
        text = page.read_text("utf-8")
        for found in FENCED.finditer(text):
            if found[1] == language:
                yield Block(page, text.count("\n", 0, found.start()) + 1, found[2])
