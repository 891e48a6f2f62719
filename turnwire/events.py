"""All events, as docs/events.md describes them: immutable values. `AgentEvent` is their union; `to_json` and `from_json` write and read one."""

from turnwire.normalize.events import *  # noqa: F403 - the same names: `__all__` there lists them
from turnwire.normalize.events import __all__  # noqa: F401 - re-exported
