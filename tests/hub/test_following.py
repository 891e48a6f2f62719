"""Which frames the Python client takes, and from where it asks again."""

import asyncio

import pytest

from hub.following import HELD, Following
from hub.reading import read_frame
from hub.wire.frames_out import CaughtUp, EventFrame, EventsFrame, GapFrame
from normalize.events import MessageChunk, Unknown
from normalize.events.envelope import Cursor


def event(seq: int) -> EventFrame:
    return EventFrame(
        session="s", seq=seq, ts="2026-01-02T03:04:05.000000Z", event=MessageChunk(text=str(seq))
    )


def gap(first: int, last: int, epoch: str = "e") -> GapFrame:
    return GapFrame(session="s", first=first, last=last, epoch=epoch)


BEGINNING = Cursor("", 0)


def following(after: Cursor = BEGINNING) -> Following:
    made = Following("s", after, lambda _: None)
    made.asked()
    made.confirmed("e")
    return made


async def test_events_come_once_in_order_with_their_cursor() -> None:
    follow = following()
    for frame in (event(1), event(1), event(2), CaughtUp(session="s", seq=2), event(2), event(3)):
        assert follow.take(frame)
    got = [await anext(follow) for _ in range(4)]
    assert got == [event(1), event(2), CaughtUp(session="s", seq=2), event(3)]
    assert follow.cursor == Cursor("e", 3)


async def test_a_hole_is_asked_for_again_and_not_passed_on() -> None:
    follow = following()
    assert follow.take(event(1))
    assert not follow.take(event(3))
    assert follow.next == Cursor("e", 1)
    follow.asked()
    assert follow.take(event(4)), "what comes before the new subscription is confirmed belongs to the old one"
    follow.confirmed("e")
    assert follow.take(event(2))
    assert [await anext(follow), await anext(follow)] == [event(1), event(2)]


async def test_a_gap_made_by_retention_moves_on_and_one_of_a_new_life_starts_anew() -> None:
    follow = following(Cursor("e", 5))
    assert follow.take(gap(6, 9))
    assert not follow.take(event(11))
    assert follow.take(event(10))
    assert follow.take(gap(1, 10, "f"))
    assert follow.take(event(1))
    assert follow.take(event(2))
    assert follow.next == Cursor("f", 2)


async def test_a_slow_consumer_holds_a_bounded_number_and_asks_again_when_it_has_caught_up() -> None:
    asked: list[Cursor] = []
    follow = Following("s", Cursor("", 0), lambda of: asked.append(of.next))
    follow.asked()
    follow.confirmed("e")
    for seq in range(1, HELD):
        assert follow.take(event(seq))
    assert not follow.take(event(HELD))
    assert follow.state == "full"
    assert follow.take(event(HELD + 1)), "dropped: it will be asked for again"
    for seq in range(1, HELD + 1):
        assert await anext(follow) == event(seq)
    assert asked == [Cursor("e", HELD)]


async def test_a_failure_and_an_end_come_after_what_is_held() -> None:
    follow = following()
    follow.take(event(1))
    follow.fail(ValueError("gone"))
    assert await anext(follow) == event(1)
    with pytest.raises(ValueError, match="gone"):
        await anext(follow)
    ended = following()
    waiting = asyncio.create_task(anext(ended, None))
    await asyncio.sleep(0)
    ended.close()
    assert await waiting is None


def test_an_event_of_a_kind_this_version_does_not_know_is_still_an_event() -> None:
    new = '{"type":"event","session":"s","seq":4,"ts":"t","event":{"type":"from_the_future","x":1}}'
    frame = read_frame(new)
    assert isinstance(frame, EventFrame)
    assert frame.seq == 4
    assert frame.event == Unknown(message_type="from_the_future", raw='{"type": "from_the_future", "x": 1}')
    many = read_frame(f'{{"type":"events","events":[{new}]}}')
    assert many is not None
    assert isinstance(many, EventsFrame)
    assert read_frame('{"type":"from_the_future"}') is None
    assert read_frame("[]") is None
