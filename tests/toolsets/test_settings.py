"""Each toolset refuses the settings that it does not use."""

from typing import Any

import pytest

from footlight.config.loading import load_settings
from footlight.errors import ConfigurationError
from footlight.toolsets import make_toolset


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            {"toolset": "szkrabok", "browser.type": "firefox"},
            "setting 'toolset' to be 'szkrabok' needs 'browser.type' to be 'chromium', "
            "and no 'browser.cdpEndpoint'",
        ),
        (
            {"toolset": "metamask", "browser.cdpEndpoint": "http://127.0.0.1:9222"},
            "setting 'toolset' to be 'metamask' needs 'browser.type' to be 'chromium', "
            "and no 'browser.cdpEndpoint'",
        ),
        (
            {"toolset": "szkrabok", "app.profile": "an.app:APP"},
            "setting 'app.profile' needs 'toolset' to be 'metamask', not 'szkrabok'",
        ),
        (
            {"toolset": "browser", "app.profile": "an.app:APP"},
            "setting 'app.profile' needs 'toolset' to be 'metamask', not 'browser'",
        ),
        (
            {"toolset": "szkrabok", "knowledge.directory": "steps"},
            "setting 'knowledge.directory' needs 'toolset' to be 'browser' or 'metamask', not 'szkrabok'",
        ),
        (
            {"toolset": "szkrabok", "browser.extensions": ["extension"]},
            "setting 'browser.extensions' needs 'toolset' to be 'browser', not 'szkrabok'",
        ),
        (
            {"toolset": "metamask", "browser.extensions": ["extension"]},
            "setting 'browser.extensions' needs 'toolset' to be 'browser', not 'metamask'",
        ),
        (
            {"browser.type": "webkit", "browser.extensions": ["extension"]},
            "setting 'browser.extensions' needs 'browser.type' to be 'chromium', "
            "and no 'browser.cdpEndpoint'",
        ),
    ],
)
def test_a_setting_that_the_toolset_does_not_use_is_refused(flags: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        make_toolset(load_settings(flags=flags))

    assert raised.value.message == message


@pytest.mark.parametrize("name", ["browser", "szkrabok", "metamask"])
def test_each_toolset_starts_with_default_settings(name: str) -> None:
    toolset = make_toolset(load_settings(flags={"toolset": name}))

    assert {*toolset.minimal} < {*toolset.offered}
    assert toolset.describe(None) in toolset.describe(["PIN"])
