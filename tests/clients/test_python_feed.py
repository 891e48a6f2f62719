"""The Python client's place in a log, by the table that the TypeScript client is held to as well."""

import json
from typing import Any

import pytest

from recordings import ROOT
from turnwire.client import Backoff, Cursor, Feed
from turnwire.client.frames import GapFrame

CASES = json.loads((ROOT / "clients" / "behaviour" / "feed.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["what"] for case in CASES])
def test_a_feed_says_what_is_new(case: dict[str, Any]) -> None:
    feed = Feed(Cursor(*case["after"]))
    for step in case["steps"]:
        match step:
            case {"begin": epoch}:
                feed.begin(epoch)
            case {"event": seq, "is": expected}:
                assert feed.on_number(seq) == expected
            case {"gap": [first, last, epoch], "restarted": restarted}:
                told = feed.gap(GapFrame(session="s", first=first, last=last, epoch=epoch))
                assert told is not None
                assert told.restarted is restarted
            case _:
                pytest.fail(f"no such step: {step}")
    assert feed.cursor == Cursor(*case["cursor"])


def test_waits_double_up_to_a_bound_and_begin_anew_after_a_success() -> None:
    backoff = Backoff(first=100, most=350, random=lambda: 0)
    assert [backoff.next() for _ in range(4)] == [50, 100, 175, 175]
    backoff.reset()
    assert backoff.next() == 50
