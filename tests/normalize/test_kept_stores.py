"""What Copilot, Cursor, Droid, Kimi Code and OpenCode keep of a conversation is the conversation."""

import json
from collections.abc import Sequence

import pytest
from kept_files import WITH_A_FAILURE, kept_file

from turnwire.normalize import events as ev
from turnwire.normalize.acp.session_files.observed import steps
from turnwire.normalize.acp.session_files.steps import Prompted, ToolReturned, TurnEnded
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.families import FAMILIES, recorded_core
from turnwire.normalize.payloads import ModifyFilePayload, ShellExecPayload
from turnwire.normalize.recordings.session_files import Answer, ConversationSummary, SearchableText
from turnwire.normalize.streams import observations as seen
from turnwire.recordings.session_file import format_of, read_session_file, survey_of

SAID = [
    "Remember 4711 and write it down.",
    "I write it.",
    "Both are done.",
    "Which number was it?",
    "It was 4711.",
    "Fail now.",
]
COMMAND = "cat made.txt; echo from-the-shell; exit 3"

Record = dict[str, object]


def told(
    agent: str, *records: object, aside: Sequence[object] = ()
) -> tuple[list[AgentEvent], ConversationSummary]:
    """Return what lines of an agent say; `aside` are those of a subagent's own file."""
    files = next(files for files in FAMILIES["acp"].files if files.agent == agent)
    survey, core = files.survey(), recorded_core()
    lines: list[tuple[bytes, str | None]] = [(json.dumps(record).encode(), None) for record in records]
    lines[1:1] = [(json.dumps(record).encode(), "helper") for record in aside]
    for line, of in lines:
        survey.handle(line, of)
    reader = survey.reader()
    made = [dated for line, of in lines for dated in reader.read(line, of)]
    events = [event for dated in [*made, *reader.close()] for event in core.handle(dated.input)]
    assert core.stats.unknown == 0
    return events, survey.outline()


def words(events: Sequence[AgentEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, ev.UserMessage | ev.MessageChunk)]


def ends(events: Sequence[AgentEvent]) -> list[str | None]:
    return [event.data.outcome for event in events if isinstance(event, ev.Complete)]


def counts(answers: Sequence[Answer]) -> list[tuple[int, ...]]:
    """Return the tokens of answers: sent, written, read from the cache, written to it."""
    return [
        (one.input_tokens, one.output_tokens, one.cache_read_input_tokens, one.cache_creation_input_tokens)
        for one in answers
    ]


@pytest.mark.parametrize("agent", WITH_A_FAILURE)
def test_what_an_agent_keeps_is_the_conversation(agent: str) -> None:
    path = kept_file(agent)
    found = format_of(path)
    assert found is not None
    assert found.files.agent == agent.partition("-")[0]
    core = recorded_core()
    events = [event for timed in read_session_file(path, found.files) for event in core.handle(timed.input)]
    assert [word.strip('"') for word in words(events)] == SAID
    assert ends(events) == ["completed", "completed", "error"]
    (error,) = (event for event in events if isinstance(event, ev.Error))
    assert (error.status, "key" in error.error.lower()) == (401, True)
    assert (
        "".join(event.reasoning_text for event in events if isinstance(event, ev.Reasoning))
        == "I think of 4711."
    )
    edit, command = (event for event in events if isinstance(event, ev.ToolUpdate))
    assert isinstance(edit.normalized, ModifyFilePayload)
    (mutation,) = edit.normalized.modify_file.mutations
    assert (mutation.type, mutation.diff) == (
        "create", f"--- /dev/null\n+++ {edit.normalized.modify_file.file_path}\n@@ -0,0 +1,2 @@\n+one\n+two\n",
    )  # fmt: skip
    assert isinstance(command.normalized, ShellExecPayload)
    shell = command.normalized.shell_exec
    assert shell.command == COMMAND
    assert shell.output is not None
    assert (shell.output.exit_code, (shell.output.stdout or "").strip()) == (3, "one\ntwo\nfrom-the-shell")
    info = [event for event in events if isinstance(event, ev.SessionInfo)][-1]
    assert (info.session_id, info.cwd) == (found.session, "/workspace/project")
    assert core.stats.unknown == core.stats.malformed == 0


@pytest.mark.parametrize("agent", WITH_A_FAILURE)
def test_a_list_shows_what_it_is(agent: str) -> None:
    path = kept_file(agent)
    found = format_of(path)
    assert found is not None
    said: list[SearchableText] = []
    outline = survey_of(path, found.files, said.extend).outline()
    assert (outline.turns, (outline.first_prompt or "").strip('"')) == (3, SAID[0])
    assert (outline.folder, outline.session_id) == ("/workspace/project", found.session)
    assert outline.began is not None
    assert outline.ended is not None
    assert outline.ended > outline.began > 1.7e9
    # the model was asked four times, with 100 and 20 tokens
    assert [sum(column) for column in zip(*counts(outline.answers), strict=True)] == [400, 80, 0, 0]
    assert all(one.at and outline.began <= one.at <= outline.ended + 1 for one in outline.answers)
    shown = [(one.kind, one.text.strip('"')) for one in said]
    assert {("command", COMMAND), ("prompt", SAID[0]), ("text", "It was 4711.")} <= set(shown)
    assert any(kind == "path" and text.endswith("made.txt") for kind, text in shown)


def test_of_each_agent_the_first_line_tells_whose_it_is() -> None:
    for agent in WITH_A_FAILURE:
        if not agent.startswith("opencode"):
            line = kept_file(agent).read_bytes().splitlines()[0]
            known = [
                one.agent for family in FAMILIES.values() for one in family.files if one.recognises(line)
            ]
            assert known == [agent.partition("-")[0]]


def copilot(kind: str, data: object, name: str = "e") -> Record:
    return {"type": kind, "data": data, "id": name, "timestamp": "2026-01-02T03:04:05Z", "parentId": None}


COPILOT = copilot("session.start", {"sessionId": "s", "producer": "copilot-agent", "context": {"cwd": "/w"}})


def test_copilot_tells_sums_titles_rewinds_summaries_and_interrupts() -> None:
    metrics = {
        "m": {"usage": {"inputTokens": 50, "outputTokens": 9, "cacheReadTokens": 20, "cacheWriteTokens": 5}}
    }
    usage = {"model": "m", "inputTokens": 10, "outputTokens": 4, "cacheReadTokens": 2}
    events, outline = told(
        "copilot",
        COPILOT,
        copilot("session.title_changed", {"title": "Of numbers"}),
        copilot("session.title_changed", {}),
        copilot("user.message", {"content": "one"}, "u1"),
        copilot("session.usage_record", {"usage": usage}, "r1"),
        copilot("assistant.message", {"messageId": "m1", "content": "first"}, "a1"),
        copilot("user.message", {"content": "two"}, "u2"),
        copilot("assistant.message", {"messageId": "m2", "content": "second"}, "a2"),
        copilot("session.snapshot_rewind", {"upToEventId": "u2", "eventsRemoved": 2}),
        copilot("session.compaction_complete", {"success": True}),
        copilot("user.message", {"content": "three"}, "u3"),
        copilot("user.message", {"content": "for the model alone", "source": "skill"}, "u4"),
        copilot("assistant.message", {"messageId": "m3", "content": "inside", "parentToolCallId": "c"}, "a3"),
        copilot("session.usage_info", {"currentTokens": 1}),
        copilot("abort", {"reason": "user"}),
        copilot("session.shutdown", {"modelMetrics": metrics}, "end"),
        copilot("session.shutdown", {"modelMetrics": metrics}, "again"),
    )
    assert words(events) == ["one", "first", "three"]
    assert ends(events) == ["completed", "interrupted"]
    assert outline.title == "Of numbers"
    assert [branch.prompt for branch in outline.branches] == ["two"]
    assert counts(outline.answers) == [(8, 4, 2, 0), (17, 5, 18, 5)]
    assert any(isinstance(event, ev.CompactBoundary) for event in events)


@pytest.mark.parametrize("second", [(60, 20), (900, 300)])
def test_sums_of_a_resumed_copilot_begin_at_zero_again(second: tuple[int, int]) -> None:
    def ended(sent: int, written: int, name: str) -> Record:
        usage = {"inputTokens": sent, "outputTokens": written}
        return copilot("session.shutdown", {"modelMetrics": {"gpt-9": {"usage": usage}}}, name)

    _, outline = told(
        "copilot",
        COPILOT,
        copilot("user.message", {"content": "one"}, "u1"),
        ended(500, 100, "e1"),
        copilot("session.resume", {"context": {"cwd": "/w"}}, "r"),
        copilot("user.message", {"content": "two"}, "u2"),
        ended(*second, "e2"),
        ended(*second, "e2 again"),
    )
    assert counts(outline.answers) == [(500, 100, 0, 0), (*second, 0, 0)]


DROID: Record = {"type": "session_start", "id": "d", "cwd": "/w", "sessionTitle": "Of droids"}


def droid(name: str, role: str, content: object, **more: object) -> Record:
    return {
        "type": "message",
        "id": name,
        "timestamp": "2026-01-02T03:04:05Z",
        "message": {"role": role, "content": content, **more},
    }


def test_droid_tells_edits_ends_and_what_only_the_model_is_told() -> None:
    edited = {
        "success": True, "file_path": "/w/a",
        "diffLines": [
            {"type": "removed", "content": "x", "lineNumber": {"old": 7}},
            {"type": "added", "content": "y", "lineNumber": {"new": 7}},
        ],
    }  # fmt: skip
    text = {"type": "text", "text": "two"}
    events, outline = told(
        "droid",
        {**DROID, "sessionTitle": None},
        DROID,
        droid("u0", "user", [{"type": "text", "text": "<system-reminder>secret"}, {"type": "image"}]),
        droid("u1", "user", "one"),
        droid("a1", "assistant", [{"type": "tool_use", "id": "c1", "name": "Edit", "input": {"file_path": "/w/a", "old_str": "x", "new_str": "y"}}]),
        droid("r1", "user", [{"type": "tool_result", "tool_use_id": "c1", "content": json.dumps(edited)}]),
        droid("r2", "user", [{"type": "tool_result", "tool_use_id": "c2", "content": [text]}]),
        {"type": "compaction_state", "id": "x"},
        {"type": "agent_turn_outcome", "reason": "cancelled"},
        droid("u2", "user", [text]),
        droid("a2", "assistant", [text], modelId="m"),
        droid("n1", "user", [{"type": "text", "text": "no more"}], visibility="user_only"),
        {"type": "agent_turn_outcome", "reason": "error"},
        droid("u3", "user", [text]),
        {"type": "agent_turn_outcome", "reason": "max_steps"},
        {"type": "todo_state"},
        {"tokenUsage": {"inputTokens": 0}, "model": "m"},
        {"tokenUsage": {"inputTokens": 5, "outputTokens": 4, "cacheReadTokens": 3, "cacheCreationTokens": 2}},
    )  # fmt: skip
    assert words(events) == ["one", "two", "two", "two"]
    assert ends(events) == ["interrupted", "error", "error"]
    assert [event.error for event in events if isinstance(event, ev.Error)] == [
        "no more",
        "The agent ended the turn: max_steps.",
    ]
    edit = next(event for event in events if isinstance(event, ev.ToolUpdate)).normalized
    assert isinstance(edit, ModifyFilePayload)
    assert edit.modify_file.mutations[0].diff == "--- /w/a\n+++ /w/a\n@@ -7,1 +7,1 @@\n-x\n+y\n"
    assert counts(outline.answers) == [(5, 4, 3, 2)]
    assert (outline.title, outline.model) == ("Of droids", "m")


KIMI: Record = {"type": "metadata", "protocol_version": "1.5", "created_at": 1_700_000_000_000}


def kimi(kind: str, **members: object) -> Record:
    return {"type": kind, "agentId": "main", "time": 1_700_000_001_000, **members}


def loop(kind: str, **members: object) -> Record:
    return kimi("context.append_loop_event", event={"type": kind, **members})


def test_kimi_tells_ends_summaries_subagents_tokens_and_what_was_taken_back() -> None:
    def asked(words: str, **more: object) -> Record:
        return kimi("turn.prompt", input=[{"type": "text", "text": words}], promptId=words, **more)

    usage = {"inputOther": 1, "output": 2, "inputCacheRead": 3, "inputCacheCreation": 4}
    events, outline = told(
        "kimi",
        {"id": "session_k", "cwd": "/w", "agents": {}, "title": "Of moons", "isCustomTitle": True},
        KIMI,
        kimi("profile.bind", environmentDisclosure={"cwd": "/w"}),
        asked("one"),
        asked("not a human's", origin={"kind": "cron"}),
        asked("  "),
        kimi("llm.request", model="scripted-1"),
        kimi("llm.request", model="k3", modelAlias="mine"),
        loop("content.part", uuid="p1", part={"type": "text", "text": "first"}),
        loop("content.part", uuid="p2", part={"type": "media"}),
        loop("tool.result", toolCallId="c1", result={"output": [{"type": "text", "text": "a part"}]}),
        kimi("usage.record", model="mine", usage=usage),
        kimi("turn.ended", reason="cancelled"),
        asked("two"),
        kimi("turn.ended", reason="blocked"),
        asked("three"),
        kimi("context.apply_compaction"),
        kimi("turn.ended", reason="completed"),
        asked("four"),
        loop("content.part", uuid="p3", part={"type": "text", "text": "fourth"}),
        kimi("context.undo", count=1),
        kimi("turn.ended", reason="failed", error={"message": "no", "details": {"statusCode": 429}}),
        aside=[KIMI, kimi("usage.record", model="k1", usage=usage | {"output": 9}), asked("inside")],
    )
    assert words(events) == ["one", "first", "two", "three"]
    assert ends(events) == ["interrupted", "error", "completed"]
    (failed,) = (event.error for event in events if isinstance(event, ev.Error))
    assert failed == "The agent does not say why the turn failed."
    # a failure behind the end of a turn is a notice
    assert [one.text for one in events if isinstance(one, ev.Notice) and one.kind == "agent_error"] == ["no"]
    assert (outline.title, outline.model, outline.turns) == ("Of moons", "k3", 3)
    assert [(one.model, one.output_tokens) for one in outline.answers] == [("k1", 9), ("k3", 2)]


OPENCODE: Record = {
    "time": 1_700_000_000_000,
    "info": {"id": "ses_1", "directory": "/w", "version": "1", "title": "New session - x"},
}


def opencode(name: str, role: str, *parts: object, **info: object) -> Record:
    about = {"id": name, "sessionID": "ses_1", "role": role, **info}
    return {"time": 1_700_000_000_000, "info": about, "parts": parts}


def test_opencode_tells_messages_again_and_each_part_once() -> None:
    said = {"id": "p1", "type": "text", "text": "one"}
    running = {
        "id": "t1",
        "type": "tool",
        "tool": "bash",
        "callID": "c1",
        "state": {"status": "pending", "input": {}},
    }
    half = {"id": "x1", "type": "text", "text": "answ"}
    finish = {"id": "f1", "type": "step-finish", "tokens": {"input": 3, "output": 2}, "cost": 0.5}
    events, outline = told(
        "opencode",
        OPENCODE,
        {"info": {}},
        opencode("m1", "user", said, {"id": "p2", "type": "text", "text": "hidden", "synthetic": True}),
        opencode("m1", "user", said),
        opencode("m2", "assistant", half, running),
        opencode("m2", "assistant", half, running | {"state": {"status": "running", "input": {"command": "ls"}}}),
        opencode(
            "m2", "assistant", half | {"text": "answer", "time": {"end": 1}},
            running | {"state": {"status": "error", "input": {"command": "ls"}, "error": "it failed"}}, finish,
            modelID="m",
        ),
        opencode("c1", "assistant", finish | {"id": "f2", "cost": 0}, half, sessionID="ses_2", modelID="small"),
        opencode("m3", "assistant", {"id": "x2", "type": "patch"}, time={"completed": 1}, summary=True),
        opencode("m3", "assistant", summary=True, error={"name": "MessageAbortedError", "data": {}}),
        opencode("m4", "user", said | {"id": "p3", "text": "two"}),
        {"info": {**OPENCODE["info"], "title": "Of codes", "revert": {"messageID": "m4"}}},  # type: ignore[dict-item]
    )  # fmt: skip
    assert words(events) == ["one", "answer"]
    assert ends(events) == ["interrupted"]
    assert [type(event).__name__ for event in events if isinstance(event, ev.ToolCall | ev.ToolUpdate)] == [
        "ToolCall",
        "ToolUpdate",
    ]
    assert (outline.title, outline.turns, outline.cost_usd, outline.cost_is_whole) == (
        "Of codes",
        1,
        0.5,
        False,
    )
    assert [(one.model, one.input_tokens, one.cost_usd) for one in outline.answers] == [
        ("m", 3, 0.5),
        ("small", 3, None),
    ]


def test_cursor_tells_what_the_human_and_the_model_said_and_which_tools_were_called() -> None:
    def says(role: str, *content: object) -> Record:
        return {"role": role, "message": {"content": content}}

    query = {"type": "text", "text": "<attached/>\n<user_query>\none\n</user_query>"}
    lines = (
        says("user", query, {"type": "text", "text": " "}),
        says("assistant", {"type": "text", "text": "first"}, {"type": "tool_use", "name": "Shell", "input": {"command": "ls"}}),
        {"role": "tool"},
        says("user", {"type": "text", "text": "two"}),
    )  # fmt: skip
    events, outline = told("cursor", *lines)
    assert words(events) == ["one", "first", "two"]
    (call,) = (event for event in events if isinstance(event, ev.ToolCall))
    assert isinstance(call.normalized, ShellExecPayload)
    assert (outline.turns, outline.first_prompt, outline.ended, outline.session_id) == (2, "one", None, None)
    (files,) = (files for files in FAMILIES["acp"].files if files.agent == "cursor")
    assert files.recognises(json.dumps(lines[0]).encode())
    assert files.session_of(b"{}") is None
    # Kimi Code's JSON output and messages of other agents have a role as well
    assert not files.recognises(b'{"role":"assistant","content":"message"}')
    assert not files.recognises(b'{"role":"assistant","message":{"content":[]},"type":"message"}')


def test_a_line_that_only_looks_like_the_first_of_a_file_is_none() -> None:
    for line in (
        b'{"type":"session.start","data":{"sessionId":"s"}}', b'{"type":"x","data":"\\"session_start\\" cwd"}',
        b'{"type":"metadata","protocol_version":1}', b'{"info":{"id":"x","directory":1,"version":"1"}}', b'["directory","info"]',
        b'{"type":"\\"protocol_version\\""}',
    ):  # fmt: skip
        assert not any(files.recognises(line) for files in FAMILIES["acp"].files)


def test_steps_are_of_the_conversation_alone() -> None:
    observed: list[seen.Observation] = [
        seen.Prompt("  "),
        seen.Prompt("mine", synthetic=True),
        seen.Prompt("ours"),
        seen.ToolEnded(
            id="c", output={"output": "o"}, changes=[seen.Change(path="a", kind="edit", diff="d")]
        ),
        seen.ToolEnded(id="c", output="whole", changes=[seen.Change(path="a", kind="create", diff="d")]),
        seen.ToolEnded(id="c", status="failed", output="shown"),
        seen.TurnEnded(),
        seen.TurnEnded(outcome="interrupted"),
        seen.TextPiece("half", "m"),
    ]
    assert steps(observed) == [
        Prompted("ours"),
        ToolReturned("c", "o", raw={"output": "o", "diff": "d"}),
        ToolReturned("c", "whole"),
        ToolReturned("c", "shown", failed=True),
        TurnEnded(),
        TurnEnded("cancelled"),
    ]
