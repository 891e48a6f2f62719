"""Calls of any agent in the words of Claude Code."""

from typing import Any

import pytest

from turnwire.normalize.payloads import (
    AskUserPayload,
    CodeSearchPayload,
    CreateTaskPayload,
    GenericPayload,
    HttpRequestPayload,
    ManageTodosPayload,
    McpToolPayload,
    MiscPayload,
    ModifyFilePayload,
    NormalizedPayload,
    ReadFilePayload,
    ShellExecPayload,
    ShowPlanPayload,
    SubagentTaskPayload,
)
from turnwire.normalize.payloads.files import (
    CodeSearch,
    ContentPart,
    ModifyFile,
    ModifyOutput,
    Mutation,
    ReadFile,
    ReadOutput,
    SearchMatch,
    SearchOutput,
)
from turnwire.normalize.payloads.work import (
    AskUser,
    Choice,
    CreateTask,
    Generic,
    HttpRequest,
    ManageTodos,
    McpTool,
    Misc,
    Question,
    ShellExec,
    ShellOutput,
    ShowPlan,
    SubagentOutput,
    SubagentTask,
    TodoItem,
)
from turnwire.sidecar.streams.sdk.calls import Call, call_of, result_of, structured_of


def shell(**given: Any) -> ShellExecPayload:
    return ShellExecPayload(shell_exec=ShellExec(**{"command": "ls", **given}))


def modify(*changes: Mutation, **given: Any) -> ModifyFilePayload:
    return ModifyFilePayload(modify_file=ModifyFile(file_path="a", mutations=list(changes), **given))


def changed(kind: Any, **given: Any) -> Mutation:
    return Mutation(type=kind, **given)


def search(**given: Any) -> CodeSearchPayload:
    return CodeSearchPayload(code_search=CodeSearch(**given))


def http(**given: Any) -> HttpRequestPayload:
    return HttpRequestPayload(http_request=HttpRequest(**given))


def task(**given: Any) -> SubagentTaskPayload:
    return SubagentTaskPayload(subagent_task=SubagentTask(description="d", prompt="p", **given))


def mcp(**given: Any) -> McpToolPayload:
    return McpToolPayload(mcp_tool=McpTool(server="calc", tool="add", input={"a": 1}, **given))


def generic(**given: Any) -> GenericPayload:
    return GenericPayload(generic=Generic(name="x", **given))


TODO = TodoItem(description="do it", status="pending", active_form="doing it")

CALLS: list[tuple[NormalizedPayload | None, Call]] = [
    (None, Call("own", {"told": 1})),
    (shell(description="d", timeout=5, background=True), Call("Bash", {"command": "ls", "description": "d", "timeout": 5, "run_in_background": True})),
    (shell(command=""), Call("Bash", {})),
    (shell(operation="read", task_id="t"), Call("TaskOutput", {"task_id": "t"})),
    (shell(operation="stop", task_id="t"), Call("TaskStop", {"task_id": "t"})),
    (ReadFilePayload(read_file=ReadFile(file_path="a", offset=2)), Call("Read", {"file_path": "a", "offset": 2})),
    (modify(changed("create", content="new")), Call("Write", {"file_path": "a", "content": "new"})),
    (modify(changed("insert", content="cell", cell_id="c")), Call("NotebookEdit", {"notebook_path": "a", "new_source": "cell", "cell_id": "c", "edit_mode": "insert"})),
    (modify(changed("edit", old_content="x", new_content="y", replace_all=True)), Call("Edit", {"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": True})),
    (modify(changed("edit", new_content="y")), Call("Edit", {"file_path": "a", "old_string": "", "new_string": "y"})),
    (
        modify(changed("edit", old_content="x"), changed("edit", new_content="z", file_path="a")),
        Call("MultiEdit", {"file_path": "a", "edits": [{"old_string": "x", "new_string": ""}, {"old_string": "", "new_string": "z"}]}),
    ),
    (modify(), Call("own", {})),
    (modify(changed("delete")), Call("own", {"file_path": "a", "changes": [{"type": "delete"}]})),
    (
        modify(changed("edit", old_content="x", file_path="b"), changed("edit", diff="-x")),
        Call("own", {"file_path": "a", "changes": [{"type": "edit", "old_content": "x", "file_path": "b"}, {"type": "edit", "diff": "-x"}]}),
    ),
    (search(pattern="*.py", path="src"), Call("Glob", {"pattern": "*.py", "path": "src"})),
    (search(query="x", pattern="x", glob="*.py", mode="content"), Call("Grep", {"pattern": "x", "glob": "*.py", "output_mode": "content"})),
    (http(query="x", method="SEARCH"), Call("WebSearch", {"query": "x"})),
    (http(url="u", prompt="what?"), Call("WebFetch", {"url": "u", "prompt": "what?"})),
    (task(subagent_type="s"), Call("Task", {"description": "d", "prompt": "p", "subagent_type": "s"})),
    (CreateTaskPayload(create_task=CreateTask(title="t")), Call("TaskCreate", {"subject": "t"})),
    (ManageTodosPayload(manage_todos=ManageTodos(operation="write", items=[TODO])), Call("TodoWrite", {"todos": [{"content": "do it", "status": "pending", "activeForm": "doing it"}]})),
    (ManageTodosPayload(manage_todos=ManageTodos(operation="list", items=[])), Call("own", {"operation": "list", "items": []})),
    (ShowPlanPayload(show_plan=ShowPlan(operation="enter")), Call("EnterPlanMode", {})),
    (ShowPlanPayload(show_plan=ShowPlan(operation="exit", plan="p")), Call("ExitPlanMode", {"plan": "p"})),
    (
        AskUserPayload(ask_user=AskUser(questions=[Question(question="q", options=[Choice(label="l")], multi_select=False)])),
        Call("AskUserQuestion", {"questions": [{"question": "q", "header": "", "options": [{"label": "l", "description": ""}], "multiSelect": False}]}),
    ),
    (mcp(), Call("mcp__calc__add", {"a": 1})),
    (generic(input={"a": 1}), Call("own", {"a": 1})),
    (generic(input=[1]), Call("own", {"input": [1]})),
    (generic(), Call("own", {})),
    (MiscPayload(misc=Misc(label="l")), Call("own", {"label": "l"})),
]  # fmt: skip


@pytest.mark.parametrize(("payload", "call"), CALLS)
def test_a_call_is_told_as_claude_code_would_make_it(payload: NormalizedPayload | None, call: Call) -> None:
    assert call_of("own", payload, {"told": 1}) == call


def test_a_call_of_which_nothing_is_known_has_a_name_and_arguments_all_the_same() -> None:
    assert call_of(None, None) == Call("unknown", {})


RESULTS: list[tuple[NormalizedPayload | None, str | None, str]] = [
    (None, None, ""),
    (None, "it broke", "it broke"),
    (shell(output=ShellOutput(stdout="out", stderr="err")), None, "out\nerr"),
    (shell(output=ShellOutput(stdout="out")), "failed", "out\nfailed"),
    (shell(output=ShellOutput(stdout="it failed")), "failed", "it failed"),
    (shell(), None, ""),
    (ReadFilePayload(read_file=ReadFile(file_path="a", output=ReadOutput(content="text"))), None, "text"),
    (ReadFilePayload(read_file=ReadFile(file_path="a", output=ReadOutput(line_count=1))), None, '{"line_count":1}'),
    (http(url="u", response="page"), None, "page"),
    (http(url="u", status=404), None, '{"status":404}'),
    (task(output=SubagentOutput(text="report")), None, "report"),
    (modify(output=ModifyOutput(applied=True, message="done")), None, "done"),
    (modify(output=ModifyOutput(applied=True)), None, '{"applied":true}'),
    (generic(output="said"), None, "said"),
    (mcp(output=[ContentPart(type="text", text="five"), ContentPart(type="image")]), None, "five"),
    (search(output=SearchOutput(matches=[SearchMatch(file="a", line=1, text="x"), SearchMatch(text="y")])), None, "a:1:x\n::y"),
    (search(output=SearchOutput(file_count=0)), None, '{"file_count":0}'),
]  # fmt: skip


@pytest.mark.parametrize(("payload", "error", "text"), RESULTS)
def test_a_result_is_what_a_human_would_read(
    payload: NormalizedPayload | None, error: str | None, text: str
) -> None:
    assert result_of(payload, error) == text


def test_a_command_has_its_streams_apart() -> None:
    told = {"stdout": "out", "stderr": "", "interrupted": False, "isImage": False}
    assert structured_of(shell(output=ShellOutput(stdout="out"))) == told
    assert structured_of(shell(output=ShellOutput(stdout="out", exit_code=3))) == {**told, "exitCode": 3}
    assert structured_of(shell()) is None
    assert structured_of(None) is None
