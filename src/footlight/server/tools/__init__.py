"""Declare tools, generate their schemas, validate their arguments, and provide the context of a call.

`@tool` on a typed function is the whole declaration of a tool. `schema.py` generates its JSON Schemas from
the function's signature, and `arguments.py` validates the arguments of clients.
"""

from footlight.server.tools.declaration import Effect, Function, Permission, Scope, Tool, tool
from footlight.server.tools.parameter_types import (
    Count,
    Expect,
    MaybeBudget,
    Milliseconds,
    Number,
    Observe,
    Settle,
    Timeout,
    Whole,
)
from footlight.server.tools.tool_call import CallReport, StepOutcome, ToolCall

__all__ = [
    "CallReport",
    "Count",
    "Effect",
    "Expect",
    "Function",
    "MaybeBudget",
    "Milliseconds",
    "Number",
    "Observe",
    "Permission",
    "Scope",
    "Settle",
    "StepOutcome",
    "Timeout",
    "Tool",
    "ToolCall",
    "Whole",
    "tool",
]
