"""Play every flow with every server, and print what it took beside the goals."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.answers.applications import install_applications
from benchmarks.answers.flows import FLOWS, Flow
from benchmarks.answers.players import PLAYERS, Exchange, NotVisibleError, Player
from benchmarks.tokens import count_tokens

__all__ = ["compare_answers"]

NAME_WIDTH = 56
MAX_CALLS = 0.6
MAX_TOKENS = 0.2
"""The goals: our share of the peer's calls and tokens."""


@dataclass(frozen=True)
class Played:
    """What a flow took: the calls, and the characters and tokens of their arguments and answers."""

    calls: int
    characters: int
    tokens: int
    succeeded: bool


async def compare_answers(transcripts: Path | None = None) -> None:
    """Print a line for each flow. `transcripts` is a folder to which every call is written."""
    install_applications()
    print(
        "\nFlows over real applications: what a model sends and receives (Footlight, @playwright/mcp, ratio)"
    )
    head = f"{'calls':>14}{'ratio':>7}{'characters':>18}{'ratio':>7}{'tokens':>16}{'ratio':>7}  goals"
    print(f"{'flow':<{NAME_WIDTH}}{head}")
    rows: list[tuple[Flow, list[Played]]] = []
    for flow in FLOWS:
        played = [await _play(kind, flow, transcripts) for kind in PLAYERS]
        rows.append((flow, played))
        print(_row(flow, played), flush=True)
    met = sum(_is_met(played) for _, played in rows)
    print(f"{met} of {len(rows)} flows meet the goals: ≤ {MAX_CALLS}× calls, ≤ {MAX_TOKENS}× tokens, success")


async def _play(kind: type[Player], flow: Flow, transcripts: Path | None) -> Played:
    async with flow.application.running() as application, kind.kind.running() as server:
        player = kind(server)
        try:
            await player.play(flow, application.url)
            succeeded = flow.is_reached(application, player.read)
        except NotVisibleError as error:
            print(f"  {kind.kind.name} does not show: {error}", file=sys.stderr)
            succeeded = False
    if transcripts:
        path = transcripts / f"{flow.application.name}-{flow.name.replace(' ', '-')}-{kind.__name__}.txt"
        path.write_text(
            "\n\n".join(f">>> {each.tool} {each.arguments}\n{each.answer}" for each in player.exchanges)
        )
    return Played(*_measure(player.exchanges), succeeded)


def _measure(exchanges: Sequence[Exchange]) -> tuple[int, int, int]:
    texts = [text for each in exchanges for text in (each.arguments, each.answer)]
    return len(exchanges), sum(map(len, texts)), sum(count_tokens(texts))


def _row(flow: Flow, played: Sequence[Played]) -> str:
    ours, peer = played
    verdict = "met" if _is_met(played) else "behind"
    if not (ours.succeeded and peer.succeeded):
        verdict += f" (success: {ours.succeeded}, {peer.succeeded})"
    name = f"{flow.application.name}: {flow.name}"
    counts = (
        (ours.calls, peer.calls, 7),
        (ours.characters, peer.characters, 9),
        (ours.tokens, peer.tokens, 8),
    )
    cells = [f"{one:>{width},}{other:>{width},}{one / other:>6.2f}×" for one, other, width in counts]
    return f"{name:<{NAME_WIDTH}}{''.join(cells)}  {verdict}"


def _is_met(played: Sequence[Played]) -> bool:
    ours, peer = played
    is_short = ours.calls <= MAX_CALLS * peer.calls and ours.tokens <= MAX_TOKENS * peer.tokens
    return is_short and ours.succeeded and peer.succeeded
