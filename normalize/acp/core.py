"""The core of ACP's family: messages in, events out. Deterministic, without I/O, clock or randomness.

session_updates.py handles session updates by kind. This module handles the agent's requests and the answers to our own
requests. It also handles our own lines, if they are seen: they show which answer ends which turn, and
where replay ends. Stdout alone also gives a complete stream.
"""

import json
from collections.abc import Mapping, Sequence
from typing import assert_never

from msgspec.structs import replace

from turnwire.normalize.acp import session_updates, subagents, turns
from turnwire.normalize.acp.agents import OWN_REQUESTS, TOLD_BY_REQUEST, agent_info, grok
from turnwire.normalize.acp.own_requests import Plan
from turnwire.normalize.acp.requests import Asked, Pending, leave_of, question
from turnwire.normalize.acp.session import Prompt, Session
from turnwire.normalize.acp.state import NOWHERE, OutgoingRequest, State, Terminal, key, named, notice
from turnwire.normalize.common.command_line import command_line
from turnwire.normalize.common.content_parts import blocks_of, prompt_of
from turnwire.normalize.common.endings import exited
from turnwire.normalize.common.outcomes import DecidedAhead
from turnwire.normalize.common.problems import AUTHENTICATION_REQUIRED, problem
from turnwire.normalize.core import Stats, malformed_line
from turnwire.normalize.events import AgentEvent, AuthMethod, Error, SessionInfo, Unknown
from turnwire.normalize.inputs import Announced, Decision, Ended, Received, Sent, SessionInput
from turnwire.normalize.payloads.fields import fields, objects, shallow, text, whole
from turnwire.normalize.tool_calls.call_payloads import name_of, told_of
from turnwire.normalize.tool_calls.open_calls import PermissionOutcome
from turnwire.normalize.tool_calls.permission_event import permission
from turnwire.normalize.tool_calls.tool_call_state import ToolCallState
from turnwire.protocol import malformed
from turnwire.protocol.acp import messages
from turnwire.protocol.acp.messages import Notification, PermissionRequest, Request, Response, SessionUpdate
from turnwire.protocol.acp.updates import AgentMessageChunk, ToolCallUpdate, UnknownUpdate
from turnwire.protocol.json_values import JsonObject
from turnwire.protocol.parsing.lenient import build

_OPENS = frozenset({"session/new", "session/load", "session/resume", "session/fork"})
_LOADS = frozenset({"session/load", "session/resume"})
_FATAL = frozenset({"initialize", "authenticate", *_OPENS})
"""Requests that must succeed for a session to exist."""
_ELICITATIONS = frozenset({"elicitation/create", "session/elicitation"})


class AcpCore:
    """Translates the inputs of one agent's process into events."""

    def __init__(self, *, resumed: bool = False, first_turn: int = 1) -> None:
        """`resumed`: the session continues an earlier conversation. `first_turn`: number of the first turn."""
        self.stats = Stats()
        self._state = State(resumed=resumed, first_turn=first_turn)
        self._ahead = DecidedAhead()

    @property
    def turns(self) -> int:
        """Number of turns started, including those before `first_turn`."""
        return self._state.next_turn - 1

    @property
    def busy(self) -> bool:
        """True while a turn is open."""
        return any(session.turn is not None for session in self._state.sessions.values())

    @property
    def pending(self) -> tuple[str, ...]:
        """The requests that wait for a human."""
        return tuple(
            name
            for session in self._state.sessions.values()
            for name, pending in session.requests.pending.items()
            if not pending.decided
        )

    @property
    def asked(self) -> Mapping[str, Asked]:
        """The agent's requests that have no answer yet, by the name they were published under."""
        return {
            name: pending.asked
            for session in self._state.sessions.values()
            for name, pending in session.requests.pending.items()
        }

    def pending_id(self, message: Asked) -> str | None:
        """Return the name under which a request was published that has just been received; None if it was not."""
        for session in self._state.sessions.values():
            for name, pending in reversed(session.requests.pending.items()):
                if pending.asked is message:
                    return name
        return None

    def asked_about(self, pending_id: str) -> Sequence[ToolCallUpdate]:
        """Return the calls that the answer to a request decides, with everything known about them. The requested call is first."""
        for session in self._state.sessions.values():
            one = session.requests.pending.get(pending_id)
            if one is not None and one.about is not None:
                quirks = session.calls.quirks
                return [one.about, *(told_of(call.facts, quirks, call.id) for call in one.also)]
        return []

    def handle(self, happened: SessionInput) -> list[AgentEvent]:
        """Translate whatever has happened in the session."""
        match happened:
            case Received():
                return self.receive(happened.message, happened.line)
            case Sent():
                return self.on_sent(happened.message)
            case Decision(unasked=True) if happened.pending_id not in self.pending:
                self._ahead.put(happened)
                return []
            case Decision():
                return self._decided(happened)
            case Ended():
                return self._ended(happened)
            case Announced():
                return [happened.event]
            case _ as never:
                assert_never(never)

    def receive(self, message: object, line: bytes | None = None) -> list[AgentEvent]:
        """Translate a message of the agent. `line` is kept unchanged in `unknown` events."""
        stats = self.stats
        if type(message) is SessionUpdate:
            if (subagent := self._state.subagents.get(message.params.session_id)) is not None:
                told = subagents.told_by(subagent, message)
                if told is None:
                    stats.counted += 1
                    return []
                message = told
            update = message.params.update
            session = self._state.session(message.params.session_id)
            # Most lines of a session are pieces of text: no detour for them.
            if type(update) is AgentMessageChunk:
                handler: session_updates.Handler = session_updates.said
            elif type(update) is UnknownUpdate:
                stats.unknown += 1
                return [self._unknown(session, f"session/update/{update.kind}", message, line)]
            else:
                handler = session_updates.HANDLERS[type(update)]
            events = handler(self._state, session, update)
            is_silent = session.suppresses_replay and session.history
            if is_silent and handler in session_updates.OF_THE_PAST:
                events = []
            if session.calls.has_due and handler is not session_updates.call:
                ends = session_updates.settled(session)
                events = events if is_silent else [*ends, *events]
            if message.params.meta is not None and handler is session_updates.call and not session.history:
                events = [*events, *session.usage.context(message.params.meta)]
            if events:
                stats.published += 1
                if session.turn is not None and not session.turn.has_output:
                    session.turn.has_output = turns.has_output(events)
            else:
                stats.counted += 1
            return events
        return self._other(message, line)

    def _other(self, message: object, line: bytes | None) -> list[AgentEvent]:
        stats = self.stats
        events: list[AgentEvent]
        match message:
            case PermissionRequest():
                events = self._permission(message, message)
            case Request():
                events = self._request(message)
            case Response():
                events = self._response(message)
            case Notification():
                if not _is_known(message.method):
                    stats.unknown += 1
                    return [self._unknown(None, message.method, message, line)]
                events = self._notification(message)
            case messages.Batch():
                return self._batch(message, line)
            case malformed.Malformed():
                here = NOWHERE if self._state.last is None else self._state.last.place.here
                return malformed_line(stats, here, message, line)
            case _:
                stats.unknown += 1
                return [self._unknown(None, "", message, line)]
        if events:
            stats.published += 1
        else:
            stats.control += 1
        return events

    def on_sent(self, message: object) -> list[AgentEvent]:
        """Translate a line we wrote to the agent."""
        state = self._state
        state.sees_input = True
        match message:
            case Request():
                return self._we_asked(message)
            case Notification(method="session/cancel"):
                session = state.sessions.get(text(fields(message.params), "sessionId") or "")
                return [] if session is None else _cancelled(session)
            case Response():
                return self._we_answered(message)
            case messages.Batch():
                return [event for one in message.messages for event in self.on_sent(one)]
            case _:
                return []

    # What we ask.

    def _we_asked(self, message: Request) -> list[AgentEvent]:
        state, params = self._state, fields(message.params)
        session_id = text(params, "sessionId") or ""
        kept = params if message.method != "session/prompt" else {"sessionId": session_id}
        state.outgoing_requests.put(key(message.id), OutgoingRequest(message.method, kept))
        match message.method:
            case "session/prompt":
                words, parts = prompt_of(blocks_of(params.get("prompt")))
                meta = fields(params.get("_meta"))
                uuid = text(meta, "turnwire/prompt") or text(params, "messageId")
                session = state.session(session_id)
                is_own = meta.get("turnwire/synthetic") is True
                return turns.prompted(state, session, Prompt(message.id, uuid, words, is_own), parts)
            case "session/load" | "session/resume":
                session = state.session(session_id)
                was_suppressing = session.suppresses_replay
                session.replays(is_known=session.had_turns or state.first_turn > 1)
                session.cwd = text(params, "cwd") or session.cwd
                # What was open is not told of again: a past that is silent would hide its end, as one before it hid its beginning.
                left = turns.left_open(session) if session.suppresses_replay else []
                return [] if was_suppressing else left
            case "session/fork":
                state.is_forking = True
                return []
            case _:
                return []

    def _we_answered(self, message: Response) -> list[AgentEvent]:
        state = self._state
        for session in state.sessions.values():
            pending = session.requests.find(message.id)
            if pending is None:
                continue
            own = OWN_REQUESTS.get(getattr(pending.asked, "method", ""))
            if isinstance(own, Plan) and message.error is None:
                message = replace(message, result=own.chosen(message.result))
            permission_outcome = _permission_outcome(pending, message)
            already = pending.decided
            events = session.requests.on_response(pending, message)
            if permission_outcome is not None and not already:
                events += session.calls.left(pending.calls, permission_outcome)
            return events
        return self._terminal_told(message)

    def _terminal_told(self, message: Response) -> list[AgentEvent]:
        """Handle the client's response about a terminal. The call that shows the terminal gets the same output."""
        state, result = self._state, fields(message.result)
        method, subject = state.incoming_requests.get(key(message.id)) or ("", "")
        if not method:
            return []
        state.incoming_requests.forget(key(message.id))
        if method == "terminal/create":
            terminal_id, made = text(result, "terminalId"), state.terminals.get(f"asked:{key(message.id)}")
            if terminal_id is not None and made is not None:
                state.terminals.put(terminal_id, made)
            return []
        for session in state.sessions.values():
            call = session.calls.by_terminal(subject)
            if call is None:
                continue
            made = state.terminals.get(subject)
            if made is not None:
                call.facts.command, call.facts.work_dir = made.command, made.work_dir or call.facts.work_dir
            output = text(result, "output")
            if output is not None:
                call.facts.terminal, call.facts.terminal_size = [], 0
                call.facts.show(output)
            status = result if method == "terminal/wait_for_exit" else fields(result.get("exitStatus"))
            call.facts.exited(whole(status, "exitCode"), text(status, "signal"))
            return session.calls.shown(call)
        return []

    def _decided(self, decision: Decision) -> list[AgentEvent]:
        for session in self._state.sessions.values():
            pending = session.requests.pending.get(decision.pending_id)
            if pending is None:
                continue
            events = session.requests.on_decision(pending, decision)
            if events:
                permission_outcome: PermissionOutcome = "denied" if decision.behavior == "deny" else "allowed"
                events += session.calls.left(pending.calls, permission_outcome)
            return events
        return []

    # What the agent asks.

    def _permission(self, message: PermissionRequest, asked: PermissionRequest | Request) -> list[AgentEvent]:
        """Handle a permission request. `asked` is the request as the agent wrote it."""
        state = self._state
        if (subagent := state.subagents.get(message.session_id)) is not None:
            message = subagents.asked_by(subagent, message)
        params = message.params
        session = state.session(params.session_id)
        told = params.tool_call
        if params.subject is not None and not told.tool_call_id:
            told = _subject(params.subject)
        # Who asks for permission asks now: what is told of this call from here on is not of a past that is known.
        past = turns.end_replay(session) if session.suppresses_replay else []
        events = [
            *past,
            *turns.ensure(state, session),
            *session.texts.pause(),
            *session_updates.settled(session),
        ]
        known = session.calls.find(session.calls.id_of(told.tool_call_id))
        joined = session.calls.asked_by(told) if known is None else None
        if joined is not None:
            known, told = joined, replace(told, tool_call_id=joined.id)
        else:
            told = session.calls.ours(told, asks=True)
        call_id = told.tool_call_id or None
        facts = ToolCallState() if known is None else replace(known.facts)
        facts.merge(told, session.calls.quirks, asks=True)
        if isinstance(params.meta, dict):
            facts.merge(ToolCallUpdate(meta=params.meta), session.calls.quirks)
        if call_id is not None:
            if known is not None and (joined is not None or known.facts.raw_input not in (None, {})):
                # agents tell the arguments in other words here: the call keeps its own
                told = replace(told, raw_input=None, title=None, kind=None)
            if told.status in ("completed", "failed"):
                told = replace(told, status=None)
            events += session.calls.on_update(told, history=session.history, asks=True)
            call = session.calls.find(call_id)
            if call is not None:
                call.permission_outcome = "asked"
        also = session.calls.also_asked(told.tool_call_id)
        for other in also:
            other.permission_outcome = "asked"
        pending_id = session.requests.name(message.id)
        quirks = session.calls.quirks
        event = permission(session.place, pending_id, message, facts, quirks, tool_call_id=call_id, also=also)
        about = told_of(facts, quirks, told.tool_call_id)
        # rules know a tool by the name that the agent tells: not by one that was made of a title
        about = replace(about, name=params.tool_call.name, meta=params.tool_call.meta)
        pending = Pending(pending_id, asked, call_id, name_of(facts), also, about, message, event)
        if session.turn is not None:
            session.turn.has_output = True
        events += session.requests.add(pending)
        return self._ahead.settle([*events, event], self._decided)

    def _request(self, message: Request) -> list[AgentEvent]:
        state, params = self._state, fields(message.params)
        method = message.method
        own = OWN_REQUESTS.get(method)
        if isinstance(own, Plan):
            return self._permission(own.permission(message), message)
        session_id = text(params, "sessionId")
        session = state.last if session_id is None else state.session(session_id)
        here = NOWHERE if session is None else session.place.here
        if session is not None and session.turn is not None:
            session.turn.has_output = True
        if session is not None and (tells := TOLD_BY_REQUEST.get(method)) is not None:
            return session_updates.call(state, session, tells(message))
        if (method in _ELICITATIONS or own is not None) and session is not None:
            pending_id = session.requests.name(message.id)
            event = question(session.place, pending_id, params if own is None else own.form(message))
            pending = Pending(pending_id, message, event.tool_call_id, None, published=event)
            return self._ahead.settle([*session.requests.add(pending), event], self._decided)
        if method.startswith("terminal/"):
            given = params.get("args")
            words = [params.get("command"), *given] if isinstance(given, list) and given else None
            command = (command_line(words) if words else None) or text(params, "command")
            state.incoming_requests.put(key(message.id), (method, text(params, "terminalId") or ""))
            if method == "terminal/create":
                made = Terminal(command or "", text(params, "cwd"))
                state.terminals.put(f"asked:{key(message.id)}", made)
        return [notice(here, method[:200], _words(method, params), details=message.params)]

    def _notification(self, message: Notification) -> list[AgentEvent]:
        state, params = self._state, fields(message.params)
        method = message.method
        session_id = text(params, "sessionId")
        session = state.sessions.get(session_id) if session_id is not None else state.last
        here = NOWHERE if session is None else session.place.here
        match method:
            case "$/cancel_request" | "$/cancelRequest":
                for one in state.sessions.values():
                    pending = one.requests.find(params.get("requestId", params.get("id")))
                    if pending is not None:
                        one.calls.left(pending.calls, "cancelled")
                        return one.requests.void("cancelled", pending)
                return []
            case "elicitation/complete":
                elicitation = text(params, "elicitationId")
                for one in state.sessions.values():
                    for pending in [*one.requests.pending.values()]:
                        asked = fields(getattr(pending.asked, "params", None))
                        if elicitation is not None and text(asked, "elicitationId") == elicitation:
                            return one.requests.void("cancelled", pending)
                return [notice(here, "elicitation_complete", elicitation or "", details=message.params)]
            case "_auth/status_update":
                status = fields(params.get("authStatus"))
                words = ", ".join(
                    filter(None, (text(status, "label"), text(status, "detail"), text(status, "error")))
                )
                failed = text(status, "error") or text(status, "kind") in ("error", "none")
                place = NOWHERE if session_id is None else here
                return [
                    notice(place, "auth_status", words or "Signing in", "error" if failed else "info", status)
                ]
            case _ if method.startswith(grok.OWN):
                return grok.heard(state, message)
            case _:
                return [notice(here, method[:200], _words(method, params), details=message.params)]

    # Answers.

    def _response(self, message: Response) -> list[AgentEvent]:
        state = self._state
        request = state.outgoing_requests.get(key(message.id))
        state.outgoing_requests.forget(key(message.id))
        if request is None:
            return [] if state.sees_input and message.error is None else self._seen_answer(message)
        session_id = text(request.params, "sessionId")
        if request.method == "session/fork":
            events = (
                self._failed(request, message.error)
                if message.error is not None
                else self._succeeded(request, fields(message.result))
            )
            state.is_forking = False
            return events
        if request.method == "session/prompt":
            session = state.session(session_id or "")
            result = None if message.error is not None else fields(message.result)
            return turns.on_response(state, session, message.id, result, message.error)
        if message.error is not None:
            return self._failed(request, message.error)
        return self._succeeded(request, fields(message.result))

    def _succeeded(self, request: OutgoingRequest, result: JsonObject) -> list[AgentEvent]:
        state, params = self._state, request.params
        session_id = text(params, "sessionId")
        match request.method:
            case "initialize":
                return self._initialized(result)
            case "session/new" | "session/load" | "session/resume" | "session/fork":
                name = text(result, "sessionId") or session_id
                if name is None or (request.method == "session/fork" and "sessionId" not in result):
                    return []
                session = state.session(name)
                session.cwd = text(params, "cwd") or session.cwd
                session.is_loaded = session.is_loaded or request.method != "session/new"
                return session.opened(result, state.agent)
            case "session/set_mode":
                return (
                    [] if session_id is None else state.session(session_id).mode_is(named(params, "modeId"))
                )
            case "session/set_model":
                session = state.session(session_id or "")
                return session.info(model=named(params, "modelId"), agent=state.agent)
            case "session/set_config_option":
                return state.session(session_id or "").options_are(result.get("configOptions"), state.agent)
            case "authenticate":
                method = named(params, "methodId")
                return [notice(NOWHERE, "auth_status", f"Logged in by {method}" if method else "Logged in")]
            case "logout":
                return [notice(NOWHERE, "auth_status", "Logged out")]
            case _:
                return []

    def _failed(self, request: OutgoingRequest, error: messages.RpcError) -> list[AgentEvent]:
        state, told = self._state, problem(error)
        session_id = text(request.params, "sessionId")
        session = state.sessions.get(session_id) if session_id is not None else None
        here = NOWHERE if session is None else session.place.here
        if request.method in _FATAL:
            past = turns.end_replay(session) if session is not None and request.method in _LOADS else []
            code = told.code
            if error.code == AUTHENTICATION_REQUIRED:
                code = "authentication_failed"
            return [
                *past,
                Error(**here, error=f"{request.method}: {told.message}", code=code, status=told.status),
            ]
        return [
            notice(
                here,
                "request_failed",
                f"{request.method[:200]}: {told.message}",
                "warning",
                {"method": request.method, "code": error.code, "data": error.data},
            )
        ]

    def _seen_answer(self, message: Response) -> list[AgentEvent]:
        """Handle a response to a request that we did not see. Its members reveal what was requested."""
        state = self._state
        if message.error is not None:
            session = None if state.sees_input else state.open_turn()
            if session is not None:
                return turns.on_exit(state, session, {}, message.error)
            told = problem(message.error)
            return [Error(**NOWHERE, error=told.message, code=told.code, status=told.status)]
        result = fields(message.result)
        if "protocolVersion" in result or "agentCapabilities" in result:
            return self._initialized(result)
        name = text(result, "sessionId")
        if name is not None:
            session = state.session(name)
            session.load_answered = bool(session.history)
            session.is_new = not session.history
            session.is_loaded = session.is_loaded or session.load_answered
            return session.opened(result, state.agent)
        if text(result, "stopReason") is not None:
            session = state.open_turn() or state.last
            if session is None:
                return []
            events = turns.end_replay(session)
            if session.turn is None:
                events += [*session.began(), turns.start(state, session, "user", [], [])]
            return [*events, *turns.on_exit(state, session, result)]
        if "modes" in result or "models" in result or "configOptions" in result:
            session = state.last
            if session is None:
                return []
            session.load_answered = True
            session.is_loaded = session.is_loaded or bool(session.history)
            return session.opened(result, state.agent)
        if state.last is not None and state.last.history:
            state.last.load_answered = True
        return []

    def _initialized(self, result: JsonObject) -> list[AgentEvent]:
        state = self._state
        info = agent_info(result)
        state.is_agent(info)
        methods = [
            AuthMethod(id=name, name=text(method, "name"), description=text(method, "description"))
            for method in objects(result, "authMethods")[:1000]
            if (name := text(method, "id", "methodId"))
        ]
        capabilities = fields(result.get("agentCapabilities")) or fields(result.get("capabilities"))
        return [
            SessionInfo(
                **NOWHERE,
                version=text(info, "version"),
                agent_name=text(info, "name"),
                agent_title=text(info, "title"),
                capabilities=fields(shallow(capabilities)) or None,
                auth_methods=methods or None,
            )
        ]

    # The rest.

    def _ended(self, end: Ended) -> list[AgentEvent]:
        state = self._state
        events: list[AgentEvent] = []
        for session in state.sessions.values():
            events += turns.by_process(session, end)
        state.outgoing_requests.clear()
        state.incoming_requests.clear()
        state.terminals.clear()
        last = state.last
        return [*events, exited(None if last is None else last.id, end)]

    def _batch(self, message: messages.Batch, line: bytes | None) -> list[AgentEvent]:
        """Handle several messages of one line. Stats count the line once."""
        stats, self.stats = self.stats, Stats()
        events = [event for one in message.messages for event in self.receive(one, line)]
        self.stats = stats
        if events:
            stats.published += 1
        else:
            stats.counted += 1
        return events

    def _unknown(self, session: Session | None, kind: str, message: object, line: bytes | None) -> AgentEvent:
        session = session or self._state.last
        here = NOWHERE if session is None else session.place.here
        if line is not None:
            return Unknown(**here, message_type=kind[:200], raw=line.decode("utf-8", "replace"))
        raw = getattr(message, "raw", getattr(message, "params", None))
        return Unknown(**here, message_type=kind[:200], raw=json.dumps(raw, default=str))


def _subject(subject: JsonObject) -> ToolCallUpdate:
    """Return the call that version 2 asks about: one that it tells, or a command of its own."""
    if subject.get("type") != "command":
        return build(ToolCallUpdate, fields(subject.get("toolCall")))
    return ToolCallUpdate(
        tool_call_id=text(subject, "toolCallId") or "",
        kind="execute",
        title=text(subject, "command"),
        raw_input={"command": text(subject, "command"), "cwd": text(subject, "cwd")},
    )


def _cancelled(session: Session) -> list[AgentEvent]:
    """We told the agent to stop."""
    if session.turn is None:
        return []
    session.turn.is_cancelled = True
    session.calls.cancelling = True
    waiting = [one for one in session.requests.pending.values() if not one.decided]
    events = session.requests.void("interrupted")
    for one in waiting:
        events += session.calls.left(one.calls, "cancelled")
    return events


def _permission_outcome(pending: Pending, answer: Response) -> PermissionOutcome | None:
    """Return what an answer means for the call that needs permission."""
    if pending.permission is None:
        return None
    if answer.error is not None:
        return "denied"
    option_id = text(fields(fields(answer.result).get("outcome")), "optionId")
    if option_id is None:
        return "cancelled"
    return "allowed" if leave_of(pending.permission, option_id) == "allow" else "denied"


def _is_known(method: str) -> bool:
    """Return whether a notification belongs to the protocol or is an extension, which begins with an underscore."""
    return method.startswith("_") or method in ("$/cancel_request", "$/cancelRequest", "elicitation/complete")


def _words(method: str, params: JsonObject) -> str:
    """Return text for a human about a request or notification without an event type."""
    subject = text(params, "path", "command", "terminalId", "uri", "message", "title")
    return f"{method[:200]}: {subject[:500]}" if subject else method[:200]
