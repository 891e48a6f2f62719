"""Principals' tokens as they are kept: hashed, in a file for its owner alone, and over when they are revoked or expire."""

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from turnwire.hub.principals import BadPrincipal, Principal, Scope
from turnwire.sidecar.cli.commands import application
from turnwire.sidecar.principals.file import FilePrincipals, FileTokens, TokensUnusable, token_file
from turnwire.sidecar.principals.kept import TokenTable, new_token, read_all
from turnwire.sidecar.principals.watched import WatchedTokens

OWN = Scope(own=True)


def test_a_token_is_not_in_what_is_kept_of_it() -> None:
    token, kept = new_token("ann", "control", OWN, now=100.0, lasts_s=60)
    again, _ = new_token("ann", "control", OWN, now=100.0, lasts_s=60)
    assert token != again
    assert token not in str(kept)
    assert len(token) > 40
    roll = TokenTable([kept])
    ann = Principal("control", "ann", OWN, kept.id, 160.0)
    assert (roll.of_token(token, 159.9), roll.of_id(kept.id, 159.9)) == (ann, ann)
    assert (roll.of_token(token, 160), roll.of_id(kept.id, 160)) == (None, None)
    assert roll.of_token(kept.sha256, 100) is None
    assert roll.of_token("twp-é\udc80", 100) is None
    assert (roll.next_end(100), roll.next_end(160)) == (160.0, None)


@pytest.mark.parametrize("name", ["", "-ann", "a b", "a:b", "a/b", "ann\n", "é", "x" * 65])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(BadPrincipal):
        new_token(name, "view", OWN, now=0, lasts_s=None)


def test_a_file_is_its_owners_alone_and_read_again_when_it_has_changed(tmp_path: Path) -> None:
    tokens, here = FileTokens(tmp_path), FilePrincipals(token_file(tmp_path))
    told: list[int] = []
    here.watch(lambda: told.append(1))
    made = [new_token(name, "view", OWN, now=0, lasts_s=None) for name in ("ann", "bob")]
    for _, kept in made:
        tokens.add(kept)
    assert tokens.path.stat().st_mode & 0o777 == 0o600
    assert here.of_token(made[0][0]) is None
    here.refresh()
    assert [here.of_token(token) is not None for token, _ in made] == [True, True]
    before = len(told)
    here.refresh()
    assert len(told) == before
    tokens.revoke([made[0][1].id])
    here.refresh()
    assert [here.of_token(token) is not None for token, _ in made] == [False, True]
    assert len(told) == before + 1


def test_a_file_that_others_may_read_since_is_seen_by_a_clock_that_stands_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens, here = FileTokens(tmp_path), FilePrincipals(token_file(tmp_path))
    token, kept = new_token("ann", "control", OWN, now=0, lasts_s=None)
    tokens.add(kept)
    stat = Path.stat

    def coarse(path: Path, **options: bool) -> SimpleNamespace:
        """As file systems tell it whose times have ticks of some milliseconds."""
        about = stat(path, **options)
        told = {name: getattr(about, name) for name in ("st_ino", "st_size", "st_mode", "st_uid")}
        return SimpleNamespace(**told, st_mtime_ns=0, st_ctime_ns=0)

    monkeypatch.setattr(Path, "stat", coarse)
    here.refresh()
    assert here.of_token(token) is not None
    tokens.path.chmod(0o644)
    here.refresh()
    assert here.of_token(token) is None


@pytest.mark.parametrize("spoilt", ["mode", "content", "scope", "link", "gone"])
def test_a_file_that_cannot_be_believed_lets_nobody_in(tmp_path: Path, spoilt: str) -> None:
    tokens, here = FileTokens(tmp_path), FilePrincipals(token_file(tmp_path))
    token, kept = new_token("ann", "control", OWN, now=0, lasts_s=None)
    tokens.add(kept)
    here.refresh()
    assert here.of_token(token) is not None
    match spoilt:
        case "mode":
            tokens.path.chmod(0o644)
        case "content":
            tokens.path.write_text("[{")
        case "scope":
            rows = json.loads(tokens.path.read_text())
            tokens.path.write_text(json.dumps([{**rows[0], "sessions": ["everything"]}]))
        case "link":
            tokens.path.rename(tmp_path / "moved.json")
            tokens.path.symlink_to(tmp_path / "moved.json")
        case _:
            tokens.path.unlink()
    here.refresh()
    assert here.of_token(token) is None
    if spoilt in {"mode", "content", "link"}:
        with pytest.raises(TokensUnusable, match="mode 600"):
            tokens.add(kept)


async def test_who_watches_is_told_when_a_token_expires() -> None:
    now = 100.0
    roll, told = WatchedTokens(lambda: now), asyncio.Event()
    token, kept = new_token("ann", "control", OWN, now=now, lasts_s=0.05)
    roll.replace(TokenTable([kept]))
    roll.watch(told.set)
    expiring = asyncio.create_task(roll.expire())
    assert roll.of_token(token) is not None
    async with asyncio.timeout(60):
        await told.wait()
    now = 100.1
    assert roll.of_token(token) is None
    expiring.cancel()
    await asyncio.gather(expiring, return_exceptions=True)


def test_tokens_are_made_listed_and_revoked_on_the_command_line(tmp_path: Path) -> None:
    run, place = CliRunner().invoke, ["--state-dir", str(tmp_path)]
    made = run(
        application(), ["token", "create", "ann", "--sessions", "folder:/srv/a", "--expires", "30d", *place]
    )
    assert made.exit_code == 0
    (kept,) = read_all(token_file(tmp_path).read_bytes())
    assert (kept.name, kept.role, kept.sessions) == ("ann", "control", ["folder:/srv/a"])
    assert kept.expires == kept.created + 30 * 86400
    assert made.stdout.splitlines()[0].startswith("twp-")
    assert made.stdout.splitlines()[0] not in token_file(tmp_path).read_text()
    listed = run(application(), ["token", "list", *place]).stdout
    assert listed.split()[:4] == [kept.id, "ann", "control", "folder:/srv/a"]
    for wrong, sentence in (
        (["create", "a b"], "not a name"),
        (["create", "a", "--sessions", "x"], "not a scope"),
        (["create", "a", "--expires", "soon"], "is not a time"),
        (["revoke", "bob"], "there is no token"),
    ):
        refused = run(application(), ["token", *wrong, *place])
        assert (refused.exit_code != 0, sentence in refused.output) == (True, True), refused.output
    assert run(application(), ["token", "revoke", "ann", *place]).exit_code == 0
    assert read_all(token_file(tmp_path).read_bytes()) == []
