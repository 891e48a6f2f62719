import asyncio
from collections.abc import Sequence

import pytest

from turnwire.adapter.sandbox.gate import Denied, HostAnswer, HostGate, HostRefused
from turnwire.adapter.sandbox.hosts import Target

FILES = Target("files.example.org", 443)


def gate(
    addresses: Sequence[str] = ("93.184.216.34",), **hosts: Sequence[str]
) -> tuple[HostGate, list[Denied]]:
    async def resolve(_: str, __: int) -> Sequence[str]:
        return addresses

    told: list[Denied] = []
    made = HostGate(hosts.get("hosts", ()), hosts.get("api", ()), resolve=resolve)
    made.attach(never, told.append)
    return made, told


async def never(_: Target) -> HostAnswer:
    raise AssertionError("nobody is asked")


async def test_a_listed_host_and_the_one_of_the_model_need_no_asking() -> None:
    one, _ = gate(hosts=["*.example.org"], api=["api.model.test"])
    assert await one.admit(FILES) == "93.184.216.34"
    assert await one.admit(Target("api.model.test", 443)) == "93.184.216.34"


async def test_connections_to_one_host_wait_for_one_answer_which_counts_for_the_turn() -> None:
    one, _ = gate()
    asked: list[Target] = []
    answer: asyncio.Future[HostAnswer] = asyncio.get_running_loop().create_future()

    async def ask(target: Target) -> HostAnswer:
        asked.append(target)
        return await answer

    one.attach(ask, lambda _: None)
    async with asyncio.TaskGroup() as tasks:
        both = [tasks.create_task(one.admit(FILES)) for _ in range(2)]
        await asyncio.sleep(0)
        answer.set_result(HostAnswer(allowed=True, scope="once"))
    assert [task.result() for task in both] == ["93.184.216.34"] * 2
    await one.admit(FILES)
    assert asked == [FILES]
    one.turn_ended()
    await one.admit(FILES)
    assert asked == [FILES, FILES]


async def test_an_answer_for_the_session_outlives_the_turn() -> None:
    one, told = gate()
    asked: list[Target] = []

    async def ask(target: Target) -> HostAnswer:
        asked.append(target)
        return HostAnswer(allowed=False, scope="session", reason="no")

    one.attach(ask, told.append)
    for _ in range(2):
        with pytest.raises(HostRefused, match="no"):
            await one.admit(FILES)
        one.turn_ended()
    assert asked == [FILES]
    assert told == [Denied("host", "files.example.org:443", "no")] * 2


async def test_a_name_that_leads_to_a_private_address_is_refused_after_it_was_allowed() -> None:
    one, told = gate(["93.184.216.34", "10.0.0.1"], hosts=["*.example.org"])
    with pytest.raises(HostRefused, match=r"leads to 10.0.0.1"):
        await one.admit(FILES)
    assert [denied.target for denied in told] == ["files.example.org:443"]


async def test_what_a_resolver_gives_that_is_no_address_is_connected_to_by_nobody() -> None:
    one, _ = gate(["elsewhere.internal"], hosts=["*.example.org"])
    with pytest.raises(HostRefused, match="no address"):
        await one.admit(FILES)


async def test_an_address_of_this_machine_is_refused_before_anybody_is_asked() -> None:
    one, _ = gate()
    for host in ("127.0.0.1", "localhost", "169.254.169.254", "::1", "10.1.2.3"):
        with pytest.raises(HostRefused, match="is refused"):
            await one.admit(Target(host, 80))


async def test_an_unknown_name_is_not_resolved_before_it_is_allowed() -> None:
    resolved: list[str] = []

    async def resolve(host: str, _: int) -> Sequence[str]:
        resolved.append(host)
        return []

    one = HostGate((), resolve=resolve)
    with pytest.raises(HostRefused, match="nobody can be asked"):
        await one.admit(Target("secret.attacker.test", 443))
    assert resolved == []


async def test_a_name_without_an_address_is_an_error_and_no_refusal() -> None:
    one, told = gate([], hosts=["files.example.org"])
    with pytest.raises(OSError, match="no address"):
        await one.admit(FILES)
    assert told == []


async def test_only_so_many_hosts_are_asked_about_at_a_time() -> None:
    one, _ = gate()
    answer: asyncio.Future[HostAnswer] = asyncio.get_running_loop().create_future()
    one.attach(lambda _: answer, lambda _: None)
    waiting = [asyncio.ensure_future(one.admit(Target(f"host{number}.test", 443))) for number in range(64)]
    await asyncio.sleep(0)
    with pytest.raises(HostRefused, match="64 other hosts"):
        await one.admit(FILES)
    answer.set_result(HostAnswer(allowed=True, scope="once"))
    await asyncio.gather(*waiting)
