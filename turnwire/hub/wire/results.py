"""What the reply to each command has as its `result`, by the command's `type`: `turnwire schema results` and the clients' types.

Results are built as JSON where a command is done; these are their shapes. A field without a default is always there and may be
null. A field with a default is there only where its text says so.
"""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import UNSET, UnsetType, field

from turnwire.hub.wire.frames_out import EventFrame, SessionSummary
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.model import JsonObject, Published
from turnwire.normalize.vocabulary import Role


class HelloResult(Published, frozen=True, kw_only=True):
    """How the hub knows this frontend."""

    name: str
    """Shown as `by` in the decisions it takes."""
    role: Role
    """What it may do."""


class SubscribeResult(Published, frozen=True, kw_only=True):
    """A session is followed."""

    epoch: str
    """The life of the log, which goes with every cursor."""
    last: int
    """Newest number of the log."""


class UnsubscribeResult(Published, frozen=True, kw_only=True):
    """Something is told no more."""

    subscribed: bool
    """Whether it was told before."""


class SessionResult(Published, frozen=True, kw_only=True):
    """The session that began, or goes on."""

    session: str
    """Its id."""


class FleetWorker(Published, frozen=True, kw_only=True):
    """A worker of the fleet."""

    worker: str
    """Its name."""
    state: str
    """`serving`, `cordoned`, `draining`; `gone` where it has no lease; `unknown` where this release cannot read what it says."""
    wish: str
    """What an operator wants of it: `cordon`, `drain`, or empty."""
    host: str
    """What its machine calls itself."""
    version: str
    """turnwire's."""
    group: str | None
    """Whose workers see the same files."""
    labels: list[str]
    """By what frontends may choose it."""
    archive: str
    """Id of the directory with the events of its quiet sessions; empty where it moves none."""
    lease_left_s: float
    """Seconds that its lease is good unless it is renewed."""
    sessions: int
    """How many sessions are its own, also of one that is gone."""
    max_sessions: int
    """How many it may have."""
    processes: int
    """How many agents run."""
    orders: int
    """Commands that it has not answered yet."""


class FleetListing(Published, frozen=True, kw_only=True):
    """The workers of a fleet."""

    redis: str
    """Address without a password."""
    epoch: str
    """The life of the logs; empty before the first one."""
    round_trip_s: float
    """How long Redis took to answer, in seconds."""
    workers: list[FleetWorker]
    """All that were ever there, by name, unless `turnwire fleet forget` has removed them."""


class MoveResult(Published, frozen=True, kw_only=True):
    """Where the session goes on."""

    worker: str
    """Name of the worker that has it."""


class NativeProgram(Published, frozen=True, kw_only=True):
    """What to run in the terminal. Nothing is in it where the process that began it says which program runs."""

    door: str | UnsetType = UNSET
    """The Unix socket where the process that is to run it gets a ticket. Alone, of a command without one."""
    argv: list[str] | UnsetType = UNSET
    """The agent's own interface, with its arguments."""
    workspace: str | UnsetType = UNSET
    """The folder to run it in."""
    agent: str | UnsetType = UNSET
    """Which agent it is."""


class PromptResult(Published, frozen=True, kw_only=True):
    """A prompt was sent."""

    prompt: str
    """Its UUID: `queued` and `complete` name it."""


class WithdrawalResult(Published, frozen=True, kw_only=True):
    """Whether a prompt was taken back."""

    withdrawn: bool
    """False when it no longer waited."""


class WholePayload(Published, frozen=True, kw_only=True):
    """An event uncut, and the line it came from."""

    event: AgentEvent
    """The event."""
    raw: str | None
    """The line; null where it is not kept."""


class PageGap(Published, frozen=True, kw_only=True):
    """Numbers of a log that are gone."""

    first: int = field(name="from")
    """First number that is gone."""
    last: int = field(name="to")
    """Last number that is gone."""


class EventsPage(Published, frozen=True, kw_only=True):
    """A page of a session's log."""

    events: list[EventFrame]
    """In order, without holes."""
    gap: PageGap | None
    """Numbers before these events that are gone; null when none is."""
    seq: int
    """Where the page ends: `after` of the next page. There is none when it is `last`."""
    last: int
    """The newest number of the log, or the one before `before`."""
    epoch: str
    """The life of the log."""


class ChangedFile(Published, frozen=True, kw_only=True):
    """A file of a workspace that differs from the last commit."""

    path: str
    """From the workspace."""
    status: Literal["added", "copied", "deleted", "modified", "renamed", "retyped", "unmerged", "untracked"]
    """How it differs."""
    old_path: str | None
    """The old path of a renamed or copied file."""
    added: int | None
    """Lines; null where nobody counted them."""
    removed: int | None
    """Lines; null where nobody counted them."""
    binary: bool
    """A binary file, or one that is too large to compare."""
    filtered: bool
    """Only a filter such as LFS could tell whether it differs."""
    version: str | None
    """Another one whenever the file was written; null when there is none."""


class WorkspaceDifference(Published, frozen=True, kw_only=True):
    """What differs in a workspace from the last commit; of a command with a path, what differs in that file."""

    base: str | UnsetType | None = UNSET
    """Without a path: that commit; null before the first."""
    files: list[ChangedFile] | UnsetType = UNSET
    """Without a path: what differs, by path."""
    complete: bool | UnsetType = UNSET
    """Without a path: whether these are all."""
    patch: str | UnsetType = UNSET
    """With a path: the hunks of a unified diff."""
    cut: bool | UnsetType = UNSET
    """With a path: whether there is more."""
    binary: bool | UnsetType = UNSET
    """With a path: a binary file, or one that is too large to compare."""


class WorkspaceNames(Published, frozen=True, kw_only=True):
    """Files whose names fit."""

    files: list[str]
    """Paths from the workspace, the best first."""
    complete: bool
    """False where there are too many files to look at."""


class WorkspaceEntry(Published, frozen=True, kw_only=True):
    """What is in a folder of a workspace."""

    name: str
    """Its own name."""
    kind: Literal["folder", "file", "link", "other"]
    """A link may lead to a folder or a file, or out of the workspace."""
    size: int | None
    """Bytes of a file."""


class WorkspaceFolder(Published, frozen=True, kw_only=True):
    """A folder of a workspace."""

    entries: list[WorkspaceEntry]
    """Folders first, by name."""
    complete: bool
    """False where there are more."""


class WorkspaceContent(Published, frozen=True, kw_only=True):
    """What is in a file of a workspace."""

    size: int
    """Bytes."""
    text: str | None
    """Its text; null of a file that is no UTF-8."""
    media_type: str | None
    """The type of an image; null of other files, and of one that is too large."""
    base64: str | None
    """The bytes of an image."""
    cut: bool
    """Whether there is more than is sent."""


class WorkspaceFolderList(Published, frozen=True, kw_only=True):
    """Folders that a session may begin in."""

    path: str | None
    """The folder that was asked for; null of a command without a path."""
    parent: str | None
    """The folder above it; null where that may not be chosen."""
    folders: list[str]
    """Paths, at most 500."""
    complete: bool
    """False where there are more."""


class RevertResult(Published, frozen=True, kw_only=True):
    """Changes of a file were taken back."""

    backup: str | None
    """Id of the git object with the content before; null for a file that was deleted."""
    restore: str | None
    """The command that writes it back, in the workspace."""


class WorktreeStanding(Published, frozen=True, kw_only=True):
    """How a session's worktree stands."""

    path: str
    """Its folder."""
    repository: str
    """The folder that the session was asked for."""
    branch: str | None
    """What is checked out; null when detached."""
    base: str | None
    """The branch that it started from; null where that was a commit, or the branch is gone."""
    ahead: int
    """Commits that the base has not."""
    behind: int
    """Commits that only the base has."""
    uncommitted: list[str]
    """Files that differ from the last commit, at most 200."""
    conflicts: list[str]
    """Files that a merge into the base could not join."""
    remote: str | None
    """Name of the remote that `push` sends to."""
    pushed: bool
    """Whether the remote has every commit."""


class WorktreeOutcome(Published, frozen=True, kw_only=True):
    """Without `plan` a preview, with it what was done."""

    plan: str | UnsetType = UNSET
    """Of a preview: what to send back to have it done."""
    does: list[str] | UnsetType = UNSET
    """Of a preview: sentences that say what will be done."""
    commands: list[str] | UnsetType = UNSET
    """Of a preview: the same as commands of git."""
    warnings: list[str] | UnsetType = UNSET
    """Of a preview: what to know before."""
    refusal: str | UnsetType | None = UNSET
    """Of a preview: why it cannot be done, and what to do; null where it can."""
    done: list[str] | UnsetType = UNSET
    """What was done, as sentences."""
    output: str | UnsetType = UNSET
    """What git said."""
    backup: str | UnsetType | None = UNSET
    """The commit or ref with the state before; null where there is none."""


class ListedWorktree(Published, frozen=True, kw_only=True):
    """A worktree that turnwire made."""

    path: str
    """Its folder."""
    repository: str
    """The main working tree of its repository, or the bare repository."""
    branch: str | None
    """What is checked out; null when detached."""
    unsaved: list[str]
    """What would be lost by removing it, as sentences."""
    ignored: list[str]
    """Files that git ignores, and folders among them that a build makes again: at most 200."""
    keeps: list[str]
    """What becomes of these when it is removed, as sentences."""
    sessions: list[str]
    """Ids of the sessions that use it."""
    removable: bool
    """Whether no session uses it and nothing would be lost."""


class WorktreeListing(Published, frozen=True, kw_only=True):
    """The worktrees that turnwire made here."""

    place: str
    """The folder that the setting `worktrees` names."""
    worktrees: list[ListedWorktree]
    """By path."""


class RemovedWorktree(Published, frozen=True, kw_only=True):
    """A worktree was removed."""

    path: str
    """Its folder."""
    branch: str | None
    """Its branch, which stays."""
    backup: str | None
    """The folder that has copies of the files that git ignores; null where there were none."""
    left: str | None
    """What could not be deleted, as a sentence; null where all was."""


class SandboxPort(Published, frozen=True, kw_only=True):
    """A port that a server in a sandbox listens on."""

    port: int
    """Which."""
    open: bool
    """Whether browsers may reach it."""


class SandboxPortList(Published, frozen=True, kw_only=True):
    """The ports of a session's sandbox."""

    ports: list[SandboxPort]
    """By number."""


class OpenedPort(Published, frozen=True, kw_only=True):
    """A link to a port of a sandbox."""

    url: str
    """For a browser on the hub's machine."""
    port: int
    """Where turnwire serves it."""
    path: str
    """Path and query of the link, which is good once."""


class ListedConversation(Published, frozen=True, kw_only=True):
    """A conversation that an agent has kept."""

    id: str
    """Its id."""
    agent: str
    """The agent that kept it."""
    folder: str | None
    """Where it was held."""
    title: str
    """What to call it."""
    named: bool
    """Whether a human or its agent gave it that title."""
    first_prompt: str | None
    """Its first prompt, shortened."""
    began: str | None
    """RFC 3339."""
    ended: str | None
    """RFC 3339."""
    turns: int | None
    """How many."""
    cost_usd: float | None
    """Dollars, as far as they are known or can be estimated."""
    estimated_usd: float
    """The part of the cost that is an estimate by the prices of models."""
    cost_is_whole: bool
    """False: it cost that much, or more."""
    git_branch: str | None
    """The branch it was held on."""
    model: str | None
    """The main model."""
    version: str | None
    """The agent's version."""
    bytes: int
    """Size of its file."""
    branches: int
    """How many branches its file has."""
    running: bool
    """Somebody's CLI has it open."""
    session: str | None
    """turnwire's own session with it."""
    cursor: str
    """Goes into `before` for what follows it."""
    worker: str | None = None
    """Of a fleet: the worker that has it."""


class ConversationList(Published, frozen=True, kw_only=True):
    """A page of conversations, the newest first."""

    conversations: list[ListedConversation]
    """The conversations."""
    next: str | None
    """Goes into `before` for the next page; null of the last page."""
    complete: bool
    """False during the first look at the folders, or where a worker did not answer in time."""
    version: str | None = None
    """Another one with each other list. Not of a fleet."""
    missing: list[str] | None = None
    """Of a fleet: workers that did not answer in time."""


class SnippetPart(Published, frozen=True, kw_only=True):
    """A part of a text in which something was found."""

    text: str
    """The text."""
    hit: bool
    """Whether it is what was searched."""


class SearchHit(Published, frozen=True, kw_only=True):
    """Where a text was found."""

    source: Literal["library", "live"]
    """In a kept conversation, or in a session of turnwire's own."""
    id: str
    """The conversation's id, or the session's."""
    message: str | None
    """The message it is in."""
    seq: int | None
    """Its number in the log of a live session."""
    kind: str
    """What it is: title, prompt, text, command, path."""
    title: str | None
    """What the conversation is called."""
    folder: str | None
    """Where it was held."""
    at: str | None
    """RFC 3339."""
    snippet: list[SnippetPart]
    """The text around it."""
    worker: str | None = None
    """Of a fleet: the worker that has it."""


class SearchHits(Published, frozen=True, kw_only=True):
    """What a search has found."""

    hits: list[SearchHit]
    """The best first."""
    complete: bool
    """False during the first look at the folders, or where a worker did not answer in time."""
    missing: list[str] | None = None
    """Of a fleet: workers that did not answer in time."""


class ExportedDocument(Published, frozen=True, kw_only=True):
    """A conversation as a document."""

    name: str
    """A file name for it."""
    content: str
    """The document."""


class UsageSum(Published, frozen=True, kw_only=True):
    """What was used, of one group."""

    group: dict[str, str | None]
    """What it was summed up by, such as `day`, with its value."""
    answers: int
    """Answers of models."""
    input_tokens: int
    """Tokens read."""
    output_tokens: int
    """Tokens written."""
    cache_read_input_tokens: int
    """Tokens read from the cache."""
    cache_creation_input_tokens: int
    """Tokens written to the cache."""
    cost_usd: float | None
    """Dollars, as far as they are known or can be estimated."""
    estimated_usd: float
    """The part of the cost that is an estimate by the prices of models."""
    cost_is_whole: bool
    """False: it cost that much, or more."""


class Usage(Published, frozen=True, kw_only=True):
    """What was used."""

    usage: list[UsageSum]
    """By group."""
    complete: bool
    """False during the first look at the folders, or where a worker did not answer in time."""
    missing: list[str] | None = None
    """Of a fleet: workers that did not answer in time."""


class PushPublicKey(Published, frozen=True, kw_only=True):
    """What a browser subscribes with."""

    key: str
    """Its `applicationServerKey`."""


class OpenedShell(Published, frozen=True, kw_only=True):
    """A shell that was opened."""

    shell: str
    """Its name on this connection."""


class Invitation(Published, frozen=True, kw_only=True):
    """A code that logs one more browser in."""

    code: str
    """Good once, in the place of a token."""
    seconds: float
    """How long it is good."""


RESULTS: Mapping[str, Any] = {
    "hello": HelloResult,
    "ping": None,
    "subscribe": SubscribeResult,
    "unsubscribe": UnsubscribeResult,
    "session.create": SessionResult,
    "session.list": list[SessionSummary],
    "session.resume": SessionResult,
    "session.fork": SessionResult,
    "session.retry": PromptResult,
    "session.rename": None,
    "session.close": None,
    "session.move": MoveResult,
    "session.delete": None,
    "native.begin": NativeProgram,
    "native.end": None,
    "native.take_back": None,
    "prompt": PromptResult,
    "prompt.withdraw": WithdrawalResult,
    "interrupt": JsonObject,
    "permission.respond": None,
    "question.answer": None,
    "set_model": None,
    "set_permission_mode": None,
    "control": JsonObject,
    "payload.get": WholePayload,
    "events.get": EventsPage,
    "workspace.diff": WorkspaceDifference,
    "workspace.files": WorkspaceNames,
    "workspace.list": WorkspaceFolder,
    "workspace.read": WorkspaceContent,
    "workspace.folders": WorkspaceFolderList,
    "workspace.revert": RevertResult,
    "worktree.status": WorktreeStanding,
    "worktree.act": WorktreeOutcome,
    "worktree.list": WorktreeListing,
    "worktree.remove": RemovedWorktree,
    "port.list": SandboxPortList,
    "port.open": OpenedPort,
    "port.close": None,
    "shell.open": OpenedShell,
    "shell.write": None,
    "shell.resize": None,
    "shell.ack": None,
    "shell.close": None,
    "library.list": ConversationList,
    "library.search": SearchHits,
    "library.open": SessionResult,
    "library.rename": None,
    "library.export": ExportedDocument,
    "library.usage": Usage,
    "push.key": PushPublicKey,
    "push.subscribe": None,
    "push.unsubscribe": UnsubscribeResult,
    "access.invite": Invitation,
    "fleet.list": FleetListing,
    "fleet.lead": None,
    "fleet.take": None,
    "replay.control": SessionResult,
}
"""The type of the result of each command that there is."""
