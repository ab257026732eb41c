"""Every error that Footlight raises on purpose, and the lists of their codes.

A class has the code, whether the same call may succeed later (`retryable`) and what to do about it
(`suggestion`); an instance adds the message and the details. Any other exception is a bug, which clients see
as `INTERNAL_ERROR`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

__all__ = [
    "CODES",
    "DOCUMENTATION_URL",
    "LOOK_FIRST",
    "BrowserCrashedError",
    "BrowserNotInstalledError",
    "ConfigurationError",
    "DeadlineExceededError",
    "DialogOpenError",
    "ElementNotFoundError",
    "ElementNotInteractiveError",
    "ExpectationFailedError",
    "FootlightError",
    "HelpRefusedError",
    "HumanInControlError",
    "InternalError",
    "InvalidParameterError",
    "InvalidSelectorError",
    "InvalidUrlError",
    "LaunchFailedError",
    "MissingParameterError",
    "NavigationFailedError",
    "NetworkFailedError",
    "PageToolFailedError",
    "PermissionDeniedError",
    "QuotaExceededError",
    "ResourceExhaustedError",
    "SessionNotFoundError",
    "StaleRefError",
    "WorkerLostError",
]

DOCUMENTATION_URL = "https://footlight.github.io/footlight/"
"""The documentation, unless the setting `documentationUrl` says otherwise."""
LOOK_FIRST = "Look at the page before you repeat the call: its action may have been done."


class FootlightError(Exception):
    """The base class of all errors. `details` are JSON values; those that are None are left out."""

    code: ClassVar[str] = "INTERNAL_ERROR"
    is_specified: ClassVar[bool] = True
    """Whether the specification of the browser server has the code, or Footlight added it."""
    default_retryable: ClassVar[bool] = False
    default_suggestion: ClassVar[str] = "Please try again or contact support if the issue persists."

    def __init__(
        self,
        message: str,
        /,
        *,
        suggestion: str | None = None,
        retryable: bool | None = None,
        **details: Any,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.suggestion = suggestion or self.default_suggestion
        self.retryable = self.default_retryable if retryable is None else retryable
        self.details = {name: value for name, value in details.items() if value is not None}

    @classmethod
    def documentation_page(cls) -> str:
        """Return the page and anchor of the code, relative to the documentation."""
        return f"reference/errors.html#{cls.code.lower()}"

    @classmethod
    def documentation_link(cls, documentation: str) -> str:
        """Return the URL of the page, for the URL of the documentation."""
        return f"{documentation.rstrip('/')}/{cls.documentation_page()}"


class MissingParameterError(FootlightError):
    """A required parameter was not given."""

    code = "MISSING_PARAMETER"
    default_suggestion = "Call the tool again with every required parameter."


class InvalidParameterError(FootlightError):
    """A parameter has the wrong type or value, or is not known."""

    code = "INVALID_PARAMETER"
    is_specified = False
    default_suggestion = "Correct the named parameter and call the tool again."


class InvalidUrlError(FootlightError):
    """The URL is not one that a browser can open."""

    code = "INVALID_URL"
    default_suggestion = "Use an absolute URL that starts with http:// or https://."


class InvalidSelectorError(FootlightError):
    """The selector cannot be parsed."""

    code = "INVALID_SELECTOR"
    default_suggestion = (
        "Check selector syntax. CSS selectors should not start with //, XPath should start with //"
    )


class SessionNotFoundError(FootlightError):
    """The session never existed, was closed, or expired."""

    code = "SESSION_NOT_FOUND"
    default_suggestion = "Create a new session with create_session tool."


class ElementNotFoundError(FootlightError):
    """Nothing on the page matches the selector."""

    code = "ELEMENT_NOT_FOUND"
    default_suggestion = (
        "Verify the selector using browser devtools. The element may be loaded dynamically - "
        "try using wait_for_selector first."
    )

    @classmethod
    def at(cls, selector: str, *, page: str, closest: list[str]) -> ElementNotFoundError:
        """Return the error, with the elements of the page that are most like the missing one."""
        message = f'No element found matching selector "{selector}"'
        if not closest:
            return cls(message, selector=selector, page=page)
        candidates = "; ".join(closest)
        return cls(
            f"{message}. Closest on the page: {candidates}", selector=selector, page=page, closest=closest
        )


class StaleRefError(FootlightError):
    """The element of the ref is gone, and no other element is certain to have replaced it."""

    code = "STALE_REF"
    is_specified = False
    default_suggestion = "Use the ref of a candidate, or take a new snapshot."

    @property
    def is_gone(self) -> bool:
        """Return whether the element left the page, and was not replaced by one with another meaning."""
        return self.details.get("gone") is True


class ElementNotInteractiveError(FootlightError):
    """The element exists, but is hidden, disabled, covered, or of the wrong kind."""

    code = "ELEMENT_NOT_INTERACTIVE"
    default_suggestion = (
        "Look at the page with screenshot, remove what is in the way (close a dialog, scroll, fill what "
        "enables the control), then try again."
    )


class ExpectationFailedError(FootlightError):
    """The page did not meet the expectation of the call in time. The action itself was done."""

    code = "EXPECTATION_FAILED"
    is_specified = False
    default_suggestion = (
        "The action was done: look at the page before you repeat it. Or correct what the call expects."
    )


class DialogOpenError(FootlightError):
    """A dialog is open, and its page is stopped until the dialog is answered."""

    code = "DIALOG_OPEN"
    is_specified = False
    default_suggestion = "Answer it with handle_dialog, accept true or false, then call again."

    @classmethod
    def at(
        cls, page_id: str, *, type: str, message: str, default_value: str | None = None
    ) -> DialogOpenError:
        quoted = f': "{message}"' if message else ""
        return cls(
            f"{page_id} waits for the answer to its dialog, {type}{quoted}",
            pageId=page_id,
            type=type,
            message=message,
            defaultValue=default_value,
        )


class HumanInControlError(FootlightError):
    """A person has taken over the session, and has not given it back yet."""

    code = "HUMAN_IN_CONTROL"
    is_specified = False
    default_retryable = True
    default_suggestion = "Call again in a while, when the person has given the session back."


class HelpRefusedError(FootlightError):
    """The person who was asked for help declined, or closed the question."""

    code = "HELP_REFUSED"
    is_specified = False
    default_suggestion = "Continue without help, or end the task and say what is missing."


class BrowserCrashedError(FootlightError):
    """The browser or the process of the page has ended."""

    code = "BROWSER_CRASHED"
    default_retryable = True
    default_suggestion = (
        "Browser crashed unexpectedly. This may indicate a memory issue or problematic page content."
    )

    def forbid_retry(self, *, dispatched: Literal[True, "unknown"]) -> None:
        """Say that the call acted in the page, or may have: a client must look before it repeats the call."""
        self.retryable, self.suggestion = False, LOOK_FIRST
        self.details.setdefault("dispatched", dispatched)


class WorkerLostError(FootlightError):
    """The worker that had the session ended or cannot be reached. The call is not sent again."""

    code = "WORKER_LOST"
    is_specified = False
    default_suggestion = (
        "The sessions of that worker have ended. Create a session with create_session, then continue there."
    )


class DeadlineExceededError(FootlightError):
    """The call did not end within its time limit."""

    code = "TIMEOUT"
    default_retryable = True
    default_suggestion = "Increase the timeout parameter or check if the page is loading slowly."


class NavigationFailedError(FootlightError):
    """`navigate` could not open the URL."""

    code = "NAVIGATION_FAILED"
    default_suggestion = "Check that the URL is right and that the site can be reached from this machine."


class NetworkFailedError(FootlightError):
    """A network failure outside `navigate`."""

    code = "NETWORK_ERROR"
    default_retryable = True
    default_suggestion = "Check that the site can be reached, then try again."


class ResourceExhaustedError(FootlightError):
    """A limit of sessions or browsers is reached, or the disk is full."""

    code = "RESOURCE_EXHAUSTED"
    default_retryable = True
    default_suggestion = "Close a session that is not needed with close_session, then try again."


class QuotaExceededError(FootlightError):
    """The files of the session, or of all sessions, have as many bytes as the server allows."""

    code = "QUOTA_EXCEEDED"
    is_specified = False
    default_suggestion = "Delete files that are not needed, then try again."


class PageToolFailedError(FootlightError):
    """A tool that the page offers itself has failed."""

    code = "PAGE_TOOL_FAILED"
    is_specified = False
    default_suggestion = "Correct its input if the message says so, or act in the page with other tools."


class BrowserNotInstalledError(FootlightError):
    """There is no usable browser on this machine."""

    code = "BROWSER_NOT_INSTALLED"
    is_specified = False
    default_suggestion = "Run `footlight doctor --install`."


class PermissionDeniedError(FootlightError):
    """The settings of the server do not allow the call."""

    code = "PERMISSION_DENIED"
    is_specified = False
    default_suggestion = "Ask the server operator to change the settings of the server."


class InternalError(FootlightError):
    """A bug of Footlight. The server's log has the traceback under `details.errorId`."""

    code = "INTERNAL_ERROR"


class LaunchFailedError(FootlightError):
    """An extension, the app under test, or a service that it needs did not start. All of it was ended."""

    code = "LAUNCH_FAILED"
    is_specified = False
    default_suggestion = "Correct what the message names, then launch again."


class ConfigurationError(FootlightError):
    """A setting is unknown or wrong. It is raised before the server starts, so no client sees it."""

    code = "CONFIGURATION_ERROR"
    default_suggestion = "Correct the setting."

    @classmethod
    def documentation_page(cls) -> str:
        return "reference/configuration.html"


CODES: tuple[type[FootlightError], ...] = (
    MissingParameterError,
    InvalidParameterError,
    InvalidUrlError,
    InvalidSelectorError,
    SessionNotFoundError,
    ElementNotFoundError,
    StaleRefError,
    ElementNotInteractiveError,
    ExpectationFailedError,
    DialogOpenError,
    HumanInControlError,
    HelpRefusedError,
    PermissionDeniedError,
    BrowserNotInstalledError,
    BrowserCrashedError,
    WorkerLostError,
    DeadlineExceededError,
    NavigationFailedError,
    NetworkFailedError,
    ResourceExhaustedError,
    QuotaExceededError,
    PageToolFailedError,
    LaunchFailedError,
    InternalError,
)
"""The errors that clients of every toolset can see, in the order of the reference page."""
