"""The command `footlight audit`."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import shlex
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from footlight import MCPClient
from footlight.audit.page.server import own_server
from footlight.cli.audit import urls
from footlight.cli.usage import InvalidUsageError
from footlight.demo.shop.site import serve_shop
from tests.audit.page.test_server import environments
from tests.audit.vendors.openai import OpenAI
from tests.audit.vendors.script import Call, Turn
from tests.audit.vendors.serving import serve_vendor
from tests.cli.commands import Done, run_command
from tests.client.browser_servers import config_of
from tests.conftest import ENGINE
from tests.processes import descendants_of
from tests.site import Site

pytestmark = pytest.mark.anyio

LIMIT_SECONDS = 100.0
DEVNULL, PIPE = asyncio.subprocess.DEVNULL, asyncio.subprocess.PIPE
NOWHERE = "http://127.0.0.1:9/"
PAGE = "<!doctype html><html lang=en><title>Page</title><main><h1>Page</h1><p>Words</p></main>"
FAULTY = PAGE.replace("<p>", "<img src=/missing.png><p>")
MODEL = ("--provider", "openai", "--model", "m")
FACTS_ONLY = (
    "footlight: only measurements; add --provider openai, anthropic or google to let a model judge them too"
)


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return {**kept, "FOOTLIGHT_BROWSER_TYPE": ENGINE, **more}


@asynccontextmanager
async def start_audit(
    *arguments: str,
    cwd: Path,
    variables: Mapping[str, str] | None = None,
    stdin: int = DEVNULL,
    output: int = PIPE,
) -> AsyncGenerator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "footlight", "audit", *arguments),
        stdin=stdin,
        stdout=output,
        stderr=output,
        cwd=cwd,
        env=environment(**variables or {}),
    )
    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def audit(
    *arguments: str, cwd: Path, stdin: str = "", variables: Mapping[str, str] | None = None
) -> Done:
    return await run_command(
        *("audit", *arguments),
        cwd=cwd,
        environment=environment(**variables or {}),
        stdin=stdin,
        limit_seconds=LIMIT_SECONDS,
    )


def steady(text: str) -> list[str]:
    """Return the lines without times."""
    return re.sub(r"\d+(\.\d+)? m?s\b", "…", text).splitlines()


def rules(report: dict[str, Any]) -> set[str]:
    return {finding["rule"] for finding in report["findings"]}


async def test_shop_is_audited_and_reported_in_every_format(tmp_path: Path) -> None:
    """Its facts, without a model; in each format at once."""
    outs = ["report.html", "report.md", "report.json", "deep/report.sarif"]
    async with serve_shop() as site:
        flags = [flag for out in outs for flag in ("--out", out)]
        done = await audit(f"{site.url}/login", "--max-critical", "0", *flags, cwd=tmp_path)

    assert done.status == 0, done.err
    assert done.out.splitlines()[-5:] == [
        "",
        "Passed",
        "  kept: 0 critical findings, at most 0 allowed",
        "",
        f"Written: {', '.join(outs)}",
    ]
    assert [out for out in outs if not (tmp_path / out).stat().st_size] == []
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["finished"]
    assert report["verdict"]["passed"]
    assert report["pages"][0]["status"] == "complete"
    assert len(report["pages"][0]["facts"]) > 3


@pytest.mark.slow
async def test_progress_is_reported_on_standard_error(site: Site, tmp_path: Path) -> None:
    """Only the report is on standard output: here JSON."""
    url = site.page(FAULTY)

    done = await audit(url, "--format", "json", cwd=tmp_path)

    first, *reported, last = steady(done.err)
    assert first == FACTS_ONLY
    assert reported[:2] == [f"page 1 of 1: {url}", f"  open {url} at 1280 px"]
    assert f"  open {url} at 360 px" in reported
    assert re.fullmatch(r"page 1 of 1: complete, 1 critical.* findings?, …", last)
    assert "\x1b" not in done.err + done.out
    assert done.status == 0
    report = json.loads(done.out)
    assert "axe/image-alt" in rules(report)
    assert {"rule", "severity"} <= set(report["findings"][0])


@pytest.mark.slow
async def test_exceeded_threshold_sets_exit_code_and_message_when_quiet(site: Site, tmp_path: Path) -> None:
    done = await audit(site.page(FAULTY), "--max-critical", "0", "--max-low", "90", "--quiet", cwd=tmp_path)

    assert (done.status, done.err) == (1, "")
    assert "axe/image-alt" in done.out
    assert "\x1b" not in done.out
    assert "\nNot passed\n  not kept: 1 critical finding, at most 0 allowed\n" in done.out


@pytest.mark.slow
async def test_one_of_several_pages_fails(site: Site, tmp_path: Path) -> None:
    """Each is audited once. Lists are files, and standard input."""
    urls = [site.page(PAGE), NOWHERE, site.page(FAULTY)]
    (tmp_path / "urls.txt").write_text(f"\ufeff# the pages\n\n{urls[1]}\r\n  {urls[2]}\n")

    done, allowed = await asyncio.gather(
        audit(*("-", "--urls", "urls.txt", "--out", "r.json"), stdin=f"{urls[0]}\n{urls[2]}\n", cwd=tmp_path),
        audit(NOWHERE, "--allow-failed", cwd=tmp_path),
    )

    report = json.loads((tmp_path / "r.json").read_text())
    assert [(page["url"], page["status"]) for page in report["pages"]] == [
        (urls[0], "complete"),
        (urls[2], "complete"),
        (urls[1], "failed"),
    ]
    assert "footlight: 1 of the URLs are repetitions; each page is audited once\n" in done.err
    assert (done.status, allowed.status) == (3, 0)


@pytest.mark.slow
async def test_saved_state_is_applied_to_each_visit(site: Site, tmp_path: Path) -> None:
    url = site.page(
        "<!doctype html><html lang=en><title>Sign in</title>"
        "<script>if (localStorage.reader) document.title = 'Account';</script>"
    )
    states = {"FOOTLIGHT_SESSION_STATE_DIRECTORY": str(tmp_path / "states")}
    own = own_server(["--browser", ENGINE, "--tools", "all"], environ={**os.environ, **states})
    async with MCPClient(own, timeout_ms=60_000) as client:
        await client.call_tool("navigate", {"url": url})
        await client.call_tool("evaluate", {"script": "() => { localStorage.reader = 'yes'; }"})
        await client.call_tool("save_state", {"name": "reader", "sessionId": "default"})

    done, missing = await asyncio.gather(
        audit(url, "--state", "reader", "--format", "json", cwd=tmp_path, variables=states),
        audit(url, "--state", "other", cwd=tmp_path, variables=states),
    )

    assert json.loads(done.out)["pages"][0]["title"] == "Account"
    assert missing.status == 3
    assert "other" in missing.out


async def read_until(process: asyncio.subprocess.Process, words: str) -> None:
    assert process.stderr is not None
    while words not in (line := (await process.stderr.readline()).decode()):
        assert line, "it has ended"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_interrupted_audit_writes_partial_report_and_leaves_no_process(
    site: Site, tmp_path: Path, number: signal.Signals
) -> None:
    urls = [site.page(PAGE), site.page(FAULTY), site.page(PAGE)]

    async with start_audit(*urls, "--jobs", "1", "--out", "r.json", cwd=tmp_path) as process:
        await read_until(process, f"open {urls[1]} at 1280 px")
        await read_until(process, "keyboard focus order")
        interim = json.loads((tmp_path / "r.json").read_text())
        children = descendants_of(psutil.Process(process.pid))
        process.send_signal(number)
        out, _ = await process.communicate()
        gone, alive = await asyncio.to_thread(psutil.wait_procs, children, timeout=30)

    assert process.returncode == 128 + number
    assert [page["status"] for page in interim["pages"]] == ["complete"]
    report = json.loads((tmp_path / "r.json").read_text())
    assert (report["finished"], "verdict" in report) == (False, False)
    assert [page["status"] for page in report["pages"]] == ["complete", "partial"]
    assert "axe/image-alt" in rules(report)
    assert b"This audit is not finished" in out
    assert len(gone) > 1
    assert alive == []


async def test_interruption_before_the_first_page_ends_the_command_with_a_summary(tmp_path: Path) -> None:
    server = f"{sys.executable} -c 'import sys; sys.stdin.read()'"
    async with start_audit(NOWHERE, "--server", server, "--log-file", "log", cwd=tmp_path) as process:
        await read_until(process, FACTS_ONLY)
        process.send_signal(signal.SIGTERM)
        out, _ = await process.communicate()

    assert process.returncode == 143
    assert out.decode().startswith("No page was measured\nThis audit is not finished.")


@pytest.mark.slow
async def test_model_walks_and_judges_the_page(site: Site, tmp_path: Path) -> None:
    """Its words come line by line; its key is nowhere but with the vendor, and not with the server."""
    url = site.page(FAULTY)
    hostile = "Nobody \x1b[31mknows\x1b]0;owned\x07 [red]what\u202e it shows"

    async with serve_vendor(OpenAI()) as vendor:
        vendor.answers(walk_and_judge(hostile))
        flags = (*MODEL, "--base-url", vendor.base_url, "--goal", "See the picture", "--focus", "pictures")
        outs = ("--out", "r.json", "--out", "r.html", "--log-file", "log")
        async with start_audit(
            url, *flags, *outs, cwd=tmp_path, variables={"OPENAI_API_KEY": "sk-very-secret"}
        ) as process:
            await read_until(process, f"open {url} at 360 px")
            children = descendants_of(psutil.Process(process.pid))
            known = environments(children)
            out, err = await process.communicate()
        received = vendor.received

    assert process.returncode == 0, err
    assert OpenAI().key(received[0]) == "sk-very-secret"
    assert len(known) > 1
    assert [each for each in known if "sk-very-secret" in each.values()] == []
    texts = [out, err, *read_files(tmp_path)]
    assert [text for text in texts if b"sk-very-secret" in text] == []

    reported = steady(err.decode())
    assert "  getPageStructure  ok, …" in reported
    assert "  finishGoal outcome=stopped why=There is none  ok, …" in reported
    assert "  | Nobody \\x1b[31mknows\\x1b]0;owned\\x07 [red]what\\u202e it shows" in reported
    assert "  | and that is all." in reported
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["pages"][0]["walks"][0]["persona"] == "Visitor"
    assert report["pages"][0]["status"] == "complete"
    assert [each["title"] for each in report["findings"] if each["source"] == "judged"] == ["What is it?"]
    assert report["provenance"]["provider"] == "openai"


def read_files(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.iterdir()]


def walk_and_judge(text: str) -> list[Turn]:
    return [
        Turn(calls=[make_call("1", "getPageStructure")]),
        Turn(calls=[make_call("2", "finishGoal", outcome="stopped", why="There is none")]),
        Turn(
            calls=[
                make_call(
                    *("3", "recordFinding"),
                    title="What is it?",
                    severity="high",
                    area="wording",
                    advice="Say it",
                    cites=["F1"],
                )
            ]
        ),
        Turn(text=[*re.findall(r".{1,5}", text), "\nand that", " is all."]),
    ]


def make_call(id: str, name: str, **arguments: Any) -> Call:
    return Call(id=id, name=name, pieces=[json.dumps(arguments)])


@pytest.mark.slow
async def test_password_is_typed_by_name_and_never_disclosed(site: Site, tmp_path: Path) -> None:
    """Neither the model nor a report, a log or the terminal has it; the site does."""
    arrived: list[str] = []

    async def receive(request: Request) -> Response:
        arrived.append((await request.body()).decode())
        return HTMLResponse("<title>In</title><h1>Welcome</h1>")

    form = f"<form method=post action='{site.route(receive)}'><input name=p type=password><button>In</button>"
    url = site.page(PAGE.replace("<p>Words</p>", f"{form}</form>"))
    (tmp_path / "secrets.env").write_text("SHOP=open sesame\n")
    goal = "Sign in with the password secret:SHOP"

    async with serve_vendor(OpenAI()) as vendor:
        typed = make_call("2", "typeText", target="input", text="secret:SHOP")
        vendor.answers(
            [
                Turn(calls=[make_call("1", "getPageStructure")]),
                Turn(calls=[typed, make_call("3", "clickElement", target="button")]),
                Turn(calls=[make_call("4", "finishGoal", outcome="reached", why="It says welcome")]),
                Turn(text=["It works."]),
            ]
        )
        flags = (*MODEL, "--base-url", vendor.base_url, "--goal", goal, "--secrets", "secrets.env")
        done = await audit(url, *flags, "--out", "r.json", "--log-file", "log", cwd=tmp_path)
        sent = json.dumps([each.body for each in vendor.received])
    (tmp_path / "secrets.env").unlink()

    report = json.loads((tmp_path / "r.json").read_text())
    assert arrived == ["p=open+sesame"], done.err
    assert report["pages"][0]["walks"][0]["outcome"] == "reached"
    assert "Welcome" in sent
    texts = [done.out, done.err, sent, *(each.decode() for each in read_files(tmp_path))]
    assert [text for text in texts if "sesame" in text] == []


@pytest.mark.slow
async def test_missing_secrets_file_is_reported_before_start(tmp_path: Path) -> None:
    done = await audit(NOWHERE, "--secrets", "none.env", cwd=tmp_path)

    assert (done.status, done.err) == (2, "footlight: --secrets none.env: there is no such file\n")


@pytest.mark.slow
async def test_model_failure_keeps_the_measured_facts(site: Site, tmp_path: Path) -> None:
    async with serve_vendor(OpenAI()) as vendor:
        flags = (*MODEL, "--base-url", vendor.base_url, "--goal", "See")
        vendor.answers([Turn(end="refusal", text=["I will not."])])
        done = await audit(site.page(FAULTY), *flags, "--out", "r.json", cwd=tmp_path)

    report = json.loads((tmp_path / "r.json").read_text())
    assert (done.status, report["pages"][0]["status"]) == (0, "partial")
    assert "axe/image-alt" in rules(report)
    assert "the goal of Visitor: See and the rest of the…: openai refused to answer" in done.out


async def run_on_terminal(
    *arguments: str,
    cwd: Path,
    until: str = "",
    then: Callable[[], None] = lambda: None,
    **variables: str,
) -> tuple[int, str]:
    """Return the exit status and the output on a terminal. Call `then` when `until` has been written."""
    terminal, line = pty.openpty()
    loop, seen = asyncio.get_running_loop(), bytearray()

    def read() -> None:
        with suppress(OSError):  # The other end is closed.
            while piece := os.read(terminal, 1 << 16):
                seen.extend(piece)
                if until and until.encode() in seen:
                    loop.call_soon_threadsafe(then)

    size = {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"}
    async with start_audit(*arguments, cwd=cwd, output=line, variables={**size, **variables}) as process:
        os.close(line)
        await asyncio.to_thread(read)
        await process.wait()
    os.close(terminal)
    assert process.returncode is not None
    return process.returncode, seen.decode()


@pytest.mark.slow
async def test_terminal_output_is_live_and_escapes_hostile_text(site: Site, tmp_path: Path) -> None:
    hostile = "Nobody \x1b[31mknows\x1b]0;owned\x07 [red]what it shows"
    async with serve_vendor(OpenAI()) as vendor:
        hold = asyncio.Event()
        *turns, last = walk_and_judge(hostile)
        vendor.answers([*turns, Turn(text=last.text, hold=hold)])
        flags = (*MODEL, "--base-url", vendor.base_url, "--goal", "See the picture")
        status, seen = await run_on_terminal(
            site.page(FAULTY), *flags, cwd=tmp_path, until="that is all.", then=hold.set
        )

    assert status == 0, seen
    assert "\x1b]0;" not in seen
    assert "\x1b[31mknows" not in seen
    assert "finishGoal" in seen
    assert "Nobody \\x1b[31mknows\\x1b]0;owned\\x07 [red]what it shows" in seen
    assert "\x1b[2K" in seen


@pytest.mark.slow
async def test_no_color_and_dumb_terminals_are_respected(site: Site, tmp_path: Path) -> None:
    url = site.page(FAULTY)

    colourless, dumb = await asyncio.gather(
        run_on_terminal(url, cwd=tmp_path, NO_COLOR="1"), run_on_terminal(url, cwd=tmp_path, TERM="dumb")
    )

    assert (colourless[0], dumb[0]) == (0, 0)
    assert f"Page 1 of 1\x1b[0m  {url}" in colourless[1]
    assert re.findall(r"\x1b\[(?:\d+;)*(?:3[0-8]|9[0-7])[;m]", colourless[1]) == []
    assert f"page 1 of 1: {url}\r\n" in dumb[1]
    assert "\x1b" not in dumb[1]


@pytest.mark.slow
async def test_local_files_are_audited_and_baseline_findings_pass(tmp_path: Path) -> None:
    folder = tmp_path / "public"
    (folder / "shop").mkdir(parents=True)
    (folder / "index.html").write_text(PAGE)
    (folder / "shop/cart.html").write_text(FAULTY)
    strict = ("--max-critical", "0", "--max-high", "0", "--max-medium", "0", "--allow-partial", "--quiet")

    first = await audit("public", *strict, "--out", "old.json", "--out", "a.sarif", cwd=tmp_path)
    again = await audit("public", *strict, "--baseline", "old.json", "--out", "a.junit.xml", cwd=tmp_path)

    [run] = json.loads((tmp_path / "a.sarif").read_text())["runs"]
    uris = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]
    }
    assert (first.status, again.status) == (1, 0)
    assert "public/shop/cart.html" in uris
    assert uris <= {"public/index.html", "public/shop/cart.html"}
    assert "kept: 0 new critical findings, at most 0 allowed" in again.out
    assert 'failures="0"' in (tmp_path / "a.junit.xml").read_text()


@pytest.mark.slow
async def test_pages_are_read_from_a_sitemap(tmp_path: Path, site: Site) -> None:
    page = site.page(PAGE, path="/page?a=1&b=2")
    listed = f"<urlset><url><loc>\n{page.replace('&', '&amp;')} </loc></url></urlset>"
    index = f"<sitemapindex><sitemap><loc>{site.page(listed, path='/listed')}</loc></sitemap></sitemapindex>"

    done, missing = await asyncio.gather(
        audit("--sitemap", site.page(index, path="/index"), "--format", "json", cwd=tmp_path),
        audit("--sitemap", "http://127.0.0.1:9/sitemap.xml", cwd=tmp_path),
    )

    assert [each["url"] for each in json.loads(done.out)["pages"]] == [page]
    assert (missing.status, missing.err.startswith("footlight: --sitemap http://127.0.0.1:9/")) == (2, True)


async def test_sitemap_index_names_the_pages_of_its_sitemaps(site: Site) -> None:
    listed = "<urlset><url><loc> http://a.example/?a=1&amp;b=2\n</loc></url></urlset>"
    index = f"<sitemapindex><sitemap><loc>{site.page(listed)}</loc></sitemap></sitemapindex>"

    pages, repeated = await asyncio.to_thread(urls.read_urls, (), (), (site.page(index),))

    assert (pages, repeated) == (["http://a.example/?a=1&b=2"], 0)


async def test_sitemap_that_never_ends_is_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    async def drip(_: Request) -> StreamingResponse:
        async def parts() -> AsyncGenerator[bytes]:
            while True:
                yield b" "
                await asyncio.sleep(0.02)

        return StreamingResponse(parts(), media_type="application/xml")

    url = site.route(drip)
    monkeypatch.setattr(urls, "FETCH_SECONDS", 0.2)

    with pytest.raises(InvalidUsageError) as caught:
        await asyncio.to_thread(urls.read_urls, (), (), (url,))

    assert str(caught.value) == f"--sitemap {url}: it was not received within 0.2 seconds"


@pytest.mark.slow
async def test_other_server_works_and_refuses_browser_options(site: Site, tmp_path: Path) -> None:
    config = config_of("@playwright/mcp")
    server = shlex.join((config.server_command, *config.server_args))

    done, refused, stateless = await asyncio.gather(
        audit(site.page(FAULTY), "--server", server, "--format", "json", cwd=tmp_path),
        audit(NOWHERE, "--server", server, "--headed", cwd=tmp_path),
        audit(NOWHERE, "--server", server, "--state", "shop", cwd=tmp_path),
    )

    report = json.loads(done.out)
    assert "axe/image-alt" in rules(report)
    assert report["provenance"]["server"].startswith("Playwright")
    assert read_files(tmp_path) == []  # What it writes beside its answers is not left here.
    assert (refused.status, refused.err) == (
        2,
        "footlight: --headed is for Footlight's own server; use an option of the --server command instead\n",
    )
    assert stateless.status == 2
    assert "no sessions, so it cannot apply state" in stateless.err


@pytest.mark.sampled(15)
@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ([], "name a page: footlight audit URL, or --urls FILE"),
        (["example.com"], "URL: url must start with http:// or https://: example.com"),
        (["file:///etc/passwd"], "must start with http:// or https://"),
        (["http://a b/"], "is not valid by the URL Standard; check its host and its port: http://a b/"),
        (["https://me:secret@example.com/"], "would appear in every report; use --state"),
        (["--urls", "missing.txt"], "--urls missing.txt: No such file or directory"),
        (["--urls", "list.txt"], "list.txt, line 2: url must start with http:// or https://: nonsense"),
        (["--urls", "many.txt"], "101 pages: the limit is 100 per run; split the list"),
        (
            [NOWHERE, "--out", "r.pdf"],
            "r.pdf: the name of a report must end in .html, .md, .json, .junit.xml",
        ),
        ([NOWHERE, "--out", "/dev/null/r.json"], "--out /dev/null/r.json cannot be written: "),
        ([NOWHERE, "--out", "folder.html"], "--out folder.html cannot be written: it is a folder"),
        ([NOWHERE, "--out", "loop.html"], "--out loop.html cannot be written: Too many levels of symbolic"),
        ([NOWHERE, "--model", "m"], "--model needs a model: add --provider openai, anthropic or google"),
        ([NOWHERE, "--goal", "x"], "--goal needs a model: add --provider"),
        ([NOWHERE, "--provider", "anthropic"], "set ANTHROPIC_API_KEY in the environment"),
        ([NOWHERE, "--provider", "openai", "--base-url", "http://127.0.0.1:9"], "a model must be named"),
        ([NOWHERE, *MODEL, "--base-url", "x"], "the base URL must start with http:// or https://"),
        ([NOWHERE, *MODEL, "--personas", "missing.yaml"], "missing.yaml"),
        ([NOWHERE, *MODEL, "--goal", " "], "each goal must be a text that is not empty"),
        ([NOWHERE, "--provider", "acme"], "'acme' is not one of 'openai', 'anthropic', 'google'"),
        ([NOWHERE, "--max-critical", "-1"], "-1 is not in the range x>=0"),
        ([NOWHERE, "--header", "A: b"], "--header is for a server with a URL (--server); use --page-header"),
        ([NOWHERE, "--page-header", "secret"], "--page-header must be NAME:VALUE"),
        ([NOWHERE, "--server", "/nowhere/server"], "The command '/nowhere/server' was not found"),
        ([NOWHERE, "--server", "http://127.0.0.1:9/mcp"], "127.0.0.1:9"),
        ([NOWHERE, "--log-file", "/dev/null/log"], "/dev/null/log cannot be written"),
    ],
    ids=str,
)
async def test_invalid_arguments_are_refused_with_a_remedy(
    tmp_path: Path, arguments: list[str], part: str
) -> None:
    (tmp_path / "list.txt").write_text(f"{NOWHERE}\nnonsense\n")
    (tmp_path / "many.txt").write_text("".join(f"http://127.0.0.1:9/{n}\n" for n in range(101)))
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "loop.html").symlink_to("loop.html")

    done = await audit(*arguments, cwd=tmp_path)

    assert (done.status, done.out) == (2, "")
    assert part in " ".join(done.err.split())
    assert "Traceback" not in done.err


async def test_unpinned_server_package_gives_a_warning(tmp_path: Path) -> None:
    done = await audit(NOWHERE, "--server", "/nowhere/npx @playwright/mcp@latest", cwd=tmp_path)

    assert "@playwright/mcp@latest is not pinned to a version; @playwright/mcp@VERSION" in done.err
