"""Rules on paths, held against a disk with links."""

import os
import random
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.policies import PermissionSettings, judge_by_rule
from turnwire.adapter.permissions.real_paths import real_paths, real_paths_of, session_places
from turnwire.adapter.permissions.rules import first_match, read_rules


class House:
    """A workspace beside a folder that is nobody's business."""

    def __init__(self, folder: Path) -> None:
        self.workspace, self.outside, self.home = folder / "ws", folder / "etc", folder / "home"
        for one in (self.workspace / "src", self.outside, self.home):
            one.mkdir(parents=True)
        (self.outside / "passwd").write_text("")

    def judge(self, path: str, *entries: Mapping[str, object]) -> str | None:
        """What rules say about a path that is to be written."""
        rules = read_rules(entries)
        places = session_places(rules, str(self.workspace), str(self.home))
        settings = PermissionSettings(rules=rules, workspace=str(self.workspace), places=places)
        call = ToolCall("Write", {"file_path": path})
        verdict = judge_by_rule(settings, call, real_paths_of([call], rules, places))
        return None if verdict is None else verdict.behavior


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


ALLOW = {"action": "allow", "tool": "Write", "input": {"file_path": "src/*"}}


def test_a_file_that_is_to_be_made_is_allowed(house: House) -> None:
    for path in ("src/new", "src/a/b/new", "./src/../src/new", str(house.workspace / "src" / "new")):
        assert house.judge(path, ALLOW) == "allow", path


def test_a_link_does_not_lead_out_of_what_is_allowed(house: House) -> None:
    (house.workspace / "src" / "out").symlink_to(house.outside)
    (house.workspace / "src" / "file").symlink_to(house.outside / "passwd")
    (house.workspace / "src" / "new").symlink_to(house.outside / "not there")
    (house.workspace / "src" / "chain").symlink_to("out")
    (house.workspace / "src" / "up").symlink_to("../..")
    for path in (
        "out/passwd",
        "out/new",
        "out/a/b",
        "file",
        "new",
        "chain/passwd",
        "up/etc/passwd",
        "out/../out/x",
    ):
        assert house.judge(f"src/{path}", ALLOW) is None, path


def test_a_folder_that_becomes_a_link_takes_no_rule_along(house: House) -> None:
    (house.workspace / "src").rmdir()
    (house.workspace / "src").symlink_to(house.outside)
    assert house.judge("src/passwd", ALLOW) is None
    everywhere = {"action": "allow", "input": {"file_path": f"{house.workspace}/*"}}
    assert house.judge("src/passwd", everywhere) is None


def test_a_link_that_stays_inside_is_followed(house: House) -> None:
    (house.workspace / "src" / "link").symlink_to("real")
    assert house.judge("src/link/x", ALLOW) == "allow"


def test_a_loop_of_links_leads_nowhere(house: House) -> None:
    (house.workspace / "src" / "loop").symlink_to("loop")
    assert house.judge("src/loop/x", {"action": "deny", "input": {"file_path": "/etc/*"}}) in (None, "ask")
    chain = house.workspace / "src"
    for number in range(1500):
        (chain / f"l{number}").symlink_to(f"l{number + 1}")
    assert house.judge("src/l0", {"action": "deny", "input": {"file_path": "/etc/*"}}) in (None, "ask")


@pytest.mark.parametrize("path", ["src/a\0b", "a/" * 100_000, "\ud800"])
def test_a_path_that_leads_nowhere_is_not_allowed_and_asked_about_where_one_is_denied(
    path: str, house: House
) -> None:
    if path != "\ud800":
        assert house.judge(path, {"action": "allow", "input": {"file_path": "*"}}) is None
    assert house.judge(path, {"action": "deny", "input": {"file_path": "/etc/*"}}) in ("ask", None)


def test_a_rule_that_denies_holds_for_the_spelling_and_for_the_place(house: House) -> None:
    deny = {"action": "deny", "input": {"file_path": f"{house.outside}/*"}}
    (house.workspace / "out").symlink_to(house.outside)
    (house.outside / "back").symlink_to(house.workspace)
    outside = str(house.outside)
    for path in (
        "out/passwd",
        "../etc/passwd",
        f"/{outside}/passwd",
        f"{outside}//passwd",
        f"{outside}/back/src/x",
    ):
        assert house.judge(path, deny, {"action": "allow"}) == "deny", path
    assert house.judge("src/x", deny, {"action": "allow"}) == "allow"


def test_a_denied_folder_that_is_a_link_is_denied_where_it_is(house: House, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(house.outside)
    deny = {"action": "deny", "input": {"file_path": f"{tmp_path}/alias/*"}}
    assert house.judge(str(house.outside / "passwd"), deny) == "deny"


def test_a_workspace_behind_a_link_is_the_workspace(house: House, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(house.workspace)
    real = house.workspace
    house.workspace = tmp_path / "link"
    for path in ("src/x", str(real / "src" / "x"), str(tmp_path / "link" / "src" / "x")):
        assert house.judge(path, ALLOW) == "allow", path


def test_home_is_what_a_tilde_stands_for(house: House) -> None:
    deny = {"action": "deny", "input": {"file_path": "~/.ssh/*"}}
    for path in ("~/.ssh/key", str(house.home / ".ssh" / "key"), "../home/.ssh/key"):
        assert house.judge(path, deny) == "deny", path
    assert house.judge("~/.ssh/key", ALLOW) is None
    assert house.judge("~/x", {"action": "allow", "input": {"file_path": "*/ws/*"}}) is None


def test_regular_expressions_see_the_place_as_well(house: House) -> None:
    (house.workspace / "src" / "harmless").symlink_to(house.workspace / ".env")
    (house.workspace / "src" / "out").symlink_to(house.outside)
    assert house.judge("src/harmless", {"action": "deny", "regex": {"file_path": r"\.env$"}}) == "deny"
    allow = {"action": "allow", "regex": {"file_path": "^src/"}}
    assert house.judge("src/x", allow) == "allow"
    assert house.judge("src/out/x", allow) is None


def test_nothing_is_looked_up_where_no_rule_is_about_paths(house: House) -> None:
    rules = read_rules([{"action": "deny", "input": {"command": "rm *"}}])
    places = session_places(rules, str(house.workspace), "")
    assert places.real == {}
    assert real_paths_of([ToolCall("Write", {"file_path": "x"})], rules, places) == {}


def test_a_path_beyond_what_a_system_takes_is_not_looked_up() -> None:
    assert real_paths(["/" + "a" * 5000, "/a\0b"]) == {"/" + "a" * 5000: None, "/a\0b": None}


def test_a_way_up_behind_a_link_counts_as_it_is_spelled_and_as_the_system_goes_it(house: House) -> None:
    (house.workspace / "src" / "link").symlink_to(house.outside)
    (house.workspace / "secret").mkdir()
    (house.outside / "deep").mkdir()
    (house.workspace / "deep").symlink_to(house.outside / "deep")
    for path in ("src/link/../etc/passwd", "src/link/../home/x", "src/link/../new", "src/../src/link/../x"):
        assert house.judge(path, ALLOW) is None, path
        assert house.judge(path, {"action": "allow", "regex": {"file_path": "^src/"}}) is None, path
    deny = {"action": "deny", "input": {"file_path": "secret/*"}}
    for path in ("deep/../secret/k", "deep/../../ws/secret/k", "src/link/../ws/secret/k", "src/../secret/k"):
        assert house.judge(path, deny, {"action": "allow"}) == "deny", path
        regex = {"action": "deny", "regex": {"file_path": "/secret/"}}
        assert house.judge(path, regex, {"action": "allow"}) == "deny", path
    assert house.judge("deep/../../ws/src/x", deny, {"action": "allow"}) == "allow"


def test_a_link_at_the_place_that_a_spelling_means_is_followed_as_well(house: House) -> None:
    (house.workspace / "deep").symlink_to(house.outside)
    (house.workspace / "key").symlink_to(house.home / "key")
    assert house.judge("deep/../key", {"action": "deny", "input": {"file_path": "~/*"}}) == "deny"


def test_an_expression_that_allows_is_not_met_by_what_a_way_up_leaves(house: House) -> None:
    allow = {"action": "allow", "regex": {"file_path": "^src/"}}
    assert house.judge("src/../x", allow) is None
    assert house.judge("src/a/../x", allow) == "allow"


def test_a_way_up_in_a_pattern_that_denies_means_both_places(house: House) -> None:
    other = house.workspace.parent / "other" / "link"
    other.parent.mkdir()
    other.symlink_to(house.workspace)
    rules = read_rules([{"action": "deny", "input": {"file_path": "../shared/*"}}])
    places = session_places(rules, str(other), "")
    settings = PermissionSettings(rules=rules, workspace=str(other), places=places)
    for path in (f"{house.workspace.parent}/shared/x", f"{other.parent}/shared/x", "../shared/x"):
        call = ToolCall("Write", {"file_path": path})
        verdict = judge_by_rule(settings, call, real_paths_of([call], rules, places))
        assert verdict is not None, path


def test_paths_of_any_spelling_are_judged_as_the_system_opens_them(tmp_path: Path) -> None:
    """A folder of random links: what the system opens, and what a program opens that takes ".." off first, is judged."""
    chance = random.Random(11)
    workspace = tmp_path / "ws"
    folders = [
        workspace,
        *(workspace / name for name in ("src", "src/a", "secret", "b", "b/c")),
        tmp_path / "out",
    ]
    for folder in folders:
        folder.mkdir(exist_ok=True)
        (folder / "f").write_text("")
    for number in range(14):
        to = chance.choice(folders)
        target = to if chance.random() < 0.5 else Path(os.path.relpath(to, at := chance.choice(folders)))
        place = at if not target.is_absolute() else chance.choice(folders)
        (place / f"l{number}").symlink_to(target)
    rules = read_rules([DENY_SECRET, ALLOW])
    places = session_places(rules, str(workspace), "")
    settings = PermissionSettings(rules=rules, workspace=str(workspace), places=places)
    seen = set()
    for _ in range(800):
        parts: list[str] = []
        for _ in range(chance.randint(1, 6)):
            here = workspace.joinpath(*parts)
            parts.append(chance.choice([*(one.name for one in here.iterdir() if one.is_dir()), "..", "."]))
        path = "/".join([*parts, "f"])
        call = ToolCall("Write", {"file_path": path})
        verdict = judge_by_rule(settings, call, real_paths_of([call], rules, places))
        judged = "none" if verdict is None else verdict.behavior
        for opened in (workspace / path, Path(os.path.normpath(workspace / path))):
            if opened.exists():
                real = os.path.realpath(opened, strict=True)
                seen.add(judged)
                assert judged == "deny" or not real.startswith(f"{workspace}/secret/"), path
                assert judged != "allow" or real.startswith(f"{workspace}/src/"), path
    assert seen == {"none", "deny", "allow"}


DENY_SECRET = {"action": "deny", "input": {"file_path": "secret/*"}}


def test_what_is_looked_up_for_one_request_is_limited(house: House) -> None:
    """More links than a system follows lead nowhere; more folders than are looked up lead nobody knows where."""
    chain = house.workspace / "src"
    (chain / "l0").symlink_to("real")
    for number in range(50):
        (chain / f"l{number + 1}").symlink_to(f"l{number}")
    assert house.judge("src/l30/x", ALLOW) == "allow"
    assert house.judge("src/l45/x", ALLOW) is None
    deny = {"action": "deny", "input": {"path": "secret/*"}}
    rules = read_rules([deny, {"action": "allow"}])
    places = session_places(rules, str(house.workspace), "")
    for paths in ([f"{'d/' * 1500}{number}" for number in range(200)], ["x"] * 10_000):
        call = ToolCall("read_files", {"path": paths})
        found = first_match(rules, call, replace(places, real=real_paths_of([call], rules, places)))
        assert found is not None
        assert found.action == "ask"
