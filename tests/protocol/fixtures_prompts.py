"""Prompts, each declared as a function."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import mcp_types as types

from tests.protocol.fixtures import Call, embed, image, text
from tests.protocol.fixtures_rounds import ask, form, read_entry

Messages = types.GetPromptResult | types.InputRequiredResult
Run = Callable[[Call], Awaitable[Messages]]

WORDS = ("alpha", "alphabet", "beta")
"""What arguments are completed to."""


@dataclass(frozen=True, slots=True)
class PromptFixture:
    """A prompt and what it says."""

    prompt: types.Prompt
    run: Run


def _prompt(*arguments: str) -> Callable[[Run], PromptFixture]:
    def declare(run: Run) -> PromptFixture:
        named = [types.PromptArgument(name=name, required=True) for name in arguments]
        name = getattr(run, "__name__", "")
        return PromptFixture(types.Prompt(name=name, description=run.__doc__, arguments=named), run)

    return declare


def _says(*blocks: types.ContentBlock) -> types.GetPromptResult:
    messages = [types.PromptMessage(role="user", content=block) for block in blocks]
    return types.GetPromptResult(messages=messages)


@_prompt()
async def test_simple_prompt(call: Call) -> Messages:
    """Say one sentence."""
    return _says(text("This is a simple prompt for testing."))


@_prompt("arg1", "arg2")
async def test_prompt_with_arguments(call: Call) -> Messages:
    """Say what was given."""
    given = ", ".join(f"{name}='{call.argument(name)}'" for name in ("arg1", "arg2"))
    return _says(text(f"Prompt with arguments: {given}"))


@_prompt("resourceUri")
async def test_prompt_with_embedded_resource(call: Call) -> Messages:
    """Show a resource."""
    resource = embed(call.argument("resourceUri"), "text/plain", "Embedded resource content for testing.")
    return _says(resource, text("Please process the embedded resource above."))


@_prompt()
async def test_prompt_with_image(call: Call) -> Messages:
    """Show an image."""
    return _says(image(), text("Please analyze the image above."))


@_prompt()
async def test_input_required_result_prompt(call: Call) -> Messages:
    """Ask for the context and say it."""
    context = read_entry(call, "user_context", "context")
    if context:
        return _says(text(f"The context is {context}."))
    return ask(call, user_context=form("What context should the prompt use?", context="string"))


PROMPTS = (
    test_simple_prompt,
    test_prompt_with_arguments,
    test_prompt_with_embedded_resource,
    test_prompt_with_image,
    test_input_required_result_prompt,
)
