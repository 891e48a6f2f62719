"""Which events receivers are told of, read from a journal."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from turnwire.config import secrecy
from turnwire.config.settings import ConfigurationError, Webhook, load
from turnwire.journal.base import Entry, JournalError, Page
from turnwire.journal.memory import MemoryJournal
from turnwire.normalize.events import (
    AgentEvent,
    Complete,
    CompleteData,
    MessageChunk,
    PermissionCancelled,
    to_json,
)
from turnwire.normalize.events.envelope import Cursor, Envelope
from turnwire.outbound.webhooks.configured import configured_receivers
from turnwire.outbound.webhooks.delivery import Deliverer, receiver
from turnwire.outbound.webhooks.watcher import EventFilter, EventWatcher
from waiting import until

DONE = Complete(data=CompleteData(outcome="completed", is_error=False))


async def append(journal: MemoryJournal, session: str, *events: AgentEvent) -> None:
    await journal.append(session, [Entry(to_json(event)) for event in events])


async def test_receivers_are_told_of_what_they_want_from_now_on() -> None:
    told: list[tuple[str, str, int]] = []
    loop, both = asyncio.get_running_loop(), asyncio.Event()

    def post(url: str, body: bytes, _: Mapping[str, str]) -> tuple[int, float | None]:
        said = json.loads(body)
        told.append((said["data"]["session"], said["type"], said["data"]["seq"]))
        if len(told) == 2:
            loop.call_soon_threadsafe(both.set)
        return 200, None

    journal = MemoryJournal()
    await append(journal, "old", DONE)
    to = Deliverer(receiver(1, "http://127.0.0.1:9/", b"k" * 16), post=post)
    watching = EventWatcher(journal, [EventFilter(frozenset({"complete"}), to)])
    await watching.begin()
    running = asyncio.create_task(watching.run())
    await asyncio.sleep(0)
    await append(journal, "old", *[MessageChunk(text="x")] * 2000, DONE)
    await append(journal, "new", PermissionCancelled(pending_id="q"), DONE)
    async with asyncio.timeout(60):
        await both.wait()
    running.cancel()
    watching.stop()
    assert sorted(told) == [("new", "complete", 2), ("old", "complete", 2002)]


class PartlyDamaged(MemoryJournal):
    """A journal with a log that cannot be read."""

    async def read_after(
        self, session: str, cursor: Cursor, *, count: int = 512, size: int = 1 << 20
    ) -> Page:
        if session == "damaged":
            raise JournalError("the disk is gone")
        return await super().read_after(session, cursor, count=count, size=size)


async def test_a_log_that_cannot_be_read_is_told_of_and_others_are_read(
    caplog: pytest.LogCaptureFixture,
) -> None:
    journal, noting = PartlyDamaged(), Noting([])
    watching = EventWatcher(journal, [EventFilter(frozenset({"complete"}), noting)])
    await watching.begin()
    running = asyncio.create_task(watching.run())
    await asyncio.sleep(0)
    await append(journal, "damaged", DONE)
    await append(journal, "whole", DONE)
    async with asyncio.timeout(60):
        await noting.told.wait()
    await until(lambda: "no webhook gets events: the log cannot be read" in caplog.text)
    running.cancel()


class Noting:
    """Notes when it is told."""

    def __init__(self, order: list[str]) -> None:
        self._order = order
        self.told = asyncio.Event()

    def start(self) -> None: ...

    def receive(self, envelope: Envelope, kind: str, epoch: str) -> None:
        self._order.append(f"{kind} of {envelope.session} in {epoch}")
        self.told.set()

    def stop(self) -> None: ...


async def test_who_looks_on_has_an_event_before_receivers() -> None:
    order: list[str] = []
    journal, looks_on = MemoryJournal(), asyncio.Event()
    to = Noting(order)
    watching = EventWatcher(journal, [EventFilter(frozenset({"complete"}), to)])
    await watching.begin()

    async def look_on() -> None:
        await looks_on.wait()
        order.append("frontend")

    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(watching.run())
        tasks.create_task(look_on())
        await asyncio.sleep(0)
        journal.watch(lambda *_: looks_on.set())
        await append(journal, "a", DONE)
        await asyncio.wait_for(to.told.wait(), 60)
        running.cancel()
    assert order == ["frontend", f"complete of a in {journal.epoch}"]


def hook(**more: object) -> Webhook:
    return Webhook.model_validate(
        {"url": "https://hooks.example/x", "secret_env": "TURNWIRE_WEBHOOK_SECRET", **more}
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "ftp://hooks.example/"},
        {"url": "file:///etc/passwd"},
        {"url": "https://user:pw@hooks.example/"},
        {"url": "https://hooks.example:port/"},
        {"url": "https://"},
        {"url": "https://hooks.example/a b"},
        {"secret_env": "HOME"},
        {"secret_env": None},
        {"secret_file": "/x"},
        {"events": ["message_chunk"]},
        {"token": "x"},
    ],
)
def test_a_webhook_that_is_none_is_refused_by_name(wrong: dict[str, object], tmp_path: Path) -> None:
    table = {"url": "https://hooks.example/x", "secret_env": "TURNWIRE_WEBHOOK_SECRET", **wrong}
    lines = [f"{name} = {json.dumps(value)}" for name, value in table.items() if value is not None]
    file = tmp_path / "named.toml"
    file.write_text("\n".join(["[[webhooks]]", *lines]))
    with pytest.raises(ConfigurationError, match="setting webhooks") as error:
        load({}, file)
    assert "pw" not in str(error.value)


def test_a_secret_is_read_from_a_private_file_or_a_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("0123456789abcdef\n")
    secret.chmod(0o600)
    by_file = hook(secret_env=None, secret_file=str(secret))
    assert len(configured_receivers([by_file])) == 1
    secret.chmod(0o644)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        configured_receivers([by_file])
    with pytest.raises(ConfigurationError, match="is not set"):
        configured_receivers([hook()])
    monkeypatch.setenv("TURNWIRE_WEBHOOK_SECRET", "short")
    with pytest.raises(ConfigurationError, match="at least 16 bytes") as error:
        configured_receivers([hook()])
    assert "short" not in str(error.value)
    monkeypatch.setenv("TURNWIRE_WEBHOOK_SECRET", "0123456789abcdef")
    assert configured_receivers([hook()])[0].kinds == {
        "permission_request",
        "question_request",
        "complete",
        "process_status",
    }


def test_the_variables_of_secrets_are_taken_out_of_the_environment() -> None:
    assert secrecy.is_secret("TURNWIRE_WEBHOOK_SECRET_SLACK")
    assert not secrecy.is_secret("TURNWIRE_WEBHOOKS")
