"""What the hub sends to a frontend. `event` frames are spliced, not modelled here: see normalize/envelope.py."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue, TypeAdapter

from normalize.events import AgentEvent
from normalize.model import Published


class SessionSummary(Published):
    """A session as frontends list it."""

    session: str
    """turnwire's session id."""
    title: str | None = None
    """What to call it."""
    state: Literal["starting", "idle", "running", "waiting", "stopping", "exited", "replaying"]
    """`waiting`: for a human's answer; `exited`: no CLI runs, it can be resumed."""
    agent: str | None = None
    """Which agent; scripted ones say so."""
    workspace: str | None = None
    """Directory the CLI runs in."""
    model: str | None = None
    """The main model."""
    policy: str | None = None
    """Permission policy."""
    permission_mode: str | None = None
    """The CLI's permission mode."""
    cli_session_id: str | None = None
    """The CLI's own session id."""
    last_seq: int = 0
    """Newest number of its log."""
    total_cost_usd: float | None = None
    """What it has cost."""
    pending: int = 0
    """Requests that wait for a human."""
    created: str | None = None
    """RFC 3339."""
    position: float | None = None
    """Of a replay: share of the recording that was played."""
    speed: float | None = None
    """Of a replay: times the recorded pace; 0 when paused."""


class Welcome(Published):
    """The first frame after access was granted."""

    type: Literal["welcome"] = "welcome"
    protocol: str = "turnwire.v1"
    """The subprotocol."""
    version: str
    """turnwire's version."""
    epoch: str
    """The life of the logs; goes with every cursor."""
    role: Literal["control", "view"]
    """`view` may only read."""
    sessions: list[SessionSummary]
    """All sessions."""
    trace_url: str | None = None
    """Template of the link to a trace, with {trace_id}, when configured."""


class Sessions(Published):
    """The list of sessions, or their state, has changed."""

    type: Literal["sessions"] = "sessions"
    sessions: list[SessionSummary]
    """All sessions."""


class EventFrame(Published):
    """One event in its envelope."""

    type: Literal["event"] = "event"
    session: str
    """The session."""
    seq: int
    """Its place in the session's log."""
    ts: str
    """When it was journaled: RFC 3339, UTC."""
    event: AgentEvent
    """The event."""


class EventsFrame(Published):
    """Several events of one session in one frame, while a frontend catches up."""

    type: Literal["events"] = "events"
    events: list[EventFrame]
    """In order, without holes."""


class CaughtUp(Published):
    """The replay is over: what follows is live."""

    type: Literal["caught_up"] = "caught_up"
    session: str
    """The session."""
    seq: int
    """Newest number sent."""


class GapFrame(Published):
    """Events the frontend asked for that are gone."""

    type: Literal["gap"] = "gap"
    session: str
    """The session."""
    first: int = Field(serialization_alias="from", validation_alias="from")
    """First number that is gone."""
    last: int = Field(serialization_alias="to", validation_alias="to")
    """Last number that is gone."""
    epoch: str
    """The epoch that now counts."""


class Lag(Published):
    """The frontend reads more slowly than events come; nothing is lost."""

    type: Literal["lag"] = "lag"
    session: str
    """The session."""
    behind: int
    """How many events wait for it."""


class ReplyError(Published):
    """Why a command was refused."""

    code: str
    """One of the documented codes."""
    message: str
    """Whose fault, where, and what to do."""
    field: str | None = None
    """The field of the command that is wrong."""


class Reply(Published):
    """The one answer to a command."""

    type: Literal["reply"] = "reply"
    id: str | None
    """The command's id; null when the frame had none that could be read."""
    ok: bool
    """Was it done?"""
    result: JsonValue = None
    """What came of it."""
    error: ReplyError | None = None
    """Why not."""


OutFrame = Annotated[
    Welcome | Sessions | EventFrame | EventsFrame | CaughtUp | GapFrame | Lag | Reply,
    Field(discriminator="type"),
]

out_frames: TypeAdapter[OutFrame] = TypeAdapter(OutFrame)
"""Validates what the hub sends and gives its JSON Schema."""


def encode(frame: OutFrame) -> bytes:
    """Serialise a frame as compact UTF-8 JSON, empty fields left out."""
    if isinstance(frame, Reply) and frame.id is None:
        # The one null that says something: this answers a frame that cannot be named.
        return (
            frame.model_copy(update={"id": ""})
            .model_dump_json(exclude_none=True)
            .replace('""', "null", 1)
            .encode()
        )
    return frame.model_dump_json(by_alias=True, exclude_none=True).encode()
