"""The compose file and the Dockerfile, as far as they can be checked without running them."""

import importlib.resources
import json
import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from typer.testing import CliRunner

from recordings import ROOT
from turnwire._runtime.version import VERSION
from turnwire.adapter.process.environment import is_allowed
from turnwire.config.settings import Settings
from turnwire.sidecar.checks.doctor.checks import NEWEST
from turnwire.sidecar.cli.commands import application


def compose(name: str = "docker-compose.yml") -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / name).read_text())
    return loaded


def with_claude() -> dict[str, Any]:
    """The sidecar's service when both files are given: maps are merged, lists of volumes joined, the rest replaced."""
    base, over = (
        compose(name)["services"]["turnwire"] for name in ("docker-compose.yml", "docker-compose.claude.yml")
    )
    merged: dict[str, Any] = base | over
    merged["environment"] = base["environment"] | over["environment"]
    merged["volumes"] = base["volumes"] + over["volumes"]
    return merged


@dataclass
class Stage:
    """A stage of the Dockerfile, with what it has from the one it stands on."""

    image: str
    name: str | None
    lines: list[str]

    def last(self, instruction: str) -> str:
        return [line for line in self.lines if line.startswith(f"{instruction} ")][-1].partition(" ")[2]


def stages() -> list[Stage]:
    found: list[Stage] = []
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    given = dict(re.findall(r"^ARG ([A-Z]+)=(\S+)$", text.partition("FROM ")[0], re.MULTILINE))
    for line in text.splitlines():
        if line.startswith("FROM "):
            image, _, name = line.removeprefix("FROM ").partition(" AS ")
            image = re.sub(r"\$\{([A-Z]+)\}", lambda found: given[found[1]], image)
            below = [list(stage.lines) for stage in found if stage.name == image]
            found.append(Stage(image, name or None, *below or [[]]))
        elif found:
            found[-1].lines.append(line)
    return found


def stage(name: str) -> Stage:
    (found,) = [one for one in stages() if one.name == name]
    return found


def schema() -> dict[str, Any]:
    """The schema of the Compose specification, as check-jsonschema carries it."""
    folder = importlib.resources.files("check_jsonschema") / "builtin_schemas" / "vendor"
    loaded: dict[str, Any] = json.loads((folder / "compose-spec.json").read_text())
    return loaded


def test_it_follows_the_compose_specification() -> None:
    validator = jsonschema.validators.validator_for(schema())(schema())
    assert list(validator.iter_errors(compose())) == []
    assert list(validator.iter_errors(compose("docker-compose.claude.yml"))) == []
    broken = compose()
    broken["services"]["jaeger"]["port"] = ["4317"]
    assert list(validator.iter_errors(broken)) != []


def test_jaeger_redis_and_the_sidecar_fit_together() -> None:
    services = compose()["services"]
    sidecar, jaeger, redis = services["turnwire"], services["jaeger"], services["redis"]
    published = {int(port.split(":")[-1]) for port in jaeger["ports"]}
    assert published == {4317, 4318, 16686}
    assert jaeger["image"].startswith("jaegertracing/jaeger:2.")
    assert redis["profiles"] == ["redis", "fleet"]
    environment = sidecar["environment"]
    assert environment["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://jaeger:4317"
    assert environment["TURNWIRE_REDIS_URL"].startswith("redis://hub:${REDIS_PASSWORD:-none}@redis:")
    assert environment["TURNWIRE_TOKEN"].startswith(
        "${TURNWIRE_TOKEN:?"
    )  # compose refuses to start without it
    for service in services.values():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
    mounted = {volume.split(":")[0] for service in services.values() for volume in service.get("volumes", [])}
    assert {name for name in mounted if name.startswith(".")} == {"./deploy/Caddyfile"}
    assert (ROOT / "deploy" / "Caddyfile").is_file()
    named = {name for name in mounted if not name.startswith(".")}
    assert named == set(compose()["volumes"])
    over = compose("docker-compose.claude.yml")
    kept = {volume.split(":")[0] for volume in over["services"]["turnwire"]["volumes"] if volume[0] != "$"}
    assert kept == set(over["volumes"])


def test_every_variable_of_the_sidecar_is_one_that_it_reads() -> None:
    baked = [
        line.removeprefix("ENV ").partition("=")[0]
        for one in stages()
        for line in one.lines
        if line.startswith("ENV ")
    ]
    for name in [*with_claude()["environment"], *baked]:
        known = name.removeprefix("TURNWIRE_").lower() in Settings.model_fields
        assert known or name.startswith("OTEL_") or is_allowed(name), name
    Settings(trace_url="http://localhost:16686/trace/{trace_id}", journal="redis")


def users_of(command: str) -> dict[str, list[str]]:
    """The users that a command line of redis-server defines: each with its rights, as they are written."""
    words = shlex.split(command.rpartition("exec ")[2])
    options = " ".join(word if " " not in word else "" for word in words).split(" --user ")[1:]
    return {name: rights.split() for name, _, rights in (one.partition(" ") for one in options)}


def scripts_of_redis() -> tuple[str, str]:
    """The shell scripts that start Redis: of the compose file, with what compose makes of `$$`, and of the manifests."""
    redis = compose()["services"]["redis"]
    assert redis["command"][:2] == ["sh", "-c"]
    (stateful,) = [
        one
        for one in yaml.safe_load_all((ROOT / "deploy" / "kubernetes" / "redis.yaml").read_text())
        if one["kind"] == "StatefulSet"
    ]
    manifest = stateful["spec"]["template"]["spec"]["containers"][0]["command"]
    return redis["command"][2].replace("$$", "$"), manifest[2]


def images() -> list[str]:
    named = {one.name for one in stages()}
    own = f"turnwire:{VERSION}"
    used = [service["image"] for service in compose()["services"].values() if "image" in service]
    assert used.count(own) == 4
    used = [image for image in used if image != own]
    return [*used, *(one.image for one in stages() if one.image not in named)]


def test_images_come_from_wherever_the_reader_gets_them() -> None:
    for image in images():
        assert "." not in image.split("/")[0].split(":")[0], f"{image} names a registry"


def test_images_are_pinned_to_a_whole_version() -> None:
    assert len(images()) >= 5
    for image in images():
        assert re.search(r":\d+\.\d+\.\d+(-[a-z.-]+)?(@sha256:[0-9a-f]{64})?$", image), image
    bases = {image for image in images() if image.startswith("python:")}
    assert len(bases) == 1, "what is built in one is run in the other"
    assert "@sha256:" in bases.pop()


def test_the_container_runs_as_nobody_special_and_what_it_runs_exists() -> None:
    default = stages()[-1]
    for one, command in [
        (default, "run --agent demo --host 0.0.0.0"),
        (stage("claude"), "run --host 0.0.0.0"),
        (stage("npm"), "serve --host 0.0.0.0"),
    ]:
        assert one.last("USER") == "10001:10001", "by number, which Kubernetes sees not to be root"
        assert "/readyz" in one.last("HEALTHCHECK")
        words = [*json.loads(one.last("ENTRYPOINT")), *json.loads(one.last("CMD"))]
        assert words == shlex.split(f"turnwire {command}")
        assert CliRunner().invoke(application(), [*words[1:], "--help"]).exit_code == 0, (
            "an unknown option comes before help"
        )
    assert default.name is None


def test_what_is_written_goes_into_volumes_that_belong_to_the_user() -> None:
    made = stage("turnwire").last("RUN").split()
    assert made[:4] == ["mkdir", "-m", "700", "-p"]
    home = Path("/home/turnwire")
    folders = {str(home / name) for name in made[4:]}
    for service in (compose()["services"]["turnwire"], with_claude()):
        assert service["read_only"] is True
        mounted = dict(reversed(volume.rsplit(":", 1)) for volume in service["volumes"])
        own = {target for target, source in mounted.items() if not source.startswith("${")}
        assert own <= folders
        written = [
            service["environment"]["TURNWIRE_RECORD_DIR"],
            str(home / ".local" / "state" / "turnwire"),
        ]
        assert set(written) <= mounted.keys()
    assert stage("turnwire").last("ENV") == f"TURNWIRE_RECORD_DIR={home}/recordings"
    assert stage("claude").last("ENV").partition("=")[2] in mounted
    assert service["build"]["target"] == "claude"
    assert "/workspace" in mounted
    assert "/workspace" in service["command"]


def test_the_image_has_the_newest_cli_that_is_known() -> None:
    (version,) = [line for line in stage("cli").lines if line.startswith("ARG CLAUDE_CODE_VERSION=")]
    assert version.partition("=")[2] == ".".join(map(str, NEWEST))
    assert any(line == "COPY --from=cli /claude /usr/local/bin/claude" for line in stage("claude").lines)


def test_a_fleet_in_the_compose_file_fits_together() -> None:
    services = compose()["services"]
    fleet = {name: one for name, one in services.items() if one.get("profiles") == ["fleet"]}
    assert set(fleet) == {"hub-1", "hub-2", "worker-1", "worker-2", "proxy"}
    for name, one in fleet.items():
        assert one["read_only"] is True
        assert set(one["depends_on"]) <= set(services)
        if name == "proxy":
            continue
        words = one["command"]
        assert CliRunner().invoke(application(), [*words, "--help"]).exit_code == 0
        environment = one["environment"]
        given = {
            key.removeprefix("TURNWIRE_").lower(): value.replace("${TURNWIRE_TOKEN:?", "0123456789abcdef")
            for key, value in environment.items()
            if key.startswith("TURNWIRE_") and value is not None
        }
        settings = Settings.model_validate(given)
        assert settings.journal == "redis"
        assert settings.stop_timeout_s < float(one["stop_grace_period"].removesuffix("s"))
        assert settings.redis_url.endswith("@redis:6379/0")
        # an engine's init keeps all variables where an agent can read them, and so does a probe that can be read
        assert "init" not in one
        assert one["healthcheck"]["test"][:2] == ["CMD", "probe"]
        user = "hub" if name.startswith("hub") else "worker"
        assert settings.redis_url.startswith(f"redis://{user}:")
        assert not any(":" in mount for mount in one["tmpfs"]), "podman takes no owner of a tmpfs"
        # with tokens of their own hubs refuse each other's links, and a worker prints it into its log
        assert {"TURNWIRE_TOKEN", "TURNWIRE_VIEW_TOKEN"} <= environment.keys()
        assert f"127.0.0.1:{words[words.index('--port') + 1]}/readyz" in one["healthcheck"]["test"][-1]
        if name.startswith("hub"):
            assert name in settings.allowed_hosts
            assert settings.trusted_proxies == ["172.16.0.0/12", "10.88.0.0/15"]
        else:
            assert settings.worker == name
            assert f"{name}:/home/turnwire/.local/state/turnwire" in one["volumes"]
    caddy = (ROOT / "deploy" / "Caddyfile").read_text()
    assert "reverse_proxy hub-1:8790 hub-2:8790" in caddy
    (published,) = fleet["proxy"]["ports"]
    assert f":{published.rpartition(':')[2]} {{" in caddy
    assert set(fleet["proxy"]["depends_on"]) == {"hub-1", "hub-2"}


def test_users_of_redis_are_those_of_the_manifests_and_of_the_documentation() -> None:
    in_compose, in_cluster = scripts_of_redis()
    users = users_of(in_compose)
    assert users == users_of(in_cluster)
    assert users["default"] == ["off"]
    assert users["probe"] == ["on", "nopass", "-@all", "+ping"]
    text = (ROOT / "docs" / "journal.md").read_text()
    (documented,) = re.findall(r"^    user turnwire on .* -@all (.*)$", text, re.MULTILINE)
    (fleet,) = re.findall(r"also needs `(\+xgroup[^`]*)`, and with `quotas` `", text)
    (quotas,) = re.findall(r"with `quotas` `([^`]*)`", text)
    (worker,) = re.findall(r"^    user worker on >PASSWORD resetkeys (.*)$", text, re.MULTILINE)
    commands = ["-@all", *documented.split(), *fleet.split(), *quotas.split()]
    assert users["hub"] == ["on", ">$REDIS_PASSWORD", "~turnwire:*", "&turnwire:*", *commands]
    patterns = [word for word in worker.split() if word != "resetchannels"]
    assert users["worker"] == ["on", ">$REDIS_WORKER_PASSWORD", *patterns, *commands]
    assert not {"+config", "+flushall", "+keys", "+debug", "+script", "+acl", "+@all"} & set(commands)


@pytest.mark.parametrize("script", scripts_of_redis(), ids=["compose", "Kubernetes"])
def test_redis_does_not_start_with_an_empty_password(script: str, tmp_path: Path) -> None:
    started = tmp_path / "started"
    for name in ("docker-entrypoint.sh", "redis-server"):
        (tmp_path / name).write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {started}\n")
        (tmp_path / name).chmod(0o700)
    given = {"REDIS_PASSWORD": "word", "REDIS_WORKER_PASSWORD": "other"}

    def run(passwords: dict[str, str]) -> subprocess.CompletedProcess[str]:
        env = {"PATH": f"{tmp_path}:{os.defpath}", **passwords}
        return subprocess.run(["sh", "-c", script], env=env, capture_output=True, text=True, check=False)

    for name, other in (
        ("REDIS_PASSWORD", "REDIS_WORKER_PASSWORD"),
        ("REDIS_WORKER_PASSWORD", "REDIS_PASSWORD"),
    ):
        for without in ({other: "word"}, {**given, name: ""}):
            refused = run(without)
            assert refused.returncode != 0
            assert re.search(rf"{name}: (give|the Secret)", refused.stderr)
            assert not started.exists()
    assert run(given).returncode == 0
    words = started.read_text().splitlines()
    assert {">word", ">other"} <= set(words)
    # Redis alone has them as they are; the profile without it needs none
    assert compose()["services"]["redis"]["environment"] == dict.fromkeys(given)


def test_no_variable_is_left_as_it_is_written() -> None:
    """podman-compose 1.0 does not know a default that is empty, so its text would be a password that everybody knows."""
    for name in ("docker-compose.yml", "docker-compose.claude.yml"):
        text = (ROOT / name).read_text()
        found = re.findall(r"(?<!\$)\$\{[^}]*\}", re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE))
        assert found
        for one in found:
            assert re.fullmatch(r"\$\{\w+(:[-?][^}]+)?\}", one), one


def test_the_build_gets_what_the_wheel_needs_and_nothing_else() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    links = [path for path in (ROOT / "turnwire").iterdir() if path.is_symlink()]
    packages = {"turnwire", *(link.resolve().relative_to(ROOT.resolve()).as_posix() for link in links)}
    ignored = (ROOT / ".dockerignore").read_text().split()
    let_in = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    assert ignored[0] == "*"
    assert let_in == packages | {
        "LICENSE",
        "README.md",
        "constraints.txt",
        "pyproject.toml",
        "release/requirements.txt",
        "release/tools.txt",
    }
    # what is installed has the hashes of a release, whose parts are all but those for who writes turnwire or a core for it
    fetched = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if "--requirement" in line]
    assert len(fetched) == 2
    assert all("--require-hashes" in line for line in fetched)
    extras = set(project["project"]["optional-dependencies"]) - {"dev", "testing"}
    (parts,) = re.findall(r"^PARTS = \((.+)\)$", (ROOT / "release" / "pins.py").read_text(), re.MULTILINE)
    assert set(re.findall(r'"(\w+)"', parts)) == extras
    assert all((ROOT / name).exists() for name in let_in)
