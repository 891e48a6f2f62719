"""Run hooks around the turns of an agent that runs none itself, and check for uncommitted changes.

SessionStart runs when the conversation is open, UserPromptSubmit before a prompt is said, Stop when the agent has
ended a turn of its own accord, PostToolUse when a call has succeeded. The protocol has no place for answers that
change a call or add text for the model. turnwire does not carry these out, and tells the user once.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from turnwire.adapter.acp.hooks import EVENT, fits
from turnwire.adapter.hooks.hook_answers import send_back
from turnwire.adapter.hooks.programs import HookFailed, run_hook
from turnwire.adapter.hooks.settings import HookSetting
from turnwire.adapter.permissions.git_check import uncommitted_changes
from turnwire.adapter.session.notices import Notify, SessionNotice
from turnwire.normalize.common.bounded_dict import BoundedDict
from turnwire.normalize.core import InputWithEvents
from turnwire.normalize.events import ToolCall, ToolUpdate
from turnwire.normalize.inputs import Received
from turnwire.normalize.payloads.fields import fields
from turnwire.protocol.acp.messages import SessionUpdate
from turnwire.protocol.acp.updates import ToolCallUpdate
from turnwire.protocol.json_values import Json, JsonObject, text_at

EVENTS: Final = (EVENT, "SessionStart", "UserPromptSubmit", "PostToolUse", "Stop")
"""Events of hooks that have a place with agents of the Agent Client Protocol."""

_CALLS = 1024
"""Calls whose arguments are remembered until they end."""
MOST_KEPT = 32 * 1024 * 1024
"""Bytes of lines about calls that are remembered, or wait for hooks; of the oldest calls beyond, hooks get neither arguments nor result."""
_WAITING = 256
"""Maximum number of calls that wait for their hooks; further calls run none."""
_BLOCKING = frozenset({"UserPromptSubmit", "Stop"})
"""Events whose hooks can block."""
_OBEYED = frozenset({"decision", "reason", "continue", "stopReason", "suppressOutput"})
"""What a hook that can block may answer and is obeyed."""


class _Call(Struct):
    """What is known of a call, by the last lines that said so, and how long these were."""

    arguments: Json = None
    result: Json = None
    told_arguments: int = 0
    told_result: int = 0

    @property
    def size(self) -> int:
        return self.told_arguments + self.told_result


class TurnHooks:
    """The hooks of one session that are not about leave, and what they come to."""

    def __init__(
        self,
        hooks: Sequence[HookSetting],
        *,
        workspace: Path,
        environment: Mapping[str, str],
        notify: Notify,
        looks_for_changes: bool = False,
        most_kept: int = MOST_KEPT,
    ) -> None:
        """`looks_for_changes`: an agent that stops with uncommitted changes is to be sent back; `most_kept`: see MOST_KEPT."""
        self._hooks = hooks
        self._workspace = workspace
        self._environment = environment
        self._notify = notify
        self._looks_for_changes = looks_for_changes
        self._session_id = ""
        self._watches_calls = any(hook.event == "PostToolUse" for hook in hooks)
        self._calls: dict[str, _Call] = {}
        self._agents_own: BoundedDict[str] = BoundedDict(_CALLS)
        """Our id of a call -> the agent's, where they differ."""
        self._called: asyncio.Queue[tuple[str, JsonObject, int]] = asyncio.Queue(_WAITING)
        self._most_kept = most_kept
        self._kept = 0
        """Bytes of lines about calls, known ones and those that wait."""
        self._told: set[tuple[str, str]] = set()
        self._is_over = False

    async def started(self, session_id: str, source: str) -> None:
        """Run what belongs to the beginning of a conversation; `source` is `startup` or `resume`."""
        self._session_id = session_id
        await self._run("SessionStart", {"source": source}, source)

    async def submitted(self, text: str) -> str | None:
        """Run what belongs before a prompt; return why it is not to be said, None when it may be."""
        reasons = await self._run("UserPromptSubmit", {"prompt": text}, None)
        return reasons[0] if reasons else None

    async def stopped(self, *, is_repeated: bool) -> str | None:
        """Check the end of a turn; return the prompt that sends the agent back, None if it may stop.

        `is_repeated`: it was sent back already since somebody has said something; it is not sent back again.
        """
        reasons = await self._run("Stop", {"stop_hook_active": is_repeated}, None)
        if is_repeated:
            if reasons:
                self._tell_once(
                    "Stop", "decision", "hooks of Stop send the agent back once after a prompt, and no more"
                )
            return None
        if self._looks_for_changes and not self._is_over:
            changes = await uncommitted_changes(self._workspace, self._environment)
            if changes:
                reasons = [send_back(changes), *reasons]
        return "\n\n".join(reasons) or None

    def over(self) -> None:
        """Run no more hooks: the agent is being stopped, and what runs for it ends with it."""
        self._is_over = True

    def on_happened(self, happened: InputWithEvents) -> None:
        """Follow calls of tools; never waits."""
        item = happened.input
        if not self._watches_calls or not isinstance(item, Received):
            return
        if isinstance(item.message, SessionUpdate) and isinstance(item.message.params.update, ToolCallUpdate):
            self._learn(item.message.params.update, len(item.line))
        for event in happened.events:
            if isinstance(event, ToolCall) and event.agent_call_id is not None:
                self._agents_own.put(event.tool_call_id, event.agent_call_id)
            elif isinstance(event, ToolUpdate) and event.tool_status != "running":
                self._ended(event)

    async def serve(self) -> None:
        """Run the hooks of calls that have ended, one call after another; the one task that does."""
        while True:
            tool, payload, size = await self._called.get()
            await self._run("PostToolUse", payload, tool)
            self._kept -= size

    def _learn(self, update: ToolCallUpdate, size: int) -> None:
        call = self._forget(update.tool_call_id) or _Call()
        self._calls[update.tool_call_id] = call  # the newest, whatever it was before
        result = msgspec.to_builtins(update.content) if update.raw_output is None else update.raw_output
        if update.raw_input is not None:
            call.arguments, call.told_arguments = update.raw_input, size
        if result is not None:
            call.result, call.told_result = result, size
        self._kept += call.size
        while self._calls and (len(self._calls) > _CALLS or self._kept > self._most_kept):
            self._forget(next(iter(self._calls)))

    def _forget(self, call_id: str) -> _Call | None:
        call = self._calls.pop(call_id, None)
        self._kept -= 0 if call is None else call.size
        return call

    def _ended(self, event: ToolUpdate) -> None:
        call_id = event.tool_call_id
        call = self._forget(self._agents_own.pop(call_id, call_id)) or _Call()
        if event.tool_status != "complete" or event.history:
            return
        if self._called.full():
            message = f"{_WAITING} calls wait for their hooks of PostToolUse; those of more calls are not run until some have"
            self._tell_once("PostToolUse", "", message)
            return
        tool = event.tool_name or ""
        payload: JsonObject = {"tool_name": tool, "tool_use_id": event.tool_call_id}
        if call.arguments is not None:
            payload["tool_input"] = call.arguments
        if call.result is not None:
            payload["tool_response"] = call.result
        self._called.put_nowait((tool, payload, call.size))
        self._kept += call.size

    async def _run(self, event: str, more: JsonObject, subject: str | None) -> list[str]:
        """Run the hooks of an event; return the reasons of those that block."""
        reasons: list[str] = []
        for hook in self._hooks:
            if self._is_over:
                return []
            if hook.event != event or (subject is not None and not fits(hook.matcher, subject)):
                continue
            payload: JsonObject = {
                "session_id": self._session_id,
                "cwd": str(self._workspace),
                "hook_event_name": event,
                **more,
            }
            try:
                output = await run_hook(
                    hook, payload, workspace=self._workspace, environment=self._environment
                )
            except HookFailed as error:
                self._tell_failed(hook, error)
                continue
            can_block = event in _BLOCKING
            self._note_unheeded(event, output, can_block=can_block)
            if can_block and (output.get("decision") == "block" or output.get("continue") is False):
                said = text_at(output, "reason") or text_at(output, "stopReason")
                reasons.append(said or f"the hook {hook.name} blocks this")
        return reasons

    def _tell_failed(self, hook: HookSetting, error: HookFailed) -> None:
        if not self._is_over:  # otherwise it was ended with its agent
            self._notify(SessionNotice("hook_failed", f"the hook {hook.name} failed: {error}"))

    def _note_unheeded(self, event: str, output: JsonObject, *, can_block: bool) -> None:
        """Tell the user once of what a hook wants that cannot be done."""
        wanted = {*output, *fields(output.get("hookSpecificOutput"))}
        wanted -= {"hookSpecificOutput", "hookEventName", "suppressOutput"}
        for name in sorted(wanted - (_OBEYED if can_block else frozenset()))[:20]:
            message = (
                f"a hook of {event} answered {name[:80]!r}, which has no place with an agent of the Agent Client Protocol: "
                "it changes nothing"
            )
            self._tell_once(event, name[:80], message)

    def _tell_once(self, event: str, name: str, message: str) -> None:
        if (event, name) not in self._told and len(self._told) < _WAITING:
            self._told.add((event, name))
            self._notify(SessionNotice("hook_not_obeyed", message))
