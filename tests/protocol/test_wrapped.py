"""Logs of CI and containers: what was wrapped in them gives the events of the lines themselves."""

import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordings import recording
from turnwire.normalize.events import to_lines
from turnwire.normalize.families import recorded_core
from turnwire.protocol.framing import LineFramer, OversizeLine
from turnwire.protocol.json_values import Json
from turnwire.protocol.wrapped import Piece, Unwrapper
from turnwire.recordings.output import OutputTranslator
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
    "a terminal's cleared lines": before(lambda at: "\x1b[2K\r"),
    "what a terminal overwrites": before(lambda at: f"{at} of 9 done\r"),
    "a sequence of records": before(lambda at: "\x1e"),
    "server-sent events": lambda plain: before(lambda at: "data: ")(plain).replace("\n", "\n\n"),
}


def told(data: bytes, step: int) -> Iterator[str]:
    """Yield the events of a stream that comes in chunks of so many bytes, but of what is no message."""
    output = OutputTranslator(recorded_core())
    found = [event for at in range(0, len(data), step) for event in output.feed(data[at : at + step])]
    found += output.close()
    assert output.unread("these lines") is None
    for event in to_lines(found).decode().splitlines():
        if '"type":"malformed"' not in event:
            yield event


def unwrapped(data: str) -> list[bytes | OversizeLine]:
    return [line for piece in pieces(data) for line in piece.lines]


def pieces(data: str) -> list[Piece]:
    unwrapper = Unwrapper()
    return [*unwrapper.feed(data.encode().splitlines()), *unwrapper.close()]


OTHER = (recording("2.1.330", "perm-deny").folder / "stdout.jsonl").read_text()


def records(
    members: Callable[[str, str], dict[str, Json]], indent: int | None = None
) -> Callable[[str, str], str]:
    return lambda name, line: json.dumps(members(name, line), indent=indent)


SERVICES: dict[str, Callable[[str, str], str]] = {
    "docker compose": lambda name, line: f"{name:<9} | {line}",
    "docker compose with times": lambda name, line: f"{name:<9} | 2026-11-29T06:33:40.123Z {line}",
    "docker compose in colours": lambda name, line: f"\x1b[36m{name:<9} |\x1b[0m {line}",
    "docker swarm": lambda name, line: f"{name}.1.x7@host    | {line}",
    "kubectl": lambda name, line: f"[pod/{name}-7d9f/main] {line}",
    "kubectl with times": lambda name, line: f"[pod/{name}-7d9f/main] 2026-11-29T06:33:40.123456789Z {line}",
    "stern": lambda name, line: f"{name}-7d9f main {line}",
    "pm2": lambda name, line: f"{len(name)}|{name}  | {line}",
    "foreman": lambda name, line: f"06:33:40 {name}.1   | {line}",
    "concurrently": lambda name, line: f"[{name:<8}] {line}",
    "a monorepo": lambda name, line: f"{name}:run: {line}",
    "syslog": lambda name, line: f"Nov 29 06:33:40 host {name}[12]: {line}",
    "syslog of hosts": lambda name, line: f"Nov 29 06:33:40 {name} agent: {line}",
    "systemd with a date": lambda name, line: f"2026-11-29T06:33:40+0000 host {name}[12]: {line}",
    "heroku": lambda name, line: f"2026-11-29T06:33:40.12+00:00 app[{name}.1]: {line}",
    "cloud foundry": lambda name, line: f"   2026-11-29T06:33:40.12+0000 [APP/{name}/0] OUT {line}",
    "names of files": lambda name, line: f"logs/{name}.log:{line}",
    "systemd": records(lambda name, line: {"_SYSTEMD_UNIT": f"{name}.service", "MESSAGE": line}),
    "systemd, indented": records(lambda name, line: {"_SYSTEMD_UNIT": name, "MESSAGE": line}, indent=2),
    "systemd, as bytes": records(
        lambda name, line: {"_SYSTEMD_USER_UNIT": name, "MESSAGE": [*line.encode()]}
    ),
    "docker in systemd": records(
        lambda name, line: {"_SYSTEMD_UNIT": "docker.service", "CONTAINER_NAME": name, "MESSAGE": line}
    ),
    "compose in systemd": records(
        lambda name, line: {"_SYSTEMD_UNIT": "all", "MESSAGE": f"{name:<9} | {line}"}
    ),
    "compose in docker": records(
        lambda name, line: {"log": f"{name:<9} | {line}\n", "stream": "stdout", "time": "2026"}
    ),
    "systemd in compose": lambda name, line: f"{name:<9} | " + json.dumps({"_PID": "1", "MESSAGE": line}),
    "pm2 as records": records(lambda name, line: {"message": f"{line}\n", "type": "out", "app_name": name}),
    "fluent bit": records(
        lambda name, line: {
            "log": line,
            "stream": "stdout",
            "kubernetes": {"pod_name": name, "container_name": "a"},
        }
    ),
    "cloud logging": records(lambda name, line: {"textPayload": line, "logStreamName": name}),
}


def in_turn(wrap: Callable[[str, str], str]) -> str:
    """Two services in one log, a line each in turn."""
    of = [
        [("worker-1", line) for line in PLAIN.splitlines()],
        [("db-agent", line) for line in OTHER.splitlines()],
    ]
    return "".join(f"{wrap(*said)}\n" for pair in zip_longest(*of) for said in pair if said is not None)


def by_session(events: Iterable[str]) -> dict[str, list[str]]:
    """The events of each conversation, without the numbers of turns, which go on in a file."""
    found: dict[str, list[str]] = {}
    for event in events:
        found.setdefault(json.loads(event).get("session_id", ""), []).append(
            re.sub(r"turn-\d+", "turn", event)
        )
    return found


@pytest.mark.parametrize("service", SERVICES)
def test_each_service_of_a_log_is_a_conversation_of_its_own(service: str, tmp_path: Path) -> None:
    alone = by_session([*told(PLAIN.encode(), 1 << 16), *told(OTHER.encode(), 1 << 16)])
    assert len(alone) == 2
    log = in_turn(SERVICES[service])
    for step in (991, 1 << 20):
        assert by_session(told(log.encode(), step)) == alone
    file = tmp_path / "log.gz"
    file.write_bytes(gzip.compress(log.encode()))
    core = recorded_core()
    events = to_lines([event for timed in read(file) for event in core.handle(timed.input)]).decode()
    assert by_session(events.splitlines()) == alone


def test_a_service_of_another_family_is_read_as_such(tmp_path: Path) -> None:
    exec_lines = [
        {"type": "thread.started", "thread_id": "th-1"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": "Moss."}},
        {
            "type": "turn.completed",
            "usage": {"input_tokens": 3, "cached_input_tokens": 0, "output_tokens": 2},
        },
    ]
    lines = [f"one | {line}" for line in PLAIN.splitlines()]
    lines[3:3] = [f"two | {json.dumps(line)}" for line in exec_lines]
    file = tmp_path / "log"
    file.write_text("\n".join([*lines, "three | ready", *lines[:0]]))
    core = recorded_core()
    from_file = [event for timed in read(file) for event in core.handle(timed.input)]
    output = OutputTranslator(recorded_core())
    for events in ([*output.feed(file.read_bytes()), *output.close()], from_file):
        texts = [
            event for event in by_session(to_lines(events).decode().splitlines())["th-1"] if "Moss." in event
        ]
        assert len(texts) == 1
    assert core.stats == output._core.stats
    assert core.stats.malformed == 1


def test_lines_that_a_log_has_cut_are_joined() -> None:
    half, rest = '{"type":"a","x":"', '1"}'
    for cut in (
        {"_LINE_BREAK": "line-max", "MESSAGE": half, "_STREAM_ID": "1"},
        {"CONTAINER_PARTIAL_MESSAGE": "true", "MESSAGE": half, "_STREAM_ID": "1"},
    ):
        noise = {"MESSAGE": "noise", "_STREAM_ID": "2"}
        end = {"MESSAGE": rest, "_STREAM_ID": "1"}
        assert unwrapped("\n".join(map(json.dumps, (cut, noise, end)))) == [b"noise", b'{"type":"a","x":"1"}']
    fluentd = {"log": half, "partial_message": "true", "container_name": "/a"}
    assert unwrapped(
        "\n".join(map(json.dumps, (fluentd, fluentd | {"log": rest, "partial_message": "false"})))
    ) == [b'{"type":"a","x":"1"}']
    parts = {"log": half, "logtag": "P"}, {"log": rest, "logtag": "F", "time": "2026"}
    assert unwrapped("\n".join(json.dumps(part | {"stream": "stdout"}) for part in parts)) == [
        b'{"type":"a","x":"1"}'
    ]


@pytest.mark.parametrize(
    "line",
    [
        {"log": "no record"},
        {"message": {"role": "user"}},
        {"message": "an agent's own", "type": "error"},
        {"MESSAGE": None},
    ],
)
def test_an_object_that_is_no_record_of_a_log_stays_one(line: dict[str, Json]) -> None:
    assert unwrapped(json.dumps(line)) == [json.dumps(line).encode()]


def test_a_log_has_so_many_services_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnwire.protocol.wrapped._MOST_SOURCES", 2)
    found = pieces("\n".join(f'agent-{number} | {{"type":"a"}}' for number in range(4)))
    assert [piece.source for piece in found] == ["", "agent-1", ""]
    assert found[-1].lines == [b'agent-2 | {"type":"a"}', b'agent-3 | {"type":"a"}']


def test_what_one_service_alone_says_confirms_a_prefix_as_well() -> None:
    assert unwrapped('note: {"type":"a"}\nother: words\nnote: more') == [
        b'{"type":"a"}',
        b"other: words",
        b"more",
    ]


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
    assert unwrapper.feed([long]) == [Piece("", [long])]
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
    b"agent-2 | ", b'{"MESSAGE":"x"}', b"\r", b"stdout P ", b"stdout F ", b"stderr F ", b'{"messages":[',
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=60).map(b"".join), st.integers(1, 40))
def test_whatever_is_fed_nothing_is_raised_and_chunks_change_nothing(data: bytes, step: int) -> None:
    found = []
    for size in (step, len(data) + 1):
        framer, unwrapper = LineFramer(), Unwrapper()
        said: list[Piece] = []
        for at in range(0, len(data), size):
            said += unwrapper.feed(framer.feed(data[at : at + size]))
        last = framer.close()
        said += [*unwrapper.feed([] if last is None else [last]), *unwrapper.close()]
        found.append([(piece.source, line) for piece in said for line in piece.lines])
    assert found[0] == found[1]
