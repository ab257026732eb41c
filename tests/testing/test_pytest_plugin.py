"""The pytest plugin, in pytest processes of its own."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import anyio
import psutil
import pytest

from footlight.testing import expect
from tests.client.browser_servers import config_of
from tests.conftest import ENGINE
from tests.network import listening
from tests.tiers import sample_parameters

pytest_plugins = ["pytester"]

SMALL = Path(__file__).with_name("small_server.py")
LIMIT_SECONDS = 90.0
GONE_SECONDS = 30.0
QUICK = ("-p", "no:hypothesispytest", "-p", "no:cacheprovider")  # They take most of the time to start.
SCOPE = "asyncio_default_fixture_loop_scope=function"

BACKEND = """
import asyncio, os, pathlib, signal
import pytest

@pytest.fixture
def anyio_backend():
    return "asyncio"

PAGE = "data:text/html,<title>Box</title><h1>Tonight</h1>"

async def headline(mcp):
    await mcp.root.navigate(url=PAGE)
    return (await mcp.root.get_text(selector="h1"))["data"]["text"]
"""


class Project:
    """A user's tests, in a folder of their own."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.folder = pytester.path
        self._pytester = pytester
        self.notes = self.folder / "server.notes"

    def write(self, tests: str, *, name: str = "test_it") -> None:
        self._pytester.makepyfile(**{name: BACKEND + dedent(tests)})

    def configure(self, ini: str) -> None:
        self.folder.joinpath("pytest.ini").write_text(f"[pytest]\n{ini}\n")

    def run(self, *arguments: str, small: bool = False) -> pytest.RunResult:
        server = [f"--mcp-server={sys.executable} {SMALL} {self.notes}"] if small else []
        return self._pytester.runpytest_subprocess(
            *(*QUICK, "-o", SCOPE, "-W", "error", "--timeout", "60", *server, *arguments),
            timeout=LIMIT_SECONDS,
        )

    def read_notes(self) -> list[str]:
        """Return the requests that the small server has received."""
        return self.notes.read_text().splitlines()

    def read_noted_processes(self) -> set[int]:
        """Return the processes that a test wrote down: the server, and its children."""
        return {int(word) for word in (self.folder / "pids").read_text().split()}

    def find_running(self) -> set[int]:
        """Return those of the processes that still run after a moment."""
        end = time.monotonic() + GONE_SECONDS
        while (
            left := {each for each in self.read_noted_processes() if runs(each)}
        ) and time.monotonic() < end:
            psutil.wait_procs([psutil.Process(each) for each in left if runs(each)], timeout=0.1)
        return left


def runs(identifier: int) -> bool:
    """Return whether a process runs. A zombie does not: it waits for its parent."""
    try:
        return psutil.Process(identifier).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester)


def test_async_test_gets_the_handle_under_any_runner(project: Project) -> None:
    project.write(
        """
        @pytest.mark.anyio
        async def test_anyio(mcp):
            assert await mcp.root.echo(a=1) == {"a": 1}

        @pytest.mark.asyncio
        async def test_asyncio(mcp):
            assert await mcp.root.echo(a=1) == {"a": 1}

        def test_no_loop(mcp):
            asyncio.run(mcp.root.echo(a=1))
            assert asyncio.run(mcp.root.echo(a=2)) == {"a": 2}
        """
    )

    project.run(small=True).assert_outcomes(passed=3)


ECHOES = """
@pytest.mark.parametrize("number", [1, 2])
async def test_echo(mcp, number):
    assert await mcp.root.echo(number=number) == {"number": number}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    sample_parameters(
        [
            ["-o", "asyncio_mode=auto"],
            ["-o", "asyncio_mode=auto", "-n", "2"],
            ["-o", "asyncio_mode=auto", "-o", "asyncio_default_test_loop_scope=session"],
            ["-o", "anyio_mode=auto"],
        ],
        ["-o", "anyio_mode=auto"],
    ),
    ids=" ".join,
)
def test_tests_pass_in_every_asyncio_mode_and_event_loop(project: Project, options: list[str]) -> None:
    project.write(ECHOES)

    project.run(*options, small=True).assert_outcomes(passed=2)


SHARED = """
import psutil

from footlight.protocol.results import value_of

SERVERS = set()

def servers():
    return {each.pid for each in psutil.Process().children() if "serve" in each.cmdline()}

@pytest.mark.parametrize("number", [1, 2, 3])
async def test_handle(mcp, number):
    assert await headline(mcp) == "Tonight"
    SERVERS.update(servers())

async def test_client(mcp_client):
    await mcp_client.call_tool("navigate", {"url": PAGE})
    await mcp_client.call_tool("create_session")
    await mcp_client.close()

async def test_nothing_is_left_of_other_tests(mcp_client):
    data = value_of(await mcp_client.call_tool("list_sessions"))["data"]
    assert data["sessions"] == []
    SERVERS.update(servers())
    assert len(SERVERS) == 1

async def test_after_a_crash(mcp):
    [server] = map(psutil.Process, SERVERS)
    server.kill()
    server.wait()

async def test_there_is_a_new_one(mcp):
    assert await headline(mcp) == "Tonight"
    assert not servers() <= SERVERS
"""


@pytest.mark.slow
def test_tests_in_one_process_share_the_server_but_no_session(project: Project) -> None:
    project.write(SHARED)

    ran = project.run("-o", "asyncio_mode=auto", "-W", "default")

    ran.assert_outcomes(passed=7, warnings=1)  # Of the session that was lost with its server.


@pytest.mark.slow
def test_each_test_process_has_its_own_server(project: Project) -> None:
    project.write(
        """
        @pytest.mark.parametrize("number", range(6))
        async def test_handle(mcp, number):
            assert await headline(mcp) == "Tonight"
        """
    )

    project.run("-o", "asyncio_mode=auto", "-n", "2").assert_outcomes(passed=6)


@pytest.mark.slow
def test_sync_test_has_the_same_fixtures(project: Project) -> None:
    project.write(
        """
        def test_handle(sync_mcp):
            sync_mcp.root.navigate(url=PAGE)
            assert sync_mcp.root.get_text(selector="h1")["data"] == {"text": "Tonight"}

        def test_client(sync_mcp_client):
            assert "navigate" in {tool.name for tool in sync_mcp_client.list_tools()}
            assert sync_mcp_client.call_tool("navigate", {"url": PAGE}).is_error is False

        def test_browser(sync_browser_session):
            with pytest.raises(Exception, match="url must start with http"):
                sync_browser_session.navigate(PAGE)
            sync_browser_session.close()
        """
    )

    project.run().assert_outcomes(passed=3)


EXPECTING = """
from footlight.testing import expect

DELAYED = PAGE + "<script>setTimeout(() => document.querySelector('h1').append(' at eight'), 300)</script>"

async def test_it_waits(mcp):
    await mcp.root.navigate(url=DELAYED)
    await expect(mcp.root.get_text, selector="h1")["data"]["text"].to_equal("Tonight at eight")
    await expect(mcp.root.get_text, selector="h1").to_include({"data": {"text": "Tonight at eight"}})
    await expect(mcp.root.get_text, selector="h1")["data"]["text"].not_to_include("Tomorrow")

def test_it_blocks(sync_mcp):
    sync_mcp.root.navigate(url=DELAYED)
    expect(sync_mcp.root.get_text, selector="h1")["data"]["text"].to_equal("Tonight at eight")

async def test_it_fails(mcp):
    await mcp.root.navigate(url=PAGE)
    await expect(mcp.root.get_text, selector="h1").within(2)["data"].to_equal({"text": "Tomorrow"})

def test_it_fails_blocking(sync_mcp):
    sync_mcp.root.navigate(url=PAGE)
    expect(sync_mcp.root.get_text, selector="h2", timeout=100).within(3)["data"].to_include("Tonight")
"""


@pytest.mark.slow
def test_assertions_wait_for_the_answer_and_show_what_differs(project: Project) -> None:
    project.write(EXPECTING)

    ran = project.run("-o", "asyncio_mode=auto")

    ran.assert_outcomes(passed=2, failed=2)
    ran.stdout.fnmatch_lines(
        [
            "E*Expected get_text(selector='h1')?'data'? to equal within 2 s:",
            "E*-{'text': 'Tomorrow'}",
            "E*+{'text': 'Tonight'}",
            "E*Expected get_text(selector='h2', timeout=100)?'data'? to include within 3 s:",
            "E*The call failed: ELEMENT_NOT_FOUND:*",
        ]
    )


@pytest.mark.anyio
async def test_expect_refuses_anything_but_tools_and_coroutine_functions() -> None:
    with pytest.raises(TypeError, match="a tool of a fixture, or a coroutine function, not <built-in"):
        expect(print)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("answer", "expected", "met"),
    [
        ({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"c": 2}}, True),
        ({"a": "Tonight at eight"}, {"a": "Tonight"}, False),
        ("Tonight at eight", "Tonight", True),
        ([{"id": 1, "name": "x"}, {"id": 2, "name": "y"}], {"name": "y"}, True),
        ([{"id": 1, "name": "x"}], [{"id": 1}, {"id": 2}], False),
        (None, {"a": 1}, False),
    ],
)
async def test_to_include_matches_partial_answers(answer: object, expected: object, met: bool) -> None:
    async def call() -> object:
        return answer

    if met:
        await expect(call).to_include(expected)
        with pytest.raises(AssertionError, match="not to include"):
            await expect(call).within(0.05).not_to_include(expected)
    else:
        with pytest.raises(AssertionError, match="to include"):
            await expect(call).within(0.05).to_include(expected)
        await expect(call).not_to_include(expected)


def test_pytest_help_lists_the_options(project: Project) -> None:
    displayed = "\n".join(project.run("--help").outlines)

    for option in ("--mcp-server", "--mcp-module", "--mcp-own-server", "--mcp-headed", "--mcp-log-dir"):
        assert option in displayed


@pytest.mark.slow
def test_typed_client_and_browser_fixtures(project: Project) -> None:
    project.write(
        """
        from footlight import MCPClient, PlaywrightClient

        @pytest.mark.anyio
        async def test_both(mcp_client, browser_session):
            assert isinstance(mcp_client, MCPClient)
            async with asyncio.timeout(30):
                await mcp_client.ping()
            assert "navigate" in [tool.name for tool in await mcp_client.list_tools()]

            assert isinstance(browser_session, PlaywrightClient)
            with pytest.raises(Exception, match="http"):
                await browser_session.navigate("ftp://nowhere")
            assert (await browser_session.get_snapshot()).snapshot.startswith('{"role":"document"')
        """
    )

    project.run().assert_outcomes(passed=1)


FAILING = """
@pytest.mark.anyio
async def test_fails(mcp):
    assert await headline(mcp) == "Yesterday"

@pytest.mark.anyio
async def test_passes(mcp):
    assert await headline(mcp) == "Tonight"
"""


@pytest.mark.slow
def test_failure_report_shows_calls_and_page(project: Project) -> None:
    """In a process of xdist's, whose reports come over a wire."""
    project.write(FAILING)
    project.folder.joinpath("conftest.py").write_text(TAKES_PICTURES)

    ran = project.run("-n", "1")

    ran.assert_outcomes(passed=1, failed=1)
    ran.stdout.fnmatch_lines(
        [
            "*AssertionError: assert 'Tonight' == 'Yesterday'",
            "*- mcp calls -*",
            '{"name":"create_session","arguments":{},"_phase":"before","_seq":1}',
            '{"name":"get_text",*"selector":"h1"*"_phase":"after",*"_ok":true*',
            "*- mcp page -*",
            'e1 h1 "Tonight"',
            "*- mcp report -*",
            "*- mcp screenshot -*",
        ],
    )
    (report,) = (line for line in ran.outlines if line.endswith("test_it-test_fails.html"))
    assert "get_text" in Path(report).read_text()
    (displayed,) = (line for line in ran.outlines if line.endswith("test_it-test_fails.png"))
    assert Path(displayed).read_bytes().startswith(b"\x89PNG")
    assert json.loads((project.folder / "extras.json").read_text()) == {
        "name": "mcp screenshot",
        "format_type": "image",
        "content": "iVBORw0K",
        "mime_type": "image/png",
        "extension": "png",
    }


def test_failed_call_shows_only_lines_of_the_test(project: Project) -> None:
    """Nor of a generated module. With --full-trace all of it."""
    generated = GENERATED.format(python=sys.executable, server=str(SMALL))
    project.folder.joinpath("mcp_tools.py").write_text(generated)
    project.configure("mcp_module = mcp_tools.py")
    project.write(
        """
        @pytest.mark.anyio
        async def test_fails(mcp):
            await mcp.call("echo", {"a": object()})

        @pytest.mark.anyio
        async def test_fails_inside(mcp):
            try:
                await mcp.call("echo", {"a": object()})
            except Exception as error:
                raise ValueError("mine") from error
        """
    )

    short, whole = project.run(), project.run("--full-trace")

    short.assert_outcomes(failed=2)
    short.stdout.fnmatch_lines(
        [
            '>*await mcp.call("echo", {"a": object()})',
            "E *MCPError: *cannot be written as JSON*",
            "E *ValueError: mine",
        ]
    )
    displayed = [line for line in short.outlines if line.endswith(("Error", "Error:")) and ".py:" in line]
    assert [line.partition(":")[0] for line in displayed] == ["test_it.py"] * 3
    whole.stdout.fnmatch_lines(["*invoker.py:*"])


@pytest.mark.slow
def test_unwritable_log_folder_does_not_end_the_run(project: Project) -> None:
    project.write(FAILING)
    project.folder.joinpath("file").write_text("")

    ran = project.run("--mcp-log-dir=file/logs", "-W", "ignore")

    ran.stdout.no_fnmatch_line("*INTERNALERROR*")
    assert sum(ran.parseoutcomes().values()) >= 2


@pytest.mark.slow
def test_read_only_log_folder_is_named_with_its_option(project: Project) -> None:
    project.write(FAILING)
    project.folder.joinpath("calls/test_it-test_passes.jsonl").mkdir(
        parents=True
    )  # Cannot be removed as a file.

    ran = project.run("--mcp-log-dir=calls", "-k", "passes", small=True)

    ran.assert_outcomes(errors=1, deselected=1)
    ran.stdout.fnmatch_lines(["E *UsageError: --mcp-log-dir: *test_passes.jsonl cannot be replaced: *"])


UNPAIRED = """
import sys
sys.path.insert(0, {folder!r})
import small_server

answer = small_server.answer
def answer_with_surrogates(method, params):
    text = [{{"type": "text", "text": "half \\ud800"}}]
    called = method == "tools/call" and params["name"]
    return {{"content": text, "isError": called == "echo"}} if called else answer(method, params)

small_server.answer = answer_with_surrogates
small_server.main()
"""


@pytest.mark.slow
def test_unpaired_surrogates_of_a_server_do_not_end_a_run_of_xdist(project: Project) -> None:
    project.folder.joinpath("server.py").write_text(UNPAIRED.format(folder=str(SMALL.parent)))
    project.write("""
        @pytest.mark.anyio
        async def test_fails(mcp):
            await mcp.root.echo()
    """)

    ran = project.run("-n", "1", f"--mcp-server={sys.executable} server.py")

    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["E *half [?]", "*- mcp page -*", "half [?]"])


@pytest.mark.slow
def test_full_trace_shows_no_credentials_of_the_server(project: Project) -> None:
    project.write("def test_it(sync_mcp): pass")
    server = "http://me:passw0rd@127.0.0.1:9/mcp"

    ran = project.run("--full-trace", f"--mcp-server={server}", "--mcp-header=X-Key: s3cret")

    ran.assert_outcomes(errors=1)
    ran.stdout.no_fnmatch_line("*passw0rd*")
    ran.stdout.no_fnmatch_line("*options=*s3cret*")


TAKES_PICTURES = """
import json, pathlib

class Html:
    def pytest_runtest_logreport(self, report):
        for extra in getattr(report, "extras", []):
            shown = {**extra, "content": extra["content"][:8]}
            pathlib.Path("extras.json").write_text(json.dumps(shown))

def pytest_configure(config):
    config.pluginmanager.register(Html(), "html")
"""
"""Reads of a report what pytest-html does."""


@pytest.mark.slow
def test_test_logs_are_kept_on_request_and_not_printed(project: Project) -> None:
    project.write(FAILING)
    project.configure("mcp_log_dir = calls")

    passes = project.run("-rA", "-k", "passes")
    fails = project.run("-k", "fails")

    passes.assert_outcomes(passed=1, deselected=1)
    passes.stdout.no_fnmatch_line("*_phase*")
    fails.assert_outcomes(failed=1, deselected=1)
    log = project.folder / "calls/test_it-test_passes.jsonl"
    calls = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(call["name"], call["_phase"]) for call in calls] == [
        (name, phase)
        for name in ("create_session", "navigate", "get_text", "close_session")
        for phase in ("before", "after")
    ]
    assert {path.name for path in log.parent.iterdir()} == {
        *(f"test_it-test_fails.{ending}" for ending in ("html", "jsonl", "png", "txt")),
        "test_it-test_passes.jsonl",
    }
    if sys.platform != "win32":  # They contain what was typed.
        assert {path.stat().st_mode & 0o777 for path in log.parent.iterdir()} == {0o600}


NOTED = """
import psutil

def note():
    with open("pids", "a") as file:
        print(*[child.pid for child in psutil.Process().children(recursive=True)], file=file)
"""

OUT_OF_TIME = "signal.setitimer(signal.ITIMER_REAL, 0.3)  # pytest-timeout's own, which does not wait so long"

ENDS = f"""
@pytest.mark.RUNNER
async def test_fails(mcp):
    note()
    assert False

@pytest.mark.RUNNER
async def test_is_cancelled(mcp):
    note()
    asyncio.current_task().cancel()
    await asyncio.sleep(0)

@pytest.mark.RUNNER
async def test_takes_too_long(mcp):
    note()
    {OUT_OF_TIME}
    await asyncio.Event().wait()

@pytest.mark.RUNNER
async def test_calls_for_too_long(mcp):
    note()
    {OUT_OF_TIME}
    await mcp.root.never()

@pytest.mark.RUNNER
async def test_closes_by_itself(mcp):
    note()
    await mcp.close()
"""


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["anyio", "asyncio"])
def test_no_process_is_left_after_any_test_outcome(project: Project, runner: str) -> None:
    project.write(NOTED + ENDS.replace("RUNNER", runner))

    ran = project.run(small=True)

    ran.assert_outcomes(passed=1, failed=4)
    ran.stdout.fnmatch_lines_random(["*CancelledError*", "*Timeout (*) from pytest-timeout*"])
    assert len(project.read_noted_processes()) == 5
    assert project.find_running() == set()


BROWSED = f"""
async def browsed(mcp):
    await mcp.root.navigate(url=PAGE)
    note()

@pytest.mark.anyio
async def test_fails(mcp):
    await browsed(mcp)
    assert False

@pytest.mark.anyio
async def test_calls_for_too_long(mcp):
    await browsed(mcp)
    {OUT_OF_TIME}
    await mcp.root.wait_for(text="what never comes")

@pytest.mark.anyio
async def test_is_interrupted(mcp):
    await browsed(mcp)
    signal.raise_signal(signal.SIGINT)
    await asyncio.sleep(0)
"""


@pytest.mark.slow
def test_no_browser_is_left_after_any_test_outcome(project: Project) -> None:
    project.write(NOTED + BROWSED)

    ran = project.run()

    ran.assert_outcomes(failed=2)
    ran.stdout.fnmatch_lines(["*! KeyboardInterrupt !*"])
    assert (
        len(project.read_noted_processes()) > 6
    )  # Three times: the server, Playwright's driver, the browser.
    assert project.find_running() == set()


@pytest.mark.slow
def test_a_cancelled_wait_cancels_the_call(project: Project) -> None:
    project.write(
        """
        @pytest.mark.anyio
        async def test_gives_up(mcp, mcp_client):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await mcp.root.never()
            assert await mcp.root.echo(still="there") == {"still": "there"}
        """
    )

    project.run(small=True).assert_outcomes(passed=1)

    assert "notifications/cancelled" in project.read_notes()


def test_server_crash_is_not_reported_as_a_second_failure(project: Project) -> None:
    project.write(
        """
        @pytest.mark.anyio
        async def test_dies(mcp):
            await mcp.root.die()
        """
    )

    ran = project.run(small=True)

    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(
        [
            "E *MCPConnectionError: The server ended with exit code 3",
            '{"name":"die",*"_ok":false,*"_error":"The server ended with exit code 3","_seq":1}',
            "*- mcp evidence -*",
            "no snapshot and no screenshot: the connection to the server is lost",
        ]
    )


DIES_UNSEEN = """
@pytest.mark.anyio
async def test_dies_unseen(mcp):
    import psutil
    assert await headline(mcp) == "Tonight"
    psutil.Process().children()[0].kill()
    assert {passes}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("passes", "outcome"), [(True, {"passed": 1, "warnings": 1}), (False, {"failed": 1})]
)
def test_failed_session_close_is_a_warning(project: Project, passes: bool, outcome: dict[str, int]) -> None:
    project.write(DIES_UNSEEN.format(passes=passes))

    ran = project.run("-W", "default")

    ran.assert_outcomes(**outcome)
    ran.stdout.fnmatch_lines(["*The session could not be closed: The server was ended by SIGKILL*"])


IMPATIENT = """
from footlight.testing import connections, watched_test

connections.CLOSE_SECONDS = watched_test.CLOSE_SECONDS = watched_test.EVIDENCE_SECONDS = 1.0
"""


@pytest.mark.slow
def test_hanging_server_is_terminated(project: Project) -> None:
    project.folder.joinpath("conftest.py").write_text(IMPATIENT)
    project.write(
        f"""{NOTED}
@pytest.mark.anyio
async def test_hangs(mcp):
    assert await headline(mcp) == "Tonight"
    note()
    psutil.Process().children()[0].suspend()
    assert False
"""
    )

    ran = project.run()

    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(
        [
            "*- mcp evidence -*",
            "no snapshot*",
            "*- mcp teardown -*",
            "The server did not close its session within 1 s and was ended",
        ]
    )
    assert project.find_running() == set()


@pytest.mark.slow
def test_session_is_closed_after_a_failed_setup(project: Project) -> None:
    project.write(
        """
        @pytest.fixture
        def broken(mcp):
            raise RuntimeError("broken")

        def test_never_runs(broken):
            pass
        """
    )

    ran = project.run(small=True)

    ran.assert_outcomes(errors=1)
    ran.stdout.fnmatch_lines(["E *RuntimeError: broken", "*- mcp page -*", 'heading "Small"'])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--mcp-server=no-such-command"], "*The command 'no-such-command' was not found*"),
        (
            ["--mcp-server=http://127.0.0.1:9/mcp", "--mcp-headed"],
            "*already running; start it with --headed*",
        ),
        (
            ["--mcp-server=node cli.js", "--mcp-headed"],
            "*add an option of that server to --mcp-server*",
        ),
        (["--mcp-server=node cli.js", "--mcp-header=A: b"], "*--mcp-header is for a server with a URL*"),
        (["--mcp-server=http://127.0.0.1:9/mcp", "--mcp-header=s3cret"], "*--mcp-header must be NAME:VALUE*"),
        (
            ["--mcp-server=http://127.0.0.1:9/mcp", "--mcp-header=A: ${NO_SUCH}"],
            "*--mcp-header: the environment variable NO_SUCH is not set*",
        ),
        (["--mcp-module=nowhere"], "*there is no module nowhere; name its file instead*"),
        (["--mcp-module=test_it.py"], "*test_it.py has no mcp_connect: it was not written by*"),
        (["-o", "mcp_adapter=hand"], "*mcp_adapter: 'hand' is not one of szkrabok, browser, none*"),
    ],
    ids=str,
)
def test_invalid_option_is_reported(project: Project, options: list[str], said: str) -> None:
    project.write(
        """
        def test_it(mcp):
            pass
        """
    )

    ran = project.run(*options)

    ran.assert_outcomes(errors=1)
    ran.stdout.fnmatch_lines([said])


GENERATED = """
from footlight.client.handles.adapters import no_session
from footlight.client.handles import Handle, connect

REGISTRY_HASH = "0" * 12
SERVER = [{python!r}, {server!r}]

class McpHandle(Handle):
    def __init__(self, bound):
        super().__init__(bound)
        self.session_name = bound.session_name

def mcp_connect(session_name, adapter=no_session, *, server=SERVER, log=None, timeout_ms=None):
    return connect(McpHandle, session_name, adapter=adapter, server=server, log=log, timeout_ms=timeout_ms)
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("module", ["mcp_tools.py", "mcp_tools"])
def test_a_generated_module_gives_its_own_handle(project: Project, module: str) -> None:
    generated = GENERATED.format(python=sys.executable, server=str(SMALL))
    project.folder.joinpath("mcp_tools.py").write_text(generated)
    project.configure(f"mcp_module = {module}\nmcp_session = box-office")
    project.write(
        """
        from mcp_tools import McpHandle

        @pytest.mark.anyio
        async def test_typed(mcp):
            assert isinstance(mcp, McpHandle)
            assert mcp.session_name == "box-office"
            assert (await mcp.call("echo", {"a": 1})).text == '{"a": 1}'

        @pytest.mark.anyio
        async def test_connection(mcp_client):
            assert (await mcp_client.call("echo", {"a": 1})).text == '{"a": 1}'
        """
    )

    project.run().assert_outcomes(passed=2)


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.skipif(ENGINE != "chromium", reason="profiles are Chromium's")
async def test_tests_leave_no_unnamed_session_on_a_remote_server(project: Project) -> None:
    """Unless the session was named."""
    generated = GENERATED.format(python=sys.executable, server=str(SMALL))
    module = project.folder / "mcp_tools.py"
    module.write_text(generated.replace("no_session", "szkrabok_session"))
    project.write("def test_opens(mcp): pass")
    profiles = project.folder / "profiles"

    async with listening("http", "--toolset", "szkrabok", "--sessions-dir", str(profiles)) as url:
        left: list[list[str]] = []
        for options in ([], ["--mcp-module=mcp_tools.py"], ["--mcp-session=box-office"]):
            ran = await anyio.to_thread.run_sync(project.run, f"--mcp-server={url}/mcp", *options)
            ran.assert_outcomes(passed=1)
            left.append([path.name for path in profiles.iterdir() if path.is_dir()])

    assert left == [[], [], ["box-office"]]


def test_plugin_imports_nothing_heavy_before_a_fixture_is_used() -> None:
    script = "import sys, footlight.pytest_plugin; print(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True
    )

    loaded = {name.partition(".")[0] for name in ran.stdout.split()}
    assert loaded.isdisjoint({"playwright", "mcp", "mcp_types", "pydantic", "anyio", "httpx2"})
    assert "footlight.client" not in ran.stdout.split()


@pytest.mark.slow
def test_failure_report_works_with_another_browser_server(project: Project) -> None:
    project.write(
        """
        @pytest.mark.anyio
        async def test_fails(mcp):
            await mcp.root.browser_navigate(url=PAGE)
            assert False
        """
    )
    config = config_of("@playwright/mcp", "--output-dir", str(project.folder / "output"))
    command = shlex.join([config.server_command, *config.server_args])

    ran = project.run(f"--mcp-server={command}", "--mcp-log-dir=calls")

    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["*- mcp page -*", '*heading "Tonight"*', "*- mcp screenshot -*", "*.png"])
