"""Every error that Footlight raises on purpose: one tree, and with it the table of codes.

A class says what went wrong (`code`), whether the same call may succeed later (`retryable`) and what
to do about it (`suggestion`); an instance adds the message and the details. Whatever is not in this
tree is a bug, and leaves as `INTERNAL_ERROR` (R003-68 to R003-75).
"""

from __future__ import annotations

from typing import Any, ClassVar

__all__ = [
    "APP_CODES",
    "CODES",
    "BrowserCrashed",
    "BrowserNotInstalled",
    "BuildFailed",
    "ConfigurationError",
    "DeadlineExceeded",
    "DependenciesMissing",
    "DialogOpen",
    "ElementNotFound",
    "ElementNotInteractive",
    "FootlightError",
    "InternalError",
    "InvalidConfig",
    "InvalidParameter",
    "InvalidSelector",
    "InvalidUrl",
    "LaunchFailed",
    "MissingParameter",
    "NavigationFailed",
    "NetworkFailed",
    "NoActiveSession",
    "NotificationTimeout",
    "PermissionDenied",
    "PortInUse",
    "ResourceExhausted",
    "SessionAlreadyRunning",
    "SessionNotFound",
    "StaleRef",
]


class FootlightError(Exception):
    """The root. `details` are plain JSON values, None ones left out; the rest defaults to the class's."""

    code: ClassVar[str] = "INTERNAL_ERROR"
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


class MissingParameter(FootlightError):
    """A required parameter was not given."""

    code = "MISSING_PARAMETER"
    default_suggestion = "Call the tool again with every required parameter."


class InvalidParameter(FootlightError):
    """A parameter has the wrong type or value, or is not known. Ours, not the document's."""

    code = "INVALID_PARAMETER"
    default_suggestion = "Correct the named parameter and call the tool again."


class InvalidUrl(FootlightError):
    """A URL that no browser could open."""

    code = "INVALID_URL"
    default_suggestion = "Give an absolute URL that starts with http:// or https://."


class InvalidSelector(FootlightError):
    """A selector that cannot be parsed (R003-75)."""

    code = "INVALID_SELECTOR"
    default_suggestion = (
        "Check selector syntax. CSS selectors should not start with //, XPath should start with //"
    )


class SessionNotFound(FootlightError):
    """The session was never made, was closed, or expired."""

    code = "SESSION_NOT_FOUND"
    default_suggestion = "Create a new session with create_session tool."


class ElementNotFound(FootlightError):
    """Nothing on the page matches the selector."""

    code = "ELEMENT_NOT_FOUND"
    default_suggestion = (
        "Verify the selector using browser devtools. The element may be loaded dynamically - "
        "try using wait_for_selector first."
    )

    @classmethod
    def at(cls, selector: str, *, page: str, closest: list[str]) -> ElementNotFound:
        """`closest` are the likest elements that the page does have."""
        message = f'No element found matching selector "{selector}"'
        if not closest:
            return cls(message, selector=selector, page=page)
        near = "; ".join(closest)
        return cls(f"{message}. Closest on the page: {near}", selector=selector, page=page, closest=closest)


class StaleRef(FootlightError):
    """A ref whose element is gone, with nothing that is certain to have taken its place. Ours."""

    code = "STALE_REF"
    default_suggestion = "Use the ref of a candidate, or take a new snapshot."

    @property
    def is_gone(self) -> bool:
        """Whether its element left the page, rather than came to mean something else."""
        return self.details.get("gone") is True


class ElementNotInteractive(FootlightError):
    """The element is there, but hidden, disabled, covered, or of the wrong kind."""

    code = "ELEMENT_NOT_INTERACTIVE"
    default_suggestion = (
        "Look at the page with screenshot, remove what is in the way (close a dialog, scroll, fill what "
        "enables the control), then try again."
    )


class DialogOpen(FootlightError):
    """A dialog waits for its answer, and its page stands still until it has it. Ours, not the document's."""

    code = "DIALOG_OPEN"
    default_suggestion = "Answer it with handle_dialog, accept true or false, then call again."

    @classmethod
    def at(cls, page_id: str, *, type: str, message: str, default_value: str | None = None) -> DialogOpen:
        said = f': "{message}"' if message else ""
        return cls(
            f"{page_id} waits for the answer to its dialog, {type}{said}",
            pageId=page_id,
            type=type,
            message=message,
            defaultValue=default_value,
        )


class BrowserCrashed(FootlightError):
    """The browser, or the page's own process, is gone."""

    code = "BROWSER_CRASHED"
    default_retryable = True
    default_suggestion = (
        "Browser crashed unexpectedly. This may indicate a memory issue or problematic page content."
    )


class DeadlineExceeded(FootlightError):
    """The call ran out of time."""

    code = "TIMEOUT"
    default_retryable = True
    default_suggestion = "Increase the timeout parameter or check if the page is loading slowly."


class NavigationFailed(FootlightError):
    """`navigate` could not open the URL."""

    code = "NAVIGATION_FAILED"
    default_suggestion = "Check that the URL is right and that the site can be reached from this machine."


class NetworkFailed(FootlightError):
    """A network failure outside `navigate`."""

    code = "NETWORK_ERROR"
    default_retryable = True
    default_suggestion = "Check that the site can be reached, then try again."


class ResourceExhausted(FootlightError):
    """No session or browser is left to give."""

    code = "RESOURCE_EXHAUSTED"
    default_retryable = True
    default_suggestion = "Close a session that is not needed with close_session, then try again."


class BrowserNotInstalled(FootlightError):
    """No usable browser on this machine. Ours, not the document's."""

    code = "BROWSER_NOT_INSTALLED"
    default_suggestion = "Run `footlight doctor --install`."


class PermissionDenied(FootlightError):
    """The server's policy refuses the call. Ours, not the document's."""

    code = "PERMISSION_DENIED"
    default_suggestion = "The server's configuration forbids this; whoever runs the server can change it."


class InternalError(FootlightError):
    """A bug of ours. `details.errorId` finds the traceback in the server's log."""

    code = "INTERNAL_ERROR"


# An app under test (document 002): what is particular to building and launching one.


class DependenciesMissing(FootlightError):
    """What building or launching the app needs is not installed."""

    code = "DEPENDENCIES_MISSING"
    default_suggestion = "Install what is named, then try again."


class BuildFailed(FootlightError):
    """The build of the app ended badly, or took too long."""

    code = "BUILD_FAILED"
    default_suggestion = "Read the end of the build's output in the details; the server's log has all of it."


class LaunchFailed(FootlightError):
    """The app, or a service that it needs, did not start. Nothing of it is left."""

    code = "LAUNCH_FAILED"
    default_suggestion = "Correct what is named, then launch again."


class InvalidConfig(FootlightError):
    """The options of a launch do not fit together, or name what there is not."""

    code = "INVALID_CONFIG"
    default_suggestion = "Correct the named option, then launch again."


class PortInUse(FootlightError):
    """A port that a service of the app needs is taken."""

    code = "PORT_IN_USE"
    default_suggestion = "End whatever listens there, or give another port."


class SessionAlreadyRunning(FootlightError):
    """There is one app at a time (R002-8)."""

    code = "SESSION_ALREADY_RUNNING"
    default_suggestion = "Use the session that runs, or clean it up first."


class NoActiveSession(SessionNotFound):
    """No app is running."""

    code = "NO_ACTIVE_SESSION"
    default_suggestion = "Launch the app first."


class NotificationTimeout(FootlightError):
    """No notification window of the app opened in time."""

    code = "NOTIFICATION_TIMEOUT"
    default_retryable = True
    default_suggestion = "See that the page has asked the app for something, then wait again."


class ConfigurationError(FootlightError):
    """A setting is unknown or wrong. Raised before there is a server; never reaches a client."""

    code = "CONFIGURATION_ERROR"
    default_suggestion = "Correct the setting; docs/reference/configuration.md lists them all."


CODES: tuple[type[FootlightError], ...] = (
    MissingParameter,
    InvalidParameter,
    InvalidUrl,
    InvalidSelector,
    SessionNotFound,
    ElementNotFound,
    StaleRef,
    ElementNotInteractive,
    DialogOpen,
    PermissionDenied,
    BrowserNotInstalled,
    BrowserCrashed,
    DeadlineExceeded,
    NavigationFailed,
    NetworkFailed,
    ResourceExhausted,
    InternalError,
)
"""What a client can see, in the order of the reference page."""

APP_CODES: tuple[type[FootlightError], ...] = (
    BuildFailed,
    DependenciesMissing,
    SessionAlreadyRunning,
    LaunchFailed,
    InvalidConfig,
    PortInUse,
    NoActiveSession,
    NotificationTimeout,
)
"""What is told beside `CODES` by toolsets for an app under test."""
