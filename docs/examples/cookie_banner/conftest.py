"""What the tests stand on, beside the fixtures of footlight's plugin."""

from collections.abc import Generator

import pytest
from site_with_banner import serve_site

collect_ignore = ["browser_tests"]  # browser.run_test runs them.


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def site() -> Generator[str]:
    with serve_site() as url:
        yield url
