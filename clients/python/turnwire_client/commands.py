"""What a frontend asks for: `type` tells which. The client adds the `id`.

Generated from `turnwire schema commands` by `make client-types`; do not edit.
"""

from typing import Literal, TypeAlias

from .values import Command, JsonObject, JsonValue, Value


class AccessInvite(Command, frozen=True, kw_only=True, tag="access.invite"):
    """Ask for a code that logs one more browser in, such as a phone's: result {code, seconds}. Good once, in the place of a token."""

    role: Literal["control", "view"] = "view"
    """What it may do."""


class AgentOptions(Value, frozen=True, kw_only=True):
    """What a CLI is started with beside its model; those of Claude Code. A version that lacks one refuses it."""

    system_prompt: str | None = None
    """The system prompt, instead of the CLI's own."""
    append_system_prompt: str | None = None
    """What to add to the system prompt."""
    tools: list[str] | None = None
    """Built-in tools that exist at all; none when empty."""
    allowed_tools: list[str] | None = None
    """Permission rules for calls that nobody is asked about, such as `Bash(git log:*)`."""
    disallowed_tools: list[str] | None = None
    """Permission rules for calls that may not be."""
    max_turns: int | None = None
    """Model calls that a turn may make."""
    max_budget_usd: float | None = None
    """US dollars that a CLI may spend before it stops."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    """How hard the model thinks."""
    fallback_model: str | None = None
    """Model to take when the first one is overloaded."""
    output_schema: JsonObject | None = None
    """JSON Schema of the answer that each turn ends with."""
    agents: dict[str, JsonObject] | None = None
    """Subagents by name, each with `description`, `prompt` and what else the CLI knows of them."""
    plugins: list[str] | None = None
    """Directories of plugins, on the sidecar's machine."""
    setting_sources: list[Literal["user", "project", "local"]] | None = None
    """Which of the CLI's own settings files count; none when empty, all when absent."""
    add_dirs: list[str] | None = None
    """Directories beside the workspace that the tools may use."""
    settings: JsonObject | None = None
    """Settings of the CLI, above those of its files."""
    checkpointing: bool | None = None
    """Remember files before they are changed, for the control request `rewind_files`."""


class Attachment(Value, frozen=True, kw_only=True):
    """A file that goes with a prompt."""

    name: str | None = None
    """File name; only its last part is used."""
    media_type: str | None = None
    """What the frontend thinks it is; the content decides."""
    base64: str
    """The bytes."""


class Control(Command, frozen=True, kw_only=True, tag="control"):
    """Send any other control request to the CLI; the reply's result is its response."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    request: JsonObject
    """With `subtype` and that subtype's fields."""


class EventsGet(Command, frozen=True, kw_only=True, tag="events.get"):
    """Ask for a page of the log, beside what is followed: result {events, gap, seq, last, epoch}.

    `events` are `event` frames, in order and without holes, up to a MiB of them or one that is larger. `gap` ({from, to}) says which numbers
    before them are gone, null when none is. `seq` is where the page ends, and goes into `after` for the next one; there is none when it
    is `last`, the newest number of the log, or the one before `before`. So a frontend can `subscribe` close to the end of a long log
    (`after` is the `last_seq` of the session less what it wants to show first), and read what came before meanwhile.
    """

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    after: int = 0
    """Only numbers above this."""
    before: int = 9007199254740991
    """Only numbers below this."""
    epoch: str | None = None
    """The epoch that these numbers belong to, from `welcome`; needed when `after` is not 0."""


class Hello(Command, frozen=True, kw_only=True, tag="hello"):
    """The first frame of a frontend that can send no header: its token, and its name."""

    token: str | None = None
    """The access token."""
    name: str | None = None
    """Shown as `by` in the decisions this frontend takes; a principal decides as `user:NAME`, whatever it says here. Printable; not a name that policies, rules, hooks or turnwire
    itself decide under, so without a colon, and none that turnwire gives (`frontend-1`). The reply has the name as it is shown: no other frontend
    has it, and at the hub of a fleet it ends with `@` and what that hub alone is called."""


class Interrupt(Command, frozen=True, kw_only=True, tag="interrupt"):
    """Stop the running turn."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""


class LibraryExport(Command, frozen=True, kw_only=True, tag="library.export"):
    """Ask for a conversation as a document: result {name, content}."""

    worker: str | None = None
    """Of a fleet: name or label of the worker whose conversations are meant; all of them when absent."""
    conversation: str
    """Its id; or `live:SESSION` for one of turnwire's own sessions."""
    format: Literal["markdown", "html"] = "markdown"
    """What to write."""
    redact: bool = False
    """Replace secrets, tokens, e-mail addresses and home paths."""


class LibraryList(Command, frozen=True, kw_only=True, tag="library.list"):
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
    """Of a fleet: name or label of the worker whose conversations are meant; all of them when absent."""
    limit: int = 100
    """How many."""
    before: str | None = None
    """The `next` of the page before."""
    agent: str | None = None
    """Only those of an agent."""
    folder: str | None = None
    """Only those in a folder, and below it."""
    known: str | None = None
    """The `version` of the answer to the same command before: the reply comes when the list is another one, or after some 25 seconds."""
    conversation: str | None = None
    """Only the one of this id; refused with `unknown_conversation` where there is none."""


class LibraryOpen(Command, frozen=True, kw_only=True, tag="library.open"):
    """Open a conversation to be read: result {session}. Its log is filled from the file, and follows it while it grows.

    The next prompt goes on with it, as with `session.create` and its `resume`, if frontends may work in its folder and
    nobody's own CLI has it open.
    """

    worker: str | None = None
    """Of a fleet: name or label of the worker whose conversations are meant; all of them when absent."""
    conversation: str
    """Its id."""


class LibraryRename(Command, frozen=True, kw_only=True, tag="library.rename"):
    """Call a conversation otherwise; its file is left as it is."""

    worker: str | None = None
    """Of a fleet: name or label of the worker whose conversations are meant; all of them when absent."""
    conversation: str
    """Its id."""
    title: str | None = None
    """What to call it; as its agent does when absent."""


class LibrarySearch(Command, frozen=True, kw_only=True, tag="library.search"):
    """Search titles, prompts, texts, commands and paths of these conversations and of turnwire's own: result {hits, complete}.

    Each hit has `source` (library or live), `id`, `message`, `seq` (of live ones), `kind`, `title`, `folder`, `at`, and
    `snippet`: parts with `text` and `hit`.
    """

    worker: str | None = None
    """Of a fleet: name or label of the worker whose conversations are meant; all of them when absent."""
    text: str
    """Words, which must all be there; a phrase in double quotes."""
    limit: int = 50
    """How many hits."""
    agent: str | None = None
    """Only those of an agent."""
    folder: str | None = None
    """Only those in a folder, and below it."""


class LibraryUsage(Command, frozen=True, kw_only=True, tag="library.usage"):
    """Ask what was used, of these conversations and of turnwire's own: result {usage, complete}.

    Each entry has `group`, `answers`, `input_tokens`, `output_tokens`, `cache_read_input_tokens`,
    `cache_creation_input_tokens`, `cost_usd`, `estimated_usd` (how much of that is an estimate) and `cost_is_whole`.
    """

    worker: str | None = None
    """Of a fleet: name or label of the worker whose conversations are meant; all of them when absent."""
    by: list[Literal["day", "week", "month", "block", "session", "project", "model", "agent"]] | None = None
    """What to sum up by; the day when absent. A week is named by its Monday, a block of five hours by its beginning; all times are those
    of the hub's machine."""
    since: str | None = None
    """From this day on, in the time of the hub's machine."""
    until: str | None = None
    """Up to this day, included."""
    folder: str | None = None
    """Only in a folder, and below it."""


class PayloadGet(Command, frozen=True, kw_only=True, tag="payload.get"):
    """Ask for an event uncut, and the line it came from: result {event, raw}."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    seq: int
    """The event's place in the log."""


class PermissionRespond(Command, frozen=True, kw_only=True, tag="permission.respond"):
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
    """What to tell the agent, on rejecting."""
    interrupt: bool = False
    """On rejecting, also stop the turn."""
    destination: str | None = None
    """Where to remember an always-answer, when the option leaves it open."""
    mode: str | None = None
    """Permission mode to go on in, on approving a plan."""


class Prompt(Command, frozen=True, kw_only=True, tag="prompt"):
    """Say something to the agent, also while it works."""

    traceparent: str | None = None
    """The caller's span, version 00; ours is a child of it."""
    tracestate: str | None = None
    """What vendors add to it."""
    baggage: str | None = None
    """What goes along with it; the agent and span processors get it."""
    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    text: str = ""
    """The text; may be empty when there are attachments."""
    attachments: list[Attachment] | None = None
    """Images and files."""
    priority: Literal["now", "next", "later"] = "next"
    """now: interrupt the running turn; next: join it when the CLI can; later: after it."""


class PromptWithdraw(Command, frozen=True, kw_only=True, tag="prompt.withdraw"):
    """Take back a prompt that still waits."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    prompt: str
    """Its UUID, from the reply to `prompt` and the `queued` event."""


class PushKey(Command, frozen=True, kw_only=True, tag="push.key"):
    """Ask for the key that a browser subscribes with: result {key}, its `applicationServerKey`."""


class PushSubscribe(Command, frozen=True, kw_only=True, tag="push.subscribe"):
    """Have a browser told of what any session asks, finishes or fails at, until it unsubscribes or the tokens are new."""

    endpoint: str
    """Of its PushSubscription: https, of a push service that is known or that `push_services` names."""
    p256dh: str
    """Its public key, base64url."""
    auth: str
    """Its secret, base64url."""


class PushUnsubscribe(Command, frozen=True, kw_only=True, tag="push.unsubscribe"):
    """Tell a browser nothing more: result {subscribed}, whether it was."""

    endpoint: str
    """Of its PushSubscription."""


class QuestionAnswer(Command, frozen=True, kw_only=True, tag="question.answer"):
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
    """What to tell the agent, on declining."""


class ReplayControl(Command, frozen=True, kw_only=True, tag="replay.control"):
    """Steer a session that plays a recording."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    action: Literal["play", "pause", "seek"]
    """What to do."""
    speed: float | None = None
    """Times the recorded pace."""
    position: float | None = None
    """Where to, of seek: share of the recording."""


class SessionClose(Command, frozen=True, kw_only=True, tag="session.close"):
    """Stop the session's CLI; its events stay."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""


class SessionCreate(Command, frozen=True, kw_only=True, tag="session.create"):
    """Start a CLI in a workspace. A trace context given here is also that of the first prompt."""

    traceparent: str | None = None
    """The caller's span, version 00; ours is a child of it."""
    tracestate: str | None = None
    """What vendors add to it."""
    baggage: str | None = None
    """What goes along with it; the agent and span processors get it."""
    workspace: str | None = None
    """Directory the CLI runs in, below one of `frontend_workspaces`; the sidecar's own when absent."""
    agent: str | None = None
    """Which configured agent; the default one when absent."""
    model: str | None = None
    """Model to use."""
    policy: Literal["autonomous", "supervised", "plan"] | None = None
    """Permission policy, none looser than `frontend_policy`."""
    sandbox: Literal["off", "files", "network"] | None = None
    """What the agent is kept from, none weaker than `sandbox_floor`; as configured when absent. A session whose sandbox cannot be had is refused."""
    permission_mode: str | None = None
    """The CLI's own permission mode."""
    mcp_servers: JsonObject | None = None
    """MCP servers as in `--mcp-config`, where `frontend_options` lets frontends choose them."""
    options: AgentOptions | None = None
    """What else to start the CLI with; each that is absent is as configured, and none permits more unless `frontend_options` says so."""
    env: dict[str, str] | None = None
    """Additional environment of the CLI; only names of `frontend_env`."""
    title: str | None = None
    """What to call it."""
    worker: str | None = None
    """Of a fleet: name or label of the worker to begin it; the one with most room when absent."""
    prompt: str | None = None
    """First prompt."""
    resume: str | None = None
    """A conversation that `library.list` names: the session begins with all of it in its log, in its own folder, and the
    next prompt starts a CLI that goes on with it."""


class SessionDelete(Command, frozen=True, kw_only=True, tag="session.delete"):
    """Stop the session's CLI and forget the session: its record, its events, its attachments."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""


class SessionFork(Command, frozen=True, kw_only=True, tag="session.fork"):
    """Start a new session that begins with this one's conversation."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    at: str | None = None
    """Message up to which it is taken over, named as for `session.resume`; all of them when absent."""


class SessionList(Command, frozen=True, kw_only=True, tag="session.list"):
    """Ask for all sessions; the reply's result has them."""


class SessionRename(Command, frozen=True, kw_only=True, tag="session.rename"):
    """Rename a session."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    title: str
    """What to call it."""


class SessionResume(Command, frozen=True, kw_only=True, tag="session.resume"):
    """Start a CLI that goes on with this session's conversation."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    at: str | None = None
    """Message to go back to: a `resume_token` or `last_message_uuid` of a `complete`, or a message's UUID; none for the
    end. One that is not known is refused, and what runs runs on. CLI 2.0.14 goes back to texts of the agent alone (name
    the `complete` they ended, or a `message_id`), 1.0 nowhere."""


class SessionRetry(Command, frozen=True, kw_only=True, tag="session.retry"):
    """Go back to before the last turn and send its prompt again."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""


class SetModel(Command, frozen=True, kw_only=True, tag="set_model"):
    """Change the model."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    model: str | None = None
    """The model; the default one when absent."""


class SetPermissionMode(Command, frozen=True, kw_only=True, tag="set_permission_mode"):
    """Change the CLI's permission mode."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    mode: str
    """default, acceptEdits, plan, bypassPermissions, …"""


class Subscribe(Command, frozen=True, kw_only=True, tag="subscribe"):
    """Replay what follows the cursor, then go on live, without gap or repeat."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    after: int = 0
    """The last seq the frontend has; 0 for all."""
    epoch: str | None = None
    """The epoch that seq belongs to, from `welcome`; needed when `after` is not 0."""


class Unsubscribe(Command, frozen=True, kw_only=True, tag="unsubscribe"):
    """Send no more of this session."""

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""


class WorkspaceDiff(Command, frozen=True, kw_only=True, tag="workspace.diff"):
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
    """One of the files listed: what differs in it."""
    old_path: str | None = None
    """Its `old_path`, if it has one."""


class WorkspaceFiles(Command, frozen=True, kw_only=True, tag="workspace.files"):
    """Ask for files of the workspace whose names fit, the best first: result {files, complete}.

    What git ignores is left out, and links are not followed. `complete` is false where there are too many to look at.
    """

    session: str
    """turnwire's session id, as in `welcome` and `sessions`."""
    text: str = ""
    """Characters that a path has in this order, whatever their case."""
    limit: int = 20
    """How many."""


AnyCommand: TypeAlias = (
    Hello
    | Subscribe
    | Unsubscribe
    | SessionCreate
    | SessionList
    | SessionResume
    | SessionFork
    | SessionRetry
    | SessionRename
    | SessionClose
    | SessionDelete
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
    "Hello",
    "Interrupt",
    "LibraryExport",
    "LibraryList",
    "LibraryOpen",
    "LibraryRename",
    "LibrarySearch",
    "LibraryUsage",
    "PayloadGet",
    "PermissionRespond",
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
    "SessionRename",
    "SessionResume",
    "SessionRetry",
    "SetModel",
    "SetPermissionMode",
    "Subscribe",
    "Unsubscribe",
    "WorkspaceDiff",
    "WorkspaceFiles",
]
