"""Fixtures of the tests of the demo."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
