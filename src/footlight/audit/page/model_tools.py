"""The tools that a model may use on a page, as a table for each supported server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, HttpUrl

from footlight.audit.model.tools import AIToolDefinition, ToolInput

__all__ = ["CHARACTERS", "FOOTLIGHT", "PLAYWRIGHT_MCP"]

CHARACTERS = 6_000
"""The limit of a page's structure or of its changes. A model can ask for a part in full."""

Target = Annotated[
    str,
    Field(min_length=1, max_length=500, description="A ref such as e12, or a CSS selector of one element"),
]


class NoInput(ToolInput):
    pass


class NavigateInput(ToolInput):
    url: Annotated[HttpUrl, Field(description="The URL to navigate to")]


class StructureInput(ToolInput):
    target: Annotated[str, Field(max_length=500, description="Only this part: a ref or a CSS selector")] = ""


class ElementInput(ToolInput):
    target: Target


class TypeTextInput(ToolInput):
    target: Target
    text: Annotated[str, Field(max_length=5_000, description="Replaces the value of the field")]


class SelectOptionInput(ToolInput):
    target: Target
    option: Annotated[str, Field(description="Its label or value")]


class PressKeyInput(ToolInput):
    key: Annotated[
        str, Field(min_length=1, max_length=40, description="Tab, Shift+Tab, Enter, ArrowDown, a, …")
    ]


class DialogInput(ToolInput):
    accept: bool


def _table(tools: Mapping[str, tuple[str, Callable[[Any], Mapping[str, Any]]]]) -> Sequence[AIToolDefinition]:
    return tuple(
        AIToolDefinition(
            mcp_tool_name=mcp_name,
            ai_tool_name=name,
            description=_DESCRIPTIONS[name][0],
            input_schema=_DESCRIPTIONS[name][1],
            arguments=arguments,
        )
        for name, (mcp_name, arguments) in tools.items()
    )


_DESCRIPTIONS: Mapping[str, tuple[str, type[ToolInput]]] = {
    "navigateToPage": ("Navigate to a web page URL to begin analysis", NavigateInput),
    "getPageStructure": (
        "Read the page as a screen reader does: roles, names, values, refs",
        StructureInput,
    ),
    "captureScreenshot": ("See the visible part of the page as a picture", NoInput),
    "clickElement": ("Click an element, also to check a checkbox", ElementInput),
    "typeText": ("Fill a field", TypeTextInput),
    "selectOption": ("Choose an option of a select", SelectOptionInput),
    "pressKey": ("Press a key where the focus is", PressKeyInput),
    "goBack": ("Go back to the previous page", NoInput),
    "answerDialog": ("Answer the dialog that the page has opened", DialogInput),
}
"""The names and descriptions, the same for every server."""

_CHANGES = {"observe": "diff", "budget": CHARACTERS}
_ACTION = {**_CHANGES, "timeout": 5_000}
"""A short time limit, so that a model learns soon that it guessed a wrong target."""

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
"""The tools of Footlight, which answers dialogs on its own and reports them."""

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


def _part(arguments: StructureInput, parameter: str) -> Mapping[str, Any]:
    return {parameter: arguments.target} if arguments.target else {}


def _keys(pressed: str) -> Mapping[str, Any]:
    """Split a combination: Footlight takes modifiers separately from the key."""
    *modifiers, key = pressed.split("+") if len(pressed) > 1 and not pressed.endswith("+") else [pressed]
    return {"key": key, **({"modifiers": modifiers} if modifiers else {})}
