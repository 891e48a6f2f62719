"""What a session's record keeps, read whatever it holds."""

from dataclasses import replace

import pytest

from turnwire.journal.sessions import SessionRecord
from turnwire.sessions.records.options import RecordOptions, with_options

FRESH = SessionRecord(session="s", created="")
FULL = RecordOptions(
    agent_options={"effort": "low"},
    mcp_servers={"calc": {"command": "calc"}},
    going={"resume": "c"},
    origin={},
    attached=2,
    conversation="c",
    reading=True,
    claim={"conversation": "c"},
    believed=False,
    shared=True,
)


def test_options_are_read_as_they_were_kept() -> None:
    assert RecordOptions.from_record(FRESH) == RecordOptions()
    assert RecordOptions.from_record(FULL.put(FRESH)) == FULL
    assert FULL.put(FRESH).options.keys() == {
        *("agent_options", "mcp_servers", "going", "origin", "attached", "conversation", "reading"),
        *("claim", "believed", "shared"),
    }


def test_a_change_leaves_the_rest_and_what_another_version_keeps() -> None:
    record = replace(FULL.put(FRESH), title="t", options={**FULL.put(FRESH).options, "novelty": [1]})
    changed = with_options(record, going=None, reading=False)
    assert changed.title == "t"
    assert changed.options["novelty"] == [1]
    assert {"going", "reading"}.isdisjoint(changed.options)
    assert RecordOptions.from_record(changed).mcp_servers == FULL.mcp_servers


@pytest.mark.parametrize(
    "name",
    [
        *("agent_options", "mcp_servers", "going", "origin", "attached", "conversation", "reading"),
        *("claim", "believed", "shared"),
    ],
)
@pytest.mark.parametrize("damage", [None, 7.5, "x" * 3, [1], {"a": "b"}])
def test_what_does_not_fit_counts_as_absent(name: str, damage: object) -> None:
    kept = RecordOptions.from_record(replace(FRESH, options={name: damage}))
    if damage == {"a": "b"} and name in ("agent_options", "going", "origin", "claim"):
        assert getattr(kept, name) == damage
    elif damage == "xxx" and name == "conversation":
        assert kept.conversation == damage
    else:
        assert kept == RecordOptions()
