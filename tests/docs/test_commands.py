"""The commands, options and environment variables in the documents exist."""

import json
import re
import shlex
from collections.abc import Iterator

import click
import pytest

from footlight.cli.commands import cli
from footlight.config import Settings
from footlight.config.loading import ENVIRONMENT_PREFIX, list_settings, load_settings
from tests.docs.markdown import PAGES, ROOT, blocks, remove_blocks

NAMES = "serve|call|tools|codegen|replay|export|audit|knowledge|daemon|doctor|demo|skill"
COMMAND = re.compile(rf"(?<![\"'])\bfootlight ((?:{NAMES})\b.*)$")
ASSIGNED = re.compile(rf"\b({ENVIRONMENT_PREFIX}[A-Z_]+)=(\"[^\"]*\"|\S*)")


def lines() -> Iterator[str]:
    """Yield the command lines in blocks and between backticks."""
    for block in blocks("console"):
        text = block.text.replace("\\\n", " ")
        yield from (line.removeprefix("$ ").partition("#")[0].strip() for line in text.splitlines())
    for page in PAGES:
        yield from re.findall(r"`([^`\n]+)`", remove_blocks(page))


def arguments() -> Iterator[list[str]]:
    """Yield the arguments of each command line, and of each `"args": [...]`."""
    for line in lines():
        if found := COMMAND.search(line):
            yield shlex.split(found[1])
        elif found := re.fullmatch(r'"args": (\[.*\])', line):
            yield json.loads(found[1])
    for block in blocks("json"):
        yield from (
            json.loads(found) for found in re.findall(r'"args": (\[.*?\])', block.text) if "serve" in found
        )


COMMANDS = sorted({shlex.join(each) for each in arguments()})


def test_documented_commands_include_each_kind() -> None:
    assert {"serve", "doctor --install", "serve --transport http", "serve --transport websocket"} < set(
        COMMANDS
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_documented_command_line_has_valid_options(command: str) -> None:
    name, *options = shlex.split(command)
    chosen = cli.get_command(click.Context(cli), name)
    assert chosen

    if options:  # Otherwise it is the name of a command, in a sentence.
        chosen.make_context(name, options)  # Parses, and runs nothing.


def test_every_documented_variable_exists() -> None:
    known = {ENVIRONMENT_PREFIX + key for key in settings()}
    others = {
        "FOOTLIGHT_TEST_WORKERS",
        "FOOTLIGHT_TEST_BROWSER",
        "FOOTLIGHT_TEST_FLEET",
        "FOOTLIGHT_METAMASK_DIST",
    }
    others.add("FOOTLIGHT_PARAM_CITY")  # What a test is started with has such a name.

    pages = [page for page in PAGES if page.parent != ROOT / "docs/reference"]
    texts = [page.read_text("utf-8") for page in [*pages, ROOT / "Containerfile", ROOT / "server.json"]]
    named = {
        name for text in texts for name in re.findall(rf"\b{ENVIRONMENT_PREFIX}[A-Z][A-Z_]*[A-Z]\b", text)
    }

    assert named - known - others == set()


def test_every_assigned_variable_value_is_valid() -> None:
    assigned = [found for line in lines() for found in ASSIGNED.findall(line)]
    ours = [(name, value) for name, value in assigned if not name.startswith("FOOTLIGHT_TEST_")]

    assert ours
    for name, value in ours:
        load_settings(environment={name: shlex.split(value)[0] if not value.startswith("$") else "x" * 16})


def settings() -> list[str]:
    return [re.sub(r"(?<=[a-z])(?=[A-Z])", "_", "_".join(key)).upper() for key in list_settings(Settings)]
