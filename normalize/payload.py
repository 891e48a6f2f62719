"""NormalizedPayload: what a tool call does, and what came of it, the same for every agent.

A discriminated union: `kind` says which one of the kind-specific fields is populated (spec 3,
"NormalizedPayload Structure"), `renderer` which frontend component shows it (spec 3, "Tool → Kind
Mapping"). A call publishes the payload without output; its result publishes a new, enriched one.
"""

from typing import Annotated, Literal

from pydantic import Field

from normalize.model import Published
from normalize.payload_files import CodeSearch, ModifyFile, ReadFile
from normalize.payload_work import (
    AskUser,
    CreateTask,
    Generic,
    HttpRequest,
    ManageTodos,
    McpTool,
    Misc,
    ShellExec,
    ShowPlan,
    SubagentTask,
)


class ReadFilePayload(Published):
    """A file is read."""

    kind: Literal["read_file"] = "read_file"
    """Names the populated field."""
    renderer: Literal["tool_read"] = "tool_read"
    """The frontend component that shows it."""
    read_file: ReadFile
    """The body."""


class ModifyFilePayload(Published):
    """A file is created, overwritten or edited."""

    kind: Literal["modify_file"] = "modify_file"
    """Names the populated field."""
    renderer: Literal["tool_edit"] = "tool_edit"
    """The frontend component that shows it."""
    modify_file: ModifyFile
    """The body."""


class ShellExecPayload(Published):
    """A command."""

    kind: Literal["shell_exec"] = "shell_exec"
    """Names the populated field."""
    renderer: Literal["tool_execute"] = "tool_execute"
    """The frontend component that shows it."""
    shell_exec: ShellExec
    """The body."""


class CodeSearchPayload(Published):
    """A search of files or of their content."""

    kind: Literal["code_search"] = "code_search"
    """Names the populated field."""
    renderer: Literal["tool_search"] = "tool_search"
    """The frontend component that shows it."""
    code_search: CodeSearch
    """The body."""


class HttpRequestPayload(Published):
    """A page fetched or a search of the web."""

    kind: Literal["http_request"] = "http_request"
    """Names the populated field."""
    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    http_request: HttpRequest
    """The body."""


class SubagentTaskPayload(Published):
    """A task given to a subagent."""

    kind: Literal["subagent_task"] = "subagent_task"
    """Names the populated field."""
    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    subagent_task: SubagentTask
    """The body."""


class CreateTaskPayload(Published):
    """A new entry of the task list."""

    kind: Literal["create_task"] = "create_task"
    """Names the populated field."""
    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    create_task: CreateTask
    """The body."""


class ManageTodosPayload(Published):
    """The list of things to do."""

    kind: Literal["manage_todos"] = "manage_todos"
    """Names the populated field."""
    renderer: Literal["todo"] = "todo"
    """The frontend component that shows it."""
    manage_todos: ManageTodos
    """The body."""


class ShowPlanPayload(Published):
    """Plan mode."""

    kind: Literal["show_plan"] = "show_plan"
    """Names the populated field."""
    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    show_plan: ShowPlan
    """The body."""


class AskUserPayload(Published):
    """Questions to the human."""

    kind: Literal["ask_user"] = "ask_user"
    """Names the populated field."""
    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    ask_user: AskUser
    """The body."""


class McpToolPayload(Published):
    """A tool of an MCP server."""

    kind: Literal["mcp_tool"] = "mcp_tool"
    """Names the populated field."""
    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    mcp_tool: McpTool
    """The body."""


class GenericPayload(Published):
    """Any other tool."""

    kind: Literal["generic"] = "generic"
    """Names the populated field."""
    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    generic: Generic
    """The body."""


class MiscPayload(Published):
    """Anything with just a label."""

    kind: Literal["misc"] = "misc"
    """Names the populated field."""
    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    misc: Misc
    """The body."""


NormalizedPayload = Annotated[
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
    | MiscPayload,
    Field(discriminator="kind"),
]
"""Exactly one kind-specific field is populated; `kind` names it."""
