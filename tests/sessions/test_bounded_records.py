"""What goes into every list of sessions is bounded where it enters, and a workspace that cannot be one is refused."""

from pathlib import Path

import pytest

from turnwire.hub.host import CommandRefused
from turnwire.hub.wire.commands import parse
from turnwire.hub.wire.frames import NAME_LENGTH
from turnwire.hub.wire.frames_out import Reply
from turnwire.normalize import events as ev
from turnwire.sessions.state import NAME_LIMIT, ObservedState, short
from turnwire.sessions.workspaces import workspace_of

LONG = "x" * (8 << 20)


@pytest.mark.parametrize("name", ["a\0b", "~nosuchuser", "~nosuchuser/x", "x" * 5000, "nowhere", "\x1b[31m"])
def test_a_workspace_that_cannot_be_one_is_refused_with_its_field(name: str) -> None:
    with pytest.raises(CommandRefused) as refused:
        workspace_of(name)
    assert (refused.value.code, refused.value.field) == ("invalid_params", "workspace")


def test_links_in_a_circle_are_no_workspace(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(CommandRefused) as refused:
        workspace_of(str(tmp_path / "a"))
    assert refused.value.code == "invalid_params"


@pytest.mark.parametrize("field", ["title", "model", "agent", "permission_mode", "workspace"])
def test_a_frontend_cannot_set_a_string_of_8_mb_that_goes_into_every_welcome(field: str) -> None:
    reply = parse(f'{{"type":"session.create","id":"1","{field}":"{LONG}"}}')
    assert isinstance(reply, Reply)
    assert reply.error is not None
    assert (reply.error.code, reply.error.field) == ("invalid_params", field)
    assert len(reply.error.message) < 500


def test_a_title_that_is_made_is_cut() -> None:
    assert short("x" * NAME_LENGTH) == "x" * NAME_LENGTH
    assert len(short(LONG)) == NAME_LENGTH
    assert short(LONG).endswith("…")


def test_what_a_cli_calls_its_model_or_session_is_taken_only_when_it_can_be_a_name() -> None:
    state = ObservedState()
    state.observe([ev.SessionInfo(session_id="s", model="opus", permission_mode="plan", version="2.1")])
    state.observe([ev.SessionInfo(session_id=LONG, model=LONG, permission_mode=LONG, version=LONG)])
    assert (state.cli_session_id, state.model, state.permission_mode, state.cli_version) == (
        "s",
        "opus",
        "plan",
        "2.1",
    )
    state.observe([ev.SessionInfo(session_id="t" * NAME_LIMIT)])
    assert state.cli_session_id == "t" * NAME_LIMIT
