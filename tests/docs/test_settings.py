"""The settings in the documents load, and what is shown of the others is what happens."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, cast

import pytest
from mcp import Client, StdioServerParameters

from footlight.config import Settings, load_settings
from tests.docs.markdown import ROOT, Block, blocks

KEYS = {field.alias for field in Settings.model_fields.values()}
SETTINGS = [block for block in blocks("json") if set(json.loads(block.text)) <= KEYS]
CLIENTS = [block for block in blocks("json") if "mcpServers" in json.loads(block.text)]


@pytest.mark.parametrize("block", SETTINGS, ids=str)
def test_json_settings_load(block: Block, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(block.text)

    loaded = load_settings(file=file)

    assert subset(json.loads(block.text), loaded.model_dump(mode="json", by_alias=True))


@pytest.mark.parametrize("block", blocks("toml"), ids=str)
def test_toml_settings_load(block: Block, tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(block.text)

    loaded = load_settings(file=file)

    assert subset(tomllib.loads(block.text), loaded.model_dump(mode="json", by_alias=True))


def test_the_example_of_the_specification_is_in_the_guide() -> None:
    assert [str(block.page.relative_to(ROOT)) for block in SETTINGS] == ["docs/guide.md"]
    assert json.loads(SETTINGS[0].text)["security"]["allowedDomains"] == ["*.example.com"]


@pytest.mark.anyio
@pytest.mark.parametrize("block", CLIENTS, ids=str)
async def test_a_client_can_start_the_server_as_the_documents_say(block: Block, tmp_path: Path) -> None:
    entry = json.loads(block.text)["mcpServers"]["footlight"]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    server = StdioServerParameters(**entry, env={**os.environ, "PATH": path}, cwd=tmp_path)

    async with Client(server) as client:
        tools = (await client.list_tools()).tools

    assert len(tools) == 44


def test_a_wrong_key_is_told_as_the_guide_shows(tmp_path: Path) -> None:
    shown = next(block.text for block in blocks("text") if block.text.startswith("footlight: agent.toml"))
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
    assert started.stderr.startswith(shown)


def subset(part: object, whole: Any) -> bool:
    if not isinstance(part, dict):
        return bool(part == whole)
    keys = cast("dict[str, object]", part)
    return all(key in whole and subset(value, whole[key]) for key, value in keys.items())
