"""Link-local addresses, where clouds serve a machine's credentials, cannot be reached in any way."""

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


HOSTS = (
    "169.254.169.254",
    "2852039166",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "[0:0:0:0:0:ffff:a9fe:1]",
    "[64:ff9b::169.254.169.254]",
    "[fe80::1]",
    "[febf::1]",
    "[fd00:ec2::254]",
)


@pytest.mark.parametrize("host", HOSTS)
async def test_redirect_to_a_link_local_address_is_blocked(
    browser: SessionBrowser, site: Site, host: str
) -> None:
    error = await browser.refused("navigate", url=site.redirect(f"http://{host}/latest/meta-data/"))

    assert error["code"] == "PERMISSION_DENIED"


@pytest.mark.parametrize("host", HOSTS)
async def test_page_cannot_request_a_link_local_address(
    browser: SessionBrowser, site: Site, host: str
) -> None:
    await browser.show("<p>here</p>")

    said = await browser.call(
        "evaluate",
        script=f"fetch('http://{host}/', {{mode: 'no-cors'}}).then(() => 'reached', String)",
    )

    assert said == {"result": "TypeError: Failed to fetch"}
    failures = [entry.get("failure") for entry in (await browser.call("get_request_log"))["entries"]]
    assert failures[-1] == "net::ERR_NAME_NOT_RESOLVED"
