"""A bad frame gets a reply that names what is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.commands import VIEW_COMMANDS, check_role, parse
from hub.frames import Interrupt, Prompt, Subscribe
from hub.frames_out import Reply
from hub.host import CommandRefused


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


def test_the_role_view_may_read_and_nothing_else() -> None:
    check_role(Subscribe(type="subscribe", id="1", session="s"), "view")
    check_role(Interrupt(type="interrupt", id="1", session="s"), "control")
    with pytest.raises(CommandRefused) as refused:
        check_role(Interrupt(type="interrupt", id="1", session="s"), "view")
    assert refused.value.code == "forbidden"
    assert not {"prompt", "control", "permission.respond", "replay.control"} & VIEW_COMMANDS
