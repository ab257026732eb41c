"""Quote, shorten and pluralise the words of a page for a line of text."""

from __future__ import annotations

import json
import re

from footlight.browser.snapshot.nodes import NodeBox

__all__ = ["format_box", "plural", "quote", "quote_if_ambiguous", "quote_unless_word", "quote_url", "shorten"]

MAX_URL_CHARACTERS = 60


def shorten(text: str, limit: int | None) -> str:
    if limit is None or len(text) <= limit:
        return text
    return f"{text[: limit - 1]}…"


def quote(text: str) -> str:
    """Return the text as JSON, with line breaks, bidirectional controls and lone surrogates escaped."""
    return _UNSAFE.sub(_escape, _encode(text))


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def quote_unless_word(text: str) -> str:
    """Return a role or a state unchanged, or in quotes if it is not a plain word."""
    return text if _WORD.fullmatch(text) else quote(text)


def quote_if_ambiguous(text: str) -> str:
    """Return a text at the end of its line, in quotes if it could be taken for syntax."""
    return quote(text) if _AMBIGUOUS.search(text) else text


def quote_url(url: str) -> str:
    """Return a URL for the end of a line, without tracking parameters. Cut a long one at its query."""
    url = shorten_query(url)
    path, _, query = url.partition("?")
    is_long = len(url) > MAX_URL_CHARACTERS and query and path and len(path) < MAX_URL_CHARACTERS - 1
    cut = f"{path}?…" if is_long else shorten(url, MAX_URL_CHARACTERS)
    return cut if _URL.fullmatch(cut) else quote(cut)


def shorten_query(url: str) -> str:
    """Return a URL without tracking parameters, and without the page to return to: `next=…`."""
    path, _, query = url.partition("?")
    query, mark, fragment = query.partition("#")
    if not query:
        return url
    kept = [_shorten_parameter(each) for each in query.split("&") if not _TRACKING.match(each)]
    return f"{path}{'?' if kept else ''}{'&'.join(kept)}{mark}{fragment}"


def _shorten_parameter(parameter: str) -> str:
    """Return a query parameter, without the value if it is a page to return to: the link sets it."""
    name, _, value = parameter.partition("=")
    return f"{name}=…" if _RETURN.fullmatch(name) and _PATH.match(value) else parameter


def format_box(box: NodeBox) -> str:
    return ",".join(f"{number:g}" for number in box)


def plural(role: str) -> str:
    """Return the plural of a role."""
    return f"{role}es" if role.endswith(("s", "x", "ch")) else f"{role}s"


_TRACKING = re.compile(
    r"(?:utm_\w+|fbclid|gclid|dclid|msclkid|yclid|mc_[ce]id|igshid|_ga|_gl|_hsenc|_hsmi)=", re.I
)
"""Parameters by which shops and networks track where visitors come from."""
_RETURN = re.compile(
    r"next|url|back|from|ref|referr?er|continue|goto|destination|came_from|(?:return|redirect)\w*", re.I
)
_PATH = re.compile(r"/\w|%2f", re.I)

_encode = json.JSONEncoder(ensure_ascii=False).encode
_UNSAFES = "\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff"
_UNSAFE = re.compile(f"[{_UNSAFES}]")
_WORD = re.compile(r"(?!e\d)[A-Za-z][\w.=%/-]*", re.ASCII)
_URL = re.compile(rf'[^\s"\x00-\x1f{_UNSAFES}]*[^\s":\x00-\x1f{_UNSAFES}]')
_AMBIGUOUS = re.compile(
    rf'["\\\[…\x00-\x1f{_UNSAFES}]'  # Quotes, escapes, our own marks, and characters that must be escaped.
    r"|\be\d|->|\((?:was|now|no longer|moved|name|text|role|row|column|lines?)\b"  # A ref, URL or note.
    r"|^[\s+~-]|\s$"
)
