"""The template language: what each tag renders, and the errors of wrong ones."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.server.prompt_template import TemplateError, parse

VALUES: dict[str, object] = {
    "text": "plain",
    "empty": "",
    "object": {"title": "h1", "price": ".price"},
    "array": ["a", "b"],
    "nothing": [],
    "bare": {},
    "rows": [{"name": "Ann", "tags": ["x", "y"]}, {"name": "Bo"}],
}
NAMES = [*VALUES, "absent"]


def render_template(template: str, values: Mapping[str, object] = VALUES) -> str | None:
    return parse(dedent(template), NAMES).render(values, max_length=10_000)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("a {{text}} b", "a plain b"),
        ("{{ text }}{{text}}", "plainplain"),
        ("[{{absent}}{{empty}}]", "[]"),
        ("{{object}} {{array}}", '{"title":"h1","price":".price"} ["a","b"]'),
        ("{{#each array}}{{@index}}={{@key}}={{this}};{{/each}}", "0=0=a;1=1=b;"),
        ("{{#each object}}{{@index}}:{{@key}}:{{this}};{{/each}}", "0:title:h1;1:price:.price;"),
        ("{{#each rows}}{{this.name}}{{this.age}},{{/each}}", "Ann,Bo,"),
        ("{{#each rows}}{{#each this.tags}}{{this}}{{else}}none{{/each}};{{/each}}", "xy;none;"),
        ("{{#each rows}}{{this}}{{/each}}", '{"name":"Ann","tags":["x","y"]}{"name":"Bo"}'),
        ("{{#each rows}}{{#each this}}{{@key}} {{/each}}{{@key}};{{/each}}", "name tags 0;name 1;"),
        ("{{#each array}}{{text}} {{/each}}", "plain plain "),
        ("{{#each array}}{{this.name}}{{/each}}", ""),
        ("{{#each nothing}}x{{else}}no rows{{/each}}", "no rows"),
        ("{{#each absent}}x{{/each}}", ""),
        ("{{#if text}}yes{{else}}no{{/if}}", "yes"),
        ("{{#if empty}}yes{{else}}no{{/if}}", "no"),
        ("{{#if absent}}yes{{/if}}", ""),
        ("{{#if nothing}}yes{{else}}no{{/if}}", "no"),
        ("{{#if bare}}yes{{/if}}", "yes"),
        ("{{#each array}}{{#if @index}}, {{/if}}{{this}}{{/each}}", "a, b"),
        ("{{#each rows}}{{#if this.tags}}{{this.name}}{{/if}}{{/each}}", "Ann"),
        ("a{{! {{text }}b{{!-- {{text}} --}}c", "abc"),
        ("stray }} and { single }", "stray }} and { single }"),
        ("", ""),
    ],
)
def test_template_tags_are_rendered(template: str, text: str) -> None:
    assert render_template(template) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1.5, "1.5"), (True, "true"), (None, "null"), (["é", {"a": 1}], '["é",{"a":1}]')],
)
def test_non_text_values_are_rendered_as_compact_json(value: object, text: str) -> None:
    assert render_template("{{text}}", {"text": value}) == text


@pytest.mark.parametrize("text", ["input[name='q'] > \"b\" & c", "{{text}}", "{{#each", "\\1"])
def test_values_are_inserted_unescaped(text: str) -> None:
    assert render_template("<{{text}}>", {"text": text}) == f"<{text}>"


def test_tag_alone_on_its_line_removes_the_line() -> None:
    template = """\
        Rows:
          {{! who is there }}
        {{#each rows}}
          {{#if this.tags}}
          - {{this.name}}

          {{ else }}
          - nobody
            {{/if}}\t
        {{/each}}
        End
        {{!-- two
              lines --}}
        """

    assert render_template(template) == "Rows:\n  - Ann\n\n  - nobody\nEnd\n"


def test_tag_with_other_text_on_its_line_keeps_the_line() -> None:
    template = """\
        a {{#if text}}
        b
        {{/if}} c
          {{text}}
        {{#if text}}{{/if}}
        end {{! said }}
        """

    assert render_template(template) == "a \nb\n c\n  plain\n\nend \n"


def test_crlf_and_missing_final_newline_are_accepted() -> None:
    assert render_template("{{#if text}}\r\na\r\n{{/if}}") == "a\r\n"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("a\n\n{{txt}}", "line 3: unknown argument 'txt'; known: text, empty"),
        ("{{#each txt}}{{/each}}", "line 1: unknown argument 'txt'; known: text, empty"),
        ("{{text.length}}", "line 1: unknown argument 'text.length'; known: text, empty"),
        ("a\n{{#unless text}}{{/unless}}", "line 2: unknown block 'unless'; known: each, if"),
        ("\n{{#each text}}\n{{#if text}}{{/if}}", "line 2: {{#each text}} is never closed"),
        ("{{#if text}}\n\n{{/each}}", "line 3: {{/each}} cannot close {{#if text}} of line 1"),
        ("\n  {{/if}}\n", "line 2: {{/if}} has no opening tag"),
        ("{{else}}", "line 1: {{else}} is outside of a block"),
        ("{{#if text}}{{else}}{{else}}{{/if}}", "line 1: {{else}} is outside of a block"),
        ("{{this}}", "line 1: {{this}} is valid only in {{#each}}"),
        ("{{#each text}}{{/each}}\n{{@key}}", "line 2: {{@key}} is valid only in {{#each}}"),
        ("{{#each text}}{{else}}{{this.a}}{{/each}}", "line 1: {{this.a}} is valid only in {{#each}}"),
        ("{{#if @index}}{{/if}}", "line 1: {{@index}} is valid only in {{#each}}"),
        ("a\n{{text", "line 2: '{{' is never closed with '}}'"),
        ("{{!-- text }}", "line 1: '{{' is never closed with '}}'"),
        ("{{{text}}}", "line 1: unknown tag {{{text}}"),
        ("{{> text}}", "line 1: unknown tag {{> text}}"),
        ("{{~text~}}", "line 1: unknown tag {{~text~}}"),
        ("{{#each text}}{{@first}}{{/each}}", "line 1: unknown tag {{@first}}"),
        ("{{#each text}}{{this.}}{{/each}}", "line 1: unknown argument 'this.'; known: text, empty"),
        ("{{#if}}", "line 1: unknown tag {{#if}}"),
        ("{{else if text}}", "line 1: unknown tag {{else if text}}"),
        ("{{#each text as |row|}}", "line 1: unknown tag {{#each text as |row|}}"),
        ("{{}}", "line 1: unknown tag {{}}"),
    ],
)
def test_invalid_template_is_reported_with_its_line(template: str, message: str) -> None:
    with pytest.raises(TemplateError) as raised:
        parse(template, ["text", "empty"])

    assert str(raised.value) == message


def test_template_accepts_any_valid_argument_name() -> None:
    template = parse("{{a.b}} {{c-d}} {{1}}", ["a.b", "c-d", "1"])

    assert template.render({"a.b": "x", "c-d": "y", "1": "z"}, max_length=10) == "x y z"


def test_template_lists_the_arguments_it_iterates_over() -> None:
    template = parse("{{text}}{{#each rows}}{{#each this}}{{#if array}}{{/if}}{{/each}}{{/each}}", NAMES)

    assert template.iterated == {"rows"}


BRACES = st.text(st.sampled_from("{}#/!@ \n") | st.characters(categories=["L"]), max_size=30)


@given(BRACES, st.dictionaries(BRACES, BRACES, max_size=3))
def test_template_tags_in_values_are_not_interpreted(text: str, entries: dict[str, str]) -> None:
    template = "<{{text}}>{{#each object}}[{{@key}}={{this}}]{{/each}}"

    expected = f"<{text}>" + "".join(f"[{key}={value}]" for key, value in entries.items())

    assert render_template(template, {"text": text, "object": entries}) == expected


@given(
    st.lists(
        st.sampled_from(["{{", "}}", "#each ", "#if ", "/each", "else", "!--", "text", "\n", " ", "this"])
    )
)
def test_any_text_is_parsed_as_template_or_refused(parts: list[str]) -> None:
    with contextlib.suppress(TemplateError):
        assert "{{" not in (parse("".join(parts), ["text"]).render({"text": ["a"]}, max_length=10_000) or "")
