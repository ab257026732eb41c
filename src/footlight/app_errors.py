"""The errors of the build, the launch and the use of an app under test."""

from __future__ import annotations

from footlight.errors import FootlightError, SessionNotFoundError

__all__ = [
    "APP_CODES",
    "BuildFailedError",
    "DependenciesMissingError",
    "InvalidConfigError",
    "NoActiveSessionError",
    "NotificationTimeoutError",
    "PortInUseError",
    "SessionAlreadyRunningError",
]


class DependenciesMissingError(FootlightError):
    """A program that the build or the launch of the app needs is not installed."""

    code = "DEPENDENCIES_MISSING"
    default_suggestion = "Install what the message names, then try again."


class BuildFailedError(FootlightError):
    """The build of the app failed, or took too long."""

    code = "BUILD_FAILED"
    default_suggestion = "Read the end of the build's output in the details; the server's log has all of it."


class InvalidConfigError(FootlightError):
    """The options of a launch do not go together, or name something that does not exist."""

    code = "INVALID_CONFIG"
    default_suggestion = "Correct the option that the message names, then launch again."


class PortInUseError(FootlightError):
    """A port that a service of the app needs is in use."""

    code = "PORT_IN_USE"
    default_suggestion = "Stop the process that listens on the port, or use another port."


class SessionAlreadyRunningError(FootlightError):
    """An app is running already; only one can run at a time."""

    code = "SESSION_ALREADY_RUNNING"
    default_suggestion = "Use the running session, or clean it up first."


class NoActiveSessionError(SessionNotFoundError):
    """No app is running."""

    code = "NO_ACTIVE_SESSION"
    default_suggestion = "Launch the app first."


class NotificationTimeoutError(FootlightError):
    """No notification window of the app opened in time."""

    code = "NOTIFICATION_TIMEOUT"
    default_retryable = True
    default_suggestion = "Check that the page has sent a request to the app, then wait again."


APP_CODES: tuple[type[FootlightError], ...] = (
    BuildFailedError,
    DependenciesMissingError,
    SessionAlreadyRunningError,
    InvalidConfigError,
    PortInUseError,
    NoActiveSessionError,
    NotificationTimeoutError,
)
"""The errors that only clients of a toolset for an app under test can see."""
