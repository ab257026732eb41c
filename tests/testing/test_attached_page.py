"""Tests that run in the page of a session, as `browser.run_test` starts them."""

from __future__ import annotations

import json
import sys
import urllib.request
from collections.abc import Generator
from pathlib import Path
from textwrap import dedent
from urllib.parse import quote

import pytest

from footlight import sync

pytest_plugins = ["pytester"]

LIMIT_SECONDS = 90.0
PAGE = (
    "data:text/html,<title>Box</title>"
    '<button onclick="this.textContent = Number(this.textContent) + 1">0</button>'
)


class Session:
    """A browser with a page in it, which a server of ours has started."""

    name = "box-office"

    def __init__(self, client: sync.MCPClient) -> None:
        self._client = client
        self.call("session.open")
        self.call("nav.goto", url=PAGE)
        self.endpoint = json.loads(self.call("session.endpoint"))["http"]

    def call(self, tool: str, **arguments: str) -> str:
        return self._client.call_tool(tool, {"sessionName": self.name, **arguments}).text

    def open_another(self, title: str) -> None:
        page = quote(f"data:text/html,<title>{title}</title>", safe="")
        request = urllib.request.Request(f"{self.endpoint}/json/new?{page}", method="PUT")
        urllib.request.urlopen(request, timeout=LIMIT_SECONDS).close()

    def targets(self) -> dict[str, str]:
        """Return the ids of its pages, by their titles."""
        with urllib.request.urlopen(f"{self.endpoint}/json/list", timeout=LIMIT_SECONDS) as answer:
            return {page["title"]: page["id"] for page in json.load(answer) if page["type"] == "page"}


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Session]:
    command = [sys.executable, "-m", "footlight", "serve", "--toolset", "szkrabok", "--log-level", "warn"]
    with sync.MCPClient([*command, "--sessions-dir", str(tmp_path / "sessions")]) as client:
        opened = Session(client)
        monkeypatch.setenv("FOOTLIGHT_CDP_ENDPOINT", opened.endpoint)
        yield opened


def run(pytester: pytest.Pytester, tests: str, *arguments: str) -> pytest.RunResult:
    pytester.makepyfile(test_it=dedent(tests))
    scope = "asyncio_default_fixture_loop_scope=function"
    options = ("-p", "no:hypothesispytest", "-o", scope, "-W", "error")
    return pytester.runpytest_subprocess(*options, *arguments, timeout=LIMIT_SECONDS)


@pytest.mark.slow
def test_attached_page_suits_any_test_runner_and_stays_open(
    pytester: pytest.Pytester, session: Session
) -> None:
    ran = run(
        pytester,
        """
        import pytest

        @pytest.fixture
        def anyio_backend():
            return "asyncio"

        def test_one(attached_page):
            attached_page.get_by_role("button").click()

        @pytest.mark.anyio
        async def test_two(attached_page):
            await attached_page.get_by_role("button").click()

        @pytest.mark.asyncio(loop_scope="module")
        async def test_three(attached_page):
            await attached_page.get_by_role("button").click()

        class TestClass:
            @pytest.mark.anyio
            async def test_four(self, attached_page, run_params):
                await attached_page.get_by_role("button").click()

        def test_five(attached_page):
            attached_page.get_by_role("button").click()
            assert False
        """,
    )

    ran.assert_outcomes(passed=4, failed=1)
    assert session.call("extract.text", selector="button") == "5"


@pytest.mark.slow
def test_named_target_is_used_among_several_pages(
    pytester: pytest.Pytester, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.open_another("Other")
    monkeypatch.setenv("THE_BOX", session.targets()["Box"])

    ran = run(
        pytester,
        """
        import os
        import pytest

        @pytest.fixture
        def target(request, monkeypatch):
            if request.param is not None:
                monkeypatch.setenv("FOOTLIGHT_CDP_TARGET", request.param)

        @pytest.mark.parametrize("target", [None, os.environ["THE_BOX"], "no-such-target"], indirect=True)
        def test_the_page(target, attached_page):
            attached_page.get_by_role("button").click()
        """,
    )

    ran.assert_outcomes(passed=1, errors=2)
    ran.stdout.fnmatch_lines(
        [
            "E *LookupError: The browser at * has 2 pages; name one*",
            "E *LookupError: The browser at * has no page no-such-target",
        ]
    )


def test_missing_browser_error_names_the_remedy(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FOOTLIGHT_CDP_ENDPOINT", raising=False)

    ran = run(pytester, "def test_it(attached_page): pass")

    ran.assert_outcomes(errors=1)
    ran.stdout.fnmatch_lines(["attached_page: there is no browser to attach to. Start the test with*"])
