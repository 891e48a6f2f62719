"""The lines of the runner protocol, in both directions."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runner_harness import request

from turnwire.protocol.claude.messages import User, UserBody
from turnwire.protocol.framing import LineFramer, OversizeLine
from turnwire.protocol.parsing.depth import TOO_DEEP
from turnwire.runner.runner_lines import (
    Cancel,
    Diag,
    Dropped,
    End,
    Event,
    EventLines,
    Fatal,
    Refused,
    Run,
    cancel_line,
    diag_line,
    end_line,
    fatal_line,
    flat,
    read_note,
    read_output,
    read_request,
    run_line,
)

PARAMS = {
    "model": "claude-sonnet-5-5",
    "message": {"type": "user", "message": {"role": "user", "content": "hi"}},
    "rate_limit_max_retries": 2,
}

EXAMPLES = [
    ('{"type":"end","id":"<id>","status":"ok"}', End("<id>", "ok"), end_line("<id>", "ok")),
    (
        '{"type":"end","id":"<id>","status":"cancelled"}',
        End("<id>", "cancelled"),
        end_line("<id>", "cancelled"),
    ),
    (
        '{"type":"end","id":"<id>","status":"error","error":"<msg>"}',
        End("<id>", "error", "<msg>"),
        end_line("<id>", "error", "<msg>"),
    ),
]
NOTES = [
    (
        '{"type":"diag","id":"<id>","level":"info","message":"..."}',
        Diag("<id>", "info", "..."),
        diag_line("<id>", "info", "..."),
    ),
    (
        '{"type":"diag","id":"<id>","level":"warn","message":"..."}',
        Diag("<id>", "warn", "..."),
        diag_line("<id>", "warn", "..."),
    ),
    (
        '{"type":"diag","id":"<id>","level":"error","message":"..."}',
        Diag("<id>", "error", "..."),
        diag_line("<id>", "error", "..."),
    ),
    ('{"type":"fatal","message":"..."}', Fatal("..."), fatal_line("...")),
]


@pytest.mark.parametrize(("line", "message", "written"), EXAMPLES)
def test_an_end_is_written_and_read_as_specified(line: str, message: End, written: bytes) -> None:
    assert read_output(line.encode()) == message
    assert written == line.encode() + b"\n"


@pytest.mark.parametrize(("line", "message", "written"), NOTES)
def test_a_note_is_written_and_read_as_specified(line: str, message: Diag | Fatal, written: bytes) -> None:
    assert read_note(line.encode()) == message
    assert written == line.encode() + b"\n"


def test_an_event_carries_its_value_byte_for_byte() -> None:
    value = b'{ "a" : 1e3, "b":"\\u00e9\xc3\xa9" }'
    line = EventLines("<id>").lines([value])
    assert line == b'{"type":"event","id":"<id>","event":' + value + b"}\n"
    read = read_output(line)
    assert isinstance(read, Event)
    assert (read.id, bytes(read.event)) == ("<id>", value)


def test_bytes_that_are_no_text_do_not_spoil_the_line_around_them() -> None:
    line = EventLines("a").lines([b'{"a":"\xff"}'])
    assert json.loads(line)["event"] == {"a": "�"}


def test_many_lines_are_each_what_they_are_alone() -> None:
    lines = EventLines("a")
    values = [b"1", b'"\xc3\xa9"', b'{"a":"\xff"}', b'"\xc3"', b'"\xa9"', b"[]"]
    assert lines.lines(values) == b"".join(lines.lines([value]) for value in values)
    assert lines.lines(values[:2]) == b"".join(lines.lines([value]) for value in values[:2])
    assert lines.lines([]) == b""


def test_a_run_request_is_written_and_read() -> None:
    read = read_request(run_line("r", PARAMS)[:-1])
    assert isinstance(read, Run)
    assert (read.id, read.params.model, read.params.rate_limit_max_retries) == ("r", "claude-sonnet-5-5", 2)
    assert read.message == User(message=UserBody(content="hi"))
    assert read.params.max_wait == 180
    assert run_line("r", PARAMS).startswith(b'{"type":"run","id":"r","params":{')


def test_every_param_is_read_and_null_is_absence() -> None:
    more = {
        "system_prompt": "Be brief.",
        "effort": "low",
        "thinking_disabled": True,
        "mcp_servers": {"s": {"command": "x"}},
        "resume": "sid",
        "user_agent": "ua/1",
        "rate_limit_max_wait_secs": 1.5,
    }
    read = read_request(run_line("r", {**PARAMS, **more}))
    assert isinstance(read, Run)
    assert {name: getattr(read.params, name) for name in more} == more
    assert read.params.max_wait == 1.5
    nothing = read_request(run_line("r", {**PARAMS, **dict.fromkeys(more), "unheard_of": 1}))
    assert isinstance(nothing, Run)
    assert nothing.params.mcp_servers is None


def test_a_cancel_request_is_written_and_read() -> None:
    assert cancel_line("r") == b'{"type":"cancel","id":"r"}\n'
    assert read_request(b'{"type":"cancel","id":"r"}') == Cancel("r")
    assert read_request(b'{"id":"r","type":"cancel"}') == Cancel("r")


@pytest.mark.parametrize("line", [b"x", b"[]", b"null", b'"run"', b"{", b"\xff", b'{"type":"run","id":"a"'])
def test_a_line_that_is_no_object_is_dropped(line: bytes) -> None:
    assert read_request(line) == Dropped("no JSON object")


def test_a_line_that_is_nested_too_deep_is_refused_by_its_id_or_dropped() -> None:
    deep = b"[" * 500 + b"]" * 500
    refused = Refused("a", f"invalid-params: {TOO_DEEP}")
    assert read_request(b'{"type":"run","id":"a","params":{"x":%b}}' % deep) == refused
    assert read_request(b'{"params":%b,"id":"a"}' % deep) == refused
    assert read_request(b'{"type":"run","params":%b,"id":1}' % deep) == Dropped("too deep")
    assert read_request(b"[" * 100_000) == Dropped("too deep")


@pytest.mark.parametrize("line", [b"{}", b'{"type":"run"}', b'{"id":1}', b'{"type":"run","id":null}'])
def test_a_line_without_an_id_is_dropped(line: bytes) -> None:
    assert read_request(line) == Dropped("no id")


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b'{"type":"jump","id":"r"}', "unknown-type: jump"),
        (b'{"type":"a\\nb","id":"r"}', "unknown-type: a b"),
        (b'{"id":"r"}', "unknown-type: null"),
        (b'{"type":7,"id":"r"}', "unknown-type: 7"),
    ],
)
def test_an_unknown_type_is_told_to_its_id(line: bytes, error: str) -> None:
    assert read_request(line) == Refused("r", error)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"model": ""}, "$.model"),
        ({"model": None}, "$.model"),
        ({"model": 1}, "$.model"),
        ({"message": "hi"}, "$.message"),
        ({"message": {"type": "control_request"}}, "$.message"),
        ({"message": {"type": "user", "message": {"role": "assistant", "content": "x"}}}, "role"),
        ({"rate_limit_max_retries": "1"}, "$.rate_limit_max_retries"),
        ({"rate_limit_max_retries": True}, "$.rate_limit_max_retries"),
        ({"rate_limit_max_retries": 1.5}, "$.rate_limit_max_retries"),
        ({"rate_limit_max_retries": -1}, "$.rate_limit_max_retries"),
        ({"rate_limit_max_wait_secs": -1}, "$.rate_limit_max_wait_secs"),
        ({"system_prompt": 1}, "$.system_prompt"),
        ({"effort": {}}, "$.effort"),
        ({"thinking_disabled": "yes"}, "$.thinking_disabled"),
        ({"mcp_servers": []}, "$.mcp_servers"),
        ({"mcp_servers": {"a": 1}}, "$.mcp_servers"),
        ({"mcp_servers": {"a": {}}}, "$.mcp_servers.a"),
        ({"mcp_servers": {"a": {"command": 5}}}, "$.mcp_servers.a.command"),
        ({"mcp_servers": {"a": {"command": "x", "args": [1]}}}, "$.mcp_servers.a.args"),
        ({"mcp_servers": {"a": {"command": "x", "env": {"A": 1}}}}, "$.mcp_servers.a.env"),
        ({"mcp_servers": {"a": {"type": "http"}}}, "$.mcp_servers.a"),
        ({"mcp_servers": {"a": {"type": "sse", "url": ""}}}, "$.mcp_servers.a.url"),
        ({"mcp_servers": {"a": {"type": 5, "command": "x"}}}, "$.mcp_servers.a"),
        ({"resume": 1}, "$.resume"),
        ({"user_agent": 1}, "$.user_agent"),
    ],
)
def test_a_wrong_param_is_named(changed: dict[str, object], named: str) -> None:
    refused = read_request(run_line("r", {**PARAMS, **changed}))
    assert isinstance(refused, Refused)
    assert refused.id == "r"
    assert refused.error.startswith("invalid-params: ")
    assert named in refused.error


@pytest.mark.parametrize("missing", ["model", "message", "rate_limit_max_retries"])
def test_a_required_param_that_is_missing_is_named(missing: str) -> None:
    params = {name: value for name, value in PARAMS.items() if name != missing}
    refused = read_request(run_line("r", params))
    assert isinstance(refused, Refused)
    assert missing in refused.error


@pytest.mark.parametrize("params", [None, [], "x", 1])
def test_params_that_are_no_object_are_refused(params: object) -> None:
    line = json.dumps({"type": "run", "id": "r", "params": params}).encode()
    assert isinstance(read_request(line), Refused)
    assert isinstance(read_request(b'{"type":"run","id":"r"}'), Refused)


def test_a_line_beyond_the_limit_is_refused_by_its_id_if_that_comes_first() -> None:
    def oversize(line: bytes) -> OversizeLine:
        (cut,) = LineFramer(limit=100).feed(line + b"\n")
        assert isinstance(cut, OversizeLine)
        return cut

    refused = read_request(oversize(b'{"type":"run","id":"a\\"b","params":{' + b" " * 200))
    assert isinstance(refused, Refused)
    assert (refused.id, refused.error[:15]) == ('a"b', "invalid-params:")
    assert read_request(oversize(b'{"params":{' + b" " * 200)) == Dropped("too long")


@given(st.text())
def test_any_string_is_an_id_and_comes_back_second(run_id: str) -> None:
    read = read_request(request(run_id)[:-1])
    assert isinstance(read, Run)
    assert read.id == run_id
    for line in (EventLines(run_id).lines([b"{}"]), end_line(run_id, "ok"), diag_line(run_id, "info", "x")):
        assert list(json.loads(line).items())[1] == ("id", run_id)
        assert next(iter(json.loads(line))) == "type"
        assert line.count(b"\n") == 1


def test_an_id_with_half_a_pair_comes_back_as_it_was() -> None:
    read = read_request(b'{"type":"cancel","id":"\\ud83d"}')
    assert read == Cancel("\ud83d")
    assert json.loads(end_line("\ud83d", "ok"))["id"] == "\ud83d"
    assert json.loads(EventLines("\ud83d").lines([b"1"]))["id"] == "\ud83d"


@given(st.binary())
def test_no_line_raises(line: bytes) -> None:
    read_request(line)


@given(st.text())
def test_a_flat_text_is_one_line(text: str) -> None:
    assert len(flat(text).splitlines()) <= 1


def test_a_prompt_with_half_a_pair_is_passed_on() -> None:
    line = request("r", message={"type": "user", "message": {"role": "user", "content": "cut \ud83d"}})
    read = read_request(line[:-1])
    assert isinstance(read, Run)
    assert json.loads(bytes(read.params.message))["message"]["content"] == "cut \ud83d"
