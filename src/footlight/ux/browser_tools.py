"""What a model can do on a page, by the tools of each family of servers: one table for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, HttpUrl

from footlight.ux.tools import AIToolDefinition, ToolInput

__all__ = ["CHARACTERS", "FOOTLIGHT", "PLAYWRIGHT_MCP"]

CHARACTERS = 6_000
"""Of a page's structure, or of what changed in it. A model can ask for more of a part."""

Target = Annotated[
    str,
    Field(min_length=1, max_length=500, description="A ref such as e12, or a CSS selector of one element"),
]


class Nothing(ToolInput):
    pass


class Address(ToolInput):
    url: Annotated[HttpUrl, Field(description="The URL to navigate to")]


class Part(ToolInput):
    target: Annotated[str, Field(max_length=500, description="Only this part: a ref or a CSS selector")] = ""


class OneElement(ToolInput):
    target: Target


class Text(ToolInput):
    target: Target
    text: Annotated[str, Field(max_length=5_000, description="It replaces what the field holds")]


class Choice(ToolInput):
    target: Target
    option: Annotated[str, Field(description="Its label or value")]


class Key(ToolInput):
    key: Annotated[
        str, Field(min_length=1, max_length=40, description="Tab, Shift+Tab, Enter, ArrowDown, a, …")
    ]


class Reply(ToolInput):
    accept: bool


def _table(told: Mapping[str, tuple[str, Callable[[Any], Mapping[str, Any]]]]) -> Sequence[AIToolDefinition]:
    return tuple(
        AIToolDefinition(
            mcp_tool_name=mcp_name,
            ai_tool_name=name,
            description=_TOLD[name][0],
            input_schema=_TOLD[name][1],
            arguments=arguments,
        )
        for name, (mcp_name, arguments) in told.items()
    )


_TOLD: Mapping[str, tuple[str, type[ToolInput]]] = {
    "navigateToPage": ("Navigate to a web page URL to begin analysis", Address),
    "getPageStructure": (
        "What is on the page, for those who cannot see it: roles, names, values, refs",
        Part,
    ),
    "captureScreenshot": ("See the visible part of the page as a picture", Nothing),
    "clickElement": ("Click an element; a checkbox is ticked so, too", OneElement),
    "typeText": ("Fill a field", Text),
    "selectOption": ("Choose an option of a select", Choice),
    "pressKey": ("Press a key where the focus is", Key),
    "goBack": ("Go back to the page before", Nothing),
    "answerDialog": ("Answer the dialog that the page has opened", Reply),
}
"""The same words for each family: what a model was taught with one server is so with the other."""

_CHANGES = {"observe": "diff", "budget": CHARACTERS}
_ACTION = {**_CHANGES, "timeout": 5_000}
"""What is not there by then is not waited for: a model that guessed shall know it soon."""

FOOTLIGHT = _table(
    {
        "navigateToPage": ("navigate", lambda given: {"url": str(given.url), **_CHANGES}),
        "getPageStructure": (
            "snapshot",
            lambda given: {**_part(given, "rootSelector"), "budget": CHARACTERS},
        ),
        "captureScreenshot": (
            "screenshot",
            lambda _: {"type": "jpeg"},
        ),
        "clickElement": ("click", lambda given: {"selector": given.target, **_ACTION}),
        "typeText": ("fill", lambda given: {"selector": given.target, "value": given.text, **_ACTION}),
        "selectOption": (
            "select",
            lambda given: {"selector": given.target, "value": given.option, **_ACTION},
        ),
        "pressKey": ("press", lambda given: {**_keys(given.key), **_ACTION}),
        "goBack": ("go_back", lambda _: _CHANGES),
    }
)
"""It answers the dialogs of a page by itself, and tells of them."""

PLAYWRIGHT_MCP = _table(
    {
        "navigateToPage": ("browser_navigate", lambda given: {"url": str(given.url)}),
        "getPageStructure": ("browser_snapshot", lambda given: _part(given, "target")),
        "captureScreenshot": ("browser_take_screenshot", lambda _: {"type": "jpeg"}),
        "clickElement": ("browser_click", lambda given: {"target": given.target}),
        "typeText": ("browser_type", lambda given: {"target": given.target, "text": given.text}),
        "selectOption": (
            "browser_select_option",
            lambda given: {"target": given.target, "values": [given.option]},
        ),
        "pressKey": ("browser_press_key", lambda given: {"key": given.key}),
        "goBack": ("browser_navigate_back", lambda _: {}),
        "answerDialog": ("browser_handle_dialog", lambda given: {"accept": given.accept}),
    }
)


def _part(given: Part, parameter: str) -> Mapping[str, Any]:
    return {parameter: given.target} if given.target else {}


def _keys(pressed: str) -> Mapping[str, Any]:
    """Our server has modifiers apart from the key."""
    *modifiers, key = pressed.split("+") if len(pressed) > 1 and not pressed.endswith("+") else [pressed]
    return {"key": key, **({"modifiers": modifiers} if modifiers else {})}
