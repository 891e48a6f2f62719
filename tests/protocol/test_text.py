from hypothesis import given
from hypothesis import strategies as st

from turnwire.protocol.text import rejoin, scrub, scrub_inside, scrub_json

ANY_TEXT = st.text(st.characters(exclude_categories=[]) | st.sampled_from("\ud83d\ude00\udfff\ud800"))


def test_text_without_surrogates_is_left_as_it_is() -> None:
    assert scrub("plain 😀 \u2028") == "plain 😀 \u2028"


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert scrub("a\ud83db\ude00") == "a\ufffdb\ufffd"


def test_two_halves_side_by_side_become_one_character() -> None:
    assert scrub("\ud83d\ude00") == "😀"


def test_keys_and_values_are_scrubbed_at_any_depth() -> None:
    assert scrub_json({"\ud83d": ["\ude00", {"a": 1}], "b": None}) == {
        "\ufffd": ["\ufffd", {"a": 1}],
        "b": None,
    }


def test_a_value_of_valid_strings_is_the_same_one() -> None:
    value = {"é😀": ["\u2028", {"a": 10**4000}], "b": 1e308}
    assert scrub_json(value) is value


def test_a_pair_that_two_deltas_share_is_joined() -> None:
    first, held = rejoin("", "smile \ud83d")
    second, rest = rejoin(held, "\ude00!")
    assert (first, second, rest) == ("smile ", "😀!", "")


def test_a_half_whose_other_half_never_comes_is_replaced_when_the_next_text_comes() -> None:
    first, held = rejoin("", "\ud83d")
    assert (first, held) == ("", "\ud83d")
    assert rejoin(held, "x") == ("\ufffdx", "")


def test_an_empty_delta_keeps_what_is_held() -> None:
    assert rejoin("\ud83d", "") == ("", "\ud83d")
    assert rejoin("", "") == ("", "")


def test_a_low_half_that_nothing_precedes_is_replaced() -> None:
    assert rejoin("", "\ude00") == ("\ufffd", "")


def test_scrubbing_inside_keeps_the_halves_at_the_ends() -> None:
    assert scrub_inside("\ude00a\ud83db\ud83d") == "\ude00a\ufffdb\ud83d"
    assert scrub_inside("") == ""
    assert scrub_inside("\ude00") == "\ude00"
    assert scrub_inside("\ud83d") == "\ud83d"
    assert scrub_inside("ab") == "ab"


@given(ANY_TEXT)
def test_scrubbed_text_is_always_utf_8(text: str) -> None:
    scrub(text).encode()


@given(st.text(), st.data())
def test_deltas_cut_anywhere_in_utf_16_join_to_the_whole(text: str, data: st.DataObject) -> None:
    units = text.encode("utf-16-le")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(units) // 2), max_size=6)))
    pieces = [
        units[2 * a : 2 * b].decode("utf-16-le", "surrogatepass")
        for a, b in zip([0, *cuts], [*cuts, len(units) // 2], strict=True)
    ]
    held, joined = "", ""
    for piece in pieces:
        ready, held = rejoin(held, scrub_inside(piece))
        joined += ready
    assert joined + held == text
