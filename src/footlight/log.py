"""The log: JSON or text lines on stdout, on stderr or in a file, as set in the settings `logging`."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from footlight.errors import ConfigurationError
from footlight.private_files import open_private

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from footlight.config import LoggingSettings

__all__ = ["MAX_WARNINGS", "LimitedWarnings", "add_mask", "configure"]

MAX_WARNINGS = 20

_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "error": logging.ERROR,
}
_STANDARD = {*logging.makeLogRecord({}).__dict__, "message", "asctime", "taskName"}


def configure(settings: LoggingSettings, *, stdout_is_protocol: bool) -> None:
    """Set up the `footlight` loggers. Warnings of other libraries go to the same destination.

    Raises:
        ConfigurationError: The file cannot be written.
    """
    if settings.destination == "file" and settings.file is not None:
        handler = _file_handler(settings.file)
    else:
        handler = logging.StreamHandler(sys.stderr if stdout_is_protocol else sys.stdout)
    handler.setFormatter(_Json() if settings.format == "json" else _Text())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(logging.WARNING, _LEVELS[settings.level]))
    ours = logging.getLogger("footlight")
    ours.setLevel(_LEVELS[settings.level])
    if settings.destination == "stdout" and stdout_is_protocol:
        ours.debug("logging.destination is stdout, which the stdio protocol needs: the log goes to stderr")


def add_mask(mask_line: Callable[[str], str]) -> None:
    """Apply `mask_line` to each line from now on before it is written."""
    for handler in logging.getLogger().handlers:
        handler.setFormatter(_MaskingFormatter(handler.formatter or logging.Formatter(), mask_line))


def _file_handler(file: Path) -> logging.Handler:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        os.close(open_private(file, os.O_APPEND))
        return _FileHandler(file, encoding="utf-8", errors="replace")
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigurationError(f"setting 'logging.file': {file} cannot be written: {reason}") from None


class _FileHandler(logging.FileHandler):
    """A log file. If lines cannot be written, because the disk is full, standard error reports it once."""

    _has_failed = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is logging's
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self._has_failed:
            self._has_failed = True
            reason = error.strerror or str(error)
            with contextlib.suppress(OSError):
                sys.stderr.write(f"footlight: the log {self.baseFilename} is incomplete: {reason}\n")


def _extras(record: logging.LogRecord) -> dict[str, Any]:
    """The fields passed as `extra`, without those that a library like Ray adds to every record for itself."""
    return {
        key: value
        for key, value in record.__dict__.items()
        if key not in _STANDARD and not key.startswith("_")
    }


def _time(record: logging.LogRecord) -> str:
    return (
        datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    )


class _MaskingFormatter(logging.Formatter):
    def __init__(self, inner: logging.Formatter, mask_line: Callable[[str], str]) -> None:
        super().__init__()
        self._inner = inner
        self._mask_line = mask_line

    def format(self, record: logging.LogRecord) -> str:
        return self._mask_line(self._inner.format(record))


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line = {
            **line,
            **_extras(record),
            **line,
        }  # Extras come after the standard fields and never replace them.
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        extras = "".join(f" {key}={value}" for key, value in _extras(record).items())
        line = f"{_time(record)} {record.levelname.lower():7} {record.name}: {record.getMessage()}{extras}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class LimitedWarnings:
    """Logs the first warnings that a server causes, and all later ones only at level DEBUG."""

    def __init__(self, logger: logging.Logger, *, most: int = MAX_WARNINGS) -> None:
        self._logger = logger
        self._left = most

    def log(self, message: str, *arguments: object) -> None:
        self._logger.log(logging.WARNING if self._left > 0 else logging.DEBUG, message, *arguments)
        self._left -= 1
