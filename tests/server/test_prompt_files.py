"""Prompts from files: the five specified ones, a user's own, and errors in a file."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.errors import ConfigurationError
from footlight.server.prompt_files import builtin_prompts, load_prompts
from footlight.server.prompt_library import PromptArgument, PromptDefinition

DOCUMENT = {
    "scrape_website": (
        "Scrape structured data from a website",
        [
            ("url", "The URL to scrape", True, None),
            ("selectors", "JSON object mapping field names to CSS selectors", True, None),
        ],
    ),
    "fill_form": (
        "Fill out and submit a web form",
        [
            ("url", "The URL containing the form", True, None),
            ("form_data", "JSON object with form field values", True, None),
            ("submit_button", "Selector for submit button", False, "button[type='submit']"),
        ],
    ),
    "visual_regression": (
        "Compare page screenshots for visual changes",
        [
            ("url", "The URL to test", True, None),
            ("baseline_screenshot", "Path to baseline screenshot", True, None),
        ],
    ),
    "authenticate": (
        "Log into a website",
        [
            ("url", "Login page URL", True, None),
            ("username", "Username or email", True, None),
            ("password", "Password", True, None),
            (
                "username_selector",
                "Username field selector",
                False,
                "input[name='username'], input[type='email']",
            ),
            (
                "password_selector",
                "Password field selector",
                False,
                "input[name='password'], input[type='password']",
            ),
            ("submit_selector", "Submit button selector", False, "button[type='submit']"),
        ],
    ),
    "e2e_test": (
        "Run end-to-end user journey test",
        [
            ("test_scenario", "Description of the user journey", True, None),
            ("start_url", "Starting URL", True, None),
        ],
    ),
}
"""003 §4.2, word for word; the templates are in `test_prompts.py`, rendered whole."""

TEXT = "{{#each rows}}\n- {{this}}\n{{/each}}\n"
MINE = {
    "name": "mine",
    "description": "Ours",
    "arguments": [
        {"name": "rows", "description": "The rows", "required": True},
        {"name": "speed", "description": "How fast", "default": "slow", "values": ["slow", "fast"]},
        {"name": "api_key", "description": "The key"},
        {"name": "pin", "description": "A map's pin", "secret": False},
        {"name": "code", "description": "The code", "secret": True},
    ],
    "template": TEXT,
}
YAML = """\
name: mine
description: Ours
arguments:
  - {name: rows, description: The rows, required: true}
  - {name: speed, description: How fast, default: slow, values: [slow, fast]}
  - {name: api_key, description: The key}
  - {name: pin, description: A map's pin, secret: false}
  - {name: code, description: The code, secret: true}
template: |
  {{#each rows}}
  - {{this}}
  {{/each}}
"""
READ = PromptDefinition(
    name="mine",
    description="Ours",
    arguments=(
        PromptArgument(name="rows", description="The rows", required=True),
        PromptArgument(
            name="speed", description="How fast", required=False, default="slow", values=("slow", "fast")
        ),
        PromptArgument(name="api_key", description="The key", required=False, secret=True),
        PromptArgument(name="pin", description="A map's pin", required=False),
        PromptArgument(name="code", description="The code", required=False, secret=True),
    ),
    template=TEXT,
)


def refuse(directory: Path) -> str:
    with pytest.raises(ConfigurationError) as raised:
        load_prompts(directory)
    return raised.value.message


def test_five_built_in_prompts_match_the_specification() -> None:
    found = {
        prompt.name: (
            prompt.description,
            [(each.name, each.description, each.required, each.default) for each in prompt.arguments],
        )
        for prompt in builtin_prompts()
    }

    assert list(found.items()) == list(DOCUMENT.items())


def test_only_the_password_argument_is_secret() -> None:
    secrets = [
        (prompt.name, each.name) for prompt in builtin_prompts() for each in prompt.arguments if each.secret
    ]

    assert secrets == [("authenticate", "password")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", YAML),
        ("a.yml", YAML),
        ("a.yaml", "\ufeff" + YAML),
        ("a.json", json.dumps(MINE)),
        ("a.yaml", json.dumps(MINE)),
    ],
)
def test_prompt_is_loaded_from_yaml_and_json_files(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, "utf-8")

    assert load_prompts(tmp_path) == (READ,)


def test_prompts_are_loaded_in_file_name_order(tmp_path: Path) -> None:
    for file, name in [("b.yaml", "first"), ("c.json", "second"), ("d.yml", "third")]:
        (tmp_path / file).write_text(json.dumps({**MINE, "name": name}), "utf-8")
    for other in ["a.txt", "README.md", ".hidden.yaml"]:
        (tmp_path / other).write_text("no prompt", "utf-8")

    assert [prompt.name for prompt in load_prompts(tmp_path)] == ["first", "second", "third"]


def test_an_empty_folder_has_no_prompts(tmp_path: Path) -> None:
    assert load_prompts(tmp_path) == ()


def test_prompt_arguments_are_optional(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("name: a\ndescription: b\ntemplate: c", "utf-8")

    assert load_prompts(tmp_path) == (
        PromptDefinition(name="a", description="b", arguments=(), template="c"),
    )


def test_duplicate_prompt_name_is_refused(tmp_path: Path) -> None:
    for file in ("a.yaml", "b.json"):
        (tmp_path / file).write_text(json.dumps(MINE), "utf-8")

    assert (
        refuse(tmp_path)
        == f"{tmp_path / 'b.json'}: field 'name': 'mine' is also the name in {tmp_path / 'a.yaml'}"
    )


def test_missing_prompts_folder_is_reported_with_its_setting(tmp_path: Path) -> None:
    folder = tmp_path / "none"

    assert (
        refuse(folder) == f"setting 'prompts.directory': {folder} cannot be read: No such file or directory"
    )


def test_prompts_folder_that_is_a_file_names_its_setting(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(YAML, "utf-8")

    assert refuse(file) == f"setting 'prompts.directory': {file} cannot be read: Not a directory"


def test_unreadable_prompt_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").mkdir()

    assert refuse(tmp_path) == f"{tmp_path / 'a.yaml'}: cannot be read: Is a directory"


HINT = "; YAML takes yes, no, null, numbers and dates for something other than text: put it in quotes"
FIELDS = "name, description, arguments, template"


def yaml(line: str = "", *, name: str = "a", template: str = "t", argument: str = "x") -> str:
    """Return a prompt in YAML with these fields."""
    return (
        f"name: {name}\ndescription: d\ntemplate: {template}\n{line}\n"
        f"arguments: [{{name: {argument}, description: d}}]"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"must be an object with the fields {FIELDS}"),
        ("- a", f"must be an object with the fields {FIELDS}"),
        ("a: [", "not valid YAML: line 1: expected the node content, but found '<stream end>'"),
        ("a: 1\n---\nb: 1", "not valid YAML: line 2: but found another document"),
        (
            "!!python/object:os.system {}",
            "not valid YAML: line 1: could not determine a constructor for the tag "
            "'tag:yaml.org,2002:python/object:os.system'",
        ),
        ("a: 2024-13-45", "not valid YAML: month must be in 1..12"),
        (
            "name: a\ntemplate: t",
            "field 'description': must be given",
        ),
        (yaml("title: b"), f"unknown field 'title'; known here: {FIELDS}"),
        (
            yaml(argument="x, type: y"),
            "unknown field 'arguments[0].type'; known here: "
            "name, description, required, default, values, secret",
        ),
        (
            yaml(name="a b"),
            "field 'name': must match pattern '^[A-Za-z0-9._-]{1,128}$', got 'a b'",
        ),
        (yaml(name="1"), f"field 'name': must be a valid string, got 1{HINT}"),
        (yaml(template="yes"), f"field 'template': must be a valid string, got True{HINT}"),
        (yaml(template="[t]"), "field 'template': must be a valid string, got ['t']"),
        (
            yaml(argument="x, default: 2024-01-02"),
            f"field 'arguments[0].default': must be a valid string, got datetime.date(2024, 1, 2){HINT}",
        ),
        (
            yaml(argument="x, required: 'true'"),
            "field 'arguments[0].required': must be a valid boolean, got 'true'",
        ),
        (
            "{name: a, description: d, template: t, arguments: {x: y}}",
            "field 'arguments': must be a valid list, got {'x': 'y'}",
        ),
        (
            yaml(argument="é"),
            "field 'arguments[0].name': must match pattern '^[A-Za-z0-9._-]{1,128}$', got 'é'",
        ),
        (
            yaml(argument="else"),
            "field 'arguments[0].name': 'else' is a word of the template language",
        ),
        (
            yaml(argument="x, description: d}, {name: x"),
            "field 'arguments[1].name': a second argument 'x'",
        ),
        (
            yaml(template="'{{#unless x}}'"),
            "field 'template': line 1: unknown block 'unless'; known: each, if",
        ),
    ],
)
def test_invalid_yaml_file_is_reported_with_its_field(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(text, "utf-8")

    assert refuse(tmp_path) == f"{file}: {message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        (json.dumps({**MINE, "name": 1}), "field 'name': must be a valid string, got 1"),
        (
            json.dumps({**MINE, "template": "{{y}}", "arguments": []}),
            "field 'template': line 1: unknown argument 'y'; known: none",
        ),
    ],
)
def test_invalid_json_file_is_reported_with_its_field(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "a.json"
    file.write_text(text, "utf-8")

    assert refuse(tmp_path) == f"{file}: {message}"


def test_all_errors_of_a_file_are_reported_at_once(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("{name: a, template: 1, more: b}", "utf-8")

    assert refuse(tmp_path).splitlines() == [
        f"{file}: field 'description': must be given",
        f"{file}: field 'template': must be a valid string, got 1{HINT}",
        f"{file}: unknown field 'more'; known here: {FIELDS}",
    ]


def test_prompt_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe\xfa")

    assert refuse(tmp_path) == f"{tmp_path / 'a.yaml'}: is not UTF-8 text"


PARTS = [
    "name: a\n",
    "description: d\n",
    "template: t\n",
    "!!",
    "int",
    "bool",
    "timestamp",
    "omap",
    " ",
    "\n",
    "- ",
]


@given(st.lists(st.sampled_from([*PARTS, "[", "{", "}", "'", ": ", "&a", "*a", "? ", "<<: ", "\t"])))
def test_any_text_is_loaded_as_a_prompt_or_refused(parts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.yaml").write_text("".join(parts), "utf-8")
        with contextlib.suppress(ConfigurationError):
            assert [prompt.name for prompt in load_prompts(Path(folder))] == ["a"]


def test_yaml_is_imported_only_when_prompts_are_loaded() -> None:
    program = (
        "import sys; from footlight.server.prompt_files import builtin_prompts; "
        "before = 'yaml' in sys.modules; builtin_prompts(); print(before, 'yaml' in sys.modules)"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout == "False True\n"
