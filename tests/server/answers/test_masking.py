"""Masking the value of a secret in every spelling."""

from __future__ import annotations

import base64
import html
import json
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from footlight.server.answers.answer import Answer, AnswerLink, PageText
from footlight.server.answers.json_values import PageTitle
from footlight.server.answers.masking import Masker, keep_unmasked, mask_document
from footlight.server.answers.secrets import Secrets
from tests.processor_time import limit_processor_time

PASSWORD = 'p4ss "wörd" & <more>/\\+💡'
MASK = Masker(Secrets({"PASSWORD": PASSWORD, "PIN": "4821", "LONG": "hunter2hunter2", "SHORT": "hunter2"}))


def full_width(text: str) -> str:
    """Write the ASCII characters of a text as wide as Chinese ones."""
    return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text)


def mathematical(text: str) -> str:
    """Write the small letters of a text as bold symbols of mathematics."""
    return "".join(chr(ord(char) - ord("a") + 0x1D41A) if "a" <= char <= "z" else char for char in text)


@pytest.mark.parametrize(
    "written",
    [
        PASSWORD,
        PASSWORD.upper(),
        PASSWORD.replace(" ", "\n  "),
        PASSWORD.replace(" ", "\u00a0"),
        json.dumps(PASSWORD)[1:-1],
        json.dumps(PASSWORD, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(PASSWORD, ensure_ascii=False), ensure_ascii=False)[3:-3],
        repr(PASSWORD)[1:-1],
        html.escape(PASSWORD),
        html.escape(html.escape(PASSWORD)),
        "".join(f"&#{ord(char)};" if not char.isalnum() else char for char in PASSWORD),
        quote(PASSWORD),
        quote(PASSWORD, safe=""),
        quote(PASSWORD, safe="").lower(),
        quote(quote(PASSWORD, safe=""), safe=""),
        quote_plus(PASSWORD),
        urlencode({"": PASSWORD})[1:],
        re.sub(r'["<>/\\]', "_", PASSWORD),
        re.sub(r"[^\w.\- ()]", "_", PASSWORD),
        base64.b64encode(PASSWORD.encode()).decode(),
        base64.urlsafe_b64encode(PASSWORD.encode()).decode(),
        base64.b64encode(PASSWORD.encode()).decode().rstrip("="),
        re.sub("(.{20})", r"\1\r\n ", base64.b64encode(PASSWORD.encode()).decode()).strip(),
        PASSWORD.lower(),
        PASSWORD.replace(" ", ""),
        quote("\u2060".join(PASSWORD)),
        unicodedata.normalize("NFD", PASSWORD),
        "".join(f"&#{ord(char)};" for char in PASSWORD),
        "".join(f"&#x{ord(char):x};" for char in PASSWORD),
        "".join(
            f"\\u{unit.hex()}"
            for char in PASSWORD
            for unit in re.findall(b"..", char.encode("utf-16-be"), re.S)
        ),
        "".join(f"\\x{byte:02x}" for byte in PASSWORD.encode()),
        html.escape(PASSWORD).replace("ö", "&ouml;"),
        PASSWORD.replace("ö", "%F6").replace("💡", "%uD83D%uDCA1"),
        quote(json.dumps(PASSWORD)[1:-1]),
        json.dumps(PASSWORD)[1:-1].replace('"', "%22"),
        html.escape(json.dumps(PASSWORD)[1:-1]),
        full_width(PASSWORD),
        quote(full_width(PASSWORD)),
        json.dumps(full_width(PASSWORD))[1:-1],
        "".join(f"&#{ord(char)};" for char in full_width(PASSWORD)),
        mathematical(PASSWORD),
        html.escape(mathematical(PASSWORD)),
        "".join(f"\\u{{{ord(char):x}}}" for char in PASSWORD),
        "".join(f"&amp;#{ord(char)};" for char in PASSWORD),
        quote("".join(f"\\u{{{ord(char):x}}}" for char in PASSWORD)),
        quote("".join(f"&#{ord(char)};" for char in PASSWORD)),
        html.escape(PASSWORD).replace("/", "&sol;").replace("+", "&plus;").replace("\\", "&bsol;"),
        "\ufe0f".join(PASSWORD),
        "\u0332".join(PASSWORD),
        re.sub("(.{18})", r"\1\\r\\n", base64.b64encode(PASSWORD.encode()).decode()),
        quote(quote(base64.b64encode(PASSWORD.encode()).decode(), safe=""), safe=""),
        PASSWORD.encode().hex(),
        PASSWORD.encode().hex(" ").upper(),
        PASSWORD.encode().hex(":"),
    ],
)
def test_every_spelling_of_a_secret_is_masked(written: str) -> None:
    assert MASK(f"before {written} after") == "before [secret PASSWORD] after"


def test_css_escaped_secret_is_masked() -> None:
    written = "".join(f"\\{ord(char):x} " for char in PASSWORD)

    assert MASK(f"before {written}after") == "before [secret PASSWORD]after"
    assert MASK(r"#\34 821") == "#[secret PIN]"


@pytest.mark.parametrize(
    ("value", "spelling"),
    [
        ("große-Straße", "GROSSE-STRASSE"),
        ("İstanbul", "İstanbul".lower()),
        ("cafe\u0301-noir", "caf%C3%89-NOIR"),
        ("ＰＡＳＳ１２３", "PASS123"),
        ("line 1 of it\nline 2", "https://a.test/?q=line%201%20of%20itline%202"),
    ],
)
def test_case_converted_secret_is_masked(value: str, spelling: str) -> None:
    assert "[secret ANY]" in Masker(Secrets({"ANY": value}))(f"before {spelling}") != f"before {spelling}"


@pytest.mark.parametrize(
    ("value", "spelling"),
    [
        ("it's: mine", "it''s: mine"),  # in YAML
        ("two\nlines", "two_lines"),  # in the name of a file
        ("two\nlines", r"two\a lines"),  # in a style sheet
    ],
)
def test_secret_is_masked_where_a_format_replaces_its_characters(value: str, spelling: str) -> None:
    assert Masker(Secrets({"ANY": value}))(f"before {spelling} after") == "before [secret ANY] after"


@pytest.mark.parametrize(
    "gap",
    ["\u00ad", "\u200b", "\u2060\ufeff", "\\u200b", "&shy;", "&#8203;", "%C2%AD", "%E2%80%8B"],
)
def test_secret_with_invisible_characters_is_masked(gap: str) -> None:
    assert MASK(f"before {gap.join('4821')} after") == "before [secret PIN] after"
    assert MASK(f"before hunter{gap}2 after") == "before [secret SHORT] after"


@pytest.mark.parametrize("encode", ["%{:02x}", "%25{:02X}"])
def test_percent_encoded_secret_is_masked(encode: str) -> None:
    whole = "".join(encode.format(ord(char)) for char in "hunter2")

    assert MASK(f"q={whole}&") == "q=[secret SHORT]&"
    assert MASK(f"q={encode.format(ord('H'))}unter2&") == "q=[secret SHORT]&"


@pytest.mark.parametrize(
    "written",
    [
        "4242 4242 4242 4242",
        "4242-4242-4242-4242",
        "4242\u00a04242\u00a04242\u00a04242",
        "42424242\n42424242",
        json.dumps("42424242\n42424242")[1:-1],
        "4242 **4242** 42424242",
        "4242&nbsp;4242%204242+4242",
    ],
)
def test_long_secret_in_groups_is_masked(written: str) -> None:
    mask = Masker(Secrets({"CARD": "4242424242424242", "PIN": "4821"}))
    assert mask(f"before {written} after") == "before [secret CARD] after"
    assert mask("48 21") == "48 21"


@pytest.mark.parametrize("user", ["", "u", "us", "use", "user"])
def test_secret_inside_base64_is_masked(user: str) -> None:
    """The header of HTTP authentication is such."""
    masked = MASK("Basic " + base64.b64encode(f"{user}:{PASSWORD}:more".encode()).decode())

    assert "[secret PASSWORD]" in masked
    for part in masked.split("[secret PASSWORD]"):
        assert base64.b64encode(PASSWORD.encode()).decode()[6:-6] not in part


@pytest.mark.parametrize("key", ["", "u", "us"])
@pytest.mark.parametrize("is_ascii", [True, False])
def test_secret_in_json_inside_base64_is_masked(key: str, is_ascii: bool) -> None:
    """The claims of a JWT are such."""
    claims = json.dumps({key: PASSWORD, "more": 1}, ensure_ascii=is_ascii)

    assert "[secret PASSWORD]" in MASK("Bearer " + base64.b64encode(claims.encode()).decode())


def test_longest_matching_secret_is_masked() -> None:
    assert MASK("hunter2hunter2 hunter2") == "[secret LONG] [secret SHORT]"


def test_of_overlapping_secrets_nothing_is_left() -> None:
    mask = Masker(Secrets({"FIRST": "alpha-bravo-12", "SECOND": "bravo-12-charlie"}))

    masked = mask("ALPHA-bravo-12-charlie alpha-bravo-12 bravo-12-charlie")

    assert masked == "[secret FIRST] [secret FIRST] [secret SECOND]"


@pytest.mark.parametrize("escape", [lambda text: quote(text, safe=""), html.escape, str.upper])
def test_of_overlapping_secrets_nothing_is_left_in_an_encoding(escape: Callable[[str], str]) -> None:
    mask = Masker(Secrets({"FIRST": "pass&word", "SECOND": "word&two/öl"}))

    assert mask(f"before {escape('pass&word&two/öl')} after") == "before [secret FIRST] after"


def test_masking_twice_changes_nothing() -> None:
    mask = Masker(Secrets({"secret": "secret", "NAME": "NAME"}))

    assert mask(mask("a secret NAME")) == "a [secret secret] [secret NAME]"


@pytest.mark.parametrize("length", range(3, len(PASSWORD) + 1))
@pytest.mark.parametrize("mark", ["…", "\\u2026"])
def test_secret_truncated_at_its_end_is_masked(length: int, mark: str) -> None:
    assert MASK(f"got 'x{PASSWORD[:length]}{mark}', …") == f"got 'x[secret PASSWORD]{mark}', …"


@pytest.mark.parametrize("mark", ["…", "\\u2026"])
def test_secret_truncated_at_its_beginning_is_masked(mark: str) -> None:
    """A browser cuts long texts in objects of the console in the middle."""
    for left in range(3, len(PASSWORD)):
        cut = f"{{a: {PASSWORD[: len(PASSWORD) // 2]}{mark}{PASSWORD[-left:]}}} and {mark}"

        assert MASK(cut) == f"{{a: [secret PASSWORD]{mark}[secret PASSWORD]}} and {mark}"


def test_secret_split_between_two_pieces_is_masked_in_both() -> None:
    filling = "." * 1_000
    text = f"{filling}{PASSWORD}{filling}"
    border = 1_000 + len(PASSWORD) // 2

    assert (MASK(text[:border]), MASK(text[border:])) == (
        f"{filling}[secret PASSWORD]",
        f"[secret PASSWORD]{filling}",
    )


def test_other_text_is_not_masked() -> None:
    text = "Hunters 2 … pass word 48211 is 4 821 http://a.test/?q=hunt%32"

    assert MASK(text.replace("48211", "4 8211")) == text.replace("48211", "4 8211")


def test_texts_that_are_masked_together_stay_separate() -> None:
    texts = ["hunter", "2", "48", "21", "\ud800", "4821\ud800", "…", "", "x" * 2_000 + "hu", "4821"]

    assert MASK(texts) == [
        *("hunter", "2", "48", "21", "\ud800", "[secret PIN]\ud800", "…", ""),
        *("x" * 2_000 + "hu", "[secret PIN]"),
    ]


def test_secrets_in_nested_values_and_keys_are_masked() -> None:
    value = {"a": ["hunter2", 4821, 48210, True, None, 4.5], "hunter2": {"b": ("x hunter2",)}}

    assert MASK(value) == {
        "a": ["[secret SHORT]", "[secret PIN]", 48210, True, None, 4.5],
        "[secret SHORT]": {"b": ("x [secret SHORT]",)},
    }


@dataclass(frozen=True)
class Marked:
    text: str
    data: bytes


def test_dataclass_fields_are_masked() -> None:
    assert MASK(Marked("hunter2", b"hunter2")) == Marked("[secret SHORT]", b"hunter2")


def test_an_answer_is_masked_with_its_text_and_links() -> None:
    link = AnswerLink("playwright:///file/hunter2", "Log of hunter2", "text/plain", 7)
    answer = MASK(Answer({"success": True, "observation": {"text": PageText("hunter2")}}, links=(link,)))

    assert answer.links == (
        AnswerLink("playwright:///file/[secret SHORT]", "Log of [secret SHORT]", "text/plain", 7),
    )
    assert answer.page_texts == (PageText("[secret SHORT]"),)
    assert isinstance(answer.page_texts[0], PageText)


def test_answer_field_names_are_never_masked() -> None:
    mask = Masker(Secrets({"WEAK": "value"}), keys=["value"])

    assert mask({"value": "value", "VALUE": 1}) == {"value": "[secret WEAK]", "[secret WEAK]": 1}


def test_masked_json_document_stays_valid_json() -> None:
    document = json.dumps({"a": 4821, "b": PASSWORD})

    assert json.loads(mask_document(document, "application/json", MASK)) == {
        "a": "[secret PIN]",
        "b": "[secret PASSWORD]",
    }


def test_text_bytes_are_masked_but_images_are_not() -> None:
    assert mask_document(b"\xff hunter2", "text/plain", MASK) == b"\xff [secret SHORT]"
    assert mask_document(b"hunter2", "image/png", MASK) == b"hunter2"
    assert mask_document("hunter2", "text/plain", keep_unmasked) == "hunter2"


@example("000Ã")
@example("000\uf900")
@example("000%")
@example("000&")
@given(
    st.text(min_size=4, max_size=40).filter(lambda value: len(value.split()) > 0 and len(value.strip()) >= 4)
)
def test_any_secret_is_masked_in_json_urls_and_html(value: str) -> None:
    mask = Masker(Secrets({"ANY": value}))

    core = " ".join(value.split())
    for written in (core, json.dumps(core)[1:-1], quote(core, safe=""), html.escape(core)):
        assert mask(f"·{written}·") == "·[secret ANY]·"


def test_masking_a_long_text_is_fast() -> None:
    secrets = Secrets({f"SECRET_{index}": f"s3cret-{index}-{'x' * 30}" for index in range(20)})
    mask = Masker(secrets)
    text = "The quick brown fox jumps over the lazy dog s3. " * 20_000

    with limit_processor_time(20):
        assert mask(text) == text


def test_title_of_a_page_is_masked_with_and_without_its_site() -> None:
    text = PageText('e1 h1 "Code ***"')
    title = PageTitle.of("Code 4821 | Bank", "Log in | Bank")
    observation = {"kind": "diff", "title": title, "text": text}
    answer = Answer(content={"success": True, "data": {}, "observation": observation}, session_id=None)

    masked = MASK(answer)

    assert masked.content["observation"]["title"] == "Code [secret PIN] | Bank"
    assert "4821" not in masked.text
