"""`footlight knowledge`: what was done and seen in sessions with an app under test."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from footlight.cli.printing import say

if TYPE_CHECKING:
    from footlight.knowledge.search import Outcome
    from footlight.knowledge.store import KnowledgeStore

__all__ = ["knowledge"]

DEFAULT_ROOT = Path("test-artifacts/llm-knowledge")


class _Moment(click.ParamType[datetime]):
    """A time, or how long ago: 48h, 2026-01-15, 2026-01-15T12:00:00Z."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        from footlight.knowledge.naming import moment_in_words

        try:
            return moment_in_words(str(value), now=datetime.now(UTC))
        except ValueError as error:
            self.fail(str(error), param, ctx)


root_option = click.option(
    "--root",
    type=click.Path(file_okay=False, path_type=Path),
    default=DEFAULT_ROOT,
    show_default=str(DEFAULT_ROOT),
    help="The folder of the sessions.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
session_option = click.option("--session", metavar="ID", help="Of this session only.")
out_option = click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="Write to this file."
)
force_option = click.option("--force", is_flag=True, help="Overwrite the file if it is there.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def knowledge() -> None:
    """Read what sessions with an app under test have left: steps, searches, recipes, reports.

    Times are in UTC.
    """


@knowledge.command()
@click.option("-n", "n", type=click.IntRange(1, 200), default=20, show_default=True, help="So many.")
@session_option
@root_option
@json_option
def last(*, n: int, session: str | None, root: Path, as_json: bool) -> None:
    """List the latest steps, the latest first."""
    with _opened(root) as store:
        _check_session(store, session)
        steps = store.last(n, session_id=session)
    if as_json:
        say(_as_json(steps))
    for step in [] if as_json else steps:
        failed = "" if step["ok"] else "FAILED  "
        say(f"{step['timestamp']}  {step['tool']}  {step['screen']}  {failed}{step['snippet']}".rstrip())


@knowledge.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="So many at most.")
@click.option("--screen", metavar="NAME", help="On this screen only.")
@click.option("--tool", metavar="NAME", help="Of this tool only: mm_click, or click.")
@click.option("--outcome", type=click.Choice(["ok", "failed"]), help="Only what succeeded, or failed.")
@session_option
@click.option("--since", type=_Moment(), help="Since a time, or for so long: 48h, 7d, 2026-01-15.")
@root_option
@json_option
def search(
    *,
    query: tuple[str, ...],
    limit: int,
    screen: str | None,
    tool: str | None,
    outcome: Outcome | None,
    session: str | None,
    since: datetime | None,
    root: Path,
    as_json: bool,
) -> None:
    """Find steps by words: tools, screens, test ids, names and roles. The best first.

    Words of the same meaning are found too (approve, confirm), and so are beginnings of words.
    """
    from footlight.knowledge.search import Query

    wanted = Query(
        text=" ".join(query),
        limit=limit,
        screen=screen,
        tool=tool,
        outcome=outcome,
        session_id=session,
        since=since,
    )
    with _opened(root) as store:
        _check_session(store, session)
        hits = store.search(wanted)
    if as_json:
        say(_as_json([hit.as_json() for hit in hits]))
        return
    for hit in hits:
        failed = "" if hit.ok else "  FAILED"
        say(f"{hit.score:5.1f}  {hit.timestamp}  {hit.session_id}  {hit.tool}  {hit.screen}{failed}")
        for line in filter(None, (hit.target, hit.snippet)):
            say(f"       {line}")
    if not hits:
        click.echo("Nothing was found.", err=True)


@knowledge.command()
@click.argument("session", required=False)
@root_option
@json_option
def summarize(*, session: str | None, root: Path, as_json: bool) -> None:
    """Tell a session, or the latest, as a recipe."""
    with _opened(root) as store:
        _check_session(store, session)
        told = store.summarize(session)
    if as_json:
        say(_as_json(told))
        return
    say(f"{told['sessionId'] or 'There is no session yet.'}")
    if told.get("omittedBefore"):
        say(f"  (without the first {told['omittedBefore']} steps)")
    for step in told["steps"]:
        say(f"{step['step']:4}. {step['notes']}")


@knowledge.command()
@click.argument("session")
@out_option
@force_option
@root_option
def export(*, session: str, out: Path, force: bool, root: Path) -> None:
    """Write the steps of a session as JSON Lines: one record a line, in the order of time."""
    with _opened(root) as store:
        _check_session(store, session)
        _check_free(out, force)
        count = store.export(session, out)
    say(f"{out}: {count} steps")


@knowledge.command()
@click.argument("session")
@out_option
@force_option
@root_option
def report(*, session: str, out: Path, force: bool, root: Path) -> None:
    """Write a session as one HTML page, which needs no other file and no network."""
    from footlight.knowledge import report as reporting

    with _opened(root) as store:
        _check_session(store, session)
    _check_free(out, force)
    page = reporting.report(root, session)
    if page is None:
        raise click.BadParameter(f"{session} has no step that can be read.", param_hint="SESSION")
    try:
        out.write_text(page, "utf-8")
    except OSError as error:
        raise click.BadParameter(f"{out} cannot be written: {error.strerror}", param_hint="--out") from None
    say(str(out))


@knowledge.command()
@click.option("--before", type=_Moment(), help="Sessions that ended before a time, or so long ago: 30d.")
@click.option("--keep", type=click.IntRange(min=0), metavar="N", help="All but the N latest sessions.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@root_option
@json_option
def prune(*, before: datetime | None, keep: int | None, yes: bool, root: Path, as_json: bool) -> None:
    """Remove old sessions, their steps and screenshots. Either option is enough for a session to go."""
    if before is None and keep is None:
        raise click.UsageError("Say which sessions are to go: --before TIME, --keep N, or both.")
    with _opened(root) as store:
        sessions = store.sessions()
        going = [
            each
            for number, each in enumerate(sessions)
            if (before is not None and each.last < before) or (keep is not None and number >= keep)
        ]
        if going and not yes:
            _ask(f"{len(going)} of {len(sessions)} sessions, {sum(each.steps for each in going)} steps")
        removed = store.prune(before=before, keep=keep) if going else []
        store.last(1)  # What was removed leaves the index at once.
    if as_json:
        say(_as_json({"removed": removed}))
    else:
        say("\n".join([*removed, f"{len(removed)} sessions removed"]))


@contextmanager
def _opened(root: Path) -> Generator[KnowledgeStore]:
    from footlight.knowledge.store import KnowledgeStore

    if not root.is_dir():
        raise click.BadParameter(
            f"There is no folder {root}: no session has left anything here.", param_hint="--root"
        )
    store = KnowledgeStore(root)
    try:
        yield store
    finally:
        store.close()


def _check_session(store: KnowledgeStore, session: str | None) -> None:
    if session is None:
        return
    known = [each.id for each in store.sessions()]
    if session not in known:
        some = ", ".join(known[:5]) or "none"
        raise click.UsageError(f"There is no session {session!r}. The latest: {some}")


def _check_free(out: Path, force: bool) -> None:
    if out.exists() and not force:
        raise click.BadParameter(f"{out} is there already; --force overwrites it.", param_hint="--out")


def _ask(what: str) -> None:
    """Whoever cannot be asked has to say it beforehand."""
    if not sys.stdin.isatty():
        raise click.UsageError(f"This removes {what}. Give --yes to do it.")
    click.confirm(f"Remove {what}?", abort=True)


def _as_json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
