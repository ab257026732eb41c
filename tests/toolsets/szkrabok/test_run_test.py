"""The tool `browser.run_test`: tests of the server's folder, in the browser of the session."""

from __future__ import annotations

import asyncio
import textwrap
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio
import psutil
import pytest
from starlette.requests import Request
from starlette.responses import Response

from footlight.config.loading import load_settings
from footlight.toolsets.szkrabok.test_run import sort_by_likeness
from tests.conftest import connect_browser
from tests.site import Site
from tests.toolsets.szkrabok.conftest import Named, make_name

pytestmark = pytest.mark.anyio

ATTACHED = """
    def test_accept_cookies(attached_page, record_result):
        attached_page.click("button")
        record_result({"title": attached_page.title()})

    def test_unrelated():
        raise AssertionError("this one is not to run")
"""

ENDLESS = """
    import subprocess, sys, urllib.request

    def test_for_ever():
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        urllib.request.urlopen(f"{url}?pid={{child.pid}}").close()
        child.wait()
"""


class Started:
    """Hears on a URL of the site which process a test has started."""

    def __init__(self, site: Site) -> None:
        self._pid: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.url = site.route(self._hear)

    async def _hear(self, request: Request) -> Response:
        self._pid.set_result(int(request.query_params["pid"]))
        return Response()

    async def pid(self) -> int:
        async with asyncio.timeout(20):
            return await self._pid


async def test_test_works_in_the_open_page(named: Named) -> None:
    named.test_file(ATTACHED)
    await named.show("<title>Before</title><button onclick=\"document.title = 'After'\">Accept</button>")

    run = await named.call("browser.run_test", grep="accept_cookies")

    assert "1 passed" in run.pop("log")
    assert run == {
        "passed": 1,
        "failed": 0,
        "skipped": 0,
        "tests": [{"title": "test_accept_cookies", "status": "passed", "result": {"title": "After"}}],
    }


@pytest.mark.slow
async def test_session_continues_in_the_state_the_test_left(named: Named) -> None:
    named.test_file(ATTACHED)
    url = await named.show(
        "<title>Before</title><button onclick=\"document.title = 'After'\">Accept</button>"
    )

    for _ in range(2):
        assert (await named.call("browser.run_test", grep="accept_cookies"))["passed"] == 1

    assert await named.call("extract.evaluate", expression="[location.href, document.title]") == {
        "result": [url, "After"]
    }


@pytest.mark.slow
async def test_test_uses_the_active_page_of_the_session(named: Named) -> None:
    named.test_file("""
        def test_where(attached_page, record_result):
            record_result(attached_page.title())
    """)
    popup = named.site.page("<title>Second</title>")
    await named.show(f"<title>First</title><a href={popup} target=_blank>open</a>")
    opened = await named.call("interact.click", selector="a")

    first = await named.call("browser.run_test")
    second = await named.call("browser.run_test", pageId=opened["newPages"][0]["pageId"])

    assert [run["tests"][0]["result"] for run in (first, second)] == ["First", "Second"]


@pytest.mark.slow
async def test_dialogs_are_handled_by_the_running_test(named: Named) -> None:
    named.test_file("""
        def test_asks(attached_page, record_result):
            attached_page.on("dialog", lambda dialog: dialog.accept("tea"))
            record_result(attached_page.evaluate("prompt('What?')"))
    """)
    await named.show("<p>Ask</p>")

    assert (await named.call("browser.run_test"))["tests"][0]["result"] == "tea"
    asked = await named.call("extract.evaluate", expression="prompt('What?')")
    assert (asked["result"], asked["dialogs"][0]["handled"]) == (None, "dismissed")


async def test_every_test_outcome_is_reported(named: Named) -> None:
    named.test_file("""
        import pytest

        def test_right():
            pass

        def test_wrong():
            assert "tea" == "milk"

        @pytest.mark.skip(reason="no milk")
        def test_left_out():
            pass
    """)

    run = await named.call("browser.run_test")

    assert {key: run[key] for key in ("passed", "failed", "skipped")} == {
        "passed": 1,
        "failed": 1,
        "skipped": 1,
    }
    ends = {test["title"]: (test["status"], test.get("error", "")) for test in run["tests"]}
    assert ends["test_right"] == ("passed", "")
    assert ends["test_wrong"][0] == "failed"
    assert "milk" in ends["test_wrong"][1]
    assert ends["test_left_out"][0] == "skipped"
    assert "no milk" in ends["test_left_out"][1]


@pytest.mark.slow
async def test_parameters_are_passed_to_the_test(named: Named) -> None:
    named.test_file("""
        import os

        def test_parameters(run_params, record_result):
            record_result([os.environ["FOOTLIGHT_PARAM_CITY"], os.environ["FOOTLIGHT_SESSION_NAME"]])
    """)

    run = await named.call("browser.run_test", params={"city": "Köln"})

    assert run["tests"][0]["result"] == ["Köln", named.name]


@pytest.mark.slow
async def test_parameters_that_differ_only_in_case_are_distinct(named: Named) -> None:
    named.test_file("""
        def test_parameters(run_params, record_result):
            record_result(run_params)
    """)
    params = {"a": "small", "A": "large", "A_1": "numbered", "camelCase": "mixed"}

    run = await named.call("browser.run_test", params=params)

    assert run["tests"][0]["result"] == params


async def test_parameter_name_invalid_as_variable_is_refused(named: Named) -> None:
    error = await named.refused("browser.run_test", params={"a=b": "c"})

    assert error["code"] == "INVALID_PARAMETER"


async def test_grep_without_match_is_reported_with_closest_tests(named: Named) -> None:
    named.test_file(ATTACHED)

    error = await named.refused("browser.run_test", grep="acceptAllCookies")

    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"] == (
        "grep: no test matches 'acceptAllCookies'; closest: test_accept_cookies, test_unrelated; there are 2"
    )
    assert error["details"]["tests"] == ["test_accept_cookies", "test_unrelated"]


@pytest.mark.slow
async def test_invalid_grep_expression_is_refused(named: Named) -> None:
    named.test_file(ATTACHED)

    error = await named.refused("browser.run_test", grep="and and")

    assert (error["code"], error["message"]) == (
        "INVALID_PARAMETER",
        "grep: 'and and' is not a valid expression",
    )


@pytest.mark.slow
async def test_unimportable_test_file_is_a_failure_of_the_run(named: Named) -> None:
    named.test_file("import there_is_no_such_module")

    run = await named.call("browser.run_test")

    assert (run["passed"], run["failed"]) == (0, 1)
    assert "there_is_no_such_module" in run["log"]


@pytest.mark.slow
async def test_run_timeout_ends_the_run_and_its_processes(named: Named) -> None:
    started = Started(named.site)
    named.test_file(ENDLESS.format(url=started.url))

    error = await named.refused("browser.run_test", timeout=4000)

    assert error["code"] == "TIMEOUT"
    assert error["retryable"] is False
    assert await is_gone(await started.pid())
    assert await named.call("nav.goto", url="about:blank")


@pytest.mark.slow
async def test_cancelled_call_ends_the_run(named: Named) -> None:
    started = Started(named.site)
    named.test_file(ENDLESS.format(url=started.url))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(named.answer, "browser.run_test"))
        pid = await started.pid()
        tasks.cancel_scope.cancel()

    assert await is_gone(pid)
    assert (await named.call("nav.goto", url="about:blank"))["url"] == "about:blank"


@pytest.mark.slow
async def test_a_run_ends_with_the_server(site: Site, tmp_path: Path) -> None:
    started, folder = Started(site), tmp_path / "tests"
    folder.mkdir()
    (folder / "test_them.py").write_text(textwrap.dedent(ENDLESS.format(url=started.url)), "utf-8")
    flags = ("--toolset", "szkrabok", "--tests-dir", str(folder))

    async with connect_browser(site, *flags, cwd=tmp_path) as server, anyio.create_task_group() as tasks:
        await server.answer("session.open", sessionName=make_name())
        names = (await server.answer("health")).structured_content
        assert names is not None
        run = partial(server.answer, "browser.run_test", sessionName=names["openSessions"][0])
        tasks.start_soon(run)
        pid = await started.pid()
        tasks.cancel_scope.cancel()

    assert await is_gone(pid)


@pytest.mark.slow
async def test_secret_is_passed_only_to_the_test(site: Site, tmp_path: Path) -> None:
    folder, secrets = tmp_path / "tests", tmp_path / "secrets"
    folder.mkdir()
    secrets.write_text("WORD=swordfish\n", "utf-8")
    secrets.chmod(0o600)
    source = """
        def test_word(run_params, record_result):
            record_result(run_params["word"])
            assert run_params["word"] == ""
    """
    (folder / "test_them.py").write_text(textwrap.dedent(source), "utf-8")
    flags = ("--toolset", "szkrabok", "--tests-dir", str(folder), "--secrets", str(secrets))
    name = make_name()
    async with connect_browser(site, *flags, cwd=tmp_path) as server:
        await server.answer("session.open", sessionName=name)
        params = {"word": "secret:WORD"}
        answer = await server.answer("browser.run_test", sessionName=name, params=params)

    assert answer.structured_content is not None
    assert answer.structured_content["tests"][0]["result"] == "[secret WORD]"
    assert "swordfish" not in answer.model_dump_json()


@pytest.mark.slow
async def test_processes_left_by_a_test_are_ended(named: Named) -> None:
    started = Started(named.site)
    named.test_file(ENDLESS.format(url=started.url).replace("child.wait()", ""))

    assert (await named.call("browser.run_test", timeout=30_000))["passed"] == 1
    assert await is_gone(await started.pid())


@pytest.mark.slow
async def test_standard_input_of_a_test_is_empty(named: Named) -> None:
    named.test_file("""
        import os

        def test_reads():
            assert os.read(0, 1) == b""
    """)

    assert (await named.call("browser.run_test"))["passed"] == 1
    assert (await named.call("health"))["status"] == "ok"


@pytest.mark.slow
async def test_long_log_is_truncated_to_its_end(named: Named) -> None:
    named.test_file("""
        def test_talks():
            for number in range(20_000):
                print("line", number)
            raise AssertionError
    """)

    log = (await named.call("browser.run_test"))["log"]

    assert log.startswith("[cut, the end of ")
    assert "1 failed" in log
    assert len(log) < 8_100


@pytest.mark.slow
async def test_other_calls_of_the_session_wait_for_the_run(named: Named) -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def wait(_: Request) -> Response:
        asked.set()
        await go_on.wait()
        return Response()

    named.test_file(f"""
        import urllib.request

        def test_waits():
            urllib.request.urlopen("{named.site.route(wait)}").close()
    """)
    async with asyncio.timeout(40), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(named.call("browser.run_test"))
        await asked.wait()
        error = await named.refused("nav.goto", url="about:blank", timeout=200)
        go_on.set()

    assert (error["code"], error["details"]["dispatched"]) == ("TIMEOUT", False)
    assert running.result()["passed"] == 1


@pytest.mark.slow
async def test_run_without_a_test_folder_is_refused(site: Site, tmp_path: Path) -> None:
    async with connect_browser(site, "--toolset", "szkrabok", cwd=tmp_path) as server:
        await server.answer("session.open", sessionName=(name := make_name()))
        answer = await server.answer("browser.run_test", sessionName=name, grep="any")

    assert answer.is_error
    assert answer.meta is not None
    error = answer.meta["footlight/error"]
    assert (error["code"], error["details"]) == ("PERMISSION_DENIED", {"setting": "tests.directory"})
    assert "--tests-dir" in error["suggestion"]


def test_variables_passed_to_a_test_are_not_server_settings() -> None:
    load_settings(environment={"FOOTLIGHT_SESSION_NAME": "x", "FOOTLIGHT_CDP_ENDPOINT": "http://127.0.0.1:1"})


def test_closest_names_ignore_how_words_are_joined() -> None:
    titles = ["test_login", "test_accept_cookies", "test_logout"]

    assert sort_by_likeness("acceptCookies", titles)[0] == "test_accept_cookies"
    assert sort_by_likeness("log-out", titles)[0] == "test_logout"


async def is_gone(pid: int) -> bool:
    """Return whether a process has ended, for which it has a moment."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        with suppress(psutil.TimeoutExpired):
            await asyncio.to_thread(process.wait, 5)
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    return True
