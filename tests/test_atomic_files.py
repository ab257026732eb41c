"""Writing files that are never incomplete."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from footlight.atomic_files import write_atomically


@pytest.mark.skipif(sys.platform == "win32", reason="modes and links are POSIX's")
def test_mode_and_link_are_kept_unless_the_file_is_private(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file)

    write_atomically(link, b"new")
    kept = (file.read_text(), stat.S_IMODE(file.stat().st_mode), link.is_symlink())
    write_atomically(file, b"private", private=True)
    mask = os.umask(0o027)
    try:
        write_atomically(tmp_path / "other", b"other")
    finally:
        os.umask(mask)

    assert kept == ("new", 0o640, True)
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("private", 0o600)
    assert stat.S_IMODE((tmp_path / "other").stat().st_mode) == 0o640
    assert {each.name for each in tmp_path.iterdir()} == {"file", "link", "other"}


def test_error_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "missing" / "file"

    with pytest.raises(FileNotFoundError) as failed:
        write_atomically(file, b"")

    assert failed.value.filename == str(file)


@pytest.mark.skipif(sys.platform == "win32", reason="links are POSIX's")
def test_loop_of_links_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(link)

    with pytest.raises(OSError, match="symbolic links") as failed:
        write_atomically(link, b"")

    assert failed.value.filename == str(link)
