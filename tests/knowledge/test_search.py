"""The search finds what people mean, with the best match first."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from footlight.knowledge.index.index import Index
from footlight.knowledge.index.search import SearchHit, SearchQuery, find_concepts, score_steps, search
from footlight.knowledge.index.words import split_words
from tests.knowledge.recorded import START, record, space_by_seconds, write
from tests.tiers import examples

NOW = START + timedelta(days=1)
NOTHING = ((), ())


def make_index(root: Path, *records: dict[str, Any]) -> Index:
    write(root, *space_by_seconds(records))
    return Index(root)


def find_hits(index: Index, text: str, **narrowed: Any) -> list[SearchHit]:
    return search(index, SearchQuery(text=text, **narrowed), now=NOW)


def order(index: Index, text: str, **narrowed: Any) -> list[tuple[str, float]]:
    """Return the tool and the score of each hit."""
    return [(hit.tool, hit.score) for hit in find_hits(index, text, **narrowed)]


def make_sighting(*ids: str, names: Iterable[tuple[str, str]] = ()) -> Any:
    return [(id, "") for id in ids], [*names]


def test_word_score_depends_on_the_matching_field(tmp_path: Path) -> None:
    """Tool 10, screen 8, target 6, a test id that was seen 3, name or role 2; all of them 5."""
    index = make_index(
        tmp_path,
        record("mm_reveal", screen="a", seen=NOTHING),
        record("mm_b", screen="reveal-page", seen=NOTHING),
        record("mm_c", screen="a", seen=NOTHING, testId="reveal-button"),
        record("mm_d", screen="a", seen=make_sighting("show-reveal")),
        record("mm_e", screen="a", seen=make_sighting(names=[("button", "Reveal it")])),
        record("mm_f", screen="a", seen=make_sighting(names=[("reveal", "It")])),
        record("mm_g", screen="a", seen=NOTHING),
    )

    assert order(index, "reveal") == [
        ("mm_reveal", 15.0),
        ("mm_b", 13.0),
        ("mm_c", 11.0),
        ("mm_d", 8.0),
        ("mm_f", 7.0),
        ("mm_e", 7.0),
    ]


def test_each_query_word_adds_its_best_score_once(tmp_path: Path) -> None:
    index = make_index(
        tmp_path,
        record("mm_click", screen="send", seen=make_sighting("send", "send-amount"), testId="send-max"),
        record("mm_click", screen="home", seen=NOTHING, testId="max"),
    )

    assert order(index, "send max") == [("mm_click", 8 + 6 + 5.0), ("mm_click", 6 + 2.5)]


def test_latest_of_equal_hits_comes_first(tmp_path: Path) -> None:
    index = make_index(tmp_path, *[record("mm_click", testId="send") for _ in range(3)])

    hits = find_hits(index, "send")

    assert [hit.timestamp[17:19] for hit in hits] == ["02", "01", "00"]
    assert len({hit.score for hit in hits}) == 1


def test_unknown_screen_name_adds_no_score(tmp_path: Path) -> None:
    index = make_index(
        tmp_path,
        record("mm_click", screen="unknown", seen=NOTHING, testId="a"),
        record("mm_type", screen="home", seen=make_sighting("unknown-token")),
    )

    assert order(index, "unknown") == [("mm_type", 8.0)]


@pytest.mark.parametrize(
    ("asked", "id"),
    [
        ("approve", "page-container-footer-confirm"),
        ("accept the transaction", "confirm-tx"),
        ("how do I deny it?", "cancel-button"),
        ("sign in", "unlock-submit"),
        ("log in", "login"),
        ("login", "signIn"),
        ("unlock", "log-in-button"),
        ("recovery phrase", "srp-input"),
        ("seed", "import-recovery-phrase"),
        ("mnemonic", "import-srp__srp-note"),
        ("secret recovery phrase", "seedPhrase"),
        ("wallet", "account-menu-icon"),
        ("address", "accountList"),
        ("tx", "transaction-list"),
        ("transfer", "eth-overview-send"),
        ("popup", "notification-page"),
        ("window", "popup-close"),
        ("conf", "confirmFooterButton"),
        ("confirming", "confirm"),
        ("tokens", "token-list"),
        ("ERC20", "erc-20-row"),
        ("erc", "ERC20Row"),
        ("cafe", "café-menu"),
        ("TESTIDS", "testIds"),
        ("0x5cfe73b6", "address-0x5CfE73b6021E818B776b421B1c4Db2474086a7e1"),
    ],
)
def test_synonyms_and_word_forms_are_found(tmp_path: Path, asked: str, id: str) -> None:
    index = make_index(
        tmp_path,
        record("mm_go", screen="a", seen=NOTHING, testId="zzz"),
        record("mm_go", screen="a", seen=NOTHING, testId=id),
    )

    assert [hit.target for hit in find_hits(index, asked)] == [f"testId={id}"]


def test_exact_word_ranks_above_synonym_and_prefix(tmp_path: Path) -> None:
    index = make_index(
        tmp_path,
        *(
            record("mm_go", screen="a", seen=NOTHING, testId=id)
            for id in ("confirmation", "approve", "confirm")
        ),
    )

    assert [(hit.target, hit.score) for hit in find_hits(index, "confirm")] == [
        ("testId=confirm", 11.0),
        ("testId=approve", 9.8),
        ("testId=confirmation", 9.2),
    ]


def test_stop_words_are_searched_only_when_alone(tmp_path: Path) -> None:
    index = make_index(tmp_path, record("mm_go", screen="a", seen=make_sighting("how-to-do-it")))

    assert [len(find_hits(index, text)) for text in ("how is the weather", "how to", "?!", "")] == [
        0,
        1,
        0,
        0,
    ]


def test_hit_shows_its_target_outcome_and_snippet(tmp_path: Path) -> None:
    index = make_index(
        tmp_path,
        record("mm_describe_screen", screen="unlock"),
        record(
            "mm_click", screen="home", a11yRef="e3", ok=False, code="MM_CLICK_FAILED", message="It is covered"
        ),
    )

    assert [hit.as_json() for hit in find_hits(index, "click unlock button", tool="click")] == [
        {
            "sessionId": "mm-one",
            "timestamp": "2026-01-15T12:00:01.000Z",
            "tool": "mm_click",
            "screen": "home",
            "ok": False,
            "target": 'button "Unlock"',
            "snippet": 'MM_CLICK_FAILED: "It is covered"; '
            'seen: button "Account 1", button "Send", button "Swap"',
            "score": 27.0,
        }
    ]


def test_search_filters_by_screen_tool_outcome_session_and_time(tmp_path: Path) -> None:
    records = [
        record("mm_click", screen="home", testId="send"),
        record("mm_click", screen="unlock", testId="send"),
        record("mm_type", screen="home", testId="send"),
        record("mm_click", screen="home", testId="send", ok=False),
        record("mm_click", screen="home", testId="send", session_id="mm-two"),
    ]
    index = make_index(tmp_path, *records)

    def seconds(**narrowed: Any) -> set[int]:
        return {int(hit.timestamp[17:19]) for hit in find_hits(index, "send", **narrowed)}

    assert seconds() == {0, 1, 2, 3, 4}
    assert seconds(screen="unlock") == {1}
    assert seconds(tool="mm_type") == seconds(tool="type") == {2}
    assert seconds(outcome="failed") == {3}
    assert seconds(outcome="ok") == {0, 1, 2, 4}
    assert seconds(session_id="mm-two") == {4}
    assert seconds(since=START + timedelta(seconds=3)) == {3, 4}
    assert seconds(since=timedelta(hours=23, minutes=59, seconds=58)) == {2, 3, 4}
    assert seconds(screen="home", tool="click", outcome="ok", session_id="mm-one") == {0}
    assert seconds(limit=2) == {3, 4}
    assert seconds(screen="home' OR 1") == seconds(tool='"') == seconds(session_id="") == set()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """More than are looked at of a kind."""
    records = [record("mm_click", testId="send") for _ in range(50)] + [record("mm_type") for _ in range(50)]
    index = make_index(tmp_path_factory.mktemp("small"), *records)
    index.refresh()
    return index


@examples(300, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(
    text=st.text(max_size=200)
    | st.lists(st.sampled_from([*'()"*^:+-{}', "AND", "OR", "NOT", "NEAR", "send"])).map(" ".join)
)
@example('"')
@example("token")
@example("eth account")
@example('send" OR tool:*')
@example("NEAR(send, 2) AND ^send* - {tool} : x")
@example("a\x00b \ud800 send")
def test_any_query_is_treated_as_plain_text(small: Index, text: str) -> None:
    hits = find_hits(small, text)

    assert all(hit.score > 0 for hit in hits)


@pytest.mark.slow
def test_best_of_many_steps_are_found_as_by_full_scoring(tmp_path: Path) -> None:
    """What is older than hundreds of weaker ones too."""
    random.seed(4)
    vocabulary = ["send", "confirm", "amount", "token", "list", "unlock", "password", "gas", "fee", "footer"]
    screens = ["home", "unlock", "send", "settings", "unknown"]

    def some(number: int) -> str:
        return "-".join(random.sample(vocabulary, number))

    records = [
        record(
            random.choice(["mm_click", "mm_type", "mm_describe_screen", "mm_wait_for"]),
            screen=random.choice(screens),
            at=START + timedelta(seconds=number),
            seen=make_sighting(*(some(2) for _ in range(3)), names=[("button", some(2))]),
            testId=some(2),
        )
        for number in range(1500)
    ]
    write(tmp_path, *records)
    index = Index(tmp_path)
    index.refresh()
    every = index.find_candidates(lambda find: [find('"outcomex6f6b"')], since_ms=None, each=5000)

    assert len(every) == 1500
    for text in ("unlock", "click unlock password", "type amount on send", "confirm gas fee footer", "fee"):
        asked = find_concepts(text, index.words_starting_with)
        best = sorted((score for score, _ in score_steps(asked, every)), reverse=True)[:10]
        assert [hit.score for hit in find_hits(index, text, limit=10)] == best, text


@given(st.text())
def test_split_words_contain_no_spaces(text: str) -> None:
    """Without spaces, which stand between them in the index."""
    assert all(word and not word.isspace() and " " not in word for word in split_words(text))


def test_names_are_split_into_parts_and_kept_whole() -> None:
    assert split_words("confirmFooter-button__ERC20 XMLHttp 0xAb12") == {
        *("confirm", "footer", "button", "erc", "20", "xml", "http", "0xab12"),
        *("confirmfooter", "erc20", "xmlhttp"),
    }
