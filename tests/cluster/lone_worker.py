"""Run a worker in a process of its own without Ray, which is not installed everywhere.

`python -m tests.cluster.lone_worker` replaces only the functions that ask Ray. It opens a session, and writes
a line of JSON for each thing that happens, until a signal ends it.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from footlight.caller import LOCAL
from footlight.cluster.worker import actor, draining
from footlight.cluster.worker.messages import RemoteCall, WorkerReply

DRAIN_SECONDS = 60.0


def _write(**fields: Any) -> None:
    sys.stdout.write(f"{json.dumps(fields)}\n")
    sys.stdout.flush()


def _replace_ray() -> None:
    async def find_no_deadline() -> None:
        return None

    def end_process() -> None:
        _write(event="ended")
        os._exit(0)

    replaced: dict[str, Any] = {
        "require_token": lambda: None,
        "own_node_id": lambda: "node",
        "kill_own_actor": end_process,
    }
    for name, function in replaced.items():
        setattr(actor, name, function)
    vars(draining).update(find_own_drain_deadline=find_no_deadline, own_drain_seconds=lambda: DRAIN_SECONDS)


async def _call(worker: actor.Worker, tool: str, **arguments: Any) -> Mapping[str, Any]:
    call = RemoteCall(id=f"call-{tool}", tool=tool, arguments=arguments, caller=LOCAL)
    answer = WorkerReply.unpack(await worker.call(call.pack())).answer
    assert answer is not None, "the session is not open here"
    return answer.content


async def _run() -> None:
    worker = actor.Worker("one", {})
    status = await worker.status()
    _write(event="started", failure=status.failure, sessions=status.load.sessions)
    last, _ = await worker.changes(None)
    following = asyncio.create_task(worker.changes(last))
    created = await _call(worker, "create_session")
    session_id = created["data"]["sessionId"]
    _, changes = await following
    _, opened = await worker.changes(None)
    _write(
        event="created",
        id=session_id,
        sessions=(await worker.status()).load.sessions,
        changes=[[each.kind, each.session_id] for each in changes],
        opened=[[each.kind, each.session_id] for each in opened],
    )
    while not (await worker.status()).load.is_draining:  # noqa: ASYNC110 - nothing tells
        await asyncio.sleep(0.05)
    refused = await _call(worker, "create_session")
    kept = await _call(worker, "evaluate", sessionId=session_id, script="6 * 7")
    _write(event="draining", refused=refused["error"]["message"], result=kept["data"]["result"])
    await asyncio.Event().wait()


if __name__ == "__main__":
    _replace_ray()
    asyncio.run(_run())
