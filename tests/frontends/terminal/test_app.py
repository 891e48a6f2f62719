"""The interface, by its keys: what is typed ahead decides nothing, nothing is allowed unseen, and no text draws outside its box."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import msgspec
import pytest
from textual.await_remove import AwaitRemove
from textual.events import Key
from textual.pilot import Pilot

from console_decisions import OPTIONS
from console_states import HubHarness, empty_hub, entries, hub_harness, made, show
from turnwire.client import Cursor, connect
from turnwire.client.following import Following
from turnwire.client.results import EventsPage
from turnwire.client.values import JsonValue
from turnwire.frontends.terminal import deciding, panels, screens
from turnwire.frontends.terminal.app import LINES, PAGE, Attached
from turnwire.frontends.terminal.composer import Composer
from turnwire.frontends.terminal.rows import Said, Words
from turnwire.hub.host import CommandRefused
from turnwire.hub.wire.frames import AnyCommand
from turnwire.normalize.events import (
    AgentEvent,
    Complete,
    CompleteData,
    ContextWindow,
    MessageChunk,
    PermissionCancelled,
    PermissionRequest,
    QuestionRequest,
    Queued,
    SessionMode,
    TurnStarted,
    UserMessage,
)
from turnwire.normalize.payloads import ShellExecPayload
from turnwire.normalize.payloads.files import ContentPart
from turnwire.normalize.payloads.work import ShellExec
from waiting import until


def asking(command: str, pending_id: str = "p1") -> PermissionRequest:
    return PermissionRequest(
        pending_id=pending_id,
        permission_title=command,
        permission_options=OPTIONS,
        action_type="command",
        normalized=ShellExecPayload(shell_exec=ShellExec(command=command)),
    )


class Screen:
    """A terminal of the test's own."""

    def __init__(self, where: HubHarness, app: Attached, pilot: Pilot[str]) -> None:
        self.where = where
        self.app = app
        self.pilot = pilot

    def text(self) -> str:
        lines = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in lines)

    async def sees(self, words: str) -> None:
        try:
            await until(lambda: words in self.text())
        except TimeoutError:
            pytest.fail(f"{words!r} is not on the screen:\n{self.text()}")

    def did(self, kind: str) -> list[object]:
        return [command for command, _ in self.where.host.commands if command.type == kind]


def _has_loaded(app: Attached, first: int) -> bool:
    return app._first < first


@asynccontextmanager
async def screen(*events: AgentEvent, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Screen]:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "one", made(events))
        async with connect(where.url) as client:
            app = Attached(client, "one")
            async with app.run_test(size=size) as pilot:
                yield Screen(where, app, pilot)


@pytest.fixture
def _still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the second of a decision never pass, however slow the machine is."""
    monkeypatch.setattr(panels, "TICK_S", 3600)


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the second of a decision pass sooner. With ticks much shorter the application is never idle, as keys wait for."""
    monkeypatch.setattr(panels, "TICK_S", 0.03)
    monkeypatch.setattr(screens, "TICK_S", 0.03)


@pytest.mark.usefixtures("_still")
async def test_what_is_typed_while_a_request_comes_up_goes_into_the_prompt_and_decides_nothing() -> None:
    async with screen(asking("npm publish")) as seen:
        await seen.sees("npm publish")
        await seen.pilot.press("y", "1", "n")
        assert seen.app.query_one(Composer).text == "y1n"
        await seen.pilot.press("f2", "y", "1", "3", "n")
        await seen.pilot.pause()
        assert not seen.did("permission.respond")


@pytest.mark.usefixtures("_quick")
async def test_a_key_decides_once_the_request_has_stood_for_a_while() -> None:
    async with screen(asking("npm publish")) as seen:
        await seen.sees("y or 1: Allow")
        await seen.pilot.press("f2")
        panel = seen.app.query_one(panels.Decision)
        await until(lambda: panel._gate.armed)
        await seen.pilot.press("y")
        await until(lambda: seen.did("permission.respond"))
        assert [one.option_id for one in seen.did("permission.respond")] == ["allow_once"]  # type: ignore[attr-defined]


@pytest.mark.usefixtures("_quick")
async def test_what_is_remembered_shows_rule_and_file_and_wants_a_second_key() -> None:
    async with screen(asking("npm publish")) as seen:
        await seen.sees("y or 1: Allow")
        await seen.pilot.press("f2")
        panel = seen.app.query_one(panels.Decision)
        await until(lambda: panel._gate.armed)
        await seen.pilot.press("3")
        await seen.sees("This is remembered")
        assert "Bash(npm publish *)" in seen.text()
        assert ".claude/settings.local.json" in seen.text()
        await seen.pilot.press("3")
        assert not seen.did("permission.respond")
        await until(lambda: panel._gate.armed)
        await seen.pilot.press("y")
        await until(lambda: seen.did("permission.respond"))


@pytest.mark.usefixtures("_quick")
async def test_a_long_command_is_allowed_only_after_all_of_it_was_in_view() -> None:
    command = "\n".join(["echo start", *["echo more"] * 200, "rm -rf /"])
    async with screen(asking(command)) as seen:
        await seen.sees("202 lines")
        assert "rm -rf /" not in seen.text()
        await seen.pilot.press("f2")
        panel = seen.app.query_one(panels.Decision)
        await until(lambda: panel._gate.armed)
        await seen.pilot.press("y")
        await seen.sees("scroll through")
        await seen.pilot.press("end")
        await seen.sees("rm -rf /")
        await until(lambda: panel._gate.armed)
        await seen.pilot.press("y")
        assert not seen.did("permission.respond")
        async with asyncio.timeout(60):
            while not panel._gate.seen:
                await seen.pilot.press("pagedown")
        await until(lambda: panel._gate.armed)
        await seen.pilot.press("y")
        await until(lambda: seen.did("permission.respond"))


@pytest.mark.usefixtures("_quick")
async def test_a_question_is_answered_by_its_number() -> None:
    question = msgspec.convert(
        {
            "type": "question_request",
            "pending_id": "q1",
            "kind": "ask_user",
            "questions": [
                {
                    "question": "Which?",
                    "options": [{"label": "Red"}, {"label": "Blue"}],
                    "multi_select": False,
                }
            ],
        },
        QuestionRequest,
    )
    async with screen(question) as seen:
        await seen.sees("2: Blue")
        await seen.pilot.press("f2")
        panel = seen.app.query_one(panels.Asked)
        await until(lambda: panel._gate.armed)
        await seen.pilot.press("2")
        await until(lambda: seen.did("question.answer"))
        assert [one.answers for one in seen.did("question.answer")] == [{"Which?": "Blue"}]  # type: ignore[attr-defined]


@pytest.mark.usefixtures("_quick")
async def test_a_mode_that_asks_less_is_confirmed_and_shown() -> None:
    modes = msgspec.convert(
        {
            "type": "session_mode",
            "current_mode_id": "default",
            "available_modes": [{"id": "default"}, {"id": "bypassPermissions", "name": "Bypass"}],
        },
        SessionMode,
    )
    async with screen(modes) as seen:
        await seen.sees("default")
        await seen.pilot.press("ctrl+t", "down", "enter")
        await seen.sees("asks less")
        await seen.pilot.press("escape")
        assert not seen.did("set_permission_mode")
        await seen.pilot.press("ctrl+t", "down", "enter")
        await seen.sees("asks less")
        sure = seen.app.screen
        assert isinstance(sure, screens.Sure)
        await until(lambda: sure._gate.armed)
        await seen.pilot.press("y")
        await until(lambda: seen.did("set_permission_mode"))


async def test_a_prompt_is_sent_and_comes_back_when_it_is_refused() -> None:
    async with screen() as seen:
        await seen.pilot.press(*"hello", "ctrl+j", *"you", "enter")
        await until(lambda: seen.did("prompt"))
        assert [one.text for one in seen.did("prompt")] == ["hello\nyou"]  # type: ignore[attr-defined]
        composer = seen.app.query_one(Composer)
        await until(lambda: composer.text == "hello\nyou")


HOSTILE = (
    "\x1b[2J\x1b[H" + "界" * 300 + "\u202e abc",
    "\u2764\ufe0f" * 200,
    "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 60,
    "a" + "\u0301" * 3000,
    "a\tb\t" * 100,
    "x" * 20_000,
)


@pytest.mark.parametrize("said", HOSTILE)
async def test_hostile_text_draws_nothing_outside_its_box(said: str) -> None:
    text = said + " [bold]x[/bold] [@click=app.bell]y[/]"
    async with screen(asking(text), MessageChunk(text=text, message_id="m1", block_index=0)) as seen:
        await seen.sees("y or 1: Allow")
        await seen.sees("idle")
        lines = seen.text().split("\n")
        assert all(strip.cell_length == 80 for strip in seen.app.screen._compositor.render_strips())
        assert not set("\t\ufe0f\u200d") & set(seen.text())
        assert lines[0].strip().startswith("one")
        assert "Say something" in seen.text()
        assert "\x1b" not in seen.text()
        assert "\u202e" not in seen.text()


async def test_only_the_newest_page_is_asked_for_before_the_first_screen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many = [
        MessageChunk(text=f"piece {number}", message_id=f"m{number}", block_index=0) for number in range(400)
    ]
    asked: list[tuple[int, int | None]] = []
    go_on = asyncio.Event()
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "one", made([asking("old request"), *many]), pending=1)
        async with connect(where.url) as client:
            events, follow = client.events, client.follow

            async def held(session: str, *, after: int, before: int, epoch: str) -> EventsPage:
                asked.append((after, before))
                await go_on.wait()
                return await events(session, after=after, before=before, epoch=epoch)

            def followed(session: str, cursor: Cursor) -> Following:
                asked.append((cursor.seq, None))
                return follow(session, cursor)

            monkeypatch.setattr(client, "events", held)
            monkeypatch.setattr(client, "follow", followed)
            app = Attached(client, "one")
            async with app.run_test(size=(80, 24)) as pilot:
                seen = Screen(where, app, pilot)
                await seen.sees("piece 399")
                assert asked[0] == (401 - PAGE, None)
                assert "old request" not in seen.text()
                go_on.set()
                await seen.sees("old request")
                assert asked[1:] == [(0, 402 - PAGE)]


@pytest.mark.long
async def test_a_long_log_opens_at_its_end_and_finds_what_waits_far_before() -> None:
    many = [
        MessageChunk(text=f"piece {number}", message_id=f"m{number}", block_index=0) for number in range(900)
    ]
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "one", made([asking("old request"), *many]), pending=1)
        async with connect(where.url) as client:
            app = Attached(client, "one")
            async with app.run_test(size=(80, 30)) as pilot:
                seen = Screen(where, app, pilot)
                await seen.sees("piece 899")
                await seen.sees("old request")
                assert "text:m0:0" not in app.conversation.rows
                while app._first > 1:
                    first = app._first
                    app.query_one("#conversation").scroll_home(animate=False)
                    await pilot.pause()
                    await pilot.press("pageup")
                    await until(partial(_has_loaded, app, first))
                assert "text:m0:0" in app.conversation.rows


def _message(number: int) -> MessageChunk:
    return MessageChunk(
        text="\n\n".join([f"piece {number}", *["more"] * 99]), message_id=f"m{number}", block_index=0
    )


def _lines(app: Attached) -> int:
    return app.query_one("#conversation").virtual_size.height


async def test_a_long_stream_leaves_what_is_near_the_screen_and_the_rest_is_loaded_on_the_way_back() -> None:
    async with screen(_message(0)) as seen:
        await seen.sees("more")
        lines = seen.app._widgets["text:m0:0"]._styles_cache
        assert lines._cache
        for number in range(1, 12):  # each is 200 lines
            await show(seen.where, "one", made([_message(number)]))
            await until(lambda key=f"text:m{number}:0": key in seen.app._widgets)  # type: ignore[misc]  # bound now
            await seen.pilot.pause()
        app = seen.app
        await until(
            lambda: (
                len(app.query(Said)) == len(app._widgets) == len(app.conversation.rows) < 6
                and _lines(app) >= LINES
            )
        )
        assert not lines._cache

        first = seen.app._first
        seen.app.query_one("#conversation").scroll_home(animate=False)
        await seen.pilot.pause()
        await seen.pilot.press("pageup")
        await until(partial(_has_loaded, seen.app, first))
        await until(lambda: "text:m0:0" in seen.app._widgets)
        assert list(seen.app.conversation.rows) == [f"text:m{number}:0" for number in range(12)]
        await until(lambda: seen.app._most == _lines(seen.app) + LINES)
        assert len(seen.app.query(Said)) == 12


async def test_a_text_that_comes_in_pieces_looks_as_one_that_came_whole() -> None:
    said = "I look **first**.\n\n## Found\n\n- one\n- [two](https://example.org)\n\n```python\nprint(1)\n```\n\nThat is all."
    pieces = [said[at : at + 20] for at in range(0, len(said), 20)]
    end = Complete(data=CompleteData(is_error=False, outcome="completed"))

    def lines(seen: Screen) -> list[str]:
        """What stands from the text to the end of the turn, with the empty lines around it."""
        found = [line.rstrip(" ▁▂▃▄▅▆▇█") for line in seen.text().splitlines()]
        return found[1 : found.index(" Done") + 1]

    async with screen(UserMessage(uuid="u1", text="look"), size=(80, 40)) as streamed:
        for piece in pieces:
            await show(
                streamed.where, "one", made([MessageChunk(text=piece, message_id="m1", is_delta=True)])
            )
            await until(lambda: streamed.app.query(Words))
        await streamed.sees("That is all.")
        assert streamed.app.query(Words)
        await show(streamed.where, "one", made([end]))
        await streamed.sees("Done")
        await until(lambda: not streamed.app.query(Words))
        whole = MessageChunk(text=said, message_id="m1")
        async with screen(UserMessage(uuid="u1", text="look"), whole, end, size=(80, 40)) as at_once:
            await at_once.sees("Done")
            try:
                await until(lambda: lines(streamed) == lines(at_once))
            except TimeoutError:
                pytest.fail(f"the screens differ:\n{streamed.text()}\n{at_once.text()}")
            assert lines(at_once)[-3:] == [" That is all.", "", " Done"]


async def test_a_recording_looks_like_itself() -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "one", entries("perm-allow"))
        async with connect(where.url) as client:
            app = Attached(client, "one")
            async with app.run_test(size=(100, 40)) as pilot:
                seen = Screen(where, app, pilot)
                await seen.sees("✓ touch made.txt")
                await pilot.press("f3", "enter")
                await seen.sees("made")


@pytest.mark.usefixtures("_quick")
async def test_a_form_of_an_mcp_server_is_filled_in_and_shown_before_it_is_sent() -> None:
    schema = {
        "properties": {
            "sure": {"type": "boolean"},
            "age": {"type": "integer", "description": "In years"},
            "note": {"type": "string"},
        },
        "required": ["age"],
    }
    form = {"type": "question_request", "pending_id": "q1", "kind": "elicitation", "requested_schema": schema}
    async with screen(msgspec.convert(form, QuestionRequest)) as seen:
        await seen.sees("sure (1 of 3)")
        await seen.pilot.press("f2")
        panel = seen.app.query_one(panels.Asked)
        await until(lambda: panel._gate.armed)
        await seen.pilot.press("1")
        await seen.sees("In years")
        await until(lambda: panel._gate.armed)
        await seen.pilot.press("enter", "tab", *"old", "enter")
        await seen.sees("give a whole number")
        await seen.pilot.press(*["backspace"] * 3, "7", "enter")
        await seen.sees("note (3 of 3)")
        await until(lambda: panel._gate.armed)
        await seen.pilot.press("enter")
        await seen.sees("y: send it")
        assert not seen.did("question.answer")
        await until(lambda: panel._gate.armed)
        await seen.pilot.press("y")
        await until(lambda: seen.did("question.answer"))
        assert [one.content for one in seen.did("question.answer")] == [{"sure": True, "age": 7}]  # type: ignore[attr-defined]


async def _one_hit(_: AnyCommand) -> JsonValue:
    await asyncio.sleep(0)
    hit: JsonValue = {
        "source": "live", "id": "one", "message": None, "seq": 6, "kind": "text", "title": None, "folder": None,
        "at": None, "snippet": [],
    }  # fmt: skip
    return {"hits": [hit], "complete": True}


async def test_words_are_found_in_the_whole_log() -> None:
    said = ["needle" if number == 5 else f"piece {number}" for number in range(400)]
    many = [MessageChunk(text=text, message_id=f"m{at}", block_index=0) for at, text in enumerate(said)]
    async with screen(*many) as seen:
        seen.where.host.handlers["library.search"] = _one_hit
        await seen.sees("piece 399")
        await seen.pilot.press("ctrl+f", *"needle", "enter")
        await until(lambda: "text:m5:0" in seen.app.conversation.rows)
        await seen.sees("needle")
        await seen.pilot.press("ctrl+f", *"nothing", "enter")
        await seen.sees("Not found in this session")


async def test_f8_sends_a_prompt_for_the_time_after_the_turn() -> None:
    async def taken(command: AnyCommand) -> JsonValue:
        return {"prompt": command.id}

    async with screen() as seen:
        seen.where.host.handlers["prompt"] = taken
        await seen.pilot.press("f8", *"now", "enter", *"later", "f8")
        await until(lambda: len(seen.did("prompt")) == 2)
        sent = [(one.text, one.priority) for one in seen.did("prompt")]  # type: ignore[attr-defined]
        assert sent == [("now", "next"), ("later", "later")]
        assert not seen.app.query_one(Composer).text


async def test_a_prompt_that_waits_is_shown_by_its_text_before_it_is_served() -> None:
    async with screen(Queued(position=1, prompt="u1", text="hello")) as seen:
        await seen.sees("1 waiting: hello")


@pytest.mark.parametrize("waits", [True, False])
async def test_f6_brings_a_prompt_back_only_if_it_still_waits(waits: bool) -> None:
    async def withdrawn(_: AnyCommand) -> JsonValue:
        return {"withdrawn": waits}

    async with screen(UserMessage(text="hello", uuid="u1"), Queued(position=1, prompt="u1")) as seen:
        await seen.sees("1 waiting: hello")
        seen.where.host.handlers["prompt.withdraw"] = withdrawn
        await seen.pilot.press("f6")
        if waits:
            await seen.sees("│ hello ")
        else:
            await seen.sees("This prompt does not wait any more")
            assert not seen.app.query_one(Composer).text
        assert [one.prompt for one in seen.did("prompt.withdraw")] == ["u1"]  # type: ignore[attr-defined]


async def test_the_prompt_has_the_keys_before_a_request_that_ended_is_taken_off_the_screen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with screen(asking("npm publish")) as seen:
        await seen.sees("y or 1: Allow")
        await seen.pilot.press("f2")
        panel = seen.app.query_one(panels.Decision)
        assert seen.app.focused is panel
        remove, had_keys = panel.remove, []

        def removed() -> AwaitRemove:
            had_keys.append(seen.app.focused)
            return remove()

        monkeypatch.setattr(panel, "remove", removed)
        await show(seen.where, "one", made([PermissionCancelled(pending_id="p1")]))
        await until(lambda: not seen.app.query("#decision"))
        assert had_keys == [seen.app.query_one(Composer)]
        assert seen.app.focused is had_keys[0]


async def test_a_long_title_leaves_the_state_and_the_mode_in_sight() -> None:
    mode = SessionMode(current_mode_id="bypassPermissions")
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "one", made([mode]), title="A title " * 30)
        async with connect(where.url) as client, Attached(client, "one").run_test(size=(80, 24)) as pilot:
            assert isinstance(pilot.app, Attached)
            seen = Screen(where, pilot.app, pilot)
            await seen.sees("idle  bypassPermissions")
            assert "…" in seen.text().split("\n")[0]


async def test_keys_are_told_and_the_session_goes_on_when_it_is_left() -> None:
    async with screen(MessageChunk(text="needle", message_id="m1", block_index=0)) as seen:
        await seen.sees("needle")
        await seen.pilot.press("f1")
        await seen.pilot.pause()
        await seen.sees("new line")
        await seen.pilot.press("escape")
        await seen.pilot.press("ctrl+b", "d")
        await until(lambda: seen.app.return_value == "one")
        assert not seen.where.host.commands


def test_ticks_are_a_second() -> None:
    assert pytest.approx(1) == deciding.TICK_S * deciding.ARMED_AFTER


async def test_keys_that_come_in_the_same_instant_as_f2_go_to_the_request() -> None:
    async with screen(asking("npm publish")) as seen:
        await seen.sees("y or 1: Allow")
        for key in ("a", "f2", "x", "z"):
            seen.app.post_message(Key(key, key if len(key) == 1 else None))
        await seen.pilot.pause()
        assert seen.app.query_one(Composer).text == "a"
        assert seen.app.focused is seen.app.query_one(panels.Decision)


@pytest.mark.usefixtures("_quick")
async def test_a_key_that_comes_in_the_same_instant_as_the_escape_that_leaves_a_request_decides_nothing() -> (
    None
):
    async with screen(asking("npm publish")) as seen:
        await seen.sees("y or 1: Allow")
        await seen.pilot.press("f2")
        panel = seen.app.query_one(panels.Decision)
        await until(lambda: panel._gate.armed)
        for key in ("escape", "y"):
            seen.app.post_message(Key(key, key if len(key) == 1 else None))
        await until(lambda: seen.app.focused is seen.app.query_one(Composer))
        assert not seen.did("permission.respond")


USED: dict[str, JsonValue] = {
    "answers": 2,
    "input_tokens": 10,
    "output_tokens": 2_000,
    "cache_read_input_tokens": 1_000_000,
    "cache_creation_input_tokens": 0,
    "estimated_usd": 0.0,
}


async def _two_days(_: AnyCommand) -> JsonValue:
    days: list[JsonValue] = [
        {**USED, "group": {"day": "2026-01-01"}, "cost_usd": 1.5, "cost_is_whole": True},
        {**USED, "group": {"day": "2026-01-02"}, "cost_usd": 2.5, "cost_is_whole": False},
        {**USED, "group": {"day": None}, "cost_usd": None, "cost_is_whole": False},
    ]
    return {"usage": days, "complete": False}


async def test_f7_shows_what_was_used() -> None:
    done = Complete(
        data=CompleteData(outcome="completed", is_error=False, cost_usd=0.25, input_tokens=7, output_tokens=3)
    )
    context = ContextWindow(context_window_size=200_000, context_window_used=1_234)
    async with screen(done, context) as seen:
        seen.where.host.handlers["library.usage"] = _two_days
        await until(lambda: seen.app.conversation.facts.context is not None)
        await seen.pilot.press("f7")
        await seen.sees("Context        1,234 of 200,000 tokens")
        await seen.sees("The last turn  7 tokens in, 3 out, $0.25")
        await seen.sees("2026-01-02       1,000,010       2,000       2.50+")
        await seen.sees("unknown          1,000,010       2,000     unknown")
        await seen.sees("Not all conversations are read yet.")
        lines = seen.text()
        assert lines.index("2026-01-02") < lines.index("2026-01-01")
        await seen.pilot.press("f7")
        await until(lambda: "All conversations" not in seen.text())


async def _no_history(_: AnyCommand) -> JsonValue:
    raise CommandRefused("no_history", "the setting `history` is off")


async def test_f7_says_why_the_hub_does_not_tell_what_was_used() -> None:
    async with screen() as seen:
        seen.where.host.handlers["library.usage"] = _no_history
        await seen.pilot.press("f7")
        await seen.sees("the setting `history` is off")
        await seen.sees("Nothing is known yet.")


async def test_images_and_documents_are_named() -> None:
    parts = [
        ContentPart(type="image", media_type="image/png", size=12_345),
        ContentPart(type="document", media_type="application/pdf", title="a\x1b[2Jb.pdf"),
        ContentPart(type="image"),
    ]
    async with screen(
        UserMessage(text="look", parts=parts), MessageChunk(text="here", parts=parts[:1]), size=(120, 24)
    ) as seen:
        await seen.sees("> look  [image/png (12 kB), a⟨U+001B⟩[2Jb.pdf (application/pdf), image]")
        await seen.sees("here")
        assert seen.text().count("image/png (12 kB)") == 2


@asynccontextmanager
async def cut_off(text: str = "hello") -> AsyncIterator[tuple[Screen, list[str], asyncio.Event]]:
    """A prompt was sent, and the connection broke before its reply; yields the ids of the prompts, and what lets the next be answered."""
    async with screen() as seen:
        answered, ids = asyncio.Event(), []

        async def say(command: AnyCommand) -> JsonValue:
            ids.append(command.id)
            await answered.wait()
            return {"prompt": command.id}

        seen.where.host.handlers["prompt"] = say
        await seen.pilot.press(*text, "enter")
        await until(lambda: ids)
        seen.app._client._ready.result().transport.abort()
        composer = seen.app.query_one(Composer)
        await until(lambda: composer.text == text)
        await until(lambda: seen.app._client.is_connected)
        yield seen, ids, answered
        answered.set()


async def test_a_text_that_comes_back_has_the_cursor_at_its_end() -> None:
    async with cut_off() as (seen, _, _):
        await seen.pilot.press("!")
        assert seen.app.query_one(Composer).text == "hello!"
        await seen.pilot.press("ctrl+u")
        assert not seen.app.query_one(Composer).text


@pytest.mark.parametrize("kind", ["said", "waits", "served"])
async def test_a_prompt_whose_reply_was_lost_leaves_the_field_once_the_log_shows_it(kind: str) -> None:
    async with cut_off() as (seen, ids, _):
        arrivals: dict[str, AgentEvent] = {
            "said": UserMessage(text="hello", uuid=ids[0]),
            "waits": Queued(position=1, prompt=ids[0]),
            "served": TurnStarted(origin="user", prompts=[ids[0]]),
        }
        await seen.where.journal.append(
            "one", made([UserMessage(text="hello", uuid="another"), arrivals[kind]])
        )
        await until(lambda: not seen.app.query_one(Composer).text)
        await seen.pilot.press(*"next", "enter")
        await until(lambda: len(ids) == 2)
        assert ids[1] != ids[0]
        assert [one.text for one in seen.did("prompt")] == ["hello", "next"]  # type: ignore[attr-defined]


async def test_what_the_person_has_changed_stays_when_the_log_shows_the_prompt() -> None:
    async with cut_off() as (seen, ids, _):
        await seen.pilot.press("!")
        await seen.where.journal.append("one", made([UserMessage(text="it-arrived", uuid=ids[0])]))
        await seen.sees("it-arrived")
        await until(lambda: seen.app._attempt is None)
        assert seen.app.query_one(Composer).text == "hello!"


async def test_a_prompt_that_is_sent_again_as_it_was_keeps_its_uuid() -> None:
    async with cut_off() as (seen, ids, answered):
        answered.set()
        await seen.pilot.press("enter")
        await until(lambda: len(ids) == 2)
        assert ids[0] == ids[1]
