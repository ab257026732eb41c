"""Searching and summarizing recorded steps."""

from __future__ import annotations

import pytest

from footlight.apps.metamask.fixtures import PASSWORD
from tests.toolsets.metamask.conftest import Server

pytestmark = pytest.mark.anyio


async def test_screen_description_includes_steps_that_worked_before(app: Server) -> None:
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


async def test_wrong_password_is_not_recorded_as_working(app: Server) -> None:
    """What is told can be followed: first typed, then clicked."""
    await app.call("mm_click", testId="account-options-menu-button", observe="none")
    await app.call("mm_click", testId="global-menu-lock", observe="none")
    await app.call("mm_wait_for", testId="unlock-password")
    before = (await app.call("mm_describe_screen", priorKnowledge=True))["priorKnowledge"]["worked"]
    await app.call("mm_type", testId="unlock-password", text="not the password", observe="none")
    await app.call("mm_click", testId="unlock-submit", observe="none")
    await app.call("mm_wait_for", selector="role=alert")

    after = (await app.call("mm_describe_screen", priorKnowledge=True))["priorKnowledge"]["worked"]

    assert after == before
    assert [each["target"] for each in after] == ["testId=unlock-password", "testId=unlock-submit"]
    assert after[-1]["leadTo"] == "home"


@pytest.mark.slow
async def test_confirmation_is_recognized_by_its_content(app: Server) -> None:
    """Windows of the app, and sites, have no name as screens."""
    await app.open_dapp()
    for _ in range(2):
        await app.call("mm_click", testId="dapp-connect", observe="none")
        await app.call("mm_wait_for_notification")
        await app.call("mm_wait_for", testId="confirm-btn")
        answer = await app.call("mm_describe_screen", priorKnowledge=True)
        await app.call("mm_click", testId="cancel-btn", observe="none")
        await app.call("mm_switch_tab", role="dapp")
        await app.call("mm_get_state")

    prior = answer["priorKnowledge"]
    assert (answer["state"]["currentScreen"], prior["screen"]) == ("unknown", "unknown")
    assert "testId=cancel-btn" in [each["target"] for each in prior["worked"]]
    assert not [each for each in prior["worked"] if "dapp" in each["target"]]


async def test_knowledge_search_without_matches_is_empty(idle: Server) -> None:
    assert (await idle.call("mm_knowledge_search", query="xylophone"))["matches"] == []
