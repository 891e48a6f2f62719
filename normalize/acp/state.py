"""The state between messages: the agent, its sessions, and the unanswered requests of both sides."""

from typing import Literal

from msgspec import Struct

from turnwire.normalize.acp.agents import SAFE, Quirks, quirks
from turnwire.normalize.acp.session import Session
from turnwire.normalize.acp.subagents import Subagent
from turnwire.normalize.common.bounded_dict import BoundedDict
from turnwire.normalize.common.event_context import EventFields
from turnwire.normalize.common.unique_ids import UniqueIds
from turnwire.normalize.events import AgentEvent, Notice
from turnwire.normalize.payloads.fields import fields, shallow
from turnwire.protocol.acp.messages import Id
from turnwire.protocol.json_values import Json, JsonObject, text_at

_ASKED = 4096
"""Requests of ours that may still be answered."""
_SESSIONS = 256
"""Most sessions that are remembered. Beyond that, sessions with nothing open are forgotten."""
_TERMINALS = 1024

NOWHERE: EventFields = {"session_id": None, "operation_id": None}
"""Fields of an event that belongs to no session."""


class OutgoingRequest(Struct, frozen=True, gc=False):
    """A request that we sent."""

    method: str
    params: JsonObject


class Terminal(Struct, gc=False):
    """A terminal that the client runs for the agent."""

    command: str
    work_dir: str | None


class State:
    """The agent and its sessions."""

    def __init__(self, *, resumed: bool, first_turn: int) -> None:
        self.resumed = resumed
        """The first session continues an earlier conversation."""
        self.first_turn = self.next_turn = first_turn
        self.call_ids = UniqueIds(first_turn)
        self.message_ids = UniqueIds(first_turn)
        self.agent: JsonObject = {}
        """`agentInfo` of the answer to initialize."""
        self.quirks: Quirks = SAFE
        self.sessions: dict[str, Session] = {}
        self._room = _SESSIONS
        self.last: Session | None = None
        """The session that was spoken of last."""
        self.sees_input = False
        """Our own lines are seen too, so a turn without a prompt is the agent's own."""
        self.is_forking = False
        """A fork was requested and is not answered: a session that is named now is the new one, and the agent replays its past."""
        self.outgoing_requests: BoundedDict[OutgoingRequest] = BoundedDict(_ASKED)
        self.incoming_requests: BoundedDict[tuple[str, str]] = BoundedDict(_TERMINALS)
        """Requests of the agent about terminals: method, and terminal or command."""
        self.terminals: BoundedDict[Terminal] = BoundedDict(_TERMINALS)
        self.subagents: BoundedDict[Subagent] = BoundedDict(_SESSIONS)
        """Subagent session -> the session and call that it works for."""

    def session(self, session_id: str) -> Session:
        """Return the session of an id, made if it is new."""
        last = self.last
        if last is not None and last.id == session_id:
            return last
        known = self.sessions.get(session_id)
        if known is None:
            if len(self.sessions) >= self._room:
                self._forget_some()
            known = self.sessions[session_id] = Session(
                session_id, self.quirks, self.call_ids, self.message_ids
            )
            known.is_loaded = self.resumed
            if self.is_forking:
                known.replays(is_known=self.first_turn > 1)
        self.last = known
        return known

    def open_turn(self) -> Session | None:
        """Return the session whose turn has been open longest."""
        found = [session for session in self.sessions.values() if session.turn is not None]
        return min(
            found,
            key=lambda session: int((session.turn.id if session.turn else "0").rpartition("-")[2]),
            default=None,
        )

    def is_agent(self, info: Json) -> None:
        """Handle the agent's name and version."""
        self.agent = fields(info)
        self.quirks = quirks(info)
        for session in self.sessions.values():
            session.adopt(self.quirks)

    def _forget_some(self) -> None:
        idle = [
            name
            for name, session in self.sessions.items()
            if session.turn is None and not session.calls.any_open and not session.requests.pending
        ]
        for name in idle[: len(idle) // 2 + 1]:
            del self.sessions[name]
        self._room = max(_SESSIONS, 2 * len(self.sessions))


def key(request_id: Id) -> str:
    """Return a request's id as a key: numbers and texts are different ids."""
    return f"{type(request_id).__name__}:{request_id}"


def notice(
    here: EventFields,
    kind: str,
    text: str,
    level: Literal["info", "warning", "error"] = "info",
    details: Json = None,
) -> AgentEvent:
    """Return a notice; `details` is published as it is, if it is an object, deep ones as text."""
    found = fields(shallow(details)) or None
    return Notice(**here, kind=kind, level=level, text=text, details=found)


def named(value: Json, key_name: str) -> str | None:
    """Return a member that is a non-empty text; otherwise None."""
    return text_at(value, key_name) or None
