"""What people read of a conversation, and what is found in it: every kind of tool, with what it was given and gave."""

import pytest

from turnwire.history.conversation_text import ConversationPart, body_of, folded, searched
from turnwire.normalize import events as ev
from turnwire.normalize.payloads import (
    AskUserPayload,
    CodeSearchPayload,
    GenericPayload,
    ManageTodosPayload,
    McpToolPayload,
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
    Mutation,
    ReadFile,
    ReadOutput,
    SearchMatch,
    SearchOutput,
)
from turnwire.normalize.payloads.work import (
    AskUser,
    Generic,
    ManageTodos,
    McpTool,
    Question,
    ShellExec,
    ShellOutput,
    ShowPlan,
    SubagentTask,
    TodoItem,
)

SHELL = ShellExecPayload(
    shell_exec=ShellExec(command="make", output=ShellOutput(exit_code=2, stdout="out", stderr="oops"))
)
EDIT = ModifyFilePayload(
    modify_file=ModifyFile(
        file_path="a.py",
        mutations=[
            Mutation(type="edit", diff="@@"),
            Mutation(type="create", content="new"),
            Mutation(type="edit", old_content="a\nb", new_content="c"),
            Mutation(type="delete"),
        ],
    )
)
READ = ReadFilePayload(read_file=ReadFile(file_path="a.py", output=ReadOutput(content="its text")))
TODOS = ManageTodosPayload(
    manage_todos=ManageTodos(
        operation="write",
        items=[
            TodoItem(description="first", status="completed"),
            TodoItem(description="second", status="in_progress"),
            TodoItem(description="third", status="pending"),
        ],
    )
)
PLAN = ShowPlanPayload(show_plan=ShowPlan(operation="exit", plan="First this."))
ASKED = AskUserPayload(
    ask_user=AskUser(
        questions=[
            Question(question="Which?", options=[], multi_select=False),
            Question(question="And?", options=[], multi_select=False),
        ],
        answers={"Which?": "the red one"},
    )
)
TASK = SubagentTaskPayload(subagent_task=SubagentTask(description="look", prompt="Look around."))
MATCHES = CodeSearchPayload(
    code_search=CodeSearch(
        query="where", pattern="f.o", output=SearchOutput(matches=[SearchMatch(text="foo = 1")], files=["a"])
    )
)
FILES = CodeSearchPayload(code_search=CodeSearch(pattern="*.py", output=SearchOutput(files=["a.py", "b.py"])))
MCP = McpToolPayload(
    mcp_tool=McpTool(
        server="s",
        tool="t",
        input={},
        output=[ContentPart(type="text", text="42"), ContentPart(type="image")],
    )
)
OTHER = GenericPayload(generic=Generic(name="odd"))


@pytest.mark.parametrize(
    ("payload", "blocks"),
    [
        (SHELL, [("code", "$ make"), ("code", "out"), ("code", "oops"), ("text", "exit code 2")]),
        (ShellExecPayload(shell_exec=ShellExec(command="make")), [("code", "$ make")]),
        (EDIT, [("diff", "@@"), ("code", "new"), ("diff", "-a\n-b\n+c")]),
        (READ, [("code", "its text")]),
        (ReadFilePayload(read_file=ReadFile(file_path="a.py")), []),
        (TODOS, [("text", "[x] first\n[~] second\n[ ] third")]),
        (PLAN, [("text", "First this.")]),
        (ShowPlanPayload(show_plan=ShowPlan(operation="enter")), []),
        (ASKED, [("text", "Which? the red one\nAnd?")]),
        (TASK, [("text", "Look around.")]),
        (MATCHES, [("code", "foo = 1")]),
        (FILES, [("code", "a.py\nb.py")]),
        (CodeSearchPayload(code_search=CodeSearch(pattern="x", output=SearchOutput())), []),
        (MCP, [("text", "42")]),
        (OTHER, []),
        (None, []),
    ],
)
def test_a_tool_is_shown_with_what_it_was_given_and_gave(
    payload: NormalizedPayload | None, blocks: list[tuple[str, str]]
) -> None:
    assert body_of(ConversationPart("tool", payload=payload)) == blocks
    failed = ConversationPart("tool", "it failed", payload=payload)
    assert body_of(failed) == [*blocks, ("text", "it failed")]


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (SHELL, [("command", "make")]),
        (EDIT, [("path", "a.py")]),
        (READ, [("path", "a.py")]),
        (MATCHES, [("command", "where"), ("command", "f.o")]),
        (FILES, [("command", "*.py")]),
        (TASK, [("prompt", "Look around.")]),
        (OTHER, []),
        (None, []),
    ],
)
def test_a_tool_is_found_by_what_it_was_given(
    payload: NormalizedPayload | None, words: list[tuple[str, str]]
) -> None:
    found = searched([ConversationPart("tool", payload=payload, message="m", seq=7)])
    assert [(said.message, said.kind, said.text, seq) for said, seq in found] == [
        ("m", kind, text, 7) for kind, text in words
    ]


def test_what_happened_beside_the_talk_is_a_note_and_a_turn_ends_with_what_it_took() -> None:
    data = ev.CompleteData(
        outcome="max_turns", is_error=True, duration_ms=1500, input_tokens=3, output_tokens=4, cost_usd=0.25
    )
    parts = folded(
        [
            ev.UserMessage(text="told by the agent itself", synthetic=True),
            ev.CompactBoundary(trigger="auto"),
            ev.Notice(kind="limit", level="info", text="nobody needs this"),
            ev.Notice(kind="limit", level="warning", text="nearly used up"),
            ev.Error(error="it broke"),
            ev.Cut(text="from an earlier message", reason="rewind", void_turns=[]),
            ev.Complete(operation_id="turn-1", data=data),
            ev.Complete(operation_id="turn-2", data=ev.CompleteData(outcome="completed", is_error=False)),
        ]
    )
    assert [(part.kind, part.text) for part in parts] == [
        ("note", "told by the agent itself"),
        ("note", "What was said before was replaced by a summary."),
        ("note", "nearly used up"),
        ("note", "it broke"),
        ("note", "from an earlier message"),
        ("end", "max turns, 1.5 s, 3 tokens in, 4 out, $0.2500"),
        ("end", ""),
    ]


def test_an_update_of_a_call_that_nobody_has_seen_is_shown_as_one() -> None:
    (part,) = folded(
        [
            ev.ToolUpdate(tool_call_id="c", tool_name="Bash", tool_status="running", parent_tool_call_id="p"),
            ev.ToolUpdate(
                tool_call_id="c",
                tool_title="make it",
                tool_status="error",
                reason="denied",
                error="no",
                normalized=SHELL,
            ),
        ]
    )
    assert (part.kind, part.title, part.status, part.text, part.nested) == (
        "tool",
        "make it",
        "denied",
        "no",
        True,
    )
    assert part.payload is SHELL


def test_a_text_that_is_said_anew_takes_the_place_of_what_was_said_of_it() -> None:
    parts = folded(
        [
            ev.MessageChunk(text="fir", message_id="m", block_index=0),
            ev.MessageChunk(text="st", message_id="m", block_index=0),
            ev.MessageChunk(text="second", message_id="m", block_index=0, replace=True),
            ev.Reasoning(reasoning_text="so", message_id="m", block_index=1),
            ev.Reasoning(reasoning_text="thus", message_id="m", block_index=1, replace=True),
        ]
    )
    assert [(part.kind, part.text) for part in parts] == [("text", "second"), ("reasoning", "thus")]
