"""Conversations of Codex made up for a test, in the form of its rollout files."""

import json
from collections.abc import Mapping
from pathlib import Path

NAMES = ("input_tokens", "cached_input_tokens", "output_tokens")


class Rollout:
    """The lines of one file; each line is a second after the one before, unless the clock stands."""

    def __init__(self, session: str, *, day: str = "2026-03-04", **more: object) -> None:
        self.session, self.day, self.second, self.stands = session, day, 0, False
        self.lines: list[bytes] = []
        self.total = dict.fromkeys(NAMES, 0)
        self.put("session_meta", id=session, cwd="/pond", cli_version="0.169.0", **more)

    def put(self, kind: str, **payload: object) -> None:
        """Add a line."""
        self.second += not self.stands
        stamp = f"{self.day}T08:{self.second // 60:02}:{self.second % 60:02}.000Z"
        self.lines.append(json.dumps({"timestamp": stamp, "type": kind, "payload": payload}).encode())

    def said(self, role: str, text: str) -> None:
        """Add a message."""
        kind = "input_text" if role == "user" else "output_text"
        self.put("response_item", type="message", role=role, content=[{"type": kind, "text": text}])

    def took(self, sent: int, cached: int, written: int) -> None:
        """Add the tokens of a call of the model."""
        last = dict(zip(NAMES, (sent, cached, written), strict=True))
        self.total = {name: self.total[name] + last[name] for name in NAMES}
        self.put(
            "event_msg", type="token_count", info={"last_token_usage": last, "total_token_usage": self.total}
        )

    def turn(self, name: str | None, asked: str, answered: str, *calls: tuple[int, int, int]) -> None:
        """Add a turn, whose id versions of Codex before 0.50 did not write."""
        named: Mapping[str, object] = {} if name is None else {"turn_id": name}
        self.put("event_msg", type="task_started", **named)
        self.put("turn_context", cwd="/pond", model="gpt-5.5", **named)
        self.said("user", asked)
        for call in calls:
            self.took(*call)
        self.said("assistant", answered)
        self.put("event_msg", type="task_complete", **named)

    def copy(self, other: "Rollout") -> None:
        """Add the lines of another conversation, stamped with the time of now."""
        self.stands = True
        for line in other.lines:
            one = json.loads(line)
            self.put(one["type"], **one["payload"])
        self.total, self.stands = dict(other.total), False

    def bytes(self) -> bytes:
        """Return the file's bytes."""
        return b"".join(line + b"\n" for line in self.lines)

    def write(self, home: Path, place: str = "sessions/2026/03/04") -> Path:
        """Write the file below Codex's folder in a HOME, and return it."""
        path = home / ".codex" / place / f"rollout-{self.day}T08-00-00-{self.session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.bytes())
        return path
