"""The modules that docs/architecture.md names exist and contain what it says."""

import importlib
import re
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT

PAGE = (ROOT / "docs/architecture.md").read_text("utf-8")
SOURCE = ROOT / "src/footlight"
PLACE = re.compile(r"`([a-z_]+(?:/[a-z_]+)*(?:/|\.py|\.js))`")

OWNERS = {
    "where `click` acts": [
        "toolsets.browser.interaction.elements:click",
        "browser.actions.click:click_element",
    ],
    "where a snapshot diff is computed": ["browser.snapshot.difference:compute_difference"],
    "where the schema of a tool comes from": ["server.tools.declaration:tool", "server.tools.schema"],
    "where an HTTP session expires": ["transports.network.http_sessions", "client.client_session"],
    "the rules of the audit": ["audit.evidence.collectors"],
    "the Chromium flags": ["browser.launch.chromium_flags"],
    "the rule of a finding, with its title and advice": ["audit.evidence.rule:Rule"],
    "the settings": ["config.settings:Settings", "config.loading:load_settings"],
    "an error code": ["errors:CODES", "app_errors:APP_CODES", "protocol.errors"],
    "a CLI command": ["cli.commands:COMMANDS"],
    "the watch page": ["watch.site:WatchSite", "watch.assets"],
    "where secrets are masked": ["server.answers.masking:Mask"],
    "what people see of a call": ["watch.journal:Journal", "watch.redaction"],
}


def rows() -> dict[str, str]:
    """Return the table of places: what to find, and where."""
    table = PAGE.partition("| To find | Look in |\n| --- | --- |\n")[2].partition("\n\n")[0]
    return dict(line.strip("| ").split(" | ") for line in table.splitlines())


def find_files(cell: str) -> list[Path]:
    """Return the files of a cell. A name without a folder is beside the file before it."""
    files: list[Path] = []
    for place in PLACE.findall(cell):
        beside = [files[-1].parent / place] if files and "/" not in place else []
        files.append(next((file for file in beside if file.exists()), SOURCE / place))
    return files


def test_architecture_table_lists_the_module_for_each_question() -> None:
    assert list(rows()) == list(OWNERS)
    for question, names in OWNERS.items():
        modules = [SOURCE / name.partition(":")[0].replace(".", "/") for name in names]
        assert [file.with_suffix("") for file in find_files(rows()[question])] == modules, question


@pytest.mark.parametrize("name", [name for names in OWNERS.values() for name in names])
def test_listed_modules_have_the_named_attributes(name: str) -> None:
    module, _, attribute = name.partition(":")
    found = importlib.import_module(f"footlight.{module}")

    assert not attribute or hasattr(found, attribute)


def test_every_file_named_on_the_page_exists() -> None:
    assert [place for place in PLACE.findall(PAGE) if not exists(place)] == []


def exists(place: str) -> bool:
    """Return whether a place is in the sources or in the repository. A bare name may be in any folder."""
    if "/" in place.rstrip("/"):
        return (SOURCE / place).exists() or (ROOT / place).exists()
    return any(SOURCE.rglob(place.rstrip("/")))
