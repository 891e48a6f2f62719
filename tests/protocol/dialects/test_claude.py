import pytest

from protocol.control import ControlRequest, Interrupt
from protocol.dialects import CLAUDE
from protocol.encode import EncodeError
from protocol.messages import Malformed, Unknown, User
from protocol.notices import KeepAlive


def test_what_kills_a_cli_is_never_said() -> None:
    with pytest.raises(EncodeError):
        CLAUDE.host().write(KeepAlive())


def test_a_line_of_a_cli_is_passed_on_byte_for_byte() -> None:
    line = b'{"type":"user","brand_new":1e3}'
    (message,) = CLAUDE.host().read(line).messages
    assert CLAUDE.agent().write(message, line).lines == [line + b"\n"]


def test_a_message_of_ours_is_written_from_what_it_is() -> None:
    assert CLAUDE.agent().write(KeepAlive()).lines == [b'{"type":"keep_alive"}\n']
    assert CLAUDE.agent().write(Unknown({"type": "x"})).lines == [b'{"type":"x"}\n']


def test_a_malformed_line_is_not_passed_on() -> None:
    assert CLAUDE.agent().write(Malformed("x", "no"), b"x").lines == []


def test_a_prompt_that_is_not_taken_is_an_error_of_the_system() -> None:
    (line,) = CLAUDE.agent().refuse(User(), "no room").lines
    assert line == b'{"type":"system","subtype":"error","message":"no room"}\n'


def test_both_ends_read_every_message() -> None:
    line = b'{"type":"control_request","request_id":"r","request":{"subtype":"interrupt"}}'
    assert CLAUDE.agent().read(line).messages == [ControlRequest("r", Interrupt())]
    assert CLAUDE.host().read(line).messages == [ControlRequest("r", Interrupt())]
