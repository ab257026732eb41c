"""Parts of a page that a caller knows already are one line each, and their refs still work."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from tests.conftest import Browser, SessionBrowser, connect_browser
from tests.site import Site

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def server(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Browser]:
    """Return a browser with the default observation of answers."""
    root = tmp_path_factory.mktemp("unchanged")
    async with connect_browser(site, "--state-directory", str(root / "state")) as browser:
        browser.root = root
        yield browser


@pytest.fixture
async def browser(server: Browser) -> AsyncGenerator[SessionBrowser]:
    session_id = (await server.call("create_session"))["sessionId"]
    yield SessionBrowser(server, session_id)
    await server.client.call_tool("close_session", {"sessionId": session_id})


async def show(browser: SessionBrowser, url: str, **arguments: Any) -> list[str]:
    content: Any = (await browser.answer("navigate", url=url, **arguments)).structured_content
    assert content["success"], content
    return content["observation"].get("text", "").splitlines()


FORM = """<form><label>Name <input name=a></label><label>Mail <input name=b></label>
    <label>Town <input name=c></label><button>Save</button></form>"""
PEOPLE = "<h1>People</h1><table><tr><th>Chosen<th>Name<th>Mail{}</table>"
ROW = "<tr><td><button>Edit</button><button>Copy</button><button>Move</button><td>{0}<td>{0}@example.org"


async def test_known_form_is_one_line_and_its_refs_work(browser: SessionBrowser) -> None:
    first = browser.site.page(FORM)
    second = browser.site.page(f"<p>Ada was added</p>{FORM}")
    assert await show(browser, first) == [
        "e1 form",
        ' e2 textbox "Name"',
        ' e3 textbox "Mail"',
        ' e4 textbox "Town"',
        ' e5 button "Save"',
    ]

    assert await show(browser, second) == ["paragraph: Ada was added", "e6 form unchanged"]
    await browser.call("fill", selector="e3", value="ada@example.org")

    assert (await browser.call("snapshot"))["snapshot"].splitlines()[3] == (
        ' e8 textbox "Mail" focused: ada@example.org'
    )


async def test_refs_work_across_several_unchanged_pages(browser: SessionBrowser) -> None:
    await show(browser, browser.site.page(FORM))
    for number in range(3):
        await show(browser, browser.site.page(f"<p>{number}</p>{FORM}"))

    await browser.call("fill", selector="e2", value="Ada")

    assert 'textbox "Name" focused: Ada' in (await browser.call("snapshot"))["snapshot"]


async def test_known_table_shows_only_its_new_rows(
    browser: SessionBrowser,
) -> None:
    people = ("Ada", "Bob", "Cyd", "Dan")
    address = browser.site.page(PEOPLE.format("".join(map(ROW.format, people))), path="/people")
    other = browser.site.page("<p>Edit", path="/edit")
    known = await show(browser, address)
    await show(browser, other)
    browser.site.page(PEOPLE.format("".join(map(ROW.format, ("Eve", *people[1:])))), path="/people")

    lines = await show(browser, f"{address}?saved")

    assert [re.sub(r"\be\d+", "e", line) for line in lines] == [
        'e h1 "People"',
        "e table",
        " row unchanged",
        ' row: e button "Edit" & e button "Copy" & e button "Move" | "Eve" | "Eve@example.org"',
        " rows unchanged=3",
    ]
    [bob] = [line for line in known if '"Bob"' in line]
    await browser.call("click", selector=re.findall(r"\be\d+", bob)[0])
    [focused] = [
        line for line in (await browser.call("snapshot"))["snapshot"].splitlines() if " focused" in line
    ]
    assert '"Bob"' in focused


async def test_form_with_a_changed_field_is_written_in_full(browser: SessionBrowser) -> None:
    await show(browser, browser.site.page(FORM))

    lines = await show(browser, browser.site.page(FORM.replace("name=b", "name=b value=x")))

    assert ' e8 textbox "Mail": x' in lines


async def test_content_truncated_in_the_previous_answer_is_written(browser: SessionBrowser) -> None:
    words = "".join(f"<p>Words {number} of a long page</p>" for number in range(40))
    assert any("shown" in line for line in await show(browser, browser.site.page(words + FORM), budget=400))

    assert ' e9 textbox "Town"' in await show(browser, browser.site.page(FORM))


async def test_repeated_message_is_written_again(browser: SessionBrowser) -> None:
    message = "<div role=alert><p>Saved</p><a href=/a>Undo</a><a href=/b>Show</a><a href=/c>Close</a></div>"
    await show(browser, browser.site.page(message + FORM))

    lines = await show(browser, browser.site.page(message + FORM))

    assert [re.sub(r"\be\d+", "e", line) for line in lines][:2] == ["e alert", " paragraph: Saved"]
    assert lines[-1].endswith("form unchanged")


async def test_known_links_in_a_sidebar_are_one_line(
    browser: SessionBrowser,
) -> None:
    places = "<a href=/tea>Green tea</a><a href=/milk>Milk</a>"
    first = await show(browser, browser.site.page(f"<h1>Shop</h1><main>{places}</main>"))
    tea = first[2].split()[0]
    assert first[2].endswith('link "Green tea" -> /tea')

    lines = await show(
        browser,
        browser.site.page(
            """<nav><a href=/new>New</a><ul aria-label=Places><li><a href=/tea>Green tea</a>
            <li><a href=/milk aria-current=page>Milk</a></ul></nav>
            <main><a href=/milk>Milk</a><a href=/milk/2>Milk</a></main>"""
        ),
    )

    assert [re.sub(r"\be\d+", "e", line) for line in lines] == [
        "e navigation",
        ' e link "New" -> /new',
        ' e list "Places" unchanged',
        '  e link "Milk" current=page',
        "e main",
        ' e link "Milk"',
        ' e link "Milk" -> /milk/2',
    ]
    await browser.call("hover", selector=tea)


@pytest.mark.slow
async def test_ambiguous_equal_elements_are_written_in_full(browser: SessionBrowser) -> None:
    """It would be uncertain which of them an earlier ref means."""
    await show(browser, browser.site.page(FORM + FORM))

    assert sum("textbox" in line for line in await show(browser, browser.site.page(FORM + FORM))) == 6


async def test_error_names_the_ref_that_the_caller_gave(browser: SessionBrowser) -> None:
    """The element has had another ref since, which no answer has told."""
    await browser.show(
        "<ul id=list></ul><p>Other</p><button onclick='stars[0] += 1; draw()'>Draw</button>"
        "<button onclick='list.remove()'>Clear</button>"
        "<script>stars = [0, 0, 0, 0]; draw = () => { list.innerHTML = stars.map((count, at) => "
        "`<li>Row ${at} <b>${count}</b> <button>Star</button>`).join('') }; draw()</script>"
    )
    seen = await browser.answer("snapshot")
    given = re.findall(r'(e\d+) (?:button )?"Star"', str(seen.content))[-1]
    for _ in "12":
        await browser.call("click", selector="text=Draw", observe="diff")
    await browser.call("click", selector="text=Clear")

    error = await browser.refused("click", selector=given, timeout=2_000)

    assert error["code"] == "STALE_REF"
    assert error["message"].startswith(f'{given}, button "Star", is not on the page any more')
    assert error["details"]["ref"] == given


async def test_known_skip_link_is_left_out(browser: SessionBrowser) -> None:
    skip = "<a href='#content'>Skip to content</a><main id=content>"
    first = browser.site.page(f"{skip}<p>One</p><a href='#content'>Up</a></main>")
    second = browser.site.page(f"{skip}<p>Two</p><a href='#content'>Up</a></main>")
    known = await show(browser, first)

    assert known[0] == 'e1 link "Skip to content" -> #content'
    assert [line.strip() for line in await show(browser, second)] == [
        "e5 main",
        "paragraph: Two",
        'e6 link "Up"',
    ]
    await browser.call("click", selector="e1")
