"""The lines of the runner protocol. On every tagged line `type` is first and `id` second, so that readers may scan for the id.

A request is parsed in two steps, its head and its params, so that errors in the params can be reported to the
id that asked. The prompt keeps its original bytes, and a CLI's line is embedded unchanged.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta, Raw, Struct

from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.encode import EncodeError, checked_input
from turnwire.protocol.claude.messages import User
from turnwire.protocol.framing import OversizeLine
from turnwire.protocol.json_lines import line_of
from turnwire.protocol.json_values import Json, JsonObject
from turnwire.protocol.parsing import generic
from turnwire.protocol.parsing.depth import TOO_DEEP, is_too_deep, outermost
from turnwire.protocol.text import scrub_json

DEFAULT_MAX_WAIT = 180.0
"""Most seconds that a run waits for a rate limit to pass, by default."""

ERROR_LENGTH = 4000
"""Most characters of an error text or a note."""

Status: TypeAlias = Literal["ok", "cancelled", "error"]
Level: TypeAlias = Literal["info", "warn", "error"]


class RunParams(Struct, frozen=True, kw_only=True):
    """Params of a run. Unknown params are ignored, null ones are absent."""

    model: Annotated[str, Meta(min_length=1)] | None = None
    """The model."""
    message: Raw
    """One user message in the CLI's own form."""
    rate_limit_max_retries: Annotated[int, Meta(ge=0)]
    """How often the run waits for a rate limit and continues."""
    rate_limit_max_wait_secs: Annotated[float, Meta(ge=0)] | None = None
    """How long it waits at most, each time; DEFAULT_MAX_WAIT when absent."""
    system_prompt: str | None = None
    """Instead of the CLI's own."""
    effort: str | None = None
    """How much the model thinks, in the CLI's words."""
    thinking_disabled: bool | None = None
    """No extended thinking."""
    mcp_servers: dict[str, JsonObject] | None = None
    """MCP servers by name, in the CLI's form: the only tools of a run."""
    resume: str | None = None
    """The session to go on with."""
    user_agent: str | None = None
    """The name of the CLI's host."""

    @property
    def max_wait(self) -> float:
        """How long the run waits for a rate limit at most, in seconds."""
        wait = self.rate_limit_max_wait_secs
        return DEFAULT_MAX_WAIT if wait is None else wait

    def check(self, message: User) -> None:
        """Raise ValueError for params or a prompt that the family's agents cannot take."""

    def refuse(self, names: Sequence[str], why: str) -> None:
        """Raise ValueError if one of these params is given."""
        if given := [name for name in names if getattr(self, name) not in (None, False, {})]:
            raise ValueError(f"{', '.join(given)}: {why}; leave it out")


class ClaudeParams(RunParams, frozen=True, kw_only=True):
    """Params of a run of Claude Code."""

    model: Annotated[str, Meta(min_length=1)]
    """The model."""


class _Program(Struct, frozen=True):
    """An MCP server that the CLI starts."""

    command: Annotated[str, Meta(min_length=1)]
    args: list[str] = []
    env: dict[str, str] = {}


class _Address(Struct, frozen=True):
    """An MCP server that the CLI calls."""

    url: Annotated[str, Meta(min_length=1)]
    headers: dict[str, str] = {}


class _Other(Struct, frozen=True):
    """An MCP server of an unknown type, perhaps of a newer CLI."""


_SERVERS: dict[str, type[Struct]] = {"stdio": _Program, "sse": _Address, "http": _Address}
"""Type of an MCP server -> its required fields."""


@dataclass(frozen=True, slots=True)
class Run:
    """Start a run."""

    id: str
    params: RunParams
    message: User
    """The prompt, read."""


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop a run."""

    id: str


@dataclass(frozen=True, slots=True)
class Refused:
    """An invalid request. An end with its id says why."""

    id: str
    error: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """A line without an id, which cannot be answered."""

    reason: Literal["no JSON object", "no id", "too long", "too deep"]


Request: TypeAlias = Run | Cancel | Refused | Dropped


class Event(Struct, frozen=True, tag_field="type", tag="event"):
    """Output of a run."""

    id: str
    event: Raw


class End(Struct, frozen=True, tag_field="type", tag="end"):
    """A run is over; the last of its lines."""

    id: str
    status: Status
    error: str | None = None


class Diag(Struct, frozen=True, tag_field="type", tag="diag"):
    """A note about a run."""

    id: str
    level: Level
    message: str


class Fatal(Struct, frozen=True, tag_field="type", tag="fatal"):
    """Why the runner ends with a non-zero exit."""

    message: str


_decode_output: Callable[[bytes], Event | End] = msgspec.json.Decoder(Event | End).decode
_decode_note: Callable[[bytes], Diag | Fatal] = msgspec.json.Decoder(Diag | Fatal).decode
_read_head = msgspec.json.Decoder(dict[str, Raw]).decode
_LONG_HEAD = re.compile(rb'\s*\{\s*"type"\s*:\s*"[^"\\]*"\s*,\s*"id"\s*:\s*("(?:[^"\\]|\\.)*")')


def read_request(line: bytes | OversizeLine, accepted: type[RunParams] = ClaudeParams) -> Request:
    """Parse a line of stdin. `accepted` is the type of the family's params."""
    if isinstance(line, OversizeLine):
        return _too_long(line)
    if is_too_deep(line):
        return _too_deep(line)
    try:
        head = _head(line)
    except (ValueError, RecursionError):
        return Dropped("no JSON object")
    run_id, kind = head.get("id"), head.get("type")
    if not isinstance(run_id, str):
        return Dropped("no id")
    match kind:
        case "run":
            return _run(run_id, head.get("params"), accepted)
        case "cancel":
            return Cancel(run_id)
        case str():
            return Refused(run_id, flat(f"unknown-type: {kind}"))
        case _:
            return Refused(run_id, flat(f"unknown-type: {json.dumps(kind)}"))


def _head(line: bytes) -> JsonObject:
    """Return the head, with `params` still raw unless only the tolerant parser accepts the line."""
    try:
        raw = _read_head(line)
    except ValueError:
        value = generic.load(line)  # half of a pair of surrogates, which a strict parser refuses
        if isinstance(value, dict):
            return value
        raise
    return {name: part if name == "params" else json.loads(bytes(part)) for name, part in raw.items()}


def read_output(line: bytes) -> Event | End:
    """Return a line of stdout; raises msgspec.DecodeError for a foreign one."""
    try:
        return _decode_output(line)
    except msgspec.DecodeError:
        if (event := _odd_event(line)) is None:
            raise
        return event


def _odd_event(line: bytes) -> Event | None:
    """Parse an event that a strict parser refuses: agents write half of a surrogate pair, and lines are embedded unchanged."""
    try:
        value = generic.load(line)
    except (ValueError, RecursionError):
        return None
    match value:
        case {"type": "event", "id": str(run_id), "event": event}:
            return Event(run_id, Raw(line_of(event)[:-1]))
        case _:
            return None


def read_note(line: bytes) -> Diag | Fatal:
    """Return a line of stderr; raises msgspec.DecodeError for a foreign one."""
    return _decode_note(line)


def _run(run_id: str, params: Json, accepted: type[RunParams]) -> Run | Refused:
    try:
        read = _params(params, accepted)
        message = decode(bytes(read.message))
        if not isinstance(message, User):
            raise EncodeError("message must be a user message - at `$.message`")
        checked_input(bytes(read.message))
        _check_servers(read.mcp_servers or {})
        read.check(message)
    except (ValueError, RecursionError) as error:
        return Refused(run_id, flat(f"invalid-params: {error}"))
    return Run(run_id, read, message)


def _check_servers(servers: dict[str, JsonObject]) -> None:
    """Refuse a server to which no CLI can connect: the CLI would silently leave it out, and the run would wait for it."""
    for name, server in servers.items():
        kind = server.get("type", "stdio")
        try:
            msgspec.convert(server, _SERVERS.get(msgspec.convert(kind, str), _Other))
        except msgspec.ValidationError as error:
            what, _, where = str(error).partition(" - at `$")
            raise EncodeError(f"{what} - at `$.mcp_servers.{name}{where or '`'}") from None


@cache
def _decoder(accepted: type[RunParams]) -> msgspec.json.Decoder[RunParams]:
    return msgspec.json.Decoder(accepted)


def _params(params: Json, accepted: type[RunParams]) -> RunParams:
    if isinstance(params, Raw):
        return _decoder(accepted).decode(params)
    if not isinstance(params, dict):
        raise EncodeError("params are missing")
    clean = scrub_json(params)
    if "message" in params:
        clean["message"] = Raw(line_of(params["message"])[:-1])
    return msgspec.convert(clean, accepted)


def _too_long(line: OversizeLine) -> Request:
    found = _LONG_HEAD.match(line.head)
    try:
        run_id = json.loads(found[1]) if found else None
    except ValueError:
        run_id = None
    if run_id is None:
        return Dropped("too long")
    return Refused(run_id, f"invalid-params: the line has {line.size} bytes, beyond the limit")


def _too_deep(line: bytes) -> Request:
    run_id = outermost(line, ("id",)).get("id")
    return Refused(run_id, f"invalid-params: {TOO_DEEP}") if isinstance(run_id, str) else Dropped("too deep")


def run_line(run_id: str, params: JsonObject) -> bytes:
    """Return the request that starts a run."""
    return line_of({"type": "run", "id": run_id, "params": params})


def cancel_line(run_id: str) -> bytes:
    """Return the request that stops a run."""
    return line_of({"type": "cancel", "id": run_id})


class EventLines:
    """Makes the event lines of one run."""

    def __init__(self, run_id: str) -> None:
        self._head = b'{"type":"event","id":' + line_of(run_id)[:-1] + b',"event":'

    def lines(self, payloads: list[bytes]) -> bytes:
        """Return the lines for JSON values, unchanged except for bytes that are not UTF-8."""
        if not payloads:
            return b""
        head = self._head
        whole = head + (b"}\n" + head).join(payloads) + b"}\n"
        if _is_valid(whole):
            return whole
        return b"".join([head + payload.decode("utf-8", "replace").encode() + b"}\n" for payload in payloads])


def _is_valid(text: bytes) -> bool:
    if text.isascii():
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def end_line(run_id: str, status: Status, error: str | None = None) -> bytes:
    """Return the line that ends a run."""
    line = {"type": "end", "id": run_id, "status": status}
    return line_of(line if error is None else {**line, "error": flat(error)})


def diag_line(run_id: str, level: Level, message: str) -> bytes:
    """Return a note about a run."""
    return line_of({"type": "diag", "id": run_id, "level": level, "message": flat(message)})


def fatal_line(message: str) -> bytes:
    """Return the last line of a runner that fails."""
    return line_of({"type": "fatal", "message": flat(message)})


def flat(text: str) -> str:
    """Return the text on one line, and no longer than it is read."""
    return " ".join(text.split())[:ERROR_LENGTH]
