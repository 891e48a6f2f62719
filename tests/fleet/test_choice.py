"""Which worker begins a session."""

import pytest

from turnwire.fleet.choice import candidates
from turnwire.fleet.directory import KnownWorker
from turnwire.fleet.messages import WorkerSummary
from turnwire.hub.host import CommandRefused
from turnwire.hub.wire.frames import SessionCreate
from turnwire.hub.wire.frames_out import AgentChoice

CLAUDE = AgentChoice(
    agent="claude", title="Claude", family="claude", capabilities=[], options=[], permission_modes=[]
)


def worker(name: str, *, sessions: int = 0, most: int = 10, given: int = 0, **more: object) -> KnownWorker:
    fields: dict[str, object] = {"workspaces": ["/code"], "agents": [CLAUDE]}
    about = WorkerSummary(
        name=name,
        version="1",
        sessions=sessions,
        max_sessions=most,
        max_processes=most,
        **(fields | more),  # type: ignore[arg-type]  # the names are About's
    )
    return KnownWorker(about, given=given)


def chosen(workers: list[KnownWorker], **wish: str) -> list[str]:
    command = SessionCreate(type="session.create", id="1", **wish)  # type: ignore[arg-type]  # the command's fields
    return candidates(command, {known.about.name: known for known in workers})


def refused(workers: list[KnownWorker], **wish: str) -> str:
    with pytest.raises(CommandRefused) as refusal:
        chosen(workers, **wish)
    return f"{refusal.value.code} {refusal.value.field}"


def test_the_one_with_most_room_comes_first_counting_what_it_was_just_given() -> None:
    workers = [worker("a", sessions=5), worker("b", sessions=2, given=4), worker("c", sessions=4)]
    assert chosen(workers) == ["c", "a", "b"]


def test_a_full_one_begins_nothing_and_when_all_are_full_the_refusal_says_so() -> None:
    assert chosen([worker("a", sessions=10), worker("b")]) == ["b"]
    assert refused([worker("a", sessions=10)]) == "limit_sessions None"


def test_a_name_a_label_a_folder_and_an_agent_narrow_the_choice() -> None:
    workers = [worker("a", labels=["gpu"]), worker("b", workspaces=["/other"], agents=[])]
    assert chosen(workers, worker="b") == ["b"]
    assert chosen(workers, worker="gpu") == ["a"]
    assert chosen(workers, workspace="/code/turnwire") == ["a"]
    assert chosen(workers, agent="claude") == ["a"]
    assert refused(workers, worker="tpu") == "no_worker worker"
    assert refused(workers, workspace="/code-of-others") == "no_worker workspace"
    assert refused(workers, agent="gemini") == "no_worker agent"
    assert refused([]) == "no_worker None"


def test_a_path_that_goes_up_is_left_to_the_worker_to_refuse() -> None:
    assert chosen([worker("a")], workspace="/elsewhere/../code") == ["a"]
