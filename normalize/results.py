"""Tool results: a call's payload and its answer -> the same payload with output, and how it ended.

`tool_use_result` is looked at first, the text second: 1.0 and 2.0, and subagents of every version, have text only.
"""

from dataclasses import dataclass
from typing import Literal

from normalize.payload import NormalizedPayload
from protocol.blocks import ToolResultBlock
from protocol.json_values import Json


@dataclass(frozen=True, slots=True)
class Enriched:
    """What a result makes of a call."""

    payload: NormalizedPayload
    """The call's payload with its output."""
    status: Literal["complete", "error"]
    """`error` when the CLI says so."""
    error: str | None
    """Why it failed."""
    reason: Literal["failed", "denied", "interrupted"] | None
    """What kind of failure it was."""
    background: bool
    """True when the work goes on after this result."""


def enrich(
    payload: NormalizedPayload, block: ToolResultBlock, tool_use_result: Json | None, *, denied: bool = False
) -> Enriched:
    """Return the payload with its output; `denied` says that a permission for this call is known to be refused."""
    failed = bool(block.is_error)
    error = block.content if failed and isinstance(block.content, str) else None
    return Enriched(
        payload=payload,
        status="error" if failed else "complete",
        error=error,
        reason=("denied" if denied else "failed") if failed else None,
        background=False,
    )
