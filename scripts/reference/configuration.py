"""The page of the settings."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

from pydantic import BaseModel

from footlight.cli.serve import FLAGS, serve
from footlight.config import Settings
from footlight.config.loading import ENVIRONMENT_PREFIX, Key, list_settings
from scripts.reference.commands import get_options, option_names
from scripts.reference.markdown import Row, join, prose, table
from scripts.reference.python_code import attribute_docstrings
from scripts.reference.schemas import describe_type

SCHEMA_URL = "https://raw.githubusercontent.com/footlight/footlight/main/src/footlight/settings.schema.json"

INTRO = f"""\
Settings come from the defaults, the file of `--config`, environment variables and flags. Later ones override
earlier ones, key by key. The file is JSON, or TOML if its name ends in `.toml`.
Durations are in milliseconds, sizes in bytes. With an unknown key or variable, or a value of a
wrong type, the server does not start and names it.

Editors complete and check a settings file that names its [JSON
Schema](../../src/footlight/settings.schema.json): `"$schema":
"{SCHEMA_URL}"`.
The package contains the schema as `footlight/settings.schema.json`.

The name of a variable is `{ENVIRONMENT_PREFIX}` and the key in capitals. A list is written with commas or as
a JSON array, a switch as `true` or `false`. The flags are those of
[`footlight serve`](cli.md#footlight-serve).
"""


def render() -> str:
    sections = itertools.groupby(list_settings(Settings), lambda key: key[:-1])
    parts = [part for section, keys in sections for part in _render_section(section, keys)]
    return join(["# Configuration", INTRO.strip(), *parts])


def _render_section(section: Key, keys: Iterable[Key]) -> Iterator[str]:
    model = get_model(section)
    yield f"## {'.'.join(section) or 'Top level'}"
    yield prose(model.__doc__) if section else "The name of the server and its transport."
    heads = ["Key", "Type", "Default", "Variable and flag", "Description"]
    yield table(heads, (_setting_row(model, key) for key in keys))


def get_model(section: Key) -> type[BaseModel]:
    model: type[BaseModel] = Settings
    for name in section:
        field = next(field for field in model.model_fields.values() if field.alias == name)
        model = cast("type[BaseModel]", field.annotation)
    return model


def _setting_row(model: type[BaseModel], key: Key) -> Row:
    schema = model.model_json_schema(by_alias=True)["properties"][key[-1]]
    name = next(name for name, field in model.model_fields.items() if field.alias == key[-1])
    return [
        f"`{'.'.join(key)}`",
        describe_type(schema),
        _default(key),
        "<br>".join([f"`{_variable(key)}`", *_flags(key)]),
        prose(attribute_docstrings(model).get(name)),
    ]


def _variable(key: Key) -> str:
    return ENVIRONMENT_PREFIX + "_".join(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", part).upper() for part in key)


def _default(key: Key) -> str:
    value: Any = Settings().model_dump(mode="json", by_alias=True)
    for part in key:
        value = value[part]
    return "none" if value is None else f"`{json.dumps(value)}`"


def _flags(key: Key) -> Iterator[str]:
    for name, dotted in FLAGS.items():
        if dotted == ".".join(key):
            flag = f"--{name.replace('_', '-')}"
            for names in map(option_names, get_options(serve)):
                if flag in names:
                    yield f"`{' / '.join(names)}`"
