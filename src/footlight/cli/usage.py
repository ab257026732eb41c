"""Exit statuses, usage errors and option values that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = [
    "BAD_USAGE",
    "BY_SIGNAL",
    "FAILED",
    "INTERRUPTED",
    "OK",
    "InvalidUsageError",
    "OutputNotWrittenError",
    "RequestRefusedError",
    "read_headers",
    "read_input",
    "read_variable",
]

OK = 0
FAILED = 1
BAD_USAGE = 2
BY_SIGNAL = 128
"""The exit status of a command that a signal has ended, without the number of the signal."""
INTERRUPTED = BY_SIGNAL + 2


class InvalidUsageError(Exception):
    """The command line is not valid. The message explains how to correct it."""


class RequestRefusedError(Exception):
    """The server refused the request (`code` is its JSON-RPC error code), or its answer is not valid."""

    def __init__(self, message: str, code: int | None) -> None:
        super().__init__(message)
        self.code = code


class OutputNotWrittenError(Exception):
    """The work was done, but its result could not be written."""


def read_headers(lines: Sequence[str | None], *, option: str = "--header") -> dict[str, str] | None:
    """Return the headers of `NAME:VALUE` options, or None if there are none.

    Raises:
        InvalidUsageError: a value has another format. The message does not contain it, because it may be
            a token.
    """
    headers: dict[str, str] = {}
    for header in lines:
        name, colon, value = (header or "").partition(":")
        if not colon or not name.strip():
            raise InvalidUsageError(f"{option} must be NAME:VALUE")
        headers[name.strip()] = value.strip()
    return headers or None


def read_input(file: Path) -> tuple[str, bytes]:
    """Return the name of the input, for messages, and its content. `-` is standard input.

    Raises:
        InvalidUsageError: the file cannot be read.
    """
    if str(file) == "-":
        return "standard input", sys.stdin.buffer.read()
    try:
        return str(file), file.read_bytes()
    except OSError as error:
        raise InvalidUsageError(f"{file}: {error.strerror or error}") from None


def read_variable(assignment: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the name and value of `NAME=VALUE`, or of `NAME` with the value from the environment.

    Raises:
        InvalidUsageError: the name is missing, or the environment variable is not set.
    """
    name, equals, value = assignment.partition("=")
    if not name:
        raise InvalidUsageError(
            f"--var {assignment}: write NAME=VALUE, or NAME for a variable of the environment"
        )
    if not equals and name not in environment:
        raise InvalidUsageError(f"--var {name}: the environment has no such variable; write {name}=VALUE")
    return name, value if equals else environment[name]
