"""Text of others in Markdown, where it must not become markup, a link, a picture, or call somebody."""

from __future__ import annotations

import re

from footlight.ux.shortened import shortened

__all__ = ["code", "inline", "link"]

_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_SPECIAL = re.compile(
    r"(?P<mark>[\\`*_\[\]~|$]|(?<=[A-Za-z]):(?=//)|(?<=www)\.|^[-+=#])|(?P<number>^\d+(?=[.)]))|(?P<call>@|#(?=\d))",
    re.IGNORECASE,
)
"""Code hosts call whom `@` names and refer to what `#` numbers, escaped or not: an unseen space parts it."""


def inline(text: str, longest: int = 500) -> str:
    """As words in a line, also in a table's cell."""
    return _SPECIAL.sub(_escaped, shortened(text, longest).translate(_ENTITIES))


def code(text: str, longest: int = 300) -> str:
    """As it is, in a line. Nothing is called or linked from there."""
    told = shortened(text, longest)
    if not told:
        return ""
    fence = "`" * (1 + max(map(len, re.findall(r"`+", told)), default=0))
    space = " " if told.startswith("`") or told.endswith("`") else ""
    return f"{fence}{space}{told}{space}{fence}"


def link(text: str, url: str | None) -> str:
    """Only to the web; otherwise the text alone."""
    if not (url or "").startswith(("http://", "https://")):
        return inline(text)
    target = re.sub(r"[^!#-;=?-Z_a-z~%&]", lambda found: _quoted(found[0]), url or "")
    return f"[{inline(text)}](<{target.replace('&', '&amp;')}>)"


def _escaped(found: re.Match[str]) -> str:
    match found.lastgroup:
        case "mark":
            return f"\\{found[0]}"
        case "number":
            return f"{found[0]}\\"
        case _:
            return f"{found[0]}&#8203;"


def _quoted(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode())
