"""Who has a place, who loses one, and for whom the last ones are."""

import logging
from dataclasses import dataclass, field

import pytest

from turnwire.hub.config import Limits
from turnwire.hub.server.connection_limit import ConnectionLimit
from turnwire.hub.server.refusals import LOG_EVERY_S, Refusals


@dataclass(eq=False)
class Peer:
    limit: ConnectionLimit
    dropped: list[str] = field(default_factory=list)

    def drop(self, reason: str) -> None:
        self.dropped.append(reason)
        self.limit.leave(self)


def limited(**limits: int) -> ConnectionLimit:
    return ConnectionLimit(Limits.model_validate(limits))


def entered(limit: ConnectionLimit, count: int, place: str) -> list[Peer]:
    peers = [Peer(limit) for _ in range(count)]
    assert all(limit.enter(peer, place) for peer in peers)
    return peers


def test_an_address_with_its_share_gives_up_its_oldest_and_no_other_address_does() -> None:
    limit = limited(newcomers=10, newcomers_per_address=3)
    (honest,) = entered(limit, 1, "192.0.2.1")
    flood = entered(limit, 100, "192.0.2.6")
    assert len(limit) == 4
    assert [bool(peer.dropped) for peer in flood] == [True] * 97 + [False] * 3
    assert not honest.dropped


def test_when_all_places_of_newcomers_are_taken_the_address_with_most_gives_up_its_oldest() -> None:
    limit = limited(newcomers=6, newcomers_per_address=4)
    few, most = entered(limit, 2, "192.0.2.1"), entered(limit, 4, "192.0.2.6")
    late = entered(limit, 1, "192.0.2.2")
    assert [len(peer.dropped) for peer in (*few, *most, *late)] == [0, 0, 1, 0, 0, 0, 0]
    assert len(limit) == 6


def test_those_who_have_shown_a_token_lose_no_place_to_newcomers() -> None:
    limit = limited(connections=8, newcomers=4)
    members = entered(limit, 4, "192.0.2.1")
    assert all(limit.admit(peer, "control") for peer in members)
    flood = entered(limit, 50, "192.0.2.6")
    assert len(limit) == 8
    assert not any(peer.dropped for peer in members)
    assert all(limit.admit(peer, "control") for peer in flood[-4:])
    assert not limit.enter(Peer(limit), "192.0.2.7")


def test_the_last_eighth_is_for_the_role_control() -> None:
    limit = limited(connections=16)
    peers = entered(limit, 16, "192.0.2.1")
    assert [limit.admit(peer, "view") for peer in peers[:15]] == [True] * 14 + [False]
    assert limit.admit(peers[15], "control")
    assert limit.admit(peers[0], "control")
    assert limit.admit(peers[14], "view")
    for peer in peers:
        limit.leave(peer)
    assert len(limit) == 0


def test_a_proxys_connections_have_the_share_of_the_client_it_names() -> None:
    limit = limited(newcomers=100, newcomers_per_address=2)
    peers = [Peer(limit) for _ in range(10)]
    assert all(limit.enter(peer, "10.0.0.1", shared=True) for peer in peers)
    assert not any(peer.dropped for peer in peers)
    for peer in peers[:5]:
        limit.move(peer, "192.0.2.6")
    limit.move(peers[9], "192.0.2.1")
    assert [bool(peer.dropped) for peer in peers] == [True] * 3 + [False] * 7
    gone = Peer(limit)
    limit.move(gone, "192.0.2.1")
    assert len(limit) == 7


def test_a_flood_of_refusals_is_logged_once_a_minute_and_counted_whole(
    caplog: pytest.LogCaptureFixture,
) -> None:
    refusals = Refusals()
    caplog.set_level(logging.INFO, "turnwire")
    for number in range(1000):
        refusals.add("crowded", "192.0.2.6", number * 0.01)
    refusals.add("tls", "192.0.2.7", 11)
    refusals.add("crowded", "192.0.2.8", LOG_EVERY_S)
    shown = [vars(record) for record in caplog.records]
    assert [(line["levelname"], line["reason"], line["count"], line["last_address"]) for line in shown] == [
        ("WARNING", "crowded", 1, "192.0.2.6"),
        ("INFO", "tls", 1, "192.0.2.7"),
        ("WARNING", "crowded", 1000, "192.0.2.8"),
    ]
    assert refusals.counts == {"crowded": 1001, "tls": 1}
