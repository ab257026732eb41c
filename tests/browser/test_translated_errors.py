"""The errors of the browser that its message alone determines."""

from __future__ import annotations

from footlight.browser.driver.playwright_api import Error, translate_error


def test_picture_that_the_browser_could_not_draw_can_be_taken_again() -> None:
    """A browser answers so while its graphics process starts again."""
    error = translate_error(
        Error("Page.screenshot: Protocol error (Page.captureScreenshot): Unable to capture screenshot")
    )

    assert error is not None
    assert (error.code, error.retryable) == ("RESOURCE_EXHAUSTED", True)
    assert error.suggestion is not None
    assert error.suggestion.startswith("Call again")
