"""What models are told: the texts of the folder `prompts`, with their places filled in."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template

__all__ = ["prompt"]


def prompt(name: str, /, **values: object) -> str:
    """`name` is that of a file. What is filled in is not looked through for places again."""
    return _template(name).substitute(values)


@cache
def _template(name: str) -> Template:
    return Template(files("footlight.ux").joinpath("prompts", f"{name}.md").read_text("utf-8").strip())
