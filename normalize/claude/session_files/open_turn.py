"""The open turn of a conversation that is read from its file, and the result that the file does not contain."""

from dataclasses import dataclass, field
from typing import Any

from turnwire.normalize.claude.session_files.answers import counts_of
from turnwire.protocol.claude.session_lines import MessageHead, SessionLine, Tokens

_USAGE = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_LAST = frozenset({"end_turn", "stop_sequence", "max_tokens", "refusal"})
"""Stop reasons of a turn's last answer."""
_MODEL_USAGE = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "costUSD")


@dataclass
class OpenTurn:
    """Facts about the open turn."""

    began: float | None
    """When its prompt was given: seconds since 1970."""
    command: bool = False
    """It serves a command."""
    woken: bool = False
    """The end of a task in the background began it."""
    said: bool = False
    """The model or a command has written text."""
    printed: bool = False
    """A command has written its output, which is the last of its turn."""
    calls: set[str] = field(default_factory=set)
    """Calls without a result."""
    interrupted: bool = False
    error: str | None = None
    status: int | None = None
    stop_reason: str | None = None
    ends_in_text: bool = False
    """The model's last record has text. One of thinking has the same stop reason, and its text follows in another record."""
    used: dict[str, tuple[str, bool, Tokens]] = field(default_factory=dict)
    """Model, whether it is the main thread's, and tokens, by the answer's key."""
    over: bool = False
    """The CLI has noted how long it took: it is over (`turn_duration`, of conversations in a terminal)."""
    ended: float | None = None
    """When the last thing happened in it."""

    @property
    def finished(self) -> bool:
        """Return whether the turn ended on its own or was ended."""
        return self.command or self.interrupted or self.error is not None or (self.said and not self.calls)

    @property
    def done(self) -> bool:
        """Return whether the turn ended on its own."""
        return self.finished and not self.interrupted

    @property
    def settled(self) -> bool:
        """Return whether the turn is complete, though no prompt follows yet."""
        has_ended = self.ends_in_text and self.stop_reason in _LAST
        is_printed = self.command and self.printed
        is_told = self.over or self.interrupted or self.error is not None or has_ended or is_printed
        return is_told and self.finished and (self.said or self.interrupted)

    def note(self, line: SessionLine, head: MessageHead) -> None:
        """Take a record of the model."""
        self.said = True
        self.stop_reason = head.stop_reason or self.stop_reason
        self.ends_in_text = any(block.type == "text" for block in head.blocks)
        self.error = head.text if line.is_api_error_message else None
        self.status = line.api_error_status
        self.calls.update(block.id for block in head.blocks if block.type == "tool_use" and block.id)

    def cost(self, costs: dict[str, float | None]) -> float | None:
        """Return the cost of the turn's answers. `costs` is by answer key; None if one of them, or any answer, is unknown."""
        if not (self.used or self.done):
            return None
        shares = [costs.get(key) for key in self.used]
        known = [share for share in shares if share is not None]
        return sum(known, 0.0) if len(known) == len(shares) else None

    def result(self, costs: dict[str, float | None], at: float | None) -> dict[str, Any]:
        """Return the turn's end as a result message. `at`: the time of the next record."""
        models: dict[str, dict[str, float]] = {}
        main = [0, 0, 0, 0]
        rounds = 0
        for key, (model, of_main, tokens) in self.used.items():
            counts = counts_of(tokens)
            used = models.setdefault(model, dict.fromkeys(_MODEL_USAGE, 0))
            for name, count in zip(_MODEL_USAGE, (*counts, costs.get(key) or 0.0), strict=True):
                used[name] += count
            if of_main:
                rounds += 1
                main = [before + count for before, count in zip(main, counts, strict=True)]
        wire: dict[str, Any] = {
            "type": "result",
            "subtype": "success" if self.done else "error_during_execution",
            "is_error": self.error is not None,
            "result": self.error,
            "api_error_status": self.status,
            "terminal_reason": None if self.done else "aborted_streaming",
            "stop_reason": self.stop_reason,
            "origin": {"kind": "task-notification"} if self.woken else None,
        }
        if self.used or self.done:
            wire["num_turns"], wire["usage"] = rounds, dict(zip(_USAGE, main, strict=True))
        ended = self.ended if self.ended is not None else at
        if self.began is not None and ended is not None:
            wire["duration_ms"] = max(round((ended - self.began) * 1000), 0)
        if self.cost(costs) is not None:
            wire["model_usage_since_last_result"] = models
        return wire
