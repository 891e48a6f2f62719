"""Read a script, and name file, line and field of whatever is wrong with it."""

import re
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import msgspec
import yaml

from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.json_values import Json
from turnwire.protocol.parsing.depth import MAX_DEPTH, TOO_DEEP, is_deep
from turnwire.scripted_agent.script import STEP_KINDS, Script

SCRIPTS = Path(__file__).parent / "scripts"
"""The scripts that ship with turnwire."""

_STEP_LISTS = ("steps", "on_deny", "start", "parallel")


class ScriptError(TurnwireError):
    """A script that cannot be played. The message names file, line, field and what is expected."""


def bundled() -> list[str]:
    """List the names of the scripts that ship with turnwire."""
    return sorted(file.stem for file in SCRIPTS.iterdir())


def load(name: str) -> Script:
    """Read a script by its path, or by its name when it ships with turnwire.

    Raises:
        ScriptError: there is no such script, or it does not follow the format.
    """
    path = Path(name)
    if path.is_file():
        source = _text(path)
    elif path.is_dir() and name not in bundled():
        raise ScriptError(
            f"{name}: no recording is in this folder; name one that has timeline.jsonl, or a script"
        )
    elif name in bundled():
        source = (SCRIPTS / f"{name}.yaml").read_text(encoding="utf-8")
    else:
        raise ScriptError(
            f"{name}: no such file, nor one of the scripts that ship with it ({', '.join(bundled())})"
        )
    return parse(source, name)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ScriptError(f"{path}: this is not UTF-8; name a script in YAML") from error
    except OSError as error:
        raise ScriptError(f"{path}: {error.strerror}; name a script that can be read") from error


def parse(source: str, name: str) -> Script:
    """Parse a script's text. `name` stands for the file in errors.

    Raises:
        ScriptError: the text does not follow the format.
    """
    try:
        content = _loaded(source)
    except yaml.YAMLError as error:
        raise ScriptError(f"{name}: not YAML: {' '.join(str(error).split())}") from error
    except RecursionError as error:
        raise ScriptError(f"{name}: {TOO_DEEP}; make it flatter") from error
    if is_deep(content):
        raise ScriptError(f"{name}: {TOO_DEEP}; make it flatter")
    if not isinstance(content, dict):
        raise ScriptError(f"{name}: a script is an object with the key `turns`, not {type(content).__name__}")
    try:
        _name_steps(content)
        return msgspec.convert(content, Script)
    except msgspec.ValidationError as error:
        reason, _, where = str(error).partition(" - at `$")
        path = where.rstrip("`").lstrip(".")
        root = yaml.compose(source, Loader=yaml.SafeLoader)
        assert root is not None, "it was an object a moment ago"
        line = _line(root, path)
        raise ScriptError(f"{name}, line {line}: {path or 'script'}: {reason}") from error


def _loaded(source: str) -> Json:
    """Read YAML. Uses libyaml if PyYAML has it (ten times faster); errors come from PyYAML's own parser.

    Checks the depth first, on parser events: libyaml builds values by recursion in C, and a deep value crashes the process.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        depths = accumulate(_step(event) for event in yaml.parse(source, Loader=loader))
        if any(depth > MAX_DEPTH for depth in depths):
            raise RecursionError(TOO_DEEP)
        content: Json = yaml.load(source, Loader=loader)
    except yaml.YAMLError:
        content = yaml.safe_load(source)
    return content


def _step(event: yaml.Event) -> int:
    if isinstance(event, yaml.CollectionStartEvent):
        return 1
    return -1 if isinstance(event, yaml.CollectionEndEvent) else 0


def _name_steps(value: Json, path: str = "$") -> None:
    """Tell each step its kind, so that one decoder reads all of them."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in _STEP_LISTS and isinstance(inner, list):
                for index, step in enumerate(inner):
                    _name_step(step, f"{path}.{key}[{index}]")
            elif key in ("turns", "fallback", "acp", "history"):
                _name_steps(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _name_steps(inner, f"{path}[{index}]")


def _name_step(step: Json, path: str) -> None:
    if not isinstance(step, dict):
        raise msgspec.ValidationError(f"Expected a step, got {step!r} - at `{path}`")
    kind = next((kind for kind in STEP_KINDS if kind in step), None)
    if kind is None:
        known = ", ".join(STEP_KINDS)
        raise msgspec.ValidationError(
            f"no key of {sorted(map(str, step))} names a step ({known}) - at `{path}`"
        )
    step["do"] = kind
    _name_steps(step, path)


def _keys(path: str) -> Iterator[str | int]:
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        yield name or int(index)


def _line(root: yaml.Node, path: str) -> int:
    """The line, from 1, of the deepest node that the path reaches."""
    node = root
    line = node.start_mark.line
    for key in _keys(path):
        if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            node = node.value[key]
            line = node.start_mark.line
        elif isinstance(node, yaml.MappingNode):
            entry = next((pair for pair in node.value if pair[0].value == key), None)
            if entry is None:
                break
            line, node = entry[0].start_mark.line, entry[1]
        else:
            break
    return int(line) + 1
