"""The compose file and the Dockerfile, as far as they can be checked without running them."""

import importlib.resources
import json
import re
import shlex
from typing import Any

import jsonschema
import yaml

from recordings import ROOT
from sidecar.settings import Settings


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return loaded


def schema() -> dict[str, Any]:
    """The schema of the Compose specification, as check-jsonschema carries it."""
    folder = importlib.resources.files("check_jsonschema") / "builtin_schemas" / "vendor"
    loaded: dict[str, Any] = json.loads((folder / "compose-spec.json").read_text())
    return loaded


def test_it_follows_the_compose_specification() -> None:
    validator = jsonschema.validators.validator_for(schema())(schema())
    assert list(validator.iter_errors(compose())) == []
    broken = compose()
    broken["services"]["jaeger"]["port"] = ["4317"]
    assert list(validator.iter_errors(broken)) != []


def test_jaeger_redis_and_the_sidecar_fit_together() -> None:
    services = compose()["services"]
    sidecar, jaeger, redis = services["turnwire"], services["jaeger"], services["redis"]
    published = {int(port.split(":")[-1]) for port in jaeger["ports"]}
    assert published == {4317, 4318, 16686}
    assert jaeger["image"].startswith("jaegertracing/jaeger:2.")
    assert redis["profiles"] == ["redis"]
    environment = sidecar["environment"]
    assert environment["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://jaeger:4317"
    assert environment["TURNWIRE_REDIS_URL"].startswith("redis://redis:")
    assert environment["TURNWIRE_TOKEN"].startswith(
        "${TURNWIRE_TOKEN:?"
    )  # compose refuses to start without it
    for service in services.values():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
    named = {volume.split(":")[0] for service in services.values() for volume in service.get("volumes", [])}
    assert named == set(compose()["volumes"])


def test_every_variable_of_the_sidecar_is_one_that_it_reads() -> None:
    for name in compose()["services"]["turnwire"]["environment"]:
        known = name.removeprefix("TURNWIRE_").lower() in Settings.model_fields
        assert known or name.startswith("OTEL_"), name
    Settings(trace_url="http://localhost:16686/trace/{trace_id}", journal="redis")


def test_images_come_from_wherever_the_reader_gets_them() -> None:
    images = [service["image"] for service in compose()["services"].values() if "image" in service]
    images += re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    for image in images:
        assert "." not in image.split("/")[0].split(":")[0], f"{image} names a registry"
        assert not image.endswith(":latest")
        assert ":" in image


def test_the_container_runs_as_nobody_special_and_what_it_runs_exists() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    users = [index for index, line in enumerate(lines) if line.startswith("USER ")]
    entry = next(index for index, line in enumerate(lines) if line.startswith("ENTRYPOINT "))
    assert users
    assert users[-1] < entry
    assert "root" not in lines[users[-1]]
    entrypoint = json.loads(lines[entry].removeprefix("ENTRYPOINT "))
    command = json.loads(next(line for line in lines if line.startswith("CMD ")).removeprefix("CMD "))
    assert [*entrypoint, *command] == shlex.split("turnwire run --agent demo --host 0.0.0.0")


def test_the_build_gets_what_the_wheel_needs_and_nothing_else() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = {name.split(".")[0] for name in project["tool"]["setuptools"]["packages"]}
    ignored = (ROOT / ".dockerignore").read_text().split()
    let_in = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    assert ignored[0] == "*"
    assert let_in == packages | {"LICENSE", "README.md", "constraints.txt", "pyproject.toml"}
    assert all((ROOT / name).exists() for name in let_in)
