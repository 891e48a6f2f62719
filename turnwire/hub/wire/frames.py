"""The frames between a frontend and the hub: text frames of one JSON object each.

A command has an `id` and gets exactly one `reply`. Events travel in envelopes (normalize/events/envelope.py).
`turnwire/hub/wire/frames_out.py` has the frames that the hub sends.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, ConfigDict, Field, JsonValue, TypeAdapter
from pydantic_core import PydanticCustomError

from turnwire.hub.wire.agent_options import LARGEST_NUMBER, AgentOptions, Few, JsonObject, Received
from turnwire.normalize.common.deciders import is_reserved
from turnwire.normalize.vocabulary import Policy, Priority, Role, SandboxLevel

NAME_LENGTH = 200
"""Most characters of a name. Each list of sessions sends it to every frontend."""
PATH_LENGTH = 4096
"""Most characters of a path: Linux's limit."""
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
    connection: the command runs once, and every copy gets its first reply.
    """


class SessionCommand(Command):
    """A command about one session."""

    session: str = Field(max_length=NAME_LENGTH)
    """turnwire's session id, as in `welcome` and `sessions`."""


class Traced(Command):
    """A command whose spans belong to the caller's trace (W3C Trace Context and Baggage)."""

    traceparent: str | None = Field(default=None, pattern=TRACEPARENT)
    """The caller's span, version 00; ours is a child of it."""
    tracestate: str | None = Field(default=None, max_length=TRACE_LENGTH, pattern=PRINTABLE)
    """Further trace data of vendors."""
    baggage: str | None = Field(default=None, max_length=BAGGAGE_LENGTH, pattern=PRINTABLE)
    """Key-value pairs of the trace. The agent and span processors get them."""


class Hello(Command):
    """The first frame of a frontend that can send no header: its token, and its name."""

    type: Literal["hello"]
    token: str | None = None
    """The access token."""
    name: Annotated[str, Field(min_length=1, max_length=NAME), AfterValidator(_name)] | None = None
    """Shown as `by` in this frontend's decisions. A principal decides as `user:NAME`, whatever the name. Printable, without a
    colon: names
    with one belong to policies, rules, hooks and turnwire. Names that turnwire gives (`frontend-1`) are refused. The reply
    contains the name as shown:
    no other frontend has it, and at the hub of a fleet it ends with `@` and the hub's own tag.
    """


class Ping(Command):
    """Ask for a reply and nothing else: a frontend that can send no WebSocket ping finds out whether the connection lives."""

    type: Literal["ping"]


class Subscribe(SessionCommand):
    """Replay the events after the cursor, then continue live, without gap or repetition."""

    type: Literal["subscribe"]
    after: int = Field(default=0, ge=0, le=LARGEST_NUMBER)
    """The last seq the frontend has; 0 for all."""
    epoch: str | None = None
    """The epoch that seq belongs to, from `welcome`; needed when `after` is not 0."""


class Unsubscribe(SessionCommand):
    """Send no more of this session."""

    type: Literal["unsubscribe"]


class NewWorktree(Received):
    """A new git worktree for a session."""

    model_config = ConfigDict(extra="forbid")

    branch: str | None = Field(default=None, min_length=1, max_length=NAME_LENGTH)
    """Name of the new branch; turnwire chooses one when absent."""
    base: str | None = Field(default=None, min_length=1, max_length=NAME_LENGTH)
    """The branch or commit that the worktree starts from. Default: what the workspace has checked out."""


class SessionCreate(Traced):
    """Start a CLI in a workspace. A trace context given here is also that of the first prompt."""

    type: Literal["session.create"]
    workspace: str | None = Field(default=None, max_length=PATH_LENGTH)
    """Directory the CLI runs in, below one of `frontend_workspaces`; the sidecar's own when absent."""
    worktree: NewWorktree | None = None
    """Work in a new git worktree of the repository that `workspace` is in; refused unless the setting `worktrees` names a place for them."""
    agent: str | None = Field(default=None, max_length=NAME_LENGTH)
    """Which configured agent; the default one when absent."""
    model: str | None = Field(default=None, max_length=NAME_LENGTH)
    """Model to use."""
    policy: Policy | None = None
    """Permission policy, none looser than `frontend_policy`."""
    sandbox: SandboxLevel | None = None
    """What the sandbox denies the agent, not weaker than `sandbox_floor`. Default: as configured. A session is refused if its
    sandbox is unavailable."""
    permission_mode: str | None = Field(default=None, max_length=NAME_LENGTH)
    """The CLI's own permission mode."""
    mcp_servers: JsonObject | None = None
    """MCP servers as in `--mcp-config`, where `frontend_options` lets frontends choose them."""
    options: Annotated[AgentOptions, Few] | None = None
    """Further options for the start of the CLI. Defaults are as configured. None may permit more unless `frontend_options` allows
    it."""
    env: Annotated[dict[str, str], Few] | None = None
    """Additional environment of the CLI; only names of `frontend_env`."""
    title: str | None = Field(default=None, max_length=NAME_LENGTH)
    """Title of the session."""
    worker: str | None = Field(default=None, max_length=NAME_LENGTH)
    """In a fleet: name or label of the worker that runs the session. Default: the worker with the most room."""
    prompt: str | None = None
    """First prompt."""
    resume: str | None = Field(default=None, max_length=NAME_LENGTH)
    """A conversation that `library.list` names. The session starts with all of it in its log, in the conversation's folder, and
    the
    next prompt starts a CLI that continues it.
    """


class SessionList(Command):
    """Ask for all sessions; the reply's result has them."""

    type: Literal["session.list"]


class SessionResume(SessionCommand):
    """Start a CLI that continues this session's conversation."""

    type: Literal["session.resume"]
    at: str | None = None
    """Message to go back to: a `resume_token` or `last_message_uuid` of a `complete`, or a message's UUID. Default: the
    end. An unknown message is refused, and a running CLI continues. CLI 2.0.14 can go back to texts of the agent only (name
    the `complete` that they ended, or a `message_id`), 1.0 to no message.
    """


class SessionFork(SessionCommand):
    """Start a new session with this one's conversation."""

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
    """The new title."""


class SessionClose(SessionCommand):
    """Stop the session's CLI; its events stay."""

    type: Literal["session.close"]


class SessionMove(SessionCommand):
    """Have another worker of a fleet go on with the session: one of the same `worker_group`. Refused while a turn is open."""

    type: Literal["session.move"]
    worker: Annotated[str, Field(min_length=1, max_length=NAME_LENGTH)] | None = None
    """Name or label of the worker that takes it; the one with most room when absent."""


class SessionDelete(SessionCommand):
    """Stop the session's CLI and forget the session: its record, its events, its attachments."""

    type: Literal["session.delete"]


class NativeBegin(SessionCommand):
    """Hand the conversation over to the agent's own interface, in a terminal of the sidecar's machine.

    Without `ticket` nothing is done: result {door}, the path of a Unix socket. The process that is to run the interface connects to
    it and reads one line, its ticket. With that: ends the session's CLI, which must be idle. Result {argv, workspace, agent}: what to run
    there. From then on the session follows the conversation's file, `in_terminal` of the list names the host, and prompts wait. The hand-over
    ends with the interface, or with that process before it has started one. Sent again by the same process, it says which program runs.
    """

    type: Literal["native.begin"]
    host: Annotated[str, Field(min_length=1, max_length=NAME_LENGTH), AfterValidator(_name)]
    """What to call the terminal's machine."""
    ticket: str | None = Field(default=None, max_length=NAME_LENGTH)
    """What the process has read from `door`. It shows which process of the machine asks."""
    program: int | None = Field(default=None, ge=1, le=LARGEST_NUMBER)
    """The process of the interface itself, once it runs: one that the process with the ticket has started."""
    end_background: bool = False
    """Also end what the agent runs in the background; otherwise that is refused with `background_work`, which names it."""
    new: bool = False
    """Run the interface with the arguments of the person alone, in a session without a conversation."""


class NativeEnd(SessionCommand):
    """Wait until frontends lead the conversation again, after the end of the agent's own interface. Prompts that waited are sent.

    Refused with `in_terminal` while the interface runs.
    """

    type: Literal["native.end"]
    ticket: str | None = Field(default=None, max_length=NAME_LENGTH)
    """A ticket of the process that began it: it has started no interface, and will not."""


class NativeTakeBack(SessionCommand):
    """Have the agent's own interface ended, after its turn: the conversation is led by frontends again."""

    type: Literal["native.take_back"]
    now: bool = False
    """In the middle of its turn, too."""


class Attachment(Received):
    """A file attached to a prompt."""

    name: str | None = None
    """File name; only its last part is used."""
    media_type: str | None = None
    """The frontend's guess of its type. turnwire decides by the content."""
    base64: str
    """The bytes."""


class Prompt(SessionCommand, Traced):
    """Say something to the agent, also while it works. A UUID as `id` becomes the prompt's, which is said once however often it is sent."""

    type: Literal["prompt"]
    text: str = ""
    """The text. May be empty if there are attachments."""
    attachments: Annotated[list[Attachment], Field(fail_fast=True)] | None = None
    """Images and files."""
    priority: Priority = "next"
    """now: interrupt the running turn; next: join it when the CLI can; later: after it."""


class PromptWithdraw(SessionCommand):
    """Take back a waiting prompt."""

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
    """A message to the agent, for a rejection."""
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
    """A message to the agent, for a refused question."""


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
    """Get a page of the log, independent of subscriptions: result {events, gap, seq, last, epoch}.

    `events` are `event` frames, in order and without holes, up to one MiB or one larger event. `gap` ({from, to}) names the
    deleted numbers
    before them; null if there are none. `seq` is the end of the page, for `after` of the next one. There is no next page when
    it
    equals `last`, the newest number of the log, or the number before `before`. So a frontend can `subscribe` close to the end
    of a long log
    (`after` is the session's `last_seq` minus what it shows first) and fetch earlier events meanwhile.
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
    """A listed file: get its changes."""
    old_path: str | None = Field(default=None, min_length=1, max_length=PATH_LENGTH)
    """Its `old_path`, if it has one."""
    against: Literal["commit", "base"] = "commit"
    """`base`, of a session in a worktree: compare with where its branch left its base, so that its commits are shown too."""


class WorkspaceRevert(SessionCommand):
    """Take back the uncommitted changes of a file, or one hunk of them: result {backup, restore}.

    `backup` is the id of the git object with the file's content before, and `restore` the command that writes it back. Both are null for
    a file that was deleted. A new file is removed.
    """

    type: Literal["workspace.revert"]
    path: str = Field(min_length=1, max_length=PATH_LENGTH)
    """One of the files that `workspace.diff` lists."""
    old_path: str | None = Field(default=None, min_length=1, max_length=PATH_LENGTH)
    """Its `old_path`, if it has one."""
    version: str | None = Field(default=None, max_length=NAME_LENGTH)
    """Its `version` there; refused with `changed` where the file was written since. Needed for a file that has one."""
    hunk: str | None = Field(default=None, min_length=1, max_length=1 << 20)
    """One hunk as in `patch`, from its `@@` line on; the whole file when absent."""


class WorkspaceFiles(WorkspaceCommand):
    """Ask for files of the workspace whose names fit, the best first: result {files, complete}.

    What git ignores is left out, and links are not followed. `complete` is false where there are too many to look at.
    """

    type: Literal["workspace.files"]
    text: str = Field(default="", max_length=NAME_LENGTH)
    """Characters that a path has in this order, whatever their case."""
    limit: int = Field(default=20, ge=1, le=200)
    """How many."""


class WorkspaceList(WorkspaceCommand):
    """List a folder of the workspace: result {entries, complete}, folders first.

    Each entry has `name`, `kind` (`folder`, `file`, `link`, `other`) and `size`, which is null but for files. `complete` is false where
    there are more than 2000. `.git`, `.turnwire`, turnwire's own state and folders with keys are left out.
    """

    type: Literal["workspace.list"]
    path: str = Field(default="", max_length=PATH_LENGTH)
    """From the workspace; the workspace itself when empty. A link may not lead out of it."""


class WorkspaceRead(WorkspaceCommand):
    """Read a file of the workspace: result {size, text, media_type, base64, cut}.

    `text` is null of a file that is no UTF-8. `media_type` and `base64` are of a PNG, JPEG, GIF or WebP image up to 4 MiB, else null. `cut` is
    true where there is more: `text` ends after 1 MiB. Pipes, devices and files of the kernel are refused with `unknown_file`.
    """

    type: Literal["workspace.read"]
    path: str = Field(min_length=1, max_length=PATH_LENGTH)
    """From the workspace. A link may not lead out of it."""


class WorktreeCommand(SessionCommand):
    """A command about the git worktree that turnwire made for a session."""


class WorktreeStatus(WorktreeCommand):
    """Ask how a session's worktree stands: result {path, repository, branch, base, ahead, behind, uncommitted, conflicts, remote, pushed}.

    `base` is the branch that it started from, or null where it was a commit. `ahead` and `behind` count commits between branch and base.
    `uncommitted` lists the files that differ from the last commit, at most 200. `conflicts` lists the files that a merge into the base could
    not join. `remote` is the name of the remote that `push` sends to, or null. `pushed` is true when the remote has every commit.
    """

    type: Literal["worktree.status"]


class WorktreeAct(WorktreeCommand):
    """Do something with a session's worktree, after a preview.

    Without `plan` nothing is done: result {plan, does, commands, warnings, refusal}. `does` has sentences that say what will be done. `commands`
    are the same as commands of git. `warnings` has what a person should know before. `refusal` says why it cannot be done and what to do, and
    is null where it can. With the `plan` of a preview it is done: result {done, output, backup}. `done` has sentences, `output` what git
    said, `backup` the name under which the state before is kept, or null. `discard` copies files that git ignores into the state directory, and
    `done` says where; more than 50 MB are refused. Where the worktree or its base has changed since the preview, it
    is refused with `changed`.
    """

    type: Literal["worktree.act"]
    action: Literal["commit", "merge", "rebase", "push", "pull_request", "discard"]
    """`commit` takes all changes. `merge` joins the branch into its base, `rebase` moves it onto its base. `push` sends it. `pull_request` gives the
    command of `gh` and runs nothing. `discard` removes the worktree and its branch, of a session whose agent does not run."""
    message: str | None = Field(default=None, min_length=1, max_length=1 << 16)
    """Of `commit`: the message. Of `pull_request`: the title."""
    plan: str | None = Field(default=None, min_length=1, max_length=NAME_LENGTH)
    """The `plan` of the preview that a person has agreed to."""


class WorktreeList(Command):
    """List the worktrees that turnwire made here: result {place, worktrees}; refused with `no_worktrees` if the setting is off.

    Each has `path`, `repository`, `branch` (null when detached) and `sessions` (ids). `unsaved` has sentences about work that would be lost.
    `ignored` names at most 200 files that git ignores, and `keeps` has sentences about where they are kept. `removable` is true without a
    session and without unsaved work.
    """

    type: Literal["worktree.list"]


class WorktreeRemove(Command):
    """Remove a worktree that no session uses: result {path, branch, backup, left}. Refused if it has work that is saved nowhere else.

    Its branch stays. Files that git ignores are copied to the folder `backup`, in the state directory, unless a build makes them again. More
    than 50 MB are refused. Somebody who writes into the worktree meanwhile has it refused with `changed`.
    """

    type: Literal["worktree.remove"]
    path: str = Field(min_length=1, max_length=PATH_LENGTH)
    """As `worktree.list` has it."""


class PortCommand(SessionCommand):
    """A command about servers that an agent in the sandbox `network` has started: they listen in its own network."""


class PortList(PortCommand):
    """Ask which ports servers listen on in a session's sandbox: result {ports}, each with `port` and `open`."""

    type: Literal["port.list"]


class PortOpen(PortCommand):
    """Let a browser reach a port of a session's sandbox, on an origin of its own: result {url, port, path}.

    `url` is for a browser on the hub's machine. Elsewhere it is `http://HOST:` with the host that reaches the hub, then `port`
    and `path`. It admits
    one browser, once. The browser's rights follow the frontend's role: `view` may only read (GET and HEAD).
    """

    type: Literal["port.open"]
    port: int = Field(ge=1, le=65535)
    """Where the server listens in the sandbox, on 127.0.0.1 or ::1."""


class PortClose(PortCommand):
    """Close a port of a session's sandbox to browsers."""

    type: Literal["port.close"]
    port: int = Field(ge=1, le=65535)
    """Which."""


class ShellCommand(SessionCommand):
    """A command about a shell in a session's workspace. Only for frontends that control and may see all sessions."""


class ShellOpen(ShellCommand):
    """Open a shell in a session's workspace, and in its sandbox if it has one: result {shell}. Needs the setting `shell`.

    Its output comes as `shell_output` frames, to this connection alone, and is not journaled. The hub sends 32 of them ahead of `shell.ack`;
    then the shell waits. It ends with its exit, with the session's agent or with the connection, and all that it has started ends with it.
    """

    type: Literal["shell.open"]
    columns: int = Field(default=80, ge=1, le=1000)
    """Characters of a line."""
    rows: int = Field(default=24, ge=1, le=1000)
    """Lines."""


class ShellAct(ShellCommand):
    """A command about an open shell."""

    shell: str = Field(max_length=NAME_LENGTH)
    """The shell, from the reply to `shell.open`."""


class ShellWrite(ShellAct):
    """Type into a shell. Refused with `rate_limited` while it has not read 64 KiB."""

    type: Literal["shell.write"]
    text: str = Field(max_length=1 << 14)
    """What is typed, control characters included."""


class ShellResize(ShellAct):
    """Tell a shell the size of its terminal."""

    type: Literal["shell.resize"]
    columns: int = Field(ge=1, le=1000)
    """Characters of a line."""
    rows: int = Field(ge=1, le=1000)
    """Lines."""


class ShellAck(ShellAct):
    """Say that output was shown, so that more is sent."""

    type: Literal["shell.ack"]
    number: int = Field(ge=0, le=LARGEST_NUMBER)
    """`number` of the last `shell_output` that was shown."""


class ShellClose(ShellAct):
    """End a shell, and all that it has started."""

    type: Literal["shell.close"]


class WorkspaceFolders(Command):
    """Ask for the folders in which a session can begin.

    Result {path, parent, folders, complete}. Without a path `folders` are those that frontends may choose from, with all below them, and
    `path` and `parent` are null. With one, `folders` are the paths of the folders in it, and `parent` is the folder above it, null where
    that may not be chosen. Hidden folders are left out. `complete` is false where there are more than 500.
    """

    type: Literal["workspace.folders"]
    path: str | None = Field(default=None, min_length=1, max_length=PATH_LENGTH)
    """A folder that may be chosen."""


class LibraryCommand(Command):
    """A command about conversations in agents' own files on the sidecar's machine; in a fleet, on all workers."""

    worker: str | None = Field(default=None, max_length=NAME_LENGTH)
    """In a fleet: name or label of the worker with the conversations. Default: all workers."""


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
    """Only conversations of this agent."""
    folder: str | None = Field(default=None, max_length=PATH_LENGTH)
    """Only conversations in this folder and below."""
    known: str | None = Field(default=None, max_length=NAME_LENGTH)
    """The `version` of an earlier answer to the same command. The reply waits until the list has changed, at most about 25
    seconds."""
    conversation: str | None = Field(default=None, max_length=NAME_LENGTH)
    """Only the conversation with this id. Refused with `unknown_conversation` if there is none."""


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
    """Only conversations of this agent."""
    folder: str | None = Field(default=None, max_length=PATH_LENGTH)
    """Only conversations in this folder and below."""


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
    """Title of the session. Default: the agent's own title."""


class LibraryExport(LibraryCommand):
    """Ask for a conversation as a document: result {name, content}."""

    type: Literal["library.export"]
    conversation: str = Field(max_length=NAME_LENGTH)
    """Its id; or `live:SESSION` for one of turnwire's own sessions."""
    format: Literal["markdown", "html"] = "markdown"
    """The output format."""
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
    """The grouping. Default: by day. A week is named by its Monday, a block of five hours by its beginning. All times are
    local to the hub's machine.
    """
    since: str | None = Field(default=None, pattern=r"^\d{4}-\d{2}-\d{2}$")
    """From this day on, in the time of the hub's machine."""
    until: str | None = Field(default=None, pattern=r"^\d{4}-\d{2}-\d{2}$")
    """Up to this day, included."""
    folder: str | None = Field(default=None, max_length=PATH_LENGTH)
    """Only in a folder, and below it."""


class PushCommand(Command):
    """A command about web push: notifications for a browser without an open page of turnwire."""


class PushKey(PushCommand):
    """Ask for the key that a browser subscribes with: result {key}, its `applicationServerKey`."""

    type: Literal["push.key"]


class PushSubscribe(PushCommand):
    """Notify a browser when any session asks, finishes or fails, until it unsubscribes or the tokens change."""

    type: Literal["push.subscribe"]
    endpoint: str = Field(max_length=2048)
    """The endpoint of its PushSubscription: https, of a known push service or one that `push_services` names."""
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
    """Get a code that logs in one more browser, for example on a phone: result {code, seconds}. The code replaces a token, once."""

    type: Literal["access.invite"]
    role: Role = "view"
    """The browser's rights."""


class FleetCommand(Command):
    """A command of an operator to the hub of a fleet. It needs a token of the role admin (`turnwire token create NAME --role admin`)."""


class FleetList(FleetCommand):
    """List the workers of the fleet: result {redis, epoch, round_trip_s, workers}."""

    type: Literal["fleet.list"]


class FleetLead(FleetCommand):
    """Lead a worker. `fleet.list` shows what comes of it. Refused with `no_worker` if it is not there."""

    type: Literal["fleet.lead"]
    worker: str
    """Name of the worker."""
    action: Literal["cordon", "uncordon", "drain"]
    """`cordon`: it gets no new sessions. `uncordon`: it gets some again. `drain`: its turns end, its sessions go to its group, then it ends."""


class FleetTake(FleetCommand):
    """Have a worker take a session by force, from a worker that does not let go. What that one still writes of it is refused."""

    type: Literal["fleet.take"]
    session: str
    """The session."""
    worker: str
    """Name of the worker that takes it. It must be in the group of the other one."""


class ReplayControl(SessionCommand):
    """Steer a session that plays a recording."""

    type: Literal["replay.control"]
    action: Literal["play", "pause", "seek"]
    """The action."""
    speed: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Times the recorded pace."""
    position: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)
    """Where to, of seek: share of the recording."""


AnyCommand = Annotated[
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
