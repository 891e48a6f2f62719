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
    """A part of a tool's result that is more than text (wire fact: images and documents in results)."""

    type: Literal["text", "image", "document", "reference", "unknown"]
    """What the part is."""
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
    """Name of a document or of a tool that is referred to."""
    cell_id: str | None = None
    """The notebook cell it belongs to."""
    cell_type: str | None = None
    """`code`, `markdown` or `output`, of a notebook."""
    raw: JsonValue = None
    """The block as it came, of a kind this version does not know."""


class ReadOutput(Value, frozen=True, kw_only=True):
    """What a read returned."""

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
    """First line asked for, from 1."""
    limit: int | None = None
    """Number of lines asked for."""
    pages: str | None = None
    """Pages asked for, of a PDF: `3` or `1-5`."""
    output: ReadOutput | None = None
    """Present once the result is there."""


class ReadFilePayload(Payload, frozen=True, kw_only=True, tag="read_file"):
    """A file is read."""

    renderer: Literal["tool_read"] = "tool_read"
    """The frontend component that shows it."""
    read_file: ReadFile
    """What is shown of it."""


class Mutation(Value, frozen=True, kw_only=True):
    """One change to a file."""

    type: Literal["create", "overwrite", "edit", "insert", "delete"]
    """What happens: a new file, a file replaced, a passage replaced, a notebook cell added or removed.

    Whether a file is new or replaced is known by the result; a call that writes a whole file says `create`.
    """
    content: str | None = None
    """The whole new content, of create, overwrite and insert."""
    old_content: str | None = None
    """The passage that is replaced."""
    new_content: str | None = None
    """The passage that replaces it."""
    diff: str | None = None
    """Unified diff with the file's true line numbers, as far as they are known; `git apply` takes it, unless `relative`.

    It is one of the file as the agent reads it: with CR LF read as LF, and with U+FFFD for what is not UTF-8.
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
    """The notebook cell that is changed."""
    cell_type: str | None = None
    """`code` or `markdown`, of a notebook cell."""


class ModifyOutput(Value, frozen=True, kw_only=True):
    """What became of a modification."""

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
    """What the tool said, in full when it failed."""


class ModifyFile(Value, frozen=True, kw_only=True):
    """A file is created, overwritten or edited."""

    file_path: str
    """Path as the agent gave it."""
    mutations: list[Mutation]
    """The changes, in order."""
    output: ModifyOutput | None = None
    """Present once the result is there."""


class ModifyFilePayload(Payload, frozen=True, kw_only=True, tag="modify_file"):
    """A file is created, overwritten or edited."""

    renderer: Literal["tool_edit"] = "tool_edit"
    """The frontend component that shows it."""
    modify_file: ModifyFile
    """What is shown of it."""


class ShellOutput(Value, frozen=True, kw_only=True):
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


class ShellExec(Value, frozen=True, kw_only=True):
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


class ShellExecPayload(Payload, frozen=True, kw_only=True, tag="shell_exec"):
    """A command."""

    renderer: Literal["tool_execute"] = "tool_execute"
    """The frontend component that shows it."""
    shell_exec: ShellExec
    """What is shown of it."""


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
    """What a search found."""

    files: list[str] | None = None
    """Files found."""
    file_count: int | None = None
    """Number of files; 0 when the tool says that nothing was found."""
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
    """What is looked for in the content."""
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
    """Whether line numbers were asked for, where the agent said so."""
    case_insensitive: bool | None = None
    """True when upper and lower case count as equal."""
    multiline: bool | None = None
    """True when a match may span lines."""
    before: int | None = None
    """Lines of context asked for before each match."""
    after: int | None = None
    """Lines of context asked for after each match."""
    limit: int | None = None
    """Number of lines or files asked for."""
    output: SearchOutput | None = None
    """Present once the result is there."""


class CodeSearchPayload(Payload, frozen=True, kw_only=True, tag="code_search"):
    """A search of files or of their content."""

    renderer: Literal["tool_search"] = "tool_search"
    """The frontend component that shows it."""
    code_search: CodeSearch
    """What is shown of it."""


class HttpRequest(Value, frozen=True, kw_only=True):
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
    results: list[JsonObject] | None = None
    """Hits of a web search: title and url each."""


class HttpRequestPayload(Payload, frozen=True, kw_only=True, tag="http_request"):
    """A page fetched or a search of the web."""

    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    http_request: HttpRequest
    """What is shown of it."""


class SubagentOutput(Value, frozen=True, kw_only=True):
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
    """The model asked for."""
    output: SubagentOutput | None = None
    """Present once the result is there."""


class SubagentTaskPayload(Payload, frozen=True, kw_only=True, tag="subagent_task"):
    """A task given to a subagent."""

    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    subagent_task: SubagentTask
    """What is shown of it."""


class CreateTask(Value, frozen=True, kw_only=True):
    """An entry is added to the agent's task list."""

    title: str
    """What is to be done."""
    description: str | None = None
    """In more words."""
    task_id: str | None = None
    """Its id, once the result is there."""
    active_form: str | None = None
    """How it reads while it is being done."""


class CreateTaskPayload(Payload, frozen=True, kw_only=True, tag="create_task"):
    """A new entry of the task list."""

    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    create_task: CreateTask
    """What is shown of it."""


class TodoItem(Value, frozen=True, kw_only=True):
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


class ManageTodos(Value, frozen=True, kw_only=True):
    """The agent's list of things to do is written, changed or read."""

    operation: Literal["write", "update", "list", "get"]
    """What happens to the list."""
    items: list[TodoItem]
    """The list, or the entries concerned, after the call."""
    old_items: list[TodoItem] | None = None
    """The list, or the entries concerned, before the call."""


class ManageTodosPayload(Payload, frozen=True, kw_only=True, tag="manage_todos"):
    """The list of things to do."""

    renderer: Literal["todo"] = "todo"
    """The frontend component that shows it."""
    manage_todos: ManageTodos
    """What is shown of it."""


class ShowPlan(Value, frozen=True, kw_only=True):
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


class ShowPlanPayload(Payload, frozen=True, kw_only=True, tag="show_plan"):
    """Plan mode."""

    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    show_plan: ShowPlan
    """What is shown of it."""


class Choice(Value, frozen=True, kw_only=True):
    """One possible answer."""

    label: str
    """The answer."""
    description: str | None = None
    """What it means."""


class Question(Value, frozen=True, kw_only=True):
    """One question with its possible answers."""

    question: str
    """The question, also the key of its answer."""
    header: str | None = None
    """One or two words for a tab or a chip."""
    options: list[Choice]
    """The possible answers; a human may also answer freely."""
    multi_select: bool
    """True when more than one may be chosen."""


class AskUser(Value, frozen=True, kw_only=True):
    """The agent asks its human."""

    questions: list[Question]
    """What is asked."""
    answers: dict[str, str] | None = None
    """Question to answer, once the result is there; several labels are joined by a comma and a blank."""


class AskUserPayload(Payload, frozen=True, kw_only=True, tag="ask_user"):
    """Questions to the human."""

    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    ask_user: AskUser
    """What is shown of it."""


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
    """What is shown of it."""


class Generic(Value, frozen=True, kw_only=True):
    """Any tool that has no kind of its own."""

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
    """What is shown of it."""


class Misc(Value, frozen=True, kw_only=True):
    """Something with a label that is no tool with arguments and results worth a shape: skills, tool search."""

    label: str
    """What it is."""
    details: JsonValue = None
    """More of it."""


class MiscPayload(Payload, frozen=True, kw_only=True, tag="misc"):
    """Anything with just a label."""

    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    misc: Misc
    """What is shown of it."""


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
"""What the call does."""


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
