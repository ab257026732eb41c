"""A press without Playwright's own checks has the outcome of one with them, on pages of many kinds.

Each page is pressed twice: by plain Playwright, and by `click_element`, which presses at once where it is
certain that Playwright would. Both must succeed or fail alike, and the page must receive the same events
at the same place.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from footlight.browser.actions.click import click_element
from footlight.browser.actions.forms.text_input import fill_field
from footlight.browser.context.options import SessionOptions
from footlight.browser.driver.deadline import Deadline
from footlight.browser.driver.playwright_api import Error, was_dispatched
from footlight.browser.page.capture import look
from footlight.browser.page.press_check import find_readiness, press_engine, take_outcome
from footlight.browser.page.refs import ask_directly
from footlight.browser.page.settling import settle
from footlight.browser.sessions.engine import Engine
from footlight.browser.sessions.tables.pooled_sessions import PooledSessions
from footlight.caller import LOCAL
from footlight.config import BrowserSettings, PoolSettings, Settings
from footlight.errors import FootlightError
from tests.conftest import ENGINE
from tests.site import Site

if TYPE_CHECKING:
    from footlight.browser.page.page import Page

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(ENGINE != "chromium", reason="only Chromium is pressed so"),
]

LIMIT_MS = 1_000.0
ALONE_LIMIT_MS = 5_000.0
"""The limit where two presses differed: on a busy machine, `LIMIT_MS` may end in one of them."""

TARGETS: Mapping[str, str] = {
    "button": "<button id=t ATTRIBUTES>press</button>",
    "link": "<a id=t href='#there' ATTRIBUTES>press</a>",
    "field": "<input id=t value=press ATTRIBUTES>",
    "checkbox": "<input id=t type=checkbox ATTRIBUTES>",
    "inner": "<button ATTRIBUTES>press <b id=t>this</b></button>",
}

READY = (
    "plain",
    "in a scroll box",
    "opaque to nothing",
    "beside an overlay",
    "in a positioned box",
    "long page",
)
"""Where the buttons are pressed at once."""

SITUATIONS: Mapping[str, str] = dict(
    part.strip().split("\n", 1)
    for part in Path(__file__).with_name("pages").joinpath("presses.txt").read_text().split("\n# ")[1:]
)
"""HTML by name. `TARGET[attributes]` stands for the element, `DOCUMENT` for a document with it in a frame."""

FAST: Mapping[str, str] = {
    "plain": "button",
    "disabled": "button",
    "covered by a pseudo-element": "link",
    "collapses when hovered": "button",
}
"""The situations, and the targets in them, that `make test` tries."""
SIDE_BY_SIDE = 10
"""The number of presses at the same time, each of them on two pages: most of the time is spent on waiting."""
MOVING = (
    "animated for ever",
    "animated neighbour",
    "moved by a script",
    "moved by a rule",
    "moved by web animations",
    "moves on",
)
"""Situations in which nothing is pressed at once. Playwright presses if two frames happen to be alike."""
RACES = ("enabled later", "displayed later", "removed soon", "replaced again and again", *MOVING)
"""Situations whose outcome depends on the moment, also with Playwright. Only a button is tried in them."""
OTHERS = [
    (situation, target)
    for situation in SITUATIONS
    for target in (["button"] if situation in RACES else TARGETS)
    if target != FAST.get(situation)
]
CASES = [
    *(pytest.param([case], id=case[0]) for case in FAST.items()),
    *(
        pytest.param(
            OTHERS[first : first + SIDE_BY_SIDE],
            id=f"{' '.join(OTHERS[first])} and others",
            marks=pytest.mark.slow,
        )
        for first in range(0, len(OTHERS), SIDE_BY_SIDE)
    ),
]

REFUSED = ("moves when hovered",)
"""Where Playwright presses what is below the element, and `click_element` reports that the element moves."""

LOG = """<script>var log = [], place = null;
  for (const type of ['pointerdown', 'mouseup', 'click'])
    document.addEventListener(type, event => {
      const target = event.composedPath()[0];
      if (event.isTrusted) log.push(type + ' ' + (target.id || target.nodeName));
      if (event.isTrusted) place = [Math.round(event.clientX), Math.round(event.clientY)];
    }, true);</script>"""


@dataclass
class Pages:
    """Pages in sessions of their own, to use side by side."""

    sessions: PooledSessions
    opened: list[Page] = field(default_factory=list["Page"])

    async def first(self, count: int) -> Sequence[Page]:
        while len(self.opened) < count:
            session = await self.sessions.create(SessionOptions(), caller=LOCAL)
            self.opened.append(await session.page_table.get())
        return self.opened[:count]


@pytest.fixture(scope="module")
async def pages(anyio_backend: str) -> AsyncGenerator[Pages]:
    settings = BrowserSettings.model_validate({"type": ENGINE})
    engine = Engine(Settings(browser=settings, pool=PoolSettings(minBrowsers=1)))
    engine.start()
    sessions = await engine.sessions()
    assert isinstance(sessions, PooledSessions)
    yield Pages(sessions)
    await engine.close()


@pytest.fixture
async def page(pages: Pages) -> Page:
    [page] = await pages.first(1)
    return page


def document(situation: str, target: str) -> str:
    html = SITUATIONS[situation]
    if "DOCUMENT" in html:
        # Without a base of its own the link would replace the document in the frame, and its log.
        base = "<base href='about:srcdoc'>"
        inner = f"<!doctype html>{base}{LOG}{TARGETS[target].replace('ATTRIBUTES', '')}"
        return "<!doctype html>" + html.replace("DOCUMENT", escape(inner))
    before, _, rest = html.partition("TARGET[")
    attributes, _, after = rest.partition("]")
    return f"<!doctype html>{LOG}{before}{TARGETS[target].replace('ATTRIBUTES', attributes)}{after}"


async def show(page: Page, url: str) -> None:
    since = time.monotonic()
    await page.playwright.goto("about:blank")
    await page.playwright.goto(url)
    await page.playwright.mouse.move(700, 500)
    await settle(page, since, Deadline.after(LIMIT_MS * 10), limit_ms=LIMIT_MS)


async def events(page: Page) -> Any:
    found = await page.playwright.frames[-1].evaluate("self.log || []")
    return found or await page.playwright.evaluate("self.log || []")


async def place(page: Page) -> Any:
    """Return where the page was pressed, in CSS pixels of its viewport."""
    return await page.playwright.evaluate("self.place")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of a press: its success, and what the page received."""

    succeeds: bool
    events: Any
    place: Any
    ready: bool = field(default=False, compare=False)
    """Whether the element was certain to be pressed at once. Only Footlight reports that."""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("cases", CASES)
async def test_click_outcome_matches_playwright(
    pages: Pages, site: Site, cases: Sequence[tuple[str, str]]
) -> None:
    shown = iter(await pages.first(2 * len(cases)))
    pressed = await asyncio.gather(
        *(
            asyncio.gather(
                press_by_playwright(next(shown), site, *case, LIMIT_MS),
                press_by_footlight(next(shown), site, *case, LIMIT_MS),
            )
            for case in cases
        )
    )
    first, second = await pages.first(2)
    for case, (expected, ours) in zip(cases, pressed, strict=True):
        try:
            check_presses(*case, expected, ours)
        except AssertionError:
            expected, ours = await asyncio.gather(
                press_by_playwright(first, site, *case, ALONE_LIMIT_MS),
                press_by_footlight(second, site, *case, ALONE_LIMIT_MS),
            )
            check_presses(*case, expected, ours)


async def press_by_playwright(
    page: Page, site: Site, situation: str, target: str, limit_ms: float
) -> Outcome:
    await show(page, site.page(document(situation, target)))
    scope = page.playwright.frame_locator("iframe") if situation == "in a frame" else page.playwright
    succeeds = True
    try:
        await scope.locator("#t").first.click(timeout=limit_ms, delay=1)
    except Error as error:  # On a busy machine the limit may end after the click was sent.
        succeeds = was_dispatched(error)
    return Outcome(succeeds=succeeds, events=await events(page), place=await place(page))


async def press_by_footlight(page: Page, site: Site, situation: str, target: str, limit_ms: float) -> Outcome:
    await show(page, site.page(document(situation, target)))
    scope, selector = page.playwright, "#t"
    if situation == "in a frame":
        scope, selector = page.playwright.frame_locator("iframe"), "iframe >> #t"
    element = scope.locator("#t").first
    ready = False
    if await element.count():
        with contextlib.suppress(Error):  # Some elements are gone by then.
            ready = (await find_readiness(page, selector, element, limit_ms, 1)).is_certain
    succeeds = True
    try:
        await click_element(page, selector, Deadline.after(limit_ms), button="left", count=1)
    except FootlightError as error:
        succeeds = error.details.get("dispatched") is True
    return Outcome(succeeds=succeeds, events=await events(page), place=await place(page), ready=ready)


def check_presses(situation: str, target: str, expected: Outcome, ours: Outcome) -> None:
    assert not (ours.ready and situation in MOVING)
    if situation in REFUSED and expected.succeeds and not ours.succeeds:
        assert "click t" not in expected.events
    elif situation not in RACES:
        assert (target, ours) == (target, expected)
        assert expected.succeeds or not ours.ready
    if situation in READY and target == "button":
        assert ours.ready


FIELDS = (
    "<input id=t value=before>",
    "<input id=t type=email>",
    "<input id=t type=search maxlength=3>",
    "<input id=t type=password value=x>",
    "<input id=t type=number>",
    "<input id=t type=number value=1 oninput='this.value = 7'>",
    "<input id=t type=date>",
    "<textarea id=t>several\nlines</textarea>",
    "<div id=t contenteditable>rich <b>text</b></div>",
    "<label id=t>Name <input></label>",
    "<input id=t disabled>",
    "<fieldset disabled><input id=t></fieldset>",
    "<input id=t readonly>",
    "<textarea id=t aria-readonly=true></textarea>",
    "<div aria-disabled=true><input id=t></div>",
    "<div inert><input id=t></div>",
    "<input id=t style='display: none'>",
    "<input id=t style='visibility: hidden'>",
    "<input id=t style='width: 0; height: 0; border: 0; padding: 0'>",
    "<input id=t style='opacity: 0'>",
    "<input id=t style='position: absolute; top: 5000px'>",
    "<input id=t onfocus='this.blur()'>",
    "<input id=t onfocus='other.focus()'><input id=other>",
    "<input id=t onfocus='this.disabled = true'>",
    '<input id=t onfocus=\'this.outerHTML = this.outerHTML.replace("onfocus", "data-was")\'>',
    "<p onfocusin='if (this.firstChild.title) { this.innerHTML = `<input id=t>`;"
    " this.firstChild.focus() }'><input id=t title=old></p>",
    "<input id=t oninput='this.value = this.value.toUpperCase()'>",
    "<input id=t onkeydown='event.preventDefault()'>",
    "<input id=t onbeforeinput='event.preventDefault()' value=kept>",
    "<form onsubmit='return false'><input id=t required></form>",
    "<p id=t>no field</p>",
    "<dialog open><input id=t></dialog>",
    "<dialog id=d><input></dialog><input id=t><script>d.showModal()</script>",
    "<div id=host></div><script>host.attachShadow({mode: 'open'}).innerHTML = '<input id=t>'</script>",
)
UNFOCUSED = tuple(field for field in FIELDS for sign in ("other.focus", "showModal") if sign in field)
"""Fields that leave the focus to another one: Playwright fills that one, and `fill_field` reports it."""
NEVER_READY = FIELDS[10:19]
"""Fields for which each way to fill waits until its limit."""
FAST_FIELDS = (FIELDS[0], FIELDS[8], NEVER_READY[0], FIELDS[-1])
"""The fields that `make test` tries."""
OTHER_FIELDS = [field for field in FIELDS if field not in FAST_FIELDS]
STATE = """() => {
  const field = document.querySelector('#t') || document.querySelector('#host').shadowRoot.firstChild;
  const focused = document.activeElement;
  return [field.value ?? field.textContent, focused.id || focused.nodeName, log];
}"""
FIELD_LOG = """<script>log = [];
  for (const type of ['focusin', 'focusout', 'keydown', 'beforeinput', 'input', 'change', 'invalid'])
    document.addEventListener(type, event => log.push(type + ' ' + event.target.id), true);</script>"""


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(FAST_FIELDS, id="fast"),
        *(
            pytest.param(
                OTHER_FIELDS[first : first + SIDE_BY_SIDE], id=OTHER_FIELDS[first], marks=pytest.mark.slow
            )
            for first in range(0, len(OTHER_FIELDS), SIDE_BY_SIDE)
        ),
    ],
)
async def test_filled_field_matches_playwright(pages: Pages, site: Site, fields: Sequence[str]) -> None:
    shown = await pages.first(2 * len(fields))

    async def fill(field: str, pages: Sequence[Page], limit_ms: float) -> Sequence[Filled]:
        url = site.page(f"<!doctype html>{FIELD_LOG}{field}")
        value = "2024-02-29" if "type=date" in field else "12"
        return await asyncio.gather(
            fill_by_playwright(pages[0], url, value, limit_ms),
            fill_by_footlight(pages[1], url, value, limit_ms),
        )

    filled = await asyncio.gather(
        *(fill(field, shown[2 * at :], LIMIT_MS) for at, field in enumerate(fields))
    )
    for each, outcomes in zip(fields, filled, strict=True):
        try:
            check_filled(each, *outcomes)
        except AssertionError:
            check_filled(each, *(await fill(each, shown, ALONE_LIMIT_MS)))


@dataclass(frozen=True, slots=True)
class Filled:
    """The outcome of filling a field: its success, and `STATE`."""

    succeeds: bool
    value: str
    focused: str
    events: list[str]


async def fill_by_playwright(page: Page, url: str, value: str, limit_ms: float) -> Filled:
    await show(page, url)
    succeeds = True
    try:
        await page.playwright.locator("#t").first.fill(value, timeout=limit_ms)
    except Error:
        succeeds = False
    return Filled(succeeds, *await page.playwright.evaluate(STATE))


async def fill_by_footlight(page: Page, url: str, value: str, limit_ms: float) -> Filled:
    await show(page, url)
    succeeds = True
    try:
        await fill_field(page, "#t", value, Deadline.after(limit_ms))
    except FootlightError:
        succeeds = False
    return Filled(succeeds, *await page.playwright.evaluate(STATE))


def check_filled(field: str, expected: Filled, ours: Filled) -> None:
    if field in UNFOCUSED:
        assert not ours.succeeds
        assert (ours.value, expected.value) == ("", "")
        return
    if "this.disabled" in field:  # The browser takes the focus away before or after the input comes.
        for filled in (expected, ours):
            filled.events[:] = [event for event in filled.events if event != "beforeinput t"]
    assert ours == expected


@pytest.mark.skipif(ENGINE != "chromium", reason="only Chromium passes messages of CDP to the scripts")
async def test_plain_selector_is_resolved_by_the_settled_document(page: Page, site: Site) -> None:
    await show(page, site.page("<button id=t class=a-b>go</button><p id=u>words</p>"))
    await click_element(page, "#t", Deadline.after(LIMIT_MS), button="left", count=1)
    await look(page, Deadline.after(LIMIT_MS))
    await settle(page, 0.0, Deadline.after(LIMIT_MS), limit_ms=LIMIT_MS)
    ref = next(
        node.ref for node in page.view.frames[page.playwright.main_frame].nodes if node.role == "button"
    )
    assert ref is not None

    for selector in ("#t", "button.a-b", ref):
        reply = await ask_directly(page, selector, press_engine, "ready", 1_000, 1)
        assert reply["isCertain"], selector
    for selector in ("#none", "text=go", "button >> nth=0", "#1"):
        assert await ask_directly(page, selector, press_engine, "ready", 1_000, 1) is None


@pytest.mark.parametrize("outside", ["", "<button class=t>outside</button><input class=f>"])
async def test_element_of_a_plain_selector_is_that_of_playwright(
    page: Page, site: Site, outside: str
) -> None:
    await show(
        page,
        site.page(f"""<x-y></x-y>{outside}<script>
            const root = document.querySelector('x-y').attachShadow({{ mode: 'open' }});
            root.innerHTML = '<button class=t>inside</button><input class=f>';
            document.onclick = event => event.composedPath()[0].id = 'pressed'</script>"""),
    )
    await settle(page, 0.0, Deadline.after(LIMIT_MS), limit_ms=LIMIT_MS)

    await click_element(page, ".t", Deadline.after(LIMIT_MS), button="left", count=1)
    await settle(page, 0.0, Deadline.after(LIMIT_MS), limit_ms=LIMIT_MS)
    await fill_field(page, ".f", "text", Deadline.after(LIMIT_MS))

    assert await page.playwright.locator(".t").first.get_attribute("id") == "pressed"
    assert await page.playwright.locator(".f").first.input_value() == "text"


async def test_missed_click_is_hidden_from_the_page_and_repeated(page: Page, site: Site) -> None:
    """Here nothing moves until the mouse is over the element, so it is pressed at once, and again."""
    await show(page, site.page(document("collapses when hovered", "button")))
    element = page.playwright.locator("#t")

    assert (await find_readiness(page, "#t", element, LIMIT_MS, 1)).is_certain
    await click_element(page, "#t", Deadline.after(LIMIT_MS * 5), button="left", count=1)

    assert await events(page) == ["pointerdown t", "mouseup t", "click t"]
    assert (await take_outcome(page)).state == "arrived"
