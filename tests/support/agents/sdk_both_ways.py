"""A scenario's CLI, once by itself and once below `turnwire stdio`, and what was heard in both."""

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

from sdk_double import put
from sdk_scenarios import JSON, Scenario

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def prepared(folder: Path, scenario: Scenario) -> dict[str, Path]:
    """Make the programs that an SDK starts: `direct` is the CLI, `over` has turnwire before it."""
    plan = {
        "turns": scenario.turns,
        "before": scenario.before,
        "controls": scenario.controls,
        "dies": scenario.dies,
        "at_eof": scenario.at_eof,
    }
    ways = {}
    for way in ("direct", "over"):
        (folder / way).mkdir(parents=True)
        ways[way] = put(folder / way / "cli", plan)
    under = folder / "over" / "cli"
    config = folder / "turnwire.toml"
    config.write_text(f"[agents]\nunder = {json.dumps([str(under)])}\n")
    command = shlex.join(
        [sys.executable, "-m", "turnwire", "stdio", "--agent", "under", "--config", str(config)]
    )
    # beside the other, so that both have a folder of one name and work there
    ways["over"] = folder / "over" / "turnwire-as-cli"
    ways["over"].write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    ways["over"].chmod(0o755)
    return ways


def comparable(way: Path, scenario: Scenario, told: JSON) -> JSON:
    """What was seen and heard, without what differs by its nature: paths, random ids, and what turnwire says of itself."""
    heard = way.parent / "heard.jsonl"
    lines = heard.read_text().rstrip("\n").split("\n") if heard.exists() else []
    whole = {**told, "heard": [json.loads(line) if line.startswith("{") else line for line in lines]}
    text = json.dumps(whole).replace(str(way.parent), "FOLDER").replace("turnwire-as-cli", "cli")
    ids: dict[str, str] = {}
    for line in whole["heard"]:
        if isinstance(line, dict) and line.get("type") == "control_request":
            ids.setdefault(line["request_id"], f"request-{len(ids)}")
    for found in UUID.findall(text):
        ids.setdefault(found, f"id-{len(ids)}")
    for found, name in ids.items():
        text = text.replace(json.dumps(found)[1:-1], name)
    made: JSON = json.loads(text)
    said = "".join(line if line.endswith("\n") else f"{line}\n" for line in made["stderr"])
    made["stderr"] = [line for line in said.splitlines() if line and not line.startswith("turnwire: ")]
    if scenario.sorted:
        made = {key: _sorted(value) for key, value in made.items()}
    return made


def _sorted(value: Any) -> Any:
    return sorted(value, key=json.dumps) if isinstance(value, list) else value
