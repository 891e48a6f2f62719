"""What a principal may use, and what it reads when that is used up."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import pytest
from host_harness import host_harness

from turnwire.config.settings import Quota
from turnwire.hub.host import CommandRefused, Frontend
from turnwire.hub.wire import frames
from turnwire.hub.wire.frames_out import SessionSummary
from turnwire.normalize.model import JsonValue
from turnwire.normalize.vocabulary import SessionState
from turnwire.sessions.quotas import Quotas, SpendingFile

ANN = Frontend("ann", "control", user="ann")
BEN = Frontend("ben", "control", user="ben")


def one(session: str, owner: str = "ann", state: SessionState = "idle") -> SessionSummary:
    return SessionSummary(session=session, owner=owner, state=state, last_seq=0, pending=0)


def create() -> frames.SessionCreate:
    return frames.SessionCreate(type="session.create", id="1")


def prompt(session: str) -> frames.Prompt:
    return frames.Prompt(type="prompt", id="1", session=session, text="hi")


async def done() -> JsonValue:
    return None


async def said(
    tmp_path: Path,
    quotas: Mapping[str, Quota],
    command: frames.AnyCommand,
    sessions: Sequence[SessionSummary] = (),
    *,
    user: str | None = "ann",
    spent: float = 0,
) -> str:
    """Return the refusal, empty where there is none."""
    limits = Quotas(quotas, SpendingFile(tmp_path / "state"))
    await limits.spent("ann", spent)
    try:
        await limits.keep(command, user, lambda: sessions, lambda _: 600, done)
    except CommandRefused as refused:
        return refused.message if refused.code == "limit_principal" else f"{refused.code}?"
    return ""


async def test_each_quota_is_refused_with_its_name_and_its_principals(tmp_path: Path) -> None:
    own = [one("a"), one("b", state="exited"), one("c", owner="ben")]
    for quota, command, expected in (
        (Quota(sessions=2), create(), "'ann' has used 2 of its 2 sessions"),
        (Quota(sessions=3), create(), ""),
        (Quota(sessions=2), prompt("a"), ""),
        (Quota(agents=1), create(), "'ann' has used 1 of its 1 running agents"),
        (Quota(agents=1), prompt("a"), ""),
        (Quota(agents=1), prompt("b"), "'ann' has used 1 of its 1 running agents"),
        (Quota(bytes=1200), prompt("a"), "'ann' has used 1200 of its 1200 bytes of events"),
        (Quota(bytes=1201), prompt("a"), ""),
        (Quota(), create(), ""),
    ):
        message = await said(tmp_path, {"*": quota}, command, own)
        assert message.startswith(f"the principal {expected}" if expected else ""), (quota, message)
        assert bool(message) == bool(expected), (quota, message)
    tight = {"*": Quota(sessions=0)}
    assert await said(tmp_path, tight, create(), user=None) == "", "the hub's own tokens have no quota"
    assert await said(tmp_path, tight | {"ann": Quota()}, create()) == ""
    assert "'ben' has used 0 of its 0 sessions" in await said(tmp_path, tight, create(), user="ben")


async def test_a_session_is_its_owners_whoever_sends_the_prompt_and_costs_count_for_the_day(
    tmp_path: Path,
) -> None:
    quotas = {"ann": Quota(dollars_a_day=1.5)}
    assert await said(tmp_path, quotas, prompt("a"), [one("a")], spent=1) == ""
    message = await said(tmp_path, quotas, prompt("a"), [one("a")], user="ben", spent=0.5)
    assert "'ann' has used 1.5 of its 1.5 dollars today" in message
    assert await said(tmp_path, quotas, prompt("c"), [one("c", "ben")]) == ""
    file = tmp_path / "state" / "spending.json"
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_text('{"day": "2026-01-01", "dollars": {"ann": 9}}')
    assert await said(tmp_path, quotas, prompt("a"), [one("a")]) == "", "that was another day"


async def test_commands_that_come_at_the_same_time_count_each_other(tmp_path: Path) -> None:
    limits = Quotas({"*": Quota(sessions=2, agents=1)}, SpendingFile(tmp_path))
    there: list[SessionSummary] = [one("a", state="exited"), one("b", state="exited")]
    may_end = asyncio.Event()

    async def begins() -> JsonValue:
        await may_end.wait()
        there.append(one("c"))
        return {"session": "c"}

    async def fails() -> JsonValue:
        raise CommandRefused("cannot_start", "no such program")

    async def kept(command: frames.AnyCommand, work: Callable[[], Awaitable[JsonValue]] = done) -> JsonValue:
        return await limits.keep(command, "ann", lambda: there, lambda _: 0, work)

    with pytest.raises(CommandRefused, match="2 of its 2 sessions"):
        await kept(create())
    del there[1]
    with pytest.raises(CommandRefused, match="no such program"):
        await kept(create(), fails)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(kept(create(), begins))
        await asyncio.sleep(0)
        with pytest.raises(CommandRefused, match="2 of its 2 sessions"):
            await kept(create())
        with pytest.raises(CommandRefused, match="1 of its 1 running agents"):
            await kept(prompt("a"))
        may_end.set()
    with pytest.raises(CommandRefused, match="2 of its 2 sessions"):
        await kept(create())
    assert await kept(prompt("c")) is None
    there.clear()
    there.append(one("a", state="exited"))
    async with asyncio.TaskGroup() as tasks:
        may_end.clear()
        tasks.create_task(kept(prompt("a"), begins))
        await asyncio.sleep(0)
        assert await kept(prompt("a")) is None, "it is the same agent"
        with pytest.raises(CommandRefused, match="1 of its 1 running agents"):
            await kept(create())
        may_end.set()


async def test_one_principal_that_has_used_up_its_sessions_leaves_others_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host_harness(
        tmp_path, monkeypatch, settings={"quotas": {"*": {"sessions": 1, "dollars_a_day": 5}}}
    ) as here:
        command = frames.SessionCreate.model_validate(
            {"type": "session.create", "id": "1", "workspace": str(tmp_path), "agent": "echo"}
        )

        async def begun(frontend: Frontend) -> JsonValue:
            return await here.host.execute(command, frontend)

        first = await begun(ANN)
        with pytest.raises(CommandRefused, match="'ann' has used 1 of its 1 sessions"):
            await begun(ANN)
        assert isinstance(await begun(BEN), dict)
        assert isinstance(first, dict)
        await here.host.execute(
            frames.SessionDelete(type="session.delete", id="1", session=str(first["session"])), ANN
        )
        assert isinstance(await begun(ANN), dict)
