"""The page of the error codes of tools."""

from __future__ import annotations

from collections.abc import Iterable

from footlight.app_errors import APP_CODES
from footlight.errors import CODES, ConfigurationError, FootlightError
from scripts.reference.markdown import bullets, join, prose, table, yes_or_no

INTRO = """\
A tool that fails returns `{success: false, error}`, and its result is marked `isError`. `error` is
`{code, message, details, retryable, suggestion}`:

- `message` says what happened, and what is on the page instead.
- `details` has the same facts as data: the selector, the page, the time limit, the parameter.
- `retryable` is true when the same call may succeed later. A result can be stricter than its code: a
  `TIMEOUT` or `BROWSER_CRASHED` of an action that reached the page, or may have (`details.dispatched` is true
  or `"unknown"`), is not retryable, and neither is a `run_steps` of which some steps are done.
- `suggestion` says what to do. It may be more specific than the text below.

An unknown tool, a [resource](resources.md) that does not exist, a [prompt](prompts.md) that cannot be
rendered and a message that is no MCP request are protocol errors and have no such code. Origin tells the
codes of the specification of Footlight from those that Footlight adds.
"""


def render() -> str:
    return join(
        [
            "# Errors",
            INTRO.strip(),
            "## Codes",
            _overview(CODES),
            *(_section(error, _origin(error)) for error in CODES),
            "## Codes of an app under test",
            "With the toolset `metamask`, codes begin with the prefix of the app, and there are these too:",
            _overview(APP_CODES),
            *(_section(error) for error in APP_CODES),
            "## Wrong settings",
            "A wrong setting ends `footlight` with exit status 2 before the server starts "
            f"(`{ConfigurationError.code}`), so no client sees it.",
        ]
    )


def _overview(errors: Iterable[type[FootlightError]]) -> str:
    rows = [
        [f"[`{error.code}`](#{error.code.lower()})", prose(error.__doc__ or ""), _retryable(error)]
        for error in errors
    ]
    return table(["Code", "What it means", "Retryable"], rows)


def _section(error: type[FootlightError], *facts: str) -> str:
    """Return the section of a code, whose heading is the anchor that other pages link to."""
    retryable = f"Retryable: {_retryable(error)}"
    listed = bullets([f"Suggestion: {error.default_suggestion}", retryable, *facts])
    return join([f"### {error.code}", prose(error.__doc__ or ""), listed])


def _origin(error: type[FootlightError]) -> str:
    return "Origin: specified" if error.is_specified else "Origin: Footlight's own"


def _retryable(error: type[FootlightError]) -> str:
    return yes_or_no(error.default_retryable)
