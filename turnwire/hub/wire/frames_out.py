"""The frames that the hub sends. `event` frames are spliced and not modelled here: see normalize/events/envelope.py."""

from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

import msgspec
from msgspec import field

from turnwire.normalize.events import AgentEvent
from turnwire.normalize.events.envelope import Cursor
from turnwire.normalize.model import JsonValue, Published
from turnwire.normalize.vocabulary import Role, SandboxLevel, SessionState


class Frame(Published, frozen=True, kw_only=True, tag_field="type"):
    """A frame from the hub."""

    @property
    def type(self) -> str:
        """Which frame this is: the `type` of its JSON."""
        return str(self.__struct_config__.tag)


class Abilities(Published, frozen=True, kw_only=True):
    """Abilities of a session's agent. Others are refused. Before the agent runs: those of agents like it."""

    resume: bool
    """`session.resume` and a prompt start it again with its conversation."""
    rewind: bool
    """`session.resume` and `session.fork` go back to a message."""
    fork: bool
    """`session.fork` branches its conversation off."""
    interrupt: bool
    """`interrupt` stops its turn, and it lives on."""
    withdraw: bool
    """`prompt.withdraw` takes back a waiting prompt."""
    set_model: bool
    """`set_model` changes its model."""
    modes: list[str] | None = None
    """The modes for `set_permission_mode`. Absent if they are unknown, or if the agent has none."""
    images: bool
    """It sees images; otherwise they are saved in the workspace and named."""
    never_asks: list[str] | None = None
    """What the agent does without asking, whatever the policy, in words, apart from reading and searching. Absent if it asks about
    everything else, or if that is unknown.
    """


class SessionWorktree(Published, frozen=True, kw_only=True):
    """The git worktree that turnwire made for a session; its folder is the session's `workspace`, or holds it."""

    repository: str
    """The folder that the session was requested for: a working tree of the same repository, or the bare repository itself."""
    branch: str
    """The branch that was made for it."""
    base: str
    """The branch or commit that it started from."""


class SessionSummary(Published, frozen=True, kw_only=True):
    """A session as frontends list it."""

    session: str
    """turnwire's session id."""
    title: str | None = None
    """The title: a given one, else the agent's own, else the first prompt, else the folder."""
    state: SessionState
    """`waiting`: for a human's answer; `exited`: no CLI runs, it can be resumed; `unreachable`: the worker that has it is gone."""
    agent: str | None = None
    """Which agent; scripted ones say so."""
    workspace: str | None = None
    """Directory the CLI runs in."""
    worktree: SessionWorktree | None = None
    """The worktree that was made for it; absent of a session without one."""
    owner: str | None = None
    """The principal who started it. Absent if it has no owner."""
    model: str | None = None
    """The main model."""
    policy: str | None = None
    """Permission policy."""
    sandbox: SandboxLevel | None = None
    """What the sandbox denies its agent: nothing, foreign files, or also hosts that nobody allowed. Absent for a replay."""
    permission_mode: str | None = None
    """The CLI's permission mode."""
    cli_session_id: str | None = None
    """The CLI's own session id."""
    last_seq: int
    """Newest number of its log."""
    total_cost_usd: float | None = None
    """Its cost so far, in dollars."""
    pending: int
    """Requests that wait for a human."""
    created: str | None = None
    """RFC 3339."""
    updated: str | None = None
    """When a turn ended last, else when it was created; RFC 3339."""
    trouble: str | None = None
    """Why its events cannot be stored at present. They appear once they can be. Until then it accepts no prompt."""
    abilities: Abilities | None = None
    """What its agent can do. Absent for a replay."""
    followed: bool | None = None
    """True while a CLI outside turnwire has the conversation open. It is shown as it grows, and accepts no prompt."""
    in_terminal: str | None = None
    """The host on which the agent's own interface has the conversation: it is shown as it grows, and prompts wait."""
    wanted_back: bool | None = None
    """True once somebody wants the conversation back from that interface, which is then ended."""
    worker: str | None = None
    """Of a fleet: the worker that has it."""
    position: float | None = None
    """Of a replay: share of the recording that was played."""
    speed: float | None = None
    """Of a replay: times the recorded pace; 0 when paused."""


class AgentChoice(Published, frozen=True, kw_only=True):
    """An agent that can be chosen for a new session."""

    agent: str
    """The value for `agent` of session.create."""
    title: str
    """The title."""
    family: str
    """The wire: claude, qwen, acp."""
    scripted: bool | None = None
    """True for the scripted agent."""
    capabilities: list[str]
    """What it can do: resumes, continues_latest, forks, interrupts, withdraws_prompts, models, policies, hooks, mcp_servers,
    images, rewinds_files, …. Facts that depend on the version are those of the newest known one."""
    options: list[str]
    """Which of session.create's `options` mean something to it; others are refused."""
    permission_modes: list[str]
    """The permission modes that it can start in. Empty if it has none, or names them only when it runs."""


class WorkerChoice(Published, frozen=True, kw_only=True):
    """A worker of a fleet that can be chosen for a new session."""

    worker: str
    """The value for `worker` of session.create."""
    labels: list[str]
    """Labels, which `worker` also accepts: any worker with the label may run the session."""
    agents: list[str]
    """The agents it has, the default one first."""


class Welcome(Frame, frozen=True, kw_only=True, tag="welcome"):
    """The first frame after access was granted."""

    protocol: str
    """The subprotocol."""
    version: str
    """turnwire's version."""
    epoch: str
    """The id of the logs' lifetime. Every cursor contains it."""
    role: Role
    """`view` may only read."""
    sessions: list[SessionSummary]
    """All sessions."""
    trace_url: str | None = None
    """Template of the link to a trace, with {trace_id}, when configured."""
    agents: list[AgentChoice] | None = None
    """The agents for new sessions, the default one first; absent where no session can be created."""
    workers: list[WorkerChoice] | None = None
    """Of a fleet: the workers that were there when the connection was made; absent elsewhere."""
    shell: bool | None = None
    """True where this frontend may open shells in the workspaces of sessions: `shell.open`."""


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
    """The replay is complete. Following events are live."""

    session: str
    """The session."""
    seq: int
    """Newest number sent."""


class GapFrame(Frame, frozen=True, kw_only=True, tag="gap"):
    """Requested events that no longer exist."""

    session: str
    """The session."""
    first: int = field(name="from")
    """First deleted number."""
    last: int = field(name="to")
    """Last deleted number."""
    epoch: str
    """The epoch that now counts."""


class ReplyError(Published, frozen=True, kw_only=True):
    """Why a command was refused."""

    code: str
    """One of the documented codes."""
    message: str
    """What is wrong, where, and what to do."""
    field: str | None = None
    """The wrong field of the command."""


class Lag(Frame, frozen=True, kw_only=True, tag="lag"):
    """The frontend reads more slowly than events arrive, or the hub cannot read them at present. Nothing is lost."""

    session: str
    """The session."""
    behind: int
    """How many events wait for it."""
    error: ReplyError | None = None
    """Why the hub cannot read the log at present. It tries again; `caught_up` reports the end of the problem."""


class ShellFrame(Frame, frozen=True, kw_only=True, tag="shell_output"):
    """What a shell wrote; sent to the connection alone that opened it."""

    session: str
    """The session."""
    shell: str
    """The shell, from the reply to `shell.open`."""
    number: int
    """Counts the frames of this shell from 1; for `shell.ack`."""
    text: str
    """What it wrote, escapes of a terminal included. Bytes that are no UTF-8 are replaced."""


class ShellEnded(Frame, frozen=True, kw_only=True, tag="shell_exit"):
    """A shell has ended; the last frame about it."""

    session: str
    """The session."""
    shell: str
    """The shell."""
    code: int | None = None
    """Its exit code, negative for a signal; absent if it is not known."""


class Reply(Frame, frozen=True, kw_only=True, tag="reply"):
    """The one answer to a command."""

    id: str | None
    """The command's id; null when the frame had none that could be read."""
    ok: bool
    """Was it done?"""
    result: JsonValue = None
    """The result."""
    error: ReplyError | None = None
    """Why not."""


OutFrame: TypeAlias = (
    Welcome
    | Sessions
    | EventFrame
    | EventsFrame
    | CaughtUp
    | GapFrame
    | Lag
    | ShellFrame
    | ShellEnded
    | Reply
)
"""Any frame. `type` names its kind."""

_encode = msgspec.json.Encoder().encode


def encode(frame: OutFrame) -> bytes:
    """Serialise a frame as compact UTF-8 JSON, empty fields left out."""
    return _encode(frame)


def decode(text: str | bytes) -> OutFrame:
    """Read a frame; raises msgspec.ValidationError when it is none."""
    return _decoder().decode(text)


@cache
def _decoder() -> msgspec.json.Decoder[OutFrame]:
    return msgspec.json.Decoder(OutFrame)


def encode_payload(command_id: str, event: bytes, raw: bytes | None) -> bytes:
    """Serialise the reply to `payload.get`. The event's JSON is inserted unchanged."""
    line = None if raw is None else raw.decode(errors="replace")
    result: dict[str, msgspec.Raw | str | None] = {"event": msgspec.Raw(event), "raw": line}
    return msgspec.json.encode({"type": "reply", "id": command_id, "ok": True, "result": result})


def encode_page(
    command_id: str, events: Sequence[bytes], gap: tuple[int, int] | None, end: Cursor, last: int
) -> bytes:
    """Serialise the reply to `events.get`: events as the JSON of their frames, inserted unchanged, and the position of the page's
    end.
    """
    result = {
        "events": [msgspec.Raw(event) for event in events],
        "gap": None if gap is None else {"from": gap[0], "to": gap[1]},
        "seq": end.seq,
        "last": last,
        "epoch": end.epoch,
    }
    return msgspec.json.encode({"type": "reply", "id": command_id, "ok": True, "result": result})
