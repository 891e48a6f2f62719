"""Write tracing/prices.json anew, from published prices and our own corrections: `make prices`.

LiteLLM (MIT) keeps a table of what models cost. Its newest pinned release comes first. Older ones have models that it has
dropped, of which people still keep conversations. release/prices.json says what we hold to be otherwise, and why.
Needs access to a package index.
"""

import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from turnwire.tracing.prices import names_of

ROOT = Path(__file__).resolve().parents[1]
RELEASES = ("1.110.2", "1.97.0", "1.81.0", "1.74.0")
"""Releases of LiteLLM; the first that has a model tells its price."""
TABLE = "litellm/model_prices_and_context_window_backup.json"
MAKERS = {
    "anthropic": "claude-",
    "openai": r"(?:gpt-|o\d|codex-)",
    "gemini": "gemini-",
    "xai": "grok-",
    "deepseek": "deepseek-",
    "moonshot": "(?:kimi|moonshot)-",
    "dashscope": "(?:qwen|qwq)",
    "minimax": "minimax-",
    "zai": "glm-",
}
"""Who sells the models, and what their names begin with. Others sell them as well, at prices of their own."""
LEFT_OUT = re.compile(
    r"audio|realtime|search|image|-tts|-live|robotics|transcribe|research|vision|native|-omni-|-exp\b|-vl-|gemma|computer-use"
    r"|experimental|-gv\d|-(?:8|32|128)k|-auto|gpt-3|gemini-1|gemini-pro$|claude-(?:2|4-|instant)"
)
"""Models that no coding agent uses, and second names."""
KINDS = {
    "input": "input_cost_per_token",
    "output": "output_cost_per_token",
    "cache_read": "cache_read_input_token_cost",
    "cache_write": "cache_creation_input_token_cost",
    "cache_write_1h": "cache_creation_input_token_cost_above_1hr",
}
_ABOVE = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")


def rates(told: Mapping[str, Any], suffix: str = "") -> dict[str, float]:
    """Return dollars for a million tokens. A zero is left out: the published table has it where nothing is known, too."""
    found = {kind: told.get(name + suffix) for kind, name in KINDS.items()}
    return {kind: float(f"{dollars * 1e6:.6g}") for kind, dollars in found.items() if dollars}


def price(told: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a model's price as prices.json has it; None without a price for both directions."""
    steps = [
        (int(step["range"][0]), rates(step)) for step in told.get("tiered_pricing") or () if "range" in step
    ]
    found = rates(told) or next((of for above, of in steps if above == 0), {})
    steps = [step for step in steps if step[0]]
    steps += [
        (int(passed[1]) * 1000, rates(told, f"_above_{passed[1]}k_tokens"))
        for passed in map(_ABOVE.fullmatch, told)
        if passed
    ]
    if not {"input", "output"} <= found.keys():
        return None
    longer = [{"above": above, **found, **of} for above, of in sorted(steps, key=lambda step: step[0])]
    return {**found, **({"long": longer[0] if len(longer) == 1 else longer} if longer else {})}


def chat_models(table: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the makers' own chat models, each with its price, those with short names first."""
    for full, told in sorted(table.items(), key=lambda one: (len(one[0]), one[0])):
        name = full.rpartition("/")[2].lower()
        maker = MAKERS.get(told.get("litellm_provider", ""))
        if maker is None or told.get("mode") not in {"chat", "responses"} or ":" in name:
            continue
        if re.match(maker, name) and not LEFT_OUT.search(name) and (known := price(told)) is not None:
            yield name, known


def table_of(
    published: Iterable[tuple[str, Mapping[str, Any]]], corrections: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the whole table. `published`: sources with their tables, the newest first. A correction holds for all names of its model."""
    found: dict[str, list[dict[str, Any]]] = {}
    for source, table in published:
        for name, known in chat_models(table):
            found.setdefault(name, [{"source": source, **known}])
    for name in sorted(found, reverse=True):  # of several days the last one tells of the name without a day
        short = [*names_of(name)][-1]
        if re.search(r"\d", short):
            found.setdefault(short, found[name])
    mine = corrections["models"]
    models = {
        name: prices
        for name, prices in found.items()
        if not any(
            each in mine or (each != name and _same(found.get(each), prices)) for each in names_of(name)
        )
    }
    return {"sources": corrections["sources"], "models": dict(sorted({**models, **mine}.items()))}


def _same(some: list[dict[str, Any]] | None, others: list[dict[str, Any]]) -> bool:
    return some is not None and {**some[0], "source": ""} == {**others[0], "source": ""}


def written(table: Mapping[str, Any], day: str) -> str:
    """Return the table as text, a model a line."""
    lines = [
        f"    {json.dumps(name)}: {json.dumps(prices).replace('.0,', ',').replace('.0}', '}')}"
        for name, prices in table["models"].items()
    ]
    return (
        f'{{\n  "checked": "{day}",\n  "unit": "US dollars per million tokens",\n'
        f'  "sources": {json.dumps(table["sources"], indent=4)[:-1]}  }},\n  "models": {{\n'
        + ",\n".join(lines)
        + "\n  }\n}\n"
    )


def published_in(release: str, folder: Path) -> Mapping[str, Any]:
    """Return the table of a release, which is downloaded into a folder."""
    words = [
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--only-binary",
        ":all:",
    ]
    subprocess.run([sys.executable, "-m", *words, "--dest", str(folder), f"litellm=={release}"], check=True)
    (wheel,) = folder.glob(f"litellm-{release}-*.whl")
    with zipfile.ZipFile(wheel) as opened:
        table: dict[str, Any] = json.loads(opened.read(TABLE))
    return table


if __name__ == "__main__":
    corrections = json.loads((ROOT / "release" / "prices.json").read_text())
    corrections["sources"] |= {f"litellm {release}": "its table of model prices" for release in RELEASES}
    with tempfile.TemporaryDirectory() as folder:
        tables = [(f"litellm {release}", published_in(release, Path(folder))) for release in RELEASES]
    table = table_of(tables, corrections)
    (ROOT / "tracing" / "prices.json").write_text(written(table, f"{datetime.now(UTC):%Y-%m-%d}"))
