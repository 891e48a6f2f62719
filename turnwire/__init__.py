"""A sidecar for coding-agent CLIs: their output as typed events, over WebSocket and OpenTelemetry.

The names in `__all__` are the public API, and stay while the minor version does. Each is imported when it is first used:
`import turnwire` loads nothing. docs/library.md describes them; what else is below turnwire may change at any time.
"""

TYPE_CHECKING = False  # known to type checkers; typing itself need not be loaded
if TYPE_CHECKING:
    from turnwire import client, events, payloads
    from turnwire.adapter.session.agent import AnswerRefused
    from turnwire.adapter.session.attachments import Attachment
    from turnwire.embedded.asgi import User, asgi, user
    from turnwire.embedded.hub import Hub, open_hub
    from turnwire.embedded.session import Session, open_session
    from turnwire.embedded.translation import translate
    from turnwire.protocol.errors import TurnwireError

__all__ = [
    "AnswerRefused",
    "Attachment",
    "Hub",
    "Session",
    "TurnwireError",
    "User",
    "asgi",
    "client",
    "events",
    "open_hub",
    "open_session",
    "payloads",
    "translate",
    "user",
]

_HOMES = {
    "AnswerRefused": "turnwire.adapter.session.agent",
    "Attachment": "turnwire.adapter.session.attachments",
    "Hub": "turnwire.embedded.hub",
    "Session": "turnwire.embedded.session",
    "TurnwireError": "turnwire.protocol.errors",
    "User": "turnwire.embedded.asgi",
    "asgi": "turnwire.embedded.asgi",
    "open_hub": "turnwire.embedded.hub",
    "open_session": "turnwire.embedded.session",
    "translate": "turnwire.embedded.translation",
    "user": "turnwire.embedded.asgi",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'turnwire' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - loaded with the first name that is used

    home = _HOMES.get(name)
    return import_module(f"turnwire.{name}") if home is None else getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
