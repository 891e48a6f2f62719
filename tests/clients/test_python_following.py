"""Which frames the Python client takes, and from where it asks again."""

import asyncio

import pytest

from turnwire.client import (
    BEGINNING,
    CaughtUp,
    Cursor,
    EventFrame,
    Following,
    Gap,
    ProtocolError,
    TurnwireError,
)
from turnwire.client.events import MessageChunk
from turnwire.client.following import HOLES, Subscription
from turnwire.client.frames import GapFrame


def event(seq: int) -> EventFrame:
    return EventFrame(
        session="s", seq=seq, ts="2026-01-02T03:04:05.000000Z", event=MessageChunk(text=str(seq))
    )


def gap(first: int, last: int, epoch: str = "e") -> GapFrame:
    return GapFrame(session="s", first=first, last=last, epoch=epoch)


def subscribe(made: Following, *others: Following, cursor: Cursor | None = None, last: int = 0) -> None:
    """Have the hub grant a subscription, from this following's place, or from another one."""
    subscription = asked(made, *others, cursor=cursor)
    for one in subscription.followings:
        one.on_subscribed(subscription, "e", last)


def asked(made: Following, *others: Following, cursor: Cursor | None = None) -> Subscription:
    subscription = Subscription(cursor or made.next, (made, *others))
    for one in subscription.followings:
        one.on_subscribe(subscription)
    return subscription


def following(after: Cursor = BEGINNING) -> Following:
    made = Following("s", after, ask=lambda _: None, leave=lambda _: None)
    subscribe(made)
    return made


async def test_events_come_once_in_order_with_their_cursor() -> None:
    follow = following()
    for frame in (event(1), event(1), event(2), CaughtUp(session="s", seq=2), event(2), event(3)):
        assert follow.on_frame(frame)
    got = [await anext(follow) for _ in range(4)]
    assert got == [event(1), event(2), CaughtUp(session="s", seq=2), event(3)]
    assert follow.cursor == Cursor("e", 3)


async def test_a_hole_is_asked_for_again_and_not_passed_on() -> None:
    follow = following()
    assert follow.on_frame(event(1))
    assert not follow.on_frame(event(3))
    assert follow.next == Cursor("e", 1)
    subscription = asked(follow)
    assert follow.on_frame(event(4)), (
        "what comes before the new subscription is confirmed belongs to the old one"
    )
    follow.on_subscribed(subscription, "e", 5)
    assert follow.on_frame(event(2))
    assert [await anext(follow), await anext(follow)] == [event(1), event(2)]


async def test_a_hole_that_stays_is_the_hubs_fault() -> None:
    follow = following()
    for _ in range(HOLES):
        assert not follow.on_frame(event(9))
        subscribe(follow)
    assert not follow.on_frame(event(9))
    with pytest.raises(ProtocolError, match="from 9 again and again, not what follows 0"):
        await anext(follow)


async def test_a_gap_is_given_with_the_cursor_behind_it() -> None:
    follow = following(Cursor("e", 5))
    assert follow.on_frame(gap(6, 9))
    assert follow.on_frame(gap(1, 10, "f"))
    assert follow.on_frame(event(1))
    assert await anext(follow) == Gap("s", 6, 9, "e", restarted=False)
    assert follow.cursor == Cursor("e", 9)
    assert await anext(follow) == Gap("s", 1, 10, "f", restarted=True)
    assert follow.cursor == Cursor("f", 0)
    assert await anext(follow) == event(1)


async def test_a_slow_consumer_holds_a_bounded_number_and_asks_again_when_it_has_caught_up() -> None:
    wanted: list[str] = []
    held = 64
    follow = Following("s", ask=wanted.append, leave=lambda _: None, held=held)
    subscribe(follow)
    for seq in range(1, held):
        assert follow.on_frame(event(seq))
    assert not follow.on_frame(event(held))
    assert follow.state == "full"
    assert follow.on_frame(event(held + 1)), "dropped: it will be asked for again"
    for seq in range(1, held + 1):
        assert await anext(follow) == event(seq)
    assert (wanted, follow.next) == (["s"], Cursor("e", held))


async def test_a_failure_and_an_end_come_after_what_is_held() -> None:
    follow = following()
    follow.on_frame(event(1))
    follow.fail(TurnwireError("gone"))
    assert await anext(follow) == event(1)
    with pytest.raises(TurnwireError, match="gone"):
        await anext(follow)
    ended = following()
    waiting = asyncio.create_task(anext(ended, None))
    await asyncio.sleep(0)
    ended.close()
    assert await waiting is None
