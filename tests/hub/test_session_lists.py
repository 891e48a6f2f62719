"""The list of sessions, made once for all frontends: each gets what it may see, and nothing else."""

import random
from collections.abc import Callable, Sequence
from typing import Any, cast

import msgspec

from turnwire.hub.delivery.frontends import FrontendRegistry
from turnwire.hub.principals import Principal, Scope, SessionIndex, sees, shown
from turnwire.hub.wire.frames_out import Sessions, SessionSummary, SessionWorktree, encode
from waiting import until

OWNERS = [None, "ann", "bob", "cay"]
FOLDERS = [None, "/", "/srv", "/srv/ann", "/srv/ann/deep", "/srv/ann/../bob", "/srvx", "work", "//srv"]
WORDS = [
    ["all"], ["own"], ["folder:/srv"], ["folder:/"], ["folder://srv"], ["own", "folder:/srv/ann"],
    ["folder:/srv/ann", "folder:/srv"], ["own", "folder:/none"],
]  # fmt: skip


class Several:
    """A host of many sessions that counts how often they are listed."""

    def __init__(self) -> None:
        draw = random.Random(7)
        self.listed = 0
        self.tell: Callable[[], None] = lambda: None
        self.summaries = [
            SessionSummary(
                session=f"s{number}",
                state="idle",
                last_seq=number,
                pending=0,
                owner=draw.choice(OWNERS),
                workspace=draw.choice(FOLDERS),
                worktree=draw.choice(
                    [None, None, SessionWorktree(repository="/srv/ann/deep", branch="b", base="main")]
                ),
                worker="w",
                trouble=draw.choice([None, "The Redis at 10.0.0.1 is away."]),
            )
            for number in range(300)
        ]

    def sessions(self) -> Sequence[SessionSummary]:
        self.listed += 1
        return self.summaries

    def watch_sessions(self, watcher: Callable[[], None]) -> Callable[[], None]:
        self.tell = watcher
        return lambda: None


class Viewer:
    """A frontend that keeps its frames."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self.writable = True

    def send_text(self, text: bytes) -> None:
        self.frames.append(text)


def principals() -> list[Principal]:
    return [
        Principal("control", name, Scope.parse(words))
        for words in WORDS
        for name in OWNERS
        if name or words == ["all"]
    ]


def test_what_is_found_by_owner_and_folder_is_what_a_look_at_each_session_finds() -> None:
    sessions = Several().summaries
    index = SessionIndex(sessions)
    for words in WORDS:
        for name in (*OWNERS, "nobody"):
            scope = Scope.parse(words)
            found = [number for number, one in enumerate(sessions) if sees(scope, name, one)]
            assert list(index.seen(scope, name)) == found, (words, name)


async def test_a_change_has_the_host_list_its_sessions_once_however_many_frontends_there_are() -> None:
    host = Several()
    registry = FrontendRegistry(cast("Any", host))
    viewers = [(Viewer(), principal) for principal in principals() for _ in range(3)]
    for viewer, principal in viewers:
        registry.join(viewer, principal)
    registry.start()
    host.summaries = [msgspec.structs.replace(one, state="running") for one in host.summaries]
    host.listed = 0
    host.tell()
    assert host.listed == 1
    try:
        for viewer, principal in viewers:
            whole = Sessions(
                sessions=[shown(one, principal) for one in host.summaries if principal.sees(one)]
            )
            assert viewer.frames == ([encode(whole)] if whole.sessions else [])
        # Whether one may see a session is known from the same list, and from a new one where it is not on that.
        for _, principal in viewers:
            for one in host.summaries[:50]:
                assert registry.knows(principal, one.session) is principal.sees(one)
        assert host.listed == 1
        fresh = SessionSummary(session="fresh", state="idle", last_seq=0, pending=0, owner="ann")
        host.summaries = [*host.summaries, fresh]
        assert registry.knows(Principal("control", "ann", Scope(own=True)), "fresh")
        assert not registry.knows(Principal("control", "bob", Scope(own=True)), "fresh")
        assert not registry.knows(Principal("control", "bob", Scope(own=True)), "none")
        # Who could not take the list gets the newest one, and who has it gets it no second time.
        late = viewers[0][0]
        late.writable = False
        host.tell()
        await until(lambda: len(viewers[1][0].frames) == 2)
        late.writable = True
        for viewer in (late, viewers[1][0]):
            registry.tell(viewer)
            assert len(viewer.frames) == 2
    finally:
        registry.stop()
