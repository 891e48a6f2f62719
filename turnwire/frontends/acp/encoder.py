"""Events in, ACP's session updates out: a deterministic function of a session's events, without I/O or a clock.

An encoder is given a session's events from the first one on. Who shows all of the past sends what they give; who
joins late passes that over and sends `state()`, then what further events give. ACP 1 has no update for some events
that a human should know: an API that is tried again, a limit, an error within a turn. Such an event becomes a
thought, marked in `_meta.turnwire`. docs/frontends.md has the whole table.
"""

from collections.abc import Callable, Hashable, Iterable
from typing import Any, ClassVar

from turnwire.client import events as ev
from turnwire.client.payloads import ContentPart
from turnwire.client.values import JsonObject
from turnwire.frontends.acp.choices import Choices
from turnwire.frontends.acp.plan import Plan
from turnwire.frontends.acp.texts import ShownTexts
from turnwire.frontends.acp.tool_calls import ToolCalls

PIECE = 1 << 20
"""Characters of text in one update: clients read messages of some 32 MiB."""

CALLS = 4096
"""Tool calls that are remembered as shown."""


class Encoder:
    """The updates of one session."""

    def __init__(
        self,
        *,
        cwd: str | None = None,
        shows_terminals: bool = False,
        agent: str | None = None,
        version: int = 1,
    ) -> None:
        """`version`: of the protocol. In version 2 each block of a message is a message, and changes show as patches."""
        self.choices = Choices(agent)
        """What its modes and models are."""
        self._by_block = version > 1
        self._calls = ToolCalls(cwd=cwd, shows_terminals=shows_terminals, shows_patches=version > 1)
        self._texts = ShownTexts()
        self._plan = Plan()
        self._shown_calls: dict[str, None] = {}
        self._commands: JsonObject | None = None
        self._usage: dict[str, Any] = {}
        self._cost: float | None = None

    def handle(self, event: ev.AgentEvent) -> list[JsonObject]:
        """Return the updates that an event gives; any event is taken, and one of an unknown kind gives none."""
        encode = self._encoders.get(type(event))
        return [] if encode is None else list(encode(self, event))

    def state(self) -> list[JsonObject]:
        """Return the updates that say how things are now, for an editor that did not follow how they came about."""
        states = (self._commands, self._plan.update(), self._usage_update(), self.choices.state())
        return [update for update in states if update is not None]

    def _message(self, event: ev.MessageChunk) -> Iterable[JsonObject]:
        # What a subagent says is no answer to the human: it is shown as the work that it is.
        kind = "agent_message_chunk" if event.parent_tool_call_id is None else "agent_thought_chunk"
        return self._piece(kind, event, event.text, event.replace)

    def _reasoning(self, event: ev.Reasoning) -> Iterable[JsonObject]:
        return self._piece("agent_thought_chunk", event, event.reasoning_text, event.replace)

    def _piece(
        self, kind: str, event: ev.MessageChunk | ev.Reasoning, text: str, replace: bool | None
    ) -> Iterable[JsonObject]:
        block: Hashable = (event.type, event.parent_tool_call_id, event.message_id, event.block_index)
        ours: JsonObject = {}
        if replace:
            text, again = self._texts.replace(block, text)
            if again:
                ours["replaces"] = True
        else:
            self._texts.add(block, text)
        if event.parent_tool_call_id is not None:
            ours["parentToolCallId"] = event.parent_tool_call_id
        if isinstance(event, ev.MessageChunk) and event.source is not None:
            ours["source"] = event.source
        message = event.message_id
        if self._by_block and message is not None and event.block_index:
            message = f"{message}/{event.block_index}"
        for start in range(0, len(text), PIECE):
            yield chunk(kind, text[start : start + PIECE], message, ours)
            ours = {name: value for name, value in ours.items() if name != "replaces"}

    def _user(self, event: ev.UserMessage) -> Iterable[JsonObject]:
        if event.parent_tool_call_id is not None or event.synthetic:
            return
        for content in (
            {"type": "text", "text": event.text} if event.text else None,
            *map(_attached, event.parts or ()),
        ):
            if content is not None:
                message = {} if event.uuid is None else {"messageId": event.uuid}
                yield {"sessionUpdate": "user_message_chunk", "content": content, **message}

    def _call(self, event: ev.ToolCall) -> Iterable[JsonObject]:
        self._showing(event.tool_call_id)
        yield {"sessionUpdate": "tool_call", **self._calls.begun(event)}

    def _update(self, event: ev.ToolUpdate) -> Iterable[JsonObject]:
        update = {"sessionUpdate": "tool_call_update", **self._calls.updated(event)}
        if self._showing(event.tool_call_id):
            # its beginning is gone, by retention
            update = {"title": event.tool_name or "Tool call", **update, "sessionUpdate": "tool_call"}
        yield update
        if self._plan.handle(event):
            yield self._plan.update() or {"sessionUpdate": "plan", "entries": []}

    def _task(self, event: ev.TaskUpdate) -> Iterable[JsonObject]:
        if event.tool_call_id in self._shown_calls:
            yield {"sessionUpdate": "tool_call_update", **self._calls.task(event)}

    def _agent_plan(self, event: ev.AgentPlan) -> Iterable[JsonObject]:
        content = {"type": "text", "text": event.plan_content}
        if event.tool_call_id in self._shown_calls:
            yield {
                "sessionUpdate": "tool_call_update",
                "toolCallId": event.tool_call_id,
                "content": [{"type": "content", "content": content}],
            }
        else:
            yield self._plan.tell(event)

    def _available(self, event: ev.AvailableCommands) -> Iterable[JsonObject]:
        commands = [
            {
                "name": each.name,
                "description": each.description or "",
                **({"input": {"hint": each.argument_hint}} if each.argument_hint else {}),
            }
            for each in event.available_commands
        ]
        self._commands = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
        yield self._commands

    def _mode(self, event: ev.SessionMode) -> Iterable[JsonObject]:
        return self.choices.changed(mode=event.current_mode_id, modes=event.available_modes)

    def _info(self, event: ev.SessionInfo) -> Iterable[JsonObject]:
        if event.cwd:
            self._calls.cwd = event.cwd
        return self.choices.changed(mode=event.permission_mode, model=event.model, models=event.models)

    def _window(self, event: ev.ContextWindow) -> Iterable[JsonObject]:
        size = event.context_window_size
        # the protocol has no update without a size
        self._usage = (
            {} if size is None else {"used": max(event.context_window_used, 0), "size": max(size, 0)}
        )
        return self._used()

    def _complete(self, event: ev.Complete) -> Iterable[JsonObject]:
        data = event.data
        if data.total_cost_usd is not None and data.total_cost_usd != self._cost:
            self._cost = data.total_cost_usd
            return self._used()
        return ()

    def _error(self, event: ev.Error) -> Iterable[JsonObject]:
        yield note(event.type, event.error, code=event.code, status=event.status)

    def _retraction(self, event: ev.Retraction) -> Iterable[JsonObject]:
        yield note(
            event.type,
            "The agent has withdrawn what it said last, and says it anew.",
            messageIds=event.message_ids,
            messageUuids=event.message_uuids,
        )

    def _limited(self, event: ev.RateLimit) -> Iterable[JsonObject]:
        yield note(event.type, event.rate_limit_message, status=event.status, resetsAt=event.resets_at)

    def _retried(self, event: ev.ApiRetry) -> Iterable[JsonObject]:
        failed = f"A call to the API failed ({event.error or event.status or 'no reason given'})"
        most = "" if event.max_retries is None else f" of {event.max_retries}"
        yield note(
            event.type, f"{failed}; attempt {event.attempt}{most}, it is tried again.", delayMs=event.delay_ms
        )

    def _sandbox_denied(self, event: ev.SandboxDenied) -> Iterable[JsonObject]:
        yield note(event.type, f"The sandbox refused {event.target}: {event.reason}", kind=event.kind)

    def _cut(self, event: ev.Cut) -> Iterable[JsonObject]:
        yield note("cut", event.text, void_turns=event.void_turns)

    def _compacted(self, event: ev.CompactBoundary) -> Iterable[JsonObject]:
        size = "" if event.pre_tokens is None else f" (it had {event.pre_tokens} tokens)"
        yield note(event.type, f"The conversation so far was replaced by a summary{size}.")

    def _process(self, event: ev.ProcessStatus) -> Iterable[JsonObject]:
        match event.state:
            case "stalled":
                yield note(event.type, f"The agent has been silent for {(event.silent_ms or 0) / 1000:g} s.")
            case "exited" if event.signal or event.exit_code:
                how = (
                    f"was ended by {event.signal}" if event.signal else f"exited with code {event.exit_code}"
                )
                yield note(event.type, f"The agent {how}.", stderrTail=event.stderr_tail)
            case _:
                return

    def _notice(self, event: ev.Notice) -> Iterable[JsonObject]:
        if event.level != "info":
            yield note(event.type, event.text, kind=event.kind, level=event.level)

    def _showing(self, call: str) -> bool:
        """Note that a call is shown; tell whether it is so for the first time."""
        if call in self._shown_calls:
            return False
        self._shown_calls[call] = None
        if len(self._shown_calls) > CALLS:
            del self._shown_calls[next(iter(self._shown_calls))]
        return True

    def _used(self) -> Iterable[JsonObject]:
        return () if (update := self._usage_update()) is None else (update,)

    def _usage_update(self) -> JsonObject | None:
        if not self._usage:
            return None
        cost = {} if self._cost is None else {"cost": {"amount": self._cost, "currency": "USD"}}
        return {"sessionUpdate": "usage_update", **self._usage, **cost}

    _encoders: ClassVar[dict[type, Callable[["Encoder", Any], Iterable[JsonObject]]]] = {
        ev.MessageChunk: _message,
        ev.Reasoning: _reasoning,
        ev.UserMessage: _user,
        ev.ToolCall: _call,
        ev.ToolUpdate: _update,
        ev.TaskUpdate: _task,
        ev.AgentPlan: _agent_plan,
        ev.AvailableCommands: _available,
        ev.SessionMode: _mode,
        ev.SessionInfo: _info,
        ev.ContextWindow: _window,
        ev.Complete: _complete,
        ev.Error: _error,
        ev.Retraction: _retraction,
        ev.RateLimit: _limited,
        ev.ApiRetry: _retried,
        ev.CompactBoundary: _compacted,
        ev.Cut: _cut,
        ev.SandboxDenied: _sandbox_denied,
        ev.ProcessStatus: _process,
        ev.Notice: _notice,
    }
    """Events that give updates. Permissions, questions and the ends of turns are requests and replies: dialogs.py, turns.py."""


def chunk(kind: str, text: str, message: str | None = None, ours: JsonObject | None = None) -> JsonObject:
    """Return a piece of text; `ours` goes into `_meta.turnwire`."""
    update: JsonObject = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
    if message is not None:
        update["messageId"] = message
    if ours:
        update["_meta"] = {"turnwire": ours}
    return update


def note(event: str, text: str, **fields: object) -> JsonObject:
    """Return a thought that tells a human of an event which ACP has no update for."""
    ours = {"event": event, **{name: value for name, value in fields.items() if value is not None}}
    return chunk("agent_thought_chunk", f"\n\n*{text.strip()}*\n\n", None, ours)


def _attached(part: ContentPart) -> JsonObject | None:
    match part:
        case ContentPart(type="image", base64=str(data)):
            return {"type": "image", "data": data, "mimeType": part.media_type or "image/png"}
        case ContentPart(base64=str(data)):
            resource = {"uri": f"turnwire:{part.title or 'document'}", "blob": data}
            return {"type": "resource", "resource": resource}
        case ContentPart(url=str(url)):
            return {"type": "resource_link", "uri": url, "name": part.title or url}
        case ContentPart(text=str(text)):
            return {"type": "text", "text": text}
        case _:
            return None
