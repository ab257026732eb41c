"""The prompts for models: the texts of the folder `prompts`, with values filled in."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template

__all__ = ["prompt"]


def prompt(name: str, /, **values: object) -> str:
    """Return the prompt in the file of this name. Placeholders inside of values are not replaced."""
    return _template(name).substitute(values)


@cache
def _template(name: str) -> Template:
    return Template(
        files("footlight.audit.analysis").joinpath("prompts", f"{name}.md").read_text("utf-8").strip()
    )
