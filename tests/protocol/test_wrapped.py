"""Logs of CI and containers: what was wrapped in them gives the events of the lines themselves."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordings import recording
from turnwire.normalize.events import to_lines
from turnwire.normalize.families import recorded_core
from turnwire.normalize.inputs import Ended
from turnwire.normalize.recordings.lines import LineReader
from turnwire.protocol.framing import LineFramer, OversizeLine
from turnwire.protocol.json_values import Json
from turnwire.protocol.wrapped import Unwrapper
from turnwire.recordings.reading import read

PLAIN = (recording("2.1.330", "perm-allow").folder / "stdout.jsonl").read_text()
NOISE = "##[group]Run an agent\n{ not: json }\nSet up [job]\n"


def objects(plain: str) -> list[Json]:
    return [json.loads(line) for line in plain.splitlines()]


def before(prefix: Callable[[int], str]) -> Callable[[str], str]:
    return lambda plain: "".join(f"{prefix(at)}{line}\n" for at, line in enumerate(plain.splitlines()))


def pretty(plain: str) -> str:
    return "".join(json.dumps(one, indent=2, ensure_ascii=False) + "\n" for one in objects(plain))


def pretty_list(plain: str) -> str:
    return json.dumps(objects(plain), indent=2)


def two_a_line(plain: str) -> str:
    lines = plain.splitlines()
    return "".join(" ".join(lines[at : at + 2]) + "\r\n" for at in range(0, len(lines), 2))


def coloured(text: str) -> str:
    """As jq writes to a terminal: each name and the whole line in colours."""
    return "".join(
        "\x1b[1;39m" + re.sub(r'("[a-z_]+"):', "\x1b[0m\x1b[34;1m\\1\x1b[0m\x1b[1;39m:", line) + "\x1b[0m\n"
        for line in text.splitlines()
    )


def docker(text: str) -> str:
    """As the json-file driver keeps it: no more than so many characters a record."""
    return "".join(
        json.dumps(
            {"log": line[at : at + 700], "stream": "stdout", "time": f"2026-11-23T10:00:00.{at}Z"},
            ensure_ascii=False,
        )
        + "\n"
        for line in text.splitlines(keepends=True)
        for at in range(0, len(line), 700)
    )


def kubernetes(text: str) -> str:
    """As a container engine keeps it for Kubernetes: a long line in parts, and what others say in between."""
    parts = []
    for number, line in enumerate(text.splitlines()):
        cut = [line[at : at + 700] for at in range(0, len(line), 700)] or [""]
        for at, part in enumerate(cut):
            tag = "F" if at == len(cut) - 1 else "P"
            parts.append(f"2026-11-23T10:00:{number % 60:02}.{at:09}Z stdout {tag} {part}\n")
            if tag == "P":
                parts.append(f"2026-11-23T10:00:{number % 60:02}.{at:09}Z stderr P  and so \n")
    return "".join(parts)


actions = before(lambda at: f"2026-11-23T10:{at // 60 % 60:02}:{at % 60:02}.1234567Z ")
job = before(lambda at: f"review\tRun an agent\t2026-11-23T10:00:{at % 60:02}.1234567Z ")
compose = before(lambda at: "worker-1  | ")

SHAPES: dict[str, Callable[[str], str]] = {
    "as it is": lambda plain: plain,
    "a list on one line": lambda plain: json.dumps(objects(plain)),
    "an indented list": pretty_list,
    "a list with an object a line": lambda plain: "[" + ",\n".join(plain.splitlines()) + "]\n",
    "indented objects": pretty,
    "a level": before(lambda at: "[INFO] "),
    "a time": before(lambda at: f"2026-11-23 10:00:{at % 60:02},123 "),
    "a time, a level and a name": before(lambda at: f"[10:00:{at % 60:02}] INFO  agent: "),
    "a time of syslog": before(lambda at: f"Nov 23 10:00:{at % 60:02} host claude[12]: "),
    "a service of compose": compose,
    "a service in colours": before(lambda at: "\x1b[36mworker-1  |\x1b[0m "),
    "the log of a job": lambda plain: actions(NOISE + plain),
    "the log of a job, indented": lambda plain: actions(NOISE + pretty(plain)),
    "the log of a job, an indented list": lambda plain: actions(NOISE + pretty_list(plain)),
    "the log of a job with its names": lambda plain: "\ufeff" + job(NOISE + plain),
    "docker": docker,
    "docker, indented": lambda plain: docker(pretty(plain)),
    "colours": coloured,
    "colours, indented": lambda plain: coloured(pretty(plain)),
    "the log of a job, with a mark in it": lambda plain: (
        "\ufeff" + job(plain).replace("Run an agent\t2026", "Run an agent\t\ufeff2026", 1)
    ),
    "the log of a container engine": before(lambda at: f"2026-11-23T10:00:{at % 60:02}.123456789Z stdout F "),
    "the log of a container engine in parts": kubernetes,
    "the log of a container engine in parts, indented": lambda plain: kubernetes(pretty(plain)),
    "messages in an object": lambda plain: json.dumps({"messages": objects(plain)}),
    "messages in an indented object": lambda plain: json.dumps(
        {"id": 1, "messages": objects(plain)}, indent=2
    ),
    "messages in an object in a log": lambda plain: actions(NOISE + json.dumps({"messages": objects(plain)})),
    "the log of a job of another host": before(lambda at: f"2026-11-23T10:00:{at % 60:02}.123456Z 00O "),
    "seconds": before(lambda at: f"{1795000000 + at}.123 "),
    "milliseconds": before(lambda at: f"[{1795000000000 + at}] "),
    "a logger": before(lambda at: f"2026-11-23 10:00:{at % 60:02}.123 [main] INFO  com.acme.Main - "),
    "docker in a service of compose": lambda plain: compose(docker(plain)),
    "a service of compose in docker": lambda plain: docker(compose(plain)),
    "a title of the terminal": before(lambda at: "\x1b]0;agent\x07" if at % 2 else "\x1b]2;agent\x1b\\"),
    "a list whose brackets are lost": lambda plain: ",\n".join(plain.splitlines()),
    "a list of one line whose end is lost": lambda plain: json.dumps(objects(plain))[:-1],
    "a list whose beginning is lost": lambda plain: '"}\n  },\n' + pretty_list(plain).partition("\n")[2],
    "a mark and two objects a line": lambda plain: "\ufeff" + two_a_line(plain),
    "two objects a line in a log": lambda plain: actions(two_a_line(plain)),
    "server-sent events": lambda plain: before(lambda at: "data: ")(plain).replace("\n", "\n\n"),
}


def told(data: bytes, step: int) -> Iterator[str]:
    """Yield the events of a stream that comes in chunks of so many bytes, but of what is no message."""
    core, framer, unwrapper, reader = recorded_core(), LineFramer(), Unwrapper(), LineReader()
    found = []
    for at in range(0, len(data), step):
        found += core.receive_all(reader.heard(unwrapper.feed(framer.feed(data[at : at + step]))))
    last = framer.close()
    rest = [*unwrapper.feed([] if last is None else [last]), *unwrapper.close()]
    found += [*core.receive_all(reader.heard(rest)), *core.handle(Ended("end_of_input"))]
    assert reader.is_readable
    for event in to_lines(found).decode().splitlines():
        if '"type":"malformed"' not in event:
            yield event


def unwrapped(data: str) -> list[bytes | OversizeLine]:
    unwrapper = Unwrapper()
    return [*unwrapper.feed(data.encode().splitlines()), *unwrapper.close()]


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_wrapped_gives_the_events_of_the_lines_themselves(shape: str) -> None:
    plain = list(told(PLAIN.encode(), 1 << 16))
    assert len(plain) > 10
    for step in (997, 1 << 16):
        assert list(told(SHAPES[shape](PLAIN).encode(), step)) == plain


@pytest.mark.parametrize("shape", SHAPES)
def test_a_file_is_read_so_by_whoever_reads_recordings(shape: str, tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_text(SHAPES[shape](PLAIN))
    core = recorded_core()
    events = (
        to_lines([event for timed in read(file) for event in core.handle(timed.input)]).decode().splitlines()
    )
    assert [event for event in events if '"type":"malformed"' not in event] == list(
        told(PLAIN.encode(), 1 << 16)
    )


@pytest.mark.parametrize(
    "lines",
    [
        ['{"type":"a"', '{"type":"b"}', '{"type":"c"}'],
        ['[{"jsonrpc":"2.0","method":"session/update"}]', '{"jsonrpc":"2.0","method":"m"}'],
        ["hello", "[INFO] there", '{"type":"a"}', '[INFO] {"type":"b"}', "{", "}"],
        # what one line alone has before it is no wrapping, but what somebody said
        ['debug: {"type":"a"}', '{"type":"b"}', 'debug: {"type":"c"}'],
    ],
)
def test_what_is_not_wrapped_is_passed_on_as_it_is(lines: list[str]) -> None:
    assert unwrapped("\n".join(lines)) == [line.encode() for line in lines]


def test_of_a_list_of_other_things_the_brackets_alone_are_lost() -> None:
    assert unwrapped('[1]\n[\n\n"text"\n]\n{"type":"a"}') == [b"[1]", b"", b'"text"', b'{"type":"a"}']


def test_what_belongs_to_no_object_is_passed_on_wherever_it_stands() -> None:
    unwrapper = Unwrapper()
    long = OversizeLine(1, 1 << 30, b"{")
    assert unwrapper.feed([long]) == [long]
    assert unwrapped('[{"type":"a"}]\n[1, 2\n[{"jsonrpc":') == [b'{"type":"a"}', b"[1, 2", b'{"jsonrpc":']
    assert unwrapped('[{"jsonrpc":1},\n{"jsonrpc":2}]') == [b'{"jsonrpc":1}', b'{"jsonrpc":2}']
    assert unwrapped('[{"type":"jsonrpc"}]') == [b'{"type":"jsonrpc"}']
    records = '{"log":"{\\"type\\":\\"a\\"}\\n","stream":"stdout"}\nrotated\n'
    assert unwrapped(records) == [b'{"type":"a"}', b"rotated"]


def test_an_object_that_was_cut_off_takes_no_other_with_it() -> None:
    first, second = (
        '{\n  "type": "a",\n  "inner": {\n',
        '{\n  "type": "b",\n  "list": [\n    {\n      "x": 1\n    }\n  ]\n}\n',
    )
    cut, whole = unwrapped(first + second)
    assert cut == b'{   "type": "a",   "inner": {'
    assert whole == b'{"type":"b","list":[{"x":1}]}'
    (cut,) = unwrapped(first)
    assert cut == b'{   "type": "a",   "inner": {'


def test_other_lines_between_those_with_a_prefix_stay_where_they_are() -> None:
    lines = [
        "worker-1  | {",
        "db-1      | ready",
        'worker-1  |   "type": "a"',
        "worker-1  | }",
        "db-1      | {}",
    ]
    assert unwrapped("\n".join(lines)) == [b"db-1      | ready", b'{"type":"a"}', b"db-1      | {}"]


def test_one_line_is_held_no_longer_than_until_the_stream_ends() -> None:
    assert unwrapped('[INFO] {"type":"a"}') == [b'{"type":"a"}']
    noise = [f"line {number}" for number in range(100)]
    assert unwrapped("\n".join(['[INFO] {"type":"a"}', *noise])) == [
        b'{"type":"a"}',
        *(line.encode() for line in noise),
    ]


def test_both_streams_of_a_container_are_kept_apart() -> None:
    records = [
        {"log": '{"type":', "stream": "stdout"},
        {"log": "warn", "stream": "stderr"},
        {"log": '"a"}\n', "stream": "stdout"},
        {"log": "ing\n", "stream": "stderr"},
        {"log": '{"type":"b"}', "stream": "stdout"},
    ]
    assert unwrapped("\n".join(map(json.dumps, records))) == [b'{"type":"a"}', b"warning", b'{"type":"b"}']


def test_an_object_of_a_kind_of_its_own_keeps_its_messages() -> None:
    lines = ['{"type":"a","messages":[{"type":"b"}]}', '{"type":"c"}']
    assert unwrapped("\n".join(lines)) == [line.encode() for line in lines]
    assert unwrapped("[INFO] " + lines[0] + "\n[INFO] " + lines[1]) == [line.encode() for line in lines]
    assert unwrapped('{"messages": 1}') == [b'{"messages": 1}']


def test_a_tag_of_a_log_that_stands_before_lines_twice_is_no_pattern_with_two_names() -> None:
    line = 'stdout F stderr P {"type":"a"}'
    assert unwrapped(f"{line}\n{line}") == [b'{"type":"a"}', b'{"type":"a"}']


def test_no_more_than_six_things_stand_before_a_line() -> None:
    line = '[a] [b] [c] [d] [e] [f] [g] {"type":"a"}'
    assert unwrapped(f"{line}\n{line}") == [line.encode(), line.encode()]


def test_an_object_that_never_ends_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnwire.protocol.wrapped.DEFAULT_LIMIT", 1000)
    (long, *rest) = unwrapped("{\n" + '  "a": {\n' * 200)
    assert isinstance(long, OversizeLine)
    assert long.size > 1000
    assert len(long.head) <= 1010
    assert all(isinstance(line, bytes) for line in rest)


def test_brackets_inside_of_strings_open_nothing() -> None:
    value = {"type": "a", "text": 'a "quoted" {[ \\', "more": ["}", "]", "\u2028{"]}
    (line,) = unwrapped(json.dumps(value, indent=4, ensure_ascii=False))
    assert isinstance(line, bytes)
    assert json.loads(line) == value


PIECES = [
    b"{", b"}", b"[", b"]", b'"', b",", b"\\", b":", b'{"type":"a"}', b'{"log":"', b'{"log":"x\\n","stream":"s"}',
    b"[INFO] ", b"worker-1 | ", b"2026-11-23T10:00:00Z ", b"\x1b[1m", b"\xef\xbb\xbf", b"\t", b"  ", b"\xff", b"\n", b'"jsonrpc":',
    b"stdout P ", b"stdout F ", b"stderr F ", b'{"messages":[',
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=60).map(b"".join), st.integers(1, 40))
def test_whatever_is_fed_nothing_is_raised_and_chunks_change_nothing(data: bytes, step: int) -> None:
    found = []
    for size in (step, len(data) + 1):
        framer, unwrapper = LineFramer(), Unwrapper()
        lines: list[bytes | OversizeLine] = []
        for at in range(0, len(data), size):
            lines += unwrapper.feed(framer.feed(data[at : at + size]))
        last = framer.close()
        lines += [*unwrapper.feed([] if last is None else [last]), *unwrapper.close()]
        found.append(lines)
    assert found[0] == found[1]
