"""Every message marks the texts that a page may have chosen."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from mcp_types import PromptReference

from footlight.server.answers.untrusted import META
from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio

OBEY = "obeyme"
PAGE = """<!doctype html><title>obeyme</title>
<h1 data-testid=obeyme>obeyme</h1><img id=obeyme src=/obeyme>
<input id=typed name=obeyme aria-label=obeyme><a href='#obeyme'>obeyme</a>
<select id=kind><option value=obeyme>obeyme</option></select><input type=checkbox id=flag><input id=other>
<table><tr><th>obeyme<tr><td>obeyme</table><button id=ask onclick="prompt('obeyme', 'obeyme')">obeyme</button>
<a id=open href='/obeyme' target=_blank>obeyme</a>
<a id=save href='data:text/plain,obeyme' download='obeyme.txt'>obeyme</a>
<script>
for (const kind of ['click', 'input', 'mousemove', 'keydown', 'wheel', 'scroll'])
  addEventListener(kind, () => history.pushState(null, '', '?obeyme=' + Math.random() + '#obeyme'), true);
console.error('obeyme'); document.cookie = 'obeyme=obeyme'; localStorage.obeyme = 'obeyme';
fetch('/obeyme');
</script>"""


REPEATED = ("data", "fields", "finalUrl", "observation", "timing")


def rest_of(value: Any, pointers: list[str]) -> str:
    """Return a JSON value without what the pointers name.

    Each pointer must lead somewhere, but the text of an answer leaves out what is repeated in it.
    """
    value = json.loads(json.dumps(value))
    for pointer in pointers:
        *way, last = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]] or [""]
        if pointer == "":
            return ""
        if way and way[0] in REPEATED and way[0] not in value:
            continue
        at = value
        for part in way:
            at = at[part]
        assert at.pop(last, None) is not None or last in ("details", *REPEATED), pointer
    return json.dumps(value)


def outside(message: dict[str, Any]) -> str:
    """Return the parts of a message that it does not mark as text of a page."""
    message = json.loads(json.dumps(message))
    rests: list[str] = []
    for part in (*message.pop("content", ()), *message.pop("contents", ())):
        pointers = part.get("_meta", {}).pop(META, [])
        if "structuredContent" in message:
            rests.append(rest_of(message.pop("structuredContent"), pointers))
        text = part.pop("text", part.pop("blob", ""))
        text = re.sub(r"(?s)<page-content (\w+)[ >].*?</page-content \1>", "", text)
        rests += [rest_of(json.loads(text), pointers) if text.startswith("{") else text * (pointers != [""])]
        rests.append(json.dumps(part))
    for part in message.pop("resources", ()):
        rests.append(rest_of(part, part.pop("_meta", {}).get(META, [])))
    pointers = message.get("_meta", {}).pop(META, [])
    return "\n".join([*rests, rest_of(message, pointers)])


@pytest.mark.slow
async def test_page_text_appears_only_in_untrusted_parts(browser: SessionBrowser) -> None:
    await browser.call("emulate", device="iPhone 13")
    await browser.show(PAGE)
    snapshot = (await browser.answer("snapshot")).model_dump_json()
    [ref] = re.findall(r"(e\d+) link", snapshot)[:1]
    calls: list[tuple[str, dict[str, Any]]] = [
        *(("click", {"selector": each}) for each in ("h1", "#open", "#save", "#ask")),
        ("click", {"selector": ref}),
        ("type", {"selector": "#typed", "text": "x"}),
        ("fill", {"selector": "#typed", "value": "x"}),
        ("fill_form", {"fields": {"#typed": "y"}}),
        ("select", {"selector": "#kind", "value": OBEY}),
        *((name, {"selector": "#flag"}) for name in ("check", "uncheck", "hover")),
        ("press", {"key": "a"}),
        ("scroll", {"y": 10}),
        ("mouse_click", {"x": 5, "y": 5}),
        ("mouse_move", {"x": 6, "y": 6}),
        ("drag_and_drop", {"source": "h1", "target": "#typed"}),
        *((name, {}) for name in ("reload", "go_back", "go_forward", "get_cookies", "console_messages")),
        *((name, {}) for name in ("get_request_log", "snapshot", "read_page", "tabs", "list_sessions")),
        ("storage", {"action": "list"}),
        ("get_text", {"selector": "body"}),
        ("evaluate", {"script": "document.title"}),
        ("evaluate", {"script": "throw new Error(document.title)"}),
        ("click", {"selector": "#nothing", "timeout": 300}),
        ("click", {"selector": "h1", "expect": {"text": "Nothing"}, "timeout": 300}),
        ("console_stacks", {}),
        *((name, {}) for name in ("audit_page", "web_vitals")),
        ("recheck", {"finding": "axe/image-alt"}),
        ("recheck", {"finding": "axe/label@#typed"}),
        ("swipe", {"direction": "up"}),
        ("run_steps", {"steps": [{"tool": "click", "arguments": {"selector": "h1"}}]}),
    ]
    acting = {tool.name for tool in (await browser.client.list_tools()).tools if _observes(tool.input_schema)}
    for name, arguments in calls:
        more = {"observe": "full"} if name in acting else {}
        if name == "tabs":
            more["action"] = "list"
        if name == "list_sessions":
            arguments = {}
        result = await browser.answer(name, **arguments, **more)
        data = result.model_dump(by_alias=True, exclude_none=True, mode="json")
        assert result.structured_content, data
        assert name in ("evaluate", "click") or result.structured_content["success"], data
        assert OBEY not in outside(data), (name, data)

    element = (await browser.call("find_element", selector="h1"))["element"]["elementId"]
    listed = await browser.client.list_resources()
    data = listed.model_dump(by_alias=True, exclude_none=True, mode="json")
    assert OBEY in json.dumps(data)
    assert OBEY not in outside(data), data
    uris = [each["uri"] for each in data["resources"] if browser.session_id in each["uri"]]
    pages = [each for each in uris if "/page/" in each]
    read = 0
    for each in (*uris, f"{pages[0].replace('/page/', '/element/')}/{element}"):
        contents = await browser.client.read_resource(each)
        data = contents.model_dump(by_alias=True, exclude_none=True, mode="json")
        read += OBEY in json.dumps(data)
        assert OBEY not in outside(data), data
    assert read > 3
    completed = await browser.client.complete(
        PromptReference(name="scrape_website"), {"name": "url", "value": "http"}
    )
    data = completed.model_dump(by_alias=True, exclude_none=True, mode="json")
    assert OBEY in json.dumps(data)
    assert OBEY not in outside(data)


def _observes(schema: dict[str, Any]) -> bool:
    return "observe" in schema["properties"]
