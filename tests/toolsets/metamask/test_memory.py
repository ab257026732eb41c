"""What was done before, told where it is asked for."""

from __future__ import annotations

import pytest

from footlight.apps.metamask.fixtures import PASSWORD
from tests.toolsets.metamask.conftest import Server

pytestmark = pytest.mark.anyio


async def test_a_screen_is_told_with_what_worked_on_it_before(app: Server) -> None:
    """A target is told by its test id: a ref of then means nothing now."""
    await app.call("mm_click", testId="account-options-menu-button", observe="none")
    await app.call("mm_click", testId="global-menu-lock", observe="none")
    await app.call("mm_wait_for", testId="unlock-password")
    await app.call("mm_type", testId="unlock-password", text=PASSWORD, observe="none")

    plain = await app.call("mm_describe_screen")
    asked = await app.call("mm_describe_screen", priorKnowledge=True)

    assert "priorKnowledge" not in plain
    prior = asked["priorKnowledge"]
    assert prior["screen"] == "unlock"
    assert ("mm_type", "unlock-password") in [
        (each["tool"], each["target"].removeprefix("testId=")) for each in prior["worked"]
    ]
    assert "a11yRef" not in str(prior)


async def test_nothing_is_known_of_what_nobody_did(idle: Server) -> None:
    """R002-58: without an app too."""
    assert (await idle.call("mm_knowledge_search", query="xylophone"))["matches"] == []
