"""The actor that runs the calls of one machine, and the values that it exchanges with the servers.

`actor` is the worker, `keeping` keeps its sessions for other workers, `leaving` ends it, and `file_links` has
the links to its files.
"""

from footlight.cluster.worker.actor import Worker, build_of, settings_for_workers
from footlight.cluster.worker.reports import (
    WORKER,
    Heard,
    Load,
    Progress,
    WatchedWorker,
    WorkerReply,
    WorkerStatus,
)

__all__ = [
    "WORKER",
    "Heard",
    "Load",
    "Progress",
    "WatchedWorker",
    "Worker",
    "WorkerReply",
    "WorkerStatus",
    "build_of",
    "settings_for_workers",
]
