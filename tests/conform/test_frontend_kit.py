"""The kit plays to frontends in this process, in small; test_frontends.py has the whole play and frontends of their own."""

import asyncio
import hashlib
import json
import re
from collections.abc import Callable, Coroutine
from contextlib import suppress

import pytest
import typer

from turnwire.client import BEGINNING, CommandFailed, EventFrame, connect
from turnwire.client.backoff import Backoff
from turnwire.client.events import Notice, PermissionRequest
from turnwire.frontends.conform.report import Finding, NotSupported
from turnwire.sidecar.checks.conform.command import try_frontend
from turnwire.sidecar.checks.conform.scripted_host import SESSION, ScriptedHost
from turnwire.sidecar.serving.run import StartError

Acknowledgement = Callable[[int, str], str]
"""From how many events were delivered, and their digest, to what is said of it."""


def honestly(count: int, digest: str) -> str:
    return json.dumps({"events": count, "digest": digest})


async def frontend(url: str, acknowledgement: Acknowledgement, answers: tuple[str, ...]) -> None:
    """Follow the session, say what was delivered, and answer a request with options by these ids."""
    delivered, count = hashlib.sha256(), 0
    async with connect(url, backoff=Backoff(first=0.01, most=0.05)) as client:
        async for frame in client.follow(SESSION, BEGINNING):
            if not isinstance(frame, EventFrame):
                continue
            count += 1
            delivered.update(b"%d\n" % frame.seq)
            match frame.event:
                case Notice(kind="conform"):
                    await client.prompt(SESSION, acknowledgement(count, delivered.hexdigest()))
                case PermissionRequest() as request:
                    for answer in answers:
                        with suppress(CommandFailed):  # one of the examples, or answered before
                            await client.respond(SESSION, request.pending_id, answer)
                case _:
                    pass


async def played(
    acknowledgement: Acknowledgement = honestly,
    answers: tuple[str, ...] = ("allow_once",),
) -> list[Finding]:
    """What comes of a small play to a frontend."""
    host = ScriptedHost(0, 60, kept=1000, flood=500, away_s=0)
    url = await host.start()
    try:
        async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
            following = tasks.create_task(frontend(url, acknowledgement, answers))
            findings = [finding async for finding in host.findings()]
            following.cancel()
    finally:
        await host.stop()
    return findings


async def test_a_frontend_that_delivers_everything_once_holds_the_play() -> None:
    findings = await played()
    assert [finding.verdict for finding in findings] == ["held"] * 7, findings
    assert findings[-1].detail == "with allow_once"


async def test_a_request_that_nobody_answers_is_not_supported() -> None:
    host = ScriptedHost(0, 0.01, away_s=0)
    await host.start()
    try:
        with pytest.raises(NotSupported, match="nobody answered the request"):
            await host.answers()
    finally:
        await host.stop()


async def test_a_frontend_that_never_comes_is_told_of() -> None:
    host = ScriptedHost(0, 0.01)
    await host.start()
    try:
        first, *rest = [finding async for finding in host.findings()]
    finally:
        await host.stop()
    assert "nothing was acknowledged within 0.01 s; 0 frontends are connected" in first.detail
    assert {finding.verdict for finding in rest} == {"not tried"}


@pytest.mark.parametrize(
    ("acknowledgement", "detail"),
    [
        (lambda count, digest: honestly(count + 1, digest), r"it delivered (\d+) events, of \d+"),
        (lambda count, digest: honestly(count, "0" * 64), "events, but different ones or in another order"),
        (lambda count, digest: "all of them", "the acknowledgement is 'all of them', not JSON with"),
        (lambda count, digest: json.dumps([count, digest]), "not JSON with `events` and `digest`"),
    ],
    ids=["too many", "others", "no JSON", "no object"],
)
async def test_what_a_frontend_acknowledges_wrongly_is_named_and_nothing_is_tried_further(
    acknowledgement: Acknowledgement, detail: str
) -> None:
    first, *rest = await played(acknowledgement)
    assert first.verdict == "broken"
    assert re.search(detail, first.detail), first.detail
    assert {finding.verdict for finding in rest} == {"not tried"}


async def test_an_option_that_was_not_offered_is_named() -> None:
    *others, last = await played(answers=("allow_for_ever",))
    assert [finding.verdict for finding in others] == ["held"] * 6
    assert (last.verdict, last.detail) == (
        "broken",
        "it answered with 'allow_for_ever', which is not an option of the request",
    )


async def test_a_frontend_can_list_the_play_but_begin_nothing_in_it() -> None:
    host = ScriptedHost(0, 60)
    url = await host.start()
    try:
        async with connect(url) as client:
            assert [one.title for one in client.known_sessions] == ["A play for frontends"]
            assert host.is_followed
            with pytest.raises(CommandFailed, match="This session only tests frontends"):
                await client.interrupt(SESSION)
    finally:
        await host.stop()


async def test_a_program_that_is_no_frontend_is_named_and_ended(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as left:
        await try_frontend(("sleep", "600"), 0, 0.1, json=False)
    assert left.value.exit_code == 1
    first, *rest, closing = capfd.readouterr().out.splitlines()
    assert first.startswith("broken")
    assert "nothing was acknowledged within 0.1 s; 0 frontends are connected" in first
    assert {line.split()[0] for line in rest} == {"not"}
    assert closing == "0 held, 1 broken, 6 not tried"


@pytest.mark.usefixtures("capfd")
async def test_a_frontend_that_is_no_program_is_told_with_what_to_do() -> None:
    with pytest.raises(
        StartError, match=r"cannot start './nothing' \(No such file or directory\); name a program"
    ):
        await try_frontend(("./nothing",), 0, 60, json=True)


async def test_the_kit_waits_for_a_frontend_that_a_person_connects(capfd: pytest.CaptureFixture[str]) -> None:
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        trying = tasks.create_task(_left(try_frontend((), 0, 0.1, json=True)))
        said = ""
        while not (found := re.search(r"connect it to (\S+)\n", said)):
            await asyncio.sleep(0.01)
            said += capfd.readouterr().err
        async with connect(found[1]):
            assert await trying == 1
    first, *_ = json.loads(capfd.readouterr().out)
    assert first["verdict"] == "broken"


async def _left(trying: Coroutine[None, None, None]) -> int:
    with pytest.raises(typer.Exit) as left:
        await trying
    return left.value.exit_code
