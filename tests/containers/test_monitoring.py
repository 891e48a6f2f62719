"""The alert rules and the dashboard name metrics that there are, and labels that these have."""

import json
import re
from typing import Any

import yaml

from recordings import ROOT
from turnwire.tracing.metrics import measurements as m
from turnwire.tracing.metrics.prometheus import PrometheusMeter

DEPLOY = ROOT / "deploy"


def expressions() -> list[str]:
    rules: Any = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text())
    dashboard: Any = json.loads((DEPLOY / "grafana" / "fleet.json").read_text())
    alerts = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    shown = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert len(alerts) >= 6
    assert len(shown) >= 8
    return [*alerts, *shown]


def exposed() -> dict[str, set[str]]:
    """Names of all series as Prometheus reads them, with their labels."""
    meter = PrometheusMeter(lambda: [m.Measurement(one, 1.0, ("x",) * len(one.labels)) for one in m.READ])
    meter.record([m.Measurement(one, 1.0, ("x",) * len(one.labels)) for one in m.RECORDED])
    found: dict[str, set[str]] = {}
    for line in meter.text()[1].decode().splitlines():
        if line and not line.startswith("#"):
            name, _, rest = line.partition("{")
            found.setdefault(name.split(" ")[0], set()).update(re.findall(r'(\w+)="', rest))
    return found


def test_what_alerts_and_the_dashboard_ask_for_is_measured() -> None:
    series = exposed()
    asked: set[str] = set()
    for expression in expressions():
        for name in re.findall(r"\bturnwire_(?!state|outcome)\w+", expression):
            assert name in series, expression
            asked.add(name)
            for label in re.findall(r"turnwire_(?:state|outcome)\b", expression):
                assert label in series[name], expression
    fleet = {
        name
        for name in series
        if name.startswith("turnwire_fleet_") and not name.endswith(("_sum", "_created"))
    }
    assert fleet <= asked | {"turnwire_fleet_command_duration_seconds"}
