"""Build expressions that match a secret, also as encoded in JSON, URLs, HTML, base64 and hexadecimal."""

from __future__ import annotations

import itertools
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from footlight.patterns import ANY_SPACE, ENCODED_LINE_BREAK, MIN_GROUPED_LENGTH, encoded_forms
from footlight.server.answers.secrets import MIN_PART

__all__ = ["MARKED", "beginning_pattern", "plain_pattern", "value_pattern"]

MARKED = r"\[secret \w+\]"
"""Matches text that is already masked. It has precedence, so that such text is not changed."""

_INVISIBLE_POINTS = (
    r"\x{AD}\x{300}-\x{36F}\x{61C}\x{115F}\x{1160}\x{180B}-\x{180F}\x{200B}-\x{200F}\x{202A}-\x{202E}"
    r"\x{2060}-\x{206F}\x{20D0}-\x{20F0}\x{3164}\x{FE00}-\x{FE0F}\x{FEFF}\x{FFA0}\x{E0000}-\x{E01EF}"
)
"""Invisible characters, and combining marks that a page may add to letters."""
_INVISIBLE = f"[{_INVISIBLE_POINTS}]"
_BACKSLASH = r"(?:\\|%(?:25)*5c)"
_ENTITY = r"(?:&|%(?:25)*26)(?:amp(?:;|%(?:25)*3b)|#38;|#x26;)*"
_NUMBER = r"(?:#|%(?:25)*23)"
_SEMICOLON = r"(?:;|%(?:25)*3b)"
_SPACE = (
    rf"(?:{ANY_SPACE}|{_BACKSLASH}+(?:[nrt]|(?:u00|x)(?:20|0a|0d|09|a0)"
    rf"|u(?:\{{|%(?:25)*7b)(?:20|a|d|9|a0)(?:\}}|%(?:25)*7d)|0*(?:20|[9ad]|a0)\s?)"
    rf"|%(?:25)*(?:20|09|0a|0d)|\+|{_ENTITY}(?:nbsp|{_NUMBER}x?[0-9a-f]{{1,2}}){_SEMICOLON}|{_INVISIBLE})+"
)
_ESCAPED = (
    r"\\+u\{?(?:00a[0d]|034f|20(?:0[b-f]|2[a-e]|6[0-4])|fe(?:ff|0[0-f]))\}?"
    r"|&(?:amp;)*(?:shy|nbsp|zerowidthspace|zwn?j|lrm|rlm"
    r"|#0*(?:173|160|847|82(?:0[3-7]|3[4-8]|8[89]|9[0-2])|6502[4-9]|6503\d|65279)"
    r"|#x0*(?:a[0d]|34f|20(?:0[b-f]|2[a-e]|6[0-4])|fe(?:ff|0[0-f])));"
    r"|%(?:25)*(?:c2%(?:25)*a[0d]|cd%(?:25)*8f|e2%(?:25)*8(?:0%(?:25)*(?:8[b-f]|a[a-e])|1%(?:25)*a[0-4])"
    r"|ef%(?:25)*(?:bb%(?:25)*bf|b8%(?:25)*8[0-9a-f]))"
)
_NO_CHARACTER = rf"(?:{_INVISIBLE}|{_ESCAPED})*"
"""Matches invisible characters between two characters of a value."""
_BREAK = rf"(?:[\x{{A0}}{_INVISIBLE_POINTS}*_~`+-]|{ENCODED_LINE_BREAK}|{_ESCAPED})*"
"""Matches grouping spaces and dashes, line breaks and Markdown characters between two characters of a long
value."""

MAX_GROUPED_LENGTH = 100
"""The maximum length of a value that is also matched in groups, because the expression would be too large."""
_NOTHING = r"[^\x00-\x{10FFFF}]"
"""Matches no character."""


def value_pattern(value: str) -> str:
    """Return an expression in RE2 syntax that matches a value in any encoding."""
    in_json = (json.dumps(value, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False))
    encoded = (form.pattern for each in dict.fromkeys((value, *in_json)) for form in encoded_forms(each))
    spellings = dict.fromkeys((value, unicodedata.normalize("NFC", value)))
    return "|".join((*encoded, *map(plain_pattern, spellings)))


def beginning_pattern(value: str) -> str:
    """Return an expression for the beginning of a value in any encoding, before the marker of a cut.

    The encoding of the last character may be incomplete, as in `%C3%…`.
    """
    units = [_SPACE if char.isspace() else _character_pattern(char) for char in value]
    if len(units) > MAX_GROUPED_LENGTH or len(units) <= MIN_PART:
        return _NOTHING
    rest = ""
    for unit in reversed(units[MIN_PART:]):
        rest = f"(?:{unit}{rest})?"
    return f"(?i:{''.join(units[:MIN_PART])}{rest}{_PART_OF_CHARACTER}(?:…|\\\\u2026))"


_PART_OF_CHARACTER = r"(?:(?:%[0-9a-f]?[0-9a-f]?){1,4}|\\+u?[0-9a-f]{0,5}|&#?[0-9a-z]{0,8})?"


def plain_pattern(value: str) -> str:
    """Return an expression for a value that is plain or escaped character by character."""
    is_short = len(value) < MIN_GROUPED_LENGTH
    between = "" if len(value) > MAX_GROUPED_LENGTH else _NO_CHARACTER if is_short else _BREAK
    words = (between.join(map(_character_pattern, word)) for word in value.split())
    # A page may remove the spaces around a value, and a URL loses its line breaks.
    in_file_name = "" if " ".join(value.split()) == value else "|_"
    space = f"(?:{_SPACE}|{_ESCAPED}{in_file_name})" + ("+" if is_short else "*")
    return f"(?i:{space.join(words)})"


_IN_FILE_NAMES = re.compile(r"[\w.\- ()]")
"""The characters that are kept in the file names of downloads. All others are replaced by underscores."""


def _character_pattern(char: str) -> str:
    """Return an expression for a character, its compatible characters, and the escapes of all of them.

    Compatible characters are for example full-width ones. Escapes are those of JSON, scripts, style sheets,
    URLs and HTML. Longer forms come first, because the first match is used, and `%` is also the beginning of
    `%25`.
    """
    cases = {char, char.lower(), char.upper()}
    cases.update(unicodedata.normalize(form, case) for case in [*cases] for form in ("NFD", "NFKC"))
    alike = "".join(_compatible_letters().get(case.casefold(), "") for case in cases)
    cases.update(each for each in alike if FIRST_FULL_WIDTH <= each <= LAST_FULL_WIDTH)
    longest_first = sorted(cases, key=lambda case: (-len(case), case))
    in_class = [f"[{re.escape(alike)}]"] if alike else []
    written = "|".join((*_codes(longest_first), *in_class, *map(re.escape, longest_first)))
    if char.isascii() and char.isalnum():
        return f"(?:{written})"
    escaped = json.dumps(char)[1:-1]
    letter = [rf"\\+{escaped[1:]}"] if re.fullmatch(r"\\[a-t]", escaped) else []
    underscore = [] if _IN_FILE_NAMES.match(char) else ["_"]
    doubled = ["''"] if char == "'" else []  # In YAML.
    return f"(?:{'|'.join((*letter, *doubled, f'{_BACKSLASH}*(?:{written})', *underscore))})"


FIRST_FULL_WIDTH, LAST_FULL_WIDTH = "\uff01", "\uff5e"
"""The range of compatible characters whose escapes are matched too. With the escapes of all of them, the
expression would be ten times as large.
"""
_WITH_COMPATIBLE_LETTERS = (
    *(range(0xA0, 0x3400), range(0xA640, 0xAC00), range(0xF900, 0x10000), range(0x10780, 0x107C0)),
    *(range(0x1D400, 0x1D800), range(0x1EE00, 0x1EF00), range(0x1F100, 0x1F200), range(0x1FBF0, 0x1FBFA)),
)


@cache
def _compatible_letters() -> Mapping[str, str]:
    """Map each case-folded character to those that NFKC normalization replaces by it.

    They are for example full-width, superscript, circled and mathematical characters.
    """
    found: dict[str, str] = {}
    for char in map(chr, itertools.chain(*_WITH_COMPATIBLE_LETTERS)):
        if unicodedata.decomposition(char):
            letter = unicodedata.normalize("NFKC", char).casefold()
            if len(letter) == 1 and letter != char.casefold():
                found[letter] = found.get(letter, "") + char
    return found


@cache
def _entity_names() -> Mapping[str, tuple[str, ...]]:
    """Return the HTML entity names of each character."""
    from html.entities import html5

    found: dict[str, tuple[str, ...]] = {}
    for name, char in html5.items():
        if name.endswith(";") and len(char) == 1:
            found[char] = (*found.get(char, ()), name[:-1])
    return found


def _codes(cases: Sequence[str]) -> Iterator[str]:
    """Yield expressions for the numeric and named escapes of a character's forms."""
    single = [case for case in cases if len(case) == 1]
    points = [ord(case) for case in single]
    mark = rf"(?:{_BACKSLASH}+|%(?:25)*)u"
    if foreign := [case for case in cases if not case.isascii()]:
        yield _tree([part for char in case for part in _percent_encoded(char)] for case in foreign)
        alone = [case for case in foreign if len(case) == 1]
        yield _tree([rf"{_BACKSLASH}+x{octet}" for octet in _octets(case.encode())] for case in alone)
        yield _tree([mark + unit for unit in _octets(case.encode("utf-16-be"), 2)] for case in alone)
    # This follows the UTF-8 form, which begins with the same byte for some characters, such as Ã.
    if latin := "|".join(f"{point:02x}" for point in points if point <= 0xFF):
        yield rf"(?:{_BACKSLASH}+(?:u00|x)|%(?:25)*)(?:{latin})"
    hexadecimal = "|".join(f"{point:x}" for point in points)
    yield (
        rf"{_BACKSLASH}+(?:u(?:\{{|%(?:25)*7b)0*(?:{hexadecimal})(?:\}}|%(?:25)*7d)|0*(?:{hexadecimal})\s?)"
    )
    names = itertools.chain(*(_entity_names().get(case, ()) for case in single))
    numbers = f"0*(?:{'|'.join(map(str, points))})|x0*(?:{hexadecimal})"
    yield f"{_ENTITY}(?:{'|'.join((f'{_NUMBER}(?:{numbers})', *names))}){_SEMICOLON}"


def _tree(sequences: Iterable[Sequence[str]]) -> str:
    """Return an expression for any of the sequences of expressions. Common prefixes are merged."""
    branches: dict[str, list[Sequence[str]]] = {}
    for first, *rest in sequences:
        branches.setdefault(first, []).append(rest)
    written: list[str] = []
    for first, rests in branches.items():
        longer = [rest for rest in rests if rest]
        optional = "?" if len(longer) < len(rests) else ""
        written.append(f"{first}(?:{_tree(longer)}){optional}" if longer else first)
    return f"(?:{'|'.join(written)})" if written else _NOTHING


def _percent_encoded(char: str) -> list[str]:
    """Return expressions for the bytes of a character in a URL. ASCII characters may be unescaped."""
    encoded = [f"%(?:25)*{octet}" for octet in _octets(char.encode())]
    return [f"(?:{re.escape(char)}|{encoded[0]})"] if char.isascii() else encoded


def _octets(data: bytes, size: int = 1) -> list[str]:
    """Return the bytes of a character, or units of `size` bytes, in hexadecimal."""
    return [data[at : at + size].hex() for at in range(0, len(data), size)]
