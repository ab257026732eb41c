"""A secret is typed by its name, and no message of the server contains its value."""

from __future__ import annotations

import base64
import html
import io
import json
import os
import stat
import zipfile
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus

import pytest
from PIL import Image
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.processes import descendants_of
from tests.site import Site
from tests.wire import Wire, wired

pytestmark = pytest.mark.anyio

PASSWORD = 'hunter2 "ö" & <b>/+%'
PIN = "48213"
KEY = "first line of a key\nsecond line of a key"


class Conversation:
    """A session of a server with two secrets, and all that the server has told in it."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.texts: list[str] = []
        self.session: dict[str, str] = {}

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        answer = await self.wire.ask(method, params)
        self.texts.append(json.dumps(answer, ensure_ascii=False))
        return answer

    async def result(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        arguments = {**self.session, **arguments}
        return (await self.ask("tools/call", name=tool, arguments=arguments))["result"]

    async def answer(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        return (await self.result(tool, **arguments))["structuredContent"]

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        content = await self.answer(tool, **arguments)
        assert content["success"], content["error"]
        return content["data"]


@pytest.fixture(scope="module")
async def wire(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Wire]:
    folder = tmp_path_factory.mktemp("server")
    file = folder / "secrets.env"
    file.write_text(f"PASSWORD='{PASSWORD}'\nPIN={PIN}\nKEY='{KEY}'\n")
    file.chmod(0o600)
    flags = (
        *("--secrets", str(file), "--upload-root", str(folder), "--enable-script-evaluation"),
        *("--tools", "all", "--log-level", "debug", "--timeout", "10000"),
    )
    async with wired(*flags, cwd=folder) as wire:
        hello = await wire.initialize()
        assert "Secrets: PASSWORD, PIN, KEY. Give secret:NAME" in hello["result"]["instructions"]
        yield wire


@pytest.fixture
async def conversation(wire: Wire) -> Conversation:
    conversation = Conversation(wire)
    conversation.session = await conversation.call("create_session")
    return conversation


async def test_a_secret_is_typed_by_its_name(site: Site, conversation: Conversation) -> None:
    sent: list[dict[str, str]] = []

    async def take(request: Request) -> Response:
        sent.append(dict(parse_qsl((await request.body()).decode())))
        return Response("thanks")

    action = site.route(take)
    await conversation.call(
        "navigate",
        url=site.page(
            f"<form method=post action='{action}'><input name=a><input name=b><button>Go</button></form>"
        ),
    )
    await conversation.call("fill", selector="[name=a]", value="secret:PASSWORD")
    await conversation.call("type", selector="[name=b]", text="secret:PIN")
    assert await conversation.call("get_value", selector="[name=a]") == {"value": "[secret PASSWORD]"}
    await conversation.call("click", selector="button")

    assert sent == [{"a": PASSWORD, "b": PIN}]


async def test_a_cookie_can_be_a_secret(site: Site, conversation: Conversation) -> None:
    await conversation.call("set_cookies", cookies=[{"name": "pin", "value": "secret:PIN", "url": site.url}])
    await conversation.call("navigate", url=site.page("<p>x</p>"))

    assert (await conversation.call("evaluate", script="document.cookie.length"))["result"] == len(
        f"pin={PIN}"
    )
    assert [each["value"] for each in (await conversation.call("get_cookies"))["cookies"]] == ["[secret PIN]"]


async def test_dropped_and_copied_data_can_be_a_secret(site: Site, conversation: Conversation) -> None:
    page = "<p ondragover='event.preventDefault()' ondrop='take(event)'>Here</p><output></output><script>"
    take = "function take(event) { document.title = event.dataTransfer.getData('text/plain'); }</script>"
    await conversation.call("navigate", url=site.page(page + take))

    await conversation.call("drop", selector="p", data={"text/plain": "secret:PASSWORD"})
    await conversation.call("clipboard", action="write", text="secret:PIN", html="secret:PIN")

    assert (await conversation.call("evaluate", script="document.title.length"))["result"] == len(PASSWORD)
    read = await conversation.call("clipboard", action="read")
    assert read["text"] == "[secret PIN]"
    assert "[secret PIN]" in read["html"]
    assert not any(secret in text for text in conversation.texts for secret in (PIN, "hunter2"))


async def test_expected_value_can_be_a_secret(site: Site, conversation: Conversation) -> None:
    await conversation.call("navigate", url=site.page("<input>"))
    await conversation.call(
        "fill", selector="input", value="secret:PASSWORD", expect={"value": {"input": "secret:PASSWORD"}}
    )

    error = (await conversation.answer("expect", value={"input": "secret:PIN"}, timeout=1_000))["error"]

    assert error["details"]["expected"] == {"value": {"input": "[secret PIN]"}}
    assert error["details"]["actual"] == "[secret PASSWORD]"
    assert not any(secret in text for text in conversation.texts for secret in (PIN, "hunter2"))


async def test_unknown_secret_error_lists_known_names(site: Site, conversation: Conversation) -> None:
    await conversation.call("navigate", url=site.page("<input>"))

    error = (await conversation.answer("fill", selector="input", value="secret:PASSWRD"))["error"]

    assert (error["code"], error["message"]) == (
        "INVALID_PARAMETER",
        "value: there is no secret PASSWRD; known: PASSWORD, PIN, KEY",
    )
    assert await conversation.call("get_value", selector="input") == {"value": ""}


async def test_secrets_file_cannot_be_uploaded(site: Site, conversation: Conversation) -> None:
    await conversation.call("navigate", url=site.page("<input type=file>"))

    error = (await conversation.answer("upload_file", selector="input", files=["secrets.env"]))["error"]

    assert error["code"] == "PERMISSION_DENIED"


SPREAD = """<!doctype html><title>t</title>
<input id=typed oninput="spread(this.value)"><input id=pin>
<p id=p></p><a id=link>there</a><img id=img><table><tr><th>k<th id=th>v<tr><td>a<td id=td></table>
<a id=file download>file</a><button id=ask onclick="alert(document.title)">ask</button>
<script>
const bytes = text => String.fromCharCode(...new TextEncoder().encode(text));
async function spread(value) {
  document.title = value;
  console.log('typed', value, {value}); console.error(new Error(value)); console.warn(btoa(bytes(value)));
  localStorage.setItem('kept', value); sessionStorage.setItem(value, JSON.stringify({value}));
  document.cookie = 'kept=' + encodeURIComponent(value);
  for (const id of ['p', 'link', 'th', 'td']) document.getElementById(id).textContent = value;
  p.title = img.alt = value; p.setAttribute('aria-label', value); p.dataset.testid = value;
  link.href = '/found?' + new URLSearchParams({q: value});
  file.href = 'data:text/plain,' + encodeURIComponent(value); file.download = value + '.txt';
  history.replaceState(null, '', '?q=' + encodeURIComponent(value) + '#' + value);
  await fetch('/spread/echo?q=' + encodeURIComponent(value), {
    method: 'POST', body: JSON.stringify({value}),
    headers: {Authorization: 'Basic ' + btoa(bytes('user:' + value)), 'X-Value': encodeURIComponent(value)},
  });
  document.body.dataset.done = 1;
  setTimeout(() => { throw new Error('late ' + value) });
}
</script>"""

READING: dict[str, dict[str, Any]] = {
    "get_text": {"selector": "body"},
    "get_all_text": {"selector": "p"},
    "get_attribute": {"selector": "#link", "attribute": "href"},
    "get_value": {"selector": "#typed"},
    "screenshot_element": {"selector": "#p"},
    "extract_table": {"selector": "table"},
    "find_element": {"selector": "#p"},
    "find_elements": {"selector": "a, p, input"},
    "element_exists": {"selector": "#p"},
    "is_visible": {"selector": "#p"},
    "is_enabled": {"selector": "#p"},
    "wait_for_selector": {"selector": "#p"},
    "save_state": {},
}
"""What reading tools need. Those that need nothing are called too."""

SCRIPTS = (
    "document.title",
    "({[document.title]: [document.title]})",
    "encodeURIComponent(document.title)",
    "btoa(bytes('x' + document.title))",
    "document.body.innerHTML",
    "JSON.stringify(JSON.stringify({a: document.title}))",
    "document.title.toUpperCase()",
    "Number(pin.value)",
    "throw new Error(document.title)",
)


async def test_no_server_output_contains_a_secret_value(site: Site, conversation: Conversation) -> None:
    async def echo(request: Request) -> Response:
        return JSONResponse({"echo": (await request.body()).decode(), "header": dict(request.headers)})

    site.route(echo, path="/spread/echo")
    await conversation.call("navigate", url=site.page(SPREAD))
    await conversation.call("fill", selector="#pin", value="secret:PIN")
    await conversation.call("fill", selector="#typed", value="secret:PASSWORD", observe="full")
    await conversation.call("wait_for_selector", selector="[data-done]")
    await conversation.call("click", selector="#ask", observe="full")
    await conversation.call("click", selector="#file")
    await conversation.answer("click", selector="#nothing", timeout=300)
    for script in SCRIPTS:
        await conversation.answer("evaluate", script=script)
    tools = (await conversation.ask("tools/list"))["result"]["tools"]
    for tool in tools:
        if not tool.get("annotations", {}).get("readOnlyHint"):
            continue
        if tool["name"] in READING or not {*tool["inputSchema"].get("required", ())} - {"sessionId"}:
            session = conversation.session if "sessionId" in tool["inputSchema"]["properties"] else {}
            arguments = {**session, **READING.get(tool["name"], {})}
            await conversation.ask("tools/call", name=tool["name"], arguments=arguments)
    for resource in (await conversation.ask("resources/list"))["result"]["resources"]:
        await conversation.ask("resources/read", uri=resource["uri"])
    await conversation.ask(
        "completion/complete",
        ref={"type": "ref/prompt", "name": "scrape_website"},
        argument={"name": "url", "value": ""},
    )
    await conversation.call("reload")

    everything = [*conversation.texts, *conversation.wire.log.lines]
    assert {leak for text in everything for leak in leaks(text)} == set()
    assert sum("[secret PASSWORD]" in text for text in everything) > 15
    assert any("[secret PIN]" in text for text in everything)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": f"click-{PASSWORD}"}),
        ("resources/read", {"uri": f"playwright:///session/{quote(PASSWORD, safe='')}"}),
        ("prompts/get", {"name": f"buy-{PASSWORD}"}),
    ],
)
async def test_protocol_error_that_quotes_a_secret_is_masked(
    conversation: Conversation, method: str, params: dict[str, Any]
) -> None:
    error = (await conversation.ask(method, **params))["error"]

    assert "[secret PASSWORD]" in error["message"]
    assert [*leaks(conversation.texts[-1])] == []


async def test_error_of_a_script_reveals_no_line_of_a_secret(site: Site, conversation: Conversation) -> None:
    await conversation.call("navigate", url=site.page("<p>x</p>"))

    error = (await conversation.answer("evaluate", script="text => { throw new Error(text) }", args=[KEY]))[
        "error"
    ]

    assert error["message"] == "script: [secret KEY]…"


async def test_error_that_shortens_a_url_reveals_no_part_of_a_secret(
    site: Site, conversation: Conversation
) -> None:
    url = f"data:text/html,{quote(PASSWORD)}"
    for before in (180, 184, 190):
        await conversation.call("navigate", url=url.replace(",", f",{'a' * (before - 15)}"))
        for tool, arguments in (("storage", {"area": "local"}), ("clipboard", {"action": "read"})):
            error = (await conversation.answer(tool, **arguments))["error"]

            assert "a[secret PASSWORD]" in error["message"]
            assert "hunt" not in error["message"]


def leaks(text: str) -> Iterator[str]:
    """Yield the spellings of a secret that are in a text, which may be JSON, with a piece of it."""
    spellings = {
        "hunter2",
        PIN,
        PASSWORD,
        quote(PASSWORD, safe=""),
        quote_plus(PASSWORD),
        html.escape(PASSWORD),
        *(base64.b64encode(b"x" * before + PASSWORD.encode()).decode()[4:-4] for before in range(3)),
    }
    for spelling in spellings:
        at = text.lower().find(spelling.lower())
        if at >= 0 and not (spelling == PIN and text[at - 1 : at].isdigit()):
            yield f"{spelling}: …{text[max(0, at - 200) : at + 100]}…"


ECHOING = """<input id=typed> <input id=boxes maxlength=1><input id=next maxlength=1>
<a id=file download>file</a>
<script>
for (const kind of ['keydown', 'keyup', 'input']) addEventListener(kind, ({target}) => {
  const {value} = target;
  console.log('now', value);
  fetch('/echoing/at?q=' + encodeURIComponent(value), {method: 'POST', body: JSON.stringify({value})});
  document.title = value;
  file.href = 'data:text/plain,' + encodeURIComponent(value);
  file.download = value + '.txt';
  if (value && target.id === 'boxes') target.nextElementSibling.focus();
});
</script>"""


async def take_any(_: Request) -> Response:
    return Response("x")


async def test_typing_reveals_no_part_of_a_secret(site: Site, conversation: Conversation) -> None:
    """Of a part nobody would know that it belongs to a secret."""
    site.route(take_any, path="/echoing/at")
    await conversation.call("navigate", url=site.page(ECHOING))
    har = Path((await conversation.call("har", action="start", bodies=True))["path"])

    await conversation.call("type", selector="#typed", text="secret:PASSWORD", delay=1, observe="full")

    assert await conversation.call("get_value", selector="#typed") == {"value": "[secret PASSWORD]"}
    await conversation.call("har", action="stop")
    for tool in ("console_messages", "get_request_log", "snapshot"):
        await conversation.call(tool)
    for resource in (await conversation.ask("resources/list"))["result"]["resources"]:
        await conversation.ask("resources/read", uri=resource["uri"])
    everything = [*conversation.texts, *conversation.wire.log.lines, har.read_text("utf-8")]  # noqa: ASYNC240
    assert [text for text in everything if "hunt" in text.lower()] == []
    assert "[secret PASSWORD]" in everything[-1]
    assert stat.S_IMODE(har.stat().st_mode) == 0o600  # noqa: ASYNC240


@pytest.mark.slow
async def test_no_output_file_contains_a_secret(site: Site, conversation: Conversation) -> None:
    """Neither what is recorded, nor the name of what is downloaded. Pictures of a trace are as they were."""
    site.route(take_any, path="/echoing/at")
    await conversation.call("trace", action="start")
    har = await conversation.call("har", action="start", bodies=True)
    await conversation.call("navigate", url=site.page(ECHOING))
    await conversation.call("type", selector="#typed", text="secret:PASSWORD")
    await conversation.call("click", selector="#file")
    [download] = (await conversation.call("downloads"))["entries"]
    trace = await conversation.call("trace", action="stop")
    await conversation.call("har", action="stop")

    assert Path(download["path"]).exists()  # noqa: ASYNC240
    assert not [*leaks(download["path"])]
    with zipfile.ZipFile(trace["path"]) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    files["har"] = Path(har["path"]).read_bytes()  # noqa: ASYNC240
    found = {name: [*leaks(data.decode())] for name, data in files.items() if not name.endswith(".jpeg")}
    assert {name: leaking for name, leaking in found.items() if leaking} == {}
    assert any(b"[secret PASSWORD]" in data for name, data in files.items() if name.endswith(".trace"))
    for each in (download, trace, har):
        assert stat.S_IMODE(Path(each["path"]).stat().st_mode) == 0o600  # noqa: ASYNC240


async def test_secret_is_typed_into_single_character_boxes(site: Site, conversation: Conversation) -> None:
    site.route(take_any, path="/echoing/at")
    await conversation.call("navigate", url=site.page(ECHOING))

    await conversation.call("type", selector="#boxes", text="secret:PIN")

    values = [(await conversation.call("get_value", selector=each))["value"] for each in ("#boxes", "#next")]
    assert values == [PIN[0], PIN[1]]


async def test_no_child_environment_or_command_line_contains_a_secret(
    site: Site, conversation: Conversation
) -> None:
    import psutil

    await conversation.call("navigate", url=site.page("<input>"))
    await conversation.call("fill", selector="input", value="secret:PASSWORD")
    server = psutil.Process(conversation.wire.process.pid)
    kin = [server, *descendants_of(server)]

    assert len(kin) > 2
    for process in kin:
        try:
            displayed = (process.cmdline(), process.environ())
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        assert "hunter2" not in str(displayed)


PICTURED = f"""<!doctype html><style>
  * {{ border: 0 !important; outline: 0 !important; padding: 0; background: white; caret-color: white }}
  iframe {{ width: 300px; height: 60px }}
</style>
<p>{html.escape(PASSWORD)}</p><p>{html.escape(PASSWORD.upper().replace(" ", "   "))}</p>
<p><b>hunter2</b> "ö" &amp; <i>&lt;b>/+%</i></p>
<p>48&shy;2&#8203;13</p><p>hun-ter2 <b>-</b> **"ö"** &amp; &lt;b>/+%</p>
<input size=40><textarea>{html.escape(PASSWORD)}</textarea><input placeholder='{html.escape(PASSWORD)}'>
<svg height=20><text y=15>{PIN}</text></svg>
<div id=host></div><iframe srcdoc="<style>*{{background:white}}</style>{PIN}"></iframe>
<form><input type=hidden name=children><input type=hidden name=childNodes>
<input type=hidden name=textContent><b>{PIN}</b></form>
<img hidden name=documentElement><img hidden name=querySelectorAll>
<script>host.attachShadow({{mode: "open"}}).innerHTML = "<p>{PIN}</p>"</script>"""


@pytest.mark.slow
async def test_screenshots_cover_secrets(site: Site, conversation: Conversation) -> None:
    """All the text of this page is secret. Covered, it has two colours and no shades between."""
    await conversation.call("navigate", url=site.page(PICTURED))
    await conversation.call("fill", selector="input", value="secret:PASSWORD")

    for tool, arguments in (
        ("screenshot", {}),
        ("screenshot", {"fullPage": True}),
        ("screenshot_element", {"selector": "body"}),
    ):
        result = await conversation.result(tool, **arguments)
        data = next(each["data"] for each in result["content"] if each["type"] == "image")
        image = Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")
        assert sorted(colour for _, colour in image.getcolors() or ()) == [(0, 0, 0), (255, 255, 255)]
        # The page is as it was.
        assert (await conversation.call("get_attribute", selector="p", attribute="style"))["value"] is None


async def test_no_text_piece_reveals_part_of_a_secret(site: Site, conversation: Conversation) -> None:
    text = f"before {PASSWORD} after"
    await conversation.call("navigate", url=site.page(f"<main><p>{html.escape(text)}</p></main>"))
    await conversation.call("storage", action="set", key="kept", value="secret:PASSWORD")

    pieces = [
        (await conversation.call("storage", action="get", key="kept", offset=offset))["value"]
        for offset in range(17)
    ]
    pages = [(await conversation.call("read_page", offset=offset))["markdown"] for offset in range(0, 28, 3)]

    assert pieces[0] == "[secret PASSWORD]"
    parts = {PASSWORD[at : at + 4] for at in range(len(PASSWORD) - 3)}
    assert not [piece for piece in (*pieces, *pages) for part in parts if part in piece]


@pytest.mark.slow
async def test_secret_syntax_is_plain_text_without_secrets(site: Site) -> None:
    async with wired() as wire:
        await wire.initialize()
        await wire.call("navigate", url=site.page("<input>"))
        await wire.call("fill", selector="input", value="secret:PASSWORD")
        answer = await wire.call("get_value", selector="input")

    assert answer["structuredContent"]["data"] == {"value": "secret:PASSWORD"}


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
async def test_secrets_file_readable_by_others_is_logged(tmp_path: Path) -> None:
    file = tmp_path / "secrets.env"
    file.write_text("PASSWORD=hunter2\n")
    file.chmod(0o644)
    async with wired("--secrets", str(file)) as wire:
        await wire.log.wait_for_line("other users can read the secrets")
