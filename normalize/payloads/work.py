"""Payload bodies of the tools that run, fetch, delegate, plan and ask."""

from collections.abc import Iterable
from typing import Literal

from turnwire.normalize.model import JsonObject, JsonValue, Published
from turnwire.normalize.payloads.files import ContentPart


class ShellOutput(Published, frozen=True, kw_only=True):
    """The result of a command."""

    exit_code: int | None = None
    """The true exit code. Absent while it is unknown (background, interrupted, denied)."""
    stdout: str | None = None
    """Standard output; the only stream of versions that do not tell them apart."""
    stderr: str | None = None
    """Standard error, where the CLI keeps it apart."""
    interrupted: bool | None = None
    """True when it was stopped before its end."""
    timed_out: bool | None = None
    """True when the time limit stopped it or moved it to the background."""
    task_id: str | None = None
    """Id of the background task it became."""
    status: str | None = None
    """State of the background task: running, completed, failed, killed."""
    persisted_path: str | None = None
    """File in which the CLI saved output too long to return."""
    truncated: bool | None = None
    """True when the CLI returned less than the command wrote."""
    parts: list[ContentPart] | None = None
    """Images that the command printed."""


class ShellExec(Published, frozen=True, kw_only=True):
    """A command runs, or a command in the background is read or stopped."""

    command: str
    """The command line; empty when a task is addressed by id."""
    work_dir: str | None = None
    """Directory in which it starts, if known: the call's own, else the session's, until the agent leaves that."""
    description: str | None = None
    """The agent's description of its purpose."""
    timeout: int | None = None
    """Time limit in milliseconds."""
    background: bool | None = None
    """True when it is not waited for."""
    operation: Literal["run", "read", "stop"] | None = None
    """`read` and `stop` address a task in the background; absent means run."""
    task_id: str | None = None
    """The background task that is read or stopped."""
    output: ShellOutput | None = None
    """Present once the call has a result."""


class HttpRequest(Published, frozen=True, kw_only=True):
    """A page is fetched, or the web is searched."""

    url: str | None = None
    """The address to fetch."""
    method: str | None = None
    """GET, unless the tool names another method; SEARCH for a web search."""
    query: str | None = None
    """The text to find on the web."""
    prompt: str | None = None
    """The agent's question about the page."""
    response: str | None = None
    """The answer as text."""
    is_error: bool | None = None
    """True when it failed."""
    status: int | None = None
    """HTTP status, if known."""
    bytes: int | None = None
    """Size of the page."""
    results: list[dict[str, JsonValue]] | None = None
    """Hits of a web search: title and url each."""


class SubagentOutput(Published, frozen=True, kw_only=True):
    """The result of a subagent."""

    status: str | None = None
    """completed, async_launched, …"""
    text: str | None = None
    """Its report."""
    agent_id: str | None = None
    """The CLI's id of the subagent, and of its background task."""
    duration_ms: int | None = None
    """How long it ran."""
    total_tokens: int | None = None
    """Tokens it used."""
    tool_use_count: int | None = None
    """Tools it called."""
    model: str | None = None
    """The model it ran on."""


class SubagentTask(Published, frozen=True, kw_only=True):
    """A subagent is given a task."""

    description: str
    """Three to five words."""
    prompt: str
    """The whole task."""
    subagent_type: str | None = None
    """Which agent runs it."""
    background: bool | None = None
    """True when it is not waited for."""
    model: str | None = None
    """The requested model."""
    output: SubagentOutput | None = None
    """Present once the call has a result."""


class CreateTask(Published, frozen=True, kw_only=True):
    """An entry is added to the agent's task list."""

    title: str
    """The task."""
    description: str | None = None
    """In more words."""
    task_id: str | None = None
    """Its id, once the call has a result."""
    active_form: str | None = None
    """How it reads while it is being done."""


class TodoItem(Published, frozen=True, kw_only=True):
    """One entry of the agent's list."""

    id: str | None = None
    """Its id, or its place in the list from 1 where the tool has no ids."""
    description: str
    """The task."""
    status: str
    """pending, in_progress, completed or deleted; empty when a call leaves it as it is."""
    active_form: str | None = None
    """How it reads while it is being done."""
    blocked_by: list[str] | None = None
    """Ids of entries that must be done first."""
    owner: str | None = None
    """The agent that has taken it."""


def todo_lines(items: Iterable[TodoItem]) -> list[str]:
    """Return a list of things to do as Markdown, a line each."""
    marks = {"completed": "x", "in_progress": "-"}
    return [f"- [{marks.get(item.status, ' ')}] {' '.join(item.description.split())}" for item in items]


class ManageTodos(Published, frozen=True, kw_only=True):
    """The agent's list of things to do is written, changed or read."""

    operation: Literal["write", "update", "list", "get"]
    """The operation on the list."""
    items: list[TodoItem]
    """The list, or the entries concerned, after the call."""
    old_items: list[TodoItem] | None = None
    """The list, or the entries concerned, before the call."""


class ShowPlan(Published, frozen=True, kw_only=True):
    """Plan mode is entered, or a plan is shown for approval."""

    operation: Literal["enter", "exit"]
    """`exit` shows the plan and asks for approval."""
    plan: str | None = None
    """The plan in Markdown."""
    file_path: str | None = None
    """The file that holds the plan (2.1)."""
    approved: bool | None = None
    """Whether it was approved, once the call has a result."""
    feedback: str | None = None
    """The human's words on rejecting it."""


class Choice(Published, frozen=True, kw_only=True):
    """One possible answer."""

    label: str
    """The answer."""
    description: str | None = None
    """A description."""


class Question(Published, frozen=True, kw_only=True):
    """One question with its possible answers."""

    question: str
    """The question, also the key of its answer."""
    header: str | None = None
    """One or two words for a tab or a chip."""
    options: list[Choice]
    """The possible answers; a human may also answer freely."""
    multi_select: bool
    """True if several may be chosen."""


class AskUser(Published, frozen=True, kw_only=True):
    """The agent asks its human."""

    questions: list[Question]
    """The questions."""
    answers: dict[str, str] | None = None
    """Question -> answer, once the call has a result. Several labels are joined by a comma and a blank."""


class McpTool(Published, frozen=True, kw_only=True):
    """A tool of an MCP server is called."""

    server: str
    """The server's name."""
    tool: str
    """The tool's name."""
    input: JsonObject
    """Its arguments."""
    output: list[ContentPart] | None = None
    """Its result, part by part."""
    is_error: bool | None = None
    """True when it failed."""


class Generic(Published, frozen=True, kw_only=True):
    """Any tool without a kind of its own."""

    name: str
    """The tool's name."""
    input: JsonValue = None
    """Its arguments."""
    output: JsonValue = None
    """Its result."""


class Misc(Published, frozen=True, kw_only=True):
    """An action with a label, without arguments and results worth a shape: skills, tool search."""

    label: str
    """The label."""
    details: JsonValue = None
    """More of it."""
