"""The list of tools, 44 of them compared with the tables of the specification."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from mcp_types import Tool

from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio

DOCUMENT = r"""
| `navigate` | Navigate to URL | `{url: string, waitUntil?: string, timeout?: number}` |
| `go_back` | Navigate back | `{}` |
| `go_forward` | Navigate forward | `{}` |
| `reload` | Reload page | `{ignoreCache?: boolean}` |
| `wait_for_load` | Wait for page load | `{state?: 'load'\|'domcontentloaded'\|'networkidle'}` |
| `click` | Click element | `{selector: string, button?: string, clickCount?: number}` |
| `type` | Type text | `{selector: string, text: string, delay?: number}` |
| `fill` | Fill input | `{selector: string, value: string}` |
| `select` | Select option | `{selector: string, value: string}` |
| `check` | Check checkbox | `{selector: string}` |
| `uncheck` | Uncheck checkbox | `{selector: string}` |
| `hover` | Hover element | `{selector: string}` |
| `scroll` | Scroll page | `{x?: number, y?: number}` |
| `drag_and_drop` | Drag element | `{source: string, target: string}` |
| `upload_file` | Upload files | `{selector: string, files: string[]}` |
| `press` | Press key | `{key: string, modifiers?: string[]}` |
| `get_text` | Get element text | `{selector: string}` |
| `get_all_text` | Get text from all matches | `{selector: string}` |
| `get_attribute` | Get element attribute | `{selector: string, attribute: string}` |
| `get_value` | Get input value | `{selector: string}` |
| `screenshot` | Take screenshot | `{fullPage?: boolean, type?: 'png'\|'jpeg', quality?: number}` |
| `screenshot_element` | Screenshot element | `{selector: string, type?: 'png'\|'jpeg'}` |
| `extract_table` | Extract table data | `{selector: string}` |
| `extract_links` | Extract all links | `{selector?: string}` |
| `get_page_metadata` | Get page metadata | `{}` |
| `evaluate` | Run JS in browser | `{script: string, args?: any[]}` |
| `create_session` | Create new session | `{userAgent?: string, viewport?: object}` |
| `close_session` | Close session | `{sessionId: string}` |
| `list_sessions` | List all sessions | `{}` |
| `get_cookies` | Get cookies | `{sessionId?: string}` |
| `set_cookies` | Set cookies | `{cookies: Cookie[], sessionId?: string}` |
| `save_state` | Save session state | `{sessionId: string}` |
| `restore_state` | Restore session state | `{sessionId: string, state: object}` |
| `block_resource` | Block resource type | `{resourceType: string}` |
| `mock_response` | Mock API response | `{url: string, response: object}` |
| `set_offline` | Set offline mode | `{offline: boolean}` |
| `set_throttling` | Set network throttling | `{downloadSpeed: number, uploadSpeed: number, latency: number}`
| `get_request_log` | Get network log | `{filter?: string}` |
| `find_element` | Find single element | `{selector: string, timeout?: number}` |
| `find_elements` | Find multiple elements | `{selector: string}` |
| `element_exists` | Check if element exists | `{selector: string}` |
| `is_visible` | Check if visible | `{selector: string}` |
| `is_enabled` | Check if enabled | `{selector: string}` |
| `wait_for_selector` | Wait for selector | `{selector: string, state?: string, timeout?: number}` |
"""
"""The rows of the document's tables, in its order."""

ROWS = [
    (
        row.split(" | ")[0].strip("| `"),
        row.split(" | ")[1],
        row.split(" | ")[2].strip(" |`").replace("\\|", "|"),
    )
    for row in DOCUMENT.strip().splitlines()
]

SERVER_TOOLS = {"create_session", "close_session", "list_sessions"}
SESSION_TOOLS = {
    "watch_session",
    *("get_cookies", "set_cookies", "save_state", "restore_state"),
    *("block_resource", "mock_response", "set_offline", "set_throttling", "get_request_log"),
    *("tabs", "handle_dialog", "trace", "har", "console_messages", "get_request", "downloads", "emulate"),
    *("delete_cookies", "console_stacks"),
}
CLOSED_WORLD = (SERVER_TOOLS | SESSION_TOOLS) - {"tabs", "handle_dialog", "console_stacks"}
"""Tools that reach nothing outside the server."""

READ_ONLY = {
    *("wait_for_load", "list_sessions", "get_cookies", "save_state", "get_request_log"),
    *("get_text", "get_all_text", "get_attribute", "get_value", "screenshot", "screenshot_element"),
    *("extract_table", "extract_links", "get_page_metadata"),
    *("find_element", "find_elements", "element_exists", "is_visible", "is_enabled", "wait_for_selector"),
    *("snapshot", "find", "read_page", "wait_for", "console_messages", "get_request", "downloads"),
    *("expect", "console_stacks", "audit_page", "recheck", "web_vitals", "list_page_tools", "watch_session"),
}
OURS = (
    *("snapshot", "find", "read_page", "tabs", "wait_for", "expect", "handle_dialog", "run_steps"),
    *(
        "pdf",
        "trace",
        "har",
        "video",
        "visual_diff",
        "console_messages",
        "console_stacks",
        "get_request",
        "downloads",
    ),
    *("delete_cookies", "storage", "clipboard", "fill_form", "drop", "emulate"),
    *("mouse_click", "mouse_move", "mouse_drag", "mouse_wheel", "tap", "swipe"),
    *("audit_page", "recheck", "web_vitals", "list_page_tools", "call_page_tool"),
    *("request_help", "watch_session"),
)
"""What the document does not have, in our order."""


def parameters(schema: str) -> Iterator[tuple[str, bool, dict[str, Any]]]:
    """Parse `{a: string, b?: number}` into names, whether each is required, and JSON Schemas."""
    for name, optional, kind in re.findall(r"(\w+)(\??): ([^,}]+)", schema):
        yield name, not optional, json_type(kind)


def json_type(kind: str) -> dict[str, Any]:
    if kind.startswith("'"):
        return {"type": "string", "enum": re.findall(r"'(\w+)'", kind)}
    if kind.endswith("[]"):
        of = {"string[]": {"type": "string"}, "any[]": {}, "Cookie[]": {"type": "object"}}
        return {"type": "array", "items": of[kind]}
    return {"type": kind}


@pytest.fixture
async def tools(browser: SessionBrowser) -> dict[str, Tool]:
    return {tool.name: tool for tool in (await browser.client.list_tools()).tools}


async def test_specified_44_tools_are_listed_first_in_order(tools: dict[str, Tool]) -> None:
    assert len(ROWS) == 44
    assert list(tools) == [*(name for name, _, _ in ROWS), *OURS]


@pytest.mark.parametrize(("name", "text", "schema"), ROWS, ids=[row[0] for row in ROWS])
async def test_tool_matches_its_row_in_the_specification(
    tools: dict[str, Tool], name: str, text: str, schema: str
) -> None:
    tool = tools[name]
    expected = list(parameters(schema))
    properties: dict[str, Any] = tool.input_schema["properties"]

    assert tool.description is not None
    assert tool.description.startswith(text)
    assert tool.title == text
    required = {parameter for parameter, is_required, _ in expected if is_required}
    assert set(tool.input_schema.get("required", [])) == required
    for parameter, _, kind in expected:
        assert kind.items() <= essence(properties[parameter]).items(), parameter


def essence(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the type and the choices of a schema, without texts and limits."""
    kept = {key: value for key, value in schema.items() if key in ("type", "enum")}
    if "items" in schema:
        items = schema["items"]
        kept["items"] = {"type": items["type"]} if "type" in items else {}
    return kept


async def test_page_tools_take_a_session_a_page_and_a_timeout(tools: dict[str, Tool]) -> None:
    for name, tool in tools.items():
        properties = tool.input_schema["properties"]
        if name in SERVER_TOOLS:
            assert "pageId" not in properties
        elif name in SESSION_TOOLS:
            assert properties["sessionId"] == {"type": "string"}
        else:
            assert properties["sessionId"] == {"type": "string"}
            assert properties["pageId"]["type"] == "string"
            assert properties["timeout"]["type"] == "number"


async def test_navigate_description_matches_the_specification(tools: dict[str, Tool]) -> None:
    properties = tools["navigate"].input_schema["properties"]

    assert properties["url"]["description"] == "The URL to navigate to"
    assert properties["waitUntil"] == {
        "type": "string",
        "enum": ["load", "domcontentloaded", "networkidle"],
        "description": "When to consider navigation complete",
        "default": "load",
    }
    assert properties["timeout"]["description"] == "Navigation timeout in milliseconds"
    assert properties["timeout"]["default"] == 10_000  # As the server of these tests was started.


async def test_schemas_are_closed_and_have_no_titles_or_references(tools: dict[str, Tool]) -> None:
    """Nothing beyond what is declared, no generated titles, nothing to look up elsewhere."""
    for tool in tools.values():
        assert tool.input_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema is not None
        for schema in (tool.input_schema, tool.output_schema):
            for part in parts(schema):
                assert "title" not in part, tool.name
                assert "$ref" not in part, tool.name
                assert "$defs" not in part, tool.name
                assert part.get("default", 0) is not None, tool.name


@pytest.mark.slow
async def test_schemas_are_valid_json_schema(tools: dict[str, Tool]) -> None:
    for tool in tools.values():
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        assert tool.output_schema is not None
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every schema inside a schema. Names of properties are no keywords."""
    if isinstance(schema, list):
        for item in schema:
            yield from parts(item)
    if isinstance(schema, dict):
        yield schema
        for key, value in schema.items():
            yield from parts(list(value.values()) if key == "properties" else value)


async def test_parameter_descriptions_have_at_most_twelve_words(tools: dict[str, Tool]) -> None:
    """At most 12 words: every client pays for the list in tokens."""
    described = {
        f"{name}.{parameter}": schema["description"]
        for name, tool in tools.items()
        for parameter, schema in tool.input_schema["properties"].items()
        if "description" in schema
    }
    assert not {name: text for name, text in described.items() if len(text.split()) > 12}


async def test_tool_names_are_valid_in_mcp(tools: dict[str, Tool]) -> None:
    for name in tools:
        assert re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name)


async def test_annotations_match_what_each_tool_does(tools: dict[str, Tool]) -> None:
    hints = {name: tool.annotations for name, tool in tools.items() if tool.annotations}
    assert list(hints) == list(tools)

    assert {name for name, hint in hints.items() if hint.read_only_hint} == READ_ONLY
    for name, hint in hints.items():
        # The protocol's default is true.
        assert (hint.open_world_hint is not False) is (name not in CLOSED_WORLD), name
        assert not (hint.read_only_hint and hint.destructive_hint), name
        assert not (hint.read_only_hint and hint.idempotent_hint is False), name
    for name in ("click", "press", "evaluate", "close_session", "upload_file", "restore_state"):
        assert hints[name].destructive_hint, name


ANSWERED: list[tuple[str, dict[str, Any]]] = [
    ("wait_for_load", {}),
    ("reload", {"ignoreCache": True}),
    ("go_back", {}),
    ("go_forward", {}),
    ("click", {"selector": "#pop"}),
    ("type", {"selector": "#name", "text": "a"}),
    ("fill", {"selector": "#name", "value": "b"}),
    ("select", {"selector": "select", "value": "one"}),
    ("check", {"selector": "#box"}),
    ("uncheck", {"selector": "#box"}),
    ("hover", {"selector": "#pop"}),
    ("scroll", {"y": 10}),
    ("drag_and_drop", {"source": "#pop", "target": "#name"}),
    ("upload_file", {"selector": "#file", "files": ["any.txt"]}),
    ("press", {"key": "a", "modifiers": ["Shift"]}),
    ("get_text", {"selector": "p"}),
    ("get_all_text", {"selector": "p"}),
    ("get_attribute", {"selector": "p", "attribute": "id"}),
    ("get_value", {"selector": "#name"}),
    ("screenshot", {}),
    ("screenshot_element", {"selector": "p"}),
    ("extract_table", {"selector": "table"}),
    ("extract_links", {}),
    ("get_page_metadata", {}),
    ("evaluate", {"script": "({a: [1, null]})"}),
    ("list_sessions", {}),
    ("set_cookies", {"cookies": [{"name": "a", "value": "b", "url": "http://a.test"}]}),
    ("get_cookies", {}),
    ("save_state", {}),
    ("save_state", {"name": "schema"}),
    ("restore_state", {"state": {}}),
    ("block_resource", {"resourceType": "font"}),
    ("mock_response", {"url": "http://a.test/", "response": {}}),
    ("set_offline", {"offline": False}),
    ("set_throttling", {"downloadSpeed": -1, "uploadSpeed": -1, "latency": 0}),
    ("get_request_log", {}),
    ("find_element", {"selector": "p"}),
    ("find_elements", {"selector": "p"}),
    ("element_exists", {"selector": "p"}),
    ("is_visible", {"selector": "p"}),
    ("is_enabled", {"selector": "p"}),
    ("wait_for_selector", {"selector": "p"}),
]

PAGE = """<title>t</title><p id=p>text</p><a href="/there">there</a>
<input id=name><input id=box type=checkbox><input id=file type=file><select><option>one<option>two</select>
<button id=pop onclick="alert('hello'); window.open('about:blank')">pop</button>
<table><tr><th>a<th>a<tr><td>1<td>2</table><div style="height: 5000px"></div>"""


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("name", "arguments"), ANSWERED, ids=[f"{name}-{index}" for index, (name, _) in enumerate(ANSWERED)]
)
async def test_successful_result_matches_the_output_schema(
    browser: SessionBrowser, tools: dict[str, Tool], name: str, arguments: dict[str, Any]
) -> None:
    (browser.uploads / "any.txt").write_text("any")
    await browser.show(PAGE)
    if name in ("reload", "go_back", "go_forward"):
        await browser.show(PAGE)

    result = await browser.answer(name, **arguments)

    assert not result.is_error, result.structured_content
    jsonschema.validate(result.structured_content, close_objects(tools[name].output_schema))
    assert result.content[0].type == "text"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("navigate", {}),
        ("navigate", {"url": "gopher"}),
        ("get_text", {"selector": "#none", "timeout": 100}),
        ("click", {"selector": "p["}),
        ("navigate", {"url": "http://127.0.0.1:1/"}),
        ("get_cookies", {"sessionId": "gone"}),
    ],
)
async def test_error_result_matches_the_output_schema(
    browser: SessionBrowser, tools: dict[str, Tool], name: str, arguments: dict[str, Any]
) -> None:
    result = await browser.answer(name, **arguments)

    assert result.is_error
    assert result.structured_content is not None
    jsonschema.validate(result.structured_content, close_objects(tools[name].output_schema))
    assert set(result.structured_content) == {"success", "error"}
    assert {"code", "message", "retryable"} <= set(result.structured_content["error"])


def close_objects(schema: Any) -> Any:
    """Return the schema with every object closed that lists its properties."""
    if isinstance(schema, list):
        return [close_objects(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {
        key: {name: close_objects(item) for name, item in value.items()}
        if key == "properties"
        else close_objects(value)
        for key, value in schema.items()
    }
    return {"additionalProperties": False, **inner} if "properties" in inner else inner


async def test_navigate_and_create_session_match_their_output_schema(
    browser: SessionBrowser, tools: dict[str, Tool]
) -> None:
    for name, arguments in (
        ("navigate", {"url": browser.site.page(PAGE)}),
        ("create_session", {"viewport": {"width": 300, "height": 200}}),
    ):
        result = await browser.answer(name, **arguments)
        jsonschema.validate(result.structured_content, close_objects(tools[name].output_schema))
    assert result.structured_content is not None
    session_id = result.structured_content["data"]["sessionId"]
    closing = await browser.answer("close_session", sessionId=session_id)
    jsonschema.validate(closing.structured_content, close_objects(tools["close_session"].output_schema))


async def test_text_content_equals_structured_content(browser: SessionBrowser) -> None:
    await browser.show("<p>ä 💡 </p>")
    result = await browser.answer("get_text", selector="p")

    (content,) = result.content
    assert content.type == "text"
    assert (
        json.loads(content.text) == result.structured_content == {"success": True, "data": {"text": "ä 💡"}}
    )
