"""What tool calls do and what came of them: `kind` tells which.

Generated from `turnwire schema frames` by `make client-types`; do not edit.
"""

from typing import TYPE_CHECKING, TypeAlias

from .values import JsonObject, JsonValue, Payload, Value

if TYPE_CHECKING:
    from typing import Literal
else:
    from .values import AnyWord as Literal


class ContentPart(Value, frozen=True, kw_only=True):
    """A part of a tool's result other than plain text (wire fact: images and documents in results)."""

    type: Literal["text", "image", "document", "reference", "unknown"]
    """The part's type."""
    text: str | None = None
    """The text, of a text part."""
    media_type: str | None = None
    """MIME type of an image or a document, such as `image/png`."""
    size: int | None = None
    """Size of the decoded bytes."""
    base64: str | None = None
    """The bytes, base64 encoded."""
    url: str | None = None
    """Where the part is, when it is not inline."""
    title: str | None = None
    """Name of a document, or of a referenced tool."""
    cell_id: str | None = None
    """The notebook cell it belongs to."""
    cell_type: str | None = None
    """`code`, `markdown` or `output`, of a notebook."""
    raw: JsonValue = None
    """The unchanged block, for a type that this version does not know."""


class ReadOutput(Value, frozen=True, kw_only=True):
    """The result of a read."""

    content: str | None = None
    """The text, without the line numbers the CLI shows to the model."""
    line_count: int | None = None
    """Number of lines in `content`, as the CLI numbers them: an empty one follows a newline at the end."""
    truncated: bool | None = None
    """True when the file has more than `content` shows."""
    start_line: int | None = None
    """Number of the first line in `content`, from 1."""
    total_lines: int | None = None
    """Number of lines of the whole file."""
    parts: list[ContentPart] | None = None
    """Images, PDF pages and notebook cells."""
    unchanged: bool | None = None
    """True when the CLI returned nothing, the file being as it was when last read."""


class ReadFile(Value, frozen=True, kw_only=True):
    """A file is read."""

    file_path: str
    """Path as the agent gave it."""
    offset: int | None = None
    """First requested line, from 1."""
    limit: int | None = None
    """Number of requested lines."""
    pages: str | None = None
    """Requested pages of a PDF: `3` or `1-5`."""
    output: ReadOutput | None = None
    """Present once the call has a result."""


class ReadFilePayload(Payload, frozen=True, kw_only=True, tag="read_file"):
    """A file is read."""

    renderer: Literal["tool_read"] = "tool_read"
    """The frontend component that shows it."""
    read_file: ReadFile
    """The call's fields."""


class Mutation(Value, frozen=True, kw_only=True):
    """One change to a file."""

    type: Literal["create", "overwrite", "edit", "insert", "delete"]
    """The change: a new file, a replaced file, a replaced passage, a notebook cell added or removed.

    An agent tells by the result alone whether a file is new or replaced. Until then a call that writes a whole file says `create`;
    a permission request of a live session says what turnwire finds on the disk.
    """
    content: str | None = None
    """The whole new content, of create, overwrite and insert."""
    old_content: str | None = None
    """The replaced passage."""
    new_content: str | None = None
    """The passage that replaces it."""
    diff: str | None = None
    """Unified diff with the file's true line numbers, as far as they are known. `git apply` accepts it, unless `relative`.

    It is a diff of the file as the agent reads it: with CR LF read as LF, and with U+FFFD for bytes that are not UTF-8.
    """
    file_path: str | None = None
    """The file, where one call changes several and it is another than the call's first."""
    relative: bool | None = None
    """True when the diff counts lines from the beginning of the passage, the file's own numbers being unknown."""
    approximate: bool | None = None
    """True when the diff shows more lines as changed than have changed: the texts are too large for the shortest one."""
    replace_all: bool | None = None
    """True when every occurrence is replaced."""
    cell_id: str | None = None
    """The changed notebook cell."""
    cell_type: str | None = None
    """`code` or `markdown`, of a notebook cell."""


class ModifyOutput(Value, frozen=True, kw_only=True):
    """The result of a modification."""

    applied: bool
    """True when the file was changed."""
    created: bool | None = None
    """True when the file did not exist before, False when it was overwritten."""
    added_lines: int | None = None
    """Lines the diff adds."""
    removed_lines: int | None = None
    """Lines the diff removes."""
    user_modified: bool | None = None
    """True when a human changed the proposal before it was applied."""
    message: str | None = None
    """The tool's message; the full text if it failed."""


class ModifyFile(Value, frozen=True, kw_only=True):
    """A file is created, overwritten or edited."""

    file_path: str
    """Path as the agent gave it."""
    mutations: list[Mutation]
    """The changes, in order."""
    output: ModifyOutput | None = None
    """Present once the call has a result."""


class ModifyFilePayload(Payload, frozen=True, kw_only=True, tag="modify_file"):
    """A file is created, overwritten or edited."""

    renderer: Literal["tool_edit"] = "tool_edit"
    """The frontend component that shows it."""
    modify_file: ModifyFile
    """The call's fields."""


class ShellOutput(Value, frozen=True, kw_only=True):
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


class ShellExec(Value, frozen=True, kw_only=True):
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


class ShellExecPayload(Payload, frozen=True, kw_only=True, tag="shell_exec"):
    """A command."""

    renderer: Literal["tool_execute"] = "tool_execute"
    """The frontend component that shows it."""
    shell_exec: ShellExec
    """The call's fields."""


class SearchMatch(Value, frozen=True, kw_only=True):
    """One line of a content search."""

    file: str | None = None
    """The file, when the output names it."""
    line: int | None = None
    """Line number, from 1, when the output has it."""
    text: str
    """The line."""
    context: bool | None = None
    """True when the line is context and not a match."""


class SearchOutput(Value, frozen=True, kw_only=True):
    """The result of a search."""

    files: list[str] | None = None
    """Files found."""
    file_count: int | None = None
    """Number of files; 0 if the tool reports no match."""
    truncated: bool | None = None
    """True when there is more than was returned."""
    match_count: int | None = None
    """Number of matches, in the content and count modes."""
    matches: list[SearchMatch] | None = None
    """The lines, in the content mode."""
    counts: dict[str, int] | None = None
    """Matches per file, in the count mode."""


class CodeSearch(Value, frozen=True, kw_only=True):
    """Files or their content are searched."""

    query: str | None = None
    """The text to find in the content."""
    pattern: str | None = None
    """The pattern as the tool got it: a glob of file names or a regular expression."""
    path: str | None = None
    """Where to look."""
    glob: str | None = None
    """Which file names to look at."""
    file_type: str | None = None
    """Which file type to look at."""
    mode: str | None = None
    """files_with_matches, content or count."""
    line_numbers: bool | None = None
    """Whether line numbers were requested, if the agent said so."""
    case_insensitive: bool | None = None
    """True when upper and lower case count as equal."""
    multiline: bool | None = None
    """True when a match may span lines."""
    before: int | None = None
    """Requested lines of context before each match."""
    after: int | None = None
    """Requested lines of context after each match."""
    limit: int | None = None
    """Requested number of lines or files."""
    output: SearchOutput | None = None
    """Present once the call has a result."""


class CodeSearchPayload(Payload, frozen=True, kw_only=True, tag="code_search"):
    """A search of files or of their content."""

    renderer: Literal["tool_search"] = "tool_search"
    """The frontend component that shows it."""
    code_search: CodeSearch
    """The call's fields."""


class HttpRequest(Value, frozen=True, kw_only=True):
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
    results: list[JsonObject] | None = None
    """Hits of a web search: title and url each."""


class HttpRequestPayload(Payload, frozen=True, kw_only=True, tag="http_request"):
    """A page fetched or a search of the web."""

    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    http_request: HttpRequest
    """The call's fields."""


class SubagentOutput(Value, frozen=True, kw_only=True):
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


class SubagentTask(Value, frozen=True, kw_only=True):
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


class SubagentTaskPayload(Payload, frozen=True, kw_only=True, tag="subagent_task"):
    """A task given to a subagent."""

    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    subagent_task: SubagentTask
    """The call's fields."""


class CreateTask(Value, frozen=True, kw_only=True):
    """An entry is added to the agent's task list."""

    title: str
    """The task."""
    description: str | None = None
    """In more words."""
    task_id: str | None = None
    """Its id, once the call has a result."""
    active_form: str | None = None
    """How it reads while it is being done."""


class CreateTaskPayload(Payload, frozen=True, kw_only=True, tag="create_task"):
    """A new entry of the task list."""

    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    create_task: CreateTask
    """The call's fields."""


class TodoItem(Value, frozen=True, kw_only=True):
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


class ManageTodos(Value, frozen=True, kw_only=True):
    """The agent's list of things to do is written, changed or read."""

    operation: Literal["write", "update", "list", "get"]
    """The operation on the list."""
    items: list[TodoItem]
    """The list, or the entries concerned, after the call."""
    old_items: list[TodoItem] | None = None
    """The list, or the entries concerned, before the call."""


class ManageTodosPayload(Payload, frozen=True, kw_only=True, tag="manage_todos"):
    """The list of things to do."""

    renderer: Literal["todo"] = "todo"
    """The frontend component that shows it."""
    manage_todos: ManageTodos
    """The call's fields."""


class ShowPlan(Value, frozen=True, kw_only=True):
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


class ShowPlanPayload(Payload, frozen=True, kw_only=True, tag="show_plan"):
    """Plan mode."""

    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    show_plan: ShowPlan
    """The call's fields."""


class Choice(Value, frozen=True, kw_only=True):
    """One possible answer."""

    label: str
    """The answer."""
    description: str | None = None
    """A description."""


class Question(Value, frozen=True, kw_only=True):
    """One question with its possible answers."""

    question: str
    """The question, also the key of its answer."""
    header: str | None = None
    """One or two words for a tab or a chip."""
    options: list[Choice]
    """The possible answers; a human may also answer freely."""
    multi_select: bool
    """True if several may be chosen."""


class AskUser(Value, frozen=True, kw_only=True):
    """The agent asks its human."""

    questions: list[Question]
    """The questions."""
    answers: dict[str, str] | None = None
    """Question -> answer, once the call has a result. Several labels are joined by a comma and a blank."""


class AskUserPayload(Payload, frozen=True, kw_only=True, tag="ask_user"):
    """Questions to the human."""

    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    ask_user: AskUser
    """The call's fields."""


class McpTool(Value, frozen=True, kw_only=True):
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


class McpToolPayload(Payload, frozen=True, kw_only=True, tag="mcp_tool"):
    """A tool of an MCP server."""

    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    mcp_tool: McpTool
    """The call's fields."""


class Generic(Value, frozen=True, kw_only=True):
    """Any tool without a kind of its own."""

    name: str
    """The tool's name."""
    input: JsonValue = None
    """Its arguments."""
    output: JsonValue = None
    """Its result."""


class GenericPayload(Payload, frozen=True, kw_only=True, tag="generic"):
    """Any other tool."""

    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    generic: Generic
    """The call's fields."""


class Misc(Value, frozen=True, kw_only=True):
    """An action with a label, without arguments and results worth a shape: skills, tool search."""

    label: str
    """The label."""
    details: JsonValue = None
    """More of it."""


class MiscPayload(Payload, frozen=True, kw_only=True, tag="misc"):
    """Anything with just a label."""

    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    misc: Misc
    """The call's fields."""


NormalizedPayload: TypeAlias = (
    ReadFilePayload
    | ModifyFilePayload
    | ShellExecPayload
    | CodeSearchPayload
    | HttpRequestPayload
    | SubagentTaskPayload
    | CreateTaskPayload
    | ManageTodosPayload
    | ShowPlanPayload
    | AskUserPayload
    | McpToolPayload
    | GenericPayload
    | MiscPayload
)
"""The call's action."""


__all__ = [
    "AskUser",
    "AskUserPayload",
    "Choice",
    "CodeSearch",
    "CodeSearchPayload",
    "ContentPart",
    "CreateTask",
    "CreateTaskPayload",
    "Generic",
    "GenericPayload",
    "HttpRequest",
    "HttpRequestPayload",
    "ManageTodos",
    "ManageTodosPayload",
    "McpTool",
    "McpToolPayload",
    "Misc",
    "MiscPayload",
    "ModifyFile",
    "ModifyFilePayload",
    "ModifyOutput",
    "Mutation",
    "NormalizedPayload",
    "Question",
    "ReadFile",
    "ReadFilePayload",
    "ReadOutput",
    "SearchMatch",
    "SearchOutput",
    "ShellExec",
    "ShellExecPayload",
    "ShellOutput",
    "ShowPlan",
    "ShowPlanPayload",
    "SubagentOutput",
    "SubagentTask",
    "SubagentTaskPayload",
    "TodoItem",
]
