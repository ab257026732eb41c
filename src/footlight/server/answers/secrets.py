"""Secrets, which a person writes to a file, and which a model uses by name without seeing their values."""

from __future__ import annotations

import logging
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from pydantic import AfterValidator, ValidationInfo

from footlight.errors import ConfigurationError

if TYPE_CHECKING:
    from dotenv.parser import Binding

__all__ = ["MIN_LENGTH", "MIN_PART", "SecretText", "SecretValue", "Secrets", "load_secrets"]

logger = logging.getLogger(__name__)

MIN_LENGTH = 4
"""The minimum length of a value. A shorter one would be masked in many ordinary words."""
MIN_PART = 3
"""The minimum length of a beginning or an end that is masked where a text was cut."""

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_USE = re.compile(rf"secret:({_NAME})")


class SecretValue(str):
    """The value of a secret. The type distinguishes it from text of the caller."""

    __slots__ = ()


class Secrets:
    """The values of secrets by name. The `repr` contains only the names."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = dict(values)

    def __repr__(self) -> str:
        return f"Secrets({', '.join(self.names)})"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._values)

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(self._values.values())

    def resolve(self, text: str) -> str:
        """Return the value of the secret for `secret:NAME`, or any other text unchanged.

        Raises:
            ValueError: no secret has this name.
        """
        use = _USE.fullmatch(text)
        if use is None:
            return text
        if use[1] not in self._values:
            raise ValueError(f"there is no secret {use[1]}; known: {', '.join(self.names) or 'none'}")
        return SecretValue(self._values[use[1]])


def _resolve_secret(text: str, info: ValidationInfo) -> str:
    secrets = cast("Secrets | None", info.context)
    return secrets.resolve(text) if secrets else text


SecretText = Annotated[str, AfterValidator(_resolve_secret)]
"""A parameter that may contain a secret. The tool receives the value of `secret:NAME`."""


def load_secrets(file: Path) -> Secrets:
    """Read `NAME=value` lines in the dotenv format, without interpolation.

    Raises:
        ConfigurationError: the file cannot be read, or a line is not valid. The message contains no value.
    """
    from dotenv.parser import parse_stream

    try:
        with file.open(encoding="utf-8") as lines:
            _warn_if_open(file, lines.fileno())
            # `dotenv_values` would skip lines that it cannot parse, so a missing secret would be
            # detected too late.
            found = [_secret(file, line) for line in parse_stream(lines) if line.key or line.error]
    except OSError as error:
        raise _file_error(file, f"cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise _file_error(file, "is not UTF-8 text") from None
    return Secrets(dict(found))


def _secret(file: Path, line: Binding) -> tuple[str, str]:
    number = line.original.line
    if line.error or line.key is None or line.value is None:
        raise _file_error(file, f"line {number}: must be NAME=value")
    if not re.fullmatch(_NAME, line.key):
        raise _file_error(file, f"line {number}: a name is of letters, digits and underscores")
    if len(line.value.strip()) < MIN_LENGTH:
        raise _file_error(
            file,
            f"line {number}: {line.key} has fewer than {MIN_LENGTH} characters. So short a value is found in "
            "half of all words, which would be masked",
        )
    return line.key, line.value


def _file_error(file: Path, what: str) -> ConfigurationError:
    return ConfigurationError(f"setting 'security.secretsFile': {file} {what}")


def _warn_if_open(file: Path, descriptor: int) -> None:
    if os.name == "posix" and os.fstat(descriptor).st_mode & (stat.S_IRGRP | stat.S_IROTH):
        logger.warning("other users can read the secrets in %s: chmod 600", file)
