"""The list of a session's downloads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest

from footlight.browser.driver.file_quota import FileQuota
from footlight.browser.network.downloads import Downloads
from footlight.browser.page.events import Events

pytestmark = pytest.mark.anyio


class Tab:
    """As much of a page as tells of its downloads."""

    def __init__(self) -> None:
        self.handlers: dict[str, Any] = {}

    def on(self, event: str, handlers: Any) -> None:
        self.handlers[event] = handlers


@dataclass
class File:
    """A download whose file is there at once."""

    page: Tab
    suggested_filename: str
    url: str = "http://a.test/file"

    @property
    def _impl_obj(self) -> Any:
        return SimpleNamespace(_artifact=SimpleNamespace(_initializer={"absolutePath": "/nowhere"}))

    async def save_as(self, path: Path) -> None:
        await anyio.Path(path).write_bytes(b"content")

    async def delete(self) -> None: ...


def make_downloads(folder: Path) -> Downloads:
    files = FileQuota().of_session("session")
    return Downloads(folder, Events().add_download, lambda _: "page-1", files=files)


async def test_only_latest_downloads_are_remembered(tmp_path: Path) -> None:
    """A browser takes a quarter of a minute for so many."""
    tab, downloads = Tab(), make_downloads(tmp_path)
    downloads.watch_page(cast("Any", tab))

    for number in range(1, 204):
        tab.handlers["download"](File(tab, f"{number}.txt"))
    await downloads.settle()

    assert downloads.count == 203
    assert [known.id for known in downloads.known] == [f"download-{number}" for number in range(4, 204)]
    last = downloads.known[-1]
    assert (last.state, last.path, last.bytes) == ("completed", tmp_path / "203.txt", 7)


async def test_file_names_suit_every_system_and_are_unique(tmp_path: Path) -> None:
    tab, downloads = Tab(), make_downloads(tmp_path / "downloads")
    downloads.watch_page(cast("Any", tab))
    names = {
        "../../etc/passwd": "passwd",
        "..\\..\\boot.ini": "boot.ini",
        "-rf": "rf",
        "-.bashrc": "bashrc",
        "report.pdf. ": "report.pdf",
        "CON": "_CON",
        "nul.txt": "_nul.txt",
        "console.log": "console.log",
        "a\nb\x00\u202etxt": "a_b__txt",
        "..": "download",
        "é" * 300 + ".txt": None,
    }

    for name in [*names, *["same.txt"] * 100]:
        tab.handlers["download"](File(tab, name))
    await downloads.settle()

    paths = [known.path for known in downloads.known if known.path is not None]
    assert {path.parent for path in paths} == {tmp_path / "downloads"}
    assert len(set(paths)) == len(names) + 100
    for path, expected in zip(paths, names.values(), strict=False):
        assert expected in (None, path.name)
        assert len(path.name.encode()) <= 255
    assert {path.suffix for path in paths[len(names) :]} == {".txt"}
    assert paths[len(names) + 1].name == "same-1.txt"
