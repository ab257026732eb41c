"""Where clouds keep a machine's credentials, no call leads, by no way."""

from __future__ import annotations

import pytest

from tests.conftest import SessionBrowser
from tests.site import Site

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://2852039166/",
        "http://0xA9.254.43518/",
        "http://[fe80::1]/",
        "http://[::ffff:169.254.169.254]/",
        "http://[fd00:ec2::254]/",
    ],
)
async def test_no_spelling_of_a_link_local_address_is_opened(browser: SessionBrowser, url: str) -> None:
    error = await browser.refused("navigate", url=url)

    assert error["code"] == "PERMISSION_DENIED"
    assert error["details"]["url"] == url


async def test_no_redirect_leads_to_a_link_local_address(browser: SessionBrowser, site: Site) -> None:
    error = await browser.refused("navigate", url=site.redirect("http://169.254.169.254/latest/meta-data/"))

    assert (error["code"], error["details"]["domain"]) == ("PERMISSION_DENIED", "169.254.169.254")


async def test_a_page_cannot_ask_a_link_local_address(browser: SessionBrowser, site: Site) -> None:
    await browser.show("<p>here</p>")

    said = await browser.call(
        "evaluate",
        script="fetch('http://169.254.169.254/', {mode: 'no-cors'}).then(() => 'reached', String)",
    )

    assert said == {"result": "TypeError: Failed to fetch"}
    [entry] = (await browser.call("get_request_log", filter="169.254.169.254"))["entries"]
    assert entry["failure"] == "net::ERR_NAME_NOT_RESOLVED"
