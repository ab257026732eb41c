"""The prompt in the documents is a valid prompt file."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from footlight.server.prompt_files import builtin_prompts, load_prompts
from footlight.server.prompt_library import PromptLibrary
from tests.docs.markdown import ROOT, blocks

FOLDER = ROOT / "docs/examples/prompts"
ARGUMENTS = {"product": "Gaffer tape", "shops": '["https://shop.example.com"]', "voucher": "ENCORE-575C85"}


def test_prompt_files_in_the_documents_match_the_folder() -> None:
    displayed = [block.text for block in blocks("yaml") if block.page == ROOT / "docs/prompts.md"]

    assert displayed == [path.read_text("utf-8") for path in sorted(FOLDER.iterdir())]


def test_prompt_file_renders_to_the_documented_text() -> None:
    library = PromptLibrary()
    for prompt in load_prompts(FOLDER):
        library.register(prompt)

    rendered = library.render("compare_prices", ARGUMENTS)

    assert rendered in [block.text for block in blocks("text")]


def test_page_lists_the_built_in_prompts() -> None:
    page = (ROOT / "docs/prompts.md").read_text("utf-8")

    assert [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")] == [
        prompt.name for prompt in builtin_prompts()
    ]


@pytest.mark.slow
def test_invalid_prompt_file_stops_the_start_as_documented(tmp_path: Path) -> None:
    displayed = next(block.text for block in blocks("text") if block.text.startswith("footlight: prompts/"))
    shutil.copytree(FOLDER, tmp_path / "prompts")
    file = tmp_path / "prompts/compare_prices.yaml"
    file.write_text(file.read_text("utf-8").replace("{{product}}", "{{nope}}"))

    started = subprocess.run(
        [sys.executable, "-m", "footlight", "serve", "--prompts", "prompts", "--log-level", "error"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert (started.returncode, started.stderr) == (2, displayed)
