"""The error codes, compared word for word with those of the specification."""

from __future__ import annotations

from types import ModuleType

import pytest

from footlight import app_errors, errors
from footlight.errors import (
    CODES,
    DeadlineExceededError,
    ElementNotFoundError,
    FootlightError,
    InternalError,
    InvalidSelectorError,
)
from footlight.server.answers.answer import failure

USER_CODES = {
    "INVALID_SELECTOR",
    "INVALID_URL",
    "MISSING_PARAMETER",
    "SESSION_NOT_FOUND",
    "ELEMENT_NOT_FOUND",
    "ELEMENT_NOT_INTERACTIVE",
}
SERVER_CODES = {"BROWSER_CRASHED", "TIMEOUT", "NETWORK_ERROR", "INTERNAL_ERROR", "RESOURCE_EXHAUSTED"}
"""003 §5.1."""

ALSO = {"NAVIGATION_FAILED"}
"""Used in 003 §2.2 and §5.3, and not in the lists."""

OURS = {
    *("INVALID_PARAMETER", "PERMISSION_DENIED", "BROWSER_NOT_INSTALLED", "DIALOG_OPEN", "STALE_REF"),
    *("HELP_REFUSED", "HUMAN_IN_CONTROL", "LAUNCH_FAILED", "EXPECTATION_FAILED", "WORKER_LOST"),
    *("QUOTA_EXCEEDED", "PAGE_TOOL_FAILED"),
}
"""Outside the document."""

RETRYABLE = {"TIMEOUT", "NETWORK_ERROR", "BROWSER_CRASHED", "RESOURCE_EXHAUSTED", "HUMAN_IN_CONTROL"}
"""003 §5.3, and one of ours."""

SUGGESTIONS = {
    "ELEMENT_NOT_FOUND": "Verify the selector using browser devtools. The element may be loaded dynamically "
    "- try using wait_for_selector first.",
    "TIMEOUT": "Increase the timeout parameter or check if the page is loading slowly.",
    "INVALID_SELECTOR": "Check selector syntax. CSS selectors should not start with //, XPath should start "
    "with //",
    "SESSION_NOT_FOUND": "Create a new session with create_session tool.",
    "BROWSER_CRASHED": "Browser crashed unexpectedly. This may indicate a memory issue or problematic page "
    "content.",
    "INTERNAL_ERROR": "Please try again or contact support if the issue persists.",
}
"""003 §5.3; the last is its default."""

BY_CODE = {each.code: each for each in CODES}


def test_error_codes_are_those_of_the_specification_plus_own_codes() -> None:
    assert set(BY_CODE) == USER_CODES | SERVER_CODES | ALSO | OURS
    assert len(BY_CODE) == len(CODES)
    assert {each.code for each in CODES if not each.is_specified} == OURS


def test_every_error_has_its_code_in_a_table() -> None:
    assert errors_in(errors) - {FootlightError, errors.ConfigurationError} == set(errors.CODES)
    assert errors_in(app_errors) == set(app_errors.APP_CODES)


def errors_in(module: ModuleType) -> set[type[FootlightError]]:
    public = (getattr(module, name) for name in module.__all__)
    return {value for value in public if isinstance(value, type) and issubclass(value, FootlightError)}


@pytest.mark.parametrize("code", BY_CODE)
def test_only_retryable_codes_are_marked_retryable(code: str) -> None:
    assert BY_CODE[code]("Something happened").retryable is (code in RETRYABLE)


@pytest.mark.parametrize("code", SUGGESTIONS)
def test_suggestions_match_the_specification_word_for_word(code: str) -> None:
    assert BY_CODE[code]("Something happened").suggestion == SUGGESTIONS[code]


@pytest.mark.parametrize("code", sorted(set(BY_CODE) - set(SUGGESTIONS)))
def test_other_suggestions_differ_from_the_default(code: str) -> None:
    suggestion = BY_CODE[code]("Something happened").suggestion

    assert suggestion.endswith(".")
    assert suggestion != SUGGESTIONS["INTERNAL_ERROR"]


def test_element_not_found_error_matches_the_specification() -> None:
    error = ElementNotFoundError.at("#submit-button", page="https://example.com/form", closest=[])

    assert failure(error).content == {
        "success": False,
        "error": {
            "code": "ELEMENT_NOT_FOUND",
            "message": 'No element found matching selector "#submit-button"',
            "details": {"selector": "#submit-button", "page": "https://example.com/form"},
            "retryable": False,
            "suggestion": SUGGESTIONS["ELEMENT_NOT_FOUND"],
        },
    }


def test_element_not_found_error_appends_closest_elements() -> None:
    error = ElementNotFoundError.at("#save", page="about:blank", closest=["button 'Save'", "link 'Save as'"])

    assert error.message == (
        "No element found matching selector \"#save\". Closest on the page: button 'Save'; link 'Save as'"
    )
    assert error.details == {
        "selector": "#save",
        "page": "about:blank",
        "closest": ["button 'Save'", "link 'Save as'"],
    }


def test_invalid_selector_is_not_an_element_not_found_error() -> None:
    assert InvalidSelectorError("x").code == "INVALID_SELECTOR"
    assert not issubclass(InvalidSelectorError, ElementNotFoundError)
    assert not issubclass(ElementNotFoundError, InvalidSelectorError)


def test_error_arguments_override_the_defaults_of_its_class() -> None:
    error = DeadlineExceededError(
        "Navigation timed out after 30000ms",
        suggestion="Wait.",
        retryable=False,
        url="https://slow-site.com",
        timeout=30_000,
        page=None,
    )

    assert str(error) == error.message == "Navigation timed out after 30000ms"
    assert (error.suggestion, error.retryable) == ("Wait.", False)
    assert error.details == {"url": "https://slow-site.com", "timeout": 30_000}


def test_base_error_is_an_internal_error() -> None:
    assert FootlightError.code == InternalError.code == "INTERNAL_ERROR"
    assert FootlightError("x").suggestion == SUGGESTIONS["INTERNAL_ERROR"]


def test_the_public_names_are_sorted() -> None:
    assert errors.__all__ == sorted(errors.__all__, key=lambda name: (not name.isupper(), name))
