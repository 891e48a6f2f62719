"""The workflow for GitHub Actions calls targets that exist, with the versions that turnwire says it works with."""

import json
import re
import tomllib
from typing import Any

import pytest
import yaml

from recordings import ROOT


@pytest.fixture(scope="module")
def jobs() -> dict[str, Any]:
    content = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    assert content[True].keys() >= {"push", "pull_request"}, "YAML takes `on` for a truth value"
    assert content["permissions"] == {"contents": "read"}
    return dict(content["jobs"])


def called(job: dict[str, Any]) -> list[str]:
    """The make targets of a job, in order; what it runs besides make fails."""
    runs = [step["run"] for step in job["steps"] if "run" in step]
    assert all(run.startswith("make ") for run in runs), runs
    return [word for run in runs for word in run.split()[1:] if "=" not in word]


def test_every_target_that_it_calls_exists(jobs: dict[str, Any]) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for name, job in jobs.items():
        assert called(job), name
        assert set(called(job)) <= targets
        assert job["timeout-minutes"] <= 90


def test_it_calls_what_this_projects_own_runner_calls(jobs: dict[str, Any]) -> None:
    own = set(re.findall(r"^ *make ([a-z-]+)", (ROOT / ".ci" / "run").read_text("utf-8"), re.MULTILINE))
    assert own <= {target for job in jobs.values() for target in called(job)}


def test_its_versions_are_those_that_turnwire_names(jobs: dict[str, Any]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = [found[1] for line in project["classifiers"] if (found := re.search(r":: (3\.\d+)$", line))]
    pythons = jobs["test"]["strategy"]["matrix"]["python"]
    assert pythons == [*named, "3.14"], "3.14 has been tried nowhere yet"
    assert project["requires-python"] == f">={pythons[0]}"
    node = json.loads((ROOT / "package.json").read_text("utf-8"))["engines"]["node"]
    nodes = jobs["web"]["strategy"]["matrix"]["node"]
    assert node == f">={nodes[0]}.19"
    assert nodes == ["20", "22", "24"]
