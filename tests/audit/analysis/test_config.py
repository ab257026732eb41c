"""The configuration of an analysis, and the errors of invalid ones."""

from __future__ import annotations

from typing import Any

import pytest

from footlight.audit.analysis.config import AnalysisOptions, UXAnalysisConfig
from footlight.audit.analysis.personas import Persona
from footlight.errors import ConfigurationError

READER = Persona("Reader", "Reads everything.", ["Find the date"])
RIGHT: dict[str, Any] = {"url": "https://example.org/", "personas": [READER], "ai_provider": "anthropic"}


def test_a_config_has_a_url_personas_and_a_provider() -> None:
    config = UXAnalysisConfig(**RIGHT, focus_areas=["wording"])

    assert config == UXAnalysisConfig("https://example.org/", (READER,), "anthropic", None, ("wording",))


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"url": "example.org"}, "url must start with http:// or https://"),
        ({"url": "http://:99999"}, "url is not valid by the URL Standard; check its host and its port"),
        ({"personas": []}, "personas must have at least one persona"),
        ({"personas": READER}, "personas must be a list"),
        ({"personas": ["Reader"]}, "personas must be a list of personas"),
        ({"ai_provider": "other"}, "ai_provider must be one of openai, anthropic, google"),
        ({"ai_model": " "}, "ai_model must not be empty; omit it for the provider's default"),
        ({"focus_areas": "wording"}, "focus_areas must be a list"),
        ({"focus_areas": ["wording", ""]}, "focus_areas must not have empty entries"),
    ],
)
def test_invalid_config_names_the_field(wrong: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        UXAnalysisConfig(**{**RIGHT, **wrong})

    assert caught.value.message == problem


def test_goal_request_limit_must_be_at_least_one() -> None:
    with pytest.raises(ConfigurationError, match="goal_requests must be at least 1"):
        AnalysisOptions(goal_requests=0)


def test_repr_of_options_omits_the_environment() -> None:
    assert "key-of-somebody" not in repr(AnalysisOptions(environ={"OPENAI_API_KEY": "key-of-somebody"}))
