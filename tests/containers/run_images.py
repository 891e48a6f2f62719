"""Build the image and run a fleet of it by docker-compose.yml, with podman: `make image-test`.

A turn is driven through the proxy with a browser, a worker is killed, and all ends in time. Needs root, podman, buildah, debootstrap
and podman-compose. Where no registry answers, a Debian made by debootstrap stands in for the Python image, with packages of Debian for
Redis and Caddy, and an image that does nothing for Jaeger. Prints sizes and times as JSON.
"""

import asyncio
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import yaml
from playwright.async_api import async_playwright, expect

from turnwire.client import BEGINNING, connect
from turnwire.client import events as ev
from turnwire.client.frames import EventFrame

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / ".stamps" / "images"
STAND_IN = "localhost/turnwire-python:stand-in"
PROXY = "http://127.0.0.1:8780"
START_S, STOP_S, TURN_S = 300.0, 60.0, 120.0
"""Bounds: for a machine that is busy, not for what is fast."""

CONTAINERS = """
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
events_logger = "file"
"""
STORAGE = """
[storage]
driver = "overlay"
graphroot = "{place}/storage"
runroot = "{place}/run"
"""
PACKAGES = {"redis": "redis-server", "caddy": "caddy", "jaegertracing/jaeger": ""}
"""What stands in for the images of others: a package of Debian; without one the image does nothing."""
ENTRYPOINT = (
    r"""RUN printf '#!/bin/sh\nexec "$@"\n' > /usr/local/bin/docker-entrypoint.sh"""
    " && chmod 755 /usr/local/bin/docker-entrypoint.sh\n"
)
"""What starts Redis in its image, under another user; a stand-in has one user."""


def say(text: str) -> None:
    sys.stderr.write(f"image-test: {text}\n")
    sys.stderr.flush()


def run(*words: str, env: dict[str, str], **more: Any) -> str:
    """Run a program and return what it prints; ends the test with its errors where it fails."""
    done = subprocess.run(words, env=env, cwd=ROOT, capture_output=True, text=True, check=False, **more)
    if done.returncode:
        sys.exit(f"image-test: {' '.join(words[:4])} … failed:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return str(done.stdout)


def environment() -> dict[str, str]:
    """Return the environment of podman and buildah, which keep what they make in a folder of this test."""
    PLACE.mkdir(parents=True, exist_ok=True)
    (PLACE / "containers.conf").write_text(CONTAINERS)
    (PLACE / "storage.conf").write_text(STORAGE.format(place=PLACE))
    return {
        **os.environ,
        "CONTAINERS_CONF": str(PLACE / "containers.conf"),
        "CONTAINERS_STORAGE_CONF": str(PLACE / "storage.conf"),
        "BUILDAH_ISOLATION": "chroot",
        "TURNWIRE_TOKEN": secrets.token_hex(16),
        "TURNWIRE_VIEW_TOKEN": secrets.token_hex(16),
        "REDIS_PASSWORD": secrets.token_hex(16),
        "REDIS_WORKER_PASSWORD": secrets.token_hex(16),
    }


LOOK = """
import glob, os, socket, subprocess, sys
secrets = [line.encode() for line in sys.stdin.read().split()]
found = []
# as the probe of the container's health runs while an agent looks
asked = subprocess.Popen(["probe", "-c", "input()"], stdin=subprocess.PIPE)
own = {str(os.getpid()), str(os.getppid())}
processes = [path for path in glob.glob("/proc/[0-9]*") if path.split("/")[2] not in own]
for place in [f"{path}/{name}" for path in processes for name in ("environ", "cmdline")]:
    try:
        with open(place, "rb") as file:
            text = file.read()
    except OSError:
        continue
    found += [place for one in secrets if one in text]
for folder in ("/home", "/tmp", "/run", "/etc", "/opt/turnwire/etc"):
    for base, _, names in os.walk(folder):
        for name in names:
            try:
                with open(os.path.join(base, name), "rb") as file:
                    text = file.read()
            except OSError:
                continue
            found += [os.path.join(base, name) for one in secrets if one in text]
with socket.create_connection(("redis", 6379), 10) as redis:
    redis.sendall(b"SMEMBERS turnwire:sessions\\r\\n")
    answer = redis.recv(1000).decode()
asked.stdin.close()
asked.wait()
print(os.getuid(), len(processes), repr(answer), *sorted(set(found)), sep="\\n")
"""
"""What an agent of a worker can find of secrets: in other processes of its user, in files, and in Redis without a password."""


def reached(name: str, env: dict[str, str]) -> tuple[int, str, list[str]]:
    """Look as a worker's user for secrets; return how many processes it saw, what Redis said, and where they were."""
    secret = "\n".join(
        env[one]
        for one in ("TURNWIRE_TOKEN", "TURNWIRE_VIEW_TOKEN", "REDIS_PASSWORD", "REDIS_WORKER_PASSWORD")
    )
    words = ("podman", "exec", "--interactive", f"turnwire_{name}_1", "python", "-c", LOOK)
    uid, processes, answer, *found = run(*words, env=env, input=secret).splitlines()
    assert uid == "10001", uid
    return int(processes), answer, found


def has(image: str, env: dict[str, str]) -> bool:
    return subprocess.run(["podman", "image", "exists", image], env=env, check=False).returncode == 0


def build(containerfile: str, tag: str, env: dict[str, str]) -> None:
    path = PLACE / "Containerfile"
    path.write_text(containerfile)
    run("buildah", "bud", *mounts(), "--tag", tag, "--file", str(path), str(PLACE), env=env)


def mounts() -> list[str]:
    """Return options that show a build how this machine reaches package indexes."""
    found = [
        "/etc/pip.conf",
        "/etc/ssl/certs",
        "/usr/local/share/ca-certificates",
        "/usr/share/ca-certificates",
    ]
    return [word for path in found if Path(path).exists() for word in ("--volume", f"{path}:{path}:ro")]


def python_image(env: dict[str, str]) -> str:
    """Return the image to build on: that of the Dockerfile, or a stand-in where no registry has it for us."""
    (wanted,) = re.findall(r"^ARG PYTHON=(\S+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    # podman takes a name without a registry for one of its own search list
    pull = ["podman", "pull", "--quiet", f"docker.io/library/{wanted}"]
    if subprocess.run(pull, env=env, capture_output=True, timeout=600, check=False).returncode == 0:
        return f"docker.io/library/{wanted}"
    if not has(STAND_IN, env):
        say("no registry answers: Debian stands in for the Python image")
        base = PLACE / "base"
        shutil.rmtree(base, ignore_errors=True)
        packages = "python3,python3-pip,python3-venv,python-is-python3,ca-certificates"
        run("debootstrap", "--variant=minbase", f"--include={packages}", "bookworm", str(base), env=env)
        for marker in base.glob("usr/lib/python3*/EXTERNALLY-MANAGED"):
            marker.unlink()
        with subprocess.Popen(["tar", "-C", str(base), "-c", "."], stdout=subprocess.PIPE) as packed:
            run("podman", "import", "-", STAND_IN, env=env, stdin=packed.stdout)
        shutil.rmtree(base)
    return STAND_IN


def other_images(env: dict[str, str]) -> None:
    """See that the images of others are there under the names that the compose file has."""
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    for image in sorted(
        {
            one["image"]
            for one in services.values()
            if not one.get("image", "turnwire:").startswith("turnwire:")
        }
    ):
        name = image.split(":")[0]
        full = f"docker.io/{image}" if "/" in image else f"docker.io/library/{image}"
        if has(full, env):
            continue
        pull = ["podman", "pull", "--quiet", full]
        if subprocess.run(pull, env=env, capture_output=True, timeout=600, check=False).returncode == 0:
            continue
        package = PACKAGES[name]
        say(f"no registry answers: Debian's {package or 'sleep'} stands in for {name}")
        install = (
            f"RUN apt-get update && apt-get install -y --no-install-recommends {package}\n" if package else ""
        )
        build(f'FROM {STAND_IN}\n{install}{ENTRYPOINT}CMD ["sleep", "infinity"]\n', full, env)


def compose(*words: str, env: dict[str, str]) -> str:
    return run("podman-compose", "--profile", "fleet", *words, env=env)


def ready() -> bool:
    try:
        with urllib.request.urlopen(f"{PROXY}/readyz", timeout=3) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def workers(env: dict[str, str]) -> dict[str, str]:
    """Return the states of workers, by name, as an operator sees them from a hub's container."""
    told = run("podman", "exec", "turnwire_hub-1_1", "turnwire", "fleet", "list", "--json", env=env)
    return {one["worker"]: one["state"] for one in json.loads(told)["workers"]}


def wait(what: str, condition: Any, seconds: float) -> float:
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > seconds:
            sys.exit(f"image-test: {what} is not so after {seconds:g} s")
        time.sleep(0.2)
    return time.monotonic() - began


async def turn(env: dict[str, str], text: str) -> tuple[str, float]:
    """Begin a session through the proxy and drive a turn in its page; return its worker and the seconds of the turn."""
    async with connect(PROXY, env["TURNWIRE_TOKEN"]) as client:
        session = await client.create()
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            page = await browser.new_page()
            await page.goto(f"{PROXY}/#session={session}&token={env['TURNWIRE_TOKEN']}")
            began = time.monotonic()
            await page.get_by_role("textbox", name="Prompt").fill(text, timeout=TURN_S * 1000)
            await page.get_by_role("button", name="Send").click(timeout=TURN_S * 1000)
            async with asyncio.timeout(TURN_S):
                async for frame in client.follow(session, BEGINNING):
                    if isinstance(frame, EventFrame) and isinstance(frame.event, ev.Complete):
                        break
            took = time.monotonic() - began
            await expect(page.get_by_text(text).first).to_be_visible(timeout=TURN_S * 1000)
            await page.screenshot(path=str(PLACE / "console.png"))
            await browser.close()
        (summary,) = [one for one in await client.sessions() if one.session == session]
        return str(summary.worker), took


def main() -> None:
    env = environment()
    base = python_image(env)
    began = time.monotonic()
    version = re.findall(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)[0]
    image = f"localhost/turnwire:{version}"
    say(f"building {image}")
    options = ["--format", "docker", "--layers", "--target", "turnwire", "--build-arg", f"PYTHON={base}"]
    run("buildah", "bud", *options, *mounts(), "--tag", image, ".", env=env)
    figures: dict[str, object] = {"build_s": round(time.monotonic() - began, 1)}
    (about,) = json.loads(run("podman", "image", "inspect", image, env=env))
    (below,) = json.loads(run("podman", "image", "inspect", base, env=env))
    figures["size_mib"] = round(about["Size"] / 2**20)
    figures["above_base_mib"] = round((about["Size"] - below["Size"]) / 2**20)
    assert about["Config"]["User"] == "10001:10001", about["Config"]
    assert about["Labels"]["org.opencontainers.image.version"] == version, about["Labels"]
    assert about.get("Healthcheck") or about["Config"].get("Healthcheck"), "there is a check of its health"
    sbom = json.loads(
        run(
            "podman",
            "run",
            "--rm",
            "--network",
            "none",
            "--entrypoint",
            "cat",
            image,
            "/opt/turnwire/share/sbom.cdx.json",
            env=env,
        )
    )
    assert "turnwire" in {one["name"] for one in sbom["components"]}, "the list of contents names turnwire"
    figures["packages"] = len(sbom["components"])
    other_images(env)
    try:
        say("starting the fleet of docker-compose.yml")
        began = time.monotonic()
        compose("up", "--detach", "--no-build", "proxy", "worker-1", "worker-2", env=env)
        wait("the proxy has a hub that is ready", ready, START_S)
        wait("two workers serve", lambda: list(workers(env).values()) == ["serving"] * 2, START_S)
        figures["start_s"] = round(time.monotonic() - began, 1)
        for name in ("worker-1", "worker-2"):
            log = run("podman", "logs", f"turnwire_{name}_1", env=env)
            assert env["TURNWIRE_TOKEN"] not in log, "a token is in a worker's log"
            assert "token=" not in log, log
        say("driving a turn in a browser")
        worker, took = asyncio.run(turn(env, "/help"))
        say("looking for secrets as an agent would")
        processes, answer, found = reached(worker, env)
        # the first one, the sidecar, the agent's, and the probe
        assert processes >= 4, processes
        assert "NOAUTH" in answer, answer
        assert found == [], found
        figures["turn_s"] = round(took, 1)
        say(f"killing {worker}")
        run("podman", "kill", f"turnwire_{worker}_1", env=env)
        other = "worker-2" if worker == "worker-1" else "worker-1"
        wait("hubs know that it is gone", lambda: workers(env)[worker] == "gone", START_S)
        assert asyncio.run(turn(env, "/help"))[0] == other
        say("stopping")
        began = time.monotonic()
        run(
            "podman",
            "stop",
            "--time",
            "30",
            f"turnwire_{other}_1",
            "turnwire_hub-1_1",
            "turnwire_hub-2_1",
            env=env,
        )
        figures["stop_s"] = round(time.monotonic() - began, 1)
        assert time.monotonic() - began < STOP_S, figures
        for name in (other, "hub-1", "hub-2"):
            (stopped,) = json.loads(run("podman", "inspect", f"turnwire_{name}_1", env=env))
            assert stopped["State"]["ExitCode"] == 0, (name, stopped["State"])
    finally:
        subprocess.run(
            ["podman-compose", "--profile", "fleet", "down", "--volumes", "--timeout", "5"],
            env=env,
            cwd=ROOT,
            capture_output=True,
            check=False,
        )
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
