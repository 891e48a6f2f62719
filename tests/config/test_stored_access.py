"""The file of access tokens: what it holds is used only when it can be trusted."""

import json
import os
from pathlib import Path

import pytest

from turnwire.config.stored_access import StoredAccess
from turnwire.hub.server.access import RoleTokens
from turnwire.hub.server.cookies import LoggedOut

GOOD = {"control": "c" * 32, "view": "v" * 32, "port": 8791}


def file(folder: Path, content: object, mode: int = 0o600) -> Path:
    path = folder / "access.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    path.chmod(mode)
    return path


def test_what_was_kept_is_there_at_the_next_start(tmp_path: Path) -> None:
    first = StoredAccess(tmp_path / "state")
    assert not first.path.exists()
    first.keep(8791)
    second = StoredAccess(tmp_path / "state")
    assert (second.tokens, second.port) == (first.tokens, 8791)
    assert first.path.stat().st_mode & 0o777 == 0o600
    assert first.path.parent.stat().st_mode & 0o777 == 0o700
    assert list(first.path.parent.iterdir()) == [first.path]


def test_new_tokens_take_the_place_of_the_old_ones_and_leave_the_port(tmp_path: Path) -> None:
    file(tmp_path, GOOD)
    access = StoredAccess(tmp_path)
    access.renew()
    access.keep(access.port)
    again = StoredAccess(tmp_path)
    assert again.tokens == access.tokens != RoleTokens("c" * 32, "v" * 32)
    assert again.port == 8791


@pytest.mark.parametrize(
    "content",
    [
        "",
        "not JSON",
        "[" * 100_000,
        "\x00\xff",
        [],
        {**GOOD, "view": None},
        {**GOOD, "view": "short"},
        {**GOOD, "view": GOOD["control"]},
        {**GOOD, "control": "\ud800" * 32},
    ],
    ids=["empty", "text", "deep", "binary", "list", "one", "short", "same", "surrogates"],
)
def test_a_file_without_two_tokens_gives_new_ones(content: object, tmp_path: Path) -> None:
    path = file(tmp_path, content)
    access = StoredAccess(tmp_path)
    assert min(len(access.tokens.control), len(access.tokens.view)) > 30
    access.keep(None)
    assert StoredAccess(tmp_path).tokens == access.tokens
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_tokens_that_others_could_read_or_write_are_replaced(mode: int, tmp_path: Path) -> None:
    path = file(tmp_path, GOOD, mode)
    access = StoredAccess(tmp_path)
    assert access.tokens.control != GOOD["control"]
    access.keep(None)
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("port", [None, "8791", 0, 70_000, True, -1, 1.5])
def test_a_port_that_is_none_is_left_out(port: object, tmp_path: Path) -> None:
    file(tmp_path, {**GOOD, "port": port})
    access = StoredAccess(tmp_path)
    assert access.port is None
    assert access.tokens.control == GOOD["control"]


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_file_is_not_read(kind: str, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    path = tmp_path / "access.json"
    match kind:
        case "link":
            path.symlink_to(file(elsewhere, GOOD))
        case "pipe":
            os.mkfifo(path, 0o600)
        case _:
            path.mkdir()
    assert StoredAccess(tmp_path).tokens.control != GOOD["control"]


def test_tokens_that_are_not_to_be_kept_are_neither_written_nor_read(tmp_path: Path) -> None:
    path = file(tmp_path, GOOD)
    access = StoredAccess(tmp_path, keeps_tokens=False)
    assert access.tokens.control != GOOD["control"]
    assert access.port == 8791
    access.keep(8792)
    assert json.loads(path.read_text()) == {"port": 8792, "listening": None}
    assert StoredAccess(tmp_path, keeps_tokens=False).port == 8792
    assert StoredAccess(tmp_path).port == 8792


@pytest.mark.parametrize("kept", [True, False])
def test_logins_that_are_over_are_still_over_at_the_next_start(kept: bool, tmp_path: Path) -> None:
    access = StoredAccess(tmp_path, keeps_tokens=kept)
    access.keep(8791)
    access.log_out(LoggedOut({"one": 17}, 5))
    again = StoredAccess(tmp_path, keeps_tokens=kept)
    assert (again.logged_out, again.port) == (LoggedOut({"one": 17}, 5), 8791)


@pytest.mark.parametrize(
    "odd", [None, [], {"logins": []}, {"logins": {"a": "b"}, "until": 0}, {"logins": {}, "until": "x"}]
)
def test_logins_that_cannot_be_read_cost_no_tokens(odd: object, tmp_path: Path) -> None:
    file(tmp_path, {**GOOD, "logged_out": odd})
    access = StoredAccess(tmp_path)
    assert (access.tokens.control, access.logged_out) == (GOOD["control"], LoggedOut())
