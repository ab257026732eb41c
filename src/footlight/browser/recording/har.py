"""Record HAR files with Playwright and write them without cookies, login headers and secrets."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from footlight.browser.recording.kept_recording import KeptRecording

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext

__all__ = ["REDACTED", "SECRET_HEADERS", "HarRecorder", "mask_har", "mask_json"]

REDACTED = "[REDACTED]"

SECRET_HEADERS = frozenset(
    (
        *("authorization", "proxy-authorization", "cookie", "set-cookie"),
        *("x-api-key", "x-auth-token", "x-csrf-token", "x-xsrf-token"),
    )
)


class HarRecorder(KeptRecording):
    """Records a HAR from `start` to `stop`."""

    def __init__(self, context: BrowserContext, path: Path, scratch: Path) -> None:
        super().__init__(path, scratch, "raw.har")
        self._context = context

    @classmethod
    async def start(cls, context: BrowserContext, path: Path, scratch: Path, *, bodies: bool) -> HarRecorder:
        """Start to record. `path` is a file that was reserved for the HAR."""
        recorder = cls(context, path, scratch)
        try:
            content = "embed" if bodies else "omit"
            await context.tracing.start_har(recorder._raw, content=content, mode="full")
        except BaseException:
            recorder._folder.cleanup()
            raise
        return recorder

    async def stop(self, mask: Callable[[Any], Any] | None) -> None:
        """Write the HAR. If there is a `mask`, it is applied to each text and number."""
        await self._write(
            self._context.tracing.stop_har,
            lambda file: file.write(mask_har(self._raw.read_bytes(), mask or _keep)),
        )


def _keep(value: Any) -> Any:
    return value


def mask_har(har: bytes, mask: Callable[[Any], Any] = _keep) -> bytes:
    """Return the HAR without cookies and login headers, and with `mask` applied to each value.

    Its entries are read and written one by one. No other thread of Python runs while a JSON text is read.
    """
    text = har.decode()
    begin = at = _end_of(_BEFORE_ENTRIES.search(text), len(text))
    entries: list[str] = []
    while text[at := _end_of(_GAP.match(text, at), at)] != "]":
        entry, at = _DECODER.raw_decode(text, at)
        for message in (entry.get("request", {}), entry.get("response", {})):
            _redact(message.get("cookies", ()))
            _redact(
                header for header in message.get("headers", ()) if header["name"].lower() in SECRET_HEADERS
            )
        entries.append(_write(mask_json(entry, mask)))
    document = json.loads(text[:begin] + text[at:])
    before, _, after = _write(mask_json(document, mask)).partition(_ENTRIES)
    return "".join((before, _ENTRIES, ",\n".join(entries), after)).encode("utf-8", "replace")


_BEFORE_ENTRIES = re.compile(r'"entries"\s*+:\s*+\[')
"""The beginning of the list of entries. In a string, its quotation marks would follow backslashes."""
_ENTRIES = '"entries": ['
"""The same as it is written."""
_DECODER = json.JSONDecoder()
_GAP = re.compile(r"[\s,]*+")


def _end_of(found: re.Match[str] | None, otherwise: int) -> int:
    return found.end() if found else otherwise


def _write(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def mask_json(value: Any, mask: Callable[[Any], Any]) -> Any:
    """Return a copy of a JSON value with `mask` applied to its texts and numbers. Keys are unchanged."""
    if isinstance(value, list):
        return [mask_json(item, mask) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: mask_json(item, mask) for key, item in cast("dict[str, Any]", value).items()}
    return mask(value)


def _redact(named: Iterable[Any]) -> None:
    for each in cast("Iterable[dict[str, str]]", named):
        each["value"] = REDACTED
