"""Write the tables of docs/agents.md, docs/settings.md and docs/tracing.md that come from code: `python docs/generate_tables.py`.

The text of these pages is written by hand; what stands between a pair of markers is made here.
"""

from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from turnwire._runtime.state_directory import state_directory
from turnwire.config.known_agents import KNOWN
from turnwire.config.settings import Settings
from turnwire.config.trust import HARMLESS
from turnwire.hub.schema.field_docs import model_docs
from turnwire.normalize.vocabulary import ACTS, FOLDERS
from turnwire.tracing.metrics.measurements import READ, RECORDED, Instrument
from turnwire.tracing.metrics.prometheus import prometheus_name

DOCS = Path(__file__).resolve().parent
PAGES = {"agents.md": ("known", "asked"), "settings.md": ("harmless", "settings"), "tracing.md": ("metrics",)}
"""The tables of each page."""


def page(name: str) -> str:
    """Return a page with its tables as they must be."""
    written = (DOCS / name).read_text(encoding="utf-8")
    made = {"asked": asked, "harmless": harmless, "known": known, "metrics": metrics, "settings": settings}
    for table in PAGES[name]:
        begin, end = f"<!-- {table} -->\n", f"<!-- end of {table} -->"
        before, rest = written.split(begin)
        _, after = rest.split(end)
        written = f"{before}{begin}{made[table]()}\n{end}{after}"
    return written


def harmless() -> str:
    """Return the settings that count in a folder's file without trust."""
    return ", ".join(f"`{name}`" for name in Settings.model_fields if name in HARMLESS)


def known() -> str:
    """Return the table of the agents that are known by name."""
    rows = [
        "| `--agent` | what runs | starts as | installed with | key or login | asks in | tried |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, agent in KNOWN.items():
        spoken = "" if agent.family == "acp" else f" ({agent.family})"
        install = f"`{agent.install}`" if agent.install else "its makers' installer"
        login = ", ".join([f"`{key}`" for key in agent.keys[:2]] + ([agent.log_in] if agent.log_in else []))
        rows.append(
            f"| `{name}` | {agent.title}{spoken} | `{' '.join(agent.command)}` | {install} | {login} | "
            f"{agent.asks or 'not known'} | {agent.tried or 'no'} |"
        )
    return "\n".join(rows)


def asked() -> str:
    """Return the table of what agents were seen to ask about under the policy supervised."""
    acts = " | ".join(("a command", "a new file", "an edit", "reading outside", "a web page"))
    rows = [f"| `--agent` | folder | {acts} |", f"|---|---|{'---|' * len(ACTS)}"]
    for name, agent in KNOWN.items():
        for kind in FOLDERS if agent.asked else ():
            verdicts = [agent.asked.get(kind, {}).get(act, "not tried") for act in ACTS]
            told = " | ".join(f"**{one}**" if one == "not held" else one for one in verdicts)
            rows.append(
                f"| `{name}` {agent.tried} | {'in git' if kind == 'git' else 'without git'} | {told} |"
            )
    return "\n".join(rows)


def settings() -> str:
    """Return the table of all settings."""
    rows = ["| setting | environment | default | |", "|---|---|---|---|"]
    for name, field in Settings.model_fields.items():
        about = " ".join(model_docs(Settings)[name].split())
        rows.append(f"| `{name}` | {_variables(name, field)} | {_default(field)} | {about} |")
    return "\n".join(rows)


def metrics() -> str:
    """Return the table of all instruments."""
    rows = ["| OTLP | Prometheus | kind | labels | |", "|---|---|---|---|---|"]
    for one in (*RECORDED, *READ):
        labels = ", ".join(f"`{label}`" for label in one.labels)
        rows.append(
            f"| `{one.name}` ({one.unit}) | `{_scraped(one)}` | {one.kind} | {labels} | {one.about} |"
        )
    return "\n".join(rows)


def _scraped(one: Instrument) -> str:
    return prometheus_name(one)


def _variables(name: str, field: FieldInfo) -> str:
    alias: Any = field.validation_alias
    names = [choice for choice in alias.choices if choice != name] if alias else [f"TURNWIRE_{name.upper()}"]
    return ", ".join(f"`{one}`" for one in names)


def _default(field: FieldInfo) -> str:
    if field.default_factory is not None:
        return "`~/.local/state/turnwire`" if field.default_factory is state_directory else "empty"
    value = field.default
    if value is None or value is PydanticUndefined:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict):
        return "empty"
    choices = get_args(field.annotation) if get_origin(field.annotation) is not None else ()
    words = [str(choice) for choice in choices if isinstance(choice, str)]
    others = [word for word in words if word != value]
    return f"`{value}`" + (f" (or {', '.join(others)})" if others else "")


def main() -> None:
    """Write the pages."""
    for name in PAGES:
        (DOCS / name).write_text(page(name), encoding="utf-8")


if __name__ == "__main__":
    main()
