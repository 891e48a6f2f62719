"""Read the file of rules and hooks.

It is TOML with `[[rules]]` (adapter/permissions/rules.py) and `[[hooks]]` (adapter/hooks/settings.py).
"""

import tomllib
from pathlib import Path

from msgspec import Struct

from turnwire.adapter.hooks.settings import HookError, HookSetting, read_hooks
from turnwire.adapter.permissions.rules import Rule, RuleError, read_rules
from turnwire.config.settings import ConfigurationError, unreadable
from turnwire.protocol.parsing.depth import TOO_DEEP, is_deep


class Rulebook(Struct, frozen=True):
    """The content of the file."""

    rules: tuple[Rule, ...] = ()
    hooks: tuple[HookSetting, ...] = ()

    @property
    def warnings(self) -> list[str]:
        """Return warnings about rules that allow more than they seem to."""
        if not self.rules:
            return []
        from turnwire.adapter.permissions.wide_rules import warnings  # noqa: PLC0415  only where there are rules

        return warnings(self.rules)


def read_rulebook(path: Path | None) -> Rulebook:
    """Read the file. Without a path the rulebook is empty. Raises ConfigurationError."""
    if path is None:
        return Rulebook()
    try:
        content = tomllib.loads(path.read_text("utf-8-sig"))
        if is_deep(content):
            raise RecursionError(TOO_DEEP)
        unknown = sorted(content.keys() - {"rules", "hooks"})
        if unknown:
            raise ConfigurationError(f"{path}: {unknown[0]!r} is neither rules nor hooks; correct the name")
        return Rulebook(read_rules(_tables(content, "rules")), read_hooks(_tables(content, "hooks")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigurationError(unreadable(path, error, "--rules")) from error
    except (RuleError, HookError) as error:
        raise ConfigurationError(f"{path}: {error}") from error


def _tables(content: dict[str, object], name: str) -> list[dict[str, object]]:
    tables = content.get(name, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ConfigurationError(f"[[{name}]] must be an array of tables")
    return tables
