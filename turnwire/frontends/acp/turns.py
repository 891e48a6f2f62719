"""Match turns to prompts, and answer the editor when a turn ends. Pure.

An ACP prompt is a request that lasts as long as its turn. turnwire's turns are not tied to requests: a prompt may wait, join
a turn that others began, be taken back, or be served by a turn whose beginning names nobody. What ends a turn answers all
prompts that it served. The events of a prompt can come before its UUID is known from the hub's reply, so the newest turns
are remembered.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from turnwire.client import events as ev
from turnwire.client.values import JsonObject

REMEMBERED = 64
"""Ended turns, and prompts not known to be the editor's, that are remembered."""

STOP_REASONS = {"completed": "end_turn", "interrupted": "cancelled", "max_turns": "max_turn_requests"}
"""ACP's word for how a turn ended; any other outcome is an error."""

MODEL_REASONS = {"max_tokens": "max_tokens", "refusal": "refusal"}
"""What ACP tells of the model's own reason to stop."""


@dataclass(frozen=True, slots=True)
class TurnResult:
    """How a prompt came out: with a reason to stop, or with an error."""

    stop_reason: str | None = None
    usage: JsonObject | None = None
    error: str | None = None
    outcome: str | None = None
    """turnwire's own word for it."""

    def as_cancelled(self) -> "TurnResult":
        """Return what it is for an editor that has asked for the end: ACP has it confirmed, however the end came about."""
        return TurnResult("cancelled", self.usage)


CANCELLED = TurnResult("cancelled")


class Prompts:
    """The prompts of one session that an editor waits for."""

    def __init__(self) -> None:
        self._open: dict[str, None] = {}
        self._served: dict[str, str | None] = {}
        """The turn of each prompt; None for one that waits."""
        self._results: dict[str | None, TurnResult] = {}
        """Of turns that have ended, and of prompts that were taken back."""
        self._nameless: str | None = None
        """The newest turn, when its beginning named no prompt."""

    @property
    def open(self) -> list[str]:
        """The prompts that are not answered, in the order they were sent."""
        return list(self._open)

    def waiting(self) -> list[str]:
        """Return the prompts that are known to wait for their turn."""
        return [prompt for prompt in self._open if prompt in self._served and self._served[prompt] is None]

    def is_known(self, prompt: str) -> bool:
        """Whether a turn serves a prompt already, or has done so."""
        return prompt in self._results or self._served.get(prompt) is not None

    def on_sent(self, prompt: str) -> TurnResult | None:
        """Note that a prompt is the editor's; returns how it came out if that is known already."""
        known = self._results.get(prompt) or self._results.get(self._served.get(prompt, ""))
        if known is None:
            self._open[prompt] = None
        return known

    def handle(self, event: ev.AgentEvent) -> list[tuple[str, TurnResult]]:
        """Return the prompts that an event answers."""
        match event:
            case ev.TurnStarted(operation_id=str(turn)):
                self._nameless = None if event.prompts else turn
                self._serve(event.prompts or (), turn)
            case ev.Injected():
                self._serve(event.prompts or (), event.operation_id)
            case ev.Queued(prompt=str(prompt)):
                self._serve([prompt], None)
            case ev.Withdrawn():
                return self._withdrawn(event.prompt)
            case ev.Complete():
                return self._completed(event)
            case ev.ProcessStatus(state="exited"):
                return self._end(
                    self.waiting(), TurnResult(error="The agent has ended; the prompt was not served.")
                )
            case _:
                pass
        return []

    def end_all(self, result: TurnResult) -> list[tuple[str, TurnResult]]:
        """Return all prompts that are open, with how they come out."""
        return self._end(self.open, result)

    def _serve(self, prompts: Iterable[str], turn: str | None) -> None:
        for prompt in prompts:
            self._served[prompt] = turn
        while len(self._served) > REMEMBERED + len(self._open):
            del self._served[next(each for each in self._served if each not in self._open)]

    def _withdrawn(self, prompt: str) -> list[tuple[str, TurnResult]]:
        self._remember(prompt, CANCELLED)
        return self._end([prompt] if prompt in self._open else [], CANCELLED)

    def _completed(self, event: ev.Complete) -> list[tuple[str, TurnResult]]:
        turn, result = event.operation_id, turn_result(event)
        self._serve(event.data.prompts or (), turn)
        self._remember(turn, result)
        done = [prompt for prompt in self._open if turn is not None and self._served.get(prompt) == turn]
        if not done and turn == self._nameless and event.data.origin in {"user", "queued", None}:
            # An agent that names no prompts serves them one after the other.
            done = [prompt for prompt in self._open if prompt not in self._served][:1]
        return self._end(done, result)

    def _remember(self, what: str | None, result: TurnResult) -> None:
        self._results[what] = result
        if len(self._results) > REMEMBERED:
            del self._results[next(iter(self._results))]

    def _end(self, prompts: Iterable[str], result: TurnResult) -> list[tuple[str, TurnResult]]:
        ended = [(prompt, result) for prompt in prompts]
        for prompt, _ in ended:
            del self._open[prompt]
        return ended


def turn_result(event: ev.Complete) -> TurnResult:
    """Return how the prompts of a turn came out."""
    data = event.data
    outcome = data.outcome or ("error" if data.is_error else "completed")
    reason = STOP_REASONS.get(outcome)
    if reason is None:
        said = event.error or "; ".join(data.errors or ()) or f"The turn ended: {outcome}."
        return TurnResult(None, _usage(data), said, outcome)
    if reason == "end_turn":
        reason = MODEL_REASONS.get(data.stop_reason or "", reason)
    return TurnResult(reason, _usage(data), None, outcome)


def _usage(told: ev.CompleteData) -> JsonObject | None:
    data = told.all_tokens or told
    if data.input_tokens is None and data.output_tokens is None:
        return None
    read, written = data.cache_read_input_tokens, data.cache_creation_input_tokens
    counted = {"inputTokens": data.input_tokens or 0, "outputTokens": data.output_tokens or 0}
    cached = {"cachedReadTokens": read, "cachedWriteTokens": written}
    known = {**counted, **{name: count for name, count in cached.items() if count is not None}}
    return {"totalTokens": sum(known.values()), **known}
