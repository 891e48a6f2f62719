"""Text exactly once: streamed pieces, assistant lines and results carry the same words."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.normalize.lines import (
    Talk,
    assistant,
    block_start,
    block_stop,
    delta,
    init,
    message_delta,
    message_start,
    message_stop,
    result,
    stream,
    system,
    text,
    thinking,
    thought,
    tool_use,
    user,
)
from turnwire.normalize.claude.texts import NO_CONTENT, is_blank
from turnwire.normalize.events import AgentEvent, MessageChunk, Reasoning, ToolCall
from turnwire.normalize.events.limits import ALWAYS_FITS
from turnwire.protocol.json_values import JsonObject


def streamed(*pieces: str) -> list[str]:
    return [f"message_chunk {piece}" for piece in pieces]


def test_without_partial_messages_the_line_is_the_text_and_the_result_no_news() -> None:
    talk = Talk()
    assert talk.hears(init(), assistant(text("Hello.")), result("Hello.")) == [
        "turn_started turn-1 user",
        "message_chunk Hello.",
        "complete turn-1 completed",
    ]


def test_what_was_streamed_is_not_sent_again_by_its_line() -> None:
    talk = Talk()
    talk.hears(init(), message_start(), block_start())
    assert talk.hears(delta("Hel"), delta("lo.")) == streamed("Hel", "lo.")
    assert talk.hears(assistant(text("Hello.")), block_stop(), message_stop()) == []
    assert talk.hears(result("Hello.")) == ["complete turn-1 completed"]


def test_pieces_name_their_message_and_block() -> None:
    talk = Talk()
    talk.hears(
        init(),
        message_start("m7"),
        block_start(0, thinking("")),
        thought("Hm"),
        block_start(1),
        delta("A", 1),
    )
    assert talk.last("reasoning").items() >= {"message_id": "m7", "block_index": 0, "is_delta": True}.items()
    assert (
        talk.last("message_chunk").items() >= {"message_id": "m7", "block_index": 1, "is_delta": True}.items()
    )


def test_a_line_that_knows_more_than_the_stream_adds_the_rest() -> None:
    talk = Talk()
    talk.hears(init(), message_start(), block_start(), delta("Hel"))
    assert talk.hears(assistant(text("Hello."))) == ["message_chunk lo."]


def test_a_line_that_disagrees_with_the_stream_replaces_the_block() -> None:
    talk = Talk()
    talk.hears(init(), message_start(), block_start(), delta("Hullo"))
    assert talk.hears(assistant(text("Hello."))) == ["message_chunk Hello. replace"]
    talk.hears(message_start("m2"), block_start(0, thinking("")), thought("Hum"))
    assert talk.hears(assistant(thinking("Hm"), id="m2")) == ["reasoning Hm replace"]


def test_each_block_of_a_message_is_confirmed_by_its_own_line() -> None:
    talk = Talk()
    talk.hears(init(), message_start(), block_start(0, thinking("")), thought("Hm"))
    assert talk.hears(assistant(thinking("Hm"))) == []
    talk.hears(block_stop(0), block_start(1), delta("A", 1))
    assert talk.hears(assistant(text("A"))) == []
    talk.hears(block_stop(1), block_start(2, tool_use("t")), block_start(3), delta("B", 3))
    assert talk.hears(assistant(tool_use("t"))) == ["tool_call t running"]
    assert talk.hears(assistant(text("B"))) == []
    assert talk.last("tool_call")["block_index"] == 2


def test_an_answer_whose_lines_have_ids_of_their_own_is_one_message() -> None:
    talk = Talk()
    talk.hears(init(), message_start("m1"), block_start(0, thinking("")), thought("Hm"), block_stop(0))
    assert talk.hears(assistant(thinking("Hm"), id="m1")) == []
    assert talk.hears(block_start(0), delta("An", 0), delta("swer", 0), block_stop(0)) == streamed(
        "An", "swer"
    )
    assert talk.last("message_chunk").items() >= {"message_id": "m1", "block_index": 1}.items()
    assert talk.hears(assistant(text("Answer."), id="m2")) == ["message_chunk ."]
    assert talk.last("message_chunk").items() >= {"message_id": "m1", "block_index": 1}.items()
    talk.hears(block_start(0, tool_use("t")), block_stop(0), block_start(1, tool_use("u")), block_stop(1))
    assert talk.hears(assistant(tool_use("t"), tool_use("u"), id="m3")) == [
        "tool_call t running",
        "tool_call u running",
    ]
    assert talk.last("tool_call").items() >= {"message_id": "m1", "block_index": 3}.items()
    talk.hears(message_stop())
    talk.hears(message_start("m4"), block_start(0), delta("lost", 0))
    assert talk.hears(message_start("m5")) == ["retraction ['m4']"]


@pytest.mark.parametrize("blank", ["", " ", "\n\n", "\t\u00a0\ufeff"])
def test_a_blank_block_that_gets_no_line_is_no_text(blank: str) -> None:
    talk = Talk()
    talk.hears(init(), message_start())
    assert talk.hears(block_start(0), *[delta(character, 0) for character in blank], block_stop(0)) == []
    assert talk.hears(block_start(1), delta("Ans", 1), delta("wer.", 1)) == streamed("Ans", "wer.")
    assert talk.hears(assistant(text("Answer.")), block_stop(1)) == []
    assert talk.hears(block_start(2), delta(blank or " ", 2), block_stop(2), message_stop()) == []
    assert talk.hears(message_start("m2")) == []
    assert talk.hears(result("Answer.")) == ["complete turn-1 completed"]


def test_the_line_of_a_blank_block_is_text_of_its_own() -> None:
    talk = Talk()
    talk.hears(init("1.0"), message_start(), block_start(0), delta("\n", 0))
    assert talk.hears(assistant(text("(no content)")), block_stop(0)) == ["message_chunk (no content)"]
    talk.hears(block_start(1), delta(" ", 1), block_stop(1), block_start(2), delta("\n\n", 2))
    assert talk.hears(assistant(text("\n\n"))) == ["message_chunk \n\n"]
    assert talk.last("message_chunk")["block_index"] == 2
    talk.hears(block_stop(2), block_start(3, tool_use("t")), block_stop(3))
    talk.hears(block_start(4), delta(" ", 4), block_stop(4), block_start(5, tool_use("u")), block_stop(5))
    assert talk.hears(assistant(tool_use("t")), assistant(text("(no content)"), uuid="a2")) == [
        "tool_call t running",
        "message_chunk (no content)",
    ]


@pytest.mark.parametrize("told", [NO_CONTENT, "\n\n", " "])
def test_the_line_of_a_blank_block_is_no_text_behind_what_follows_the_block(told: str) -> None:
    talk = Talk()
    talk.hears(init("2.0.42"), message_start(), block_start(0), delta("Same.", 0), block_stop(0))
    talk.hears(
        block_start(1), delta("\n", 1), delta("\n", 1), block_stop(1), block_start(2), delta("Same.", 2)
    )
    talk.hears(block_stop(2), block_start(3), delta(" ", 3), block_stop(3), block_start(4, tool_use("t")))
    talk.hears(block_stop(4))
    assert talk.hears(assistant(text("Same.")), assistant(text(told)), assistant(text("Same."))) == []
    assert talk.hears(assistant(tool_use("t")), message_delta("tool_use"), message_stop()) == [
        "tool_call t running"
    ]
    assert talk.last("tool_call")["block_index"] == 4


def test_the_line_of_a_blank_block_is_no_text_behind_a_thought() -> None:
    talk = Talk()
    talk.hears(
        init("2.0.42"), message_start(), block_start(0, thinking("")), thought("First."), block_stop(0)
    )
    talk.hears(
        block_start(1), delta("\n\n", 1), block_stop(1), block_start(2, thinking("")), thought("Second.", 2)
    )
    talk.hears(block_stop(2), block_start(3), delta("Answer.", 3), block_stop(3))
    lines = [thinking("First."), text(NO_CONTENT), thinking("Second."), text("Answer.")]
    assert talk.hears(*(assistant(block) for block in lines), message_delta("end_turn"), message_stop()) == []
    assert talk.hears(result("Answer.")) == ["complete turn-1 completed"]


def test_words_for_a_block_that_streamed_none_are_those_of_the_open_one() -> None:
    talk = Talk()
    talk.hears(init(), message_start(), block_start(0), delta(" ", 0), block_stop(0), block_start(1))
    assert talk.hears(assistant(text("Words"))) == ["message_chunk Words"]
    assert talk.last("message_chunk")["block_index"] == 1
    assert talk.hears(assistant(text("More"))) == ["message_chunk More"]
    assert talk.last("message_chunk")["block_index"] == 0


def test_the_whitespace_a_text_begins_with_comes_with_its_first_word() -> None:
    talk = Talk()
    talk.hears(init(), message_start(), block_start())
    assert talk.hears(delta("\n"), delta("\n"), delta("So"), delta("\n")) == streamed("\n\nSo", "\n")
    assert talk.hears(assistant(text("\n\nSo\n"))) == []
    talk.hears(message_start("m2"), block_start(0, thinking("")))
    assert talk.hears(thought(" "), thought("Hm")) == ["reasoning  Hm"]
    talk.hears(message_start("m3"), block_start())
    assert talk.hears(delta(" "), delta("\ud83c"), block_stop()) == ["message_chunk  \ufffd"]


def test_the_first_block_in_message_start_is_not_text() -> None:
    talk = Talk()
    talk.hears(init())
    assert talk.hears(
        message_start(content=[text("He")]), block_start(), delta("He"), delta("y")
    ) == streamed("He", "y")


def test_text_that_a_block_starts_with_counts() -> None:
    talk = Talk()
    talk.hears(init(), message_start())
    assert talk.hears(block_start(0, text("He")), delta("y")) == streamed("He", "y")
    assert talk.hears(block_start(1, thinking("Hm"))) == ["reasoning Hm"]
    assert talk.hears(assistant(text("Hey"), thinking("Hm"))) == []


def test_blocks_without_a_stream_are_counted_per_message() -> None:
    talk = Talk()
    talk.hears(init(), assistant(text("A")), assistant(tool_use("t")), assistant(text("B")))
    assert talk.last("message_chunk")["block_index"] == 2
    talk.hears(assistant(text("C"), id="m2"))
    assert talk.last("message_chunk")["block_index"] == 0


def test_a_line_with_several_blocks_gives_each_its_index() -> None:
    talk = Talk()
    talk.hears(init(), assistant(text("A"), text("B"), id=None))
    assert talk.last("message_chunk")["block_index"] == 1
    talk.hears(assistant(text("C"), id=None))
    assert talk.last("message_chunk")["block_index"] == 0


def test_a_delta_without_the_start_of_its_block_is_text_all_the_same() -> None:
    talk = Talk()
    assert talk.hears(init(), message_start(), delta("A", 4), thought("B", 5))[1:] == [
        "message_chunk A",
        "reasoning B",
    ]


def test_half_a_character_waits_for_its_other_half() -> None:
    talk = Talk()
    talk.hears(init(), message_start(), block_start())
    assert talk.hears(delta("A\ud83c"), delta("\udf89B")) == streamed("A", "🎉B")
    assert talk.hears(delta("\ud83c")) == []
    assert talk.hears(block_stop()) == ["message_chunk \ufffd"]
    assert talk.hears(assistant(text("A🎉B\ufffd"))) == []


def test_half_a_character_at_the_end_is_told_by_the_line() -> None:
    talk = Talk()
    talk.hears(init(), message_start(), block_start(), delta("A\ud83c"))
    assert talk.hears(assistant(text("A\ud83c")), block_stop()) == ["message_chunk \ufffd"]
    talk.hears(message_start("m2"), block_start(0, thinking("")))
    assert talk.hears(thought("\ud83c"), thought("\udf89")) == ["reasoning 🎉"]


def test_interrupted_text_stays_without_a_line() -> None:
    talk = Talk()
    talk.hears(init("2.1.101"), message_start(), block_start(), delta("This is"))
    assert talk.hears(
        user(text("[Request interrupted by user]")), result(None, "error_during_execution")
    ) == [
        "user_message [Request interrupted by user] synthetic",
        "complete turn-1 interrupted",
    ]
    assert talk.hears(init("2.1.101"), message_start("m2"), block_start(), delta("Next")) == [
        "turn_started turn-2 user",
        "message_chunk Next",
    ]


def test_an_aborted_line_repeats_what_was_streamed() -> None:
    talk = Talk()
    talk.hears(init(), message_start(), block_start(), delta("This is"))
    assert talk.hears(assistant(text("This is"), aborted=True)) == []


def test_a_message_that_breaks_off_is_retracted_when_another_begins() -> None:
    talk = Talk()
    talk.hears(init(), message_start("m1"), block_start(), delta("Half"))
    assert talk.hears(message_start("m2"), block_start(), delta("Whole")) == [
        "retraction ['m1']",
        "message_chunk Whole",
    ]
    talk.hears(assistant(text("Whole"), id="m2"), message_stop())
    assert talk.hears(result("Whole")) == ["complete turn-1 completed"]


def test_a_message_that_breaks_off_is_retracted_when_a_line_of_another_comes() -> None:
    talk = Talk()
    talk.hears(init(), message_start("m1"), block_start(), delta("Half"))
    assert talk.hears(assistant(text("API Error"), id="x", model="<synthetic>")) == [
        "retraction ['m1']",
        "message_chunk API Error synthetic",
    ]


def test_only_the_unfinished_blocks_of_a_broken_message_go() -> None:
    talk = Talk()
    talk.hears(init(), message_start("m1"), block_start(), delta("Whole."), assistant(text("Whole.")))
    talk.hears(block_stop(), block_start(1), delta("Hal", 1), block_start(2, thinking("")), thought("H", 2))
    assert talk.hears(message_start("m2")) == ["message_chunk  replace", "reasoning  replace"]


def test_the_result_speaks_when_what_was_streamed_was_withdrawn() -> None:
    talk = Talk()
    talk.hears(init(), message_start("m1"), block_start(), delta("Half"), message_start("m2"), message_stop())
    assert talk.hears(result("All I have")) == [
        "message_chunk All I have result",
        "complete turn-1 completed",
    ]


def test_a_message_that_stopped_is_never_withdrawn() -> None:
    talk = Talk()
    talk.hears(init(), message_start("m1"), block_start(), delta("A"), message_delta(), message_stop())
    assert talk.hears(message_start("m2"), message_stop(), result("?")) == ["complete turn-1 completed"]


def test_thinking_that_broke_off_goes_when_another_message_begins() -> None:
    talk = Talk()
    talk.hears(
        init(), message_start("m1"), block_start(0, thinking("")), thought("I begin to"), message_stop()
    )
    assert talk.hears(assistant(thinking("I think again."), id="m2")) == [
        "retraction ['m1']",
        "reasoning I think again.",
    ]


def test_text_that_broke_off_stays_when_the_turn_ends_with_it() -> None:
    talk = Talk()
    talk.hears(init(), message_start("m1"), block_start(), delta("Half"), message_stop())
    assert talk.hears(result("Half")) == ["complete turn-1 completed"]


@pytest.mark.parametrize("said", [None, "", "First."])
def test_a_message_that_broke_off_behind_a_tool_and_got_no_line_is_retracted_with_its_turn(
    said: str | None,
) -> None:
    talk = Talk()
    talk.hears(init("2.0.42"), message_start("m1"), block_start(), delta("First."), block_stop())
    talk.hears(assistant(text("First.")), message_delta("end_turn"), message_stop())
    talk.hears(message_start("m2"), block_start(), delta("I run it now."), block_stop())
    talk.hears(block_start(1, tool_use("t")), block_stop(1))
    assert talk.hears(result(said)) == ["retraction ['m2']", "complete turn-1 completed"]


def test_abandoned_blocks_are_emptied() -> None:
    talk = Talk()
    talk.hears(init(), message_start(), block_start(), delta("Whole."), assistant(text("Whole.")))
    talk.hears(block_start(1), delta("Hal", 1))
    stop = message_stop(abandoned_blocks={"api_message_id": "m1", "from_block_index": 1})
    assert talk.hears(stop) == ["message_chunk  replace"]


def test_what_was_whole_before_the_abandoned_blocks_stays_and_its_line_says_nothing_new() -> None:
    talk = Talk()
    talk.hears(init(), message_start(), block_start(), delta("Whole."), block_start(1), delta("Hal", 1))
    stop = message_stop(abandoned_blocks={"api_message_id": "m1", "from_block_index": 1})
    assert talk.hears(stop) == ["message_chunk  replace"]
    assert talk.hears(assistant(text("Whole."))) == []


def test_result_text_is_told_only_where_nothing_was_said() -> None:
    talk = Talk()
    assert talk.hears(init(), result("Unknown command: x"))[1:] == [
        "message_chunk Unknown command: x result",
        "complete turn-1 completed",
    ]
    talk.hears(init(), assistant(text("Said."), parent="t1"))
    assert talk.hears(result("Only here", uuid="r2"))[0] == "message_chunk Only here result"


def test_result_text_as_an_object_is_read() -> None:
    talk = Talk()
    talk.hears(init())
    spoken = {**result(None), "result": {"text": "Done.", "session_id": "s"}}
    assert talk.hears(spoken)[0] == "message_chunk Done. result"


@pytest.mark.parametrize("stream_name", ["stdout", "stderr"])
def test_output_of_a_slash_command_is_text_of_its_own(stream_name: str) -> None:
    talk = Talk()
    talk.hears(init("1.0"))
    line = user(f"<local-command-{stream_name}>Total cost: $1</local-command-{stream_name}>")
    assert talk.hears(line, result("")) == [
        "message_chunk Total cost: $1 local_command",
        "complete turn-1 completed",
    ]


def test_a_result_that_repeats_the_output_of_a_command_is_no_news() -> None:
    talk = Talk()
    talk.hears(init(), system("local_command_output", content="All good", uuid="x"))
    assert talk.hears(result("All good")) == ["complete turn-1 completed"]


def test_output_of_a_command_outside_of_a_turn_opens_none() -> None:
    talk = Talk()
    assert talk.hears(user("<local-command-stdout>Set model</local-command-stdout>", isReplay=True)) == [
        "message_chunk Set model local_command"
    ]
    assert talk.hears(system("local_command_output", content="x", uuid="u")) == [
        "message_chunk x local_command"
    ]


def test_output_of_a_command_that_is_repeated_after_compacting_is_no_news() -> None:
    talk = Talk()
    printed = assistant(text("Cost: 1"), model="<synthetic>", id="x1", uuid="p1")
    assert talk.hears(init(), printed)[1:] == ["message_chunk Cost: 1 synthetic"]
    talk.hears(result("Cost: 1"), init())
    again = assistant(text("Cost: 1"), model="<synthetic>", id="x2", uuid="p1")
    compacted = user("<local-command-stdout>Compacted</local-command-stdout>", uuid="p2")
    assert talk.hears(again, compacted, compacted) == ["message_chunk Compacted local_command"]
    told = system("local_command_output", content="All good", uuid="p3")
    assert talk.hears(told, told) == ["message_chunk All good local_command"]
    assert (
        talk.hears({**told, "uuid": None}, {**told, "uuid": None})
        == ["message_chunk All good local_command"] * 2
    )


def test_output_of_a_command_that_is_repeated_long_after_is_no_news() -> None:
    talk = Talk()
    compacted = user("<local-command-stdout>Compacted</local-command-stdout>", uuid="p2")
    told = system("local_command_output", content="All good", uuid="p3")
    talk.hears(init(), compacted, told)
    talk.hears(*(system("status", status=None, uuid=f"f{number}") for number in range(80)))
    assert talk.hears(compacted, told) == []


def test_a_commands_text_in_the_models_name_is_labelled() -> None:
    talk = Talk()
    line = assistant(
        text("Cost: 1"), model="<synthetic>", local_command_source="<local-command-stdout>Cost: 1"
    )
    assert talk.hears(init(), line)[1] == "message_chunk Cost: 1 local_command"


def test_redacted_thinking_is_told_without_words() -> None:
    talk = Talk()
    assert (
        talk.hears(init(), assistant({"type": "redacted_thinking", "data": "xyz"}))[1]
        == "reasoning  redacted"
    )


def test_content_as_a_plain_string_is_text() -> None:
    talk = Talk()
    line = assistant()
    line["message"]["content"] = "Hello"
    assert talk.hears(init(), line)[1] == "message_chunk Hello"


def test_long_text_is_split_and_never_cut() -> None:
    talk = Talk()
    words = "ä" * (2 * ALWAYS_FITS + 5)
    talk.hears(init(), assistant(text(words)))
    pieces = [event.text for event in talk.events if isinstance(event, MessageChunk)]
    assert [len(piece) for piece in pieces] == [ALWAYS_FITS, ALWAYS_FITS, 5]
    assert "".join(pieces) == words
    talk.hears(message_start("m2"), block_start(), delta(words), assistant(text("x"), id="m2"))
    talk.hears(assistant(text("y" + words), id="m3"), message_start("m4"), block_start(), delta("z"))
    talk.hears(message_start("m5"), block_start(0, thinking("")))
    assert len(talk.receive(thought(words))) == 3
    talk.hears(message_start("m4"), block_start(), delta("z"))
    replaced = talk.receive(assistant(text(words), id="m4"))
    assert [getattr(event, "replace", None) for event in replaced] == [True, None, None]


def test_pieces_of_a_subagent_belong_to_its_call() -> None:
    talk = Talk()
    talk.hears(init(), assistant(tool_use("t", "Task", prompt="p", description="d")))
    nested = {"parent_tool_use_id": "t"}
    start = {**message_start("m9"), **nested}
    assert talk.hears(start, {**delta("Sub"), **nested}, {**message_stop(), **nested}) == [
        "message_chunk [t] Sub"
    ]
    usage = stream({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 9}})
    assert talk.hears({**usage, **nested}) == []


def test_stream_events_of_other_kinds_are_counted() -> None:
    talk = Talk()
    talk.hears(init(), message_start())
    citation = {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "citations_delta", "citation": {}},
    }
    assert talk.hears(stream({"type": "ping"}), stream(citation), block_stop(7)) == []
    assert talk.translator.stats.counted == 4


def test_an_empty_block_is_no_text() -> None:
    talk = Talk()
    assert talk.hears(init(), assistant(text("")), result("Only here"))[1:] == [
        "message_chunk Only here result",
        "complete turn-1 completed",
    ]


BLANKS = st.text(" \n\t\u00a0\u2028\ufeff", max_size=4)
WORDS = st.text("aB.é🎉 \n", max_size=8)


@st.composite
def block(draw: st.DrawFn) -> tuple[str, str, list[str], str | None]:
    """A block's kind, its text, how that is cut into deltas, and what its line says; None: it gets no line."""
    kind = draw(st.sampled_from(("text", "text", "thinking", "tool_use")))
    words = draw(st.one_of(BLANKS, WORDS, st.just("Same.")))
    cuts = sorted(draw(st.lists(st.integers(0, len(words)), max_size=3)))
    pieces = [words[start:end] for start, end in itertools.pairwise([0, *cuts, len(words)])]
    said: str | None = words
    if is_blank(words):
        said = draw(st.sampled_from((None, words, NO_CONTENT) if kind == "text" else (None, words)))
    return kind, words, pieces, said


@given(st.lists(block(), max_size=7), st.booleans())
def test_each_block_is_told_once_and_in_order_whatever_is_blank(
    blocks: list[tuple[str, str, list[str], str | None]], closed_first: bool
) -> None:
    talk = Talk()
    talk.hears(init(), message_start())
    expected: list[str] = []
    for index, (kind, _words, pieces, said) in enumerate(blocks):
        lines: list[dict[str, object]] = []
        if kind == "tool_use":
            call = tool_use(f"t{index}")
            talk.hears(block_start(index, call))
            lines.append(assistant(call, uuid=f"a{index}"))
            expected.append(f"t{index}")
        else:
            write, start = (delta, text) if kind == "text" else (thought, thinking)
            talk.hears(block_start(index, start("")), *[write(piece, index) for piece in pieces])
            if said is not None:
                lines.append(assistant(start(said), uuid=f"a{index}"))
                expected += [said] if said else []
        talk.hears(*([block_stop(index), *lines] if closed_first else [*lines, block_stop(index)]))
    repeated = [words for kind, words, _, _ in blocks if kind == "text" and not is_blank(words)]
    talk.hears(message_stop(), result(repeated[-1] if repeated else ""))
    assert shown(talk.events) == expected


def shown(events: list[AgentEvent]) -> list[str]:
    """What a frontend shows of a message, block by block, in the order in which the blocks appeared."""
    blocks: dict[object, str] = {}
    for event in events:
        match event:
            case MessageChunk(text=piece) | Reasoning(reasoning_text=piece):
                key = (event.type, event.message_id, event.block_index)
                blocks[key] = piece if event.replace else blocks.get(key, "") + piece
            case ToolCall():
                blocks[event.tool_call_id] = event.tool_call_id
            case _:
                pass
    return [told for told in blocks.values() if told]


def complaint() -> JsonObject:
    return assistant(text("API Error: it is too long."), id="c1", model="<synthetic>")


def test_what_the_cli_complains_of_before_it_writes_its_lines_is_not_withdrawn() -> None:
    talk = Talk()
    talk.hears(init(), message_start("m1"), block_start(), delta("Once "), delta("upon"), block_stop())
    assert talk.hears(complaint()) == ["message_chunk API Error: it is too long. synthetic"]
    assert talk.hears(assistant(text("Once upon"), id="m1"), message_stop()) == []
    assert talk.hears(result("Once upon")) == ["complete turn-1 completed"]


def test_what_the_cli_complains_of_and_writes_no_line_for_is_withdrawn_by_the_end_of_the_turn() -> None:
    talk = Talk()
    talk.hears(init(), message_start("m1"), block_start(), delta("Once "), block_stop(), complaint())
    assert talk.hears(result("Once")) == ["retraction ['m1']", "complete turn-1 completed"]


def test_what_the_cli_complains_of_while_a_block_is_open_has_broken_off() -> None:
    talk = Talk()
    talk.hears(init(), message_start("m1"), block_start(), delta("Once "))
    assert talk.hears(complaint()) == [
        "retraction ['m1']",
        "message_chunk API Error: it is too long. synthetic",
    ]


def test_two_blocks_of_a_message_with_the_same_text_are_told_both() -> None:
    """1.0.60 writes no UUIDs: the lines are the same, byte for byte."""
    block = assistant(text("Once more."), uuid=None)
    for copies in (1, 2):
        talk = Talk()
        lines = [init(), block, block, result("Once more.", uuid=None)]
        told = talk.hears(*[line for line in lines for _ in range(copies)])
        assert told == [
            "turn_started turn-1 user",
            *streamed("Once more.", "Once more."),
            "complete turn-1 completed",
        ]
