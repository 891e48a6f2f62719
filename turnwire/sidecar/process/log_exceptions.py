"""What a log contains of an exception: its type and where it was raised, but never values of variables.

Locals contain prompts, environment variables and bodies of requests. An exception's message may contain them too
("invalid literal for int(): 'my secret'"). So messages are logged only for types that are known to contain none.
"""

import traceback
from pathlib import Path

FRAMES = 40
"""Most frames of one exception: its origin, and above all the place where it was raised."""
OUTER = 8
"""Of these, the outermost."""
CHAIN = 8
"""Most exceptions: causes, and members of groups."""
WORDS = 300
"""Most characters of an exception's message."""

_ROOT = Path(__file__).parents[3]
_WORDS_OF = frozenset({"sqlite3", "turnwire"})
_HARMLESS = (OSError, RecursionError, MemoryError, AttributeError, NameError, ImportError)


def told(error: BaseException | None) -> list[dict[str, str | list[str]]]:
    """Return {exc_type, exc_value, frames} of an exception and of its causes, the exception itself first."""
    return [
        {"exc_type": _kind(one), "exc_value": _words(one), "frames": _frames(one)} for one in _chain(error)
    ]


def as_text(error: BaseException | None) -> str:
    """Return the same as lines of text, without a newline at the end."""
    return "\n".join(
        "\n".join([_headline(one), *(f"  {frame}" for frame in _frames(one))]) for one in _chain(error)
    )


def _headline(error: BaseException) -> str:
    words = _words(error)
    return f"{_kind(error)}: {words}" if words else _kind(error)


def _chain(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    waiting = [error]
    while waiting and len(found) < CHAIN:
        one = waiting.pop(0)
        if one is None or one in found:
            continue
        found.append(one)
        waiting += one.exceptions if isinstance(one, BaseExceptionGroup) else ()
        waiting.append(one.__cause__ or (None if one.__suppress_context__ else one.__context__))
    return found


def _kind(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _words(error: BaseException) -> str:
    if isinstance(error, _HARMLESS) or type(error).__module__.partition(".")[0] in _WORDS_OF:
        return " ".join(str(error).split())[:WORDS]
    return ""


def _frames(error: BaseException) -> list[str]:
    places = [
        f"{_file(frame.f_code.co_filename)}:{line} in {frame.f_code.co_name}"
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    if len(places) <= FRAMES:
        return places
    left_out = f"… {len(places) - FRAMES} more"
    return [*places[:OUTER], left_out, *places[OUTER - FRAMES :]]


def _file(name: str) -> str:
    path = Path(name)
    return str(path.relative_to(_ROOT)) if path.is_relative_to(_ROOT) else name
