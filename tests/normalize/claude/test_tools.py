"""Calls: every tool to its kind, by one table; wrong types cost themselves alone."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

from turnwire.normalize.claude import tools
from turnwire.normalize.claude.tool_kinds import KINDS
from turnwire.normalize.events import ToolCall, from_json, to_json
from turnwire.normalize.payloads import (
    AskUserPayload,
    CodeSearchPayload,
    GenericPayload,
    McpToolPayload,
    ModifyFilePayload,
    NormalizedPayload,
    ReadFilePayload,
    ShellExecPayload,
    ShowPlanPayload,
    SubagentTaskPayload,
    titles,
)

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)

FIELDS = [
    "file_path", "filePath", "path", "notebook_path", "content", "old_string", "new_string", "replace_all", "edits",
    "pattern", "glob", "output_mode", "-n", "-C", "head_limit", "command", "description", "timeout", "url", "query",
    "prompt", "subagent_type", "run_in_background", "todos", "taskId", "status", "subject", "addBlockedBy", "plan",
    "questions", "task_id", "offset", "limit", "cell_id", "edit_mode", "new_source", "skill", "timeout_ms", "pages",
]  # fmt: skip

inputs = st.dictionaries(st.sampled_from(FIELDS), json_values, max_size=8)
names = st.sampled_from([*tools.TOOLS, *tools.OTHER_AGENTS, "todowrite", "mcp__a__b", "mcp__", "Unheard", ""])


def called(name: str, arguments: Any) -> NormalizedPayload:
    return tools.call(name, arguments)


def dumped(payload: NormalizedPayload) -> dict[str, Any]:
    body: dict[str, Any] = to_builtins(payload)[payload.kind]
    return body


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Edit", "modify_file"),
        ("Write", "modify_file"),
        ("NotebookEdit", "modify_file"),
        ("MultiEdit", "modify_file"),
        ("Read", "read_file"),
        ("NotebookRead", "read_file"),
        ("Glob", "code_search"),
        ("Grep", "code_search"),
        ("LS", "code_search"),
        ("Bash", "shell_exec"),
        ("BashOutput", "shell_exec"),
        ("KillShell", "shell_exec"),
        ("TaskOutput", "shell_exec"),
        ("TaskStop", "shell_exec"),
        ("WebFetch", "http_request"),
        ("WebSearch", "http_request"),
        ("Task", "subagent_task"),
        ("Agent", "subagent_task"),
        ("TaskCreate", "create_task"),
        ("TaskUpdate", "manage_todos"),
        ("TaskList", "manage_todos"),
        ("TaskGet", "manage_todos"),
        ("TodoWrite", "manage_todos"),
        ("ExitPlanMode", "show_plan"),
        ("EnterPlanMode", "show_plan"),
        ("AskUserQuestion", "ask_user"),
        ("Skill", "misc"),
        ("SlashCommand", "misc"),
        ("ToolSearch", "misc"),
        ("mcp__calc__add", "mcp_tool"),
        ("StructuredOutput", "generic"),
        ("CronCreate", "generic"),
        ("EnterWorktree", "generic"),
        ("SendMessage", "generic"),
        ("Workflow", "generic"),
        ("NoSuchTool", "generic"),
    ],
)
def test_each_tool_has_its_kind(name: str, kind: str) -> None:
    assert called(name, {}).kind == kind


def test_a_read_has_its_range() -> None:
    payload = called("Read", {"file_path": "/a", "offset": 10, "limit": "5", "pages": "1-2"})
    assert dumped(payload) == {"file_path": "/a", "offset": 10, "limit": 5, "pages": "1-2"}


def test_an_edit_has_both_passages_and_a_small_diff() -> None:
    call = {"file_path": "f", "old_string": "a\nb\nc", "new_string": "a\nB\nc", "replace_all": True}
    payload = called("Edit", call)
    assert dumped(payload)["mutations"] == [
        {
            "type": "edit",
            "old_content": "a\nb\nc",
            "new_content": "a\nB\nc",
            "diff": "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n",
            "relative": True,
            "replace_all": True,
        }
    ]


def test_a_notebook_edit_keeps_its_path_and_source() -> None:
    call = {"notebook_path": "n.ipynb", "cell_id": "c1", "new_source": "2+2", "cell_type": "code"}
    body = dumped(called("NotebookEdit", call))
    assert body["file_path"] == "n.ipynb"
    assert body["mutations"] == [{"type": "edit", "new_content": "2+2", "cell_id": "c1", "cell_type": "code"}]


@pytest.mark.parametrize(("mode", "kind"), [("insert", "insert"), ("delete", "delete"), ("replace", "edit")])
def test_a_notebook_cell_is_inserted_deleted_or_replaced(mode: str, kind: str) -> None:
    payload = called("NotebookEdit", {"notebook_path": "n", "edit_mode": mode, "new_source": "x"})
    assert isinstance(payload, ModifyFilePayload)
    assert payload.modify_file.mutations[0].type == kind


def test_several_edits_are_several_mutations() -> None:
    edits = [{"old_string": "a", "new_string": "b"}, "no edit", {"old_string": "c", "new_string": "d"}]
    payload = called("MultiEdit", {"file_path": "f", "edits": edits})
    assert isinstance(payload, ModifyFilePayload)
    assert [mutation.old_content for mutation in payload.modify_file.mutations] == ["a", "c"]


def test_a_grep_keeps_query_glob_and_flags() -> None:
    call = {
        "pattern": "def ", "path": "src", "glob": "*.py", "type": "py", "output_mode": "content", "-n": True, "-i": True,
        "-B": 1, "-A": 2, "head_limit": 9, "multiline": True,
    }  # fmt: skip
    assert dumped(called("Grep", call)) == {
        "query": "def ",
        "pattern": "def ",
        "path": "src",
        "glob": "*.py",
        "file_type": "py",
        "mode": "content",
        "line_numbers": True,
        "case_insensitive": True,
        "multiline": True,
        "before": 1,
        "after": 2,
        "limit": 9,
    }


def test_context_on_both_sides_is_one_flag() -> None:
    payload = called("Grep", {"pattern": "x", "-C": 3, "-A": 1})
    assert isinstance(payload, CodeSearchPayload)
    assert (payload.code_search.before, payload.code_search.after) == (3, 3)
    assert payload.code_search.mode == "files_with_matches"


def test_a_command_has_what_it_is_for_and_its_limit() -> None:
    call = {"command": "ls", "description": "List", "timeout": 1500, "run_in_background": True}
    assert dumped(called("Bash", call)) == {
        "command": "ls",
        "description": "List",
        "timeout": 1500,
        "background": True,
    }


def test_tasks_are_addressed_by_id_whatever_the_version_calls_it() -> None:
    for name, call in [("BashOutput", {"bash_id": "x"}), ("TaskOutput", {"task_id": "x"})]:
        assert dumped(called(name, call)) == {"command": "", "operation": "read", "task_id": "x"}
    for name, call in [("KillShell", {"shell_id": "x"}), ("TaskStop", {"task_id": "x"})]:
        assert dumped(called(name, call)) == {"command": "", "operation": "stop", "task_id": "x"}


def test_a_monitor_is_a_command_in_the_background_or_something_else() -> None:
    watched = called("Monitor", {"command": "tail -f x", "description": "Watch", "timeout_ms": 9})
    assert dumped(watched) == {
        "command": "tail -f x",
        "description": "Watch",
        "timeout": 9,
        "background": True,
    }
    socket = called("Monitor", {"ws": {"url": "ws://x"}, "description": "Watch"})
    assert dumped(socket) == {
        "label": "Watch",
        "details": {"input": {"ws": {"url": "ws://x"}, "description": "Watch"}},
    }


def test_web_tools_say_what_they_look_for() -> None:
    assert dumped(called("WebFetch", {"url": "https://x", "prompt": "p"})) == {
        "url": "https://x",
        "method": "GET",
        "prompt": "p",
    }
    assert dumped(called("WebSearch", {"query": "q"})) == {"method": "SEARCH", "query": "q"}


def test_a_subagent_has_its_task() -> None:
    call = {"description": "d", "prompt": "p", "subagent_type": "t", "run_in_background": True, "model": "m"}
    payload = called("Agent", call)
    assert isinstance(payload, SubagentTaskPayload)
    assert dumped(payload) == {
        "description": "d",
        "prompt": "p",
        "subagent_type": "t",
        "background": True,
        "model": "m",
    }


def test_todos_have_their_place_as_id() -> None:
    call = {
        "todos": [{"content": "a", "status": "pending", "activeForm": "A"}, 5, {"id": "x", "content": "b"}]
    }
    assert dumped(called("TodoWrite", call)) == {
        "operation": "write",
        "items": [
            {"id": "1", "description": "a", "status": "pending", "active_form": "A"},
            {"id": "x", "description": "b", "status": "pending"},
        ],
    }


def test_a_task_update_names_only_what_it_changes() -> None:
    body = dumped(called("TaskUpdate", {"taskId": "2", "addBlockedBy": ["1"], "owner": "me"}))
    assert body["items"] == [{"id": "2", "description": "", "status": "", "blocked_by": ["1"], "owner": "me"}]


def test_a_plan_comes_with_its_text_or_its_file() -> None:
    payload = called("ExitPlanMode", {"plan": "# P", "planFilePath": "/p.md"})
    assert isinstance(payload, ShowPlanPayload)
    assert dumped(payload) == {"operation": "exit", "plan": "# P", "file_path": "/p.md"}
    assert dumped(called("EnterPlanMode", {})) == {"operation": "enter"}


def test_questions_have_their_choices() -> None:
    question = {
        "question": "Q?",
        "header": "H",
        "options": [{"label": "a", "description": "b"}],
        "multiSelect": True,
    }
    payload = called("AskUserQuestion", {"questions": [question]})
    assert isinstance(payload, AskUserPayload)
    assert dumped(payload)["questions"] == [
        {
            "question": "Q?",
            "header": "H",
            "options": [{"label": "a", "description": "b"}],
            "multi_select": True,
        }
    ]


@pytest.mark.parametrize(
    ("name", "server", "tool"),
    [
        ("mcp__calc__add", "calc", "add"),
        ("mcp__my_calc_server__add_all", "my_calc_server", "add_all"),
        ("mcp__srv___private", "srv", "_private"),
        ("mcp__srv__a__b", "srv", "a__b"),
    ],
)
def test_mcp_names_split_at_the_server(name: str, server: str, tool: str) -> None:
    payload = called(name, {"a": 1})
    assert isinstance(payload, McpToolPayload)
    assert (payload.mcp_tool.server, payload.mcp_tool.tool, payload.mcp_tool.input) == (
        server,
        tool,
        {"a": 1},
    )


@pytest.mark.parametrize("name", ["mcp__", "mcp__srv", "mcp__srv__", "mcp____tool"])
def test_half_an_mcp_name_is_a_tool_of_its_own(name: str) -> None:
    assert called(name, {}).kind == "generic"


@pytest.mark.parametrize(
    ("name", "call", "kind"),
    [
        ("read", {"filePath": "/tmp/test.txt"}, "read_file"),
        ("write", {"filePath": "f", "content": "x"}, "modify_file"),
        ("edit", {"filePath": "f", "oldString": "a", "newString": "b"}, "modify_file"),
        ("delete_file", {"path": "f"}, "modify_file"),
        ("bash", {"command": "ls"}, "shell_exec"),
        ("grep", {"pattern": "x"}, "code_search"),
        ("list", {"path": "."}, "code_search"),
        ("webfetch", {"url": "u"}, "http_request"),
        ("task", {"prompt": "p"}, "subagent_task"),
        ("todowrite", {"todos": []}, "manage_todos"),
        ("read", {"book": "x"}, "generic"),
        ("bash", {"script": "x"}, "generic"),
        ("todowrite", {"list": []}, "generic"),
        ("todowrite", {"todos": "x"}, "generic"),
    ],
)
def test_other_agents_tools_count_when_their_shape_fits(name: str, call: dict[str, Any], kind: str) -> None:
    assert called(name, call).kind == kind


def test_spec_1s_read_has_its_path() -> None:
    payload = called("read", {"filePath": "/tmp/test.txt"})
    assert isinstance(payload, ReadFilePayload)
    assert payload.read_file.file_path == "/tmp/test.txt"


@pytest.mark.parametrize("call", [None, [], "text", 5, {"__unparsedToolInput": {"raw": "{", "len": 1}}])
def test_arguments_that_are_no_object_are_kept_as_they_are(call: Any) -> None:
    payload = called("Bash", call)
    assert isinstance(payload, GenericPayload)
    assert (payload.generic.name, payload.generic.input) == ("Bash", call)


def test_a_field_of_the_wrong_type_costs_itself_alone() -> None:
    payload = called("Bash", {"command": "ls", "timeout": [], "description": 5, "run_in_background": "yes"})
    assert isinstance(payload, ShellExecPayload)
    assert dumped(payload) == {"command": "ls"}


def test_integers_beyond_two_to_the_53_stay_what_they_are() -> None:
    big = 2**53 + 1
    payload = called("Unheard", {"id": big, "deep": [2**70]})
    assert f'"id":{big},"deep":[{2**70}]' in msgspec.json.encode(payload).decode()
    assert "offset" not in dumped(
        called("Read", {"file_path": "f", "offset": big})
    )  # no file has such a line


def test_values_too_deep_for_readers_of_json_end_as_text() -> None:
    value: Any = "core"
    for _ in range(600):
        value = [value]
    event = to_json(
        ToolCall(
            tool_status="running",
            tool_call_id="t",
            tool_name="Unheard",
            tool_title="t",
            normalized=called("Unheard", {"deep": value}),
        )
    )
    assert b"core" in event
    assert from_json(event).type == "tool_call"


def test_values_too_deep_for_anything_end_as_an_ellipsis() -> None:
    value: Any = "core"
    for _ in range(100_000):
        value = [value]
    payload = called("Unheard", {"deep": value})
    assert "…" in msgspec.json.encode(payload).decode()


@pytest.mark.parametrize(
    ("name", "call", "title"),
    [
        ("Read", {"file_path": "a.py"}, "Read a.py"),
        ("Read", {"file_path": "a.py", "offset": 10, "limit": 11}, "Read a.py (lines 10-20)"),
        ("Read", {"file_path": "a.py", "limit": 5}, "Read a.py (lines 1-5)"),
        ("Read", {"file_path": "a.py", "offset": 10}, "Read a.py (from line 10)"),
        ("Read", {"file_path": "a.pdf", "pages": "1-3"}, "Read a.pdf (pages 1-3)"),
        ("Read", {}, "Read"),
        ("Write", {"file_path": "a.py", "content": "x"}, "Write a.py"),
        ("Edit", {"file_path": "a.py"}, "Edit a.py"),
        ("Edit", {}, "Edit"),
        ("MultiEdit", {"file_path": "a.py", "edits": [{}, {}]}, "Edit a.py (2 edits)"),
        ("MultiEdit", {"file_path": "a.py"}, "Edit a.py"),
        ("NotebookEdit", {"notebook_path": "n", "cell_id": "c"}, "Edit cell c of n"),
        ("NotebookEdit", {"notebook_path": "n", "edit_mode": "insert"}, "Insert a cell into n"),
        (
            "NotebookEdit",
            {"notebook_path": "n", "cell_id": "c", "edit_mode": "insert"},
            "Insert a cell after cell c of n",
        ),
        ("NotebookEdit", {"notebook_path": "n", "cell_id": "c", "edit_mode": "delete"}, "Delete cell c of n"),
        ("Bash", {"command": "\n ls -l \nrm x", "description": "List"}, "ls -l"),
        ("Bash", {"description": "List"}, "List"),
        ("Bash", {}, "Bash"),
        ("TaskOutput", {"task_id": "x"}, "Read the output of task x"),
        ("TaskOutput", {}, "Read the output"),
        ("TaskStop", {"task_id": "x"}, "Stop task x"),
        ("TaskStop", {}, "Stop a task"),
        ("Glob", {"pattern": "*.py", "path": "src"}, "Find *.py in src"),
        ("Grep", {"pattern": "x", "glob": "*.py"}, "Search for x (*.py)"),
        ("Grep", {"pattern": "x"}, "Search for x"),
        ("LS", {"path": "/a"}, "List /a"),
        ("LS", {}, "LS"),
        ("WebFetch", {"url": "https://x"}, "Fetch https://x"),
        ("WebFetch", {}, "WebFetch"),
        ("WebSearch", {"query": "q"}, "Search the web for q"),
        ("WebSearch", {}, "WebSearch"),
        ("Task", {"description": "Count"}, "Count"),
        ("Task", {"prompt": "Do it\nnow"}, "Do it"),
        ("TaskCreate", {"subject": "s"}, "Create task: s"),
        ("TaskCreate", {}, "Create task"),
        ("TaskUpdate", {"taskId": "1", "status": "completed"}, "Update task 1: completed"),
        ("TaskUpdate", {}, "Update task"),
        ("TaskGet", {"taskId": "1"}, "Look up task 1"),
        ("TaskList", {}, "List the tasks"),
        ("TodoRead", {}, "List the tasks"),
        ("TodoWrite", {"todos": [{"status": "completed"}, {}]}, "Update the to-do list (1 of 2 done)"),
        ("ExitPlanMode", {}, "Show the plan for approval"),
        ("EnterPlanMode", {}, "Enter plan mode"),
        ("AskUserQuestion", {"questions": [{"question": "Which?"}]}, "Which?"),
        ("AskUserQuestion", {}, "AskUserQuestion"),
        ("Skill", {"skill": "greet"}, "Skill: greet"),
        ("SlashCommand", {"command": "/fix 12"}, "/fix 12"),
        ("ToolSearch", {"query": "q"}, "Tool search: q"),
        ("mcp__calc__add", {}, "calc: add"),
        (
            "SendMessage",
            {"to": "helper", "message": "Go on, please.", "summary": "Go on"},
            "Message helper: Go on",
        ),
        ("SendMessage", {}, "Message an agent"),
        ("EnterWorktree", {"name": "wt1"}, "Enter worktree wt1"),
        ("EnterWorktree", {}, "Enter a worktree"),
        ("ExitWorktree", {"action": "remove"}, "Leave the worktree and remove it"),
        ("ExitWorktree", {"action": "keep"}, "Leave the worktree"),
        ("CronCreate", {"cron": "0 9 * * 1", "prompt": "Check"}, "Schedule Check (0 9 * * 1)"),
        ("CronCreate", {}, "Schedule a prompt"),
        ("CronDelete", {"id": "d4"}, "Cancel scheduled job d4"),
        ("CronDelete", {}, "Cancel a scheduled job"),
        ("CronList", {}, "List scheduled jobs"),
        ("ScheduleWakeup", {"delaySeconds": 60, "reason": "wait"}, "Wake up in 60 s: wait"),
        ("ScheduleWakeup", {}, "Wake up later"),
        ("ListAgents", {}, "List the agents"),
        ("ListMcpResourcesTool", {}, "List MCP resources"),
        ("ListMcpResourcesTool", {"server": "calc"}, "List resources of calc"),
        ("ReadMcpResourceTool", {"server": "calc", "uri": "file:///r"}, "Read file:///r of calc"),
        ("ReadMcpResourceTool", {}, "Read a resource"),
        ("StructuredOutput", {"name": "Ada"}, "Give the answer in the form asked for"),
        ("PushNotification", {"message": "Done"}, "Notify: Done"),
        ("PushNotification", {}, "Send a notification"),
        ("ReportFindings", {}, "Report findings"),
        (
            "LSP",
            {"operation": "hover", "filePath": "a.py", "line": 4},
            "Ask the language server: hover in a.py:4",
        ),
        ("LSP", {"filePath": "a.py"}, "Ask the language server: look up in a.py"),
        ("LSP", {}, "Ask the language server: look up"),
        ("Workflow", {"name": "w"}, "Run workflow w"),
        ("Workflow", {}, "Run a workflow"),
        ("advisor", {}, "Ask the advisor"),
        ("bash_code_execution", {"command": "ls\npwd"}, "ls"),
        ("bash_code_execution", {}, "Run a command"),
        ("code_execution", {"code": "print(1)"}, "print(1)"),
        ("code_execution", {}, "Run code"),
        ("text_editor_code_execution", {"command": "view", "path": "/tmp/x"}, "Read /tmp/x"),
        ("text_editor_code_execution", {"command": "str_replace"}, "Edit a file"),
        ("tool_search_tool_bm25", {"query": "q"}, "Tool search: q"),
        ("tool_search_tool_regex", {}, "Tool search"),
        ("Unheard", {}, "Unheard"),
        ("", {}, "tool"),
    ],
)
def test_titles_are_one_line_for_humans(name: str, call: dict[str, Any], title: str) -> None:
    assert tools.title(name, call) == title


def test_long_titles_are_cut() -> None:
    title = tools.title("Bash", {"command": "x" * 1000})
    assert len(title) == titles.LIMIT
    assert title.endswith("…")


def test_titles_hold_no_control_characters() -> None:
    assert tools.title("Read", {"file_path": "a\n\x1b[31mb\u2028c"}) == "Read a ⟨U+001B⟩[31mb c"


@given(names, inputs | json_values)
def test_no_arguments_whatever_make_a_call_fail(name: str, call: Any) -> None:
    payload = called(name, call)
    assert tools.title_of(name, payload)
    event = ToolCall(
        tool_status="running",
        tool_call_id="t",
        tool_name=name,
        tool_title=tools.title(name, call),
        normalized=payload,
    )
    assert from_json(to_json(event)) == event


@pytest.mark.parametrize(
    ("given_as", "offset"),
    [
        (10.0, 10),
        ("10", 10),
        (True, None),
        (1.5, None),
        (float("inf"), None),
        ("1" * 30, None),
        ("²", None),
        ("", None),
    ],
)
def test_whole_numbers_are_read_however_models_write_them(given_as: Any, offset: int | None) -> None:
    assert dumped(called("Read", {"file_path": "f", "offset": given_as})).get("offset") == offset


@pytest.mark.parametrize("name", ["TodoWrite", "todo_write"])
def test_the_entries_of_a_list_may_be_called_items(name: str) -> None:
    entry = {"id": "a", "description": "Test it", "status": "completed"}
    assert dumped(called(name, {"items": [entry]}))["items"] == [entry]


def test_every_tool_with_a_payload_of_its_own_has_a_kind() -> None:
    assert sorted(tools.TOOLS.keys() - KINDS.keys()) == []
