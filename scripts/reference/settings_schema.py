"""The JSON Schema of the settings file, which editors use to complete and check it."""

from __future__ import annotations

import json
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from footlight.config import Settings
from footlight.config.loading import list_settings
from scripts.reference.configuration import get_model
from scripts.reference.markdown import prose
from scripts.reference.python_code import attribute_docstrings

DIALECT = "http://json-schema.org/draft-07/schema#"
"""The one that most editors know."""


class _WithoutTitles(GenerateJsonSchema):
    """Titles would only repeat the names of the keys."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        return False


def render() -> str:
    schema = Settings.model_json_schema(
        by_alias=True, ref_template="#/definitions/{model}", schema_generator=_WithoutTitles
    )
    definitions: dict[str, Any] = schema.pop("$defs")
    for key in list_settings(Settings):
        model = get_model(key[:-1])
        name = next(name for name, field in model.model_fields.items() if field.alias == key[-1])
        properties = definitions[model.__name__]["properties"] if key[:-1] else schema["properties"]
        if description := prose(attribute_docstrings(model).get(name)):
            properties[key[-1]]["description"] = description
    for each in definitions.values():
        each.pop("title", None)
    schema["properties"] = {"$schema": {"type": "string"}} | schema["properties"]
    head = {"$schema": DIALECT, "title": "Settings of footlight serve"}
    rest = {key: value for key, value in schema.items() if key not in ("title", "description")}
    return json.dumps({**head, **rest, "definitions": definitions}, indent=2, ensure_ascii=False)
