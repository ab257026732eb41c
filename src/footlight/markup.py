"""HTML from values that are not trusted: every text is escaped unless it is HTML already."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from html import escape

from footlight.safe_text import escape_control_characters, replace_surrogates

__all__ = ["Html", "element", "join", "render_document"]


_DOCUMENT = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}{script}
</body>
</html>
"""


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(tag: str, /, *content: object, **attributes: object) -> Html:
    """Return an element. `_` in attribute names stands for `-`. Values that are None or False are left
    out.
    """
    opening = f"<{tag}{''.join(_attribute(name, value) for name, value in attributes.items())}>"
    return Html(opening if tag in {"img", "input"} else f"{opening}{join(content)}</{tag}>")


def join(parts: Iterable[object]) -> Html:
    return Html("".join(_as_html(part) for part in parts if part is not None and part is not False))


def render_document(title: str, *content: object, style: str, script: str = "") -> str:
    """Return a document that works without a network. Only this style and this script are allowed in it."""
    scripts = f"script-src '{_hash(script)}'; " if script else ""
    return _DOCUMENT.format(
        policy=f"default-src 'none'; style-src '{_hash(style)}'; {scripts}img-src data:; base-uri 'none'; "
        "form-action 'none'",
        title=_as_html(title),
        style=style,
        body="\n".join(map(_as_html, content)),
        script=f"\n<script>{script}</script>" if script else "",
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _as_html(value: object) -> str:
    """Escape a value. Control characters are escaped too, because HTML cannot contain NUL."""
    return (
        value
        if isinstance(value, Html)
        else escape(escape_control_characters(replace_surrogates(str(value))))
    )


def _attribute(name: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = name.strip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{_as_html(value)}"'
