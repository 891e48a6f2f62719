"""Both clients have the hub's own vocabulary: what is generated is what the schemas and tables give."""

import re
from typing import get_args

import msgspec

from clients.generate import generated
from recordings import ROOT
from turnwire.client import codes
from turnwire.client.commands import AnyCommand, Prompt
from turnwire.client.events import AgentEvent, Complete
from turnwire.client.frames import OutFrame
from turnwire.hub.wire.codes import CLOSE_CODES, FINAL_CLOSE_CODES, REPLY_CODES

GOLDENS = sorted((ROOT / "tests" / "normalize" / "goldens").rglob("*.jsonl"))


def test_what_is_generated_is_what_the_schema_gives() -> None:
    stale = [str(path) for path, content in generated().items() if path.read_text("utf-8") != content]
    assert stale == [], "run `make client-types`"


def test_every_event_of_every_recording_is_read_whole_and_written_as_it_came() -> None:
    decoder = msgspec.json.Decoder(AgentEvent)
    lines = [line for golden in GOLDENS for line in golden.read_bytes().splitlines()]
    assert lines
    assert [line for line in lines if msgspec.json.encode(decoder.decode(line)) != line] == []


def test_a_word_that_is_new_costs_nobody_the_event_it_is_in() -> None:
    event = msgspec.json.decode(
        b'{"type":"complete","data":{"outcome":"from_the_future","is_error":false}}', type=AgentEvent
    )
    assert isinstance(event, Complete)
    assert str(event.data.outcome) == "from_the_future"


def test_a_command_leaves_out_what_is_as_it_would_be_anyway() -> None:
    assert (
        msgspec.json.encode(Prompt(session="s", text="hi")) == b'{"type":"prompt","session":"s","text":"hi"}'
    )


def test_types_are_told_by_their_tag() -> None:
    for union in (AgentEvent, OutFrame, AnyCommand):
        tags = [each.__struct_config__.tag for each in get_args(union)]
        assert len(tags) == len(set(tags)) > 1


def test_both_clients_have_the_hubs_table_of_codes() -> None:
    assert (codes.CLOSE_CODES, codes.REPLY_CODES) == (CLOSE_CODES, REPLY_CODES)
    assert codes.FINAL_CLOSE_CODES == FINAL_CLOSE_CODES
    typescript = (ROOT / "clients" / "typescript" / "src" / "codes.ts").read_text("utf-8")
    rows = dict(re.findall(r'^  (\w+): "(.*)",$', typescript, re.MULTILINE))
    assert {key: text for key, text in rows.items() if key.isdigit()} == {
        str(code): text for code, text in CLOSE_CODES.items()
    }
    assert {key: text for key, text in rows.items() if not key.isdigit()} == REPLY_CODES
    (final,) = re.findall(r"FINAL_CLOSE_CODES.* = \[(.*)\];", typescript)
    assert {int(code) for code in final.split(", ")} == set(FINAL_CLOSE_CODES)
