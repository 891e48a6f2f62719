"""Every call of every recording, checked against its raw lines by rules that know nothing of the normalizer."""

import re
from typing import Any

from msgspec import to_builtins
from patches import patched
from tool_pairs import Pair, pairs

from cases import for_each
from recordings import Recording, recordings
from turnwire.normalize.claude.results import CallResult
from turnwire.normalize.claude.tools import TOOLS, call, title
from turnwire.normalize.payloads import (
    CodeSearchPayload,
    ManageTodosPayload,
    ModifyFilePayload,
    NormalizedPayload,
    ReadFilePayload,
    ShellExecPayload,
    SubagentTaskPayload,
)


def body(payload: NormalizedPayload) -> dict[str, Any]:
    found: dict[str, Any] = to_builtins(payload)
    return found


def check_status(pair: Pair, done: CallResult) -> None:
    assert done.status == ("error" if pair.is_error else "complete")
    assert (done.error is None) == (not pair.is_error)
    assert (done.reason is None) == (not pair.is_error)
    if done.error is not None:
        assert done.error in pair.text
        assert "tool_use_error" not in done.error
    ended = re.match(r"Exit code (\d+)\n", pair.text)
    by_itself = not pair.is_error or (ended is not None and int(ended[1]) <= 128)
    if "Request interrupted by user" in pair.text[:80] and not by_itself:
        assert done.reason == "interrupted"
    if pair.text.startswith(("Claude requested permissions", "This command requires approval")):
        assert done.reason == "denied"
    assert done.background == (
        (
            not pair.is_error
            and isinstance(pair.structured, dict)
            and ("backgroundTaskId" in pair.structured or pair.structured.get("isAsync") is True)
        )
        or (
            not pair.is_error
            and pair.text.startswith("Command running in background with ID")
            and pair.input.get("run_in_background") is True
        )
    )


def check_shell(pair: Pair, payload: ShellExecPayload) -> None:
    output = payload.shell_exec.output
    if pair.name == "Bash":
        assert payload.shell_exec.command == pair.input.get("command", "")
    said = re.match(r"Exit code (\d+)", pair.text)
    if pair.name != "Bash":
        return
    if pair.is_error:
        assert (output.exit_code if output else None) == (int(said[1]) if said else None)
    else:
        assert output is not None
        if output.task_id:
            assert output.exit_code is None
            assert output.task_id in pair.text
        elif isinstance(pair.structured, dict):
            assert output.exit_code == (1 if pair.structured.get("returnCodeInterpretation") else 0)
        else:
            forgiven = re.search(r"\b(?:grep|rg|find|diff|test)\b|\[", pair.input["command"])
            assert output.exit_code in ({0, None} if forgiven else {0})
    if isinstance(pair.structured, dict):
        assert output is not None
        assert output.stdout == (None if pair.structured["isImage"] else pair.structured["stdout"])
        assert (output.stderr or "") == pair.structured["stderr"]
        assert bool(output.interrupted) == pair.structured["interrupted"]
        assert output.persisted_path == pair.structured.get("persistedOutputPath")
        assert output.task_id == pair.structured.get("backgroundTaskId")


def check_read(pair: Pair, payload: ReadFilePayload) -> None:
    output = payload.read_file.output
    assert (output is None) == pair.is_error
    if output is None or not isinstance(pair.structured, dict):
        return
    file = pair.structured["file"]
    match pair.structured["type"]:
        case "text":
            assert output.content == file["content"]
            assert (output.start_line, output.line_count) == (file["startLine"], file["numLines"])
            assert output.total_lines == file["totalLines"]
            assert output.truncated == (file["numLines"] < file["totalLines"])
        case "image":
            assert output.parts is not None
            assert [part.base64 for part in output.parts] == [file["base64"]]
            assert output.parts[0].media_type == file["type"]
        case "notebook":
            assert output.parts is not None
            cells = [part.text for part in output.parts if part.cell_type != "output"]
            assert cells == [cell["source"] for cell in file["cells"]]
        case "file_unchanged":
            assert output.unchanged
        case "pdf":
            assert output.parts is not None
            assert [part.base64 for part in output.parts] == [file["base64"]]
        case _:
            assert output.parts


def check_modify(pair: Pair, payload: ModifyFilePayload) -> None:
    changed = payload.modify_file
    assert changed.output is not None
    assert changed.output.applied == (not pair.is_error)
    if pair.is_error:
        assert changed.output.message
    if not isinstance(pair.structured, dict) or "structuredPatch" not in pair.structured:
        return
    only = changed.mutations[0]
    original = pair.structured["originalFile"] or ""
    if "content" in pair.structured:
        expected = pair.structured["content"]
        assert only.content == expected
        assert changed.output.created == (pair.structured["type"] == "create")
    else:
        old, new = pair.structured["oldString"], pair.structured["newString"]
        if not new and not old.endswith("\n") and f"{old}\n" in original:
            old += "\n"  # a line that goes takes its end with it
        expected = original.replace(old, new, -1 if pair.structured["replaceAll"] else 1)
        if old != pair.input["old_string"] and new:
            return  # found with curly quotes: what was written is in the file alone
    assert only.diff is not None
    if original == expected:
        assert only.diff == ""
        return
    assert patched(original, only.diff) == expected
    assert only.relative is None
    added = [line for line in only.diff.split("\n")[2:] if line.startswith("+")]
    removed = [line for line in only.diff.split("\n")[2:] if line.startswith("-")]
    assert (changed.output.added_lines, changed.output.removed_lines) == (len(added), len(removed))


def check_search(pair: Pair, payload: CodeSearchPayload) -> None:
    output = payload.code_search.output
    assert (output is None) == pair.is_error
    if output is None:
        return
    assert output.files is not None
    assert output.file_count == len(output.files)
    if pair.text in ("No files found", "No matches found"):
        assert output.file_count == 0
    if isinstance(pair.structured, dict) and pair.structured["filenames"]:
        assert output.files == pair.structured["filenames"]
    if output.matches is not None:
        assert output.match_count == sum(not match.context for match in output.matches)
        for match in output.matches:
            assert match.text in pair.text
            if not payload.code_search.multiline:
                assert re.search(payload.code_search.pattern or "", match.text) or match.context
    if output.counts is not None:
        said = re.search(r"Found (\d+) total occurrences? across (\d+) files?\b", pair.text)
        assert said is not None or pair.structured is None
        if said is not None and (said[2] != "0" or not re.match(r"\d+\n", pair.text)):
            # The CLI's own totals are 0 when one file is searched and the count stands alone.
            assert (output.match_count, output.file_count) == (int(said[1]), int(said[2]))
        assert sum(output.counts.values()) == output.match_count


def check_subagent(pair: Pair, payload: SubagentTaskPayload) -> None:
    output = payload.subagent_task.output
    assert output is not None
    if isinstance(pair.structured, dict):
        assert output.status == pair.structured["status"]
        assert output.agent_id == pair.structured["agentId"]
        assert output.total_tokens == pair.structured.get("totalTokens")
        assert output.tool_use_count == pair.structured.get("totalToolUseCount")
        assert output.duration_ms == pair.structured.get("totalDurationMs")
    if output.text:
        assert "agentId" not in output.text
        assert "<usage>" not in output.text


def check_todos(pair: Pair, payload: ManageTodosPayload) -> None:
    items = [(item.description, item.status) for item in payload.manage_todos.items]
    if isinstance(pair.structured, dict) and "newTodos" in pair.structured:
        old = [(item.description, item.status) for item in payload.manage_todos.old_items or []]
        assert items == [(todo["content"], todo["status"]) for todo in pair.structured["newTodos"]]
        assert old == [(todo["content"], todo["status"]) for todo in pair.structured["oldTodos"]]
    if isinstance(pair.structured, dict) and "tasks" in pair.structured:
        assert items == [(task["subject"], task["status"]) for task in pair.structured["tasks"]]


@for_each("recording", recordings(), by=lambda recording: recording.version)
def test_every_result_says_what_its_raw_line_says(recording: Recording) -> None:
    for pair in pairs(recording):
        done = pair.enriched()
        before = call(pair.name, pair.input)
        assert done.payload.kind == before.kind, pair.where
        assert title(pair.name, pair.input).strip(), pair.where
        assert "\n" not in title(pair.name, pair.input)
        if pair.name in TOOLS and "__unparsedToolInput" not in pair.input:
            assert done.payload.kind != "generic", pair.where
        check_status(pair, done)
        match done.payload:
            case ShellExecPayload():
                check_shell(pair, done.payload)
            case ReadFilePayload():
                check_read(pair, done.payload)
            case ModifyFilePayload():
                check_modify(pair, done.payload)
            case CodeSearchPayload():
                check_search(pair, done.payload)
            case SubagentTaskPayload():
                check_subagent(pair, done.payload)
            case ManageTodosPayload():
                check_todos(pair, done.payload)
            case _:
                assert body(done.payload)


def test_the_recordings_hold_every_kind_of_payload() -> None:
    kinds = {pair.enriched().payload.kind for recording in recordings() for pair in pairs(recording)}
    assert kinds == {
        "read_file",
        "modify_file",
        "shell_exec",
        "code_search",
        "http_request",
        "subagent_task",
        "create_task",
        "manage_todos",
        "show_plan",
        "ask_user",
        "mcp_tool",
        "generic",
        "misc",
    }
