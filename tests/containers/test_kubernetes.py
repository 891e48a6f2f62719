"""The manifests in deploy/kubernetes, as far as they can be checked without a cluster: what they name exists."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from ports import free_ports
from redis import Redis
from redis.backoff import ConstantBackoff
from redis.exceptions import AuthenticationError, NoPermissionError, ResponseError
from redis.retry import Retry
from typer.testing import CliRunner

from recordings import ROOT
from turnwire._runtime.version import VERSION
from turnwire.adapter.process.environment import is_allowed
from turnwire.config.settings import Settings
from turnwire.sidecar.cli.commands import application

FOLDER = ROOT / "deploy" / "kubernetes"
PODS = {"Deployment", "StatefulSet"}


@cache
def kustomization() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
    return loaded


@cache
def objects() -> list[dict[str, Any]]:
    return [
        one
        for name in kustomization()["resources"]
        for one in yaml.safe_load_all((FOLDER / name).read_text())
    ]


def of(kind: str) -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one for one in objects() if one["kind"] == kind}


def pods() -> dict[str, dict[str, Any]]:
    return {name: one["spec"]["template"] for kind in PODS for name, one in of(kind).items()}


def containers() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, pod in pods().items():
        for one in [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]:
            yield name, one


def selected(labels: Mapping[str, str]) -> set[str]:
    return {name for name, pod in pods().items() if labels.items() <= pod["metadata"]["labels"].items()}


def secret_files() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((FOLDER / "secrets.example.yaml").read_text()))


def secrets() -> dict[str, set[str]]:
    return {one["metadata"]["name"]: set(one["stringData"]) for one in secret_files()}


def test_all_files_are_applied_but_the_example_of_secrets() -> None:
    here = {path.name for path in FOLDER.glob("*.yaml")}
    assert here == {*kustomization()["resources"], "kustomization.yaml", "secrets.example.yaml"}
    assert all(one["apiVersion"] and one["metadata"]["name"] for one in objects())
    assert len({(one["kind"], one["metadata"]["name"]) for one in objects()}) == len(objects())


def test_services_budgets_and_workloads_select_the_pods_of_their_name() -> None:
    assert set(pods()) == {"hub", "worker", "redis"}
    for kind in PODS:
        for name, one in of(kind).items():
            assert selected(one["spec"]["selector"]["matchLabels"]) == {name}
    for name, one in of("PodDisruptionBudget").items():
        assert selected(one["spec"]["selector"]["matchLabels"]) == {name}
    assert set(of("PodDisruptionBudget")) == {"hub", "worker"}
    for name, one in of("Service").items():
        assert selected(one["spec"]["selector"]) == {name}
        ports = {port["name"] for port in pods()[name]["spec"]["containers"][0].get("ports", [])}
        assert {port["targetPort"] for port in one["spec"].get("ports", [])} <= ports
    for name, one in of("StatefulSet").items():
        assert one["spec"]["serviceName"] in of("Service"), name


@pytest.mark.parametrize("name", ["hub", "worker"])
def test_settings_and_commands_are_those_that_exist(name: str) -> None:
    (container,) = pods()[name]["spec"]["containers"]
    args = container["args"]
    assert CliRunner().invoke(application(), [*args, "--help"]).exit_code == 0
    given: dict[str, str] = {}
    for variable in container["env"]:
        key = variable["name"]
        if key.startswith("TURNWIRE_"):
            given[key.removeprefix("TURNWIRE_").lower()] = variable.get("value", "worker-0-or-a-secret")
        else:
            assert is_allowed(key), f"{key} does not reach the CLI"
    assert set(given) <= set(Settings.model_fields)
    settings = Settings.model_validate({**given, "redis_url": "redis://redis:6379/0"})
    assert settings.journal == "redis"
    assert (settings.worker is not None) == (name == "worker")
    assert {"token", "view_token"} <= set(given), "what listens on all addresses says who may come in"
    assert settings.fleet_drain_s <= settings.stop_timeout_s / 2
    assert settings.stop_timeout_s < pods()[name]["spec"]["terminationGracePeriodSeconds"]
    mounted = [mount["mountPath"] for mount in container["volumeMounts"]]
    state = args[args.index("--state-dir") + 1]
    assert any(state.startswith(f"{path}/") for path in mounted)


@pytest.mark.parametrize("name", ["hub", "worker"])
def test_a_pod_has_time_to_drain_before_it_is_killed(name: str) -> None:
    pod = pods()[name]["spec"]
    (container,) = pod["containers"]
    given = {
        one["name"].removeprefix("TURNWIRE_").lower(): one["value"]
        for one in container["env"]
        if one["name"].startswith("TURNWIRE_") and "value" in one
    }
    settings = Settings.model_validate({**given, "redis_url": "redis://redis:6379/0"})
    hook = container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", ["sleep", "0"])
    assert hook[0] == "sleep"
    # The time of the hook counts; SIGTERM comes after it, and begins the drain of a worker.
    left = pod["terminationGracePeriodSeconds"] - float(hook[1]) - settings.stop_timeout_s
    assert left >= 5, "the pod is killed before turnwire gives up by itself"
    if name == "hub":
        assert float(hook[1]) >= 5, "frontends come to a hub that ends, until the service has forgotten it"
    else:
        assert given["fleet_drain_s"], "open turns have time to end"
        assert hook[1] == "0", "nobody comes to a worker by its service"
        assert of("PodDisruptionBudget")[name]["spec"]["maxUnavailable"] == 1, "one drains after the other"
    # It is the container's own process that gets SIGTERM, and no shell that would keep it.
    assert "command" not in container


def test_secrets_volumes_and_ports_that_are_named_are_there() -> None:
    for name, container in containers():
        for variable in container.get("env", []):
            if (asked := variable.get("valueFrom", {}).get("secretKeyRef")) is not None:
                assert asked["key"] in secrets()[asked["name"]], name
        volumes = {one["name"] for one in pods()[name]["spec"].get("volumes", [])}
        claims = of("StatefulSet").get(name, {}).get("spec", {}).get("volumeClaimTemplates", [])
        volumes |= {one["metadata"]["name"] for one in claims}
        assert {mount["name"] for mount in container.get("volumeMounts", [])} <= volumes
    # a URL with a password is no file of the repository: the example's words are plainly none
    text = (FOLDER / "secrets.example.yaml").read_text()
    assert len(re.findall(r"give-", text)) == 7


def test_each_container_is_probed_bounded_and_without_privileges() -> None:
    for name, container in containers():
        assert container["resources"]["limits"]["memory"], name
        security = container["securityContext"]
        assert security["readOnlyRootFilesystem"] is True
        assert security["allowPrivilegeEscalation"] is False
        assert security["capabilities"] == {"drop": ["ALL"]}
    for name, pod in pods().items():
        assert pod["spec"]["securityContext"]["runAsNonRoot"] is True
        assert pod["spec"]["automountServiceAccountToken"] is False
        (container,) = pod["spec"]["containers"]
        for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
            probe = container[kind]
            if name == "hub":
                assert probe["httpGet"]["path"] == ("/readyz" if kind == "readinessProbe" else "/healthz")
                assert probe["httpGet"]["port"] == container["ports"][0]["name"]
            if name == "worker":
                path = "readyz" if kind == "readinessProbe" else "healthz"
                asked, *_, text = probe["exec"]["command"]
                assert asked == "probe", "an agent could read the variables of another program"
                assert f"127.0.0.1:8790/{path}" in text


def test_nobody_reaches_a_worker_and_a_worker_reaches_nothing_of_the_cluster_but_redis() -> None:
    policies = of("NetworkPolicy")
    everything = policies.pop("nothing-else")
    assert selected(everything["spec"]["podSelector"]["matchLabels"]) == set(pods())
    for name, one in policies.items():
        assert selected(one["spec"]["podSelector"]["matchLabels"]) == {name}
        assert one["spec"]["policyTypes"] == ["Ingress", "Egress"]
    assert "ingress" not in policies["worker"]["spec"]
    assert "egress" not in policies["redis"]["spec"]
    (redis,) = policies["redis"]["spec"]["ingress"]
    let_in = [selected(peer["podSelector"]["matchLabels"]) for peer in redis["from"]]
    assert let_in == [{"hub"}, {"worker"}]
    for name in ("hub", "worker"):
        to_redis = policies[name]["spec"]["egress"][0]
        assert selected(to_redis["to"][0]["podSelector"]["matchLabels"]) == {"redis"}
    (web,) = [
        peer["ipBlock"]
        for rule in policies["worker"]["spec"]["egress"]
        for peer in rule["to"]
        if "ipBlock" in peer
    ]
    assert {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"} <= set(web["except"])


def test_monitoring_scrapes_hubs_and_workers_with_a_secret_that_is_there() -> None:
    folder = FOLDER / "monitoring"
    own = yaml.safe_load((folder / "kustomization.yaml").read_text())
    assert own["resources"][0] == ".."
    assert {path.name for path in folder.glob("*.yaml")} == {*own["resources"][1:], "kustomization.yaml"}
    added = {
        one["kind"]: one
        for name in own["resources"][1:]
        for one in yaml.safe_load_all((folder / name).read_text())
    }
    (scraped,) = added["PodMonitor"]["spec"]["podMetricsEndpoints"]
    credentials = scraped["authorization"]["credentials"]
    assert credentials["key"] in secrets()[credentials["name"]]
    for name in ("hub", "worker"):
        (container,) = pods()[name]["spec"]["containers"]
        assert scraped["port"] in {port["name"] for port in container["ports"]}
    (entry,) = added["NetworkPolicy"]["spec"]["ingress"]
    assert entry["from"] == [
        {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}
    ]
    scaled = added["HorizontalPodAutoscaler"]["spec"]
    assert scaled["scaleTargetRef"]["name"] in of("StatefulSet")
    assert scaled["metrics"][0]["pods"]["metric"]["name"] == "turnwire_fleet_orders"


def test_images_are_pinned_and_name_no_registry() -> None:
    pinned = {one["name"]: one["newTag"] for one in kustomization()["images"]}
    assert set(pinned.values()) == {VERSION}
    for _, container in containers():
        image, _, tag = container["image"].partition(":")
        assert "." not in image
        assert image in pinned or re.fullmatch(r"\d+\.\d+\.\d+(-[a-z]+)?", tag), container["image"]
    makefile = (ROOT / "Makefile").read_text()
    assert all(f"--tag {name}:$(VERSION)" in makefile for name in pinned)


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
def test_redis_answers_a_ping_alone_without_a_password_and_lets_nobody_empty_it_or_make_tokens(
    tmp_path: Path,
) -> None:
    (container,) = pods()["redis"]["spec"]["containers"]
    shell, option, script = container["command"]
    (port,) = free_ports(1)
    here = f"{script.replace('/data', str(tmp_path))} --port {port} --bind 127.0.0.1"
    server = subprocess.Popen(
        [shell, option, here],
        env={**os.environ, "REDIS_PASSWORD": "word", "REDIS_WORKER_PASSWORD": "other"},
        stdout=subprocess.DEVNULL,
    )
    try:
        retry = Retry(ConstantBackoff(0.05), 600)
        with (
            Redis(port=port) as anybody,
            Redis(port=port, username="probe", password="probe", retry=retry) as probe,
            Redis(port=port, username="hub", password="word", retry=retry) as hub,
            Redis(port=port, username="worker", password="other", retry=retry) as worker,
        ):
            assert probe.ping()
            with pytest.raises(NoPermissionError):
                probe.get("turnwire:a")
            with pytest.raises(AuthenticationError):
                anybody.ping()
            for ours in (hub, worker):
                assert ours.set("turnwire:log:a", "1")
                assert ours.config_get("appendfsync") == {"appendfsync": "always"}
                for refused in (
                    ("FLUSHALL",),
                    ("KEYS", "*"),
                    ("CONFIG", "SET", "dir", "/tmp"),
                    ("SCRIPT", "FLUSH"),
                    ("ACL", "LIST"),
                    ("CLIENT", "LIST"),
                    ("MONITOR",),
                    ("SET", "another", "1"),
                ):
                    with pytest.raises(NoPermissionError):
                        ours.execute_command(*refused)
            assert hub.hset("turnwire:tokens", "a", "1") == 1
            assert worker.hgetall("turnwire:tokens") == {b"a": b"1"}
            for write in (
                ("HSET", "turnwire:tokens", "b", "1"),
                ("EVAL", "return redis.call('HSET', KEYS[1], 'b', '1')", "1", "turnwire:tokens"),
                ("HSET", "turnwire:fleet:logins", "a", "1"),
                ("SET", "turnwire:fleet:{code}:invitation", "1"),
                ("GET", "turnwire:fleet:{code}:invitation"),
            ):
                with pytest.raises((NoPermissionError, ResponseError), match=r"(?i)permission|can't access"):
                    worker.execute_command(*write)
    finally:
        server.terminate()
        server.wait()


def test_what_agents_leave_behind_is_reaped() -> None:
    assert pods()["worker"]["spec"]["shareProcessNamespace"] is True
