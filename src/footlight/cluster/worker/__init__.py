"""The actor that runs the calls of one machine, and the values that it exchanges with the servers.

`actor` is the worker, `running` has its parts, and `tool_calls` its running calls. `elicitation` asks the
person behind a client, `call_channel` takes calls without Ray, `session_keeper` keeps its sessions for other
workers, `draining` ends it, and `file_links` has the links to its files.
"""

from footlight.cluster.worker.actor import Worker
from footlight.cluster.worker.build import build_of, settings_for_workers
from footlight.cluster.worker.messages import (
    Heard,
    HelpInvitation,
    HelpMessage,
    HelpQuestion,
    HelpStep,
    HelpTerms,
    Load,
    Progress,
    RemoteCall,
    WatchedWorker,
    WorkerRefusal,
    WorkerReply,
    WorkerStatus,
)

__all__ = [
    "Heard",
    "HelpInvitation",
    "HelpMessage",
    "HelpQuestion",
    "HelpStep",
    "HelpTerms",
    "Load",
    "Progress",
    "RemoteCall",
    "WatchedWorker",
    "Worker",
    "WorkerRefusal",
    "WorkerReply",
    "WorkerStatus",
    "build_of",
    "settings_for_workers",
]
