"""What waits to be sent is bounded, nobody waits for the receiver, and what is lost is counted."""

import threading
from collections.abc import Sequence

import pytest

from tracing.outbox import Outbox

DEADLINE = 30.0


class Receiver:
    """Takes batches while it is open."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.open.set()
        self.entered = threading.Event()
        self.taken: list[int] = []
        self.failure: str | None = None

    def send(self, batch: Sequence[int]) -> str | None:
        self.entered.set()
        assert self.open.wait(DEADLINE)
        if self.failure is None:
            self.taken += batch
        return self.failure


def outbox(receiver: Receiver, *, room: int = 8, batch: int = 4) -> Outbox[int]:
    return Outbox("numbers", receiver.send, room=room, batch=batch, delay_s=0.01)


def test_everything_arrives_once_and_in_order() -> None:
    receiver = Receiver()
    box = outbox(receiver, room=1000)
    for start in range(0, 100, 10):
        box.put(range(start, start + 10))
    assert box.close(DEADLINE)
    assert receiver.taken == list(range(100))
    assert box.lost == 0


def test_what_does_not_fit_is_lost_and_counted_and_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    receiver = Receiver()
    receiver.open.clear()
    box = outbox(receiver)
    box.put([1, 2, 3, 4])
    assert receiver.entered.wait(DEADLINE)  # it holds the first batch, and does not let go of it
    for number in range(5, 105):
        box.put([number])
    assert box.lost == 100 - 8
    receiver.open.set()
    assert box.close(DEADLINE)
    assert receiver.taken == list(range(1, 13))
    assert capsys.readouterr().out.count("cannot be sent") == 1


def test_a_receiver_that_never_answers_does_not_hold_up_the_end() -> None:
    receiver = Receiver()
    receiver.open.clear()
    box = outbox(receiver)
    box.put([1, 2, 3, 4, 5])
    assert receiver.entered.wait(DEADLINE)
    assert not box.close(0.01)
    assert box.lost == 5
    receiver.open.set()


def test_what_the_receiver_refuses_is_lost_and_it_is_asked_again(capsys: pytest.CaptureFixture[str]) -> None:
    receiver = Receiver()
    receiver.failure = "no such door"
    box = outbox(receiver)
    box.put([1, 2, 3, 4])
    assert receiver.entered.wait(DEADLINE)
    box.put_all([5, 6, 7, 8])
    assert box.close(DEADLINE)
    assert box.lost == 8
    assert "no such door" in capsys.readouterr().out


def test_whoever_can_wait_loses_nothing() -> None:
    receiver = Receiver()
    box = outbox(receiver, room=4, batch=4)
    box.put_all(range(1000))
    assert box.close(DEADLINE)
    assert receiver.taken == list(range(1000))
    assert box.lost == 0
