"""Tool calls as an editor shows them: changes by their hunks, output that ends no fence, terminals, absolute paths."""

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_updates import GOLDENS, read, valid
from turnwire.client import events as ev
from turnwire.client.payloads import NormalizedPayload
from turnwire.frontends.acp.diffs import changes
from turnwire.frontends.acp.encoder import Encoder
from turnwire.frontends.acp.tool_calls import ToolCalls, fenced
from turnwire.normalize.payloads import diff as native


def update(kind: str, body: dict[str, Any], **fields: Any) -> ev.ToolUpdate:
    payload: NormalizedPayload = msgspec.convert(
        {"kind": kind, "renderer": "tool_call", kind: body}, NormalizedPayload
    )
    return ev.ToolUpdate(
        **{"tool_call_id": "t", "tool_status": "complete", "tool_name": "T", "normalized": payload, **fields}
    )


def shown(update: dict[str, Any]) -> list[str]:
    return [each["content"]["text"] for each in update.get("content", []) if each["type"] == "content"]


@given(
    old=st.text(st.sampled_from("ab\n"), max_size=60),
    new=st.text(st.sampled_from("ab\n"), max_size=60),
)
def test_the_two_sides_of_all_hunks_turn_the_one_file_into_the_other(old: str, new: str) -> None:
    found = changes(native.of_files("f", old, new))
    assert bool(found) is (old != new)
    text, at = "", 0
    for change in found:
        place = old.index(change.old, at) if change.old else at
        # a hunk's place in the new file is where it has come to
        text += old[at:place]
        assert text.count("\n") + 1 == change.line or not change.new
        text += change.new
        at = place + len(change.old)
    assert text + old[at:] == new


def test_a_diff_that_was_cut_gives_what_is_left() -> None:
    whole = native.of_files("f", "a\nb\nc\n", "a\nx\nc\n")
    for length in range(len(whole)):
        for change in changes(whole[:length]):
            assert change.line == 1
    assert changes("no diff at all") == []


@given(st.text(st.sampled_from("`a\n"), max_size=40))
def test_nothing_in_a_block_ends_its_fence(text: str) -> None:
    first, *body, last = fenced(text).split("\n")
    assert first == last
    assert set(first) == {"`"}
    assert all(not line.startswith(first) for line in body)
    assert "\n".join(body) == text.removesuffix("\n")


def test_paths_are_absolute_and_a_new_file_has_no_old_text() -> None:
    calls = ToolCalls(cwd="/src")
    created = update(
        "modify_file", {"file_path": "a.py", "mutations": [{"type": "create", "content": "x\n"}]}
    )
    fields = calls.updated(created)
    assert fields["content"] == [{"type": "diff", "path": "/src/a.py", "oldText": None, "newText": "x\n"}]
    assert fields["locations"] == [{"path": "/src/a.py", "line": 1}]
    read = calls.updated(update("read_file", {"file_path": "/else/b.py", "offset": 7}))
    assert read["locations"] == [{"path": "/else/b.py", "line": 7}]


def test_a_command_is_a_terminal_for_an_editor_that_shows_them() -> None:
    output = {"exit_code": 3, "stdout": "out\n", "stderr": "err\n"}
    failed = update(
        "shell_exec", {"command": "x", "output": output}, tool_status="error", error="Exit code 3"
    )
    plain = ToolCalls().updated(failed)
    assert shown(plain) == ["```console\nout\nerr\n```"]
    assert plain["rawOutput"] == {"exit_code": 3}
    terminal = ToolCalls(shows_terminals=True).updated(failed)
    assert terminal["content"] == [{"type": "terminal", "terminalId": "t"}]
    assert terminal["_meta"]["terminal_output"] == {"terminal_id": "t", "data": "out\nerr\n"}
    assert terminal["_meta"]["terminal_exit"] == {"terminal_id": "t", "exit_code": 3, "signal": None}


@pytest.mark.parametrize("terminals", [False, True])
def test_a_refused_command_says_why_once(terminals: bool) -> None:
    refused = update("shell_exec", {"command": "x"}, tool_status="error", error="No.", reason="denied")
    fields = ToolCalls(shows_terminals=terminals).updated(refused)
    said = fields["_meta"]["terminal_output"]["data"] if terminals else shown(fields)[0].split("\n")[1]
    assert said == "No."
    assert fields["_meta"]["turnwire"]["reason"] == "denied"


@pytest.mark.parametrize(
    ("part", "content"),
    [
        ({"type": "text", "text": "words"}, {"type": "text", "text": "words"}),
        ({"type": "image", "base64": "iVBO"}, {"type": "image", "data": "iVBO", "mimeType": "image/png"}),
        (
            {"type": "document", "base64": "JVBE", "media_type": "application/pdf", "title": "a.pdf"},
            {
                "type": "resource",
                "resource": {"uri": "turnwire:a.pdf", "blob": "JVBE", "mimeType": "application/pdf"},
            },
        ),
        (
            {"type": "document", "url": "https://example.org/a"},
            {"type": "resource_link", "uri": "https://example.org/a", "name": "https://example.org/a"},
        ),
        ({"type": "reference", "title": "ToolSearch"}, {"type": "text", "text": "ToolSearch"}),
        ({"type": "unknown", "raw": {"a": "é"}}, {"type": "text", "text": '{\n  "a": "é"\n}'}),
        ({"type": "unknown"}, None),
    ],
    ids=["text", "image", "document", "link", "reference", "raw", "nothing"],
)
def test_each_part_of_a_result_is_shown_as_what_it_is(part: dict[str, Any], content: Any) -> None:
    body = {"server": "s", "tool": "t", "input": {}, "output": [part]}
    fields = ToolCalls().updated(update("mcp_tool", body))
    assert [each["content"] for each in fields.get("content", [])] == ([] if content is None else [content])


@pytest.mark.parametrize(
    ("mutation", "old", "new"),
    [
        ({"type": "modify", "old_content": "a", "new_content": "b"}, "a", "b"),
        ({"type": "modify", "new_content": "b"}, "", "b"),
        ({"type": "modify", "old_content": "a", "content": "c"}, "a", "c"),
        ({"type": "modify", "content": "c"}, None, "c"),
        ({"type": "delete", "old_content": "a"}, "a", ""),
    ],
)
def test_a_change_without_hunks_is_shown_by_what_was_and_what_is(
    mutation: dict[str, Any], old: str | None, new: str
) -> None:
    fields = ToolCalls().updated(update("modify_file", {"file_path": "/a", "mutations": [mutation]}))
    assert fields["content"] == [{"type": "diff", "path": "/a", "oldText": old, "newText": new}]


@settings(max_examples=30)
@given(st.integers(0, 2**32))
def test_events_in_any_order_again_and_again_give_valid_updates(seed: int) -> None:
    chance = random.Random(seed)
    events = [event for golden in chance.sample(GOLDENS, 3) for event in read(golden)]
    chance.shuffle(events)
    encoder = Encoder(shows_terminals=chance.random() < 0.5)
    for event in events[:200]:
        for _ in range(chance.choice((0, 1, 1, 2))):
            for made in encoder.handle(event):
                valid(made)
    for made in encoder.state():
        valid(made)
