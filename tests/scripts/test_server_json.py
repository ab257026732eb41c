"""`server.json`, by which the MCP registry lists the package: its form, and its facts."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest

from footlight.cli.commands import cli
from footlight.config import Settings
from footlight.config.loading import load_settings
from footlight.transports.network.listener import DEFAULT_PORT

ROOT = Path(__file__).parents[2]
SERVER: dict[str, Any] = json.loads((ROOT / "server.json").read_text("utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

README = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["metadata"]["hooks"][
    "fancy-pypi-readme"
]

VALUE = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "description": {"type": "string"},
        "format": {"enum": ["string", "number", "boolean", "filepath"]},
        "isRequired": {"type": "boolean"},
        "isSecret": {"type": "boolean"},
        "default": {"type": "string"},
        "placeholder": {"type": "string"},
        "value": {"type": "string"},
    },
}

ARGUMENT = {
    "oneOf": [
        {
            "type": "object",
            "required": ["type", "value"],
            "additionalProperties": False,
            "properties": {"type": {"const": "positional"}, "value": {"type": "string"}},
        },
        {
            "type": "object",
            "required": ["type", "name"],
            "additionalProperties": False,
            "properties": {
                "type": {"const": "named"},
                "name": {"type": "string"},
                "value": {"type": "string"},
            },
        },
    ]
}

TRANSPORT = {
    "oneOf": [
        {
            "type": "object",
            "required": ["type"],
            "additionalProperties": False,
            "properties": {"type": {"const": "stdio"}},
        },
        {
            "type": "object",
            "required": ["type", "url"],
            "additionalProperties": False,
            "properties": {
                "type": {"const": "streamable-http"},
                "url": {"type": "string", "pattern": r"^https?://[^\s]+$"},
                "headers": {"type": "array", "items": VALUE},
            },
        },
    ]
}

VERSION = {"type": "string", "maxLength": 255, "pattern": r"^\d+\.\d+\.\d+$"}

SCHEMA = {
    "type": "object",
    "required": ["$schema", "name", "description", "version", "packages"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"},
        "name": {
            "type": "string",
            "minLength": 3,
            "maxLength": 200,
            "pattern": r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$",
        },
        "title": {"type": "string", "minLength": 1, "maxLength": 100},
        "description": {"type": "string", "minLength": 1, "maxLength": 100},
        "version": VERSION,
        "websiteUrl": {"type": "string", "format": "uri"},
        "repository": {
            "type": "object",
            "required": ["url", "source"],
            "additionalProperties": False,
            "properties": {"url": {"type": "string", "format": "uri"}, "source": {"type": "string"}},
        },
        "icons": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["src"],
                "additionalProperties": False,
                "properties": {
                    "src": {"type": "string", "format": "uri", "pattern": "^https://", "maxLength": 255},
                    "mimeType": {
                        "enum": ["image/png", "image/jpeg", "image/jpg", "image/svg+xml", "image/webp"]
                    },
                    "sizes": {"type": "array", "items": {"pattern": r"^(\d+x\d+|any)$"}},
                },
            },
        },
        "packages": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["registryType", "identifier", "version", "transport"],
                "additionalProperties": False,
                "properties": {
                    "registryType": {"const": "pypi"},
                    "registryBaseUrl": {"const": "https://pypi.org"},
                    "identifier": {"type": "string"},
                    "version": VERSION,
                    "runtimeHint": {"const": "uvx"},
                    "packageArguments": {"type": "array", "items": ARGUMENT},
                    "transport": TRANSPORT,
                    "environmentVariables": {"type": "array", "items": VALUE},
                },
            },
        },
    },
}
"""Of the schema of 2025-12-11 what is used here, and nothing beside it."""


def test_server_json_matches_the_registry_schema() -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(SERVER)


def test_server_json_names_this_package_and_version() -> None:
    packages = [(each["identifier"], each["version"]) for each in SERVER["packages"]]

    assert (SERVER["version"], SERVER["description"]) == (PROJECT["version"], PROJECT["description"])
    assert packages == [(PROJECT["name"], PROJECT["version"])] * 2


def test_server_json_urls_match_the_project() -> None:
    urls = PROJECT["urls"]
    raw = urls["Repository"].replace("github.com", "raw.githubusercontent.com")

    assert (SERVER["websiteUrl"], SERVER["repository"]["url"]) == (urls["Homepage"], urls["Repository"])
    assert [icon["src"] for icon in SERVER["icons"]] == [f"{raw}/main/docs/logo.svg"]
    assert (ROOT / "docs/logo.svg").read_text("utf-8").startswith("<svg ")
    assert all(
        link["replacement"].count(raw) or urls["Repository"] in link["replacement"]
        for link in README["substitutions"]
    )


def test_readme_contains_the_registry_name() -> None:
    """The registry looks for the comment in what PyPI shows."""
    assert README["fragments"] == [{"path": "README.md"}]
    assert re.findall(r"<!-- mcp-name: (\S+) -->", (ROOT / "README.md").read_text("utf-8")) == [
        SERVER["name"]
    ]


@pytest.mark.parametrize("package", SERVER["packages"], ids=lambda package: package["transport"]["type"])
def test_server_json_command_line_matches_its_transport(package: dict[str, Any]) -> None:
    name, *options = [write_argument(argument) for argument in package["packageArguments"]]
    command = cli.get_command(click.Context(cli), name)
    assert command
    given = {"transport": "stdio", "port": DEFAULT_PORT}
    given |= {key: value for key, value in command.make_context(name, options).params.items() if value}
    said = {
        "stdio": ("stdio", None),
        "http": ("streamable-http", f"http://{Settings().listen.host}:{given['port']}/mcp"),
    }

    transport = package["transport"]
    assert (transport["type"], transport.get("url")) == said[str(given["transport"])]


def test_server_json_variables_are_valid_and_the_token_is_secret() -> None:
    variables = [each for package in SERVER["packages"] for each in package["environmentVariables"]]

    for each in variables:
        load_settings(environment={each["name"]: "example.com"})
    assert {each["name"] for each in variables if each.get("isSecret")} == {"FOOTLIGHT_TOKEN"}


def write_argument(argument: dict[str, str]) -> str:
    return (
        argument["value"] if argument["type"] == "positional" else f"{argument['name']}={argument['value']}"
    )
