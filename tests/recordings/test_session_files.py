"""Session files of the CLI are recordings like others: the same conversation gives the same transcript as its stdout."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kept_sessions import Kept, all_kept, kept
from msgspec.structs import replace

from recordings import recordings
from turnwire.history.following import Follower
from turnwire.normalize import events as ev
from turnwire.normalize.claude.session_files.answers import counts_of
from turnwire.normalize.claude.session_files.subagents import Subagents
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.families import FAMILIES, new_core
from turnwire.normalize.inputs import SessionInput
from turnwire.normalize.recordings.session_files import ConversationSummary, SessionFiles
from turnwire.protocol.claude import session_lines
from turnwire.recordings.reading import length, name_of, read
from turnwire.recordings.redaction.redact import redact_file
from turnwire.recordings.redaction.redaction import Redaction
from turnwire.recordings.session_file import format_of, is_session_file, read_session_file, survey_of


@dataclass
class Transcript:
    """What a human sees of a conversation."""

    texts: Counter[str] = field(default_factory=Counter)
    nested: Counter[str] = field(default_factory=Counter)
    calls: Counter[tuple[str, ...]] = field(default_factory=Counter)
    results: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    payloads: dict[str, object] = field(default_factory=dict)
    prompts: list[str] = field(default_factory=list)
    completes: list[ev.CompleteData] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)


def events_of(path: Path, leaf: str | None = None) -> list[AgentEvent]:
    core = new_core()
    if leaf is None:
        return [event for timed in read(path) for event in core.handle(timed.input)]
    found = format_of(path)
    assert found is not None
    return [
        event for timed in read_session_file(path, found.files, leaf) for event in core.handle(timed.input)
    ]


def transcript(*streams: list[AgentEvent]) -> Transcript:
    seen = Transcript()
    for events in streams:
        joined: dict[tuple[object, ...], str] = {}
        for event in events:
            match event:
                case ev.MessageChunk():
                    key = (event.parent_tool_call_id, event.message_id, event.block_index)
                    joined[key] = joined.get(key, "") + event.text
                case ev.ToolCall():
                    below = event.parent_tool_call_id or ""
                    seen.calls[event.tool_call_id, event.tool_name, below, repr(event.normalized)] += 1
                case ev.ToolUpdate() if event.tool_status != "running":
                    seen.results[event.tool_call_id] = event.tool_status, event.reason
                    seen.payloads[event.tool_call_id] = event.normalized
                case ev.UserMessage() if not event.synthetic and event.parent_tool_call_id is None:
                    seen.prompts.append(event.text)
                case ev.TurnStarted():
                    seen.origins.append(event.origin)
                case ev.Complete():
                    seen.completes.append(event.data)
                case _:
                    pass
        for (parent, *_), text in joined.items():
            (seen.texts if parent is None else seen.nested)[" ".join(text.split())] += 1
    return seen


def claude_files() -> SessionFiles:
    (files,) = FAMILIES["claude"].files
    return files


def outline(path: Path) -> ConversationSummary:
    found = format_of(path)
    assert found is not None
    return survey_of(path, found.files).outline()


SAME = [one for one in all_kept() if one.folder.name not in ("resume-and-rewind", "clear")]


@pytest.mark.parametrize("one", SAME, ids=str)
def test_a_session_file_gives_the_transcript_of_its_stdout(one: Kept) -> None:
    stdout, file = transcript(events_of(one.folder)), transcript(events_of(one.file))
    assert file.texts == stdout.texts
    assert file.calls == stdout.calls
    assert file.results == stdout.results
    # stdout leaves out a foreground subagent's last text: it is the call's result
    assert stdout.nested <= file.nested
    if one.version >= "2.1":  # older ones tell stdout less of what a tool returned than the file
        assert file.payloads == stdout.payloads
    assert [done.outcome for done in file.completes] == [done.outcome for done in stdout.completes]


@pytest.mark.parametrize("one", [one for one in SAME if one.version == "2.1.330"], ids=str)
def test_turns_have_the_prompts_and_the_tokens_of_stdout(one: Kept) -> None:
    stdout, file = transcript(events_of(one.folder)), transcript(events_of(one.file))
    if one.folder.name != "slash-and-image":  # there /cost is kept as /usage, which it stands for
        assert file.prompts == stdout.prompts
    for told, done in zip(stdout.completes, file.completes, strict=True):
        assert (done.input_tokens, done.cache_read_input_tokens) == (
            told.input_tokens, told.cache_read_input_tokens,
        )  # fmt: skip
        if told.subtype is not None:
            assert done.output_tokens == told.output_tokens
        else:  # killed: stdout's line was written when the answer began
            assert (done.output_tokens or 0) >= (told.output_tokens or 0) > 0


@pytest.mark.parametrize(
    "scenario", ["files-and-shell", "denied", "subagent", "interrupted", "queued-during-tool"]
)
def test_each_turn_costs_what_the_cli_said(scenario: str) -> None:
    one = kept("2.1.330", scenario)
    stdout, file = transcript(events_of(one.folder)), transcript(events_of(one.file))
    assert [done.cost_usd for done in file.completes] == pytest.approx(
        [done.cost_usd for done in stdout.completes]
    )


@pytest.mark.parametrize("scenario", ["compact", "background", "files-and-shell", "subagent"])
def test_a_session_costs_what_the_cli_said_with_what_is_no_answer(scenario: str) -> None:
    one = kept("2.1.330", scenario)
    last = transcript(events_of(one.folder)).completes[-1]
    assert outline(one.file).cost_usd == pytest.approx(last.total_cost_usd)


def test_costs_that_no_file_tells_are_not_known() -> None:
    told = outline(kept("2.0.14", "compact").file)
    assert told.cost_usd is None
    assert not told.cost_is_whole
    assert told.answers[0].input_tokens == 100


def test_a_clear_begins_a_file_and_drops_no_cost() -> None:
    one = kept("2.1.330", "clear")
    stdout = transcript(events_of(one.folder))
    first, second = sorted((outline(path) for path in one.files), key=lambda told: told.began or 0)
    assert (first.cost_usd or 0) + (second.cost_usd or 0) == pytest.approx(
        sum(done.cost_usd or 0 for done in stdout.completes)
    )
    both = transcript(*(events_of(path) for path in one.files))
    assert both.texts == stdout.texts


def test_only_the_living_branch_is_read_and_the_other_is_reachable() -> None:
    one = kept("2.1.330", "resume-and-rewind")
    file = next(path for path in one.files if outline(path).branches)
    assert transcript(events_of(file)).prompts == ["The first", "The second again, rewound"]
    (left,) = outline(file).branches
    assert left.prompt == "The second"
    assert transcript(events_of(file, left.leaf)).prompts == ["The first", "The second", "The third, resumed"]
    notices = [
        event for event in events_of(file) if isinstance(event, ev.Notice) and event.kind == "branches"
    ]
    assert [notice.details for notice in notices] == [
        {"branches": [{"leaf": left.leaf, "prompt": "The second"}]}
    ]


def test_a_fork_costs_only_what_was_said_in_it() -> None:
    one = kept("2.1.330", "resume-and-rewind")
    by_branches = {bool(told.branches): told for told in map(outline, one.files)}
    parent, fork = by_branches[True], by_branches[False]
    assert parent.cost_usd == pytest.approx(4 * 0.0008264)
    assert fork.cost_usd == pytest.approx(0.0008264)
    assert {answer.key for answer in fork.answers} & {answer.key for answer in parent.answers}


@pytest.mark.parametrize("version", ["1.0.120", "2.0.14", "2.1.101", "2.1.330"])
def test_a_subagents_words_are_below_its_call(version: str) -> None:
    calls = transcript(events_of(kept(version, "subagent").file)).calls
    ((nested, parent),) = [(name, parent) for _, name, parent, _ in calls if parent]
    assert (nested, parent) == ("Bash", "toolu_000001")


def test_what_a_list_shows_is_told() -> None:
    told = outline(kept("2.1.330", "files-and-shell").file)
    assert told.folder == "/workspace/project"
    assert told.model == "claude-opus-5-5"
    assert told.version == "2.1.330"
    assert told.turns == 2
    assert told.first_prompt is not None
    assert told.first_prompt.startswith("Mend it")
    assert told.began is not None
    assert told.ended is not None
    assert told.ended > told.began > 1.7e9
    assert told.cost_is_whole


def test_inputs_have_the_times_of_their_lines() -> None:
    times = [timed.at for timed in read(kept("2.1.330", "denied").file)]
    known = [at for at in times if at is not None]
    assert known == sorted(known)
    assert known[0] > 1.7e9


@pytest.mark.parametrize("one", all_kept(), ids=str)
def test_every_line_of_a_session_file_is_accounted_for(one: Kept) -> None:
    for path in one.files:
        core = new_core()
        for timed in read(path):
            core.handle(timed.input)
        assert core.stats.unknown == core.stats.malformed == 0
        assert core.stats.published + core.stats.counted >= length(path) - 1 - core.turns


def test_no_recording_of_stdout_is_taken_for_a_session_file() -> None:
    assert [one for one in recordings() if one.stdout and is_session_file(one.stdout_path)] == []
    assert [one for one in all_kept() if is_session_file(one.folder / "stdout.jsonl")] == []
    assert all(is_session_file(path) for one in all_kept() for path in one.files)


def test_a_session_is_called_as_its_file() -> None:
    path = kept("2.1.330", "denied").file
    assert name_of(path) == path.stem


@given(data=st.data())
@settings(max_examples=40)
def test_damage_costs_only_what_it_hits(data: st.DataObject) -> None:
    source = kept("2.1.330", "subagent").file.read_bytes().split(b"\n")
    lines = [line for line in source if line]
    number = data.draw(st.integers(0, len(lines) - 1))
    line = lines[number]
    kind = data.draw(st.sampled_from(["cut", "gone", "twice", "odd", "noise", "deep", "tree"]))
    match kind:
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
        case _:
            value = json.loads(line)
            key = data.draw(st.sampled_from(sorted(value)))
            odd: object = data.draw(st.sampled_from([None, 3, "x", [], {}, [{"a": 1}], "\ud83d"]))
            value["parentUuid" if kind == "tree" else key] = value.get("uuid") if kind == "tree" else odd
            lines[number] = json.dumps(value).encode()
    (files,) = FAMILIES["claude"].files
    survey = files.survey()
    for one in lines:
        survey.handle(one)
    survey.outline()
    reader, core = survey.reader(), new_core()
    for one in lines:
        for dated in reader.read(one):
            core.handle(dated.input)
    for dated in reader.close():
        core.handle(dated.input)


def record(uuid: str, parent: str | None, kind: str = "user", **more: object) -> bytes:
    """A line of a session file."""
    content: object = more.pop("content", f"say {uuid}")
    message: dict[str, object] = {"role": kind, "content": content}
    if kind == "assistant":
        message = {
            "id": f"msg-{uuid}",
            "model": "claude-x",
            "role": kind,
            "content": [{"type": "text", "text": content}] if isinstance(content, str) else content,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    line = {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s",
        "timestamp": "2026-01-02T03:04:05.678Z",
        **({"content": content} if kind == "system" else {"message": message}),
        **more,
    }
    return json.dumps(line).encode()


def stopped(uuid: str, parent: str, reason: str) -> bytes:
    """An answer that says why it stops."""
    content = [{"type": "text", "text": uuid}]
    if reason == "tool_use":
        content = [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]  # type: ignore[dict-item]
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": uuid, "model": "m", "content": content, "stop_reason": reason, "usage": usage}
    return record(uuid, parent, "assistant", message=message)


def written(path: Path, *lines: bytes) -> Path:
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def test_results_of_parallel_calls_beside_the_living_branch_are_part_of_it(tmp_path: Path) -> None:
    use = [
        [{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "ls"}}]
        for call in ("c1", "c2")
    ]
    path = written(
        tmp_path / "s.jsonl",
        record("p", None),
        record("a1", "p", "assistant", content=use[0]),
        record("a2", "a1", "assistant", content=use[1]),
        record("r1", "a1", content=[{"type": "tool_result", "tool_use_id": "c1", "content": "one"}]),
        record("r2", "a2", content=[{"type": "tool_result", "tool_use_id": "c2", "content": "two"}]),
        record("a3", "r2", "assistant", content="both"),
    )
    assert set(transcript(events_of(path)).results) == {"c1", "c2"}


def results_first(path: Path, to: Path) -> int:
    """Write a file in which each result is ahead of the call that it hangs on, as 2.1.104 and later may; return how many."""
    lines = path.read_bytes().splitlines()
    uuids = {session_lines.read(line).uuid: line for line in lines}
    moved = 0
    for line in list(lines):
        above = uuids.get(session_lines.read(line).parent_uuid)
        if above is not None and b'"tool_result"' in line and b'"tool_use"' in above:
            lines.remove(line)
            lines.insert(lines.index(above), line)
            moved += 1
    written(to, *lines)
    return moved


@pytest.mark.parametrize("scenario", ["files-and-shell", "subagent", "denied", "background"])
def test_results_that_are_written_before_their_calls_change_nothing(scenario: str, tmp_path: Path) -> None:
    path = kept("2.1.330", scenario).file
    swapped = tmp_path / path.name
    moved = results_first(path, swapped)
    if path.with_suffix("").exists():
        shutil.copytree(path.with_suffix(""), swapped.with_suffix(""))
    for below in swapped.with_suffix("").glob("subagents/*.jsonl"):
        moved += results_first(below, below)
    seen = transcript(events_of(path))
    assert moved == len(seen.calls)
    assert transcript(events_of(swapped)) == seen
    assert [branch.leaf for branch in outline(swapped).branches] == []


def test_records_before_their_parents_are_sorted_whatever_hangs_on_what(tmp_path: Path) -> None:
    use = [{"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}}]
    done = [{"type": "tool_result", "tool_use_id": "c1", "content": "one"}]
    path = written(
        tmp_path / "s.jsonl",
        record("p", None),
        record("r", "a", content=done),
        record("below", "r", "system", subtype="informational", content="below the result"),
        record("a", "p", "assistant", content=use),
        record("r", "a", content=done),
        record("x", "y", "assistant", content="in a circle"),
        record("y", "x", "assistant", content="of two"),
        record("b", "below", "assistant", content="after it"),
        record("q", "lost"),
    )
    seen = transcript(events_of(path))
    assert seen.results == {"c1": ("complete", None)}
    order = [event.type for event in events_of(path) if event.type in ("tool_call", "tool_update", "notice")]
    assert order == ["tool_call", "tool_update", "notice"]
    assert set(seen.texts) == {"in a circle", "of two", "after it"}
    assert seen.prompts == ["say p", "say q"]


def test_what_waits_for_its_parent_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnwire.normalize.claude.session_files.reader.HELD_BYTES", 1000)
    waiting = [record(f"w{number}", "a", "assistant", content=str(number)) for number in range(20)]
    path = written(
        tmp_path / "s.jsonl", record("p", None), *waiting, record("a", "p", "assistant", content="late")
    )
    said = [event.text for event in events_of(path) if isinstance(event, ev.MessageChunk)]
    held = 1000 // len(waiting[0])
    assert said[-held:] == [str(number) for number in range(held)]
    assert said[:-held] == [*(str(number) for number in range(held, 20)), "late"]


@pytest.mark.parametrize(
    ("size", "between", "mark", "end"),
    [
        (2, b"", b"", b"\n"),
        (3, b" ", b"", b"\n"),
        (3, b"\t ", b"", b"\r\n"),
        (2, b"", b"\xef\xbb\xbf", b"\r\n"),
        (1, b"", b"\xef\xbb\xbf", b"\n"),
    ],
)
def test_records_that_were_glued_into_one_line_are_read_each(
    size: int, between: bytes, mark: bytes, end: bytes, tmp_path: Path
) -> None:
    one = kept("2.1.330", "files-and-shell").file
    lines = one.read_bytes().splitlines()
    path = tmp_path / one.name
    glued = [between.join(lines[at : at + size]) + end for at in range(0, len(lines), size)]
    path.write_bytes(mark + b"".join(glued))
    assert is_session_file(path)
    assert events_of(path) == events_of(one)
    assert outline(path) == outline(one)
    assert [event for batch in Follower(path, claude_files()).first() for event in batch] == [
        event for batch in Follower(one, claude_files()).first() for event in batch
    ]


def test_two_session_files_one_behind_the_other_are_two_sessions(tmp_path: Path) -> None:
    one, other = kept("2.1.330", "denied").file, kept("2.1.330", "files-and-shell").file
    path = tmp_path / "both.jsonl"
    path.write_bytes(one.read_bytes() + other.read_bytes())
    seen, both = transcript(events_of(one), events_of(other)), events_of(path)
    told = transcript(both)
    assert (told.texts, told.prompts) == (seen.texts, seen.prompts)
    # Both count their calls from the start: in one log each has an id of its own.
    calls = [*transcript(events_of(one)).calls.elements(), *transcript(events_of(other)).calls.elements()]
    assert [call[1:] for call in told.calls.elements()] == [call[1:] for call in calls]
    assert list(told.results) == [call[0] for call in told.calls.elements()]
    assert [call[0].partition("#")[0] for call in told.calls.elements()] == [call[0] for call in calls]
    assert [done.cost_usd for done in told.completes] == [done.cost_usd for done in seen.completes]
    named = [event.session_id for event in both if isinstance(event, ev.UserMessage | ev.Complete)]
    assert [name for name in named if name] == [one.stem] * 5 + [other.stem] * 4
    assert outline(path).branches == []


def test_a_subagents_own_file_is_what_it_said_and_says_whose_it_is() -> None:
    one = kept("2.1.330", "subagent").file
    whole = transcript(events_of(one))
    seen: list[Transcript] = []
    for path in sorted(one.with_suffix("").glob("subagents/agent-*.jsonl")):
        events = events_of(path)
        assert isinstance(events[0], ev.Notice)
        assert (events[0].kind, events[0].session_id) == ("subagent_file", one.stem)
        assert one.stem in events[0].text
        seen.append(transcript(events))
    assert seen
    assert sum((file.texts for file in seen), Counter()) == whole.nested
    assert {call for file in seen for call in file.results} == {
        call for call, _, below, _ in whole.calls if below
    }


def test_a_conversation_that_was_rewound_in_the_middle_of_a_turn_goes_on_there(tmp_path: Path) -> None:
    path = written(
        tmp_path / "s.jsonl",
        record("p", None),
        record("a1", "p", "assistant", content="one"),
        record("a2", "a1", "assistant", content="two"),
        record("q", "a1"),
        record("a3", "q", "assistant", content="three"),
    )
    seen = transcript(events_of(path))
    assert set(seen.texts) == {"one", "three"}
    assert [branch.leaf for branch in outline(path).branches] == ["a2"]


def test_a_file_that_lost_lines_goes_on_from_what_it_has(tmp_path: Path) -> None:
    path = written(
        tmp_path / "s.jsonl",
        record("p", None),
        record("a", "p", "assistant", content="one"),
        record("q", "lost"),
        record("b", "q", "assistant", content="two"),
    )
    assert transcript(events_of(path)).prompts == ["say p", "say q"]


def test_titles_are_the_humans_before_the_models(tmp_path: Path) -> None:
    lines = [
        record("p", None),
        b'{"type":"ai-title","aiTitle":"By a model","sessionId":"s"}',
        b'{"type":"summary","summary":"Of another","leafUuid":"elsewhere"}',
    ]
    told = outline(written(tmp_path / "s.jsonl", *lines))
    assert (told.title, told.titles) == ("By a model", {"elsewhere": "Of another"})
    lines.append(b'{"type":"custom-title","customTitle":"By a human","sessionId":"s"}')
    assert outline(written(tmp_path / "t.jsonl", *lines)).title == "By a human"
    lines = [record("p", None), b'{"type":"summary","summary":"Its own","leafUuid":"p"}']
    assert outline(written(tmp_path / "u.jsonl", *lines)).title == "Its own"
    lines.append(record("a", "p", "assistant"))
    assert outline(written(tmp_path / "v.jsonl", *lines)).title == "Its own"


def test_shell_commands_and_errors_of_the_cli_are_told(tmp_path: Path) -> None:
    path = written(
        tmp_path / "s.jsonl",
        record("b", None, content="<bash-input>ls -l</bash-input>"),
        record(
            "o", "b", content="<bash-stdout>\x1b[2mtotal\x1b[22m 0</bash-stdout><bash-stderr></bash-stderr>"
        ),
        record("e", "o", content="<bash-stdout></bash-stdout>"),
        record("p", "e"),
        record("w", "p", "system", subtype="informational", content="Look out", level="warning"),
        record("h", "w", "system", subtype="turn_duration", content=""),
        record("k", "h", "system", subtype="never_seen", content=""),
        record("c", "k", "system", subtype="local_command", content="<command-name>/model</command-name>"),
        record(
            "d",
            "c",
            "system",
            subtype="local_command",
            content="<local-command-stdout>set</local-command-stdout>",
        ),
        b'{"type":"never-seen","sessionId":"s"}',
        b"no json",
    )
    events = events_of(path)
    seen = transcript(events)
    assert seen.prompts == ["!ls -l", "say p", "/model"]
    assert set(seen.texts) == {"total 0", "set"}
    assert [event.text for event in events if isinstance(event, ev.Notice)] == ["Look out"]
    kinds = {event.type for event in events}
    assert {"unknown", "malformed"} <= kinds


def test_a_subagent_is_found_by_the_file_beside_by_its_progress_and_by_its_result(tmp_path: Path) -> None:
    use = [{"type": "tool_use", "id": "c1", "name": "Task", "input": {"prompt": "go", "description": "d"}}]
    path = written(
        tmp_path / "s.jsonl",
        record("p", None),
        record("a", "p", "assistant", content=use),
        b'{"type":"progress","uuid":"x","parentUuid":"a","sessionId":"s","data":{"type":"agent_progress","agentId":"ab12"},"parentToolUseID":"c1"}',
        record(
            "r", "a", content=[{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}],
            toolUseResult={"agentId": "ab12"},
        ),
        record("b", "r", "assistant", content="done"),
    )  # fmt: skip
    written(
        tmp_path / "agent-ab12.jsonl",
        record("k", None, isSidechain=True, agentId="ab12", content="go"),
        record("l", "k", "assistant", isSidechain=True, agentId="ab12", content="nested"),
    )
    assert set(transcript(events_of(path)).nested) == {"nested"}


def test_prices_of_early_versions_are_taken_from_their_lines(tmp_path: Path) -> None:
    path = written(tmp_path / "s.jsonl", record("p", None), record("a", "p", "assistant", costUSD=0.25))
    assert outline(path).cost_usd == 0.25
    assert transcript(events_of(path)).completes[0].cost_usd == 0.25


def test_a_window_that_any_answer_of_the_file_outgrows_is_not_known_from_the_beginning(
    tmp_path: Path,
) -> None:
    def answer(uuid: str, parent: str, model: str, tokens: int, **more: object) -> bytes:
        usage = {"input_tokens": 1, "output_tokens": 1, "cache_read_input_tokens": tokens - 2}
        message = {"id": uuid, "model": model, "content": [{"type": "text", "text": uuid}], "usage": usage}
        return record(uuid, parent, "assistant", message=message, **more)

    path = written(
        tmp_path / "s.jsonl",
        record("p", None),
        answer("a", "p", "claude-opus-4-6", 150_000),
        answer("of-a-subagent", "a", "claude-haiku-4-5", 900_000, isSidechain=True),
        answer("b", "a", "claude-opus-4-6", 591_976),
        record("q", "b"),
        answer("c", "q", "claude-haiku-4-5", 100_000),
        record("r", "c"),
        answer("d", "r", "another-model", 100_000),
    )
    windows = [event for event in events_of(path) if isinstance(event, ev.ContextWindow)]
    assert [(one.context_window_used, one.context_window_size) for one in windows] == [
        (150_000, None),
        (591_976, None),
        (100_000, 200_000),
        (100_000, None),
    ]


@pytest.mark.parametrize(
    ("lines", "is_over"),
    [
        ([record("a", "p", "assistant")], False),
        (
            [record("a", "p", "assistant"), record("d", "a", "system", subtype="turn_duration", content="")],
            True,
        ),
        ([record("d", "p", "system", subtype="turn_duration", content="")], False),
        ([stopped("a", "p", "end_turn")], True),
        ([stopped("a", "p", "tool_use")], False),
        ([record("i", "p", content="[Request interrupted by user]")], True),
        ([record("a", "p", "assistant", isApiErrorMessage=True)], True),
    ],
)
def test_a_turn_that_is_over_has_its_end_though_nothing_follows(
    lines: list[bytes], is_over: bool, tmp_path: Path
) -> None:
    path = written(tmp_path / "s.jsonl", record("p", None), *lines)
    found = format_of(path)
    assert found is not None
    follower = Follower(path, found.files)
    core = new_core()

    def hears(happened: list[SessionInput]) -> list[AgentEvent]:
        return [event for one in happened for event in core.handle(one)]

    assert follower.settle() == []
    hears([one for piece in follower.first() for one in piece])
    ends = [event for event in hears(follower.settle()) if isinstance(event, ev.Complete)]
    assert (len(ends), core.busy) == (int(is_over), not is_over)
    assert follower.settle() == [] or not is_over
    with path.open("ab") as file:
        file.write(record("q", "p") + b"\n" + record("b", "q", "assistant") + b"\n")
    told = hears(follower.more())
    assert len([event for event in told if isinstance(event, ev.TurnStarted)]) == 1
    assert len([event for event in told if isinstance(event, ev.Complete)]) == int(not is_over)


def test_a_duration_of_no_turn_ends_none(tmp_path: Path) -> None:
    path = written(
        tmp_path / "s.jsonl",
        record("d", None, "system", subtype="turn_duration", content=""),
        record("p", "d"),
        record("a", "p", "assistant"),
    )
    assert len(transcript(events_of(path)).completes) == 1


@pytest.mark.parametrize(
    ("result", "named"), [({"agentId": "a1"}, ["a1"]), ({"agentId": 7}, []), ('"agentId"', []), ({}, [])]
)
def test_a_result_names_its_subagent_in_words_or_none(result: object, named: list[str]) -> None:
    message = {"content": [{"type": "tool_result", "tool_use_id": "t"}]}
    line = {"type": "user", "uuid": "u", "toolUseResult": result, "message": message}
    subagents = Subagents()
    subagents.note(session_lines.look(json.dumps(line).encode()))
    assert subagents.named() == named


def test_tokens_are_counted_by_kind() -> None:
    assert counts_of(session_lines.Tokens(3, 4, 5, 6)) == (3, 4, 5, 6)


def heads_are_the_same(lines: list[bytes]) -> None:
    """Check that the head of each line has the values that a reading of the whole line gives."""
    for line, head in zip(lines, session_lines.look_over(lines), strict=True):
        assert head == session_lines.look(line)
        whole = session_lines.head_of(session_lines.read(line))
        # JSON that was read twice may be written otherwise; lines of other kinds have messages of other kinds
        message = head.message if head.type in ("user", "assistant") else session_lines.NO_MESSAGE
        beside = {"tool_use_result": msgspec.Raw(), "model_usage": None}
        assert replace(head, message=message, **beside) == replace(whole, **beside)
        assert bool(head.tool_use_result) == bool(whole.tool_use_result)
        assert (head.model_usage or {}) == (whole.model_usage or {})


def test_the_head_of_a_line_is_what_the_whole_line_says() -> None:
    for one in all_kept():
        for file in one.folder.glob("projects/**/*.jsonl"):
            heads_are_the_same(file.read_bytes().split(b"\n"))


def test_a_message_of_one_text_calls_no_tool() -> None:
    head = session_lines.MessageHead(content="said")
    assert (head.calls, [block.text for block in head.blocks]) == ([], ["said"])
    assert session_lines.NO_MESSAGE.blocks == []
    (files,) = FAMILIES["claude"].files
    survey = files.survey()
    said = survey.handle(record("a", None, "assistant", message={"id": "m", "content": "said"}))
    assert [(one.kind, one.text) for one in said] == [("text", "said")]
    with pytest.raises(KeyError):
        survey.reader("b")


@pytest.mark.parametrize("aside", [False, True])
def test_a_call_without_an_id_or_arguments_is_no_call_of_a_subagent(aside: bool) -> None:
    (files,) = FAMILIES["claude"].files
    survey = files.survey()
    started = {"type": "tool_use", "id": "c", "name": "Task", "input": {"prompt": "say k"}}
    survey.handle(record("p", None, "assistant", content=[started]))
    survey.handle(record("k", None, isSidechain=True, agentId="k"))
    blocks = [
        {"type": "tool_use", "name": "Task", "input": {"prompt": "unnamed"}},
        {"type": "tool_use", "id": "d", "name": "Bash", "input": "ls"},
    ]
    said = survey.handle(record("a", "k", "assistant", content=blocks, isSidechain=aside, agentId="k"))
    assert [(one.kind, one.text) for one in said] == [("prompt", "unnamed")]
    assert list(survey.agents()) == ["k"]


ODD = [
    None,
    3,
    -5,
    1 << 70,
    True,
    "",
    "x",
    [],
    {},
    [{"a": 1}],
    {"a": "\ud800"},
    "\ud83d",
    "2026-W01-1T00:00:00.000Z",
]


@given(data=st.data())
@settings(max_examples=60)
def test_the_head_of_an_odd_line_is_what_the_whole_line_says(data: st.DataObject) -> None:
    line = data.draw(st.sampled_from(kept("2.1.330", "subagent").file.read_bytes().splitlines()))
    match data.draw(st.sampled_from(["cut", "byte", "field", "part", "twice", "deep"])):
        case "cut":
            line = line[: data.draw(st.integers(0, len(line)))]
        case "byte":
            at = data.draw(st.integers(0, len(line) - 1))
            line = line[:at] + data.draw(st.binary(min_size=1, max_size=1)) + line[at + 1 :]
        case "twice":
            line = line + data.draw(st.sampled_from([b"", b" ", b","])) + line
        case "deep":
            line = line[:-1] + b',"more":' + b"[" * 200 + b"]" * 200 + b"}"
        case kind:
            value = json.loads(line)
            message = value.get("message")
            within = message if kind == "part" and isinstance(message, dict) else value
            names = [
                *within,
                "attachment",
                "content",
                "costUSD",
                "data",
                "isSidechain",
                "level",
                "origin",
                "toolUseResult",
            ]
            within[data.draw(st.sampled_from(names))] = data.draw(st.sampled_from(ODD))
            line = json.dumps(value).encode()
    heads_are_the_same([line])


@given(data=st.data())
@settings(max_examples=20)
def test_lines_give_the_same_conversation_however_many_come_at_a_time(data: st.DataObject) -> None:
    chosen = data.draw(
        st.sampled_from([("2.1.330", "subagent"), ("2.0.14", "resume-and-rewind"), ("1.0.120", "compact")])
    )
    lines = [line for line in kept(*chosen).files[0].read_bytes().split(b"\n") if line]
    # several records in one line, a blank line, one without meaning; records in another order
    lines.insert(data.draw(st.integers(0, len(lines))), b"{")
    lines.insert(data.draw(st.integers(0, len(lines))), b"")
    at = data.draw(st.integers(0, len(lines) - 2))
    lines[at : at + 2] = (
        [b" ".join(lines[at : at + 2])] if data.draw(st.booleans()) else lines[at : at + 2][::-1]
    )
    (files,) = FAMILIES["claude"].files
    one_by_one, some = files.survey(), files.survey()
    said = [text for line in lines for text in one_by_one.handle(line)]
    size = data.draw(st.integers(2, len(lines)))
    pieces = [lines[first : first + size] for first in range(0, len(lines), size)]
    assert [text for piece in pieces for text in some.look_over(piece)] == said
    assert some.outline() == one_by_one.outline()


def test_a_line_of_a_session_file_is_read_whatever_is_odd_in_it() -> None:
    line = b'{"type":"user","uuid":"u","isSidechain":"no","message":{"role":"user","content":"\\ud83d"},"timestamp":7}'
    told = session_lines.read(line)
    assert (told.type, told.uuid, told.is_sidechain, told.timestamp) == ("user", "u", None, None)
    assert session_lines.head(told.message).text == "\ufffd"
    odd = msgspec.Raw(b'{"id":3,"content":[{"type":"text","text":"kept"},7],"usage":{"input_tokens":"many"}}')
    assert session_lines.head(odd).text == "kept"
    for nothing in (b"[]", b"{", b'{"a":' + b"[" * 300, b"\xff\xfe"):
        assert session_lines.read(nothing) is session_lines.NO_LINE
    for nothing in (b"", b"[]", b"{"):
        assert session_lines.head(msgspec.Raw(nothing)) is session_lines.NO_MESSAGE


def test_a_pipe_with_a_session_file_gives_what_the_file_gives() -> None:
    path = kept("2.1.330", "denied").file
    command = [sys.executable, "-m", "turnwire", "translate"]
    file = subprocess.run([*command, str(path)], capture_output=True, check=True)
    pipe = subprocess.run(command, input=path.read_bytes(), capture_output=True, check=True)
    assert pipe.stdout == file.stdout
    assert file.stdout.count(b'"type":"complete"') == 3


def test_a_redacted_copy_gives_the_same_turns(tmp_path: Path) -> None:
    source, copy = kept("2.1.330", "files-and-shell").file, tmp_path / "copy.jsonl"
    redact_file(source, copy, Redaction(b"k" * 32), lambda _: None)
    before, after = transcript(events_of(source)), transcript(events_of(copy))
    assert [done.cost_usd for done in before.completes] == [done.cost_usd for done in after.completes]
    assert set(before.results) == set(after.results)


def test_records_out_of_their_order_and_without_their_time_are_read_all_the_same(tmp_path: Path) -> None:
    command = "<command-name></command-name>"
    path = written(
        tmp_path / "s.jsonl",
        record("r0", None, content=[{"type": "tool_result", "tool_use_id": "c0", "content": "of nobody"}]),
        record("i0", "r0", content="[Request interrupted by user]"),
        record("o0", "i0", content="<local-command-stdout>early</local-command-stdout>"),
        record("a0", "o0", "assistant", content="unasked", timestamp="never"),
        record("p", "a0", content=command),
        record("u", "p", content="Unknown skill: nothing"),
        record("q", "u", timestamp=None),
        record("k", None, isSidechain=True, isMeta=True, content="go"),
        record("l", "k", "assistant", isSidechain=True, content="of nobody's call"),
        b'{"type":"cost-state","sessionId":"s","totalCostUSD":2.0,"modelUsage":{"claude-x":{"costUSD":2.0}}}',
        b'{"type":"cost-state","sessionId":"s","totalCostUSD":1.0,"modelUsage":{"claude-x":{"inputTokens":1,"costUSD":1.0}}}',
    )
    seen = transcript(events_of(path))
    assert seen.prompts == [command, "/nothing", "say q"]
    assert {"early", "unasked", "Unknown skill: nothing"} <= set(seen.texts)
    assert [done.outcome for done in seen.completes][-1] == "process_exited"
    told = outline(path)
    assert told.cost_usd is not None
    assert told.cost_usd >= 3.0 - 1.0


def test_lines_that_are_too_long_to_be_kept_are_counted() -> None:
    (files,) = FAMILIES["claude"].files
    survey = files.survey()
    survey.skip()
    assert (survey.outline().lines, survey.outline().unreadable) == (1, 1)
    assert files.moment(b"{") is None


def test_two_tasks_with_the_same_words_are_two_subagents(tmp_path: Path) -> None:
    use = [
        [{"type": "tool_use", "id": call, "name": "Task", "input": {"prompt": "go", "description": "d"}}]
        for call in ("c1", "c2")
    ]
    path = written(
        tmp_path / "s.jsonl",
        record("p", None),
        record("a", "p", "assistant", content=use[0]),
        record("b", "a", "assistant", content=use[1]),
        record("k1", None, isSidechain=True, content="go"),
        record("l1", "k1", "assistant", isSidechain=True, content="first"),
        record("k2", None, isSidechain=True, content="go"),
        record("l2", "k2", "assistant", isSidechain=True, content="second"),
    )
    chunks = [event for event in events_of(path) if isinstance(event, ev.MessageChunk)]
    assert [(chunk.parent_tool_call_id, chunk.text) for chunk in chunks] == [
        ("c1", "first"),
        ("c2", "second"),
    ]


def test_a_compaction_that_nobody_asked_for_is_within_its_turn(tmp_path: Path) -> None:
    path = written(
        tmp_path / "s.jsonl",
        record("k", None, "assistant", isSidechain=True, content="of nobody's call"),
        record("p", None),
        record("a", "p", "assistant", content="before"),
        record(
            "c", None, "system", subtype="compact_boundary", content="", logicalParentUuid="a",
            compactMetadata={"trigger": "auto", "preTokens": 9, "postTokens": 2},
        ),
        record("s", "c", isCompactSummary=True),
        record("b", "s", "assistant", content="after"),
    )  # fmt: skip
    events = events_of(path)
    (boundary,) = [event for event in events if isinstance(event, ev.CompactBoundary)]
    assert (boundary.operation_id, boundary.trigger, boundary.pre_tokens) == ("turn-1", "auto", 9)
    seen = transcript(events)
    assert set(seen.texts) == {"before", "after"}
    assert len(seen.completes) == 1


def task(call: str, prompt: str) -> list[dict[str, object]]:
    return [{"type": "tool_use", "id": call, "name": "Task", "input": {"prompt": prompt, "description": "d"}}]


def test_a_turn_lasts_until_its_last_word_not_until_the_next_prompt(tmp_path: Path) -> None:
    path = written(
        tmp_path / "s.jsonl",
        record("p", None, timestamp="2026-01-02T03:04:00.000Z"),
        record("a", "p", "assistant", timestamp="2026-01-02T03:04:02.000Z"),
        record("q", "a", timestamp="2026-01-02T03:14:00.000Z"),
        record("b", "q", "assistant", timestamp="2026-01-02T03:14:01.000Z"),
        record("r", "b", timestamp="2026-01-02T04:00:00.000Z"),
        record("t", "r", timestamp="2026-01-02T05:00:00.000Z"),
    )
    assert [done.duration_ms for done in transcript(events_of(path)).completes] == [2000, 1000, 0, None]


def test_a_subagents_words_are_never_before_its_call_whatever_their_times(tmp_path: Path) -> None:
    path = written(
        tmp_path / "s.jsonl",
        record("p", None),
        record("a", "p", "assistant", content=task("c1", "go"), timestamp="2026-01-02T03:04:06.000Z"),
        record(
            "r", "a", content=[{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}],
            toolUseResult={"agentId": "ab12"}, timestamp="2026-01-02T03:04:07.000Z",
        ),
        record("b", "r", "assistant", content="done", timestamp="2026-01-02T03:04:08.000Z"),
    )  # fmt: skip
    written(
        tmp_path / "agent-ab12.jsonl",
        record("k", None, isSidechain=True, agentId="ab12", content="go"),
        record("l", "k", "assistant", isSidechain=True, agentId="ab12", content="nested"),
    )
    seen = [
        event.type
        for event in events_of(path)
        if isinstance(event, ev.ToolCall | ev.MessageChunk | ev.UserMessage | ev.ToolUpdate)
    ]
    assert seen == [
        "user_message", "tool_call", "user_message", "message_chunk", "tool_update", "message_chunk",
    ]  # fmt: skip
    assert transcript(events_of(path)).completes[0].input_tokens == 2


def test_what_subagents_of_a_branch_that_was_left_said_is_left_too(tmp_path: Path) -> None:
    result = [{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}]
    path = written(
        tmp_path / "s.jsonl",
        record("p", None),
        record("a", "p", "assistant", content="one"),
        record("q", "a"),
        record("b", "q", "assistant", content=task("c1", "go")),
        record("r", "b", content=result, toolUseResult={"agentId": "ab12"}),
        record("c", "r", "assistant", content="two"),
        record("s", "a"),
        record("d", "s", "assistant", content="three"),
    )
    written(
        tmp_path / "agent-ab12.jsonl",
        record("k", None, isSidechain=True, agentId="ab12", content="go"),
        record("l", "k", "assistant", isSidechain=True, agentId="ab12", content=task("c2", "on")),
    )
    of_agents = tmp_path / "s" / "subagents"
    of_agents.mkdir(parents=True)
    (of_agents / "agent-cd34.meta.json").write_text('{"toolUseId": "c2"}')
    written(
        of_agents / "agent-cd34.jsonl",
        record("i", None, isSidechain=True, agentId="cd34", isMeta=True, content="for the model alone"),
        record("m", "i", "assistant", isSidechain=True, agentId="cd34", content="below it"),
    )
    living = transcript(events_of(path))
    assert (set(living.texts), living.nested) == ({"one", "three"}, Counter())
    assert [done.input_tokens for done in living.completes] == [1, 1]
    (left,) = outline(path).branches
    gone = transcript(events_of(path, left.leaf))
    assert {(call, below) for call, _, below, _ in gone.calls} == {("c1", ""), ("c2", "c1")}
    assert (set(gone.texts), set(gone.nested)) == ({"one", "two"}, {"below it"})


def test_lines_that_are_for_the_cli_alone_are_no_news_in_any_version(tmp_path: Path) -> None:
    kinds = ("file-history-delta", "continued-in", "session-owner", "bridge-session", "ended-by-model")
    lines = [json.dumps({"type": kind, "sessionId": "s"}).encode() for kind in kinds]
    path = written(tmp_path / "s.jsonl", record("p", None), *lines, record("a", "p", "assistant"))
    assert not [event for event in events_of(path) if event.type == "unknown"]


def test_tasks_that_end_at_once_wake_the_model_once(tmp_path: Path) -> None:
    def ended(uuid: str, parent: str) -> bytes:
        return record(uuid, parent, content="<task-notification>", origin={"kind": "task-notification"})

    path = written(
        tmp_path / "s.jsonl",
        record("p", None),
        record("a", "p", "assistant", content="begun"),
        ended("n1", "a"),
        ended("n2", "n1"),
        record("b", "n2", "assistant", content="both are done"),
        ended("n3", "b"),
        record("c", "n3", "assistant", content="and the third"),
        record("q", "c"),
        record("d", "q", "assistant", content="end"),
    )
    seen = transcript(events_of(path))
    assert seen.origins == ["user", "autonomous", "autonomous", "user"]
    assert [done.outcome for done in seen.completes] == ["completed"] * 4
    assert outline(path).turns == 4


def test_a_folder_without_a_repository_has_no_branch(tmp_path: Path) -> None:
    lines = [record("p", None, gitBranch="HEAD"), record("a", "p", "assistant", gitBranch="HEAD")]
    assert outline(written(tmp_path / "s.jsonl", *lines)).git_branch is None
    lines.append(record("q", "a", gitBranch="trunk"))
    assert outline(written(tmp_path / "t.jsonl", *lines)).git_branch == "trunk"
