"""The pictures of the documents are small, contain no metadata, and can be made again."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from scripts.screenshots.__main__ import MAKERS, max_bytes
from tests.docs.markdown import PAGES, ROOT

FOLDER = ROOT / "docs/pictures"
PICTURES = sorted(FOLDER.iterdir())
LIMIT_SECONDS = 300
IN_MARKDOWN = re.compile(r"!\[([^\]]+)\]\(([^)\s]+)\)")
IN_HTML = re.compile(r'<img src="([^"]+)"[^>]*? alt="([^"]+)"')


@pytest.mark.parametrize("file", PICTURES, ids=lambda file: file.name)
def test_pictures_are_small_and_have_no_metadata(file: Path) -> None:
    with Image.open(file) as picture:
        words = [name for name, value in picture.info.items() if isinstance(value, str)]

    assert file.stat().st_size <= max_bytes(file)
    assert words == []


def test_every_picture_is_shown_with_alternative_text() -> None:
    displayed: set[Path] = set()
    for page in PAGES:
        text = page.read_text("utf-8")
        displayed |= {(page.parent / target).resolve() for _, target in IN_MARKDOWN.findall(text)}
        displayed |= {(page.parent / target).resolve() for target, _ in IN_HTML.findall(text)}

    assert set(PICTURES) - displayed == set()


@pytest.mark.slow
@pytest.mark.timeout(LIMIT_SECONDS)
@pytest.mark.parametrize("name", MAKERS)
def test_pictures_match_a_new_real_run(name: str, tmp_path: Path) -> None:
    command = (sys.executable, "-m", "scripts.screenshots", "--out", str(tmp_path), name)
    subprocess.run(command, cwd=ROOT, check=True, timeout=LIMIT_SECONDS)

    file_name = MAKERS[name][0]
    assert describe_picture(tmp_path / file_name) == describe_picture(FOLDER / file_name)


def describe_picture(file: Path) -> tuple[tuple[int, int], int]:
    """Return the size of a picture and the number of its frames."""
    with Image.open(file) as picture:
        return picture.size, getattr(picture, "n_frames", 1)
