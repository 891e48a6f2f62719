"""A run: what one POST of AG-UI is answered with. Pure: a session's changes in, AG-UI events out.

    run = Run(thread, …)
    run.start(…)      RUN_STARTED, and snapshots of what the client has missed
    run.handle(…)       what each event of the session is, with everything that the protocol wants opened and closed
    run.rest()        nothing more comes for the moment: the run ends here when somebody must answer first
    run.finished      after RUN_FINISHED or RUN_ERROR nothing more is said

A run is not a turn: a turn that asks for permission is told by one run that ends with an interrupt, and by the next, which answers it.
Clients of version 1.0 say so in `protocolVersion`. Those before it (0.0.59 is what CopilotKit 1.74 has) fail on outcomes and events
they do not know, so they are told less: steps in place of subagents, and no outcome `cancelled`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

import msgspec
from ag_ui import core as agui

from turnwire.client import events
from turnwire.client.values import JsonObject, JsonValue
from turnwire.frontends.agui.question_answers import interrupt_of
from turnwire.frontends.agui.thread import (
    ERROR,
    Change,
    MessagesReplaced,
    OtherEvent,
    RequestOpened,
    StateChanged,
    TextPiece,
    Thread,
    ToolCalled,
    ToolReturned,
    UserSaid,
)
from turnwire.frontends.web.payload_text import fitting

PROTOCOL = "1.0"
"""The version that is spoken with clients that name one."""

SLICE = 64 * 1024
"""Characters of one text event; a longer piece becomes several."""

ENDED_WELL = frozenset({"completed", None})
"""Outcomes of a turn that are a run's success."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A text that is being told."""

    message: str
    thinking: bool


class Run:
    """One run on a session's thread."""

    def __init__(
        self,
        thread: Thread,
        *,
        thread_id: str,
        run_id: str,
        version: str | None = None,
        parent_run_id: str | None = None,
    ) -> None:
        """`version` is the client's `protocolVersion`."""
        self._thread = thread
        self._thread_id = thread_id
        self._run_id = run_id
        self._parent_run_id = parent_run_id
        self._modern = version is not None
        self._streams: dict[str | None, Stream] = {}
        self._subagents: dict[str, str] = {}
        """Subagents that were reported as running: tool call and name."""
        self._ended_subagents: set[str] = set()
        self._turn: str | None = None
        self._prompt: str | None = None
        self._client_has: set[str] = set()
        self._behind = False
        """Our prompt waits behind a turn that does not serve it."""
        self.finished = False

    def start(
        self, client_ids: Sequence[str] = (), state: JsonValue = None, said: agui.UserMessage | None = None
    ) -> list[agui.BaseEvent]:
        """Begin: `client_ids` are the messages that the client has, `state` its state, `said` what it says now."""
        told: list[agui.BaseEvent] = [
            agui.RunStartedEvent(
                thread_id=self._thread_id,
                run_id=self._run_id,
                protocol_version=PROTOCOL if self._modern else None,
                parent_run_id=self._parent_run_id,
            )
        ]
        known, ours = list(client_ids), self._thread.ids
        self._client_has = {*known, *([said.id] if said else [])}
        up_to_date = known == ours or (self._thread.left_out and ours and known[-len(ours) :] == ours)
        if not up_to_date:
            # Clients keep messages they have where they are, and append what is new: so what they have goes first.
            if known != ours[: len(known)] or said is not None:
                told.append(self._emptied())
            told.append(self._snapshot(said))
        own = dict(state) if isinstance(state, dict) else {}
        told.append(agui.StateSnapshotEvent(snapshot={**own, "turnwire": dict(self._thread.state)}))
        return told

    def await_prompt(self, prompt: str) -> None:
        """End with the turn that serves this prompt."""
        self._prompt = prompt
        self._behind = self._thread.turn is not None and prompt not in self._thread.serves

    def await_turn(self) -> None:
        """End with the turn that runs now, if any does."""
        self._turn = self._thread.turn

    def handle(self, seq: int, event: events.AgentEvent) -> list[agui.BaseEvent]:
        """Tell the session's next event."""
        told: list[agui.BaseEvent] = []
        for change in self._thread.handle(seq, event):
            if not self.finished:
                told += self._tell(change)
        if not self.finished:
            told += self._ending(event)
        return told

    def lose(self, count: int) -> list[agui.BaseEvent]:
        """Tell that so many events of the session are gone."""
        return [each for change in self._thread.lose(count) for each in self._tell(change)]

    def begin_anew(self) -> list[agui.BaseEvent]:
        """Report that the session's log started over: all earlier events are void."""
        self._thread.clear()
        told = self._close_all()
        return [*told, self._emptied(), self._snapshot(None), self._whole_state()]

    def rest(self) -> list[agui.BaseEvent]:
        """Nothing comes for the moment: end here when a human must answer first, or when there is nothing to wait for."""
        if self.finished:
            return []
        if self._thread.pending:
            interrupts = [interrupt_of(request) for request in self._thread.pending.values()]
            return self._finish(interrupts=interrupts)
        if self._prompt is None and self._turn is None:
            return self._finish()
        return []

    def fail(self, code: str, message: str) -> list[agui.BaseEvent]:
        """End with an error of turnwire."""
        if self.finished:
            return []
        self.finished = True
        return [*self._close_all(), agui.RunErrorEvent(message=message, code=code)]

    def note(self, name: str, value: JsonValue) -> agui.BaseEvent:
        """Tell something that AG-UI has nothing for."""
        return agui.CustomEvent(name=f"turnwire.{name}", value=value)

    def _tell(self, change: Change) -> list[agui.BaseEvent]:
        match change:
            case TextPiece():
                return self._piece(change)
            case UserSaid():
                return self._said(change)
            case ToolCalled():
                return self._called(change)
            case ToolReturned():
                return self._returned(change)
            case MessagesReplaced():
                return [*self._close_all(), self._snapshot(None)]
            case StateChanged():
                return [self._put(change)]
            case RequestOpened():
                return []
            case OtherEvent():
                return self._other(change.event)
            case _:
                assert_never(change)

    def _piece(self, piece: TextPiece) -> list[agui.BaseEvent]:
        stream = Stream(piece.message, piece.thinking)
        told: list[agui.BaseEvent] = []
        if self._streams.get(piece.owner) != stream:
            told += [*self._close(piece.owner), *self._own(piece.owner)]
            told += _opened(stream, piece.owner)
            self._streams[piece.owner] = stream
        content = agui.ReasoningMessageContentEvent if piece.thinking else agui.TextMessageContentEvent
        told += [
            content(
                message_id=piece.message, delta=piece.text[start : start + SLICE], subagent_run_id=piece.owner
            )
            for start in range(0, len(piece.text), SLICE)
        ]
        return told if piece.more else [*told, *self._close(piece.owner)]

    def _said(self, said: UserSaid) -> list[agui.BaseEvent]:
        if said.message in self._client_has:
            return []
        told = [*self._close(said.owner), *self._own(said.owner)]
        told.append(
            agui.TextMessageStartEvent(message_id=said.message, role="user", subagent_run_id=said.owner)
        )
        told += [
            agui.TextMessageContentEvent(
                message_id=said.message, delta=said.text[start : start + SLICE], subagent_run_id=said.owner
            )
            for start in range(0, len(said.text), SLICE)
        ]
        return [*told, agui.TextMessageEndEvent(message_id=said.message, subagent_run_id=said.owner)]

    def _called(self, called: ToolCalled) -> list[agui.BaseEvent]:
        owner = called.owner
        told = [*self._close(owner), *self._own(owner)]
        told += [
            agui.ToolCallStartEvent(
                tool_call_id=called.id,
                tool_call_name=called.name,
                subagent_run_id=owner,
                metadata={"turnwire": called.metadata},
            ),
            *(
                agui.ToolCallArgsEvent(
                    tool_call_id=called.id,
                    delta=called.arguments[start : start + SLICE],
                    subagent_run_id=owner,
                )
                for start in range(0, len(called.arguments), SLICE)
            ),
            agui.ToolCallEndEvent(tool_call_id=called.id, subagent_run_id=owner),
        ]
        if called.subagent is not None:
            told += self._subagent(called.id, *called.subagent, owner)
        return told

    def _returned(self, returned: ToolReturned) -> list[agui.BaseEvent]:
        told = self._close(returned.owner)
        if returned.call in self._subagents:
            told += self._end_subagent(returned.call, returned.error)
        return [
            *told,
            agui.ToolCallResultEvent(
                message_id=returned.message,
                tool_call_id=returned.call,
                content=returned.content,
                role="tool",
                subagent_run_id=returned.owner,
                metadata={"turnwire": returned.metadata},
            ),
        ]

    def _own(self, owner: str | None) -> list[agui.BaseEvent]:
        """Begin to tell of a subagent that was begun in an earlier run."""
        return [] if owner is None else self._subagent(owner, "subagent", None, None)

    def _subagent(
        self, call: str, name: str, description: str | None, owner: str | None
    ) -> list[agui.BaseEvent]:
        if call in self._subagents or call in self._ended_subagents:
            # its words came before its call, or it speaks after its end: a run tells of each once
            return []
        if not self._modern:
            # the name alone tells steps apart
            name = f"{name} ({call})" if name in self._subagents.values() else name
            self._subagents[call] = name
            return [agui.StepStartedEvent(step_name=name)]
        self._subagents[call] = name
        parent = owner if owner in self._subagents else None
        return [
            agui.SubagentStartedEvent(
                subagent_run_id=call,
                name=name,
                description=description,
                parent_tool_call_id=call,
                parent_subagent_run_id=parent,
            )
        ]

    def _end_subagent(self, call: str, error: str | None, *, suspended: bool = False) -> list[agui.BaseEvent]:
        told = self._close(call)
        name = self._subagents.pop(call)
        self._ended_subagents.add(call)
        if not self._modern:
            return [*told, agui.StepFinishedEvent(step_name=name)]
        if error is not None:
            return [*told, agui.SubagentErrorEvent(subagent_run_id=call, message=error)]
        outcome = agui.SubagentFinishedSuspendedOutcome() if suspended else None
        return [*told, agui.SubagentFinishedEvent(subagent_run_id=call, outcome=outcome)]

    def _put(self, put: StateChanged) -> agui.BaseEvent:
        path = f"/turnwire/{put.name}"
        if put.value is None:
            return _patch({"op": "remove", "path": path})
        # `add` takes the place of a member that is there (RFC 6902, 4.1)
        return _patch({"op": "add", "path": path, "value": put.value})

    def _whole_state(self) -> agui.BaseEvent:
        return _patch({"op": "add", "path": "/turnwire", "value": dict(self._thread.state)})

    def _other(self, event: events.AgentEvent) -> list[agui.BaseEvent]:
        said = fitting(msgspec.to_builtins(event))
        if isinstance(event, events.Unknown | events.Malformed):
            return [agui.RawEvent(event=said, source="turnwire")]
        return [self.note(event.type, said)]

    def _emptied(self) -> agui.BaseEvent:
        """Leave the client without messages: those of thinking go only when a snapshot has such a message."""
        thinking = any(isinstance(message, agui.ReasoningMessage) for message in self._thread.messages())
        return agui.MessagesSnapshotEvent(
            messages=[agui.ReasoningMessage(id="turnwire-snapshot", content="")] if thinking else []
        )

    def _snapshot(self, said: agui.UserMessage | None) -> agui.BaseEvent:
        return agui.MessagesSnapshotEvent(messages=[*self._thread.messages(), *([said] if said else [])])

    def _close(self, owner: str | None) -> list[agui.BaseEvent]:
        stream = self._streams.pop(owner, None)
        return [] if stream is None else _closed(stream, owner)

    def _close_all(self, *, suspended: bool = False) -> list[agui.BaseEvent]:
        told = [each for owner in list(self._streams) for each in self._close(owner)]
        # those begun last end first: a subagent's subagents before it
        for call in reversed(list(self._subagents)):
            told += self._end_subagent(call, None, suspended=suspended)
        return told

    def _ending(self, event: events.AgentEvent) -> list[agui.BaseEvent]:
        match event:
            case events.Complete() if self._is_ours(event):
                return self._finish(event)
            case events.Complete():
                self._behind = False
            case events.TurnStarted() if self._prompt is not None and self._turn is None:
                if event.prompts is None and not self._behind:
                    # whom it serves is not known yet: nobody else waited
                    self._turn = event.operation_id
            case events.Withdrawn(prompt=prompt) if prompt == self._prompt:
                return self._finish(withdrawn=True)
            case events.ProcessStatus(state="exited") if self._prompt or self._turn:
                why = event.reason or "the agent's process ended"
                return self.fail("process_exited", f"The agent's process ended before the turn did: {why}.")
            case _:
                pass
        return []

    def _is_ours(self, event: events.Complete) -> bool:
        if self._turn is not None and event.operation_id == self._turn:
            return True
        if self._prompt is None:
            return False
        return self._prompt in (event.data.prompts or ()) or self._prompt in self._thread.serves

    def _finish(
        self,
        event: events.Complete | None = None,
        *,
        interrupts: Sequence[agui.Interrupt] = (),
        withdrawn: bool = False,
    ) -> list[agui.BaseEvent]:
        told = self._close_all(suspended=bool(interrupts))
        self.finished = True
        ended = agui.RunFinishedEvent(thread_id=self._thread_id, run_id=self._run_id)
        cancelled = agui.RunFinishedCancelledOutcome() if self._modern else None
        if interrupts:
            return [
                *told,
                ended.model_copy(
                    update={"outcome": agui.RunFinishedInterruptOutcome(interrupts=[*interrupts])}
                ),
            ]
        if withdrawn:
            return [*told, ended.model_copy(update={"outcome": cancelled})]
        success = agui.RunFinishedSuccessOutcome()
        if event is None:
            return [*told, ended.model_copy(update={"outcome": success})]
        usage = _usage(event, self._thread.state)
        if event.data.outcome == "interrupted":
            return [*told, ended.model_copy(update={"outcome": cancelled, "usage": usage})]
        if event.data.outcome in ENDED_WELL and not event.data.is_error:
            result = fitting(msgspec.to_builtins(event.data))
            return [*told, ended.model_copy(update={"outcome": success, "usage": usage, "result": result})]
        message = (
            event.error or "; ".join(event.data.errors or ()) or f"The turn ended: {event.data.outcome}."
        )
        return [*told, agui.RunErrorEvent(message=message[:ERROR], code=event.data.outcome, usage=usage)]


def _patch(operation: JsonObject) -> agui.BaseEvent:
    return agui.StateDeltaEvent.model_validate({"delta": [operation]})


def _opened(stream: Stream, owner: str | None) -> list[agui.BaseEvent]:
    if not stream.thinking:
        return [
            agui.TextMessageStartEvent(message_id=stream.message, role="assistant", subagent_run_id=owner)
        ]
    return [
        agui.ReasoningStartEvent(message_id=stream.message, subagent_run_id=owner),
        agui.ReasoningMessageStartEvent(message_id=stream.message, subagent_run_id=owner),
    ]


def _closed(stream: Stream, owner: str | None) -> list[agui.BaseEvent]:
    if not stream.thinking:
        return [agui.TextMessageEndEvent(message_id=stream.message, subagent_run_id=owner)]
    return [
        agui.ReasoningMessageEndEvent(message_id=stream.message, subagent_run_id=owner),
        agui.ReasoningEndEvent(message_id=stream.message, subagent_run_id=owner),
    ]


def _usage(event: events.Complete, state: JsonObject) -> list[agui.TokenUsage] | None:
    """Return what the turn used; AG-UI counts cached tokens as part of the input."""
    data = event.data.all_tokens or event.data
    if data.input_tokens is None and data.output_tokens is None:
        return None
    read, written = data.cache_read_input_tokens or 0, data.cache_creation_input_tokens or 0
    model = state.get("info", {}).get("model")
    return [
        agui.TokenUsage(
            model=model,
            input_tokens=(data.input_tokens or 0) + read + written,
            output_tokens=data.output_tokens,
            cached_input_tokens=data.cache_read_input_tokens,
            cache_write_input_tokens=data.cache_creation_input_tokens,
        )
    ]
