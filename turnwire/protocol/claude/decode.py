"""Decode lines into messages. Never raises, whatever the bytes.

The fast path is one msgspec pass from bytes to a tagged union (two for system messages, by subtype). A line that msgspec
rejects goes through a generic parser and is built field by field. So a wrong field, a lone surrogate or an unknown type
loses only itself.
"""

from collections.abc import Callable, Container
from typing import TypeAlias, final, get_args

import msgspec

from turnwire.protocol.claude import control, incidents, messages, notices, results, system, tasks
from turnwire.protocol.claude.blocks import TextBlock, ThinkingBlock
from turnwire.protocol.claude.messages import Message, StreamEvent, Unknown
from turnwire.protocol.claude.stream import (
    ContentBlockDelta,
    ContentBlockStart,
    MessageDelta,
    MessageStart,
    UnknownDelta,
)
from turnwire.protocol.framing import OversizeLine
from turnwire.protocol.json_values import JsonObject, text_at
from turnwire.protocol.malformed import BLANK, Malformed, oversize
from turnwire.protocol.miriad import system as miriad
from turnwire.protocol.parsing import generic, lenient
from turnwire.protocol.parsing.depth import NEVER_DEEP, TOO_DEEP, is_deep, is_too_deep, outermost
from turnwire.protocol.text import scrub_inside, scrub_json

NOT_AN_OBJECT = "not a JSON object"
"""Reason for a line that is JSON but no message. Any other reason means that the line is not JSON."""


@final
class _SystemHead(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="system"):
    """Any system message in the first pass."""


_Line: TypeAlias = (
    messages.StreamEvent
    | messages.Assistant
    | messages.User
    | results.Result
    | _SystemHead
    | control.ControlRequest
    | control.ControlResponse
    | control.ControlCancelRequest
    | notices.RateLimitEvent
    | notices.RateLimit
    | notices.ToolUseSummary
    | notices.ToolProgress
    | notices.AuthStatus
    | notices.PromptSuggestion
    | notices.CommandLifecycle
    | notices.ConversationReset
    | notices.KeepAlive
    | notices.ActiveGoal
    | notices.TranscriptMirror
)

_SystemLine: TypeAlias = (
    system.Init
    | system.Status
    | system.CompactBoundary
    | system.ApiRetry
    | system.Retry
    | system.SessionStateChanged
    | system.SessionTitleChanged
    | system.Informational
    | system.Notification
    | system.LocalCommandOutput
    | system.PermissionDenied
    | system.ModelFallback
    | system.ThinkingTokens
    | system.ControlRequestProgress
    | system.CommandsChanged
    | tasks.HookStarted
    | tasks.HookProgress
    | tasks.HookResponse
    | tasks.TaskStarted
    | tasks.TaskProgress
    | tasks.TaskUpdated
    | tasks.TaskNotification
    | tasks.BackgroundTasksChanged
    | incidents.ModelRefusalFallback
    | incidents.ModelRefusalNoFallback
    | incidents.ElicitationComplete
    | incidents.MemoryRecall
    | incidents.FilesPersisted
    | incidents.PluginInstall
    | incidents.MirrorError
    | incidents.SessionWritesLost
    | incidents.WorkerShuttingDown
    | miriad.SystemToolResult
    | miriad.SystemFailure
    | miriad.Queued
    | miriad.Injected
    | miriad.Consolidation
)

_SYSTEM = b'{"type":"system","subtype":"'

_decode_line: Callable[[bytes], messages.Message | _SystemHead] = msgspec.json.Decoder(_Line).decode
_decode_system: Callable[[bytes], system.System] = msgspec.json.Decoder(_SystemLine).decode

_MODELS: dict[str, type[Message]] = {
    str(model.__struct_config__.tag): model for model in get_args(_Line) if model is not _SystemHead
}
_NAMED: Container[type | None] = frozenset({control.ControlRequest, control.ControlCancelRequest})
"""Messages that mean nothing without the id of a request."""
_SYSTEM_MODELS: dict[str, type[system.System]] = {
    str(model.__struct_config__.tag): model for model in get_args(_SystemLine)
}

FLAT: frozenset[type] = frozenset({MessageStart, MessageDelta, TextBlock, ThinkingBlock, system.Init})
"""Types with typed fields only. Their decoded values are never deep, so they need no check."""

_STREAMED = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


def decode(line: bytes) -> Message:
    """Return a line's message: Unknown for objects without a model, Malformed for anything else."""
    message: Message
    try:
        if line.startswith(_SYSTEM):  # every CLI writes this prefix, so no pass is needed to find out
            message = _decode_system(line)
        else:
            said = _decode_line(line)
            # faster than isinstance, which asks the metaclass of structs
            if type(said) is StreamEvent:
                event = said.event
                if type(event) is ContentBlockDelta and type(event.delta) is not UnknownDelta:
                    return said  # most lines: a piece of text, which cannot be deep
                if type(event) in FLAT or (
                    type(event) is ContentBlockStart and type(event.content_block) in FLAT
                ):
                    return said
            message = _decode_system(line) if type(said) is _SystemHead else said
    except (ValueError, RecursionError):
        return _decode_odd(line)
    deep = len(line) > NEVER_DEEP and not _is_flat(message) and is_too_deep(line)
    return _beyond(line) if deep else message


def _is_flat(message: Message) -> bool:
    """Return whether a message has only typed fields. Then it cannot be deep, so its depth need not be measured."""
    if type(message) is messages.Assistant:
        return FLAT.issuperset(map(type, message.message.content))
    if type(message) is results.Result:
        return not (
            message.structured_output or message.permission_denials or message.origin or message.error
        )
    return type(message) in FLAT


def message_of(value: JsonObject) -> Message:
    """Return the message for a JSON object from another format."""
    return Malformed("", TOO_DEEP) if is_deep(value) else _build(_scrubbed(value))


def malformed(line: OversizeLine) -> Malformed:
    """Return the Malformed message for a line that was too long to read."""
    return msgspec.structs.replace(oversize(line), asks=_asks(line.head))


def _beyond(line: bytes) -> Malformed:
    return Malformed(_text(line), TOO_DEEP, _asks(line))


def _asks(line: bytes) -> str | int | None:
    """Return the own id of the control request in an unreadable line, if it is one."""
    said = outermost(line, ("type", "request_id"))
    own_id = said.get("request_id")
    return None if said.get("type") != "control_request" or own_id == "" else own_id


def _decode_odd(line: bytes) -> Message:
    try:
        value = generic.load(line)
        if isinstance(value, dict):
            return _build(_scrubbed(value))
        return Malformed(_text(line), NOT_AN_OBJECT)
    except ValueError as error:
        return Malformed(_text(line), str(error) if line.strip() else BLANK)
    except RecursionError:
        return _beyond(line)


def _build(value: JsonObject) -> Message:
    kind = value.get("type")
    if kind == "system":
        return _build_system(value)
    model = _MODELS.get(kind) if isinstance(kind, str) else None
    if model in _NAMED and value.get("request_id") in (None, ""):
        return Unknown(value)
    return Unknown(value) if model is None else lenient.build(model, value)


def _build_system(value: JsonObject) -> system.System:
    model = _SYSTEM_MODELS.get(text_at(value, "subtype"))
    if model is None and "subtype" not in value and text_at(value, "session_id"):
        # Kandev's first message: session, status and slash commands under no other name.
        model = system.Init
    if model is not None:
        return lenient.build(model, value)
    return system.UnknownSystem(raw=value, session_id=text_at(value, "session_id") or None)


def _scrubbed(value: JsonObject) -> JsonObject:
    """Return the object with valid strings. A delta's text may begin or end with half of a surrogate pair."""
    cleaned: JsonObject = scrub_json(value)
    if value.get("type") == "stream_event" and isinstance(value.get("event"), dict):
        delta = value["event"].get("delta")
        streamed = _STREAMED.get(text_at(delta, "type"))
        if streamed and isinstance(delta.get(streamed), str):
            cleaned["event"]["delta"][streamed] = scrub_inside(delta[streamed])
    return cleaned


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")
