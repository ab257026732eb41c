"""The tools that a page itself offers to models (WebMCP). They are listed and called through the browser.

Their names, descriptions and schemas are text of the page: they are shortened, and a schema that is not a
bounded JSON Schema of an object is left out. The input of a call is validated against the schema before the
page receives it, in time that depends linearly on the input.
"""

from __future__ import annotations

import asyncio
import json
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from footlight.browser.driver.playwright_api import Error, PlaywrightTimeout, cause, is_closed
from footlight.browser.page.diagnosis import explain_page_failure, explain_timeout
from footlight.browser.snapshot.text.quoting import shorten
from footlight.errors import InvalidParameterError, PageToolFailedError

if TYPE_CHECKING:
    from playwright.async_api import Frame

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["PageTool", "PageToolList", "call_tool", "list_tools"]

MAX_TOOLS = 50
MAX_FRAMES = 10
FRAME_SECONDS = 2.0
"""How long an inner frame may take to list its tools."""
MAX_NAME = 128
MAX_DESCRIPTION = 1_000
MAX_SCHEMA = 10_000
"""The maximum length of a schema as JSON, in characters."""
MAX_DEPTH = 12
MAX_PROBLEM = 300
MAX_RESULT = 1_000_000
"""The maximum length of a result as JSON, in characters."""

_LIMITS: Mapping[str, tuple[tuple[type, ...], Callable[[Any, Any], bool], str]] = {
    "minimum": ((int, float), operator.ge, "must be at least {}"),
    "maximum": ((int, float), operator.le, "must be at most {}"),
    "exclusiveMinimum": ((int, float), operator.gt, "must be above {}"),
    "exclusiveMaximum": ((int, float), operator.lt, "must be below {}"),
    "minLength": ((str,), operator.ge, "length must be at least {}"),
    "maxLength": ((str,), operator.le, "length must be at most {}"),
    "minItems": ((list,), operator.ge, "number of items must be at least {}"),
    "maxItems": ((list,), operator.le, "number of items must be at most {}"),
}
"""Limits of a value, or of its length: the types that they are for, the comparison, and the problem."""

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "number": (int, float),
    "integer": (int,),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTool:
    """A tool of a page. `frame` is the number of its frame; 0 is the main frame."""

    name: str
    description: str
    frame: int
    frame_url: str
    schema: dict[str, Any] | None = None
    """None if the page gave none, or one that is not a bounded schema of an object."""
    schema_problem: str = ""
    annotations: tuple[str, ...] = ()
    """The hints `readOnly`, `untrustedContent` and `consequential` that the page sets."""
    owner: Frame = field(repr=False)
    """The frame itself. Its number may be that of another frame later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageToolList:
    """The tools of a page. `dropped` counts tools without a usable name, and those after the first 50."""

    tools: list[PageTool]
    dropped: int


async def list_tools(page: Page, deadline: Deadline) -> PageToolList:
    """Return the tools of the main frame and of the frames inside it.

    Raises:
        InvalidParameterError: the browser does not support tools of pages.
        FootlightError: the page does not respond, or is gone.
    """
    main = page.playwright.main_frame
    inside = [each for each in page.playwright.frames if each != main][:MAX_FRAMES]
    listed = [await _ask_main(page, main, deadline)]
    listed += await asyncio.gather(*map(_ask_inner, inside))
    tools: list[PageTool] = []
    dropped = 0
    for number, (frame, found) in enumerate(zip([main, *inside], listed, strict=True)):
        for each in found:
            name = each.get("name")
            is_named = isinstance(name, str) and 0 < len(name) <= MAX_NAME and name.isprintable()
            if not is_named or len(tools) == MAX_TOOLS:
                dropped += 1
                continue
            tools.append(_make_tool(each, number, frame))
    return PageToolList(tools=tools, dropped=dropped)


async def call_tool(
    page: Page, name: str, arguments: dict[str, Any], deadline: Deadline, *, frame: int | None
) -> Any:
    """Call a tool of the page and return its JSON result.

    Raises:
        InvalidParameterError: the tool does not exist, or the arguments do not match its schema.
        PageToolFailedError: the tool failed, or its result is too long.
    """
    known = (await list_tools(page, deadline)).tools
    named = [each for each in known if each.name == name]
    matching = [each for each in named if frame in (None, each.frame)]
    if named and not matching:
        numbers = ", ".join(str(each.frame) for each in named)
        raise InvalidParameterError(
            f"frame: frame {frame} has no tool of this name; frames with it: {numbers}", parameter="frame"
        )
    if not matching:
        names = ", ".join(dict.fromkeys(each.name for each in known)) or "none"
        raise InvalidParameterError(
            shorten(
                f"name: the page has no tool {shorten(name, MAX_NAME)!r}; its tools: {names}", MAX_DESCRIPTION
            ),
            parameter="name",
        )
    if len(matching) > 1:
        numbers = ", ".join(str(each.frame) for each in matching)
        raise InvalidParameterError(
            f"frame: the frames {numbers} have a tool of this name", parameter="frame"
        )
    [found] = matching
    if found.schema is not None and (problem := next(_find_problems(arguments, found.schema), None)):
        raise InvalidParameterError(shorten(f"input{problem}", MAX_PROBLEM), parameter="input")
    if found.owner.is_detached() or found.owner.url != found.frame_url:
        raise InvalidParameterError("name: the frame of the tool has another document now", parameter="name")
    try:
        result = await page.act_through_dialog(
            found.owner.webmcp.call_tool(name, arguments, timeout=max(1.0, deadline.remaining_ms))
        )
    except PlaywrightTimeout:
        raise await explain_timeout(
            page, f"The tool of the page gave no result within {deadline.elapsed}", deadline, url=page.url
        ) from None
    except Error as error:
        if page.is_closed_by_action(error):
            return None
        if is_closed(error) or page.crashed:
            raise await explain_page_failure(page, error) from error
        if found.owner.is_detached() or "context was destroyed" in error.message:
            raise PageToolFailedError(
                "The tool of the page gave no result, because its document was left or its frame removed",
                suggestion="The tool may have done its work: look at the page before you call it again.",
                name=name,
                dispatched=True,
            ) from None
        raise PageToolFailedError(
            shorten(f"The tool of the page failed: {cause(error)}", MAX_PROBLEM), name=name, dispatched=True
        ) from None
    try:
        length = len(json.dumps(result))
    except (TypeError, ValueError, RecursionError):
        raise PageToolFailedError(
            "The result of the page's tool is not JSON", name=name, dispatched=True
        ) from None
    if length > MAX_RESULT:
        raise PageToolFailedError(
            f"The result of the page's tool has {length:,} characters, and at most {MAX_RESULT:,} are read",
            name=name,
            dispatched=True,
        )
    return result


async def _ask_main(page: Page, frame: Frame, deadline: Deadline) -> list[dict[str, Any]]:
    try:
        return cast("list[dict[str, Any]]", await frame.webmcp.tools(timeout=max(1.0, deadline.action_ms)))
    except PlaywrightTimeout:
        raise await explain_timeout(
            page, f"The page did not list its tools within {deadline.elapsed}", deadline, url=page.url
        ) from None
    except Error as error:
        if "not supported" in error.message or "not enabled" in error.message:
            raise InvalidParameterError(f"this browser has no tools of pages: {cause(error)}") from None
        raise await explain_page_failure(page, error) from error


async def _ask_inner(frame: Frame) -> list[dict[str, Any]]:
    try:
        return cast("list[dict[str, Any]]", await frame.webmcp.tools(timeout=FRAME_SECONDS * 1000))
    except Error:  # A frame that is gone or hangs has no tools.
        return []


def _make_tool(described: Mapping[str, Any], number: int, frame: Frame) -> PageTool:
    description = described.get("description")
    schema, problem = _read_schema(described.get("inputSchema"))
    annotations: Mapping[str, Any] = described.get("annotations") or {}
    return PageTool(
        name=described["name"],
        description=description[:MAX_DESCRIPTION] if isinstance(description, str) else "",
        frame=number,
        frame_url=frame.url,
        owner=frame,
        schema=schema,
        schema_problem=problem,
        annotations=tuple(
            each
            for each in ("readOnly", "untrustedContent", "consequential")
            if annotations.get(each) is True
        ),
    )


def _read_schema(schema: object) -> tuple[dict[str, Any] | None, str]:
    """Return a schema that a page has sent, or None and the reason why it is not usable."""
    if schema is None:
        return None, ""
    if not isinstance(schema, dict):
        return None, "it is not an object"
    read = cast("dict[str, Any]", schema)
    if _is_deeper(read, MAX_DEPTH):
        return None, f"it has more than {MAX_DEPTH} levels"
    if len(json.dumps(read)) > MAX_SCHEMA:
        return None, f"it has more than {MAX_SCHEMA:,} characters"
    if read.get("type", "object") != "object":
        return None, "its type is not object"
    if not isinstance(read.get("properties", {}), dict) or not isinstance(read.get("required", []), list):
        return None, "it is not a JSON Schema"
    return read, ""


def _is_deeper(value: object, levels: int) -> bool:
    layer: list[object] = [value]
    for _ in range(levels + 1):
        inner: list[object] = []
        for each in layer:
            if isinstance(each, dict):
                inner += cast("dict[str, object]", each).values()
            elif isinstance(each, list):
                inner += cast("list[object]", each)
        if not inner:
            return False
        layer = inner
    return True


def _find_problems(value: object, schema: object, where: str = "", depth: int = 0) -> Iterator[str]:
    """Yield the places where a value does not match a schema. Only keywords with a linear check are used.

    Others, such as `pattern` and `$ref`, are left to the page.
    """
    if not isinstance(schema, dict) or depth > MAX_DEPTH:
        return
    rules = cast("dict[str, Any]", schema)
    kinds = rules.get("type")
    names = (
        [kinds] if isinstance(kinds, str) else cast("list[object]", kinds) if isinstance(kinds, list) else []
    )
    if names and not any(_is_of_type(value, each) for each in names):
        yield f"{where}: must be {' or '.join(map(str, names))}"
        return
    choices = [rules["const"]] if "const" in rules else rules.get("enum")
    if isinstance(choices, list) and not any(
        _is_equal(value, each) for each in cast("list[object]", choices)
    ):
        yield f"{where}: must be one of {json.dumps(choices)}"
    for name, (kinds, is_met, problem) in _LIMITS.items():
        limit = rules.get(name)
        if _is_of_type(limit, "number") and isinstance(value, kinds) and not isinstance(value, bool):
            size = value if isinstance(value, (int, float)) else len(cast("str | list[object]", value))
            if not is_met(size, limit):
                yield f"{where}: {problem.format(limit)}"
    if isinstance(value, dict):
        yield from _find_problems_in_object(cast("dict[str, object]", value), rules, where, depth)
    elif isinstance(value, list):
        for index, each in enumerate(cast("list[object]", value)):
            yield from _find_problems(each, rules.get("items"), f"{where}[{index}]", depth + 1)


def _find_problems_in_object(
    value: dict[str, object], rules: dict[str, Any], where: str, depth: int
) -> Iterator[str]:
    required, properties = rules.get("required"), rules.get("properties")
    if isinstance(required, list):
        for each in cast("list[object]", required):
            if isinstance(each, str) and each not in value:
                yield f"{where}.{each}: is required"
    known = cast("dict[str, object]", properties) if isinstance(properties, dict) else {}
    for name, each in value.items():
        if name in known:
            yield from _find_problems(each, known[name], f"{where}.{name}", depth + 1)
        elif rules.get("additionalProperties") is False:
            yield f"{where}.{name}: is not known; known: {', '.join(known) or 'none'}"


def _is_equal(value: object, other: object) -> bool:
    """Compare as JSON does, where true is not 1."""
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def _is_of_type(value: object, name: object) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if isinstance(value, float) and value.is_integer() and name == "integer":
        return True
    return isinstance(name, str) and name in _TYPES and isinstance(value, _TYPES[name])
