"""How payloads are shown: every kind, and that mypy finds a place that does not know a kind."""

import re
import sys
from pathlib import Path
from subprocess import run

import msgspec
import pytest

from cases import for_each
from recordings import ROOT
from turnwire.client import payloads as client_payloads
from turnwire.client import shown as client_shown
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
from turnwire.normalize.payloads.shown import (
    TextBlock,
    action_of,
    result_fields,
    result_text,
    searched_text,
    text_blocks,
)
from turnwire.normalize.payloads.work import (
    AskUser,
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

Row = tuple[NormalizedPayload, str, tuple[str, ...], str | None, list[tuple[str, str]], list[TextBlock]]

OUTPUT = ("output",)
FETCHED = ("response", "is_error", "status", "bytes", "results")


def read(output: ReadOutput | None) -> ReadFilePayload:
    return ReadFilePayload(read_file=ReadFile(file_path="a", output=output))


def search(output: SearchOutput | None) -> CodeSearchPayload:
    return CodeSearchPayload(code_search=CodeSearch(query="q", pattern="*.py", output=output))


def edit(*mutations: Mutation, output: ModifyOutput | None = None) -> ModifyFilePayload:
    return ModifyFilePayload(modify_file=ModifyFile(file_path="a", mutations=list(mutations), output=output))


FOUND = [("command", "q"), ("command", "*.py")]
MATCH = [SearchMatch(file="a", line=3, text="x"), SearchMatch(text="y")]

ROWS: dict[str, Row] = {
    "read": (read(ReadOutput(content="t")), "read", OUTPUT, "t", [("path", "a")], [("code", "t")]),
    "read, no output": (read(None), "read", OUTPUT, None, [("path", "a")], []),
    "edit": (
        edit(
            Mutation(type="edit", diff="@@"),
            Mutation(type="create", content="new"),
            Mutation(type="edit", old_content="o", new_content="n"),
            Mutation(type="delete"),
            output=ModifyOutput(applied=True, message="done"),
        ),
        "edit", OUTPUT, "done", [("path", "a")], [("diff", "@@"), ("code", "new"), ("diff", "-o\n+n")],
    ),
    "delete": (edit(Mutation(type="delete")), "delete", OUTPUT, None, [("path", "a")], []),
    "command": (
        ShellExecPayload(
            shell_exec=ShellExec(command="make", output=ShellOutput(stdout="o", stderr="e", exit_code=2))
        ),
        "execute", OUTPUT, "o\ne", [("command", "make")],
        [("code", "$ make"), ("code", "o"), ("code", "e"), ("text", "exit code 2")],
    ),
    "command, no output": (
        ShellExecPayload(shell_exec=ShellExec(command="make")),
        "execute", OUTPUT, None, [("command", "make")], [("code", "$ make")],
    ),
    "search": (search(SearchOutput(matches=MATCH)), "search", OUTPUT, "a:3:x\n::y", FOUND, [("code", "x\ny")]),
    "search, files": (search(SearchOutput(files=["a"])), "search", OUTPUT, None, FOUND, [("code", "a")]),
    "search, no output": (search(None), "search", OUTPUT, None, FOUND, []),
    "fetch": (
        HttpRequestPayload(http_request=HttpRequest(response="page", results=[{"title": "T", "url": "u"}, {}])),
        "fetch", FETCHED, "page", [], [("text", "page"), ("text", "T u\n")],
    ),
    "subagent": (
        SubagentTaskPayload(
            subagent_task=SubagentTask(description="d", prompt="p", output=SubagentOutput(text="r"))
        ),
        "think", OUTPUT, "r", [("prompt", "p")], [("text", "p")],
    ),
    "subagent, no output": (
        SubagentTaskPayload(subagent_task=SubagentTask(description="d", prompt="p")),
        "think", OUTPUT, None, [("prompt", "p")], [("text", "p")],
    ),
    "task": (
        CreateTaskPayload(create_task=CreateTask(title="t", description="d")),
        "think", (), None, [], [("text", "d")],
    ),
    "to-dos": (
        ManageTodosPayload(
            manage_todos=ManageTodos(operation="write", items=[TodoItem(description="d", status="completed")])
        ),
        "think", (), None, [], [("text", "[x] d")],
    ),
    "plan": (
        ShowPlanPayload(show_plan=ShowPlan(operation="exit", plan="# Plan")),
        "switch_mode", ("approved", "feedback"), None, [], [("text", "# Plan")],
    ),
    "question": (
        AskUserPayload(
            ask_user=AskUser(questions=[Question(question="Q?", options=[], multi_select=False)], answers={"Q?": "A"})
        ),
        "other", ("answers",), None, [], [("text", "Q? A")],
    ),
    "mcp": (
        McpToolPayload(
            mcp_tool=McpTool(server="s", tool="t", input={}, output=[ContentPart(type="text", text="x")])
        ),
        "other", OUTPUT, "x", [], [("text", "x")],
    ),
    "mcp, no output": (
        McpToolPayload(mcp_tool=McpTool(server="s", tool="t", input={})), "other", OUTPUT, None, [], [],
    ),
    "generic": (
        GenericPayload(generic=Generic(name="n", input={"a": 1}, output="said")),
        "other", OUTPUT, "said", [], [("code", '{\n  "a": 1\n}'), ("code", "said")],
    ),
    "generic, an object": (
        GenericPayload(generic=Generic(name="n", output=[1])), "other", OUTPUT, None, [], [("code", "[\n  1\n]")],
    ),
    "misc": (MiscPayload(misc=Misc(label="l", details="d")), "other", (), None, [], [("code", "d")]),
}  # fmt: skip


@for_each("payload, action, fields, text, found, blocks", ROWS.values())
def test_a_payload_is_shown(  # noqa: PLR0917 - one row
    payload: NormalizedPayload,
    action: str,
    fields: tuple[str, ...],
    text: str | None,
    found: list[tuple[str, str]],
    blocks: list[TextBlock],
) -> None:
    assert action_of(payload) == action
    assert result_fields(payload) == fields
    assert result_text(payload) == text
    assert searched_text(payload) == found
    assert text_blocks(payload) == blocks
    theirs = msgspec.json.decode(msgspec.json.encode(payload), type=client_payloads.NormalizedPayload)
    assert client_shown.action_of(theirs) == action
    assert client_shown.result_fields(theirs) == fields
    assert client_shown.result_text(theirs) == text
    assert client_shown.searched_text(theirs) == found
    assert client_shown.text_blocks(theirs) == blocks


PLACES = {
    "normalize/payloads/titles.py": 1,
    "normalize/payloads/shown.py": 5,
    "client/shown.py": 5,
    "frontends/acp/tool_calls.py": 1,
}
"""Where a payload kind must be known, and by how many functions."""

NEW = '''
class NewPayload(Payload, frozen=True, kw_only=True, tag="new"):
    """A new kind."""

NormalizedPayload: TypeAlias = (
    NewPayload
    |'''


@pytest.mark.long
def test_a_new_kind_that_any_place_leaves_out_does_not_type_check(tmp_path: Path) -> None:
    shadows: list[str] = []
    for path in ("turnwire/normalize/payloads/__init__.py", "turnwire/client/payloads.py"):
        source = (ROOT / path).read_text(encoding="utf-8")
        changed = source.replace("\nNormalizedPayload: TypeAlias = (\n   ", NEW)
        assert changed != source
        shadow = tmp_path / path.replace("/", "_")
        shadow.write_text(changed, encoding="utf-8")
        shadows += ["--shadow-file", path, str(shadow)]
    done = run(
        [
            sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), "--follow-imports=silent",
            *shadows, *(f"turnwire/{path}" for path in PLACES),
        ],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = re.findall(
        r"^turnwire/(\S+?):\d+: error: .*\"NewPayload\".*\[arg-type\]$", done.stdout, re.MULTILINE
    )
    assert {place: found.count(place) for place in PLACES} == PLACES, done.stdout + done.stderr
