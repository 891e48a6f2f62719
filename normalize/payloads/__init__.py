"""NormalizedPayload: the action of a tool call and its result, in the same form for every agent.

This is a discriminated union. `kind` says which of the kind-specific fields is set. `renderer` says which frontend component
shows
it. A call publishes the payload without output. Its result publishes a new, enriched one.
"""

from typing import Literal, TypeAlias

from turnwire.normalize.model import Published
from turnwire.normalize.payloads.files import CodeSearch, ModifyFile, ReadFile
from turnwire.normalize.payloads.work import (
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


class Payload(Published, frozen=True, kw_only=True, omit_defaults=False, tag_field="kind"):
    """A payload of some kind; its one populated field is named as the kind."""

    @property
    def kind(self) -> str:
        """Names the populated field: the `kind` of its JSON."""
        return str(self.__struct_config__.tag)


class ReadFilePayload(Payload, frozen=True, kw_only=True, tag="read_file"):
    """A file is read."""

    renderer: Literal["tool_read"] = "tool_read"
    """The frontend component that shows it."""
    read_file: ReadFile
    """The call's fields."""


class ModifyFilePayload(Payload, frozen=True, kw_only=True, tag="modify_file"):
    """A file is created, overwritten or edited."""

    renderer: Literal["tool_edit"] = "tool_edit"
    """The frontend component that shows it."""
    modify_file: ModifyFile
    """The call's fields."""


class ShellExecPayload(Payload, frozen=True, kw_only=True, tag="shell_exec"):
    """A command."""

    renderer: Literal["tool_execute"] = "tool_execute"
    """The frontend component that shows it."""
    shell_exec: ShellExec
    """The call's fields."""


class CodeSearchPayload(Payload, frozen=True, kw_only=True, tag="code_search"):
    """A search of files or of their content."""

    renderer: Literal["tool_search"] = "tool_search"
    """The frontend component that shows it."""
    code_search: CodeSearch
    """The call's fields."""


class HttpRequestPayload(Payload, frozen=True, kw_only=True, tag="http_request"):
    """A page fetched or a search of the web."""

    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    http_request: HttpRequest
    """The call's fields."""


class SubagentTaskPayload(Payload, frozen=True, kw_only=True, tag="subagent_task"):
    """A task given to a subagent."""

    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    subagent_task: SubagentTask
    """The call's fields."""


class CreateTaskPayload(Payload, frozen=True, kw_only=True, tag="create_task"):
    """A new entry of the task list."""

    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    create_task: CreateTask
    """The call's fields."""


class ManageTodosPayload(Payload, frozen=True, kw_only=True, tag="manage_todos"):
    """The list of things to do."""

    renderer: Literal["todo"] = "todo"
    """The frontend component that shows it."""
    manage_todos: ManageTodos
    """The call's fields."""


class ShowPlanPayload(Payload, frozen=True, kw_only=True, tag="show_plan"):
    """Plan mode."""

    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    show_plan: ShowPlan
    """The call's fields."""


class AskUserPayload(Payload, frozen=True, kw_only=True, tag="ask_user"):
    """Questions to the human."""

    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    ask_user: AskUser
    """The call's fields."""


class McpToolPayload(Payload, frozen=True, kw_only=True, tag="mcp_tool"):
    """A tool of an MCP server."""

    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    mcp_tool: McpTool
    """The call's fields."""


class GenericPayload(Payload, frozen=True, kw_only=True, tag="generic"):
    """Any other tool."""

    renderer: Literal["tool_call"] = "tool_call"
    """The frontend component that shows it."""
    generic: Generic
    """The call's fields."""


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
"""Exactly one kind-specific field is populated; `kind` names it."""
