"""With `security.blockPrivateNetworks`, pages reach only public addresses and listed ones."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.conftest import Browser, connect_browser
from tests.site import Site

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def blocking(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Browser]:
    """Start a server whose pages may reach 127.0.0.1 and no other private address."""
    folder: Path = tmp_path_factory.mktemp("blocking")
    flags = ("--allow-domain", "*", "--allow-domain", "127.0.0.1", "--enable-script-evaluation")
    async with connect_browser(
        site, *flags, cwd=folder, FOOTLIGHT_SECURITY_BLOCK_PRIVATE_NETWORKS="true"
    ) as browser:
        yield browser


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "host", ["localhost", "a.localhost", "127.0.0.2", "[::1]", "10.0.0.1", "0x0a000001", "[64:ff9b::c0a8:1]"]
)
async def test_private_addresses_are_not_opened(blocking: Browser, site: Site, host: str) -> None:
    url = f"http://{host}:{site.port}/private"

    for given in (url, site.redirect(url)):
        error = await blocking.refused("navigate", url=given)
        assert error["code"] == "PERMISSION_DENIED"
        assert "security.blockPrivateNetworks" in error["suggestion"]
    assert ("GET", "/private") not in site.requests


@pytest.mark.slow
async def test_listed_address_is_reached_but_its_page_reaches_no_other(blocking: Browser, site: Site) -> None:
    await blocking.show("<p>here</p>")
    script = f"fetch('http://localhost:{site.port}/private', {{mode: 'no-cors'}}).then(it => it.type, String)"

    await blocking.call("evaluate", script=script)

    assert await blocking.call("get_text", selector="p") == {"text": "here"}
    assert ("GET", "/private") not in site.requests
