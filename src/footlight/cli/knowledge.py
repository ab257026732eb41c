"""`footlight knowledge`: read the recorded steps of sessions with an app under test."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from footlight.atomic_files import write_atomically
from footlight.cli.output import say
from footlight.cli.sections import CommandGroup

if TYPE_CHECKING:
    from footlight.knowledge.index.search import Outcome
    from footlight.knowledge.store import KnowledgeStore

__all__ = ["knowledge"]

DEFAULT_ROOT = Path("test-artifacts/llm-knowledge")


class _TimeOrAge(click.ParamType[datetime]):
    """A time or an age: 48h, 2026-01-15, 2026-01-15T12:00:00Z."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        from footlight.knowledge.naming import parse_moment

        try:
            return parse_moment(str(value), now=datetime.now(UTC))
        except ValueError as error:
            self.fail(str(error), param, ctx)


root_option = click.option(
    "--root",
    type=click.Path(file_okay=False, path_type=Path),
    default=DEFAULT_ROOT,
    help=f"Folder of the sessions. Default: {DEFAULT_ROOT}.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
session_option = click.option("--session", metavar="ID", help="Only steps of this session.")
out_option = click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="Write to this file."
)
force_option = click.option("--force", is_flag=True, help="Overwrite the file if it exists.")


EXAMPLES = (
    "footlight knowledge last -n 5",
    "footlight knowledge search unlock password --since 7d",
    "footlight knowledge summarize",
)


@click.group(cls=CommandGroup, examples=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
def knowledge() -> None:
    """Read what sessions with an app under test have recorded: steps, recipes and reports.

    Times are in UTC.
    """


@knowledge.command()
@click.option("-n", "n", type=click.IntRange(1, 200), default=20, help="Number of steps. Default: 20.")
@session_option
@root_option
@json_option
def last(*, n: int, session: str | None, root: Path, as_json: bool) -> None:
    """List the latest steps, newest first."""
    with _open_store(root) as store:
        _check_session(store, session)
        steps = store.list_last(n, session_id=session)
    if as_json:
        say(_to_json(steps))
    for step in [] if as_json else steps:
        failed = "" if step["ok"] else "FAILED  "
        say(f"{step['timestamp']}  {step['tool']}  {step['screen']}  {failed}{step['snippet']}".rstrip())


@knowledge.command()
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--limit", type=click.IntRange(1, 100), default=20, help="Maximum number of steps. Default: 20."
)
@click.option("--screen", metavar="NAME", help="Only steps on this screen.")
@click.option("--tool", metavar="NAME", help="Only calls of this tool, such as mm_click or click.")
@click.option(
    "--outcome",
    type=click.Choice(["ok", "failed"]),
    help="Only steps that succeeded, or only those that failed.",
)
@session_option
@click.option(
    "--since", type=_TimeOrAge(), help="Only steps since this time or age, such as 48h, 7d or 2026-01-15."
)
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
    """Search the recorded steps by words.

    The words are compared with tools, screens, test ids, names and roles. The best match comes first. The
    search also finds synonyms (approve, confirm) and words that begin with a word of the query.
    """
    from footlight.knowledge.index.search import SearchQuery

    criteria = SearchQuery(
        text=" ".join(query),
        limit=limit,
        screen=screen,
        tool=tool,
        outcome=outcome,
        session_id=session,
        since=since,
    )
    with _open_store(root) as store:
        _check_session(store, session)
        hits = store.search(criteria)
    if as_json:
        say(_to_json([hit.as_json() for hit in hits]))
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
    """Summarize a session as a recipe. Without SESSION, the latest one."""
    with _open_store(root) as store:
        _check_session(store, session)
        summary = store.summarize(session)
    if as_json:
        say(_to_json(summary))
        return
    say(f"{summary['sessionId'] or 'There is no session yet.'}")
    if summary.get("omittedBefore"):
        say(f"  (without the first {summary['omittedBefore']} steps)")
    for step in summary["steps"]:
        say(f"{step['step']:4}. {step['notes']}")


@knowledge.command()
@click.argument("session")
@out_option
@force_option
@root_option
def export(*, session: str, out: Path, force: bool, root: Path) -> None:
    """Write the steps of a session as JSON Lines.

    There is one record per line, oldest first.
    """
    with _open_store(root) as store:
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
    """Write a session as one HTML page.

    The page needs no other file and no network.
    """
    from footlight.knowledge import report as reporting

    with _open_store(root) as store:
        _check_session(store, session)
    _check_free(out, force)
    page = reporting.make_report(root, session)
    if page is None:
        raise click.BadParameter(f"{session} has no step that can be read.", param_hint="SESSION")
    try:
        write_atomically(out, page.encode(), private=True)
    except OSError as error:
        raise click.BadParameter(f"{out} cannot be written: {error.strerror}", param_hint="--out") from None
    say(str(out))


@knowledge.command()
@click.option(
    "--before", type=_TimeOrAge(), help="Remove sessions that ended before this time or age, such as 30d."
)
@click.option("--keep", type=click.IntRange(min=0), metavar="N", help="Remove all but the latest N sessions.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@root_option
@json_option
def prune(*, before: datetime | None, keep: int | None, yes: bool, root: Path, as_json: bool) -> None:
    """Remove old sessions with their steps and screenshots.

    A session is removed if it matches --before, --keep, or both.
    """
    if before is None and keep is None:
        raise click.UsageError("Say which sessions to remove: --before TIME, --keep N, or both.")
    with _open_store(root) as store:
        sessions = store.sessions()
        going = [
            each
            for number, each in enumerate(sessions)
            if (before is not None and each.last < before) or (keep is not None and number >= keep)
        ]
        if going and not yes:
            _confirm(f"{len(going)} of {len(sessions)} sessions, {sum(each.steps for each in going)} steps")
        removed = store.prune(before=before, keep=keep) if going else []
        store.list_last(1)  # This also removes the sessions from the index.
    if as_json:
        say(_to_json({"removed": removed}))
    else:
        say("\n".join([*removed, f"{len(removed)} sessions removed"]))


@contextmanager
def _open_store(root: Path) -> Generator[KnowledgeStore]:
    from footlight.knowledge.store import KnowledgeStore

    if not root.is_dir():
        raise click.BadParameter(
            f"There is no folder {root}: no session was recorded here.", param_hint="--root"
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
        raise click.BadParameter(f"{out} exists; use --force to overwrite it.", param_hint="--out")


def _confirm(what: str) -> None:
    """Ask for confirmation. Without a terminal, `--yes` is required."""
    if not sys.stdin.isatty():
        raise click.UsageError(f"This removes {what}. Confirm with --yes.")
    click.confirm(f"Remove {what}?", abort=True)


def _to_json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
