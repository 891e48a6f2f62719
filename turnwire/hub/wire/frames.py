"""What a frontend and the hub say to each other, as text frames of one JSON object each.

A command carries an `id` and gets exactly one `reply`. Events travel in envelopes (normalize/events/envelope.py);
`turnwire/hub/wire/frames_out.py` has what the hub sends.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, ConfigDict, Field, JsonValue, TypeAdapter
from pydantic_core import PydanticCustomError

from turnwire.hub.wire.agent_options import LARGEST_NUMBER, AgentOptions, Few, JsonObject, Received
from turnwire.normalize.common.deciders import is_reserved
from turnwire.normalize.vocabulary import Policy, Priority, Role, SandboxLevel

NAME_LENGTH = 200
"""Characters of a name that goes to every frontend, in each list of sessions."""
PATH_LENGTH = 4096
"""Characters of a path: what Linux takes."""
TRACEPARENT = "^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$"
"""A `traceparent` of version 00."""
PRINTABLE = "^[ -~]*$"
"""ASCII without control characters, as in the value of a header."""
TRACE_LENGTH = 512
"""Characters of a `tracestate` that every party passes on."""
BAGGAGE_LENGTH = 8192
"""Characters of a `baggage` that every party passes on."""


NAME = 64
"""Characters of the name that a frontend gives itself."""


def _name(name: str) -> str:
    if not name.isprintable() or name != name.strip():
        raise PydanticCustomError(
            "unprintable_name", "A name must not have control characters, or spaces around it"
        )
    if is_reserved(name):
        raise PydanticCustomError(
            "reserved_name", "This name is reserved for policies, rules, hooks and turnwire; choose another"
        )
    return name


def _with_subtype(request: JsonObject) -> JsonObject:
    subtype = request.get("subtype")
    if not isinstance(subtype, str) or not subtype:
        raise PydanticCustomError(
            "no_subtype", "A control request needs a `subtype`, which names the request"
        )
    return request


class Command(Received):
    """A frontend asks for something. Unknown fields are errors: a typo must not pass silently."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(max_length=NAME_LENGTH)
    """Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
    connection: the command is done once, and gets its first reply."""


class SessionCommand(Command):
    """A command about one session."""

    session: str = Field(max_length=NAME_LENGTH)
    """turnwire's session id, as in `welcome` and `sessions`."""


class Traced(Command):
    """A command whose spans belong to a trace of the caller's (W3C Trace Context and Baggage)."""

    traceparent: str | None = Field(default=None, pattern=TRACEPARENT)
    """The caller's span, version 00; ours is a child of it."""
    tracestate: str | None = Field(default=None, max_length=TRACE_LENGTH, pattern=PRINTABLE)
    """What vendors add to it."""
    baggage: str | None = Field(default=None, max_length=BAGGAGE_LENGTH, pattern=PRINTABLE)
    """What goes along with it; the agent and span processors get it."""


class Hello(Command):
    """The first frame of a frontend that can send no header: its token, and its name."""

    type: Literal["hello"]
    token: str | None = None
    """The access token."""
    name: Annotated[str, Field(min_length=1, max_length=NAME), AfterValidator(_name)] | None = None
    """Shown as `by` in the decisions this frontend takes; a principal decides as `user:NAME`, whatever it says here. Printable; not a name that policies, rules, hooks or turnwire
    itself decide under, so without a colon, and none that turnwire gives (`frontend-1`). The reply has the name as it is shown: no other frontend
    has it, and at the hub of a fleet it ends with `@` and what that hub alone is called."""


class Subscribe(SessionCommand):
    """Replay what follows the cursor, then go on live, without gap or repeat."""

    type: Literal["subscribe"]
    after: int = Field(default=0, ge=0, le=LARGEST_NUMBER)
    """The last seq the frontend has; 0 for all."""
    epoch: str | None = None
    """The epoch that seq belongs to, from `welcome`; needed when `after` is not 0."""


class Unsubscribe(SessionCommand):
    """Send no more of this session."""

    type: Literal["unsubscribe"]


class SessionCreate(Traced):
    """Start a CLI in a workspace. A trace context given here is also that of the first prompt."""

    type: Literal["session.create"]
    workspace: str | None = Field(default=None, max_length=PATH_LENGTH)
    """Directory the CLI runs in, below one of `frontend_workspaces`; the sidecar's own when absent."""
    agent: str | None = Field(default=None, max_length=NAME_LENGTH)
    """Which configured agent; the default one when absent."""
    model: str | None = Field(default=None, max_length=NAME_LENGTH)
    """Model to use."""
    policy: Policy | None = None
    """Permission policy, none looser than `frontend_policy`."""
    sandbox: SandboxLevel | None = None
    """What the agent is kept from, none weaker than `sandbox_floor`; as configured when absent. A session whose sandbox cannot be had is refused."""
    permission_mode: str | None = Field(default=None, max_length=NAME_LENGTH)
    """The CLI's own permission mode."""
    mcp_servers: JsonObject | None = None
    """MCP servers as in `--mcp-config`, where `frontend_options` lets frontends choose them."""
    options: Annotated[AgentOptions, Few] | None = None
    """What else to start the CLI with; each that is absent is as configured, and none permits more unless `frontend_options` says so."""
    env: Annotated[dict[str, str], Few] | None = None
    """Additional environment of the CLI; only names of `frontend_env`."""
    title: str | None = Field(default=None, max_length=NAME_LENGTH)
    """What to call it."""
    worker: str | None = Field(default=None, max_length=NAME_LENGTH)
    """Of a fleet: name or label of the worker to begin it; the one with most room when absent."""
    prompt: str | None = None
    """First prompt."""
    resume: str | None = Field(default=None, max_length=NAME_LENGTH)
    """A conversation that `library.list` names: the session begins with all of it in its log, in its own folder, and the
    next prompt starts a CLI that goes on with it."""


class SessionList(Command):
    """Ask for all sessions; the reply's result has them."""

    type: Literal["session.list"]


class SessionResume(SessionCommand):
    """Start a CLI that goes on with this session's conversation."""

    type: Literal["session.resume"]
    at: str | None = None
    """Message to go back to: a `resume_token` or `last_message_uuid` of a `complete`, or a message's UUID; none for the
    end. One that is not known is refused, and what runs runs on. CLI 2.0.14 goes back to texts of the agent alone (name
    the `complete` they ended, or a `message_id`), 1.0 nowhere."""


class SessionFork(SessionCommand):
    """Start a new session that begins with this one's conversation."""

    type: Literal["session.fork"]
    at: str | None = None
    """Message up to which it is taken over, named as for `session.resume`; all of them when absent."""


class SessionRetry(SessionCommand):
    """Go back to before the last turn and send its prompt again."""

    type: Literal["session.retry"]


class SessionRename(SessionCommand):
    """Rename a session."""

    type: Literal["session.rename"]
    title: Annotated[str, Field(min_length=1, max_length=NAME_LENGTH)]
    """What to call it."""


class SessionClose(SessionCommand):
    """Stop the session's CLI; its events stay."""

    type: Literal["session.close"]


class SessionDelete(SessionCommand):
    """Stop the session's CLI and forget the session: its record, its events, its attachments."""

    type: Literal["session.delete"]


class Attachment(Received):
    """A file that goes with a prompt."""

    name: str | None = None
    """File name; only its last part is used."""
    media_type: str | None = None
    """What the frontend thinks it is; the content decides."""
    base64: str
    """The bytes."""


class Prompt(SessionCommand, Traced):
    """Say something to the agent, also while it works."""

    type: Literal["prompt"]
    text: str = ""
    """The text; may be empty when there are attachments."""
    attachments: Annotated[list[Attachment], Field(fail_fast=True)] | None = None
    """Images and files."""
    priority: Priority = "next"
    """now: interrupt the running turn; next: join it when the CLI can; later: after it."""


class PromptWithdraw(SessionCommand):
    """Take back a prompt that still waits."""

    type: Literal["prompt.withdraw"]
    prompt: str
    """Its UUID, from the reply to `prompt` and the `queued` event."""


class Interrupt(SessionCommand):
    """Stop the running turn."""

    type: Literal["interrupt"]


class PermissionRespond(SessionCommand):
    """Answer a permission request. The first answer wins."""

    type: Literal["permission.respond"]
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


class QuestionAnswer(SessionCommand):
    """Answer a question_request. The first answer wins."""

    type: Literal["question.answer"]
    pending_id: str
    """The request."""
    answers: Annotated[dict[str, str | Annotated[list[str], Field(fail_fast=True)]], Few] | None = None
    """Question to answer or answers, of ask_user."""
    action: Literal["accept", "decline", "cancel"] = "accept"
    """Answer it, or not."""
    content: JsonValue = None
    """The answer, of an elicitation or a dialog."""
    message: str | None = None
    """What to tell the agent, on declining."""


class SetModel(SessionCommand):
    """Change the model."""

    type: Literal["set_model"]
    model: str | None = Field(default=None, max_length=NAME_LENGTH)
    """The model; the default one when absent."""


class SetPermissionMode(SessionCommand):
    """Change the CLI's permission mode."""

    type: Literal["set_permission_mode"]
    mode: str = Field(max_length=NAME_LENGTH)
    """default, acceptEdits, plan, bypassPermissions, …"""


class Control(SessionCommand):
    """Send any other control request to the CLI; the reply's result is its response."""

    type: Literal["control"]
    request: Annotated[JsonObject, AfterValidator(_with_subtype)]
    """With `subtype` and that subtype's fields."""


class PayloadGet(SessionCommand):
    """Ask for an event uncut, and the line it came from: result {event, raw}."""

    type: Literal["payload.get"]
    seq: int = Field(ge=1, le=LARGEST_NUMBER)
    """The event's place in the log."""


class EventsGet(SessionCommand):
    """Ask for a page of the log, beside what is followed: result {events, gap, seq, last, epoch}.

    `events` are `event` frames, in order and without holes, up to a MiB of them or one that is larger. `gap` ({from, to}) says which numbers
    before them are gone, null when none is. `seq` is where the page ends, and goes into `after` for the next one; there is none when it
    is `last`, the newest number of the log, or the one before `before`. So a frontend can `subscribe` close to the end of a long log
    (`after` is the `last_seq` of the session less what it wants to show first), and read what came before meanwhile.
    """

    type: Literal["events.get"]
    after: int = Field(default=0, ge=0, le=LARGEST_NUMBER)
    """Only numbers above this."""
    before: int = Field(default=LARGEST_NUMBER, ge=1, le=LARGEST_NUMBER)
    """Only numbers below this."""
    epoch: str | None = None
    """The epoch that these numbers belong to, from `welcome`; needed when `after` is not 0."""


class WorkspaceCommand(SessionCommand):
    """A command about the files in a session's workspace, as they are now, whoever wrote them."""


class WorkspaceDiff(WorkspaceCommand):
    """Ask git what differs in the workspace from the last commit, staged or not.

    Without a path: result {base, files, complete}. `base` is the commit, null before the first. `complete` is false where there are
    more files than are listed.

    Each file has `path`, from the workspace, and `old_path` where it was renamed or copied. `status` is added, copied, deleted, modified,
    renamed, retyped, unmerged or untracked. `added` and `removed` count lines, and are null where nobody counts them. `binary` is also
    true for a file that is too large to compare. `filtered` means that only a filter such as LFS could tell whether it differs.
    `version` changes whenever the file is written.

    With a path: result {patch, cut, binary}, the hunks of a unified diff. `cut` is true when there is more.
    """

    type: Literal["workspace.diff"]
    path: str | None = Field(default=None, min_length=1, max_length=PATH_LENGTH)
    """One of the files listed: what differs in it."""
    old_path: str | None = Field(default=None, min_length=1, max_length=PATH_LENGTH)
    """Its `old_path`, if it has one."""


class WorkspaceFiles(WorkspaceCommand):
    """Ask for files of the workspace whose names fit, the best first: result {files, complete}.

    What git ignores is left out, and links are not followed. `complete` is false where there are too many to look at.
    """

    type: Literal["workspace.files"]
    text: str = Field(default="", max_length=NAME_LENGTH)
    """Characters that a path has in this order, whatever their case."""
    limit: int = Field(default=20, ge=1, le=200)
    """How many."""


class LibraryCommand(Command):
    """A command about conversations that agents on the sidecar's machine have kept themselves; of a fleet, on all workers'."""

    worker: str | None = Field(default=None, max_length=NAME_LENGTH)
    """Of a fleet: name or label of the worker whose conversations are meant; all of them when absent."""


class LibraryList(LibraryCommand):
    """Ask for such conversations, the newest first: result {conversations, next, complete, version}.

    Each has `id`, `agent`, `folder`, `title`, `first_prompt`, `began`, `ended`, `turns`, `git_branch`, `model`, `version`, `bytes` and
    `branches`. Its costs are `cost_usd`, `cost_is_whole` and `estimated_usd`, the part that is estimated by the prices of models.
    `running` is true while somebody's CLI has it open. `session` is turnwire's own session with this conversation.

    `next` goes into `before` for the next page. The `cursor` of each conversation does the same for what follows it. `complete` is
    false during the first look at the folders. `version` changes with the list. With it as `known` the command waits for changes.

    The hub of a fleet asks its workers side by side. Each conversation then has `worker` too. `missing` names the workers that did
    not answer in time. There is no `version`. The same holds for `library.search` and `library.usage`; usage has no `worker`.
    """

    type: Literal["library.list"]
    limit: int = Field(default=100, ge=1, le=1000)
    """How many."""
    before: str | None = Field(default=None, max_length=NAME_LENGTH)
    """The `next` of the page before."""
    agent: str | None = Field(default=None, max_length=NAME_LENGTH)
    """Only those of an agent."""
    folder: str | None = Field(default=None, max_length=PATH_LENGTH)
    """Only those in a folder, and below it."""
    known: str | None = Field(default=None, max_length=NAME_LENGTH)
    """The `version` of the answer to the same command before: the reply comes when the list is another one, or after some 25 seconds."""
    conversation: str | None = Field(default=None, max_length=NAME_LENGTH)
    """Only the one of this id; refused with `unknown_conversation` where there is none."""


class LibrarySearch(LibraryCommand):
    """Search titles, prompts, texts, commands and paths of these conversations and of turnwire's own: result {hits, complete}.

    Each hit has `source` (library or live), `id`, `message`, `seq` (of live ones), `kind`, `title`, `folder`, `at`, and
    `snippet`: parts with `text` and `hit`.
    """

    type: Literal["library.search"]
    text: Annotated[str, Field(min_length=1, max_length=1000)]
    """Words, which must all be there; a phrase in double quotes."""
    limit: int = Field(default=50, ge=1, le=500)
    """How many hits."""
    agent: str | None = Field(default=None, max_length=NAME_LENGTH)
    """Only those of an agent."""
    folder: str | None = Field(default=None, max_length=PATH_LENGTH)
    """Only those in a folder, and below it."""


class LibraryOpen(LibraryCommand):
    """Open a conversation to be read: result {session}. Its log is filled from the file, and follows it while it grows.

    The next prompt goes on with it, as with `session.create` and its `resume`, if frontends may work in its folder and
    nobody's own CLI has it open.
    """

    type: Literal["library.open"]
    conversation: str = Field(max_length=NAME_LENGTH)
    """Its id."""


class LibraryRename(LibraryCommand):
    """Call a conversation otherwise; its file is left as it is."""

    type: Literal["library.rename"]
    conversation: str = Field(max_length=NAME_LENGTH)
    """Its id."""
    title: str | None = Field(default=None, min_length=1, max_length=NAME_LENGTH)
    """What to call it; as its agent does when absent."""


class LibraryExport(LibraryCommand):
    """Ask for a conversation as a document: result {name, content}."""

    type: Literal["library.export"]
    conversation: str = Field(max_length=NAME_LENGTH)
    """Its id; or `live:SESSION` for one of turnwire's own sessions."""
    format: Literal["markdown", "html"] = "markdown"
    """What to write."""
    redact: bool = False
    """Replace secrets, tokens, e-mail addresses and home paths."""


class LibraryUsage(LibraryCommand):
    """Ask what was used, of these conversations and of turnwire's own: result {usage, complete}.

    Each entry has `group`, `answers`, `input_tokens`, `output_tokens`, `cache_read_input_tokens`,
    `cache_creation_input_tokens`, `cost_usd`, `estimated_usd` (how much of that is an estimate) and `cost_is_whole`.
    """

    type: Literal["library.usage"]
    by: (
        Annotated[
            list[Literal["day", "week", "month", "block", "session", "project", "model", "agent"]],
            Field(fail_fast=True, max_length=8),
        ]
        | None
    ) = None
    """What to sum up by; the day when absent. A week is named by its Monday, a block of five hours by its beginning; all times are those
    of the hub's machine."""
    since: str | None = Field(default=None, pattern=r"^\d{4}-\d{2}-\d{2}$")
    """From this day on, in the time of the hub's machine."""
    until: str | None = Field(default=None, pattern=r"^\d{4}-\d{2}-\d{2}$")
    """Up to this day, included."""
    folder: str | None = Field(default=None, max_length=PATH_LENGTH)
    """Only in a folder, and below it."""


class PushCommand(Command):
    """A command about web push: what reaches a browser while no page of turnwire is open in it."""


class PushKey(PushCommand):
    """Ask for the key that a browser subscribes with: result {key}, its `applicationServerKey`."""

    type: Literal["push.key"]


class PushSubscribe(PushCommand):
    """Have a browser told of what any session asks, finishes or fails at, until it unsubscribes or the tokens are new."""

    type: Literal["push.subscribe"]
    endpoint: str = Field(max_length=2048)
    """Of its PushSubscription: https, of a push service that is known or that `push_services` names."""
    p256dh: str = Field(max_length=100)
    """Its public key, base64url."""
    auth: str = Field(max_length=40)
    """Its secret, base64url."""


class PushUnsubscribe(PushCommand):
    """Tell a browser nothing more: result {subscribed}, whether it was."""

    type: Literal["push.unsubscribe"]
    endpoint: str = Field(max_length=2048)
    """Of its PushSubscription."""


class AccessInvite(Command):
    """Ask for a code that logs one more browser in, such as a phone's: result {code, seconds}. Good once, in the place of a token."""

    type: Literal["access.invite"]
    role: Role = "view"
    """What it may do."""


class ReplayControl(SessionCommand):
    """Steer a session that plays a recording."""

    type: Literal["replay.control"]
    action: Literal["play", "pause", "seek"]
    """What to do."""
    speed: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Times the recorded pace."""
    position: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)
    """Where to, of seek: share of the recording."""


AnyCommand = Annotated[
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
    | ReplayControl,
    Field(discriminator="type"),
]

commands: TypeAdapter[AnyCommand] = TypeAdapter(AnyCommand, config=ConfigDict(defer_build=True))
"""Validates commands and gives their JSON Schema."""


def fields_of_commands() -> Mapping[str, frozenset[str]]:
    """Return the names of each command's fields, by its `type`."""
    models: tuple[type[Command], ...] = get_args(get_args(AnyCommand)[0])
    return {
        kind: frozenset(model.model_fields)
        for model in models
        for kind in get_args(model.model_fields["type"].annotation)
    }
