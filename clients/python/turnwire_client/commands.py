"""What a frontend asks for: `type` tells which. The client adds the `id`.

Generated from `turnwire schema commands` by `make client-types`; do not edit.
"""

from typing import Literal, TypeAlias

from .frames import SessionSummary
from .results import (
    ConversationList,
    EventsPage,
    ExportedDocument,
    FleetListing,
    HelloResult,
    Invitation,
    MoveResult,
    NativeProgram,
    OpenedPort,
    OpenedShell,
    PromptResult,
    PushPublicKey,
    RemovedWorktree,
    RevertResult,
    SandboxPortList,
    SearchHits,
    SessionResult,
    SubscribeResult,
    UnsubscribeResult,
    Usage,
    WholePayload,
    WithdrawalResult,
    WorkspaceContent,
    WorkspaceDifference,
    WorkspaceFolder,
    WorkspaceFolderList,
    WorkspaceNames,
    WorktreeListing,
    WorktreeOutcome,
    WorktreeStanding,
)
from .values import Command, JsonObject, JsonValue, Value


class AccessInvite(Command[Invitation], frozen=True, kw_only=True, tag="access.invite"):
    """Get a code that logs in one more browser, for example on a phone: result {code, seconds}. The code replaces a token, once."""

    role: Literal["control", "view"] = "view"
    """The browser's rights."""


class AgentOptions(Value, frozen=True, kw_only=True):
    """Options of Claude Code for the start of a CLI, beside its model. A version without one refuses it."""

    system_prompt: str | None = None
    """The system prompt, instead of the CLI's own."""
    append_system_prompt: str | None = None
    """Text that is added to the system prompt."""
    tools: list[str] | None = None
    """Built-in tools that exist at all; none when empty."""
    allowed_tools: list[str] | None = None
    """Permission rules for calls that need no question, such as `Bash(git log:*)`."""
    disallowed_tools: list[str] | None = None
    """Permission rules for calls that may not be."""
    max_turns: int | None = None
    """Model calls that a turn may make."""
    max_budget_usd: float | None = None
    """US dollars that a CLI may spend before it stops."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    """How hard the model thinks."""
    fallback_model: str | None = None
    """Model to use when the first one is overloaded."""
    output_schema: JsonObject | None = None
    """JSON Schema of the answer that each turn ends with."""
    agents: dict[str, JsonObject] | None = None
    """Subagents by name, each with `description`, `prompt` and further members that the CLI knows."""
    plugins: list[str] | None = None
    """Directories of plugins, on the sidecar's machine."""
    setting_sources: list[Literal["user", "project", "local"]] | None = None
    """Which of the CLI's own settings files count; none when empty, all when absent."""
    add_dirs: list[str] | None = None
    """Directories that the tools may use, in addition to the workspace."""
    settings: JsonObject | None = None
    """Settings of the CLI. They override those of its files."""
    checkpointing: bool | None = None
    """Remember files before they are changed, for the control request `rewind_files`."""


class Attachment(Value, frozen=True, kw_only=True):
    """A file attached to a prompt."""

    name: str | None = None
    """File name; only its last part is used."""
    media_type: str | None = None
    """The frontend's guess of its type. turnwire decides by the content."""
    base64: str
    """The bytes."""


class Control(Command[JsonObject], frozen=True, kw_only=True, tag="control"):
    """Send any other control request to the CLI; the reply's result is its response."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    request: JsonObject
    """With `subtype` and that subtype's fields."""


class EventsGet(Command[EventsPage], frozen=True, kw_only=True, tag="events.get"):
    """Get a page of the log, independent of subscriptions: result {events, gap, seq, last, epoch}.

    `events` are `event` frames, in order and without holes, up to one MiB or one larger event. `gap` ({from, to}) names the
    deleted numbers
    before them; null if there are none. `seq` is the end of the page, for `after` of the next one. There is no next page when
    it
    equals `last`, the newest number of the log, or the number before `before`. So a frontend can `subscribe` close to the end
    of a long log
    (`after` is the session's `last_seq` minus what it shows first) and fetch earlier events meanwhile.
    """

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    after: int = 0
    """Only numbers above this."""
    before: int = 9007199254740991
    """Only numbers below this."""
    epoch: str | None = None
    """The epoch that these numbers belong to, from `welcome`; needed when `after` is not 0."""


class FleetLead(Command[None], frozen=True, kw_only=True, tag="fleet.lead"):
    """Lead a worker. `fleet.list` shows what comes of it. Refused with `no_worker` if it is not there."""

    worker: str
    """Name of the worker."""
    action: Literal["cordon", "uncordon", "drain"]
    """`cordon`: it gets no new sessions. `uncordon`: it gets some again. `drain`: its turns end, its sessions go to its group, then it ends."""


class FleetList(Command[FleetListing], frozen=True, kw_only=True, tag="fleet.list"):
    """List the workers of the fleet: result {redis, epoch, round_trip_s, workers}."""


class FleetTake(Command[None], frozen=True, kw_only=True, tag="fleet.take"):
    """Have a worker take a session by force, from a worker that does not let go. What that one still writes of it is refused."""

    session: str
    """The session."""
    worker: str
    """Name of the worker that takes it. It must be in the group of the other one."""


class Hello(Command[HelloResult], frozen=True, kw_only=True, tag="hello"):
    """The first frame of a frontend that can send no header: its token, and its name."""

    token: str | None = None
    """The access token."""
    name: str | None = None
    """Shown as `by` in this frontend's decisions. A principal decides as `user:NAME`, whatever the name. Printable, without a
    colon: names
    with one belong to policies, rules, hooks and turnwire. Names that turnwire gives (`frontend-1`) are refused. The reply
    contains the name as shown:
    no other frontend has it, and at the hub of a fleet it ends with `@` and the hub's own tag."""


class Interrupt(Command[JsonObject], frozen=True, kw_only=True, tag="interrupt"):
    """Stop the running turn."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""


class LibraryExport(Command[ExportedDocument], frozen=True, kw_only=True, tag="library.export"):
    """Ask for a conversation as a document: result {name, content}."""

    worker: str | None = None
    """In a fleet: name or label of the worker with the conversations. Default: all workers."""
    conversation: str
    """Its id; or `live:SESSION` for one of turnwire's own sessions."""
    format: Literal["markdown", "html"] = "markdown"
    """The output format."""
    redact: bool = False
    """Replace secrets, tokens, e-mail addresses and home paths."""


class LibraryList(Command[ConversationList], frozen=True, kw_only=True, tag="library.list"):
    """Ask for such conversations, the newest first: result {conversations, next, complete, version}.

    Each has `id`, `agent`, `folder`, `title`, `first_prompt`, `began`, `ended`, `turns`, `git_branch`, `model`, `version`, `bytes` and
    `branches`. Its costs are `cost_usd`, `cost_is_whole` and `estimated_usd`, the part that is estimated by the prices of models.
    `running` is true while somebody's CLI has it open. `session` is turnwire's own session with this conversation.

    `next` goes into `before` for the next page. The `cursor` of each conversation does the same for what follows it. `complete` is
    false during the first look at the folders. `version` changes with the list. With it as `known` the command waits for changes.

    The hub of a fleet asks its workers side by side. Each conversation then has `worker` too. `missing` names the workers that did
    not answer in time. There is no `version`. The same holds for `library.search` and `library.usage`; usage has no `worker`.
    """

    worker: str | None = None
    """In a fleet: name or label of the worker with the conversations. Default: all workers."""
    limit: int = 100
    """How many."""
    before: str | None = None
    """The `next` of the page before."""
    agent: str | None = None
    """Only conversations of this agent."""
    folder: str | None = None
    """Only conversations in this folder and below."""
    known: str | None = None
    """The `version` of an earlier answer to the same command. The reply waits until the list has changed, at most about 25
    seconds."""
    conversation: str | None = None
    """Only the conversation with this id. Refused with `unknown_conversation` if there is none."""


class LibraryOpen(Command[SessionResult], frozen=True, kw_only=True, tag="library.open"):
    """Open a conversation to be read: result {session}. Its log is filled from the file, and follows it while it grows.

    The next prompt goes on with it, as with `session.create` and its `resume`, if frontends may work in its folder and
    nobody's own CLI has it open.
    """

    worker: str | None = None
    """In a fleet: name or label of the worker with the conversations. Default: all workers."""
    conversation: str
    """Its id."""


class LibraryRename(Command[None], frozen=True, kw_only=True, tag="library.rename"):
    """Call a conversation otherwise; its file is left as it is."""

    worker: str | None = None
    """In a fleet: name or label of the worker with the conversations. Default: all workers."""
    conversation: str
    """Its id."""
    title: str | None = None
    """Title of the session. Default: the agent's own title."""


class LibrarySearch(Command[SearchHits], frozen=True, kw_only=True, tag="library.search"):
    """Search titles, prompts, texts, commands and paths of these conversations and of turnwire's own: result {hits, complete}.

    Each hit has `source` (library or live), `id`, `message`, `seq` (of live ones), `kind`, `title`, `folder`, `at`, and
    `snippet`: parts with `text` and `hit`.
    """

    worker: str | None = None
    """In a fleet: name or label of the worker with the conversations. Default: all workers."""
    text: str
    """Words, which must all be there; a phrase in double quotes."""
    limit: int = 50
    """How many hits."""
    agent: str | None = None
    """Only conversations of this agent."""
    folder: str | None = None
    """Only conversations in this folder and below."""


class LibraryUsage(Command[Usage], frozen=True, kw_only=True, tag="library.usage"):
    """Ask what was used, of these conversations and of turnwire's own: result {usage, complete}.

    Each entry has `group`, `answers`, `input_tokens`, `output_tokens`, `cache_read_input_tokens`,
    `cache_creation_input_tokens`, `cost_usd`, `estimated_usd` (how much of that is an estimate) and `cost_is_whole`.
    """

    worker: str | None = None
    """In a fleet: name or label of the worker with the conversations. Default: all workers."""
    by: list[Literal["day", "week", "month", "block", "session", "project", "model", "agent"]] | None = None
    """The grouping. Default: by day. A week is named by its Monday, a block of five hours by its beginning. All times are
    local to the hub's machine."""
    since: str | None = None
    """From this day on, in the time of the hub's machine."""
    until: str | None = None
    """Up to this day, included."""
    folder: str | None = None
    """Only in a folder, and below it."""


class NativeBegin(Command[NativeProgram], frozen=True, kw_only=True, tag="native.begin"):
    """Hand the conversation over to the agent's own interface, in a terminal of the sidecar's machine.

    Without `ticket` nothing is done: result {door}, the path of a Unix socket. The process that is to run the interface connects to
    it and reads one line, its ticket. With that: ends the session's CLI, which must be idle. Result {argv, workspace, agent}: what to run
    there. From then on the session follows the conversation's file, `in_terminal` of the list names the host, and prompts wait. The hand-over
    ends with the interface, or with that process before it has started one. Sent again by the same process, it says which program runs.
    """

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    host: str
    """What to call the terminal's machine."""
    ticket: str | None = None
    """What the process has read from `door`. It shows which process of the machine asks."""
    program: int | None = None
    """The process of the interface itself, once it runs: one that the process with the ticket has started."""
    end_background: bool = False
    """Also end what the agent runs in the background; otherwise that is refused with `background_work`, which names it."""
    new: bool = False
    """Run the interface with the arguments of the person alone, in a session without a conversation."""


class NativeEnd(Command[None], frozen=True, kw_only=True, tag="native.end"):
    """Wait until frontends lead the conversation again, after the end of the agent's own interface. Prompts that waited are sent.

    Refused with `in_terminal` while the interface runs.
    """

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    ticket: str | None = None
    """A ticket of the process that began it: it has started no interface, and will not."""


class NativeTakeBack(Command[None], frozen=True, kw_only=True, tag="native.take_back"):
    """Have the agent's own interface ended, after its turn: the conversation is led by frontends again."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    now: bool = False
    """In the middle of its turn, too."""


class NewWorktree(Value, frozen=True, kw_only=True):
    """A new git worktree for a session."""

    branch: str | None = None
    """Name of the new branch; turnwire chooses one when absent."""
    base: str | None = None
    """The branch or commit that the worktree starts from. Default: what the workspace has checked out."""


class PayloadGet(Command[WholePayload], frozen=True, kw_only=True, tag="payload.get"):
    """Ask for an event uncut, and the line it came from: result {event, raw}."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    seq: int
    """The event's place in the log."""


class PermissionRespond(Command[None], frozen=True, kw_only=True, tag="permission.respond"):
    """Answer a permission request. The first answer wins."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    pending_id: str
    """The request."""
    option_id: str
    """One of its permission_options."""
    updated_input: JsonObject | None = None
    """The tool's arguments, edited."""
    message: str | None = None
    """A message to the agent, for a rejection."""
    interrupt: bool = False
    """On rejecting, also stop the turn."""
    destination: str | None = None
    """Where to remember an always-answer, when the option leaves it open."""
    mode: str | None = None
    """Permission mode to go on in, on approving a plan."""


class Ping(Command[None], frozen=True, kw_only=True, tag="ping"):
    """Ask for a reply and nothing else: a frontend that can send no WebSocket ping finds out whether the connection lives."""


class PortClose(Command[None], frozen=True, kw_only=True, tag="port.close"):
    """Close a port of a session's sandbox to browsers."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    port: int
    """Which."""


class PortList(Command[SandboxPortList], frozen=True, kw_only=True, tag="port.list"):
    """Ask which ports servers listen on in a session's sandbox: result {ports}, each with `port` and `open`."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""


class PortOpen(Command[OpenedPort], frozen=True, kw_only=True, tag="port.open"):
    """Let a browser reach a port of a session's sandbox, on an origin of its own: result {url, port, path}.

    `url` is for a browser on the hub's machine. Elsewhere it is `http://HOST:` with the host that reaches the hub, then `port`
    and `path`. It admits
    one browser, once. The browser's rights follow the frontend's role: `view` may only read (GET and HEAD).
    """

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    port: int
    """Where the server listens in the sandbox, on 127.0.0.1 or ::1."""


class Prompt(Command[PromptResult], frozen=True, kw_only=True, tag="prompt"):
    """Say something to the agent, also while it works. A UUID as `id` becomes the prompt's, which is said once however often it is sent."""

    traceparent: str | None = None
    """The caller's span, version 00; ours is a child of it."""
    tracestate: str | None = None
    """Further trace data of vendors."""
    baggage: str | None = None
    """Key-value pairs of the trace. The agent and span processors get them."""
    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    text: str = ""
    """The text. May be empty if there are attachments."""
    attachments: list[Attachment] | None = None
    """Images and files."""
    priority: Literal["now", "next", "later"] = "next"
    """now: interrupt the running turn; next: join it when the CLI can; later: after it."""


class PromptWithdraw(Command[WithdrawalResult], frozen=True, kw_only=True, tag="prompt.withdraw"):
    """Take back a waiting prompt."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    prompt: str
    """Its UUID, from the reply to `prompt` and the `queued` event."""


class PushKey(Command[PushPublicKey], frozen=True, kw_only=True, tag="push.key"):
    """Ask for the key that a browser subscribes with: result {key}, its `applicationServerKey`."""


class PushSubscribe(Command[None], frozen=True, kw_only=True, tag="push.subscribe"):
    """Notify a browser when any session asks, finishes or fails, until it unsubscribes or the tokens change."""

    endpoint: str
    """The endpoint of its PushSubscription: https, of a known push service or one that `push_services` names."""
    p256dh: str
    """Its public key, base64url."""
    auth: str
    """Its secret, base64url."""


class PushUnsubscribe(Command[UnsubscribeResult], frozen=True, kw_only=True, tag="push.unsubscribe"):
    """Tell a browser nothing more: result {subscribed}, whether it was."""

    endpoint: str
    """Of its PushSubscription."""


class QuestionAnswer(Command[None], frozen=True, kw_only=True, tag="question.answer"):
    """Answer a question_request. The first answer wins."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    pending_id: str
    """The request."""
    answers: dict[str, str | list[str]] | None = None
    """Question to answer or answers, of ask_user."""
    action: Literal["accept", "decline", "cancel"] = "accept"
    """Answer it, or not."""
    content: JsonValue = None
    """The answer, of an elicitation or a dialog."""
    message: str | None = None
    """A message to the agent, for a refused question."""


class ReplayControl(Command[SessionResult], frozen=True, kw_only=True, tag="replay.control"):
    """Steer a session that plays a recording."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    action: Literal["play", "pause", "seek"]
    """The action."""
    speed: float | None = None
    """Times the recorded pace."""
    position: float | None = None
    """Where to, of seek: share of the recording."""


class SessionClose(Command[None], frozen=True, kw_only=True, tag="session.close"):
    """Stop the session's CLI; its events stay."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""


class SessionCreate(Command[SessionResult], frozen=True, kw_only=True, tag="session.create"):
    """Start a CLI in a workspace. A trace context given here is also that of the first prompt."""

    traceparent: str | None = None
    """The caller's span, version 00; ours is a child of it."""
    tracestate: str | None = None
    """Further trace data of vendors."""
    baggage: str | None = None
    """Key-value pairs of the trace. The agent and span processors get them."""
    workspace: str | None = None
    """Directory the CLI runs in, below one of `frontend_workspaces`; the sidecar's own when absent."""
    worktree: NewWorktree | None = None
    """Work in a new git worktree of the repository that `workspace` is in; refused unless the setting `worktrees` names a place for them."""
    agent: str | None = None
    """Which configured agent; the default one when absent."""
    model: str | None = None
    """Model to use."""
    policy: Literal["autonomous", "supervised", "plan"] | None = None
    """Permission policy, none looser than `frontend_policy`."""
    sandbox: Literal["off", "files", "network"] | None = None
    """What the sandbox denies the agent, not weaker than `sandbox_floor`. Default: as configured. A session is refused if its
    sandbox is unavailable."""
    permission_mode: str | None = None
    """The CLI's own permission mode."""
    mcp_servers: JsonObject | None = None
    """MCP servers as in `--mcp-config`, where `frontend_options` lets frontends choose them."""
    options: AgentOptions | None = None
    """Further options for the start of the CLI. Defaults are as configured. None may permit more unless `frontend_options` allows
    it."""
    env: dict[str, str] | None = None
    """Additional environment of the CLI; only names of `frontend_env`."""
    title: str | None = None
    """Title of the session."""
    worker: str | None = None
    """In a fleet: name or label of the worker that runs the session. Default: the worker with the most room."""
    prompt: str | None = None
    """First prompt."""
    resume: str | None = None
    """A conversation that `library.list` names. The session starts with all of it in its log, in the conversation's folder, and
    the
    next prompt starts a CLI that continues it."""


class SessionDelete(Command[None], frozen=True, kw_only=True, tag="session.delete"):
    """Stop the session's CLI and forget the session: its record, its events, its attachments."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""


class SessionFork(Command[SessionResult], frozen=True, kw_only=True, tag="session.fork"):
    """Start a new session with this one's conversation."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    at: str | None = None
    """Message up to which it is taken over, named as for `session.resume`; all of them when absent."""


class SessionList(Command[list[SessionSummary]], frozen=True, kw_only=True, tag="session.list"):
    """Ask for all sessions; the reply's result has them."""


class SessionMove(Command[MoveResult], frozen=True, kw_only=True, tag="session.move"):
    """Have another worker of a fleet go on with the session: one of the same `worker_group`. Refused while a turn is open."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    worker: str | None = None
    """Name or label of the worker that takes it; the one with most room when absent."""


class SessionRename(Command[None], frozen=True, kw_only=True, tag="session.rename"):
    """Rename a session."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    title: str
    """The new title."""


class SessionResume(Command[SessionResult], frozen=True, kw_only=True, tag="session.resume"):
    """Start a CLI that continues this session's conversation."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    at: str | None = None
    """Message to go back to: a `resume_token` or `last_message_uuid` of a `complete`, or a message's UUID. Default: the
    end. An unknown message is refused, and a running CLI continues. CLI 2.0.14 can go back to texts of the agent only (name
    the `complete` that they ended, or a `message_id`), 1.0 to no message."""


class SessionRetry(Command[PromptResult], frozen=True, kw_only=True, tag="session.retry"):
    """Go back to before the last turn and send its prompt again."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""


class SetModel(Command[None], frozen=True, kw_only=True, tag="set_model"):
    """Change the model."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    model: str | None = None
    """The model; the default one when absent."""


class SetPermissionMode(Command[None], frozen=True, kw_only=True, tag="set_permission_mode"):
    """Change the CLI's permission mode."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    mode: str
    """default, acceptEdits, plan, bypassPermissions, …"""


class ShellAck(Command[None], frozen=True, kw_only=True, tag="shell.ack"):
    """Say that output was shown, so that more is sent."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    shell: str
    """The shell, from the reply to `shell.open`."""
    number: int
    """`number` of the last `shell_output` that was shown."""


class ShellClose(Command[None], frozen=True, kw_only=True, tag="shell.close"):
    """End a shell, and all that it has started."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    shell: str
    """The shell, from the reply to `shell.open`."""


class ShellOpen(Command[OpenedShell], frozen=True, kw_only=True, tag="shell.open"):
    """Open a shell in a session's workspace, and in its sandbox if it has one: result {shell}. Needs the setting `shell`.

    Its output comes as `shell_output` frames, to this connection alone, and is not journaled. The hub sends 32 of them ahead of `shell.ack`;
    then the shell waits. It ends with its exit, with the session's agent or with the connection, and all that it has started ends with it.
    """

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    columns: int = 80
    """Characters of a line."""
    rows: int = 24
    """Lines."""


class ShellResize(Command[None], frozen=True, kw_only=True, tag="shell.resize"):
    """Tell a shell the size of its terminal."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    shell: str
    """The shell, from the reply to `shell.open`."""
    columns: int
    """Characters of a line."""
    rows: int
    """Lines."""


class ShellWrite(Command[None], frozen=True, kw_only=True, tag="shell.write"):
    """Type into a shell. Refused with `rate_limited` while it has not read 64 KiB."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    shell: str
    """The shell, from the reply to `shell.open`."""
    text: str
    """What is typed, control characters included."""


class Subscribe(Command[SubscribeResult], frozen=True, kw_only=True, tag="subscribe"):
    """Replay the events after the cursor, then continue live, without gap or repetition."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    after: int = 0
    """The last seq the frontend has; 0 for all."""
    epoch: str | None = None
    """The epoch that seq belongs to, from `welcome`; needed when `after` is not 0."""


class Unsubscribe(Command[UnsubscribeResult], frozen=True, kw_only=True, tag="unsubscribe"):
    """Send no more of this session."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""


class WorkspaceDiff(Command[WorkspaceDifference], frozen=True, kw_only=True, tag="workspace.diff"):
    """Ask git what differs in the workspace from the last commit, staged or not.

    Without a path: result {base, files, complete}. `base` is the commit, null before the first. `complete` is false where there are
    more files than are listed.

    Each file has `path`, from the workspace, and `old_path` where it was renamed or copied. `status` is added, copied, deleted, modified,
    renamed, retyped, unmerged or untracked. `added` and `removed` count lines, and are null where nobody counts them. `binary` is also
    true for a file that is too large to compare. `filtered` means that only a filter such as LFS could tell whether it differs.
    `version` changes whenever the file is written.

    With a path: result {patch, cut, binary}, the hunks of a unified diff. `cut` is true when there is more.
    """

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    path: str | None = None
    """A listed file: get its changes."""
    old_path: str | None = None
    """Its `old_path`, if it has one."""
    against: Literal["commit", "base"] = "commit"
    """`base`, of a session in a worktree: compare with where its branch left its base, so that its commits are shown too."""


class WorkspaceFiles(Command[WorkspaceNames], frozen=True, kw_only=True, tag="workspace.files"):
    """Ask for files of the workspace whose names fit, the best first: result {files, complete}.

    What git ignores is left out, and links are not followed. `complete` is false where there are too many to look at.
    """

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    text: str = ""
    """Characters that a path has in this order, whatever their case."""
    limit: int = 20
    """How many."""


class WorkspaceFolders(Command[WorkspaceFolderList], frozen=True, kw_only=True, tag="workspace.folders"):
    """Ask for the folders in which a session can begin.

    Result {path, parent, folders, complete}. Without a path `folders` are those that frontends may choose from, with all below them, and
    `path` and `parent` are null. With one, `folders` are the paths of the folders in it, and `parent` is the folder above it, null where
    that may not be chosen. Hidden folders are left out. `complete` is false where there are more than 500.
    """

    path: str | None = None
    """A folder that may be chosen."""


class WorkspaceList(Command[WorkspaceFolder], frozen=True, kw_only=True, tag="workspace.list"):
    """List a folder of the workspace: result {entries, complete}, folders first.

    Each entry has `name`, `kind` (`folder`, `file`, `link`, `other`) and `size`, which is null but for files. `complete` is false where
    there are more than 2000. `.git`, `.turnwire`, turnwire's own state and folders with keys are left out.
    """

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    path: str = ""
    """From the workspace; the workspace itself when empty. A link may not lead out of it."""


class WorkspaceRead(Command[WorkspaceContent], frozen=True, kw_only=True, tag="workspace.read"):
    """Read a file of the workspace: result {size, text, media_type, base64, cut}.

    `text` is null of a file that is no UTF-8. `media_type` and `base64` are of a PNG, JPEG, GIF or WebP image up to 4 MiB, else null. `cut` is
    true where there is more: `text` ends after 1 MiB. Pipes, devices and files of the kernel are refused with `unknown_file`.
    """

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    path: str
    """From the workspace. A link may not lead out of it."""


class WorkspaceRevert(Command[RevertResult], frozen=True, kw_only=True, tag="workspace.revert"):
    """Take back the uncommitted changes of a file, or one hunk of them: result {backup, restore}.

    `backup` is the id of the git object with the file's content before, and `restore` the command that writes it back. Both are null for
    a file that was deleted. A new file is removed.
    """

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    path: str
    """One of the files that `workspace.diff` lists."""
    old_path: str | None = None
    """Its `old_path`, if it has one."""
    version: str | None = None
    """Its `version` there; refused with `changed` where the file was written since. Needed for a file that has one."""
    hunk: str | None = None
    """One hunk as in `patch`, from its `@@` line on; the whole file when absent."""


class WorktreeAct(Command[WorktreeOutcome], frozen=True, kw_only=True, tag="worktree.act"):
    """Do something with a session's worktree, after a preview.

    Without `plan` nothing is done: result {plan, does, commands, warnings, refusal}. `does` has sentences that say what will be done. `commands`
    are the same as commands of git. `warnings` has what a person should know before. `refusal` says why it cannot be done and what to do, and
    is null where it can. With the `plan` of a preview it is done: result {done, output, backup}. `done` has sentences, `output` what git
    said, `backup` the name under which the state before is kept, or null. `discard` copies files that git ignores into the state directory, and
    `done` says where; more than 50 MB are refused. Where the worktree or its base has changed since the preview, it
    is refused with `changed`.
    """

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    action: Literal["commit", "merge", "rebase", "push", "pull_request", "discard"]
    """`commit` takes all changes. `merge` joins the branch into its base, `rebase` moves it onto its base. `push` sends it. `pull_request` gives the
    command of `gh` and runs nothing. `discard` removes the worktree and its branch, of a session whose agent does not run."""
    message: str | None = None
    """Of `commit`: the message. Of `pull_request`: the title."""
    plan: str | None = None
    """The `plan` of the preview that a person has agreed to."""


class WorktreeList(Command[WorktreeListing], frozen=True, kw_only=True, tag="worktree.list"):
    """List the worktrees that turnwire made here: result {place, worktrees}; refused with `no_worktrees` if the setting is off.

    Each has `path`, `repository`, `branch` (null when detached) and `sessions` (ids). `unsaved` has sentences about work that would be lost.
    `ignored` names at most 200 files that git ignores, and `keeps` has sentences about where they are kept. `removable` is true without a
    session and without unsaved work.
    """


class WorktreeRemove(Command[RemovedWorktree], frozen=True, kw_only=True, tag="worktree.remove"):
    """Remove a worktree that no session uses: result {path, branch, backup, left}. Refused if it has work that is saved nowhere else.

    Its branch stays. Files that git ignores are copied to the folder `backup`, in the state directory, unless a build makes them again. More
    than 50 MB are refused. Somebody who writes into the worktree meanwhile has it refused with `changed`.
    """

    path: str
    """As `worktree.list` has it."""


class WorktreeStatus(Command[WorktreeStanding], frozen=True, kw_only=True, tag="worktree.status"):
    """Ask how a session's worktree stands: result {path, repository, branch, base, ahead, behind, uncommitted, conflicts, remote, pushed}.

    `base` is the branch that it started from, or null where it was a commit. `ahead` and `behind` count commits between branch and base.
    `uncommitted` lists the files that differ from the last commit, at most 200. `conflicts` lists the files that a merge into the base could
    not join. `remote` is the name of the remote that `push` sends to, or null. `pushed` is true when the remote has every commit.
    """

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""


AnyCommand: TypeAlias = (
    Hello
    | Ping
    | Subscribe
    | Unsubscribe
    | SessionCreate
    | SessionList
    | SessionResume
    | SessionFork
    | SessionRetry
    | SessionRename
    | SessionClose
    | SessionMove
    | SessionDelete
    | NativeBegin
    | NativeEnd
    | NativeTakeBack
    | Prompt
    | PromptWithdraw
    | Interrupt
    | PermissionRespond
    | QuestionAnswer
    | SetModel
    | SetPermissionMode
    | Control
    | PayloadGet
    | EventsGet
    | WorkspaceDiff
    | WorkspaceFiles
    | WorkspaceList
    | WorkspaceRead
    | WorkspaceRevert
    | WorktreeStatus
    | WorktreeAct
    | WorktreeList
    | WorktreeRemove
    | PortList
    | PortOpen
    | PortClose
    | ShellOpen
    | ShellWrite
    | ShellResize
    | ShellAck
    | ShellClose
    | WorkspaceFolders
    | LibraryList
    | LibrarySearch
    | LibraryOpen
    | LibraryRename
    | LibraryExport
    | LibraryUsage
    | PushKey
    | PushSubscribe
    | PushUnsubscribe
    | AccessInvite
    | FleetList
    | FleetLead
    | FleetTake
    | ReplayControl
)
"""Any command; `type` tells which."""


__all__ = [
    "AccessInvite",
    "AgentOptions",
    "AnyCommand",
    "Attachment",
    "Control",
    "EventsGet",
    "FleetLead",
    "FleetList",
    "FleetTake",
    "Hello",
    "Interrupt",
    "LibraryExport",
    "LibraryList",
    "LibraryOpen",
    "LibraryRename",
    "LibrarySearch",
    "LibraryUsage",
    "NativeBegin",
    "NativeEnd",
    "NativeTakeBack",
    "NewWorktree",
    "PayloadGet",
    "PermissionRespond",
    "Ping",
    "PortClose",
    "PortList",
    "PortOpen",
    "Prompt",
    "PromptWithdraw",
    "PushKey",
    "PushSubscribe",
    "PushUnsubscribe",
    "QuestionAnswer",
    "ReplayControl",
    "SessionClose",
    "SessionCreate",
    "SessionDelete",
    "SessionFork",
    "SessionList",
    "SessionMove",
    "SessionRename",
    "SessionResume",
    "SessionRetry",
    "SetModel",
    "SetPermissionMode",
    "ShellAck",
    "ShellClose",
    "ShellOpen",
    "ShellResize",
    "ShellWrite",
    "Subscribe",
    "Unsubscribe",
    "WorkspaceDiff",
    "WorkspaceFiles",
    "WorkspaceFolders",
    "WorkspaceList",
    "WorkspaceRead",
    "WorkspaceRevert",
    "WorktreeAct",
    "WorktreeList",
    "WorktreeRemove",
    "WorktreeStatus",
]
