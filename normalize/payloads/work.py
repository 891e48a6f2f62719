"""Payload bodies of the tools that run, fetch, delegate, plan and ask."""

from typing import Literal

from turnwire.normalize.model import JsonObject, JsonValue, Published
from turnwire.normalize.payloads.files import ContentPart


class ShellOutput(Published, frozen=True, kw_only=True):
    """What a command gave."""

    exit_code: int | None = None
    """The true exit code; absent while it is not known (background, interrupted, denied)."""
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
    """Directory it starts in, when it is known: what the call says, else the session's, until the agent leaves it."""
    description: str | None = None
    """What the agent says it is for."""
    timeout: int | None = None
    """Time limit in milliseconds."""
    background: bool | None = None
    """True when it is not waited for."""
    operation: Literal["run", "read", "stop"] | None = None
    """`read` and `stop` address a task in the background; absent means run."""
    task_id: str | None = None
    """The background task that is read or stopped."""
    output: ShellOutput | None = None
    """Present once the result is there."""


class HttpRequest(Published, frozen=True, kw_only=True):
    """A page is fetched, or the web is searched."""

    url: str | None = None
    """The address that is fetched."""
    method: str | None = None
    """GET, unless the tool says otherwise; SEARCH for a search of the web."""
    query: str | None = None
    """What is searched for on the web."""
    prompt: str | None = None
    """What the agent wants to know from the page."""
    response: str | None = None
    """The answer as text."""
    is_error: bool | None = None
    """True when it failed."""
    status: int | None = None
    """HTTP status, when it is known."""
    bytes: int | None = None
    """Size of the page."""
    results: list[dict[str, JsonValue]] | None = None
    """Hits of a web search: title and url each."""


class SubagentOutput(Published, frozen=True, kw_only=True):
    """What a subagent did."""

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
    """The model asked for."""
    output: SubagentOutput | None = None
    """Present once the result is there."""


class CreateTask(Published, frozen=True, kw_only=True):
    """An entry is added to the agent's task list."""

    title: str
    """What is to be done."""
    description: str | None = None
    """In more words."""
    task_id: str | None = None
    """Its id, once the result is there."""
    active_form: str | None = None
    """How it reads while it is being done."""


class TodoItem(Published, frozen=True, kw_only=True):
    """One entry of the agent's list."""

    id: str | None = None
    """Its id, or its place in the list from 1 where the tool has no ids."""
    description: str
    """What is to be done."""
    status: str
    """pending, in_progress, completed or deleted; empty when a call leaves it as it is."""
    active_form: str | None = None
    """How it reads while it is being done."""
    blocked_by: list[str] | None = None
    """Ids of entries that come first."""
    owner: str | None = None
    """The agent that has taken it."""


class ManageTodos(Published, frozen=True, kw_only=True):
    """The agent's list of things to do is written, changed or read."""

    operation: Literal["write", "update", "list", "get"]
    """What happens to the list."""
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
    """Once the result is there: was it approved?"""
    feedback: str | None = None
    """What the human said on rejecting it."""


class Choice(Published, frozen=True, kw_only=True):
    """One possible answer."""

    label: str
    """The answer."""
    description: str | None = None
    """What it means."""


class Question(Published, frozen=True, kw_only=True):
    """One question with its possible answers."""

    question: str
    """The question, also the key of its answer."""
    header: str | None = None
    """One or two words for a tab or a chip."""
    options: list[Choice]
    """The possible answers; a human may also answer freely."""
    multi_select: bool
    """True when more than one may be chosen."""


class AskUser(Published, frozen=True, kw_only=True):
    """The agent asks its human."""

    questions: list[Question]
    """What is asked."""
    answers: dict[str, str] | None = None
    """Question to answer, once the result is there; several labels are joined by a comma and a blank."""


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
    """Any tool that has no kind of its own."""

    name: str
    """The tool's name."""
    input: JsonValue = None
    """Its arguments."""
    output: JsonValue = None
    """Its result."""


class Misc(Published, frozen=True, kw_only=True):
    """Something with a label that is no tool with arguments and results worth a shape: skills, tool search."""

    label: str
    """What it is."""
    details: JsonValue = None
    """More of it."""
