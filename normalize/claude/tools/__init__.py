"""Tool calls: the agent's tool name and arguments -> a NormalizedPayload without output.

`TOOLS` has every built-in tool of the CLI with a payload kind of its own.
Other agents' names, in lower case, count if the arguments have the shape that the kind needs. `mcp__SERVER__TOOL`
is a tool of an MCP server. Any other tool is generic. `turnwire.normalize.claude.results` adds results.
"""

from collections.abc import Callable

from turnwire.normalize.claude.tools import generic_titles
from turnwire.normalize.claude.tools.files import (
    delete_file,
    edit,
    glob,
    grep,
    list_folder,
    multi_edit,
    notebook_edit,
    read,
    write,
)
from turnwire.normalize.claude.tools.plan import (
    ask_user,
    create_task,
    enter_plan,
    exit_plan,
    get_task,
    list_tasks,
    read_todos,
    update_task,
    write_todos,
)
from turnwire.normalize.claude.tools.work import (
    bash,
    fetch,
    monitor,
    read_output,
    search_web,
    skill,
    slash_command,
    stop_task,
    subagent,
    tool_search,
)
from turnwire.normalize.model import JsonObject, JsonValue
from turnwire.normalize.payloads import GenericPayload, McpToolPayload, NormalizedPayload, titles
from turnwire.normalize.payloads.fields import shallow, text
from turnwire.normalize.payloads.work import Generic, McpTool

Builder = Callable[[JsonObject], NormalizedPayload]

TOOLS: dict[str, Builder] = {
    "Read": read,
    "NotebookRead": read,
    "Write": write,
    "Edit": edit,
    "MultiEdit": multi_edit,
    "NotebookEdit": notebook_edit,
    "Glob": glob,
    "Grep": grep,
    "LS": list_folder,
    "Bash": bash,
    "PowerShell": bash,
    "Monitor": monitor,
    "BashOutput": read_output,
    "BashOutputTool": read_output,
    "AgentOutputTool": read_output,
    "TaskOutput": read_output,
    "KillShell": stop_task,
    "KillBash": stop_task,
    "TaskStop": stop_task,
    "WebFetch": fetch,
    "WebSearch": search_web,
    "Task": subagent,
    "Agent": subagent,
    "TaskCreate": create_task,
    "TaskUpdate": update_task,
    "TaskList": list_tasks,
    "TaskGet": get_task,
    "TodoWrite": write_todos,
    "TodoRead": read_todos,
    "EnterPlanMode": enter_plan,
    "ExitPlanMode": exit_plan,
    "exit_plan_mode": exit_plan,
    "AskUserQuestion": ask_user,
    "Skill": skill,
    "SlashCommand": slash_command,
    "ToolSearch": tool_search,
}
"""The CLI's own tools."""

PATH = ("file_path", "filePath", "path")

OTHER_AGENTS: dict[str, tuple[tuple[str, ...], Builder]] = {
    "read": (PATH, read),
    "read_file": (PATH, read),
    "write": (("content",), write),
    "write_file": (("content",), write),
    "edit": (("old_string", "oldString"), edit),
    "edit_file": (("old_string", "oldString"), edit),
    "multiedit": (PATH, multi_edit),
    "delete_file": (PATH, delete_file),
    "glob": (("pattern",), glob),
    "grep": (("pattern",), grep),
    "grep_search": (("pattern",), grep),
    "ls": (("path",), list_folder),
    "list": (("path",), list_folder),
    "list_directory": (("path",), list_folder),
    "notebook_edit": (("new_source",), notebook_edit),
    "bash": (("command",), bash),
    "shell": (("command",), bash),
    "run_shell_command": (("command",), bash),
    "webfetch": (("url",), fetch),
    "web_fetch": (("url",), fetch),
    "websearch": (("query",), search_web),
    "web_search": (("query",), search_web),
    "task": (("prompt",), subagent),
    "agent": (("prompt",), subagent),
}
"""Tools of other agents, such as miriad-code and Qwen Code: one of the fields must be a string, or the shape is another one."""

UNPARSED = "__unparsedToolInput"
"""Where 2.1 puts arguments that are no JSON."""


def call(name: str, input: JsonValue) -> NormalizedPayload:  # noqa: A002 - the protocol's word
    """Return the payload of a call. Never raises, whatever the types of the arguments."""
    if not isinstance(input, dict) or UNPARSED in input:
        return generic(name, input)
    builder = TOOLS.get(name)
    if builder is not None:
        return builder(input)
    if name.startswith("mcp__"):
        return mcp_tool(name, input)
    return _of_another_agent(name, input)


def title(name: str, input: JsonValue) -> str:  # noqa: A002 - the protocol's word
    """Return one line for humans. `title_of` does the same for an existing payload."""
    return title_of(name, call(name, input))


def title_of(name: str, payload: NormalizedPayload) -> str:
    """Return one line for humans about a call of the named tool."""
    return titles.title_of(name, payload, generic_titles.WORDS)


def generic(name: str, arguments: JsonValue) -> GenericPayload:
    """Return the payload of a tool without a payload kind."""
    return GenericPayload(generic=Generic(name=name, input=shallow(arguments)))


def mcp_tool(name: str, arguments: JsonObject) -> NormalizedPayload:
    """Return the payload of a tool of an MCP server; the CLI itself splits at the first `__` after the server."""
    server, separator, tool = name.removeprefix("mcp__").partition("__")
    if not (server and separator and tool):
        return generic(name, arguments)
    published = {key: shallow(value) for key, value in arguments.items()}
    return McpToolPayload(mcp_tool=McpTool(server=server, tool=tool, input=published))


def _of_another_agent(name: str, arguments: JsonObject) -> NormalizedPayload:
    listed = arguments.get("todos", arguments.get("items"))
    if name in {"todowrite", "todo_write"} and isinstance(listed, list):
        return write_todos(arguments)
    if name == "ask_user_question" and isinstance(arguments.get("questions"), list):
        return ask_user(arguments)
    if name in OTHER_AGENTS:
        required, builder = OTHER_AGENTS[name]
        if text(arguments, *required) is not None:
            return builder(arguments)
    return generic(name, arguments)
