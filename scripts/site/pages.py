"""Copy the Markdown files to the folder of the site, with links that lead from their new places."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

__all__ = ["UnknownTargetError", "copy_pages"]

MOVED = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
ASSETS = {".png", ".gif", ".svg"}
FENCED = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r'(\]\(|<img src=")(?!https?://|#)([^)\s"]+)')


class UnknownTargetError(Exception):
    """A link leads to no file of the repository."""


def copy_pages(root: Path, target: Path, *, repository: str) -> set[str]:
    """Copy all pages and pictures. Return the paths of the pages in the folder of the site.

    Links to other files of the repository become links to `repository`.

    Raises:
        UnknownTargetError: there is no such file.
    """
    docs = root / "docs"
    files = {file.relative_to(root).as_posix() for file in docs.rglob("*") if _is_shown(file, docs)}
    places = MOVED | {file: file.removeprefix("docs/") for file in files}
    for source, place in places.items():
        copied = target / place
        copied.parent.mkdir(parents=True, exist_ok=True)
        if place.endswith(".md"):
            text = (root / source).read_text("utf-8")
            copied.write_text(_move_links(text, source, places, root, repository), "utf-8")
        else:
            shutil.copyfile(root / source, copied)
    return {place for place in places.values() if place.endswith(".md")}


def _is_shown(file: Path, docs: Path) -> bool:
    if file.is_relative_to(docs / "examples"):
        return False
    return file.suffix == ".md" or file.suffix in ASSETS


def _move_links(text: str, source: str, places: Mapping[str, str], root: Path, repository: str) -> str:
    def move(link: re.Match[str]) -> str:
        name, number_sign, anchor = link[2].partition("#")
        path = os.path.normpath(PurePosixPath(source).parent / name)
        if path in places:
            start = PurePosixPath(places[source]).parent
            moved = PurePosixPath(os.path.relpath(places[path], start)).as_posix()
        elif (root / path).exists():
            moved = f"{repository}/{'tree' if (root / path).is_dir() else 'blob'}/main/{path}"
        else:
            raise UnknownTargetError(f"{source}: {link[2]} leads to no file")
        return f"{link[1]}{moved}{number_sign}{anchor}"

    parts = FENCED.split(text)
    return "".join(part if index % 2 else LINK.sub(move, part) for index, part in enumerate(parts))
