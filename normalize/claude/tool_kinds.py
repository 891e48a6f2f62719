"""The kind of each tool of Claude Code, and of Qwen Code, which uses its protocol. Policies, grants and answers use kinds, not
names.
"""

from turnwire.normalize.vocabulary import ToolKind

KINDS: dict[str, ToolKind] = {
    "Glob": "search",
    "Grep": "search",
    "NotebookRead": "read",
    "Read": "read",
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Write": "edit",
    "Bash": "execute",
    "WebFetch": "fetch",
    "Task": "delegate",
    "Agent": "delegate",  # 2.1's name of Task
    "TodoWrite": "note",
    "TaskCreate": "note",  # 2.1 has these in place of TodoWrite
    "TaskGet": "note",
    "TaskList": "note",
    "TaskUpdate": "note",
    "AskUserQuestion": "question",
    "ExitPlanMode": "plan",
    # A person is asked about these: rules of commands and addresses do not read their arguments.
    "LS": "other",
    "PowerShell": "other",
    "Monitor": "other",
    "BashOutput": "other",
    "BashOutputTool": "other",
    "AgentOutputTool": "other",
    "TaskOutput": "other",
    "KillShell": "other",
    "KillBash": "other",
    "TaskStop": "other",
    "WebSearch": "other",
    "TodoRead": "other",
    "EnterPlanMode": "other",
    "Skill": "other",
    "SlashCommand": "other",
    "ToolSearch": "other",
    # Qwen Code's
    "glob": "search",
    "grep_search": "search",
    "list_directory": "search",
    "read_file": "read",
    "edit": "edit",
    "notebook_edit": "edit",
    "write_file": "edit",
    "run_shell_command": "execute",
    "web_fetch": "fetch",
    "agent": "delegate",
    "todo_write": "note",
    "ask_user_question": "question",
    "exit_plan_mode": "plan",
}
"""Tool -> kind. Any other tool is `other`: a human is asked about it, unless the policy never asks."""


def kind_of(tool: str) -> ToolKind:
    """Return a tool's kind."""
    return KINDS.get(tool, "other")
