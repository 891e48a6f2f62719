"""Numbers that agents report are read if they are possible, and count as absent otherwise."""

import pytest

from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.results import Result
from turnwire.protocol.quantities import MOST, amount, clamped, count

IMPOSSIBLE: tuple[object, ...] = (None, True, "1", -1, 10**20, 10**400, [], {})


@pytest.mark.parametrize("value", [*IMPOSSIBLE, 1.5])
def test_a_count_is_a_whole_number_that_is_possible(value: object) -> None:
    assert count(value) is None
    assert (count(0), count(MOST), clamped(MOST + 1), clamped(-1), clamped(7)) == (0, MOST, MOST, 0, 7)


@pytest.mark.parametrize("value", [*IMPOSSIBLE, -0.5, 1e300, float("nan"), float("inf")])
def test_an_amount_is_a_number_that_is_possible(value: object) -> None:
    assert amount(value) is None
    assert (amount(0), amount(0.25), amount(3)) == (0.0, 0.25, 3.0)


@pytest.mark.parametrize(
    "number", [b"-5", b"1e300", b"1e999", b"NaN", b"-Infinity", b"100000000000000000000", b"true", b'"1"']
)
def test_an_impossible_number_of_a_result_costs_only_itself(number: bytes) -> None:
    line = (
        b'{"type":"result","total_cost_usd":%s,"usage":{"input_tokens":%s,"output_tokens":3},"num_turns":2}'
    )
    message = decode(line % (number, number))
    assert isinstance(message, Result)
    assert message.total_cost_usd is None
    assert message.usage is not None
    assert (message.usage.input_tokens, message.usage.output_tokens, message.num_turns) == (0, 3, 2)
