"""The page of the error codes of tools."""

from __future__ import annotations

from footlight.errors import APP_CODES, CODES, ConfigurationError, FootlightError
from scripts.reference.markdown import join, prose, table, yes_or_no

INTRO = """\
A tool that fails returns `{success: false, error}`, and its result is marked `isError`. `error` is
`{code, message, details, retryable, suggestion}`:

- `message` says what happened, and what is on the page instead.
- `details` has the same facts as data: the selector, the page, the time limit, the parameter.
- `retryable` is true when the same call may succeed later. A result can be stricter than its code: a
  `TIMEOUT` of an action that had reached the page already (`details.dispatched` is true) is not retryable.
- `suggestion` says what to do. It may be more specific than the text below.

An unknown tool, a [resource](resources.md) that does not exist, a [prompt](prompts.md) that cannot be
rendered and a message that is no MCP request are protocol errors and have no such code. The column Origin
tells the codes of the specification of Footlight from those that Footlight adds.
"""


def render() -> str:
    heads = ["Code", "What it means", "Retryable", "Suggestion"]
    rows = [[*_row(error), "specified" if error.is_specified else "Footlight's own"] for error in CODES]
    return join(
        [
            "# Errors",
            INTRO.strip(),
            table([*heads, "Origin"], rows),
            "With the toolset `metamask`, codes begin with the prefix of the app, and there are these too:",
            table(heads, map(_row, APP_CODES)),
            "A wrong setting ends `footlight` with exit status 2 before the server starts "
            f"(`{ConfigurationError.code}`), so no client sees it.",
        ]
    )


def _row(error: type[FootlightError]) -> list[str]:
    return [
        f"`{error.code}`",
        prose(error.__doc__ or ""),
        yes_or_no(error.default_retryable),
        error.default_suggestion,
    ]
