"""The prompt library: the five prompts in full, the rules of rendering, and secrets that are masked."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from footlight.server.prompt_files import builtin_prompts
from footlight.server.prompt_library import (
    InvalidArgumentError,
    InvalidPromptError,
    MissingArgumentError,
    PromptArgument,
    PromptDefinition,
    PromptError,
    PromptLibrary,
    PromptNotFoundError,
)

BUILT_IN = builtin_prompts()


def library(*prompts: PromptDefinition) -> PromptLibrary:
    made = PromptLibrary()
    for prompt in prompts or BUILT_IN:
        made.register(prompt)
    return made


def argument(
    name: str, *, required: bool = False, default: str | None = None, secret: bool = False
) -> PromptArgument:
    return PromptArgument(
        name=name, description=f"The {name}", required=required, default=default, secret=secret
    )


def prompt(template: str, *arguments: PromptArgument, name: str = "mine") -> PromptDefinition:
    return PromptDefinition(name=name, description="Ours", arguments=arguments, template=template)


def render_prompt(template: str, *arguments: PromptArgument, **given: object) -> str:
    return library(prompt(template, *arguments)).render("mine", given)


def test_scrape_website_prompt_is_rendered() -> None:
    selectors = """{"title": "h1", "price": "[data-kind='price'] > span", "link": "a[href^=\\"/p\\"]"}"""

    text = library().render(
        "scrape_website", {"url": "https://example.com/a?b=1&c=2", "selectors": selectors}
    )

    assert text == (
        """\
I need to scrape data from https://example.com/a?b=1&c=2. Please:

1. Navigate to the URL
2. Wait for the page to fully load
3. Extract data using these selectors:
   - title: h1
   - price: [data-kind='price'] > span
   - link: a[href^="/p"]
4. Return the extracted data as a JSON object

Handle any errors gracefully and include metadata about the scrape
(timestamp, page title, final URL after redirects).
"""
    )


def test_fill_form_prompt_is_rendered() -> None:
    """Texts to type are included, or the steps could not log in."""
    form = json.dumps(
        {"name": "Zoë O'Hara", "adults": 2, "news": True, "password": "secret:SHOP", "pin": "4821"}
    )

    text = library().render("fill_form", {"url": "https://example.com/form", "form_data": form})

    assert text == (
        """\
Please fill out and submit a form at https://example.com/form:

1. Navigate to the page
2. Fill the following fields:
   - name: Zoë O'Hara
   - adults: 2
   - news: true
   - password: secret:SHOP
   - pin: 4821
3. Click the submit button: button[type='submit']
4. Wait for submission to complete
5. Return the result URL and any success/error messages
"""
    )


def test_visual_regression_prompt_is_rendered() -> None:
    given = {"url": "https://example.com", "baseline_screenshot": "shots/home.png"}

    assert library().render("visual_regression", given) == (
        """\
Perform visual regression testing for https://example.com:

1. Navigate to the URL
2. Take a full-page screenshot
3. Compare with baseline: shots/home.png
4. Report any visual differences
5. Highlight areas that changed
6. Return diff percentage and annotated screenshot
"""
    )


def test_authenticate_prompt_is_rendered_without_the_password() -> None:
    given = {
        "url": "https://ann:hunter2@example.com/login",
        "username": "ann+hunter2",
        "password": "hunter2",
        "submit_selector": "#go",
    }

    assert library().render("authenticate", given) == (
        """\
Please log into https://ann:[REDACTED]@example.com/login:

1. Navigate to the login page
2. Fill username field (input[name='username'], input[type='email']): ann+[REDACTED]
3. Fill password field (input[name='password'], input[type='password']): [REDACTED]
4. Click submit (#go)
5. Wait for redirect/success
6. Save authentication cookies
7. Return session ID for future requests

Note: Handle 2FA prompts if they appear.
"""
    )


@pytest.mark.parametrize(
    "password", ["login", "password", "username", "Fill", "input", "type='email'", "cookies", "[REDACTED]"]
)
def test_password_equal_to_a_template_word_is_not_revealed(password: str) -> None:
    """Neither by the template's words nor by those of its defaults."""
    given = {"url": "https://example.com", "username": "ann"}

    assert library().render("authenticate", {**given, "password": password}) == library().render(
        "authenticate", {**given, "password": "hunter2hunter2"}
    )


def test_password_is_redacted_only_from_given_values() -> None:
    given = {"url": "https://example.com/login?user=ann", "username": "login", "password": "login"}

    assert library().render("authenticate", given).splitlines()[:4] == [
        "Please log into https://example.com/[REDACTED]?user=ann:",
        "",
        "1. Navigate to the login page",
        "2. Fill username field (input[name='username'], input[type='email']): [REDACTED]",
    ]


def test_e2e_test_prompt_is_rendered() -> None:
    given = {"test_scenario": 'buy {{two}} lamps & "a rope"', "start_url": "https://example.com"}

    assert library().render("e2e_test", given) == (
        """\
Execute this E2E test scenario: buy {{two}} lamps & "a rope"

Starting at: https://example.com

For each step:
1. Describe what you're doing
2. Take a screenshot
3. Verify expected outcome
4. Report any issues

At the end, provide:
- Test result (pass/fail)
- Screenshots from each step
- Performance metrics
- Any errors encountered
"""
    )


def test_prompts_are_listed_in_registration_order() -> None:
    first, second = prompt("a", name="z"), prompt("b", name="a")

    made = library(first, second)

    assert made.list() == (first, second)
    assert (made.get("a"), made.get("b")) == (second, None)


def test_later_prompt_of_the_same_name_replaces_the_first() -> None:
    first, second, third = prompt("a", name="x"), prompt("b", name="y"), prompt("c", name="x")

    made = library(first, second, third)

    assert made.list() == (third, second)
    assert made.render("x", {}) == "c"


def test_invalid_prompt_does_not_replace_an_existing_one() -> None:
    made = library(prompt("a"))

    with pytest.raises(InvalidPromptError):
        made.register(prompt("{{b}}"))

    assert made.render("mine", {}) == "a"


def test_an_unknown_prompt_is_named() -> None:
    with pytest.raises(PromptNotFoundError, match=r"^Prompt not found: scrape$"):
        library().render("scrape", {})


@pytest.mark.parametrize(
    ("name", "given", "missing"),
    [
        ("scrape_website", {"selectors": "{}"}, "url"),
        ("scrape_website", {"url": "u"}, "selectors"),
        ("fill_form", {"url": "u"}, "form_data"),
        ("visual_regression", {"url": "u"}, "baseline_screenshot"),
        ("authenticate", {"url": "u", "username": "n"}, "password"),
        ("e2e_test", {"start_url": "u"}, "test_scenario"),
        ("e2e_test", {"scenario": "an unknown one", "start_url": "u"}, "test_scenario"),
    ],
)
def test_a_missing_argument_is_named(name: str, given: dict[str, str], missing: str) -> None:
    with pytest.raises(MissingArgumentError, match=f"^Missing required argument: {missing}$"):
        library().render(name, given)


def test_an_unknown_argument_is_named_with_the_known_ones() -> None:
    expected = "Unknown argument: baseline; visual_regression takes url, baseline_screenshot"

    with pytest.raises(InvalidArgumentError, match=f"^{expected}$"):
        library().render("visual_regression", {"url": "u", "baseline_screenshot": "b", "baseline": "c"})


def test_an_argument_to_a_prompt_without_arguments_is_refused() -> None:
    with pytest.raises(PromptError, match=r"^Unknown argument: a; mine takes none$"):
        render_prompt("text", a="b")


def test_defaults_replace_only_absent_arguments() -> None:
    arguments = (
        argument("a", default="A"),
        argument("b", default="B"),
        argument("c"),
        argument("d", default=""),
    )

    assert render_prompt("{{a}}|{{b}}|{{c}}|{{d}}", *arguments, b="") == "A|||"


@pytest.mark.parametrize(
    "value", ["", "h1", "5", '"h1"', "null", "{'a': 'b'}", '{"password": hunter2}', 5, None]
)
def test_iterated_argument_must_be_a_json_object_or_array(value: object) -> None:
    """The value is not repeated: it may hold a secret."""
    with pytest.raises(InvalidArgumentError) as raised:
        library().render("fill_form", {"url": "u", "form_data": value})

    message, _, problem = str(raised.value).partition(": Expecting")
    assert message == (
        """Argument form_data must be a JSON object or array, such as {"title": "h1"} or ["h1", "h2"]"""
    )
    assert "hunter2" not in problem


def test_too_deeply_nested_json_is_refused() -> None:
    deep = "[" * 100_000 + "]" * 100_000

    with pytest.raises(InvalidArgumentError, match=r"^An argument of fill_form is nested too deeply$"):
        library().render("fill_form", {"url": "u", "form_data": deep})


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        ({"form_data": json.dumps([1] * 50_000)}, "Argument form_data has more than 1,000 values"),
        ({"form_data": [[1] * 30] * 40}, "Argument form_data has more than 1,000 values"),
        ({"form_data": f'["{"x" * 200_000}"]'}, "Argument form_data has more than 200,000 characters"),
        ({"url": "u" * 1_000_000, "form_data": "[]"}, "fill_form has more than 1,000,000 characters"),
    ],
)
def test_too_large_arguments_are_refused(given: dict[str, object], limit: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"{limit}$"):
        library().render("fill_form", {"url": "u", **given})


def test_long_argument_repeated_in_a_loop_is_refused() -> None:
    given = {"rows": [1] * 900, "url": "u" * 9_000}
    with pytest.raises(InvalidArgumentError, match=r"mine has more than 1,000,000 characters$"):
        render_prompt("{{#each rows}}{{url}}{{/each}}", argument("rows"), argument("url"), **given)


def test_python_values_are_accepted_as_arguments() -> None:
    text = render_prompt(
        "{{#each rows}}{{@key}}={{this}} {{/each}}{{plain}}",
        argument("rows"),
        argument("plain"),
        rows=("a", {"token": "abc", "half": "\ud800"}),
        plain={"pin": 1234},
    )

    assert text == '0=a 1={"token":"abc","half":"�"} {"pin":"[REDACTED]"}'


def test_default_of_an_iterated_argument_is_parsed_as_json() -> None:
    assert render_prompt("{{#each x}}{{this}}{{/each}}", argument("x", default='["a", "b"]')) == "ab"


def test_secret_argument_is_rendered_as_the_redaction_mark() -> None:
    template = "{{key}} {{#if key}}with{{else}}without{{/if}} {{note}}"
    arguments = argument("key", secret=True), argument("note", default="-")

    assert render_prompt(template, *arguments, key="abcd", note="(abcd)") == "[REDACTED] with ([REDACTED])"
    assert render_prompt(template, *arguments, key="abc", note="(abc)") == "[REDACTED] with (abc)"
    assert render_prompt(template, *arguments, key=12345, note="12345") == "[REDACTED] with [REDACTED]"
    assert render_prompt(template, *arguments, key="") == " without -"
    assert render_prompt(template, *arguments) == " without -"


def test_default_of_a_secret_argument_is_redacted() -> None:
    arguments = argument("key", secret=True, default="hunter2"), argument("note")

    assert render_prompt("{{key}} {{note}}", *arguments, note="hunter2") == "[REDACTED] [REDACTED]"


SECRETS = st.text(
    st.characters(codec="utf-8", exclude_characters="[]", exclude_categories=["Lu"]), min_size=4, max_size=12
)


@given(SECRETS, st.text(max_size=5), st.text(max_size=5))
def test_any_password_is_redacted_from_the_prompt(secret: str, before: str, after: str) -> None:
    """The words of the template itself stay, because leaving one out would tell the password."""
    assume(secret not in library().render("authenticate", {"url": "u", "username": "u", "password": ""}))
    note = before + secret + after
    given = {
        "url": f"https://example.com/{note}",
        "username": note,
        "password": secret,
        "username_selector": json.dumps({"a": [note]}),
    }

    assert secret not in library().render("authenticate", given)


@given(SECRETS, st.sampled_from(["password", "apiKey", "card-cvv", "PIN"]), st.booleans())
def test_value_under_a_secret_key_is_redacted(secret: str, key: str, nested: bool) -> None:
    given = {"url": "u", "username": {key: {"value": [secret]} if nested else secret}, "password": ""}
    without_it = library().render("authenticate", {**given, "username": {key: ""}})
    assume(secret not in without_it)

    assert secret not in library().render("authenticate", given)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (prompt("", name="a b"), "prompt 'a b', field 'name': must match ^[A-Za-z0-9._-]{1,128}$, got 'a b'"),
        (
            prompt("", name="a\n"),
            "prompt 'a\\n', field 'name': must match ^[A-Za-z0-9._-]{1,128}$, got 'a\\n'",
        ),
        (
            prompt("", argument("")),
            "prompt 'mine', field 'arguments[0].name': must match ^[A-Za-z0-9._-]{1,128}$, got ''",
        ),
        (
            prompt("", argument("a"), argument("a")),
            "prompt 'mine', field 'arguments[1].name': a second argument 'a'",
        ),
        (
            prompt("", argument("this.a")),
            "prompt 'mine', field 'arguments[0].name': 'this.a' is a word of the template language",
        ),
        (
            prompt("a\n{{#if a}}", argument("a")),
            "prompt 'mine', field 'template': line 2: {{#if a}} is never closed",
        ),
        (prompt("{{a}}"), "prompt 'mine', field 'template': line 1: unknown argument 'a'; known: none"),
        (
            prompt("{{#each a}}{{/each}}", argument("a", secret=True)),
            "prompt 'mine', field 'arguments[0].secret': {{#each a}} would show a secret",
        ),
        (
            prompt("{{#each a}}{{/each}}", argument("a", default="h1")),
            "prompt 'mine', field 'arguments[0].default': must be a JSON object or array, such as "
            '{"title": "h1"} or ["h1", "h2"], because the template goes over it',
        ),
    ],
)
def test_invalid_prompt_is_refused_on_registration(wrong: PromptDefinition, message: str) -> None:
    with pytest.raises(InvalidPromptError, match=f"^{re.escape(message)}$"):
        library(wrong)


def test_user_prompt_may_replace_a_built_in_one() -> None:
    mine = replace(BUILT_IN[1], template="Fill {{url}}")

    made = library(*BUILT_IN, mine)

    assert [each.name for each in made.list()] == [each.name for each in BUILT_IN]
    assert made.render("fill_form", {"url": "u", "form_data": "not gone over"}) == "Fill u"


def test_selector_under_the_key_token_is_not_redacted() -> None:
    text = library().render("scrape_website", {"url": "https://a.test", "selectors": {"token": "#csrf"}})

    assert "   - token: #csrf\n" in text
