"""Control requests of the host, answered as the CLI version does that the agent speaks as."""

import os

from turnwire.protocol.claude.requests import (
    AnyRequest,
    CancelAsyncMessage,
    GetStatus,
    Initialize,
    Interrupt,
    McpStatus,
    SetMaxThinkingTokens,
    SetModel,
    SetPermissionMode,
)
from turnwire.protocol.json_values import JsonObject
from turnwire.scripted_agent.claude.claude_session import ClaudeSession

MODES = ("acceptEdits", "bypassPermissions", "default", "dontAsk", "plan")


def answer_control(session: ClaudeSession, request_id: str, request: AnyRequest) -> None:
    """Answer one control request. Versions that leave it unanswered do so here too."""
    wire = session.wire
    match request:
        case Initialize(hooks=hooks):
            session.hooks = hooks or {}
            wire.control_response(request_id, _introduction(session))
        case Interrupt():
            _interrupt(session, request_id)
        case SetModel(model=model):
            # the label stays: whatever is asked for, a script answers
            wire.model = f"scripted-agent:{model}" if model and model != "default" else "scripted-agent"
            wire.control_response(
                request_id, {"model": wire.model} if wire.quirks.set_model_tells_model else None
            )
        case SetPermissionMode(mode=mode):
            _set_mode(session, request_id, mode)
        case GetStatus() if session.options.dialect.is_foreign:
            wire.control_response(request_id, _status(session))
        case CancelAsyncMessage(message_uuid=uuid) if wire.quirks.answers_unknown:
            # an answer names the message from 2.1.330 on
            told = {"message_uuid": uuid} if wire.quirks.tells_lifecycle else {}
            cancelled = session.host.withdraw(uuid)
            if cancelled:
                wire.lifecycle(uuid, "cancelled")
            wire.control_response(request_id, {"cancelled": cancelled, **told})
        case McpStatus() if wire.quirks.answers_unknown:
            wire.control_response(request_id, {"mcpServers": []})
        case SetMaxThinkingTokens() if wire.quirks.answers_unknown:
            wire.control_response(request_id)
        case _ if wire.quirks.answers_unknown:
            wire.control_error(request_id, f"Unsupported control request subtype: {request.subtype}")
        case _:
            pass  # 1.0 and 2.0 never answer what they do not know


def _introduction(session: ClaudeSession) -> JsonObject:
    """Return the response to `initialize`."""
    wire = session.wire
    model = {
        "value": "default",
        "displayName": "Scripted agent",
        "description": "Answers from a script, not a model",
    }
    introduction: JsonObject = {
        "commands": wire.commands,
        "output_style": "default",
        "available_output_styles": ["default"],
        "models": [model],
    }
    if wire.quirks.introduces_account:
        introduction |= {
            "agents": [],
            "account": {"tokenSource": "none", "apiKeySource": "none"},
            "pid": os.getpid(),
        }
    return introduction


def _status(session: ClaudeSession) -> JsonObject:
    """Return the response to `status` (miriad-code)."""
    return {
        "running": session.is_busy,
        "session_id": session.wire.session_id,
        "queued_messages": len(session.host.prompts),
    }


def _interrupt(session: ClaudeSession, request_id: str) -> None:
    if "interrupt" in session.script.ignore:
        return
    wire = session.wire
    if session.options.dialect.is_foreign and not session.is_busy:
        wire.control_error(request_id, "no turn runs")
        return
    session.host.cancel_pending(wire.line)
    queued = [prompt.uuid for prompt in session.host.prompts if prompt.uuid]
    wire.control_response(request_id, {"still_queued": queued} if wire.quirks.interrupt_tells_queue else None)
    session.interrupt()


def _set_mode(session: ClaudeSession, request_id: str, mode: str) -> None:
    wire = session.wire
    if mode not in MODES:
        wire.control_error(request_id, f"Cannot set permission mode: must be one of {', '.join(MODES)}")
        return
    wire.permission_mode = mode
    wire.control_response(request_id, {"mode": mode})
    if wire.quirks.mode_answered_twice:
        wire.control_response(request_id)
    else:
        wire.system("status", status=None, permissionMode=mode)
