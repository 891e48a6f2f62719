"""The AgentEvent union: everything turnwire publishes about a session.

An event is serialised once, by `to_json`; journal, hub and files carry those bytes.
"""

from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

import msgspec

from turnwire.normalize.events.control_events import (
    AgentPlan,
    HookActivity,
    Mode,
    PermissionCancelled,
    PermissionOption,
    PermissionRequest,
    PermissionResolved,
    QuestionRequest,
    RememberedRule,
    SandboxDenied,
    SessionMode,
)
from turnwire.normalize.events.conversation_events import (
    Complete,
    CompleteData,
    Error,
    Injected,
    MessageChunk,
    Outcome,
    Queued,
    Reasoning,
    Retraction,
    TokenSums,
    ToolCall,
    ToolUpdate,
    TurnStarted,
    UserMessage,
    Withdrawn,
)
from turnwire.normalize.events.session_events import (
    ApiRetry,
    AuthMethod,
    AvailableCommands,
    Command,
    CompactBoundary,
    Consolidation,
    ContextWindow,
    Cut,
    History,
    Malformed,
    McpServerStatus,
    Model,
    Notice,
    OptionValue,
    ProcessStatus,
    RateLimit,
    SessionInfo,
    SessionOption,
    SessionOptions,
    SessionStatus,
    SessionStatusData,
    TaskUpdate,
    TraceContext,
    Unknown,
)

AgentEvent: TypeAlias = (
    TurnStarted
    | UserMessage
    | MessageChunk
    | Reasoning
    | ToolCall
    | ToolUpdate
    | Complete
    | Error
    | Retraction
    | Queued
    | Injected
    | Withdrawn
    | PermissionRequest
    | PermissionResolved
    | PermissionCancelled
    | QuestionRequest
    | SandboxDenied
    | SessionMode
    | AgentPlan
    | HookActivity
    | SessionStatus
    | AvailableCommands
    | SessionInfo
    | SessionOptions
    | ContextWindow
    | RateLimit
    | TaskUpdate
    | CompactBoundary
    | Cut
    | History
    | ApiRetry
    | Consolidation
    | ProcessStatus
    | Notice
    | TraceContext
    | Unknown
    | Malformed
)
"""Any event. `type` names its kind."""

_encoder = msgspec.json.Encoder()


@cache
def _decoder() -> msgspec.json.Decoder[AgentEvent]:
    """Return the decoder of events. Made on first use, since few processes read events and making it takes 3 ms."""
    return msgspec.json.Decoder(AgentEvent)


def to_json(event: AgentEvent) -> bytes:
    """Serialise an event as compact UTF-8 JSON, empty fields left out."""
    return _encoder.encode(event)


def to_lines(events: Sequence[AgentEvent]) -> bytes:
    """Serialise events as NDJSON: each as `to_json` does, and a newline."""
    return _encoder.encode_lines(events)


def from_json(data: bytes | str) -> AgentEvent:
    """Read an event back; raises msgspec.ValidationError when it is none."""
    return _decoder().decode(data)


__all__ = [
    "AgentEvent",
    "AgentPlan",
    "ApiRetry",
    "AuthMethod",
    "AvailableCommands",
    "Command",
    "CompactBoundary",
    "Complete",
    "CompleteData",
    "Consolidation",
    "ContextWindow",
    "Cut",
    "Error",
    "History",
    "HookActivity",
    "Injected",
    "Malformed",
    "McpServerStatus",
    "MessageChunk",
    "Mode",
    "Model",
    "Notice",
    "OptionValue",
    "Outcome",
    "PermissionCancelled",
    "PermissionOption",
    "PermissionRequest",
    "PermissionResolved",
    "ProcessStatus",
    "QuestionRequest",
    "Queued",
    "RateLimit",
    "Reasoning",
    "RememberedRule",
    "Retraction",
    "SandboxDenied",
    "SessionInfo",
    "SessionMode",
    "SessionOption",
    "SessionOptions",
    "SessionStatus",
    "SessionStatusData",
    "TaskUpdate",
    "TokenSums",
    "ToolCall",
    "ToolUpdate",
    "TraceContext",
    "TurnStarted",
    "Unknown",
    "UserMessage",
    "Withdrawn",
    "from_json",
    "to_json",
    "to_lines",
]
