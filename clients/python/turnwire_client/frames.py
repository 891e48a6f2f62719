"""What a hub sends: `type` tells which.

Generated from `turnwire schema frames` by `make client-types`; do not edit.
"""

from typing import TYPE_CHECKING, TypeAlias

from msgspec import field

from .events import AgentEvent
from .values import Frame, JsonValue, Value

if TYPE_CHECKING:
    from typing import Literal
else:
    from .values import AnyWord as Literal


class Abilities(Value, frozen=True, kw_only=True):
    """What a session's agent can do; what it cannot is refused, and need not be offered. Before it runs: what agents like it can."""

    resume: bool
    """`session.resume` and a prompt start it again with its conversation."""
    rewind: bool
    """`session.resume` and `session.fork` go back to a message."""
    fork: bool
    """`session.fork` branches its conversation off."""
    interrupt: bool
    """`interrupt` stops its turn, and it lives on."""
    withdraw: bool
    """`prompt.withdraw` takes back a prompt that waits."""
    set_model: bool
    """`set_model` changes its model."""
    modes: list[str] | None = None
    """What `set_permission_mode` takes; absent where that is not known, or it has none."""
    images: bool
    """It sees images; otherwise they are saved in the workspace and named."""
    never_asks: list[str] | None = None
    """What the agent does without asking, whatever the policy, in words; reading and searching is left out. Absent where it asks about
    everything else, or nobody knows."""


class SessionSummary(Value, frozen=True, kw_only=True):
    """A session as frontends list it."""

    session: str
    """turnwire's session id."""
    title: str | None = None
    """What to call it: a title that somebody gave it, else the agent's own, else its first prompt, else its folder."""
    state: Literal["starting", "idle", "running", "waiting", "stopping", "exited", "replaying", "unreachable"]
    """`waiting`: for a human's answer; `exited`: no CLI runs, it can be resumed; `unreachable`: the worker that has it is gone."""
    agent: str | None = None
    """Which agent; scripted ones say so."""
    workspace: str | None = None
    """Directory the CLI runs in."""
    owner: str | None = None
    """The principal who began it; absent where nobody in particular did."""
    model: str | None = None
    """The main model."""
    policy: str | None = None
    """Permission policy."""
    sandbox: Literal["off", "files", "network"] | None = None
    """What its agent is kept from: nothing, files that are not its own, hosts that nobody has allowed as well. Absent of a replay."""
    permission_mode: str | None = None
    """The CLI's permission mode."""
    cli_session_id: str | None = None
    """The CLI's own session id."""
    last_seq: int
    """Newest number of its log."""
    total_cost_usd: float | None = None
    """What it has cost."""
    pending: int
    """Requests that wait for a human."""
    created: str | None = None
    """RFC 3339."""
    updated: str | None = None
    """When a turn ended last, else when it was created; RFC 3339."""
    trouble: str | None = None
    """Why its events cannot be kept, and so not be shown, at present; they come when they can. Until then it takes no prompt."""
    abilities: Abilities | None = None
    """What its agent can do; absent of a replay."""
    followed: bool | None = None
    """True while somebody's own CLI has the conversation open: it is shown as it grows, and takes no prompt."""
    worker: str | None = None
    """Of a fleet: the worker that has it."""
    position: float | None = None
    """Of a replay: share of the recording that was played."""
    speed: float | None = None
    """Of a replay: times the recorded pace; 0 when paused."""


class AgentChoice(Value, frozen=True, kw_only=True):
    """An agent that is here and may be chosen for a new session."""

    agent: str
    """What `agent` of session.create takes."""
    title: str
    """What to call it."""
    family: str
    """What it speaks: claude, qwen, acp."""
    scripted: bool | None = None
    """True for the scripted agent."""
    capabilities: list[str]
    """What it can do: resumes, continues_latest, forks, interrupts, withdraws_prompts, models, policies, hooks, mcp_servers, images, rewinds_files, …; what depends on its version is told as of the newest known."""
    options: list[str]
    """Which of session.create's `options` mean something to it; others are refused."""
    permission_modes: list[str]
    """The permission modes that it can be started in; empty where it has none, or names its own once it runs."""


class WorkerChoice(Value, frozen=True, kw_only=True):
    """A worker of a fleet that may be chosen for a new session."""

    worker: str
    """What `worker` of session.create takes."""
    labels: list[str]
    """What it takes, too, for any worker that has it."""
    agents: list[str]
    """The agents it has, the default one first."""


class Welcome(Frame, frozen=True, kw_only=True, tag="welcome"):
    """The first frame after access was granted."""

    protocol: str
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
    agents: list[AgentChoice] | None = None
    """The agents for new sessions, the default one first; absent where no session can be created."""
    workers: list[WorkerChoice] | None = None
    """Of a fleet: the workers that were there when the connection was made; absent elsewhere."""


class Sessions(Frame, frozen=True, kw_only=True, tag="sessions"):
    """The list of sessions, or their state, has changed.

    Sent at most every 250 ms; but a command that changes it is answered after the list it has changed.
    """

    sessions: list[SessionSummary]
    """All sessions."""


class EventFrame(Frame, frozen=True, kw_only=True, tag="event"):
    """One event in its envelope."""

    session: str
    """The session."""
    seq: int
    """Its place in the session's log."""
    ts: str
    """When it was journaled: RFC 3339, UTC."""
    event: AgentEvent
    """The event."""


class EventsFrame(Frame, frozen=True, kw_only=True, tag="events"):
    """Several events of one session in one frame, while a frontend catches up."""

    events: list[EventFrame]
    """In order, without holes."""


class CaughtUp(Frame, frozen=True, kw_only=True, tag="caught_up"):
    """The replay is over: what follows is live."""

    session: str
    """The session."""
    seq: int
    """Newest number sent."""


class GapFrame(Frame, frozen=True, kw_only=True, tag="gap"):
    """Events the frontend asked for that are gone."""

    session: str
    """The session."""
    first: int = field(name="from")
    """First number that is gone."""
    last: int = field(name="to")
    """Last number that is gone."""
    epoch: str
    """The epoch that now counts."""


class Lag(Frame, frozen=True, kw_only=True, tag="lag"):
    """The frontend reads more slowly than events come; nothing is lost."""

    session: str
    """The session."""
    behind: int
    """How many events wait for it."""


class ReplyError(Value, frozen=True, kw_only=True):
    """Why a command was refused."""

    code: str
    """One of the documented codes."""
    message: str
    """Whose fault, where, and what to do."""
    field: str | None = None
    """The field of the command that is wrong."""


class Reply(Frame, frozen=True, kw_only=True, tag="reply"):
    """The one answer to a command."""

    id: str | None
    """The command's id; null when the frame had none that could be read."""
    ok: bool
    """Was it done?"""
    result: JsonValue = None
    """What came of it."""
    error: ReplyError | None = None
    """Why not."""


OutFrame: TypeAlias = Welcome | Sessions | EventFrame | EventsFrame | CaughtUp | GapFrame | Lag | Reply
"""Any frame the hub sends; `type` tells which."""


__all__ = [
    "Abilities",
    "AgentChoice",
    "CaughtUp",
    "EventFrame",
    "EventsFrame",
    "GapFrame",
    "Lag",
    "OutFrame",
    "Reply",
    "ReplyError",
    "SessionSummary",
    "Sessions",
    "Welcome",
    "WorkerChoice",
]
