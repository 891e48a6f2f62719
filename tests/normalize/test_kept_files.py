"""What Codex, Gemini CLI and Qwen Code keep of a conversation is the conversation."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kept_files import AGENTS, KEPT, kept_file

from recordings import recordings
from turnwire.normalize import events as ev
from turnwire.normalize.acp.session_files.codex import changes_of
from turnwire.normalize.acp.session_files.steps import Change
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.families import FAMILIES, recorded_core
from turnwire.normalize.payloads import ModifyFilePayload, ShellExecPayload
from turnwire.normalize.recordings.session_files import ConversationSummary, SearchableText, SessionFiles
from turnwire.recordings.reading import length, read
from turnwire.recordings.session_file import format_of, survey_of


def of(agent: str) -> SessionFiles:
    """The files of an agent."""
    return next(files for files in FAMILIES["acp"].files if agent.startswith(files.agent))


def told(
    lines: Sequence[bytes], agent: str, leaf: str | None = None
) -> tuple[list[AgentEvent], ConversationSummary]:
    """What the lines of a file say."""
    survey = of(agent).survey()
    for line in lines:
        survey.handle(line)
    reader, core = survey.reader(leaf), recorded_core()
    events = [event for line in lines for dated in reader.read(line) for event in core.handle(dated.input)]
    events += [event for dated in reader.close() for event in core.handle(dated.input)]
    assert core.stats.unknown == 0
    return events, survey.outline()


def lines_of(agent: str) -> list[bytes]:
    return kept_file(agent).read_bytes().splitlines()


def words(events: Sequence[AgentEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, ev.UserMessage | ev.MessageChunk)]


SAID = [
    "Remember 4711 and write it down.",
    "I write it.",
    "Both are done.",
    "Which number was it?",
    "It was 4711.",
]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_file_is_its_conversation(agent: str) -> None:
    core = recorded_core()
    events = [event for timed in read(kept_file(agent)) for event in core.handle(timed.input)]
    assert words(events) == SAID
    ends = [event.data for event in events if isinstance(event, ev.Complete)]
    assert [(end.outcome, end.input_tokens, end.output_tokens) for end in ends] == [
        ("completed", 300, 60),
        ("completed", 100, 20),
    ]
    edit, command = (event for event in events if isinstance(event, ev.ToolUpdate))
    assert isinstance(edit.normalized, ModifyFilePayload)
    (mutation,) = edit.normalized.modify_file.mutations
    assert mutation.diff is not None
    assert "+one" in mutation.diff
    assert isinstance(command.normalized, ShellExecPayload)
    shell = command.normalized.shell_exec
    assert shell.command == "cat made.txt; echo from-the-shell; exit 3"
    assert shell.output is not None
    assert "from-the-shell" in (shell.output.stdout or "")
    assert shell.output.exit_code == 3
    info = [event for event in events if isinstance(event, ev.SessionInfo)][-1]
    assert info.cwd == "/workspace/project"
    assert info.agent_name is not None
    assert agent.partition("-")[0] in info.agent_name
    assert info.model in ("gpt-5.5", "gemini-3.8-flash", "scripted-1")
    assert core.stats.unknown == core.stats.malformed == 0
    prompts = 2  # lines that became ones we sent
    stats = core.stats
    assert stats.published + stats.counted + stats.control + prompts >= length(kept_file(agent)) - 1


@pytest.mark.parametrize("agent", AGENTS)
def test_records_in_one_line_are_listed_as_records_in_lines(agent: str) -> None:
    lines = kept_file(agent).read_bytes().splitlines()
    whole, glued = of(agent).survey(), of(agent).survey()
    said = whole.look_over(lines)
    assert glued.look_over([b" ".join(lines)]) == said
    assert glued.outline() == whole.outline()


@pytest.mark.parametrize("agent", AGENTS)
def test_a_list_shows_what_it_is(agent: str) -> None:
    path = kept_file(agent)
    found = format_of(path)
    assert found is not None
    texts: list[SearchableText] = []
    outline = survey_of(path, found.files, texts.extend).outline()
    said = [(one.kind, one.text) for one in texts]
    assert (outline.turns, outline.first_prompt, outline.folder) == (2, SAID[0], "/workspace/project")
    assert found.session == outline.session_id
    assert path.stem.endswith(found.session[:8] if agent.startswith("gemini") else found.session)
    assert outline.began is not None
    assert outline.ended is not None
    assert outline.ended > outline.began > 1.7e9
    assert sum(answer.input_tokens for answer in outline.answers) == 400
    assert ("command", "cat made.txt; echo from-the-shell; exit 3") in said
    assert ("prompt", SAID[0]) in said
    assert ("text", "It was 4711.") in said
    assert any(kind == "path" and text.endswith("made.txt") for kind, text in said)


def test_each_file_is_of_one_agent_and_no_other_recording_is_one() -> None:
    for path in KEPT.glob("**/*.jsonl"):
        line = path.read_bytes().splitlines()[0]
        known = [
            files.agent for family in FAMILIES.values() for files in family.files if files.recognises(line)
        ]
        assert [path.relative_to(KEPT).parts[0].partition("-")[0]] == known
    for one in recordings():
        for line in one.stdout_path.read_bytes().splitlines()[:20] if one.stdout else []:
            assert not any(files.recognises(line) for files in FAMILIES["acp"].files)


def gemini(*records: object) -> list[bytes]:
    head = {"sessionId": "s", "projectHash": "h", "startTime": "2026-01-02T03:04:05Z", "kind": "main"}
    return [json.dumps(record).encode() for record in (head, *records)]


def message(name: str, kind: str = "user", **more: object) -> dict[str, object]:
    return {"id": name, "timestamp": "2026-01-02T03:04:06Z", "type": kind, "content": f"say {name}", **more}


def test_what_was_taken_back_is_not_shown_and_can_be_read() -> None:
    lines = gemini(
        message("a"),
        message("b", "gemini"),
        message("c"),
        message("d", "gemini"),
        {"$rewindTo": "c"},
        message("e"),
    )
    events, outline = told(lines, "gemini")
    assert words(events) == ["say a", "say b", "say e"]
    assert outline.turns == 2
    (left,) = outline.branches
    assert (left.leaf, left.prompt) == ("d", "say c")
    assert words(told(lines, "gemini", "d")[0]) == ["say a", "say b", "say c", "say d"]
    (notice,) = [event for event in events if isinstance(event, ev.Notice)]
    assert notice.kind == "branches"


def test_a_message_that_is_written_again_is_told_once() -> None:
    call = {"id": "t", "name": "run_shell_command", "args": {"command": "ls"}, "status": "executing"}
    done = {**call, "status": "error", "resultDisplay": "no"}
    lines = gemini(
        message("a"),
        message("b", "gemini"),
        message("b", "gemini", toolCalls=[call]),
        message("b", "gemini", toolCalls=[done]),
    )
    events, _ = told(lines, "gemini")
    assert words(events) == ["say a", "say b"]
    assert [event.tool_status for event in events if isinstance(event, ev.ToolCall | ev.ToolUpdate)] == [
        "running",
        "error",
    ]


def test_a_subagents_file_is_no_conversation() -> None:
    lines = gemini(message("a"))
    lines[0] = lines[0].replace(b'"main"', b'"subagent"')
    assert told(lines, "gemini")[1].turns == 0


def codex(*payloads: tuple[str, object]) -> list[bytes]:
    return [
        json.dumps({"timestamp": f"2026-01-02T03:04:{number:02}Z", "type": kind, "payload": payload}).encode()
        for number, (kind, payload) in enumerate((("session_meta", {"id": "s", "cwd": "/p"}), *payloads))
    ]


def said(role: str, text: str) -> tuple[str, object]:
    kind = "output_text" if role == "assistant" else "input_text"
    return "response_item", {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def test_an_older_codex_tells_its_commands_in_words() -> None:
    call = {
        "type": "function_call",
        "name": "shell",
        "call_id": "c",
        "arguments": '{"command":["bash","-lc","ls"],"workdir":"/p"}',
    }
    result = {
        "type": "function_call_output",
        "call_id": "c",
        "output": '{"output":"a\\n","metadata":{"exit_code":2}}',
    }
    events, _ = told(
        codex(
            said("user", "<environment_context>x</environment_context>"),
            said("user", "List."),
            ("response_item", call),
            ("response_item", result),
            ("event_msg", {"type": "turn_aborted"}),
        ),
        "codex",
    )
    assert words(events) == ["List."]
    (update,) = [event for event in events if isinstance(event, ev.ToolUpdate)]
    assert isinstance(update.normalized, ShellExecPayload)
    assert update.normalized.shell_exec.command == "ls"
    assert update.normalized.shell_exec.output is not None
    assert (update.normalized.shell_exec.output.exit_code, update.normalized.shell_exec.output.stdout) == (
        2,
        "a\n",
    )
    (done,) = [event for event in events if isinstance(event, ev.Complete)]
    assert done.data.outcome == "interrupted"


def test_codex_goes_back_by_turns() -> None:
    back = ("event_msg", {"type": "thread_rolled_back", "num_turns": 1})
    events, outline = told(
        codex(
            said("user", "a"),
            said("assistant", "b"),
            said("user", "c"),
            said("assistant", "d"),
            back,
            said("user", "e"),
        ),
        "codex",
    )
    assert words(events) == ["a", "b", "e"]
    assert [one.prompt for one in outline.branches] == ["c"]


def test_a_patch_of_codex_is_its_changes() -> None:
    patch = "*** Begin Patch\n*** Add File: a\n+1\n*** Update File: b\n@@ def x\n same\n-old\n+new\n*** Delete File: c\n*** End Patch"
    assert changes_of(patch) == [
        Change("a", None, "1\n"),
        Change("b", "same\nold\n", "same\nnew\n"),
        Change("c", "", None),
    ]
    assert changes_of("") == changes_of("*** Update File: ") == []


@given(data=st.data())
@settings(max_examples=60)
def test_damage_costs_only_what_it_hits(data: st.DataObject) -> None:
    agent = data.draw(st.sampled_from(AGENTS))
    lines = lines_of(agent)
    number = data.draw(st.integers(0, len(lines) - 1))
    line = lines[number]
    match data.draw(st.sampled_from(["cut", "gone", "twice", "odd", "noise", "deep", "loop"])):
        case "cut":
            lines[number] = line[: data.draw(st.integers(0, len(line)))]
        case "gone":
            del lines[number]
        case "twice":
            lines.insert(number, line)
        case "noise":
            lines.insert(number, data.draw(st.binary(max_size=40)).replace(b"\n", b" "))
        case "deep":
            lines.insert(number, b'{"type":"user","message":' + b"[" * 300)
        case "loop":
            lines.insert(
                number,
                json.dumps(
                    {**json.loads(line), "parentUuid": json.loads(line).get("uuid"), "$rewindTo": "x"}
                ).encode(),
            )
        case _:
            value = json.loads(line)
            inside = value
            while True:
                key = data.draw(st.sampled_from(sorted(inside)))
                if not isinstance(inside[key], dict) or not inside[key] or data.draw(st.booleans()):
                    break
                inside = inside[key]
            inside[key] = data.draw(st.sampled_from([None, 3, -1, "x", [], {}, [{"a": 1}], "\ud83d", 1e300]))
            lines[number] = json.dumps(value).encode()
    told(lines, agent)


def test_a_file_with_nothing_but_its_head_is_read(tmp_path: Path) -> None:
    for agent in AGENTS:
        path = tmp_path / f"{agent}.jsonl"
        path.write_bytes(lines_of(agent)[0])
        assert format_of(path) is not None
        list(read(path))


def test_codex_tells_of_searches_changes_titles_errors_and_summaries() -> None:
    changes = {
        "a": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-old\n+new\n"},
        "b": {"type": "delete", "content": "x\n"},
        "c": {},
    }
    done = {"type": "FileChange", "id": "c", "changes": changes, "status": "completed", "stdout": "Done."}
    items: list[dict[str, object]] = [
        {"type": "web_search_call", "id": "w", "action": {"query": "weather"}},
        {"type": "local_shell_call", "call_id": "l", "action": {"command": ["ls", "a b"]}},
        {
            "type": "function_call_output",
            "call_id": "l",
            "output": [{"text": "Exit code: 1\nWall time: 0 s\nOutput:\nno"}],
        },
        {
            "type": "custom_tool_call",
            "call_id": "c",
            "name": "apply_patch",
            "input": "*** Begin Patch\n*** End Patch",
        },
        {"type": "function_call", "call_id": "m", "name": "my_tool", "arguments": '{"x": 1}'},
        {"type": "function_call_output", "call_id": "m", "output": {"content": "yes"}},
        {"type": "ghost"},
    ]
    events, outline = told(
        codex(
            said("user", "Go."),
            *(("response_item", item) for item in items),
            ("event_msg", {"type": "item_completed", "item": done}),
            ("response_item", {"type": "custom_tool_call_output", "call_id": "c", "output": "Done."}),
            ("event_msg", {"type": "thread_name_updated", "thread_name": "A name"}),
            ("event_msg", {"type": "stream_error", "message": "broken"}),
            ("compacted", {}),
            said("assistant", "Gone."),
        ),
        "codex",
    )  # fmt: skip
    assert outline.title == "A name"
    assert [event.text for event in events if isinstance(event, ev.Notice)] == ["broken"]
    assert [event.type for event in events].count("compact_boundary") == 1
    updates = {event.tool_call_id: event for event in events if isinstance(event, ev.ToolUpdate)}
    assert {name: update.tool_status for name, update in updates.items()} == {
        "w": "complete", "l": "error", "c": "complete", "m": "complete",
    }  # fmt: skip
    edit = updates["c"].normalized
    assert isinstance(edit, ModifyFilePayload)
    assert [mutation.type for mutation in edit.modify_file.mutations] == ["edit", "delete"]


def test_thoughts_titles_and_errors_of_gemini_and_qwen_are_told() -> None:
    thought = [{"subject": "So", "description": "I think."}]
    events, outline = told(
        gemini(message("a"), {"$set": {"summary": "A name"}}, message("b", "gemini", thoughts=thought), message("c", "error"), message("d", "info")),
        "gemini",
    )  # fmt: skip
    assert outline.title == "A name"
    assert [event.reasoning_text for event in events if isinstance(event, ev.Reasoning)] == [
        "**So**\nI think."
    ]
    assert [event.text for event in events if isinstance(event, ev.Notice)] == ["say c"]

    def record(number: int, kind: str, **more: object) -> bytes:
        about = {"uuid": f"u{number}", "parentUuid": f"u{number - 1}", "sessionId": "s", "type": kind}
        return json.dumps({**about, **more}).encode()

    parts = [{"text": "Hm.", "thought": True}, {"text": "Yes."}, {"functionCall": {}}]
    events, outline = told(
        [
            record(1, "user", message={"role": "user", "parts": [{"text": "Is it?"}]}),
            record(2, "assistant", message={"role": "model", "parts": parts}),
            record(3, "system", subtype="custom_title", systemPayload={"customTitle": "A name"}),
            record(4, "system", subtype="chat_compression", systemPayload={}),
            record(5, "tool_result", message={"role": "user", "parts": []}),
            record(6, "other"),
            b"{}",
        ],
        "qwen",
    )
    assert outline.title == "A name"
    assert words(events) == ["Is it?", "Yes."]
    assert [event.reasoning_text for event in events if isinstance(event, ev.Reasoning)] == ["Hm."]
    assert [event.type for event in events].count("compact_boundary") == 1


@pytest.mark.parametrize(
    ("agent", "line", "ours", "session"),
    [
        ("codex", b'{"type":"session_meta","payload":{"id":"s"}}', True, "s"),
        ("codex", b'{"type":"event_msg","payload":{"type":"session_meta"}}', True, None),
        ("codex", b'{"type":"event_msg","payload":{}}', True, None),
        ("codex", b'{"type":"weather","payload":{}}', False, None),
        ("codex", b'{"type":"event_msg","payload":"none"}', False, None),
        ("codex", b'{"type":"event_msg","payload":', False, None),
        ("codex", b'{"type":"event_msg"}', False, None),
        ("gemini", b'{"projectHash":"h","sessionId":"s"}', True, "s"),
        ("gemini", b'{"projectHash":7,"sessionId":"s"}', False, None),
        ("gemini", b'{"projectHash":"h"', False, None),
        ("gemini", b'{"sessionId":"s"}', False, None),
        ("qwen", b'{"parentUuid":null,"sessionId":"s","message":{"parts":[]}}', True, "s"),
        ("qwen", b'{"parentUuid":null,"sessionId":"s","systemPayload":{}}', True, "s"),
        ("qwen", b'{"parentUuid":null,"sessionId":"s","message":{"content":[]}}', False, "s"),
        ("qwen", b'{"parentUuid":null,"sessionId":"s","message":{"parts":"none"}}', False, "s"),
        ("qwen", b'{"parentUuid":null,"sessionId":"s","message":{"parts":[]}', False, None),
    ],
)
def test_a_line_tells_whose_file_it_is_of_and_of_which_conversation(
    agent: str, line: bytes, ours: bool, session: str | None
) -> None:
    assert (of(agent).recognises(line), of(agent).session_of(line)) == (ours, session)


def test_a_patch_among_the_words_of_a_command_is_its_changes() -> None:
    script = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a\n+1\n*** End Patch\nEOF"
    call = {"type": "local_shell_call", "call_id": "c", "action": {"command": ["bash", "-lc", script]}}
    result = {"type": "function_call_output", "call_id": "c", "output": "Exit code: 0\nOutput:\nDone."}
    events, _ = told(codex(said("user", "Go."), ("response_item", call), ("response_item", result)), "codex")
    (update,) = [event for event in events if isinstance(event, ev.ToolUpdate)]
    assert isinstance(update.normalized, ModifyFilePayload)
    body = update.normalized.modify_file
    assert (body.file_path, [one.content for one in body.mutations]) == ("a", ["1\n"])


def took(total: int, last: int | None) -> tuple[str, object]:
    usage = None if last is None else {"input_tokens": last, "output_tokens": 1}
    info = {"last_token_usage": usage, "total_token_usage": {"input_tokens": total}}
    return "event_msg", {"type": "token_count", "info": info}


def test_tokens_that_codex_tells_again_are_counted_once() -> None:
    lines = codex(
        said("user", "Go."),
        took(5, None),
        took(5, 5),
        took(5, 5),
        took(8, 3),
        ("event_msg", {"type": "item_completed", "item": {"type": "FileChange"}}),
        ("event_msg", {"type": "context_compacted"}),
        ("event_msg", {"type": "task_complete"}),
    )
    events, outline = told(lines, "codex")
    (done,) = [event for event in events if isinstance(event, ev.Complete)]
    assert (done.data.input_tokens, done.data.output_tokens) == (8, 2)
    assert [answer.input_tokens for answer in outline.answers] == [5, 3]


def test_nothing_but_its_lines_ends_a_turn_of_codex() -> None:
    reader = of("codex").survey().reader()
    assert [*reader.settle(), *reader.close()] == []


def test_codex_tells_the_window_of_its_model() -> None:
    def call(total: int, window: int | None, used: int | None) -> tuple[str, object]:
        info = {
            "last_token_usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": used},
            "total_token_usage": {"input_tokens": total},
            "model_context_window": window,
        }
        return "event_msg", {"type": "token_count", "info": info}

    lines = codex(
        said("user", "Go."), call(1, 258_400, 1_292), call(2, None, 7), call(3, 258_400, None),
        call(4, 1_000, 2_000),
    )  # fmt: skip
    events, _ = told(lines, "codex")
    windows = [event for event in events if isinstance(event, ev.ContextWindow)]
    assert [(one.context_window_used, one.context_window_size) for one in windows] == [
        (1_292, 258_400),
        (2_000, None),
    ]
    assert (windows[0].context_window_remaining, windows[0].context_efficiency) == (257_108, 0.5)


def test_a_conversation_whose_beginning_is_lost_is_told_and_has_no_turns() -> None:
    lines = codex(said("assistant", "b"), ("event_msg", {"type": "task_complete"}))
    events, outline = told(lines, "codex")
    assert words(events) == ["b"]
    assert not any(isinstance(event, ev.TurnStarted | ev.Complete) for event in events)
    assert (outline.turns, outline.first_prompt) == (0, None)


def test_what_a_program_of_codex_code_mode_ran_and_changed_are_calls_of_its_own() -> None:
    change = {"type": "update", "unified_diff": "@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+one\n"}
    lines = codex(
        said("user", "a"),
        ("response_item", {"type": "custom_tool_call", "call_id": "x", "name": "exec", "input": "run()"}),
        (
            "event_msg",
            {
                "type": "exec_command_end",
                "call_id": "c1",
                "command": ["bash", "-lc", "false"],
                "cwd": "/w",
                "aggregated_output": "no\n",
                "exit_code": 3,
            },
        ),
        (
            "event_msg",
            {"type": "patch_apply_end", "call_id": "c2", "success": True, "changes": {"/w/f": change}},
        ),
        ("event_msg", {"type": "patch_apply_end", "success": True}),
        ("response_item", {"type": "custom_tool_call_output", "call_id": "x", "output": "done"}),
        (
            "response_item",
            {"type": "function_call", "call_id": "s", "name": "shell", "arguments": '{"command":"ls"}'},
        ),
        (
            "event_msg",
            {"type": "exec_command_end", "call_id": "s", "stdout": "f\n", "stderr": "", "exit_code": 0},
        ),
        ("response_item", {"type": "function_call_output", "call_id": "s", "output": "for the model"}),
        said("assistant", "b"),
    )
    ends = {
        event.tool_call_id: event for event in told(lines, "codex")[0] if isinstance(event, ev.ToolUpdate)
    }
    assert [(call, end.tool_status) for call, end in ends.items()] == [
        ("c1", "error"),
        ("c2", "complete"),
        ("x", "complete"),
        ("s", "complete"),
    ]
    shell, plain, edit = ends["c1"].normalized, ends["s"].normalized, ends["c2"].normalized
    assert isinstance(shell, ShellExecPayload)
    assert (shell.shell_exec.command, shell.shell_exec.work_dir) == ("false", "/w")
    assert shell.shell_exec.output is not None
    assert (shell.shell_exec.output.exit_code, shell.shell_exec.output.stdout) == (3, "no\n")
    assert isinstance(plain, ShellExecPayload)
    assert plain.shell_exec.output is not None
    assert plain.shell_exec.output.stdout == "f\n"
    assert isinstance(edit, ModifyFilePayload)
    assert "-one\n\\ No newline at end of file\n+one\n" in (edit.modify_file.mutations[0].diff or "")


FAR = "@@ -3,2 +3,2 @@\n-old\n+new\n same\n@@ -900 +900,2 @@ def f():\n--- a comment\n+++ a count\n+two\x0c\u2028\n"


@pytest.mark.parametrize("head", ["", "--- a/f\n+++ b/f\n"])
def test_codex_diffs_keep_their_line_numbers_and_far_hunks_apart(head: str) -> None:
    changes = {
        "/p/f": {"type": "update", "unified_diff": head + FAR},
        "/p/g": {"type": "update", "unified_diff": "@@ -7 +7 @@\n-a\n+b\n"},
        "/p/h": {"type": "update", "unified_diff": "-a\n+b\n"},
        "/p/i": {"type": "update", "unified_diff": ""},
    }
    lines = codex(
        said("user", "a"),
        ("event_msg", {"type": "patch_apply_end", "call_id": "c", "success": True, "changes": changes}),
        said("assistant", "b"),
    )
    (end,) = [event for event in told(lines, "codex")[0] if isinstance(event, ev.ToolUpdate)]
    assert isinstance(end.normalized, ModifyFilePayload)
    far, near, lost, empty = end.normalized.modify_file.mutations
    assert far.diff == f"--- /p/f\n+++ /p/f\n{FAR}"
    assert (far.relative, far.old_content, far.new_content) == (None, None, None)
    assert near.diff == "--- /p/g\n+++ /p/g\n@@ -7 +7 @@\n-a\n+b\n"
    assert (near.relative, near.old_content, near.new_content) == (None, "a\n", "b\n")
    assert (lost.relative, lost.old_content, lost.new_content) == (True, "a\n", "b\n")
    assert (empty.relative, empty.diff) == (True, "")


def test_passages_of_a_codex_patch_that_are_far_apart_are_changes_of_their_own() -> None:
    patch = "*** Begin Patch\n*** Update File: /p/f\n@@ def one():\n-a\n+b\n@@ def two():\n same\n-c\n+d\n*** End Patch"
    lines = codex(
        said("user", "a"),
        (
            "response_item",
            {"type": "custom_tool_call", "call_id": "x", "name": "apply_patch", "input": patch},
        ),
        ("response_item", {"type": "custom_tool_call_output", "call_id": "x", "output": "Done"}),
    )
    (end,) = [event for event in told(lines, "codex")[0] if isinstance(event, ev.ToolUpdate)]
    assert isinstance(end.normalized, ModifyFilePayload)
    assert [
        (one.old_content, one.new_content, one.relative) for one in end.normalized.modify_file.mutations
    ] == [
        ("a\n", "b\n", True),
        ("same\nc\n", "same\nd\n", True),
    ]


def test_codex_goes_back_no_further_than_to_the_beginning() -> None:
    back = ("event_msg", {"type": "thread_rolled_back", "num_turns": 3})
    events, outline = told(codex(said("user", "a"), said("assistant", "b"), back, said("user", "c")), "codex")
    assert words(events) == ["c"]
    assert (outline.turns, [one.prompt for one in outline.branches]) == (1, ["a"])
    lost = codex(said("assistant", "b"), back, said("user", "c"))
    assert words(told(lost, "codex")[0]) == ["c"]


def test_a_way_on_which_nobody_spoke_is_none() -> None:
    lines = gemini(message("a"), {**message("b", "gemini"), "content": ""}, {"$rewindTo": "b"}, message("c"))
    events, outline = told(lines, "gemini")
    assert (words(events), outline.branches) == (["say a", "say c"], [])
    assert [event.kind for event in events if isinstance(event, ev.Notice)] == ["no_output"]


def test_a_call_without_an_id_is_none() -> None:
    calls = [{"name": "run_shell_command", "args": {"command": "ls"}}]
    events, _ = told(gemini(message("a"), message("b", "gemini", toolCalls=calls)), "gemini")
    assert words(events) == ["say a", "say b"]
    assert not any(isinstance(event, ev.ToolCall) for event in events)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_line_too_long_to_keep_is_counted_as_unreadable(agent: str) -> None:
    survey = of(agent).survey()
    for line in lines_of(agent):
        survey.handle(line)
    before = survey.outline().lines
    survey.skip()
    outline = survey.outline()
    assert (outline.lines, outline.unreadable) == (before + 1, 1)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_message_that_nobody_has_said_ends_no_branch(agent: str) -> None:
    survey = of(agent).survey()
    for line in lines_of(agent):
        survey.handle(line)
    with pytest.raises(KeyError, match="never said"):
        survey.reader("never said")
