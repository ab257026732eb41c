"""The types of parameters that many tools use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from footlight.browser.actions.expectation import Expectation, RequestPattern
from footlight.browser.actions.waiting.url_pattern import UrlPattern
from footlight.browser.page.selectors import parse
from footlight.errors import InvalidParameterError, InvalidSelectorError
from footlight.server.answers.secrets import SecretText

__all__ = [
    "CONTRADICTION",
    "Count",
    "Expect",
    "ExpectedCounts",
    "ExpectedRequest",
    "ExpectedText",
    "ExpectedUrl",
    "ExpectedValues",
    "MaybeBudget",
    "Milliseconds",
    "Number",
    "Observe",
    "Settle",
    "Timeout",
    "Whole",
]

MAX_SELECTORS = 20
CONTRADICTION = "the text that must be gone is a part of the text that must be there"

Number = Annotated[float, Field(allow_inf_nan=False)]
Whole = Annotated[int, Field(json_schema_extra={"type": "number"})]
Count = Annotated[Whole, Field(ge=1)]
Milliseconds = Annotated[Number, Field(ge=1)]


def _omit_minimum(schema: dict[str, Any]) -> None:
    """Remove the minimum from a schema, because all tools of a page list the parameter."""
    del schema["minimum"]
    schema["type"] = "number"


Timeout = Annotated[Milliseconds, Field(json_schema_extra=_omit_minimum)] | None
Observe = Literal["none", "diff", "full"]
Settle = Literal["auto", "none"]
MaybeBudget = Annotated[int, Field(ge=200, json_schema_extra=_omit_minimum)] | None
"""The maximum number of characters of page content in an answer, or None for that of the settings."""


def _check_text(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def _check_url(text: str) -> str:
    try:
        UrlPattern(text, parameter="url")
    except InvalidParameterError as error:
        raise ValueError(error.message.partition(": ")[2]) from None
    return text


def _check_request(text: str) -> str:
    try:
        RequestPattern(text)
    except InvalidParameterError as error:
        raise ValueError(error.message.partition(": ")[2]) from None
    return text


def _check_selectors(by_selector: Mapping[str, object]) -> Mapping[str, object]:
    if not 1 <= len(by_selector) <= MAX_SELECTORS:
        raise ValueError(f"must have 1 to {MAX_SELECTORS} selectors")
    for selector, value in by_selector.items():
        try:
            parse(selector)
        except InvalidSelectorError as error:
            raise ValueError(error.message) from None
        if type(value) is int and value < 0:
            raise ValueError(f'the count of "{selector}" must be 0 or more')
    return by_selector


def _check_value(value: object) -> object:
    if not isinstance(value, str | bool):
        raise ValueError("must be a text, true or false")
    return value


# These limits are not in the schema, because every tool that acts would repeat them.
ExpectedText = Annotated[str, AfterValidator(_check_text)] | None
ExpectedUrl = Annotated[str, AfterValidator(_check_text), AfterValidator(_check_url)] | None
ExpectedRequest = Annotated[str, AfterValidator(_check_text), AfterValidator(_check_request)] | None
ExpectedValue = Annotated[SecretText | bool, BeforeValidator(_check_value)]
ExpectedValues = Annotated[dict[str, ExpectedValue], AfterValidator(_check_selectors)] | None
ExpectedCounts = Annotated[dict[str, Whole], AfterValidator(_check_selectors)] | None


def _fold(text: str) -> str:
    return " ".join(text.split()).lower()


def _omit_additional_properties(schema: dict[str, Any]) -> None:
    del schema["additionalProperties"]


class Expect(BaseModel):
    """Conditions that must all hold after a call."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, json_schema_extra=_omit_additional_properties
    )

    text: ExpectedText = None
    gone: ExpectedText = None
    url: ExpectedUrl = None
    request: ExpectedRequest = None
    value: ExpectedValues = None
    count: ExpectedCounts = None

    @model_validator(mode="after")
    def _check_conditions(self) -> Expect:
        if all(value is None for _, value in self):
            raise ValueError(f"needs at least one of {', '.join(type(self).model_fields)}")
        if self.is_contradictory():
            raise ValueError(CONTRADICTION)
        return self

    def is_contradictory(self) -> bool:
        """Return whether the text that must be present contains the one that must be absent."""
        return bool(self.text and self.gone) and _fold(self.gone or "") in _fold(self.text or "")

    def make_expectation(self) -> Expectation:
        return Expectation(
            text=self.text,
            gone=self.gone,
            url=UrlPattern(self.url, parameter="url") if self.url else None,
            request=RequestPattern(self.request) if self.request else None,
            value=self.value,
            count=self.count,
        )
