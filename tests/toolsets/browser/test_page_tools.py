"""The tools that pages offer to models themselves (WebMCP)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import psutil
import pytest
from mcp_types import CallToolResult

from footlight.browser.context.options import SessionOptions
from footlight.browser.sessions.engine import Engine
from footlight.caller import LOCAL
from footlight.config import Settings
from footlight.server.answers.untrusted import META
from tests.conftest import ENGINE, Browser, SessionBrowser, connect_browser
from tests.processes import descendants_of, line_of, list_started_since
from tests.site import Site

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(ENGINE != "chromium", reason="the other engines have no such tools by default"),
]

SHOP = """<title>Shop</title><p>empty</p><script>
document.modelContext.registerTool({
  name: 'add_to_cart', description: 'Add a product',
  inputSchema: { type: 'object', required: ['product'], additionalProperties: false, properties: {
    product: { type: 'string', enum: ['tea', 'jam'] }, count: { type: 'integer', minimum: 1, maximum: 9 },
    notes: { type: 'array', maxItems: 2, items: { type: 'string', minLength: 1 } }, size: { enum: [1, null] },
    unit: { const: 'kg' } } },
  annotations: { readOnlyHint: true },
  async execute({ product, count = 1 }) {
    document.querySelector('p').textContent = `${count} ${product}`;
    return { content: [{ type: 'text', text: `added ${product}` }] };
  },
});
document.modelContext.registerTool({ name: 'fail', description: 'Fails', inputSchema: { type: 'object' },
  async execute() { document.title = 'Failed'; throw new Error('no stock') } });
document.modelContext.registerTool({ name: 'refuse', description: 'Says no', inputSchema: { type: 'object' },
  async execute() { return { isError: true, content: [{ type: 'text', text: 'sold out' }] } } });
document.modelContext.registerTool({ name: 'ask', description: 'Asks', inputSchema: { type: 'object' },
  async execute() { return String(confirm('Sure?')) } });
document.modelContext.registerTool({ name: 'leave', description: 'Leaves', inputSchema: { type: 'object' },
  async execute() { location.href = '/elsewhere'; return new Promise(() => {}) } });
document.modelContext.registerTool({ name: 'much', description: 'Long', inputSchema: { type: 'object' },
  async execute() { return 'x'.repeat(2_000_000) } });
</script>"""


@pytest.fixture(scope="module")
async def server(site: Site) -> AsyncGenerator[Browser]:
    flags = ("--tools", "all", "--enable-script-evaluation", "--observe", "none")
    async with connect_browser(site, *flags, FOOTLIGHT_SECURITY_ENABLE_PAGE_TOOLS="true") as browser:
        yield browser


@pytest.fixture
async def shop(server: Browser) -> Browser:
    await server.show(SHOP)
    return server


def untrusted_parts(result: CallToolResult) -> list[str]:
    """Return the pointers to the parts of an answer that are text of the page."""
    [content, *_] = result.content
    return (content.meta or {}).get(META, [])


async def test_page_tools_are_disabled_by_default(browser: SessionBrowser) -> None:
    await browser.show("<p>words</p>")

    for name, arguments in (("list_page_tools", {}), ("call_page_tool", {"name": "add_to_cart"})):
        error = await browser.refused(name, **arguments)
        assert error["code"] == "PERMISSION_DENIED"
        assert error["details"]["setting"] == "security.enablePageTools"
    exists = await browser.call("evaluate", script="'modelContext' in document")
    assert exists == {"result": False}


async def test_features_that_playwright_enables_stay_enabled() -> None:
    before = set(descendants_of(psutil.Process()))
    engine = Engine(Settings.model_validate({"security": {"enablePageTools": True}}))
    engine.start()
    try:
        sessions = await engine.sessions()
        await sessions.create(SessionOptions(), caller=LOCAL)
        lines = [line_of(each) for each in list_started_since(before)]
    finally:
        await engine.close()

    browser = next(line for line in lines if "--remote-debugging-pipe" in line)
    first, *_, last = [part for part in browser if part.startswith("--enable-features=")]
    assert last.split("=")[1].split(",") == [*first.split("=")[1].split(","), "WebMCP"]


async def test_the_tools_of_a_page_are_listed(shop: Browser) -> None:
    answer = await shop.answer("list_page_tools")

    assert answer.structured_content is not None
    tools = answer.structured_content["data"]["tools"]
    assert [each["name"] for each in tools] == ["add_to_cart", "ask", "fail", "leave", "much", "refuse"]
    assert tools[0]["description"] == "Add a product"
    assert tools[0]["inputSchema"]["required"] == ["product"]
    assert tools[0]["annotations"] == ["readOnly"]
    assert untrusted_parts(answer) == ["/data"]


async def test_page_tool_acts_in_its_page(shop: Browser) -> None:
    result = await shop.answer(
        "call_page_tool", name="add_to_cart", input={"product": "tea", "count": 2}, observe="diff"
    )

    content = result.structured_content
    assert content is not None
    assert content["data"] == {"result": {"content": [{"type": "text", "text": "added tea"}]}}
    assert content["effect"] == "page"
    assert "2 tea" in content["observation"]["text"]
    assert "/data" in untrusted_parts(result)


@pytest.mark.parametrize(
    ("input", "message"),
    [
        ({}, "input.product: is required"),
        ({"product": "oil"}, 'input.product: must be one of ["tea", "jam"]'),
        ({"product": 5}, "input.product: must be string"),
        ({"product": "tea", "count": 1.5}, "input.count: must be integer"),
        ({"product": "tea", "count": True}, "input.count: must be integer"),
        ({"product": "tea", "notes": ["a", 1]}, "input.notes[1]: must be string"),
        (
            {"product": "tea", "more": 1},
            "input.more: is not known; known: product, count, notes, size, unit",
        ),
        ({"product": "tea", "count": 0}, "input.count: must be at least 1"),
        ({"product": "tea", "count": 10}, "input.count: must be at most 9"),
        ({"product": "tea", "notes": ["a"] * 3}, "input.notes: number of items must be at most 2"),
        ({"product": "tea", "notes": [""]}, "input.notes[0]: length must be at least 1"),
        ({"product": "tea", "size": True}, "input.size: must be one of [1, null]"),
        ({"product": "tea", "unit": "lb"}, 'input.unit: must be one of ["kg"]'),
    ],
)
async def test_invalid_tool_input_does_not_reach_the_page(
    shop: Browser, input: dict[str, Any], message: str
) -> None:
    error = await shop.refused("call_page_tool", name="add_to_cart", input=input)

    assert (error["code"], error["message"]) == ("INVALID_PARAMETER", message)
    assert await shop.call("get_text", selector="p") == {"text": "empty"}


async def test_throwing_page_tool_is_an_error_with_an_observation(shop: Browser) -> None:
    await shop.show(SHOP, observe="diff")

    content = (await shop.answer("call_page_tool", name="fail", observe="diff")).structured_content

    assert content is not None
    error = content["error"]
    assert error["code"] == "PAGE_TOOL_FAILED"
    assert error["message"].startswith("The tool of the page failed: ")
    assert content["observation"]["title"] == "Failed"


async def test_console_error_of_a_page_tool_is_in_its_answer(shop: Browser) -> None:
    """On a busy machine, the browser may report the error after the answer."""
    content: dict[str, Any] = {}

    async with asyncio.timeout(30):
        while "reason" not in content:
            answer = await shop.answer("call_page_tool", name="fail", observe="diff")
            content = answer.structured_content or {}

    assert "no stock" in content["observation"]["console"][0]
    assert "no stock" in content["reason"]


async def test_page_tool_that_leaves_its_page_says_what_is_known(shop: Browser) -> None:
    shop.site.page("<h1>Elsewhere</h1>", path="/elsewhere")

    content = (await shop.answer("call_page_tool", name="leave", observe="diff")).structured_content

    assert content is not None
    assert content["error"]["code"] == "PAGE_TOOL_FAILED"
    assert content["error"]["message"].startswith("The tool of the page gave no result, because its document")
    assert content["effect"] == "navigation"
    assert "Elsewhere" in content["observation"]["text"]


async def test_error_result_of_a_page_tool_is_returned(shop: Browser) -> None:
    answer = await shop.call("call_page_tool", name="refuse")

    assert answer["isError"] is True
    assert answer["result"]["content"][0]["text"] == "sold out"


async def test_page_tool_may_open_a_dialog(shop: Browser) -> None:
    answer = await shop.call("call_page_tool", name="ask")

    assert answer["result"] is False
    assert answer["dialogs"][0]["message"] == "Sure?"


async def test_too_long_page_tool_result_is_refused(shop: Browser) -> None:
    error = await shop.refused("call_page_tool", name="much")

    assert error["code"] == "PAGE_TOOL_FAILED"
    assert error["message"].startswith("The result of the page's tool has 2,000,002 characters")


async def test_unknown_page_tool_error_lists_existing_tools(shop: Browser) -> None:
    error = await shop.refused("call_page_tool", name="pay")

    assert (
        error["message"]
        == "name: the page has no tool 'pay'; its tools: add_to_cart, ask, fail, leave, much, refuse"
    )


async def test_frame_tools_are_listed_with_their_frame_number(server: Browser) -> None:
    inner = server.site.page(SHOP)
    await server.show(f"{SHOP}<iframe src={inner} allow='model-context; tools'></iframe>")

    tools = (await server.call("list_page_tools"))["tools"]
    error = await server.refused("call_page_tool", name="add_to_cart", input={"product": "tea"})
    await server.call("call_page_tool", name="add_to_cart", input={"product": "tea"}, frame=1)

    assert [each["frame"] for each in tools] == [0] * 6 + [1] * 6
    assert tools[6]["frameUrl"] == inner
    assert error["message"] == "frame: the frames 0, 1 have a tool of this name"
    error = await server.refused("call_page_tool", name="add_to_cart", input={"product": "tea"}, frame=7)
    assert error["message"] == "frame: frame 7 has no tool of this name; frames with it: 0, 1"
    assert await server.call("get_text", selector="iframe >> p") == {"text": "1 tea"}
    assert await server.call("get_text", selector="p") == {"text": "empty"}


async def test_tool_is_called_in_its_frame_when_frames_change_meanwhile(server: Browser) -> None:
    inner = server.site.page(SHOP)
    await server.show(f"<iframe id=first></iframe><iframe src={inner} allow='model-context; tools'></iframe>")
    # The page is busy while it is asked for its tools, and then it removes the frame before that of the tool.
    await server.evaluate("""setTimeout(() => {
      for (const until = performance.now() + 700; performance.now() < until;);
      document.querySelector('#first').remove();
    }, 50)""")

    await server.call("call_page_tool", name="add_to_cart", input={"product": "tea"})

    assert await server.call("get_text", selector="iframe >> p") == {"text": "1 tea"}


async def test_number_and_size_of_listed_tools_are_bounded(server: Browser) -> None:
    await server.show(
        """<script>
        let deep = { type: 'object' };
        for (let level = 0; level < 40; level++) deep = { type: 'object', properties: { inner: deep } };
        const wide = { type: 'object', properties: { a: { description: 'x'.repeat(20_000) } } };
        const add = (name, description, inputSchema) => document.modelContext.registerTool(
          { name, description, inputSchema, async execute() { return 1 } });
        add('a_deep', 'y'.repeat(100_000), deep);
        add('a_wide', 'wide', wide);
        for (let number = 0; number < 200; number++) add(`tool${number}`, 'one of many', { type: 'object' });
        </script>"""
    )

    answer = await server.call("list_page_tools")

    deep, wide = answer["tools"][:2]
    assert len(answer["tools"]) == 50
    assert answer["dropped"] == 152
    assert len(deep["description"]) == 1_000
    assert deep["note"] == "its schema is left out: it has more than 12 levels"
    assert wide["note"] == "its schema is left out: it has more than 10,000 characters"
    assert len(json.dumps(answer)) < 10_000
