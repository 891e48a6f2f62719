from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from turnwire.adapter.claude.wire import granted
from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.grants import Grant, GrantStore
from turnwire.normalize.claude.tool_kinds import kind_of
from turnwire.protocol.json_values import JsonObject


@pytest.mark.parametrize(
    ("grant", "tool", "arguments", "covered"),
    [
        (Grant("Write"), "Write", {"file_path": "x"}, True),
        (Grant("Write"), "Edit", {}, False),
        (Grant("Bash", "ls -l"), "Bash", {"command": "ls -l"}, True),
        (Grant("Bash", "ls -l"), "Bash", {"command": "ls -la"}, False),
        (Grant("Bash", "ls *"), "Bash", {"command": "ls *"}, False),
        (Grant("Bash", "git log:*"), "Bash", {"command": "git log -1"}, True),
        (Grant("Bash", "git log:*"), "Bash", {"command": "git log"}, True),
        (Grant("Bash", "git log:*"), "Bash", {"command": "git logs"}, False),
        (Grant("Bash", "git log:*"), "Bash", {"command": "git log; rm x"}, False),
        (Grant("Bash", "ls"), "Bash", {}, False),
        (Grant("WebFetch", "domain:example.org"), "WebFetch", {"url": "https://example.org/x"}, True),
        (Grant("WebFetch", "domain:example.org"), "WebFetch", {"url": "https://example.org.evil/"}, False),
        (Grant("WebFetch", "domain:example.org"), "WebFetch", {"url": "https://[bad"}, False),
        (Grant("Read", "//etc/**"), "Read", {"file_path": "/etc/x"}, False),
    ],
)
def test_a_grant_covers_what_was_allowed_and_nothing_it_does_not_understand(
    grant: Grant, tool: str, arguments: dict[str, object], *, covered: bool
) -> None:
    assert grant.covers(ToolCall(tool, arguments, kind_of(tool))) is covered


def test_grants_are_the_allowing_rules_of_permission_updates() -> None:
    updates: list[JsonObject] = [
        {
            "type": "addRules",
            "rules": [{"toolName": "Bash", "ruleContent": "ls"}, {"toolName": "Write"}],
            "behavior": "allow",
            "destination": "localSettings",
        },
        {"type": "addRules", "rules": [{"toolName": "Read"}], "behavior": "deny", "destination": "session"},
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
    ]
    assert granted(updates) == [(Grant("Bash", "ls"), "localSettings"), (Grant("Write"), "localSettings")]


def test_the_file_remembers_by_workspace_and_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    store = GrantStore(tmp_path / "deep" / "grants.json")
    here, there = Path("/here"), Path("/there")
    store.remember(here, [(Grant("Bash", "ls"), "localSettings"), (Grant("Bash", "id"), "session")])
    store.remember(here, [(Grant("Bash", "ls"), "projectSettings"), (Grant("Write"), "userSettings")])
    assert store.load(here) == (Grant("Write"), Grant("Bash", "ls"))
    assert store.load(there) == (Grant("Write"),)
    assert (tmp_path / "deep" / "grants.json").stat().st_mode & 0o777 == 0o600


def test_sessions_that_remember_at_once_lose_nothing(tmp_path: Path) -> None:
    store = GrantStore(tmp_path / "grants.json")
    wanted = [Grant("Bash", f"command {number}") for number in range(40)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda grant: store.remember(Path("/here"), [(grant, "localSettings")]), wanted))
    assert set(store.load(Path("/here"))) == set(wanted)


@pytest.mark.parametrize("damage", ["", "[]", "{", '{"/here": 3}', '{"/here": [["Bash"], [1, 2]]}'])
def test_a_damaged_file_allows_nothing(damage: str, tmp_path: Path) -> None:
    (tmp_path / "grants.json").write_text(damage)
    assert GrantStore(tmp_path / "grants.json").load(Path("/here")) == ()
