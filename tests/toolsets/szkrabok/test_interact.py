"""The tools `interact.*`: clicking, typing, selecting."""

from __future__ import annotations

import re

import pytest

from tests.toolsets.szkrabok.conftest import Named

pytestmark = pytest.mark.anyio


async def test_click_reports_the_url_afterwards(named: Named) -> None:
    goal = named.site.page("<h1>Goal</h1>")
    await named.show(f"<a href={goal}>go</a>")

    assert await named.call("interact.click", selector="a") == {"url": goal}
    assert await named.text("extract.text", selector="h1") == "Goal"


async def test_snapshot_ref_is_accepted_as_selector(named: Named) -> None:
    url = await named.show("<button onclick=\"document.title='saved'\">Save</button>")
    ref = re.search(r'(e\d+) button "Save"', await named.text("browser.snapshot"))
    assert ref is not None

    assert await named.call("interact.click", selector=ref[1]) == {"url": url}
    assert await named.call("extract.evaluate", expression="document.title") == {"result": "saved"}


@pytest.mark.parametrize("selector", ["#who", "//input", "testid=who", "iframe >> #who"])
async def test_the_selectors_are_those_of_the_browser_toolset(named: Named, selector: str) -> None:
    field = '<input id="who" data-testid="who">'
    inside = f"<iframe srcdoc='{field}'></iframe>"
    url = await named.show(inside if ">>" in selector else field)

    assert await named.call("interact.type", selector=selector, text="Ada") == {"url": url}


async def test_typing_appends_to_the_field_unless_cleared(named: Named) -> None:
    await named.show("<input value=Ada>")

    await named.call("interact.type", selector="input", text=" L.")
    appended = await named.call("extract.evaluate", expression="document.querySelector('input').value")
    await named.call("interact.type", selector="input", text="Grace", clear=True)
    replaced = await named.call("extract.evaluate", expression="document.querySelector('input').value")

    assert (appended, replaced) == ({"result": "Ada L."}, {"result": "Grace"})


async def test_an_option_is_selected_by_its_label(named: Named) -> None:
    url = await named.show(
        "<select><option value=de>Germany</option><option value=fr>France</option></select>"
    )

    assert await named.call("interact.select", selector="select", value="France") == {
        "url": url,
        "selected": ["fr"],
    }


@pytest.mark.slow
async def test_missing_element_error_lists_closest_elements(named: Named) -> None:
    await named.show("<button id=save>Save</button>")

    error = await named.refused("interact.click", selector="#safe", timeout=5_000)

    assert error["code"] == "ELEMENT_NOT_FOUND"
    assert "Closest on the page" in error["message"]
    assert "browser.snapshot" in error["suggestion"]


async def test_page_opened_by_a_click_is_reported_and_usable(named: Named) -> None:
    goal = named.site.page("<h1>New</h1>")
    url = await named.show(f"<a href={goal} target=_blank>open</a>")

    clicked = await named.call("interact.click", selector="a")

    page_id = clicked["newPages"][0]["pageId"]
    assert clicked == {"url": url, "newPages": [{"pageId": page_id, "url": goal}]}
    assert await named.text("extract.text", pageId=page_id) == "New"


async def test_an_unknown_parameter_is_refused(named: Named) -> None:
    error = await named.refused("interact.click", selector="a", id="x")

    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"].startswith("id: unknown parameter; interact.click takes sessionName, selector")
