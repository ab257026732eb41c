"""Run the calls of a file on a handle."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from footlight.client.handles.handle import Handle

__all__ = ["run_sequence"]


async def run_sequence(
    mcp: Handle,
    path: str | os.PathLike[str],
    *,
    variables: Mapping[str, str] | None = None,
    verify: bool = False,
    ignore: Iterable[str] = (),
) -> list[Any]:
    """Make the calls of a sequence or of a call log, one after another, and return their results.

    A sequence has `{"name", "arguments"}` on each line, and no session. In a log, the calls that opened and
    closed its session are left out, and the handle's own session replaces the logged one. `${name}` in a text
    is replaced by the value in `variables`. Ids that the server made up are replaced by those of this run
    (`replay.comparison`).

    With `verify`, each result must be what the log says, as far as it says it: a call that failed must fail
    with the same message, and gives None here. `ignore` has what is not compared: `$.data.timing`, or the
    name of a field, anywhere.

    Raises:
        MCPError: before any call: the file cannot be read, a line is not valid, or a variable has no value.
            Or a call failed: its own error, with the line and the call before its message; later calls are
            not made.
        ReplayDiffers: with `verify`, after all calls: shows what differs, and in which lines.
    """
    # Reading files and comparing are parts of their own: a handle that runs no sequence does not load them.
    from footlight.client.replay.runner import ReplayDiffers, again, read_script
    from footlight.client.replay.volatile import Ignored

    ignored = Ignored.of(ignore)
    script = read_script(Path(path), variables)
    made = [each async for each in again(mcp, script, verify=verify, ignored=ignored)]
    differing = [each.describe(script) for each in made if each.differences]
    if made and made[-1].stops and (error := made[-1].error):
        for each in differing:
            error.add_note(each)
        raise error
    if differing:
        raise ReplayDiffers("\n".join(differing))
    return [each.value for each in made]
