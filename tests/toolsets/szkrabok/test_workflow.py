"""The tools `workflow.*`, which report each step."""

from __future__ import annotations

import pytest

from tests.toolsets.szkrabok.conftest import Named

pytestmark = pytest.mark.anyio

FORM = """<title>Login</title>
<form onsubmit="event.preventDefault(); if (pw.value === 'right') {
  document.title = 'Inside'; document.body.innerHTML = '<h1>Hello ' + who.value + '</h1>'; }">
<input id=who><input id=pw type=password><button>Log in</button></form>"""

LOGIN = {"usernameSelector": "#who", "passwordSelector": "#pw", "username": "Ada"}


async def test_login_reports_its_steps_and_final_url(named: Named) -> None:
    url = await named.show(FORM)

    done = await named.call(
        "workflow.login", **LOGIN, password="right", submitSelector="button", successSelector="h1"
    )

    assert done == {
        "url": url,
        "title": "Inside",
        "formStillVisible": False,
        "steps": [
            {"step": "fill the username", "status": "done", "selector": "#who"},
            {"step": "fill the password", "status": "done", "selector": "#pw"},
            {"step": "submit", "status": "done", "selector": "button"},
            {"step": "see that it worked", "status": "done", "selector": "h1"},
        ],
    }


async def test_login_without_change_reports_the_visible_form(named: Named) -> None:
    await named.show(FORM)

    done = await named.call("workflow.login", **LOGIN, password="wrong")

    assert done["formStillVisible"] is True
    assert done["steps"][-1] == {"step": "submit", "status": "done"}


@pytest.mark.slow
async def test_failed_login_names_the_failed_step(named: Named) -> None:
    await named.show(FORM)

    error = await named.refused(
        "workflow.login", **LOGIN, password="right", submitSelector="#none", timeout=3_000
    )

    assert error["code"] == "ELEMENT_NOT_FOUND"
    assert error["message"].startswith('step 3 of 3, submit: No element found matching selector "#none"')
    steps = error["details"]["steps"]
    assert [(step["step"], step["status"]) for step in steps] == [
        ("fill the username", "done"),
        ("fill the password", "done"),
        ("submit", "failed"),
    ]
    assert steps[2]["error"].startswith("No element found")


async def test_a_form_is_filled_field_by_field(named: Named) -> None:
    await named.show(
        "<input id=name><input id=news type=checkbox>"
        "<select><option>Red</option><option>Blue</option></select>"
    )

    done = await named.call("workflow.fillForm", fields={"#name": "Ada", "#news": True, "select": "Blue"})

    assert done["steps"] == [
        {"step": "fill the text", "status": "done", "selector": "#name"},
        {"step": "fill the checkbox", "status": "done", "selector": "#news"},
        {"step": "fill the select", "status": "done", "selector": "select"},
    ]
    fields = "[...document.querySelectorAll('input,select')]"
    held = f"{fields}.map(it => it.type === 'checkbox' ? it.checked : it.value)"
    assert await named.call("extract.evaluate", expression=held) == {"result": ["Ada", True, "Blue"]}


async def test_form_with_a_missing_field_is_left_unchanged(named: Named) -> None:
    await named.show("<input id=name>")

    error = await named.refused("workflow.fillForm", fields={"#name": "Ada", "#none": "x"}, timeout=2_000)

    assert error["code"] == "ELEMENT_NOT_FOUND"
    assert [(step["selector"], step["status"]) for step in error["details"]["steps"]] == [
        ("#name", "not begun"),
        ("#none", "failed"),
    ]


async def test_scrape_returns_the_texts_of_all_matches(named: Named) -> None:
    url = await named.show("<title>Shop</title><h2>Tea</h2><h2>Milk</h2>")

    found = await named.call("workflow.scrape", selectors={"names": "h2", "prices": ".price", "bad": "h2["})

    failed = found["steps"][2]
    assert failed.pop("error").startswith('The selector "h2[" cannot be parsed')
    assert found == {
        "url": url,
        "title": "Shop",
        "data": {"names": ["Tea", "Milk"], "prices": []},
        "failed": 1,
        "steps": [
            {"step": "names", "status": "done", "selector": "h2", "count": 2},
            {"step": "prices", "status": "done", "selector": ".price", "count": 0},
            {"step": "bad", "status": "failed", "selector": "h2["},
        ],
    }
