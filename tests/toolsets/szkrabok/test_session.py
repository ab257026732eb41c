"""The tools `session.*`: opening, listing, closing and deleting sessions, and their endpoint."""

from __future__ import annotations

import pytest
from mcp_types import TextContent

from tests.toolsets.szkrabok.conftest import Named, get_only_text

pytestmark = pytest.mark.anyio


@pytest.mark.slow
async def test_opening_returns_only_opened_true(unopened: Named) -> None:
    result = await unopened.answer("session.open")

    assert get_only_text(result) == '{"opened":true}'
    assert result.structured_content == {"opened": True}
    assert not result.is_error


@pytest.mark.slow
async def test_opening_with_a_url_navigates_there(unopened: Named) -> None:
    url = unopened.site.page("<title>Home</title><p>Welcome</p>")

    assert await unopened.call("session.open", url=url) == {"opened": True}
    assert await unopened.text("extract.text") == "Welcome"


async def test_failed_navigation_leaves_the_session_open(unopened: Named) -> None:
    error = await unopened.refused("session.open", url="http://127.0.0.1:1/")

    assert error["code"] == "NAVIGATION_FAILED"
    assert error["details"]["opened"] is True
    assert error["suggestion"].startswith("The session is open.")
    assert (await unopened.call("health"))["openSessions"].count(unopened.name) == 1


async def test_opening_an_open_session_reports_already_open(own_session: Named) -> None:
    assert await own_session.call("session.open") == {"opened": True, "alreadyOpen": True}


@pytest.mark.slow
async def test_launch_options_are_applied(unopened: Named) -> None:
    options = {"locale": "de-DE", "timezone": "Europe/Berlin", "viewport": {"width": 640, "height": 480}}

    await unopened.call("session.open", launchOptions=options)

    expression = (
        "[navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone, innerWidth, innerHeight]"
    )
    seen = await unopened.call("extract.evaluate", expression=expression)
    assert seen == {"result": ["de-DE", "Europe/Berlin", 640, 480]}


async def test_preset_with_an_option_it_defines_is_refused(unopened: Named) -> None:
    error = await unopened.refused("session.open", launchOptions={"preset": "desktop-de", "locale": "fr-FR"})

    assert error["code"] == "INVALID_PARAMETER"
    assert error["details"]["parameter"] == "launchOptions.preset"


@pytest.mark.slow
async def test_stealth_reports_its_measures(unopened: Named) -> None:
    opened = await unopened.call("session.open", launchOptions={"stealth": True})

    assert opened["opened"] is True
    assert {"name", "on", "detail"} == {*opened["measures"][0]}
    agent = await unopened.call("extract.evaluate", expression="navigator.userAgent")
    assert "Headless" not in agent["result"]


async def test_unknown_launch_option_error_names_the_option(unopened: Named) -> None:
    error = await unopened.refused("session.open", launchOptions={"colour": "red"})

    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"].startswith("launchOptions.colour: unknown field; launchOptions takes ")


@pytest.mark.parametrize("name", ["../elsewhere", "", ".hidden", "a/b", "a" * 65])
async def test_session_name_invalid_as_folder_is_refused(unopened: Named, name: str) -> None:
    error = await unopened.refused("session.open", sessionName=name)

    assert error["code"] == "INVALID_PARAMETER"
    assert error["details"]["parameter"] == "sessionName"


@pytest.mark.slow
async def test_site_data_survives_closing_and_reopening(own_session: Named) -> None:
    url = await own_session.show("<p>In</p>")
    await own_session.call("extract.evaluate", expression="localStorage.setItem('who', 'ada')")

    assert await own_session.call("session.close") == {"closed": True}
    await own_session.call("session.open", url=url)

    assert await own_session.call("extract.evaluate", expression="localStorage.who") == {"result": "ada"}
    assert (own_session.root / "sessions" / own_session.name).is_dir()


async def test_call_without_open_session_suggests_session_open(unopened: Named) -> None:
    error = await unopened.refused("nav.goto", url="about:blank")

    assert error["code"] == "SESSION_NOT_FOUND"
    assert "session.open" in error["suggestion"]


async def test_closing_a_session_that_is_not_open_fails(unopened: Named) -> None:
    assert (await unopened.refused("session.close"))["code"] == "SESSION_NOT_FOUND"


async def test_list_contains_open_and_closed_sessions(own_session: Named) -> None:
    def own(listed: dict[str, list[dict[str, object]]]) -> dict[str, object]:
        return next(each for each in listed["sessions"] if each["name"] == own_session.name)

    opened = own(await own_session.call("session.list"))
    await own_session.call("session.close")
    closed = own(await own_session.call("session.list"))

    assert opened["open"] is True
    assert closed["open"] is False
    assert opened.keys() == closed.keys() == {"name", "open", "created", "lastUsed", "launchOptions"}


async def test_deleting_a_session_removes_its_folder_and_list_entry(own_session: Named) -> None:
    assert await own_session.call("session.delete") == {"deleted": True}

    assert not (own_session.root / "sessions" / own_session.name).exists()
    names = [each["name"] for each in (await own_session.call("session.list"))["sessions"]]
    assert own_session.name not in names


@pytest.mark.slow
async def test_another_program_can_attach_at_the_endpoint(own_session: Named) -> None:
    from playwright.async_api import async_playwright

    url = await own_session.show("<title>Here</title>")
    endpoint = await own_session.call("session.endpoint")

    assert endpoint["http"] == f"http://127.0.0.1:{endpoint['port']}"
    assert endpoint["ws"].startswith(f"ws://127.0.0.1:{endpoint['port']}/")
    assert 20_000 <= endpoint["port"] <= 29_999
    async with async_playwright() as playwright:
        attached = await playwright.chromium.connect_over_cdp(endpoint["http"])
        assert [page.url for page in attached.contexts[0].pages] == [url]
        await attached.close()
    assert await own_session.text("extract.text") == ""


async def test_health_needs_no_session(own_session: Named) -> None:
    health = await own_session.call("health")

    assert health == {"status": "ok", "version": "1.0.0", "openSessions": [own_session.name]}


async def test_server_text_is_not_marked_as_untrusted(own_session: Named) -> None:
    part = (await own_session.answer("session.list")).content[0]

    assert isinstance(part, TextContent)
    assert part.meta is None
