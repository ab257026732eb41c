"""The reference matches the code and is complete."""

import re
from pathlib import Path
from typing import Any, get_args

import pytest

import footlight
from footlight.app_errors import APP_CODES
from footlight.config import Settings
from footlight.config.loading import list_settings, load_settings
from footlight.errors import CODES
from footlight.protocol.errors import Reason
from footlight.server.prompt_files import builtin_prompts
from footlight.server.resources.resources import Resources
from footlight.toolsets.browser import load_tools
from footlight.toolsets.metamask import app_tools
from scripts.reference.__main__ import main
from tests.docs.markdown import ROOT

REFERENCE = ROOT / "docs/reference"


@pytest.mark.slow
def test_the_reference_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    assert (main(["--check"]), capsys.readouterr().err) == (0, "")


@pytest.mark.slow
def test_outdated_reference_page_is_named_with_the_update_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = main([], tmp_path)
    (tmp_path / "docs/reference/errors.md").write_text("old")

    checked = main(["--check"], tmp_path)

    assert (written, checked) == (0, 1)
    assert capsys.readouterr().err == "Out of date: docs/reference/errors.md. Run `make gen` to update.\n"
    assert (tmp_path / "docs/reference/errors.md").read_text() == "old"


def test_every_tool_and_parameter_is_in_the_reference() -> None:
    text = (REFERENCE / "tools.md").read_text("utf-8")
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", text, re.DOTALL | re.MULTILINE))

    assert sorted(sections) == sorted(tool.name for tool in load_tools())
    for tool in load_tools():
        missing = [name for name in tool.input_schema["properties"] if f"`{name}`" not in sections[tool.name]]
        assert (tool.name, missing) == (tool.name, [])


def test_every_app_tool_is_in_the_reference_with_additions_marked() -> None:
    text = (REFERENCE / "tools-metamask.md").read_text("utf-8")
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", text, re.DOTALL | re.MULTILINE))
    every = app_tools("mm", strict=False)
    strict = {tool.name: tool for tool in app_tools("mm", strict=True)}

    assert list(sections) == [*strict, *(tool.name for tool in every if tool.name not in strict)]
    for tool in every:
        reported = re.findall(
            r"^\| `(\w+)` \|.*?(\*\*Additional\.\*\*|\|$)", sections[tool.name], re.MULTILINE
        )
        known = strict.get(tool.name, tool).input_schema["properties"]
        assert {name: mark == "**Additional.**" for name, mark in reported} == {
            name: name not in known for name in tool.input_schema["properties"]
        }


def test_every_resource_template_is_documented() -> None:
    reported = [each.uri_template for each in Resources(lambda: None).templates()]

    for page in ("docs/reference/resources.md", "docs/resources.md"):
        text = (ROOT / page).read_text("utf-8")
        assert (page, re.findall(r"^\| `(playwright:[^`]+)`", text, re.MULTILINE)) == (page, reported)


def test_every_prompt_is_documented_with_its_arguments_and_text() -> None:
    text = (REFERENCE / "prompts.md").read_text("utf-8")
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE))
    del sections["Errors"]

    assert list(sections) == [prompt.name for prompt in builtin_prompts()]
    for prompt in builtin_prompts():
        section = sections[prompt.name]
        names = re.findall(r"^\| `(\w+)`", section, re.MULTILINE)
        assert (prompt.name, names) == (prompt.name, [argument.name for argument in prompt.arguments])
        assert f"```text\n{prompt.template.rstrip()}\n```" in section


def test_every_error_code_is_documented() -> None:
    text = (REFERENCE / "errors.md").read_text("utf-8")

    codes = [error.code for error in (*CODES, *APP_CODES)]

    assert re.findall(r"^\| \[`(\w+)`\]", text, re.MULTILINE) == codes
    assert re.findall(r"^### (\w+)$", text, re.MULTILINE) == codes


def test_every_public_client_name_and_method_is_documented() -> None:
    text = (REFERENCE / "client.md").read_text("utf-8")
    public = [name for name in footlight.__all__ if not name.startswith("_")]
    methods = [name for name in vars(footlight.MCPClient) if not name.startswith("_")]
    [_, *reasons] = re.findall(r"^\| `(\w+)` \|", text[text.index("## Reasons") :], re.MULTILINE)

    assert [
        name
        for name in public
        if not re.search(rf"^### footlight\.{name}$|^\| `{name}\b", text, re.MULTILINE)
    ] == []
    assert [name for name in methods if not re.search(rf"^(async |- `)?{name}\b", text, re.MULTILINE)] == []
    assert reasons == list(get_args(Reason))


def test_every_setting_is_documented_and_its_variable_sets_it() -> None:
    text = (REFERENCE / "configuration.md").read_text("utf-8")
    rows = re.findall(r"^\| `([\w.]+)` \| (.*?) \| (.*?) \| `(FOOTLIGHT_\w+)`", text, re.MULTILINE)

    assert [key for key, *_ in rows] == [".".join(key) for key in list_settings(Settings)]
    for key, kind, default, variable in rows:
        other = VALUES.get(key) or another(kind, default)
        changed = load_settings(environment=NEEDED | {variable: other})
        assert (key, value_of(changed, key)) != (key, value_of(load_settings(environment=NEEDED), key))


NEEDED = {
    "FOOTLIGHT_TRANSPORT": "http",
    "FOOTLIGHT_LOGGING_FILE": "server.log",
    "FOOTLIGHT_LISTEN_TLS_CERTIFICATE": "server.pem",
    "FOOTLIGHT_LISTEN_TLS_KEY": "server.key",
    "FOOTLIGHT_LISTEN_PUBLIC_URL": "https://browser.example.com/mcp",
    "FOOTLIGHT_LISTEN_TOKEN_VERIFIER": "package.module:verifier",
}
"""What other settings need beside them."""

VALUES = {
    "transport": "websocket",
    "documentationUrl": "https://docs.example.com/footlight",
    "listen.publicUrl": "https://elsewhere.example.com/mcp",
    "listen.tokenVerifier": "package.module:other",
    "app.profile": "package.module:other",
    "listen.authorizationServers": "https://login.example.com",
}
"""Of a form that the type does not tell."""


def another(kind: str, default: str) -> str:
    """Return a value of that type other than the default, both as the page writes them."""
    if choices := re.findall(r'`"(\w+)"`', kind):
        return next(choice for choice in choices if choice not in default)
    if kind == "boolean":
        return "true" if default == "`false`" else "false"
    if kind.startswith("integer"):
        return "1" if default == "none" else str(int(default.strip("`")) + 1)
    return "other"


def value_of(settings: Settings, key: str) -> Any:
    value: Any = settings.model_dump(mode="json", by_alias=True)
    for part in key.split("."):
        value = value[part]
    return value
