"""The report of a session in a browser."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page

from footlight.knowledge import report as reporting
from footlight.knowledge.report import make_report, render_report
from tests.chromium import open_report
from tests.knowledge.recorded import HOSTILE, make_long_session, picture, record, space_by_seconds, write

pytestmark = pytest.mark.anyio

READABLE = """
() => {
  const parse = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const linear = (c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const [x, y, z] = [r, g, b].map((c) => linear(c / 255));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = parse(getComputedStyle(each).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
  };
  const bad = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || ["SCRIPT", "STYLE", "TITLE", "title"].includes(element.tagName)) continue;
    const pair = [parse(getComputedStyle(element).color), behind(element)].map(light).sort((a, b) => b - a);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < 4.5) bad.push(`${element.tagName}.${element.className}: ${ratio.toFixed(2)}`);
  }
  return [...new Set(bad)];
}
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of forty steps, two of them with pictures."""
    root = tmp_path_factory.mktemp("report")
    write(root, *make_long_session())
    pictures = root / "mm-long" / "screenshots"
    pictures.mkdir()
    for name in ("unlock.png", "home.png"):
        (pictures / name).write_bytes(picture())
    html = make_report(root, "mm-long")
    assert html is not None
    (root / "report.html").write_text(html, "utf-8")
    return root / "report.html"


@pytest.fixture
async def tab(chromium: Browser, file: Path) -> AsyncGenerator[Page]:
    async with open_report(chromium, file) as tab:
        yield tab


async def open_all(tab: Page) -> None:
    await tab.get_by_role("button", name="Open all").click()


async def list_visible_steps(tab: Page) -> list[int]:
    """Return the numbers of the steps that are to be seen."""
    ids = await tab.locator(".step:visible").evaluate_all("all => all.map((each) => each.id)")
    return [int(id.removeprefix("step-")) for id in ids]


async def test_header_shows_the_session_summary(tab: Page) -> None:
    head = " ".join((await tab.locator("header").inner_text()).split())

    assert await tab.title() == "mm-long: 40 steps"
    for part in (
        "SESSION mm-long Steps 40 Failed 4 Total time 1 min 39 s Screens 3 Pictures 2",
        "Began 2026-01-15 12:00:00 UTC",
        "Git fix/send-flow 0123456789ab with changes",
        "Build build:test dist/chrome",
        "Platform linux Node v20.11.0 Yarn 4.1.0",
    ):
        assert part in head
    assert await tab.locator(".strip a").count() == 40


async def test_steps_are_grouped_by_screen(tab: Page) -> None:
    headings = await tab.locator("h2").all_inner_texts()
    first = [
        " ".join(text.split())
        for text in await tab.locator(".visit").first.locator(".step > details > summary").all_inner_texts()
    ]

    assert [" ".join(each.split()) for each in headings][:3] == [
        "unlock 4 steps",
        "home 3 steps",
        "settings 7 steps",
    ]
    assert first == [
        "1 mm_launch stateMode=default fixturePreset=withERC20Tokens +0:00.0 8.2 s",
        "2 mm_describe_screen picture +0:09.1 120 ms",
        '3 mm_type textbox "Password" (24 characters) +0:10.1 95 ms',
        '4 mm_click testId=unlock-submit ("Unlock") → home +0:11.1 1.5 s',
    ]


async def test_open_step_shows_its_action_and_observation(tab: Page) -> None:
    step = tab.locator("#step-4")
    await step.locator("summary").first.click()
    text = " ".join((await step.locator(".inside").inner_text()).split())

    assert (
        'Target testId=unlock-submit ("Unlock") Screen unlock → home URL chrome-extension://abc/home.html'
        in text
    )
    assert "3 test ids appeared, 3 disappeared account-menu-icon eth-overview-send token-list-item" in text
    await step.get_by_text("5 elements").click()
    cells = await step.locator("tbody tr").first.locator("td").all_inner_texts()
    assert cells == ["e1", "button", "Account 1", "", "dialog:Wallet"]


async def test_error_is_shown_in_full(tab: Page) -> None:
    await tab.locator("#step-6 summary").first.click()
    message = await tab.locator("#step-6 .error").inner_text()

    assert " ".join(message.split()) == (
        "MM_TARGET_NOT_FOUND Nothing has this test id "
        '{ "timeoutMs": 15000, "closest": [ "eth-overview-send" ] }'
    )


async def test_pictures_are_embedded_in_the_page(tab: Page) -> None:
    await open_all(tab)
    sizes = await tab.locator("img").evaluate_all(
        "all => Promise.all(all.map((each) => each.decode()"
        ".then(() => [each.naturalWidth, each.naturalHeight])))"
    )

    assert sizes == [[640, 400], [640, 400]]


async def test_steps_can_be_filtered(tab: Page) -> None:
    """The script runs under the page's own policy."""
    every = await list_visible_steps(tab)
    await tab.get_by_label("Failed only").check()
    failed = await list_visible_steps(tab)
    await tab.get_by_label("Failed only").uncheck()
    await tab.get_by_label("Changes of screen only").check()
    moved = await list_visible_steps(tab)
    await tab.get_by_label("Changes of screen only").uncheck()
    await tab.get_by_label("Tool").select_option("mm_get_state")
    states = await list_visible_steps(tab)
    said = await tab.locator("output").inner_text()

    assert (every, failed, moved) == ([*range(1, 41)], [6, 16, 27, 39], [4, 7, 14, 17, 24, 28, 35])
    assert (states, said) == ([12, 22, 33, 40], "4 of 40 steps")


async def test_timeline_bar_opens_its_step_even_when_filtered_out(tab: Page) -> None:
    await tab.get_by_label("Failed only").check()
    await tab.get_by_role("link", name="Step 12, mm_get_state").click()

    await tab.locator("#step-12 .inside").wait_for(state="visible")
    assert tab.url.endswith("#step-12")


async def test_text_of_pages_and_files_is_escaped(tab: Page) -> None:
    """Its texts are hostile. What would steer a terminal is spelt out, as somebody may `cat` it."""
    await open_all(tab)
    html = await tab.content()

    assert await tab.title() == "mm-long: 40 steps"
    assert await tab.locator("script").count() == 1
    assert await tab.locator("img").count() == 2
    assert "document.title=" in await tab.locator("#step-39 .error").inner_text()
    assert "\x1b" not in html
    assert "onerror=alert(1)>" not in html.replace("&gt;", "")


async def test_hostile_record_adds_no_markup(chromium: Browser, tmp_path: Path) -> None:
    """Every text of one, and types that are not the schema's."""
    evil = '"><img src="http://127.0.0.1:9/x" onerror="document.title=1"><style>*{}</style>'
    each = record(
        "mm_click",
        screen=evil,
        testId=evil,
        ok=False,
        code=evil,
        message=HOSTILE + evil,
        details={evil: evil},
    )
    each["tool"]["name"] = evil
    each["git"] = {"branch": evil, "commit": [evil], "dirty": evil}
    each["build"] = {"buildType": evil}
    each["environment"] = [evil]
    each["observation"]["state"] = {
        "currentScreen": evil,
        "currentUrl": f"javascript:{evil}",
        evil: {evil: evil},
    }
    each["observation"]["a11y"]["nodes"] = [
        {"ref": evil, "role": evil, "name": evil, "path": [evil, 3]},
        None,
    ]
    each["artifacts"] = {"screenshot": {"path": f"/etc/{evil}", "width": evil}}
    html = render_report([each, {}, {**each, "timing": {"durationMs": -5}}], session_id=evil)
    assert html is not None
    (tmp_path / "x.html").write_text(html, "utf-8")
    tab = await chromium.new_page()
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))

    await tab.goto((tmp_path / "x.html").as_uri())
    await tab.get_by_role("button", name="Open all").click()

    assert (await tab.locator("img").count(), await tab.locator("style").count()) == (0, 1)
    assert len(asked) == 1
    assert await tab.locator("h1").inner_text() == evil
    assert await tab.locator("[href^=javascript]").count() == 0
    await tab.close()


def test_content_security_policy_allows_only_the_report_script_and_style(file: Path) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', file.read_text("utf-8"))

    assert policy is not None
    assert re.sub(r"sha256-[\w+/]{43}=", "HASH", policy[1]) == (
        "default-src 'none'; style-src 'HASH'; script-src 'HASH'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_report_text_has_sufficient_contrast(tab: Page, scheme: str) -> None:
    """WCAG 2, level AA: a contrast of 4.5 at least."""
    await tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    await open_all(tab)

    assert await tab.evaluate(READABLE) == []


async def test_report_has_landmarks_names_and_ordered_headings(tab: Page) -> None:
    await open_all(tab)
    levels = await tab.locator("h1, h2, h3").evaluate_all("all => all.map((each) => Number(each.tagName[1]))")
    nameless = await tab.locator("a, button, select, input, img, [tabindex='0']").evaluate_all(
        "all => all.map((each) => each.textContent.trim() || each.alt || each.ariaLabel"
        " || each.labels?.length)"
        ".filter((name) => !name).length"
    )

    assert [await tab.locator(each).count() for each in ("h1", "header", "main", "footer")] == [1] * 4
    assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(levels))
    assert nameless == 0
    assert await tab.locator("html").get_attribute("lang") == "en"


async def test_report_can_be_used_with_the_keyboard_alone(tab: Page) -> None:
    await tab.keyboard.press("Tab")
    skipped = await tab.evaluate("document.activeElement.textContent")
    await tab.keyboard.press("Enter")
    for _ in range(5):
        await tab.keyboard.press("Tab")
    focused = await tab.evaluate("document.activeElement.textContent")
    await tab.keyboard.press("Enter")

    assert (skipped, "mm_launch" in focused) == ("Skip to the steps", True)
    assert await tab.locator("#step-1 .inside").is_visible()


async def test_report_fits_a_narrow_screen(tab: Page) -> None:
    await tab.set_viewport_size({"width": 400, "height": 800})
    await open_all(tab)

    assert await tab.evaluate("document.documentElement.scrollWidth") == 400


async def test_printed_report_shows_all_steps_open(tab: Page) -> None:
    await tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    await tab.emulate_media(media="print")

    assert await tab.locator(".inside:visible").count() == 40
    assert not await tab.get_by_role("button", name="Close all").is_visible()


def test_only_pictures_from_the_session_folder_are_embedded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever path a record names; and none that is too large, or no picture."""
    monkeypatch.setattr(reporting, "MAX_PICTURE_BYTES", 5000)
    names = [
        "../secret.png",
        str(tmp_path / "secret.png"),
        "link.png",
        "text.png",
        "large.png",
        "gone.png",
        "pipe.png",
        "..",
        "",
    ]
    write(tmp_path, *space_by_seconds([record("mm_screenshot", screenshot=each or " ") for each in names]))
    (tmp_path / "secret.png").write_bytes(picture(8, 8))
    folder = tmp_path / "mm-one" / "screenshots"
    folder.mkdir()
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "text.png").write_text("root:x:0:0")
    (folder / "large.png").write_bytes(picture(8, 8) + b"\0" * 5000)
    os.mkfifo(folder / "pipe.png")

    html = make_report(tmp_path, "mm-one")

    assert html is not None
    assert "data:image" not in html
    assert html.count("is missing, or too large to be shown") == len(names)


def test_session_without_steps_has_no_report(tmp_path: Path) -> None:
    assert make_report(tmp_path, "mm-none") is None
    assert render_report([{}, {"schemaVersion": 1}], session_id="mm-one") is None
