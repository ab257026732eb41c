"""The local and session storage of a page's origin."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import ENGINE, SessionBrowser

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("area", ["local", "session"])
async def test_storage_items_are_set_read_listed_removed_and_cleared(
    browser: SessionBrowser, area: str
) -> None:
    await browser.show("<p>x</p>")

    assert await browser.call("storage", area=area) == {"items": [], "count": 0}
    assert await browser.call("storage", action="set", area=area, key="b", value="ä 💡") == {"count": 1}
    assert await browser.call("storage", action="set", area=area, key="a", value="") == {"count": 2}
    assert (await browser.call("evaluate", script=f"{area}Storage.b")) == {"result": "ä 💡"}
    await browser.call("evaluate", script=f"{area}Storage.setItem('length', '7')")

    assert await browser.call("storage", area=area) == {
        "items": [{"key": "a", "value": ""}, {"key": "b", "value": "ä 💡"}, {"key": "length", "value": "7"}],
        "count": 3,
    }
    assert await browser.call("storage", action="get", area=area, key="b") == {"value": "ä 💡", "length": 3}
    assert await browser.call("storage", action="get", area=area, key="a") == {"value": "", "length": 0}
    assert await browser.call("storage", action="get", area=area, key="none") == {"value": None}
    assert await browser.call("storage", action="remove", area=area, key="b") == {"count": 2}
    assert await browser.call("storage", action="remove", area=area, key="b") == {"count": 2}
    assert await browser.call("storage", action="clear", area=area) == {"count": 0}
    assert (await browser.call("evaluate", script=f"{area}Storage.length")) == {"result": 0}


async def test_storage_areas_are_separate_for_each_origin(browser: SessionBrowser) -> None:
    url = (await browser.show("<p>x</p>"))["url"]
    await browser.call("storage", action="set", key="kept", value="here")

    assert (await browser.call("storage", area="session"))["count"] == 0
    await browser.call("navigate", url=url.replace(browser.site.url, browser.site.at("localhost")))
    assert (await browser.call("storage"))["count"] == 0
    await browser.call("navigate", url=url)
    assert (await browser.call("storage", action="get", key="kept"))["value"] == "here"


async def test_storage_is_read_despite_replaced_page_functions(browser: SessionBrowser) -> None:
    await browser.show(
        "<script>Storage.prototype.getItem = () => 'made up'; localStorage.a = 'real'</script>"
    )

    assert (await browser.call("storage", action="get", key="a"))["value"] == "real"


async def test_long_value_is_listed_truncated_and_read_in_pieces(browser: SessionBrowser) -> None:
    await browser.show("<p>x</p>")
    value = "".join(str(number) for number in range(5000))
    await browser.call("storage", action="set", key="long", value=value)

    listed = await browser.call("storage")
    first = await browser.call("storage", action="get", key="long")
    second = await browser.call("storage", action="get", key="long", offset=first["nextOffset"])

    assert listed["items"] == [
        {"key": "long", "value": f"{value[:200]}… [cut, {len(value)} characters]"},
    ]
    assert first == {"value": value[:10_000], "length": len(value), "nextOffset": 10_000}
    assert second == {"value": value[10_000:], "length": len(value)}


async def test_many_items_are_listed_in_pieces(browser: SessionBrowser) -> None:
    await browser.show("<script>for (let i = 100; i < 250; i++) localStorage[`key-${i}`] = i</script>")

    first = await browser.call("storage")
    second = await browser.call("storage", offset=first["nextOffset"])

    keys = [item["key"] for item in [*first["items"], *second["items"]]]
    assert keys == [f"key-{number}" for number in range(100, 250)]
    assert (first["count"], len(first["items"]), second["count"]) == (150, 100, 150)
    assert "nextOffset" not in second


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ({"action": "get"}, "MISSING_PARAMETER", "storage needs the parameter key to get"),
        ({"action": "remove"}, "MISSING_PARAMETER", "storage needs the parameter key to remove"),
        ({"action": "set", "key": "a"}, "MISSING_PARAMETER", "storage needs the parameter value to set"),
        ({"action": "set", "value": "a"}, "MISSING_PARAMETER", "storage needs the parameter key to set"),
        (
            {"action": "get", "key": "a", "value": "b"},
            "INVALID_PARAMETER",
            "value: not used by get; leave it out",
        ),
        ({"action": "list", "key": "a"}, "INVALID_PARAMETER", "key: not used by list; leave it out"),
        ({"action": "clear", "key": "a"}, "INVALID_PARAMETER", "key: not used by clear; leave it out"),
        ({"action": "clear", "offset": 1}, "INVALID_PARAMETER", "offset: not used by clear; leave it out"),
        (
            {"action": "drop"},
            "INVALID_PARAMETER",
            "action: must be 'list', 'get', 'set', 'remove' or 'clear'",
        ),
        ({"area": "cookies"}, "INVALID_PARAMETER", "area: must be 'local' or 'session'"),
        ({"offset": -1}, "INVALID_PARAMETER", "offset: must be greater than or equal to 0"),
    ],
)
async def test_invalid_storage_arguments_are_refused_by_field(
    browser: SessionBrowser, arguments: dict[str, Any], code: str, message: str
) -> None:
    error = await browser.refused("storage", **arguments)

    assert error["code"] == code
    assert error["message"].startswith(message)
    assert error["details"]["parameter"] == next(
        word for word in ("key", "value", "offset", "action", "area") if word in message
    ) or message.startswith(error["details"]["parameter"])


async def test_an_offset_beyond_the_end_is_refused(browser: SessionBrowser) -> None:
    await browser.show("<script>localStorage.a = 'b'</script>")

    error = await browser.refused("storage", action="get", key="a", offset=2)

    assert error["message"] == "offset: 2 is beyond the end; the text has 1 characters"


@pytest.mark.parametrize("area", ["local", "session"])
@pytest.mark.parametrize("action", ["list", "clear"])
async def test_a_page_without_an_origin_has_no_storage(
    browser: SessionBrowser, area: str, action: str
) -> None:
    error = await browser.refused("storage", area=area, action=action)

    assert (error["code"], error["message"]) == (
        "INVALID_PARAMETER",
        f"area: about:blank has no {area} storage",
    )
    assert error["suggestion"] == (
        "Navigate to a page of the site first; only http and https pages have one."
    )


@pytest.mark.skipif(ENGINE != "chromium", reason="the limits differ")
async def test_value_above_the_storage_quota_is_refused(browser: SessionBrowser) -> None:
    await browser.show("<script>localStorage.a = 'x'.repeat(5_200_000)</script>")

    error = await browser.refused("storage", action="set", key="b", value="y" * 100_000)

    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"] == (
        "value: it does not fit into the local storage any more; remove something first"
    )
