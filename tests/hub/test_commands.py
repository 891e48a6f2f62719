"""A bad frame gets a reply that names what is wrong."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from turnwire.hub.wire.commands import VIEW_COMMANDS, id_of, parse
from turnwire.hub.wire.frames import AnyCommand, Interrupt, Prompt, Subscribe, commands, fields_of_commands
from turnwire.hub.wire.frames_out import Reply
from turnwire.protocol.parsing.depth import TOO_DEEP


def test_a_good_frame_is_a_command() -> None:
    command = parse('{"type":"prompt","id":"1","session":"s","text":"hi"}')
    assert command == Prompt(type="prompt", id="1", session="s", text="hi")


@pytest.mark.parametrize(
    ("frame", "command_id", "code", "field"),
    [
        ("{", None, "bad_frame", None),
        ("", None, "bad_frame", None),
        ("[]", None, "bad_frame", None),
        ("17", None, "bad_frame", None),
        (b"{}", None, "bad_frame", None),
        ('{"id":"1"}', "1", "invalid_params", "type"),
        ('{"type":"nope","id":"1"}', "1", "unknown_command", "type"),
        ('{"type":7,"id":"1"}', "1", "unknown_command", "type"),
        ('{"type":"prompt","session":"s"}', None, "invalid_params", "id"),
        ('{"type":"prompt","id":1,"session":"s"}', None, "invalid_params", "id"),
        ('{"type":"prompt","id":"1"}', "1", "invalid_params", "session"),
        ('{"type":"prompt","id":"1","session":"s","txt":"x"}', "1", "invalid_params", "txt"),
        ('{"type":"prompt","id":"1","session":"s","priority":"x"}', "1", "invalid_params", "priority"),
        (
            '{"type":"prompt","id":"1","session":"s","attachments":[{}]}',
            "1",
            "invalid_params",
            "attachments.0.base64",
        ),
        (
            '{"type":"hello","id":"1","name":"policy:supervised"}',
            "1",
            "invalid_params",
            "name",
        ),
        ('{"type":"hello","id":"1","name":"Remembered"}', "1", "invalid_params", "name"),
        ('{"type":"hello","id":"1","name":"ada\\u0007"}', "1", "invalid_params", "name"),
        ('{"type":"hello","id":"1","name":"ada\\u202e"}', "1", "invalid_params", "name"),
        ('{"type":"hello","id":"1","name":"a\\nb"}', "1", "invalid_params", "name"),
        ('{"type":"hello","id":"1","name":" ada"}', "1", "invalid_params", "name"),
        ('{"type":"hello","id":"1","name":""}', "1", "invalid_params", "name"),
        ('{"type":"hello","id":"1","name":"' + "x" * 65 + '"}', "1", "invalid_params", "name"),
        (
            '{"type":"session.create","id":"1","options":{"colour":1}}',
            "1",
            "invalid_params",
            "options.colour",
        ),
        (
            '{"type":"session.create","id":"1","options":{"max_turns":0}}',
            "1",
            "invalid_params",
            "options.max_turns",
        ),
        (
            '{"type":"session.create","id":"1","options":{"effort":"x"}}',
            "1",
            "invalid_params",
            "options.effort",
        ),
        (
            '{"type":"session.create","id":"1","options":{"tools":"a"}}',
            "1",
            "invalid_params",
            "options.tools",
        ),
        ('{"type":"subscribe","id":"1","session":"s","after":-1}', "1", "invalid_params", "after"),
        (
            '{"type":"subscribe","id":"1","session":"s","after":9007199254740992}',
            "1",
            "invalid_params",
            "after",
        ),
        ('{"type":"subscribe","id":"1","session":"s","after":1e999}', "1", "invalid_params", "after"),
        ('{"type":"subscribe","id":"1","session":"s","after":NaN}', None, "bad_frame", None),
        ('{"type":"subscribe","id":"1","session":"s","after":"\u0661"}', "1", "invalid_params", "after"),
        (
            '{"type":"payload.get","id":"1","session":"s","seq":1' + "0" * 5000 + "}",
            "1",
            "bad_frame",
            None,
        ),
        (
            '{"type":"payload.get","id":"1","session":"s","seq":18446744073709551616}',
            "1",
            "invalid_params",
            "seq",
        ),
        (
            '{"type":"replay.control","id":"1","session":"s","action":"play","speed":1e999}',
            "1",
            "invalid_params",
            "speed",
        ),
        ('{"type":"control","id":"1","session":"s","request":{}}', "1", "invalid_params", "request"),
        (
            '{"type":"control","id":"1","session":"s","request":{"subtype":""}}',
            "1",
            "invalid_params",
            "request",
        ),
        (
            '{"type":"control","id":"1","session":"s","request":{"subtype":5}}',
            "1",
            "invalid_params",
            "request",
        ),
        ('{"type":"control","id":"1","session":"s","request":[]}', "1", "invalid_params", "request"),
        ('{"type":"control","id":"1","session":"s","request":null}', "1", "invalid_params", "request"),
        (
            '{"type":"session.create","id":"1","options":{"settings":5}}',
            "1",
            "invalid_params",
            "options.settings",
        ),
        ('{"type":"session.create","id":"1","mcp_servers":[]}', "1", "invalid_params", "mcp_servers"),
        ('{"type":"prompt","id":"1","session":"\\ud800"}', None, "bad_frame", None),
    ],
)
def test_a_bad_frame_is_refused_by_name(
    frame: str | bytes, command_id: str | None, code: str, field: str | None
) -> None:
    reply = parse(frame)
    assert isinstance(reply, Reply)
    assert reply.error is not None
    assert (reply.id, reply.ok, reply.error.code, reply.error.field) == (command_id, False, code, field)


@given(
    st.one_of(st.text(), st.binary(), st.recursive(st.none() | st.text() | st.integers(), st.lists).map(repr))
)
def test_no_frame_whatever_raises(frame: str | bytes) -> None:
    assert isinstance(parse(frame), Reply)


def many(count: int, entry: str) -> str:
    return ",".join(entry % number for number in range(count))


@pytest.mark.parametrize(
    ("frame", "field"),
    [
        ('{"type":"hello","id":"1",' + many(130_000, '"%d":0') + "}", "0"),
        ('{"type":"session.create","id":"1","options":{' + many(130_000, '"%d":0') + "}}", "options"),
        (
            '{"type":"session.create","id":"1","options":{"tools":[' + many(130_000, "%d") + "]}}",
            "options.tools.0",
        ),
        ('{"type":"session.create","id":"1","env":{' + many(130_000, '"%d":0') + "}}", "env"),
        (
            '{"type":"prompt","id":"1","session":"s","attachments":[' + many(130_000, '{"%d":0}') + "]}",
            "attachments.0.base64",
        ),
    ],
    ids=["fields", "options", "tools", "env", "attachments"],
)
def test_a_frame_with_a_hundred_thousand_errors_is_refused_for_the_first(
    frame: str, field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[int] = []

    def validated(text: str) -> AnyCommand:
        try:
            return commands.validate_json(text)
        except ValidationError as error:
            built.append(error.error_count())
            raise

    adapter = SimpleNamespace(validate_json=validated)
    monkeypatch.setattr("turnwire.hub.wire.commands.commands", adapter)
    reply = parse(frame)
    assert isinstance(reply, Reply)
    assert reply.error is not None
    assert (reply.id, reply.error.code, reply.error.field) == ("1", "invalid_params", field)
    assert sum(built) <= 1


def test_what_a_role_may_not_send_is_refused_before_its_fields_are_looked_at() -> None:
    frame = '{"type":"prompt","id":"1","attachments":[' + many(1000, '{"%d":0}') + "]}"
    for role, code in (("view", "forbidden"), (None, "unauthorized")):
        reply = parse(frame, role)  # type: ignore[arg-type]  # a tuple's literal is a str to mypy
        assert isinstance(reply, Reply)
        assert reply.error is not None
        assert (reply.id, reply.error.code) == ("1", code)


def test_the_name_of_a_field_that_is_unknown_is_not_repeated_whole() -> None:
    reply = parse('{"type":"hello","id":"1","' + "x" * 100_000 + '":0}')
    assert isinstance(reply, Reply)
    assert reply.error is not None
    assert len(reply.error.message) < 500


@pytest.mark.parametrize(
    ("frame", "command_id"),
    [
        ('{"type":"nope","id":"7","x":[1,{"id":"8"}]}', "7"),
        ('{"id":7}', None),
        ('{"id":"\\ud800"}', None),
        ("{", None),
        ("[" * 100_000, None),
        (b"\xff", None),
        ("{}", None),
    ],
    ids=range(7),
)
def test_the_id_alone_is_read_of_what_is_not_looked_at_further(
    frame: str | bytes, command_id: str | None
) -> None:
    assert id_of(frame) == command_id


def test_the_role_view_may_read_and_nothing_else() -> None:
    subscribe, interrupt = (
        f'{{"type":"{kind}","id":"1","session":"s"}}' for kind in ("subscribe", "interrupt")
    )
    assert isinstance(parse(subscribe, "view"), Subscribe)
    assert isinstance(parse(interrupt, "control"), Interrupt)
    refused = parse(interrupt, "view")
    assert isinstance(refused, Reply)
    assert refused.error is not None
    assert (refused.id, refused.error.code, refused.error.field) == ("1", "forbidden", "type")
    assert not {"prompt", "control", "permission.respond", "replay.control"} & VIEW_COMMANDS


@pytest.mark.parametrize("role", ["viewer", "", "Control", "VIEW", "admin"])
def test_a_role_that_there_is_not_may_send_nothing(role: str) -> None:
    for kind in fields_of_commands():
        reply = parse(f'{{"type":"{kind}","id":"1"}}', role)  # type: ignore[arg-type]  # that is the case
        assert isinstance(reply, Reply)
        assert reply.error is not None
        assert (reply.error.code, reply.error.field) == ("forbidden", "type"), kind


@pytest.mark.parametrize("depth", [129, 500, 100_000])
def test_a_frame_that_is_nested_too_deep_is_refused_by_its_id(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    reply = parse(f'{{"type":"control","request":{{"x":{deep}}},"id":"7"}}')
    assert isinstance(reply, Reply)
    assert reply.id == "7"
    assert reply.error is not None
    assert reply.error.code == "bad_frame"
    assert TOO_DEEP in reply.error.message
