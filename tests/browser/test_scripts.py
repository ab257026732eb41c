"""Our own scripts in a page: in an isolated world, also where the page changes or the script fails."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest
from playwright.async_api import Locator, Page

from footlight.browser.context.options import SessionOptions
from footlight.browser.driver.playwright_api import (
    Error,
    PlaywrightTimeout,
    is_too_large,
    was_editing,
)
from footlight.browser.driver.scripts import run, run_about, run_about_all, run_about_handle
from footlight.browser.sessions.engine import Engine
from footlight.caller import LOCAL
from footlight.config import BrowserSettings, PoolSettings, Settings
from tests.conftest import ENGINE

pytestmark = pytest.mark.anyio

TEXTS = "(elements, more) => [typeof own, ...elements.map(each => each.textContent), ...more]"
BUSY = f"""(elements, more) => {{
  for (const end = performance.now() + 2_500; performance.now() < end;);
  return ({TEXTS})(elements, more);
}}"""


@pytest.fixture(scope="module")
async def shared_page(anyio_backend: str) -> AsyncGenerator[Page]:
    engine = Engine(
        Settings(browser=BrowserSettings.model_validate({"type": ENGINE}), pool=PoolSettings(minBrowsers=1))
    )
    engine.start()
    session = await (await engine.sessions()).create(SessionOptions(), caller=LOCAL)
    yield (await session.page_table.get()).playwright
    await engine.close()


@pytest.fixture
async def page(shared_page: Page) -> Page:
    """A page with a variable of its own, which an isolated world does not have."""
    await shared_page.goto("about:blank")
    await shared_page.set_content("<script>var own = 1</script><p>one</p><p>two</p>")
    return shared_page


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("change", "texts"),
    [
        ("document.querySelector('p').remove()", ["two"]),
        ("for (const each of document.querySelectorAll('p')) each.remove()", []),
        ("document.body.innerHTML = '<p>new</p>'", ["new"]),
        ("data:text/html,<p>elsewhere</p>", ["elsewhere"]),
    ],
)
async def test_script_about_all_matches_reads_those_after_a_change(
    page: Page, monkeypatch: pytest.MonkeyPatch, change: str, texts: list[str]
) -> None:
    count = Locator.count
    changes = [change]

    async def count_and_change(found: Locator) -> int:
        counted = await count(found)
        if changes:
            change = changes.pop()
            await (page.goto(change) if change.startswith("data:") else page.evaluate(change))
        return counted

    monkeypatch.setattr(Locator, "count", count_and_change)

    assert await run_about_all(page.locator("p"), TEXTS, ["more"]) == ["undefined", *texts, "more"]


@pytest.mark.slow
async def test_slow_script_about_all_matches_is_waited_for(page: Page) -> None:
    assert await run_about_all(page.locator("p"), BUSY, []) == ["undefined", "one", "two"]
    assert await run_about_all(page.locator("h1"), TEXTS, ["more"]) == ["undefined", "more"]


RUNS: dict[str, Callable[[Page, str, Any], Any]] = {
    "page": lambda page, script, argument: run(page, f"given => ({script})(null, given)", argument),
    "element": lambda page, script, argument: run_about(
        page.locator("p").first, script, argument, timeout_ms=30_000
    ),
    "elements": lambda page, script, argument: run_about_all(page.locator("p"), script, argument),
}


@pytest.mark.parametrize("subject", RUNS)
async def test_a_failing_script_is_not_run_again_in_the_world_of_the_page(page: Page, subject: str) -> None:
    with pytest.raises(Error, match="Our script failed: Error: undefined"):
        await RUNS[subject](page, "() => { throw new Error(typeof own); }", None)


async def test_too_many_values_are_refused_and_not_read_in_the_world_of_the_page(page: Page) -> None:
    for subject in RUNS:
        with pytest.raises(Error) as raised:
            await RUNS[subject](page, "() => Array(150_001).fill(0)", None)
        assert is_too_large(raised.value)
    assert len(await RUNS["page"](page, "() => Array(140_000).fill(0)", None)) == 140_000


@pytest.mark.slow
@pytest.mark.parametrize("subject", RUNS)
async def test_too_long_a_reply_is_refused_and_not_read_in_the_world_of_the_page(
    page: Page, subject: str
) -> None:
    with pytest.raises(Error) as raised:
        await RUNS[subject](page, "() => typeof own + 'x'.repeat(33_600_000)", None)
    assert is_too_large(raised.value)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("subject", RUNS)
@pytest.mark.parametrize(("length", "world"), [(10, "undefined"), (30_000, "number")])
async def test_an_argument_too_long_for_a_selector_is_given_to_the_world_of_the_page(
    page: Page, subject: str, length: int, world: str
) -> None:
    script = "(_, given) => [given[0].length, typeof own]"

    assert await RUNS[subject](page, script, ["x" * length]) == [length, world]


async def test_a_script_about_a_handle_runs_in_the_isolated_world(page: Page) -> None:
    element = await page.query_selector("p")
    assert element is not None

    assert await run_about_handle(element, "each => [each.textContent, typeof own]") == ["one", "undefined"]


async def test_a_script_about_editable_elements_is_not_taken_for_editing(page: Page) -> None:
    """The log of the call has the script."""
    with pytest.raises(PlaywrightTimeout) as reading:
        await run_about(page.locator("h1"), "each => each.contenteditable", timeout_ms=100)
    await page.set_content("<input readonly>")
    with pytest.raises(PlaywrightTimeout) as editing:
        await page.locator("input").fill("x", timeout=500)

    assert (was_editing(reading.value), was_editing(editing.value)) == (False, True)
