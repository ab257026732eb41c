"""Calls that are kept in a file, made on a handle (R000-67, R000-79 to R000-83)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from footlight.client.runtime.handle import Handle

__all__ = ["run_sequence"]


async def run_sequence(
    mcp: Handle,
    path: str | os.PathLike[str],
    *,
    variables: Mapping[str, str] | None = None,
    verify: bool = False,
    ignore: Iterable[str] = (),
) -> list[Any]:
    """Make the calls of a sequence or of a call log, one after another; what each gave.

    A sequence has `{"name", "arguments"}` on each line, and no session. Of a log, what opened and closed its
    session is left out, and the handle's own session takes the place of the one that was logged. `${name}` in
    a text becomes the value that `variables` has; ids that the server made up are followed
    (`replay.identifiers`).

    With `verify`, what comes of each call must be what the log says, as far as it says it: a call that failed
    must fail with the same message, and gives None here. `ignore` has what is not compared: `$.data.timing`,
    or the name of a field, anywhere.

    Raises:
        MCPError: the file cannot be read, a line is bad, a variable has no value: before anything is called.
            Or a call failed: its own error, with the line and the call before its message; those after it
            are not made.
        ReplayDiffers: with `verify`, after all calls: shows what is different, and in which lines.
    """
    # Reading files and comparing are parts of their own: a handle that runs no sequence does not load them.
    from footlight.client.replay.running import ReplayDiffers, again, read_script
    from footlight.client.replay.volatile import Ignored

    ignored = Ignored.of(ignore)
    script = read_script(Path(path), variables)
    made = [each async for each in again(mcp, script, verify=verify, ignored=ignored)]
    differing = [each.told(script) for each in made if each.differences]
    if made and made[-1].stops and (error := made[-1].error):
        for each in differing:
            error.add_note(each)
        raise error
    if differing:
        raise ReplayDiffers("\n".join(differing))
    return [each.value for each in made]
