"""Reading secrets from a file, and using them by name."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from footlight.errors import ConfigurationError, InvalidParameterError
from footlight.server.answers.secrets import Secrets, SecretText, load_secrets
from footlight.server.tools import ToolCall, tool


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "secrets.env"
    path.touch(mode=0o600)
    return path


def test_secrets_file_is_parsed_as_dotenv(file: Path) -> None:
    file.write_text(
        "# logins\n"
        "export USER_PASSWORD=hunter2 # of the shop\n"
        'QUOTED="two words\\n"\n'
        "LITERAL='$HOME is ${USER_PASSWORD}'\n"
        "\n"
        "EQUALS=a=b=c==\n"
        "KEY='-----BEGIN\n-----END'\n"
    )

    secrets = load_secrets(file)

    assert dict(zip(secrets.names, secrets.values, strict=True)) == {
        "USER_PASSWORD": "hunter2",
        "QUOTED": "two words\n",
        "LITERAL": "$HOME is ${USER_PASSWORD}",
        "EQUALS": "a=b=c==",
        "KEY": "-----BEGIN\n-----END",
    }


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("GOOD=hunter2\nSHORT=abc\n", "line 2: SHORT has fewer than 4 characters"),
        ("SPACES='      '\n", "line 1: SPACES has fewer than 4 characters"),
        ("EMPTY=\n", "line 1: EMPTY has fewer than 4 characters"),
        ("hunter2\n", "line 1: must be NAME=value"),
        ("GOOD='hunter2\n", "line 1: must be NAME=value"),
        ("MY-PASSWORD=hunter2\n", "line 1: a name is of letters, digits and underscores"),
    ],
)
def test_invalid_secret_is_refused_without_showing_its_value(file: Path, text: str, wrong: str) -> None:
    file.write_text(text)

    with pytest.raises(ConfigurationError) as raised:
        load_secrets(file)

    assert raised.value.message.startswith(f"setting 'security.secretsFile': {file} {wrong}")
    assert "hunter2" not in raised.value.message


def test_unreadable_secrets_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"A=\xff\xff\xff\xff")

    for name, wrong in (
        ("none", "cannot be read: No such file or directory"),
        ("binary", "is not UTF-8 text"),
    ):
        with pytest.raises(ConfigurationError) as raised:
            load_secrets(tmp_path / name)
        assert raised.value.message == f"setting 'security.secretsFile': {tmp_path / name} {wrong}"


@pytest.mark.parametrize(("mode", "warns"), [(0o600, False), (0o640, True), (0o604, True)])
def test_secrets_file_readable_by_others_is_warned_about(
    file: Path, mode: int, warns: bool, caplog: pytest.LogCaptureFixture
) -> None:
    file.write_text("PASSWORD=hunter2\n")
    file.chmod(mode)

    with caplog.at_level(logging.WARNING):
        load_secrets(file)

    expected = [f"other users can read the secrets in {file}: chmod 600"] if warns else []
    assert caplog.messages == expected


def test_repr_of_secrets_shows_only_names() -> None:
    assert repr(Secrets({"PASSWORD": "hunter2", "PIN": "4821"})) == "Secrets(PASSWORD, PIN)"


class Field(BaseModel):
    name: str
    value: SecretText


@tool(effect="act")
async def fill_all(
    call: ToolCall, text: SecretText, fields: list[Field], plain: str = ""
) -> Mapping[str, Any]:
    """Fill."""
    return {"text": text, "fields": fields, "plain": plain}


SECRETS = Secrets({"PASSWORD": "hunter2", "PIN": "4821"})


def test_tool_receives_the_value_of_a_named_secret() -> None:
    fields = [{"name": "secret:PIN", "value": "secret:PIN"}, {"name": "b", "value": "my secret:PIN"}]

    parsed = fill_all.parse({"text": "secret:PASSWORD", "fields": fields, "plain": "secret:PIN"}, SECRETS)

    assert parsed.model_dump(include={"text", "fields", "plain"}) == {
        "text": "hunter2",
        "fields": [{"name": "secret:PIN", "value": "4821"}, {"name": "b", "value": "my secret:PIN"}],
        "plain": "secret:PIN",
    }


@pytest.mark.parametrize("text", ["secret:", "secret:a b", "secret:1a", "SECRET:PIN", "secret:PIN\n", "PIN"])
def test_text_that_is_not_a_secret_reference_is_unchanged(text: str) -> None:
    assert SECRETS.resolve(text) == text


def test_secret_reference_is_plain_text_without_secrets() -> None:
    assert fill_all.parse({"text": "secret:PASSWORD", "fields": []}).model_dump()["text"] == "secret:PASSWORD"


def test_unknown_secret_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidParameterError) as raised:
        fill_all.parse({"text": "x", "fields": [{"name": "a", "value": "secret:PASSWRD"}]}, SECRETS)

    assert raised.value.message == (
        "fields.0.value: there is no secret PASSWRD; known: PASSWORD, PIN, got 'secret:PASSWRD'"
    )


def test_secret_parameter_has_a_string_schema() -> None:
    assert fill_all.input_schema["properties"]["text"] == {"type": "string"}
