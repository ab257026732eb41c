"""The settings in the documents can be loaded and have the described effect."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, cast

import pytest

from footlight.config import Settings
from footlight.config.loading import list_settings, load_settings
from footlight.toolsets import szkrabok
from tests.docs.markdown import PAGES, ROOT, Block, blocks

KEYS = {field.alias for field in Settings.model_fields.values()}
SETTINGS = [block for block in blocks("json") if set(json.loads(block.text)) <= KEYS]
SECTIONS = sorted({key[0] for key in list_settings(Settings) if len(key) > 1})
TOML_SETTINGS = [block for block in blocks("toml") if set(tomllib.loads(block.text)) <= KEYS]


@pytest.mark.parametrize(
    ("block", "suffix"),
    [*((block, "json") for block in SETTINGS), *((block, "toml") for block in TOML_SETTINGS)],
    ids=str,
)
def test_documented_settings_load(block: Block, suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"settings.{suffix}"
    file.write_text(block.text)
    parse = {"json": json.loads, "toml": tomllib.loads}[suffix]

    loaded = load_settings(file=file)

    assert subset(parse(block.text), loaded.model_dump(mode="json", by_alias=True))


def test_specification_example_is_on_the_settings_page() -> None:
    assert [str(block.page.relative_to(ROOT)) for block in SETTINGS] == ["docs/settings.md"]
    assert json.loads(SETTINGS[0].text)["security"]["allowedDomains"] == ["*.example.com"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_named_setting_exists(page: Path) -> None:
    known = {".".join(key[:end]) for key in list_settings(Settings) for end in range(1, len(key) + 1)}
    named = re.findall(rf"`((?:{'|'.join(SECTIONS)})\.[a-zA-Z.]+)(?::[^`]*)?`", page.read_text("utf-8"))

    assert set(named) - known - {tool.name for tool in szkrabok.TOOLS} - {"app.py"} == set()


def test_unknown_setting_is_reported_as_the_guide_shows(tmp_path: Path) -> None:
    displayed = next(block.text for block in blocks("text") if block.text.startswith("footlight: agent.toml"))
    (tmp_path / "agent.toml").write_text("[browser]\nheadles = true\n")

    started = subprocess.run(
        [sys.executable, "-m", "footlight", "serve", "--config", "agent.toml"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert started.returncode == 2
    assert started.stderr.startswith(displayed)


def subset(part: object, whole: Any) -> bool:
    if not isinstance(part, dict):
        return bool(part == whole)
    keys = cast("dict[str, object]", part)
    return all(key in whole and subset(value, whole[key]) for key, value in keys.items())
