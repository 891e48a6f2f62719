"""The contents of user lines from the CLI: tool results, commands' output, echoes of prompts, and the CLI's own texts."""

import re

from turnwire.normalize.claude.results.answer import PermissionOutcome, parts
from turnwire.normalize.claude.state import ClaudeState
from turnwire.normalize.claude.tools import server as server_tools
from turnwire.normalize.claude.turns import Turn
from turnwire.normalize.events import AgentEvent, Injected, MessageChunk, Notice, UserMessage
from turnwire.normalize.events.limits import pieces
from turnwire.protocol.claude.blocks import (
    AnyBlock,
    DocumentBlock,
    ImageBlock,
    TextBlock,
    ToolResultBlock,
    UnknownBlock,
)
from turnwire.protocol.claude.encode import to_json
from turnwire.protocol.claude.messages import User
from turnwire.protocol.json_values import Json, JsonObject, text_at

INTERRUPTED = "[Request interrupted by user"
"""The CLI's text for an interrupted turn, written in the user's name."""

_OF_OTHERS = re.compile(
    r"\s*<(task-notification|teammate-message|cross-session-message|agent-message|channel|system-notification)\b[^>]*>.*</\1>\s*",
    re.DOTALL,
)
"""A whole prompt that a program or another agent has written."""

_ADDED = re.compile(r"\s*<(ide_\w+|system-reminder|new-diagnostics)(?:\s[^>]*)?>.*?</\1>\s*", re.DOTALL)
_ADDED_BEHIND = re.compile(
    r"\s*<(ide_\w+|system-reminder|new-diagnostics)(?:\s[^>]*)?>(?:(?!</\1>).)*</\1>\s*\Z", re.DOTALL
)
"""What an editor or the CLI has put before or behind a person's words."""

_LOCAL_OUTPUT = re.compile(r"<local-command-(stdout|stderr)>(.*?)</local-command-\1>", re.DOTALL)


def is_of_others(origin: JsonObject | None, text: str) -> bool:
    """Return whether a prompt is not a person's: a task has ended, or another agent or a program has written it."""
    if origin is not None:
        return origin.get("kind") != "human"
    return text.lstrip()[:1] == "<" and _OF_OTHERS.fullmatch(text) is not None


def words_of(text: str) -> str:
    """Return a prompt without what an editor or the CLI has added to a person's words."""
    if "<" not in text:
        return text
    words = text
    while added := _ADDED.match(words):
        words = words[added.end() :]
    while words.rstrip().endswith(">") and (added := _ADDED_BEHIND.search(words)):
        words = words[: added.start()]
    return words


def user(state: ClaudeState, message: User) -> list[AgentEvent]:
    """Publish a user line, block by block."""
    parent = state.calls.id_of(message.parent_tool_use_id)
    if parent is None:
        state.commit.user(message.uuid)
    events: list[AgentEvent] = []
    said: list[AnyBlock] = []
    content = message.blocks
    alone = len(content) == 1 or sum(isinstance(block, ToolResultBlock) for block in content) == 1
    for block in content:
        match block:
            case ToolResultBlock():
                # The structured result is the message's; with several results in one nobody can tell whose.
                structured = message.tool_use_result if alone else None
                denied = block.is_error and _rejected(message, block.tool_use_id)
                events += tool_result(
                    state,
                    block,
                    structured,
                    parent=parent,
                    uuid=message.uuid,
                    permission_outcome="denied" if denied else None,
                )
            case UnknownBlock(tool_use_id=call_id) if call_id:
                answer, structured = server_tools.result(block)
                events += tool_result(state, answer, structured, parent=parent, uuid=message.uuid)
            case TextBlock() | ImageBlock() | DocumentBlock():
                said.append(block)
            case _:
                events.append(odd_block(state, block, "user"))
    if said:
        events += _words(state, message, said)
    return events


def tool_result(
    state: ClaudeState,
    block: ToolResultBlock,
    structured: Json,
    *,
    parent: str | None,
    uuid: str | None,
    permission_outcome: PermissionOutcome | None = None,
    waits: bool = True,
) -> list[AgentEvent]:
    """End a tool call and, if it is still open, its permission request.

    `leave`: what the result reveals about the request. `waits`: a result that arrives before its call is kept for it.
    """
    if parent is None and state.turns.current is not None:
        state.turns.current.active = True
    state.subagents.pop(state.calls.id_of(block.tool_use_id) or "", None)
    updates = state.calls.end(
        block, structured, parent=parent, uuid=uuid, permission_outcome=permission_outcome, waits=waits
    )
    events: list[AgentEvent] = []
    for update in updates:
        denied = update.reason == "denied"
        events += state.requests.tool_ended(update.tool_call_id, denied=denied)
    return [*events, *updates]


def _rejected(message: User, call_id: str) -> bool:
    """Return whether a result is marked as a refused permission (2.1.330)."""
    for meta in message.tool_result_meta:
        decision = meta.get("permission_decision")
        if meta.get("id") == call_id and text_at(decision, "decision") == "reject":
            return True
    return False


def odd_block(state: ClaudeState, block: AnyBlock, where: str) -> Notice:
    """Publish a block without an event type as a notice."""
    kind = block.type if isinstance(block, UnknownBlock) else str(block.__struct_config__.tag)
    raw = block.raw if isinstance(block, UnknownBlock) else to_json(block)
    return Notice(
        **state.place.here,
        kind="content_block",
        level="info",
        text=f"Content of type {kind or 'unknown'} in a message of the {where}",
        details={"block": raw},
    )


def _words(state: ClaudeState, message: User, said: list[AnyBlock]) -> list[AgentEvent]:
    text = "\n\n".join(block.text for block in said if isinstance(block, TextBlock))
    if message.parent_tool_use_id is None:
        printed = _LOCAL_OUTPUT.findall(text)
        if printed:
            return _local_output(state, message, [output for _, output in printed])
        if text.startswith(INTERRUPTED) and not message.is_replay:
            if state.turns.current is not None:
                state.turns.current.interrupted = state.turns.current.active = True
            return [_user_message(state, message, text, said, synthetic=True)]
        if not message.is_synthetic:
            return _echo(state, message, text, said)
    synthetic = message.is_synthetic or text.startswith(INTERRUPTED)
    return [_user_message(state, message, text, said, synthetic=synthetic)]


def _local_output(state: ClaudeState, message: User, outputs: list[str]) -> list[AgentEvent]:
    if state.repeated(message.uuid):
        return []
    turn = state.turns.current
    if turn is not None:
        turn.local_output += outputs
        turn.active = True
    return [
        MessageChunk(
            **state.place.here, message_id=message.uuid, block_index=index, text=piece, source="local_command"
        )
        for index, output in enumerate(outputs)
        for piece in pieces(output)
    ]


def _echo(state: ClaudeState, message: User, text: str, said: list[AnyBlock]) -> list[AgentEvent]:
    """Handle a prompt's echo. The prompt is published here if not when it was sent, and may have joined the running turn."""
    known = state.prompts.echoed(message.uuid, text)
    events: list[AgentEvent] = []
    if not known:
        events.append(_user_message(state, message, text, said, synthetic=is_of_others(message.origin, text)))
    turn = state.turns.current
    if turn is None:
        return events
    uuid = message.uuid
    if uuid is not None and uuid in turn.prompts:
        return events
    waited = state.prompts.pop(uuid, text)
    if waited is None and not turn.active:
        if uuid is not None and not state.prompts.sees_input:
            turn.prompts[uuid] = None
        return events
    if waited is not None or not known:
        events += injected(state, turn, uuid, len(text))
    return events


def injected(state: ClaudeState, turn: Turn, uuid: str | None, length: int | None) -> list[AgentEvent]:
    """A prompt has joined the running turn."""
    named = [] if uuid is None else [uuid]
    turn.prompts |= dict.fromkeys(named)
    return [Injected(**state.place.here, message_count=1, content_length=length, prompts=named or None)]


def _user_message(
    state: ClaudeState, message: User, text: str, said: list[AnyBlock], *, synthetic: bool | None
) -> UserMessage:
    attachments = [block for block in said if not isinstance(block, TextBlock)]
    return UserMessage(
        **state.place.here,
        parent_tool_call_id=state.calls.id_of(message.parent_tool_use_id),
        text=text,
        uuid=message.uuid,
        parts=parts(attachments) or None,
        synthetic=synthetic or None,
    )
