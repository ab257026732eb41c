"""The commands `footlight call` and `footlight tools`."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from footlight.cli.call.arguments import read_words, tool_arguments
from footlight.cli.usage import InvalidUsageError
from footlight.errors import DOCUMENTATION_URL
from footlight.toolsets.browser import load_tools
from tests.cli.background import LIMIT_SECONDS, Background, Done, background
from tests.cli.test_main import run as run_python
from tests.site import Site

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def running(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Background]:
    """One background server for all of these tests."""
    async with background(tmp_path_factory.mktemp("running")) as one:
        assert (await one.run("daemon", "start", "--enable-script-evaluation", "--tools", "all")).status == 0
        yield one


@pytest.mark.slow
async def test_browser_persists_between_calls(running: Background, site: Site) -> None:
    url = site.page("<title>Kept</title><input aria-label=Name>")

    went = await running.call("navigate", "--url", url)
    await running.call("fill", "--selector", "input", "--value", "Ada")
    value = await running.call("evaluate", "--script", "document.querySelector('input').value")

    assert went["finalUrl"] == url
    assert value["result"] == "Ada"


@pytest.mark.slow
async def test_sessions_are_shared_between_calls(running: Background, site: Site) -> None:
    made = (await running.call("create_session", "--locale", "de-DE"))["sessionId"]

    await running.call("navigate", "--session-id", made, "--url", site.page("<title>Two</title>"))
    listed = [each["sessionId"] for each in (await running.call("list_sessions"))["sessions"]]
    await running.call("close_session", "--sessionId", made)

    assert made in listed


async def test_text_result_is_printed(running: Background, site: Site) -> None:
    await running.call("navigate", "--url", site.page("<h1>Good morning</h1>"))

    done = await running.run("call", "get_text", "--selector", "h1")

    assert (done.status, done.err) == (0, "")
    assert json.loads(done.out.splitlines()[0])["success"]
    assert "Good morning" in done.out


async def test_page_text_is_escaped_on_a_terminal(running: Background, site: Site) -> None:
    """To a file the text goes as it is."""
    await running.call("navigate", "--url", site.page("<h1>a&#27;[31mred</h1>"))
    command = (sys.executable, "-m", "footlight", "call", "read_page")
    terminal, line = os.openpty()

    process = await asyncio.create_subprocess_exec(
        *command, stdout=line, cwd=running.root, env=running.environment()
    )
    os.close(line)
    async with asyncio.timeout(LIMIT_SECONDS):
        await process.wait()
    seen = os.read(terminal, 1 << 16)
    os.close(terminal)
    piped = await running.run("call", "read_page")

    assert b"# a\\x1b[31mred\r\n" in seen
    assert "# a\x1b[31mred\n" in piped.out


async def test_json_format_prints_the_whole_result(running: Background, site: Site) -> None:
    await running.call("navigate", "--url", site.page("<h1>x</h1>"))

    done = await running.run("call", "--format", "json", "get_text", "--selector", "h1")

    result: dict[str, Any] = json.loads(done.out)
    assert {"content", "structuredContent"} <= {*result}
    assert result["structuredContent"]["data"]["text"] == "x"


async def test_tool_parameter_takes_precedence_over_a_command_option(running: Background, site: Site) -> None:
    """The format of a snapshot is the tool's; that of the answer can be given before the tool's name too."""
    await running.call("navigate", "--url", site.page("<h1>x</h1>"))

    tools = json.loads((await running.run("tools", "--format", "json")).out)
    theirs = next(tool for tool in tools if "format" in tool["inputSchema"]["properties"])
    typed = read_words([theirs["name"], "--format", "json"])

    assert typed.own_values("format", theirs) == []
    assert tool_arguments(typed, theirs, read=str) == {"format": "json"}


async def test_image_is_written_to_a_file(running: Background, site: Site) -> None:
    await running.call("navigate", "--url", site.page("<h1>x</h1>"))

    named = await running.run("call", "screenshot", "--output", "page.png")
    unnamed = await running.run("call", "screenshot", "--type", "jpeg", "--quality", "50")

    made = Path(unnamed.out.splitlines()[-1])
    assert named.out.splitlines()[-1] == "page.png"
    assert (running.root / "page.png").read_bytes().startswith(b"\x89PNG")
    assert made.name.startswith("screenshot-")
    assert made.suffix == ".jpg"
    assert (running.root / made).read_bytes().startswith(b"\xff\xd8\xff")


async def test_json_result_contains_the_image(running: Background, site: Site) -> None:
    await running.call("navigate", "--url", site.page("<h1>x</h1>"))

    done = await running.run("call", "screenshot", "--format", "json")

    (image,) = [part for part in json.loads(done.out)["content"] if part["type"] == "image"]
    assert base64.b64decode(image["data"]).startswith(b"\x89PNG")


async def test_text_can_be_written_to_a_file(running: Background, site: Site) -> None:
    await running.call("navigate", "--url", site.page("<h1>Written</h1>"))

    done = await running.run("call", "get_text", "--selector", "h1", "--output", "said.txt")

    assert (done.status, done.out) == (0, "said.txt\n")
    assert "Written" in (running.root / "said.txt").read_text("utf-8")


async def test_tool_failure_is_reported_on_standard_error(running: Background) -> None:
    done = await running.run("call", "navigate", "--url", "nonsense")

    assert (done.status, done.out) == (1, "")
    assert done.err.splitlines() == [
        'INVALID_URL: The URL "nonsense" has no scheme',
        "  url: nonsense",
        "Did you mean https://nonsense?",
        f"More: {DOCUMENTATION_URL}reference/errors.html#invalid_url",
    ]


async def test_error_is_json_only_on_request(running: Background) -> None:
    for asked in (("--json",), ("--format", "json")):
        done = await running.run("call", "navigate", "--url", "localhost:8765", *asked)

        result = json.loads(done.out)
        [content] = result["content"]
        error = json.loads(content["text"])["error"]
        assert (done.status, done.err) == (1, "")
        assert error["suggestion"] == "Did you mean http://localhost:8765?"
        assert result["_meta"]["footlight/documentation"].endswith("/reference/errors.html#invalid_url")
        assert DOCUMENTATION_URL not in json.dumps([result["content"], result["structuredContent"]])


@pytest.mark.slow
async def test_error_links_to_the_configured_documentation(running: Background) -> None:
    file = running.root / "settings.json"
    file.write_text('{"documentationUrl": "https://docs.example.com/browser"}')

    done = await running.run("call", "navigate", "--url", "x", "--server", f"{SERVER} --config {file}")

    assert done.err.splitlines()[-1] == (
        "More: https://docs.example.com/browser/reference/errors.html#invalid_url"
    )


async def test_a_call_without_a_required_argument_is_refused_before_the_tool_runs(
    running: Background,
) -> None:
    done = await running.run("call", "fill", "--selector", "#name")

    assert (done.status, done.out) == (2, "")
    assert done.err == "footlight: fill needs --value. `footlight call fill --help` lists its parameters.\n"


MISTAKES = {
    "navigate --ulr http://x": (
        "navigate has no parameter --ulr; closest: --url. `footlight call navigate --help` lists them."
    ),
    "navigat --url http://x": (
        "there is no tool 'navigat'; closest: navigate. `footlight tools` lists them."
    ),
    "click --timeout soon": "--timeout must be a number, not 'soon'",
    "screenshot --full-page maybe": "--full-page is a switch: write true or false, not 'maybe'",
    "navigate http://x": "'http://x' belongs to no flag. Quote a value that has spaces.",
    "navigate --json [1]": "--json must be an object with a parameter for each key",
    "navigate --json {": (
        "--json must be JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"
    ),
    "navigate --json @nothing.json": "nothing.json: No such file or directory",
    "navigate --format yaml": "--format must be text or json, not 'yaml'",
    "screenshot --output nowhere/page.png": (
        "--output must be a file in a folder that exists, not 'nowhere/page.png'"
    ),
    "navigate --header a:b": "--header is for a server with a URL (--server)",
    "": "name the tool: footlight call TOOL. `footlight tools` lists them.",
}


@pytest.mark.parametrize("typed", MISTAKES)
async def test_usage_mistake_is_named(running: Background, typed: str) -> None:
    done = await running.run("call", *typed.split())

    assert done == Done(2, "", f"footlight: {MISTAKES[typed]}\n")


@pytest.mark.parametrize("mistake", [("--format", "yaml"), ("--output", ".")])
async def test_invalid_output_options_prevent_the_call(
    running: Background, site: Site, mistake: tuple[str, str]
) -> None:
    await running.call("navigate", "--url", site.page("<input aria-label=Name>"))

    done = await running.run("call", "fill", "--selector", "input", "--value", "Ada", *mistake)

    assert done.status == 2
    assert (await running.call("get_value", "--selector", "input"))["value"] == ""


async def test_non_utf8_file_is_named(running: Background) -> None:
    (running.root / "latin.json").write_bytes(b'{"url": "\xff"}')

    done = await running.run("call", "navigate", "--json", "@latin.json")

    assert (done.status, done.err) == (2, "footlight: --json latin.json: the content is not UTF-8\n")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
async def test_closed_standard_stream_causes_no_error(running: Background, closed: str) -> None:
    process = await asyncio.create_subprocess_shell(
        f"exec {sys.executable} -m footlight call list_sessions {closed}",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=running.root,
        env=running.environment(),
    )
    async with asyncio.timeout(LIMIT_SECONDS):
        _, err = await process.communicate()

    assert (process.returncode, err) == (0, b"")


async def test_arguments_can_be_json(running: Background, site: Site) -> None:
    url = site.page("<h1>x</h1>")
    (running.root / "arguments.json").write_text(json.dumps({"url": url, "observe": "full"}))

    for words, stdin in (
        (["--json", json.dumps({"url": url})], ""),
        (["--json", "@arguments.json"], ""),
        (["--json", "-"], json.dumps({"url": url})),
        (["--json", '{"url": "http://127.0.0.1:9"}', "--url", url], ""),
    ):
        done = await running.run("call", "navigate", *words, "--format", "json", stdin=stdin)
        assert json.loads(done.out)["structuredContent"]["data"]["finalUrl"] == url


@pytest.mark.slow
async def test_the_tools_are_listed_without_a_server(tmp_path: Path) -> None:
    async with background(tmp_path) as none:
        listed = await none.run("tools")
        one = await none.run("tools", "click")
        explained = await none.run("call", "click", "--help")
        unknown = await none.run("tools", "clik")
        withheld = await none.run("call", "tap", "--help")
        servers = none.servers()

    names = [line.split()[0] for line in listed.out.splitlines()]
    assert {"navigate", "click", "screenshot"} <= {*names}
    assert one.out == explained.out
    assert one.out.startswith("click: ")
    assert "  --selector " in one.out
    assert unknown == Done(
        2, "", "footlight: there is no tool 'clik'; closest: click. `footlight tools` lists them.\n"
    )
    assert withheld.err == (
        "footlight: tap, of the group touch, is not offered by the background server. Start one that does:\n"
        "footlight daemon stop; footlight daemon start --tools default,touch\n"
    )
    assert servers == []


async def test_a_running_server_lists_its_own_tools(running: Background) -> None:
    listed = [line.split()[0] for line in (await running.run("tools")).out.splitlines()]

    assert {*listed} == {tool.name for tool in load_tools()}


async def test_call_starts_the_background_server(tmp_path: Path) -> None:
    async with background(tmp_path, browser=False) as none:
        refused = await none.run("call", "list_sessions", "--no-start")
        servers = none.servers()
        started = await none.run("call", "list_sessions")

        assert refused == Done(
            3,
            "",
            "footlight: no background server is running\n"
            "Start one with `footlight daemon start`, or call without --no-start.\n",
        )
        assert servers == []
        assert started.err.startswith("footlight: starting a background server\n")
        [server] = none.servers()
        assert server.pid == none.state.pid
        server.kill()
        server.wait(LIMIT_SECONDS)
        refused = await none.run("call", "list_sessions", "--no-start")
        assert refused == Done(
            3,
            "",
            "footlight: no background server is running, the last one was killed\n"
            "Start one with `footlight daemon start`.\n",
        )


@pytest.mark.slow
async def test_server_crash_during_a_call_is_reported(tmp_path: Path, site: Site) -> None:
    async with background(tmp_path) as own:
        await own.run("daemon", "start")
        process = own.process

        async def end(_: Request) -> Response:
            process.kill()
            return Response("too late")

        done = await own.run("call", "navigate", "--url", site.route(end))

    assert done == Done(3, "", "footlight: the background server ended before it answered\n")


SERVER = f"{sys.executable} -m footlight serve --log-level error"


@pytest.mark.slow
async def test_any_other_server_can_be_called(running: Background, site: Site) -> None:
    """Started for one call, or at its URL."""
    url = site.page("<h1>x</h1>")
    token = (running.folder / "token").read_text().strip()
    there = ("--server", running.state.url, "--header", f"Authorization: Bearer {token}")

    by_command = await running.run("call", "navigate", "--url", url, "--server", SERVER, "--format", "json")
    by_url = await running.run("call", "list_sessions", *there, "--format", "json")
    listed = await running.run("tools", *there)
    failed = await running.run("call", "navigate", "--url", "nonsense", "--server", SERVER)
    mistaken = await running.run("call", "navigate", "--ulr", url, "--server", SERVER)

    assert json.loads(by_command.out)["structuredContent"]["data"]["finalUrl"] == url
    assert json.loads(by_url.out)["structuredContent"]["success"]
    assert len(listed.out.splitlines()) == len(load_tools())
    assert (failed.status, failed.out) == (1, "")
    assert (mistaken.status, mistaken.out) == (2, "")
    assert "closest: --url" in mistaken.err


@pytest.mark.parametrize("server", ["no-such-command", "http://127.0.0.1:9/mcp", "'"])
async def test_unreachable_server_is_reported(running: Background, server: str) -> None:
    done = await running.run("call", "navigate", "--url", "x", "--server", server)
    listed = await running.run("tools", "--server", server)

    assert (done.status, listed.status) in ((3, 3), (2, 2))
    assert done.err == listed.err
    assert done.err.startswith("footlight: ")
    assert "Traceback" not in done.err


async def complete(running: Background, typed: str) -> list[str]:
    words = typed.split(" ")
    done = await running.run(
        _FOOTLIGHT_COMPLETE="bash_complete", COMP_WORDS=typed, COMP_CWORD=str(len(words) - 1)
    )
    assert done.err == ""
    return [line.partition(",")[2] for line in done.out.splitlines()]


async def test_commands_tools_and_flags_are_completed(running: Background) -> None:
    assert await complete(running, "footlight ca") == ["call"]
    assert await complete(running, "footlight daemon st") == ["start", "status", "stop"]
    assert await complete(running, "footlight call navig") == ["navigate"]
    assert await complete(running, "footlight tools screensh") == ["screenshot", "screenshot_element"]
    assert await complete(running, "footlight call navigate --u") == ["--url"]
    assert await complete(running, "footlight call click --button r") == ["right"]
    assert await complete(running, "footlight call screenshot --fullP") == ["--fullPage"]
    assert await complete(running, "footlight call screenshot --full-") == ["--full-page"]
    assert await complete(running, "footlight call navigate --wait-until n") == ["networkidle"]
    assert await complete(running, "footlight call click --forma") == ["--format"]
    assert await complete(running, "footlight call click --format j") == ["json"]


@pytest.mark.slow
async def test_invalid_settings_are_reported_and_complete_nothing(tmp_path: Path) -> None:
    wrong = {"FOOTLIGHT_BROWSER_TYPE": "opera"}
    async with background(tmp_path) as none:
        helped = await none.run("call", "click", "--help", **wrong)
        typed = {"COMP_WORDS": "footlight call cl", "COMP_CWORD": "2"}
        displayed = await none.run(_FOOTLIGHT_COMPLETE="bash_complete", **typed, **wrong)

        assert (helped.status, helped.out) == (2, "")
        assert helped.err.startswith("footlight: environment variable FOOTLIGHT_BROWSER_TYPE: ")
        assert (displayed.out.strip(), displayed.err) == ("", "")


@pytest.mark.slow
async def test_tools_are_completed_without_a_server(tmp_path: Path) -> None:
    async with background(tmp_path) as none:
        assert await complete(none, "footlight call navig") == ["navigate"]


IMPORTS = """
import os, sys
heavy = "anyio asyncio click httpx2 mcp mcp_types playwright psutil pydantic subprocess".split()
end = os._exit
def tell(status):
    print("imported:", *[name for name in heavy if name in sys.modules], file=sys.stderr, flush=True)
    end(status)
os._exit = tell
from footlight.cli.main import main
main()
"""


async def test_call_imports_no_server_modules(running: Background) -> None:
    done = await asyncio.to_thread(
        run_python, "-c", IMPORTS, "call", "list_sessions", **running.environment()
    )

    assert (done.returncode, done.stderr) == (0, "imported:\n")


SCHEMA = {
    "name": "fit",
    "inputSchema": {
        "type": "object",
        "properties": {
            "width": {"type": "integer"},
            "ratio": {"anyOf": [{"type": "number"}, {"type": "null"}]},
            "deep": {"type": "boolean"},
            "file_names": {"type": "array", "items": {"type": "string"}},
            "numbers": {"anyOf": [{"type": "array", "items": {"type": "number"}}, {"type": "null"}]},
            "options": {"type": "object"},
            "anything": {},
            "server": {"type": "string"},
            "output": {"type": "string"},
        },
    },
}

TYPED = {
    ("--width", "3", "--ratio", "0.5"): {"width": 3, "ratio": 0.5},
    ("--width", "-3"): {"width": -3},
    ("--width", "9007199254740993"): {"width": 9007199254740993},
    ("--width", "2e3"): {"width": 2000},
    ("--deep",): {"deep": True},
    ("--deep", "false"): {"deep": False},
    ("--no-deep",): {"deep": False},
    ("--fileNames", "a", "--file-names", "b"): {"file_names": ["a", "b"]},
    ("--file_names", '["a", "b"]', "--file_names", "c"): {"file_names": ["a", "b", "c"]},
    ("--numbers", "1", "--numbers", "2"): {"numbers": [1, 2]},
    ("--options", '{"a": 1}'): {"options": {"a": 1}},
    ("--anything", "[1]"): {"anything": [1]},
    ("--anything", "plain"): {"anything": "plain"},
    ("--output=--here",): {"output": "--here"},
    ("--server", "elsewhere"): {},
}


@pytest.mark.parametrize("words", TYPED, ids=" ".join)
def test_a_flag_has_the_type_of_its_parameter(words: tuple[str, ...]) -> None:
    typed = read_words(["fit", *words])

    assert tool_arguments(typed, SCHEMA, read=str) == TYPED[words]


def test_too_deep_json_is_a_usage_error() -> None:
    typed = read_words(["fit", "--json", "[" * 100_000])

    with pytest.raises(InvalidUsageError, match="--json must be JSON"):
        tool_arguments(typed, SCHEMA, read=str)


def test_help_flag_is_recognised_but_not_as_a_value() -> None:
    assert read_words(["fill", "-h"]).help
    assert not read_words(["fill", "--value", "-h"]).help


def test_every_tool_parameter_is_accepted_as_a_flag() -> None:
    for tool in load_tools():
        listed = {"name": tool.name, "inputSchema": tool.input_schema}
        for name in tool.input_schema["properties"]:
            with contextlib.suppress(InvalidUsageError):  # A value of another type; but no flag of ours.
                assert name in tool_arguments(read_words([tool.name, f"--{name}=1"]), listed, read=str)
