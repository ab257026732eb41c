"""The lines of the log, and where they are written."""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pytest

from footlight import log
from footlight.config import LoggingSettings
from footlight.errors import ConfigurationError

DIVERTED = "logging.destination is stdout, which the stdio protocol needs: the log goes to stderr"

logger = logging.getLogger("footlight.stage")


@pytest.fixture(autouse=True)
def _logging_as_before() -> Generator[None]:
    root, ours = logging.getLogger(), logging.getLogger("footlight")
    handlers, levels = root.handlers[:], (root.level, ours.level)
    yield
    for handler in root.handlers:
        if handler not in handlers:
            with contextlib.suppress(OSError):  # What is left in the buffer does not fit on a full disk.
                handler.close()
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    ours.setLevel(levels[1])


def configure_and_log(file: Path, *, level: str = "info", format: str = "json") -> None:
    settings = {"level": level, "format": format, "destination": "file", "file": str(file)}
    log.configure(LoggingSettings.model_validate(settings), stdout_is_protocol=True)


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def log_at_every_level() -> None:
    for name in ("debug", "info", "warning", "error"):
        getattr(logger, name)("the %s", name)


def test_json_line_contains_every_field(tmp_path: Path) -> None:
    before = datetime.now(UTC)
    configure_and_log(tmp_path / "log")

    logger.warning("the %s is %d", "lamp", 7, extra={"tool": "click", "ms": 1.5, "session": None})

    (line,) = lines(tmp_path / "log")
    at = datetime.fromisoformat(line.pop("time"))
    assert at.tzinfo is not None
    assert abs((at - before).total_seconds()) < 60
    assert line == {
        "level": "warning",
        "logger": "footlight.stage",
        "message": "the lamp is 7",
        "tool": "click",
        "ms": 1.5,
        "session": None,
    }


def test_text_line_is_readable(tmp_path: Path) -> None:
    configure_and_log(tmp_path / "log", format="text")

    logger.info("the %s", "lamp", extra={"tool": "click"})

    line = (tmp_path / "log").read_text("utf-8")
    at, rest = line.split(" ", 1)
    assert at.endswith("Z")
    assert rest == "info    footlight.stage: the lamp tool=click\n"


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("debug", ["debug", "info", "warning", "error"]),
        ("info", ["info", "warning", "error"]),
        ("warn", ["warning", "error"]),
        ("error", ["error"]),
    ],
)
def test_messages_below_the_level_are_not_written(tmp_path: Path, level: str, expected: list[str]) -> None:
    configure_and_log(tmp_path / "log", level=level)

    log_at_every_level()

    assert [line["message"] for line in lines(tmp_path / "log")] == [f"the {name}" for name in expected]


@pytest.mark.parametrize(
    ("level", "expected"),
    [("debug", ["warning", "error"]), ("info", ["warning", "error"]), ("error", ["error"])],
)
def test_other_libraries_log_warnings_and_above(tmp_path: Path, level: str, expected: list[str]) -> None:
    configure_and_log(tmp_path / "log", level=level)

    for name in ("debug", "info", "warning", "error"):
        getattr(logging.getLogger("asyncio"), name)(name)

    assert [line["message"] for line in lines(tmp_path / "log")] == expected


def test_json_line_contains_the_traceback(tmp_path: Path) -> None:
    configure_and_log(tmp_path / "log")

    try:
        raise LookupError("no lamp")
    except LookupError:
        logger.exception("dark")

    (line,) = lines(tmp_path / "log")
    assert line["message"] == "dark"
    assert line["traceback"].startswith("Traceback (most recent call last):\n")
    assert line["traceback"].endswith("\nLookupError: no lamp")


def test_a_traceback_follows_its_text_line(tmp_path: Path) -> None:
    configure_and_log(tmp_path / "log", format="text")

    try:
        raise LookupError("no lamp")
    except LookupError:
        logger.exception("dark")

    first, second, *_, last = (tmp_path / "log").read_text("utf-8").splitlines()
    assert first.endswith(" error   footlight.stage: dark")
    assert second == "Traceback (most recent call last):"
    assert last == "LookupError: no lamp"


@pytest.mark.parametrize("format", ["json", "text"])
def test_unencodable_values_do_not_break_logging(
    tmp_path: Path, format: str, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_and_log(tmp_path / "log", format=format)

    logger.info("half a %s", "\ud83d", extra={"thing": object(), "path": Path("x")})
    logger.info("whole 💡")

    assert len((tmp_path / "log").read_text("utf-8").splitlines()) == 2
    assert capsys.readouterr().err == ""


def test_extra_fields_do_not_override_standard_fields(tmp_path: Path) -> None:
    configure_and_log(tmp_path / "log")

    logger.info("lamp", extra={"time": "never", "level": "none", "logger": "other"})

    (line,) = lines(tmp_path / "log")
    assert line["time"] != "never"
    assert (line["level"], line["logger"], line["message"]) == ("info", "footlight.stage", "lamp")


def test_private_fields_that_a_library_adds_to_every_record_are_not_written(tmp_path: Path) -> None:
    before = logging.getLogRecordFactory()

    def stamped(*args: Any, **fields: Any) -> logging.LogRecord:  # Ray installs such a factory.
        record = before(*args, **fields)
        record.__dict__["_stamp_ns"] = 7
        return record

    configure_and_log(tmp_path / "log")
    logging.setLogRecordFactory(stamped)
    try:
        logger.info("lamp", extra={"tool": "click"})
    finally:
        logging.setLogRecordFactory(before)

    (line,) = lines(tmp_path / "log")
    assert line.keys() == {"time", "level", "logger", "message", "tool"}


def test_log_folder_is_created_and_log_file_is_appended_to(tmp_path: Path) -> None:
    file = tmp_path / "new" / "folder" / "log"
    configure_and_log(file)
    logger.info("one")
    logging.getLogger().handlers[0].close()

    configure_and_log(file)
    logger.info("two")

    assert [line["message"] for line in lines(file)] == ["one", "two"]


def test_unwritable_log_file_is_a_configuration_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    for file, reason in (
        (tmp_path, "Is a directory"),
        (tmp_path / "file" / "new" / "log", "Not a directory"),
    ):
        with pytest.raises(ConfigurationError) as raised:
            configure_and_log(file)
        assert raised.value.message == f"setting 'logging.file': {file} cannot be written: {reason}"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a device without room")
def test_a_full_disk_is_reported_once_and_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    configure_and_log(Path("/dev/full"))

    logger.info("lamp")
    logger.info("table")

    assert capsys.readouterr().err == "footlight: the log /dev/full is incomplete: No space left on device\n"


@pytest.mark.parametrize(("level", "before"), [("info", []), ("debug", [DIVERTED])])
def test_stdout_is_redirected_to_stderr_on_stdio(
    capsys: pytest.CaptureFixture[str], level: Literal["info", "debug"], before: list[str]
) -> None:
    log.configure(LoggingSettings(level=level), stdout_is_protocol=True)

    logger.info("lamp")

    out, err = capsys.readouterr()
    assert out == ""
    assert [json.loads(line)["message"] for line in err.splitlines()] == [*before, "lamp"]


def test_log_goes_to_stdout_without_stdio_protocol(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure(LoggingSettings(), stdout_is_protocol=False)

    logger.info("lamp")

    out, err = capsys.readouterr()
    assert [json.loads(line)["message"] for line in out.splitlines()] == ["lamp"]
    assert err == ""


@pytest.mark.parametrize("format", ["json", "text"])
def test_mask_applies_to_the_whole_line(tmp_path: Path, format: str) -> None:
    configure_and_log(tmp_path / "log", format=format)
    log.add_mask(lambda line: line.replace("hunter2", "[secret]"))

    try:
        raise ValueError("wrong: hunter2")
    except ValueError:
        logger.exception("a %s", "hunter2", extra={"session": "hunter2"})

    written = (tmp_path / "log").read_text("utf-8")
    assert "hunter2" not in written
    assert written.count("[secret]") == 4  # The traceback quotes the code, too.


def test_log_file_contains_no_redirection_notice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure_and_log(tmp_path / "log")

    assert lines(tmp_path / "log") == []
    assert capsys.readouterr() == ("", "")
