"""The page of the built-in prompts."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_types import INVALID_PARAMS

from footlight.server.prompt_files import builtin_prompts
from footlight.server.prompt_library import PromptArgument, PromptDefinition
from scripts.reference.markdown import Row, code_block, join, table, yes_or_no

PROTOCOL_ERROR = f"a protocol error, {INVALID_PARAMS}"

INTRO = """\
The built-in prompts. [Prompts](../prompts.md) describes how templates are written and how to add your own.
Every argument is a string. An argument that the template uses with `{{#each}}` is JSON: an object or an
array.
"""

ERRORS = f"""\
A prompt that does not exist is {PROTOCOL_ERROR}. So is an argument that is missing, unknown or invalid JSON.
"""


def render() -> str:
    parts = [part for prompt in builtin_prompts() for part in _render_prompt(prompt)]
    return join(["# Prompts", INTRO.strip(), *parts, "## Errors", ERRORS])


def _render_prompt(prompt: PromptDefinition) -> Iterator[str]:
    yield f"## {prompt.name}"
    yield f"{prompt.description}."
    heads = ["Argument", "Required", "Default", "Description"]
    yield table(heads, (_argument_row(argument) for argument in prompt.arguments))
    yield code_block([prompt.template.rstrip()])


def _argument_row(argument: PromptArgument) -> Row:
    default = "" if argument.default is None else f"`{argument.default}`"
    secret = " Never shown in the text." if argument.secret else ""
    return [
        f"`{argument.name}`",
        yes_or_no(argument.required),
        default,
        f"{argument.description}.{secret}",
    ]
