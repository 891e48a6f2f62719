"""Estimate costs that an agent does not report, by the prices of models.

The table beside this module, prices.json, is dated and names its sources; release/prices.py writes it. The setting `prices`
names a file of the same form, whose models take precedence. The cost of a model in neither is unknown: it is never guessed.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Struct, field

from turnwire.normalize.recordings.session_files import TokenCounts
from turnwire.protocol.errors import TurnwireError

LIMIT = 1 << 20
"""Bytes of a file of prices."""

_PREFIX = re.compile(
    r"^(?:.*/)?(?:(?:[a-z]{2,6}(?:-[a-z]{2,4})?\.)?(?:anthropic|deepseek|google|minimax|moonshotai|moonshot|openai|qwen|xai|zai)\.)?"
)
"""What routers and clouds put before a model's name: `openrouter/anthropic/`, `us.anthropic.`."""
_SUFFIX = re.compile(r"(?:\[1m\]|(?<!deepseek)-v\d+(?::\d+)?|-maas){1,4}$")
"""What clouds put behind it, and what Claude Code does: `-v1:0`, `[1m]`."""
_DATED = re.compile(
    r"[-@](?:(?:20)?2\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])|20\d\d-\d\d-\d\d|\d\d-20\d\d|[01]\d-(?:0[1-9]|[12]\d|3[01])|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
    r"|00\d|latest|default|0)$"
)
"""A day, a number of a release, or a word that stands for the newest one."""
_DOTTED = re.compile(r"(?<=\d)\.(?=\d)")


class PricesError(TurnwireError):
    """A file of prices is unusable. The message says where and what to do."""


Dollars = Annotated[float, msgspec.Meta(ge=0)]
"""Dollars for a million tokens."""


class Rates(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Dollars for a million tokens of each kind."""

    input: Dollars
    """Tokens sent that no cache had."""
    output: Dollars
    """Tokens written by the model."""
    cache_read: Dollars | None = None
    """Tokens sent that a cache had; None: as any that are sent."""
    cache_write: Dollars | None = None
    """Price of sent tokens that are written to a cache; None: as other sent tokens."""
    cache_write_1h: Dollars | None = None
    """The same for tokens cached for an hour; None: as `cache_write`."""


class LongRates(Rates, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rates of a prompt beyond a size, for all of its tokens and its answer."""

    above: int
    """Tokens of a prompt, cached ones included, above which these rates apply."""


class Price(Rates, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The price of a model from a day on."""

    source: str | None = None
    """Where it was read: a name in `sources`, or an address."""
    since: date | None = None
    """The first day, UTC; None: from the beginning."""
    long: LongRates | tuple[LongRates, ...] | None = None
    """Rates of longer prompts, if they differ: of one size or of several."""

    def rates_of(self, prompt: int) -> Rates:
        """Return the rates of a prompt of so many tokens, cached ones included."""
        steps = (self.long,) if isinstance(self.long, LongRates) else self.long or ()
        passed = [one for one in steps if prompt > one.above]
        return max(passed, key=lambda one: one.above) if passed else self


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    models: dict[str, list[Price]]
    checked: date | None = None
    unit: str | None = None
    sources: dict[str, str] = field(default_factory=dict)


def names_of(model: str) -> Iterator[str]:
    """Yield the names under which a table may have a model: as it is, then with less and less around it."""
    name = model.lower()
    for around in (_PREFIX, _SUFFIX, _DATED, _SUFFIX, _DATED):
        yield name
        name = around.sub("", name)
    yield name
    if name.startswith("claude-"):  # some routers write claude-sonnet-4.5
        yield _DOTTED.sub("-", name)


class Prices:
    """Prices by model."""

    def __init__(self, *tables: Mapping[str, list[Price]]) -> None:
        """`tables`: the prices of models by name; a model in an earlier table is not looked up in a later one."""
        self._tables = [
            {
                name.lower(): sorted(prices, key=lambda one: one.since or date.min)
                for name, prices in table.items()
            }
            for table in tables
        ]
        self.mark = blake2b(msgspec.json.encode(tables), digest_size=8).hexdigest()
        """The same as long as the prices are."""
        self._found: dict[str, list[Price]] = {}

    def price_of(self, model: str, at: float | None = None) -> Price | None:
        """Return a model's price at a time, in seconds since 1970, or its newest price; None if unknown."""
        prices = self._found.get(model)
        if prices is None:
            if len(self._found) > 1000:  # names come out of files
                self._found.clear()
            prices = self._found[model] = self._look_up(model)
        if len(prices) == 1 and prices[0].since is None:
            return prices[0]
        day = _day(at)
        counting = [one for one in prices if day is None or one.since is None or one.since <= day]
        return counting[-1] if counting else None

    def _look_up(self, model: str) -> list[Price]:
        names = list(names_of(model))
        return next((table[name] for table in self._tables for name in names if name in table), [])

    def estimate(self, model: str, took: TokenCounts, at: float | None = None) -> float | None:
        """Return the cost of an answer in dollars; None if the model's price is unknown."""
        price = self.price_of(model, at)
        if price is None:
            return None
        prompt = took.input_tokens + took.cache_read_input_tokens + took.cache_creation_input_tokens
        rates = price.rates_of(prompt)
        written = rates.input if rates.cache_write is None else rates.cache_write
        hour = min(took.cache_creation_1h_input_tokens, took.cache_creation_input_tokens)
        dollars = (
            took.input_tokens * rates.input
            + took.output_tokens * rates.output
            + took.cache_read_input_tokens * (rates.input if rates.cache_read is None else rates.cache_read)
            + (took.cache_creation_input_tokens - hour) * written
            + hour * (written if rates.cache_write_1h is None else rates.cache_write_1h)
        ) / 1e6
        return round(dollars, 10)


def _day(at: float | None) -> date | None:
    try:
        return None if at is None else datetime.fromtimestamp(at, UTC).date()
    except (OverflowError, ValueError, OSError):
        return None


@cache
def _own() -> Mapping[str, list[Price]]:
    return _decode(Path(__file__).with_name("prices.json").read_bytes()).models


def _decode(content: bytes) -> _Table:
    return msgspec.json.decode(content, type=_Table)


@cache
def _usual() -> Prices:
    return Prices(_own())


def prices(file: Path | None = None) -> Prices:
    """Return turnwire's own prices, after those of a file. Raises PricesError."""
    if file is None:
        return _usual()
    try:
        with file.expanduser().open("rb") as opened:
            content = opened.read(LIMIT + 1)
        if len(content) > LIMIT:
            raise PricesError(
                f"{file} has more than {LIMIT} bytes; a file of prices names models and their rates"
            )
        return Prices(_decode(content).models, _own())
    except OSError as error:
        raise PricesError(
            f"the prices {file} cannot be read: {error.strerror}; correct the setting `prices`"
        ) from error
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise PricesError(
            f'the prices {file} cannot be used: {error}; it is written as {{"models": {{"NAME": [{{"input": 3, "output": 15}}]}}}}, '
            "in dollars for a million tokens"
        ) from error
