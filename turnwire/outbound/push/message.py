"""Turn an event into a notification with a short text and, for requests, the possible answers. Pure.

A request can be allowed from a notification only if the notification shows all of it. So a cut command or path, a file
change or a plan has to be opened first. The same holds for a command with right-to-left text, since devices differ in
how they order it. Rejecting is always possible.
"""

import json
from collections.abc import Callable

from turnwire.normalize.events import (
    AgentEvent,
    Complete,
    PermissionRequest,
    ProcessStatus,
    QuestionRequest,
    from_json,
)
from turnwire.normalize.events.envelope import Envelope
from turnwire.protocol.visible import ordered, visible

KINDS = frozenset({"permission_request", "question_request", "complete", "process_status"})
"""Types of events that cause a notification."""

LONGEST = 240
"""Maximum characters of a notification; the message stays well below the 4 KiB of a push service."""

WHOLE = 120
"""Maximum characters of a command that can be allowed. Most platforms show that many without cutting."""

TITLE = 80

Notification = dict[str, str]
"""Keys: `session`, `title`, `body`, `tag`. Requests add `pending` and the option ids `allow` and `reject`."""


def notification_of(envelope: Envelope, title_of: Callable[[str], str | None]) -> Notification | None:
    """Return the notification of an event. None if the event causes none."""
    event = from_json(envelope.event)
    what = _what(envelope.session, event)
    if what is None:
        return None
    title = _visible(title_of(envelope.session) or envelope.session, TITLE)
    return {"session": envelope.session, "title": title, **what}


def body_of(message: Notification, *, may_answer: bool) -> bytes:
    """Encode a notification as JSON. may_answer: whether the receiver may answer requests."""
    shown = message if may_answer else {name: message[name] for name in message.keys() - {"allow", "reject"}}
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode()


def _what(session: str, event: AgentEvent) -> Notification | None:
    match event:
        case PermissionRequest():
            asked, is_whole = _asked(event)
            answers: Notification = {}
            for option in event.permission_options:
                if option.kind == "allow_once" and is_whole:
                    answers.setdefault("allow", option.option_id)
                elif option.kind == "reject_once":
                    answers.setdefault("reject", option.option_id)
            return {"body": f"asks: {asked}", "tag": event.pending_id, "pending": event.pending_id, **answers}
        case QuestionRequest():
            question = event.questions[0].question if event.questions else event.message
            body = f"asks: {_visible(question or 'a question', LONGEST)}"
            return {"body": body, "tag": event.pending_id, "pending": event.pending_id}
        case Complete():
            if event.data.outcome == "interrupted":
                return None  # A user stopped it and knows.
            failed = event.data.is_error or event.error is not None
            why = f": {_visible(event.error, LONGEST)}" if failed and event.error else ""
            return {"body": f"has failed{why}" if failed else "has finished", "tag": f"{session} turn"}
        case ProcessStatus(state="exited", reason=reason) if reason != "stop requested":
            code = event.signal or (f"exit code {event.exit_code}" if event.exit_code else None)
            return None if code is None else {"body": f"has ended: {code}", "tag": f"{session} turn"}
        case _:
            return None


def _asked(event: PermissionRequest) -> tuple[str, bool]:
    """Return the request's text, and whether it is complete."""
    details = event.action_details or {}
    whole = details.get("command") if event.action_type == "command" else None
    if event.action_type == "file_read" and details.keys() == {"path"}:
        whole = details["path"]
    if isinstance(whole, str) and whole.strip():
        shown, drawn = visible(whole), ordered(whole)
        is_whole = len(shown) <= WHOLE and "\n" not in shown.strip() and drawn == shown
        return _visible(whole, LONGEST), is_whole
    return _visible(event.permission_title, LONGEST), False


def _visible(text: str, most: int) -> str:
    spelt = visible(text[: most + 1])
    return ordered(spelt if len(spelt) <= most else f"{spelt[: most - 1]}…")
