"""The AgentEvent union: everything turnwire publishes about a session (spec 3, "Agent Events").

An event is serialised once, by `to_json`; journal, hub and files carry those bytes.
"""

from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter

from normalize.events_control import (
    AgentPlan,
    HookActivity,
    PermissionCancelled,
    PermissionOption,
    PermissionRequest,
    PermissionResolved,
    QuestionRequest,
    SessionMode,
)
from normalize.events_conversation import (
    Complete,
    CompleteData,
    Error,
    Injected,
    MessageChunk,
    Outcome,
    Queued,
    Reasoning,
    Retraction,
    ToolCall,
    ToolUpdate,
    TurnStarted,
    UserMessage,
    Withdrawn,
)
from normalize.events_session import (
    ApiRetry,
    AvailableCommands,
    Command,
    CompactBoundary,
    Consolidation,
    ContextWindow,
    Malformed,
    McpServerStatus,
    Notice,
    ProcessStatus,
    RateLimit,
    SessionInfo,
    SessionStatus,
    SessionStatusData,
    TaskUpdate,
    Unknown,
)

AgentEvent = Annotated[
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
    | SessionMode
    | AgentPlan
    | HookActivity
    | SessionStatus
    | AvailableCommands
    | SessionInfo
    | ContextWindow
    | RateLimit
    | TaskUpdate
    | CompactBoundary
    | ApiRetry
    | Consolidation
    | ProcessStatus
    | Notice
    | Unknown
    | Malformed,
    Field(discriminator="type"),
]
"""Any event; `type` tells which."""

adapter: TypeAdapter[AgentEvent] = TypeAdapter(AgentEvent, config=ConfigDict(defer_build=True))
"""Validates events from JSON and gives their JSON Schema."""


def to_json(event: AgentEvent) -> bytes:
    """Serialise an event as compact UTF-8 JSON, empty fields left out."""
    return event.__pydantic_serializer__.to_json(event, exclude_none=True)


def from_json(data: bytes | str) -> AgentEvent:
    """Read an event back; raises pydantic.ValidationError when it is none."""
    return adapter.validate_json(data)


__all__ = [
    "AgentEvent",
    "AgentPlan",
    "ApiRetry",
    "AvailableCommands",
    "Command",
    "CompactBoundary",
    "Complete",
    "CompleteData",
    "Consolidation",
    "ContextWindow",
    "Error",
    "HookActivity",
    "Injected",
    "Malformed",
    "McpServerStatus",
    "MessageChunk",
    "Notice",
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
    "Retraction",
    "SessionInfo",
    "SessionMode",
    "SessionStatus",
    "SessionStatusData",
    "TaskUpdate",
    "ToolCall",
    "ToolUpdate",
    "TurnStarted",
    "Unknown",
    "UserMessage",
    "Withdrawn",
    "adapter",
    "from_json",
    "to_json",
]
