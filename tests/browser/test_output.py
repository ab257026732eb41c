"""The output folder of tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from footlight.browser.driver.output_folder import OutputFolder, cut_to_bytes, write_new
from footlight.errors import InvalidParameterError


def test_file_is_reserved_under_a_free_name(tmp_path: Path) -> None:
    folder = OutputFolder(tmp_path / "new")
    (tmp_path / "elsewhere").mkdir()

    reserved = [folder.reserve(name, ".zip") for name in ("a", "a.zip", "a.b", "été (1)", "a")]

    assert [path.relative_to(tmp_path / "new").name for path in reserved] == [
        *("a.zip", "a-1.zip", "a.b.zip", "été (1).zip", "a-2.zip")
    ]
    assert [path.stat().st_mode & 0o777 for path in reserved] == [0o600] * 5


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "/a", "a\\b", "c:d", ".a", " a", "a.", "a ", "a\nb", "a\0", "x" * 101]
)
def test_name_with_path_parts_is_refused(tmp_path: Path, name: str) -> None:
    folder = OutputFolder(tmp_path / "new")

    with pytest.raises(InvalidParameterError, match=r"^save: ") as refused:
        folder.reserve(name, ".png", parameter="save")

    assert (refused.value.details, folder.find(name)) == ({"parameter": "save"}, None)
    assert not (tmp_path / "new").exists()


def test_file_name_length_is_limited_in_bytes(tmp_path: Path) -> None:
    """Which counts bytes: a letter may have four of them."""
    folder = OutputFolder(tmp_path)

    reserved = [folder.reserve(name, ".webm") for name in ("é" * 100, "é" * 100, "漢" * 66)]
    for name in ("漢" * 67, "𠀀" * 51):
        with pytest.raises(InvalidParameterError, match="200 bytes"):
            folder.reserve(name, ".webm")

    assert [path.name for path in reserved] == [
        "é" * 100 + ".webm",
        "é" * 100 + "-1.webm",
        "漢" * 66 + ".webm",
    ]


def test_text_is_cut_between_characters() -> None:
    assert [cut_to_bytes("a漢𠀀", most) for most in range(9)] == [
        *("", "a", "a", "a", "a漢", "a漢", "a漢", "a漢", "a漢𠀀")
    ]


def test_symbolic_links_are_neither_found_nor_written(tmp_path: Path) -> None:
    folder, outside = OutputFolder(tmp_path / "new"), tmp_path / "outside"
    outside.write_text("kept")
    path = folder.reserve("a", ".png")
    path.unlink()
    path.symlink_to(outside)

    with pytest.raises(OSError):  # noqa: PT011 - which one depends on the system
        write_new(path, b"new")

    assert (folder.find("a.png"), outside.read_text()) == (None, "kept")


def test_subfolders_are_separate(tmp_path: Path) -> None:
    folder = OutputFolder(tmp_path)
    path = folder.below("mine").reserve("a", ".png")

    assert (folder.below("mine").find("a.png"), folder.below("other").find("a.png")) == (path, None)
    assert folder.below("") == folder
