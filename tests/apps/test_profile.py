"""App profiles: how a screen is recognised, and which profiles are invalid."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from footlight.apps import profile
from footlight.apps.metamask.app import METAMASK
from footlight.apps.profile import AppProfile, LaunchRequest, Reading, Screen, Services
from footlight.knowledge.records import SCREENS

APP = AppProfile(
    name="Shop",
    screens=(
        Screen(name="basket", test_id="basket"),
        Screen(name="shelf", test_id="shelf", url=r"#/?shelf"),
        Screen(name="basket", url=r"^/basket\.html"),
    ),
)


@pytest.mark.parametrize(
    ("path", "test_ids", "name"),
    [
        ("/home.html", ["shelf"], "shelf"),
        ("/home.html", ["shelf", "basket"], "basket"),
        ("/home.html#shelf", ["basket"], "basket"),
        ("/home.html#shelf", [], "shelf"),
        ("/basket.html", ["other"], "basket"),
        ("/home.html", ["other"], "unknown"),
        ("", [], "unknown"),
    ],
)
def test_screen_is_detected_by_test_id_or_url(path: str, test_ids: list[str], name: str) -> None:
    assert APP.screen_at(path, test_ids).name == name


def test_screen_names_are_unique_and_include_unknown() -> None:
    assert APP.screen_names == ("basket", "shelf", "unknown")


def test_wallet_screens_match_the_specification() -> None:
    """The folders are listed in the order of the search."""
    assert METAMASK.screen_names == SCREENS
    assert METAMASK.screen_at("/home.html", ["account-menu-icon", "unlock-password"]).name == "unlock"
    assert [each.name for each in METAMASK.screens if each.unlocked] == ["home", "settings"]
    assert {each.name for each in METAMASK.screens if each.secret} == {"onboarding-srp"}


async def the_defaults() -> tuple[object, ...]:
    app = AppProfile(name="Notes")
    async with app.services(LaunchRequest(repository=Path())) as services:
        return app.prefix, app.home, app.settings, app.notification, app.screens, services.find_failure()


@pytest.mark.anyio
async def test_only_the_name_is_required() -> None:
    assert await the_defaults() == ("app", "home.html", None, None, (), None)
    assert Services().find_failure() is None


@pytest.mark.parametrize("prefix", ["", "X", "1a", "a_b", "a-b", "a" * 17, "ä", "a\n"])
def test_invalid_prefix_is_refused(prefix: str) -> None:
    with pytest.raises(ValueError, match=r"^prefix: "):
        AppProfile(name="Notes", prefix=prefix)


def test_invalid_url_pattern_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^screen home: url is not a valid regular expression: "):
        Screen(name="home", url="(")


def test_repr_contains_no_secrets() -> None:
    app = AppProfile(name="Notes", secrets=("hunter2",))
    request = LaunchRequest(repository=Path(), fixture={"vault": "hunter2"})

    assert "hunter2" not in repr(app) + repr(request)


def test_profile_module_exports_all_public_names() -> None:
    assert profile.__all__ == [
        "UNKNOWN",
        "AppProfile",
        "BuildRequest",
        "Facts",
        "LaunchRequest",
        "Reading",
        "Screen",
        "Services",
        "StateMode",
    ]
    assert [each.name for each in dataclasses.fields(Reading)] == ["app", "services", "screen", "test_ids"]
